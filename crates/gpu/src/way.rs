//! The shortest run to a state, found again: tables keep no predecessors, so levels are searched once more, and from each the
//! predecessor of what comes after it is picked. As many of the last levels are kept as there is memory for; those before them
//! are searched for again when they are needed.

use crate::device::Device;
use crate::levels::{Halt, Level, Levels, Shape};
use scrimp_core::Control;
use std::collections::VecDeque;
use std::io;

pub struct Way<'a> {
    pub device: &'a dyn Device,
    pub shape: Shape,
    pub memory: usize,
    /// Bytes for levels that are kept beside the device.
    pub beside: usize,
    /// Sizes of the levels.
    pub widths: &'a [u64],
    pub initial: &'a [u32],
}

impl Way<'_> {
    /// The states of a shortest run to this one, which is on that level.
    pub fn to(&self, level: usize, state: &[u32], control: &Control) -> Result<Vec<Vec<u32>>, Halt> {
        let mut path = VecDeque::from([state.to_vec()]);
        let mut kept: VecDeque<Level> = VecDeque::new();
        let mut levels = None;
        for before in (0..level).rev() {
            if kept.is_empty() {
                drop(levels.take());
                let again = levels.insert(Levels::new(self.device, self.shape, self.memory)?);
                kept = self.search(again, before, control)?;
            }
            let lost =
                || Halt::Failed(io::Error::other("internal error: a state has no predecessor on the level before"));
            let (Some(levels), Some(here), Some(target)) = (&mut levels, kept.pop_back(), path.front()) else {
                return Err(lost());
            };
            let found = levels.predecessor(&here, target)?.ok_or_else(lost)?;
            path.push_front(found);
        }
        Ok(path.into())
    }

    /// Searches up to this level, and keeps it, with as many before it as there is memory for.
    fn search(&self, levels: &mut Levels, last: usize, control: &Control) -> Result<VecDeque<Level>, Halt> {
        let room = (self.beside / 4) as u64;
        let mut taken = 0;
        let fits = |level: &usize| {
            taken += self.widths[*level] * 4 * self.shape.words as u64;
            taken <= room
        };
        let first = last + 1 - (0..=last).rev().take_while(fits).count().max(1);
        let mut kept = VecDeque::new();
        levels.begin(self.initial)?;
        for level in 0..=last {
            if level >= first {
                kept.push_back(levels.level()?);
            }
            if level < last {
                levels.expand(control)?;
            }
        }
        Ok(kept)
    }
}
