//! A table in a file: the states in the order of their numbers, and the numbers that are free.

use super::Table;
use crate::column::Stack;
use crate::store::Store;
use crate::sync::atomic::Ordering;
use scrimp_system::Set;
use std::io::{self, Read, Write};

impl Table {
    /// Writes all that is needed to have the same states with the same numbers again.
    pub(crate) fn save_to(&self, to: &mut dyn Write) -> io::Result<()> {
        let (numbers, removed) = (self.numbers(), self.removed.as_ref());
        to.write_all(&(self.shared.state_bytes() as u32).to_le_bytes())?;
        to.write_all(&(numbers as u32).to_le_bytes())?;
        to.write_all(&(removed.map_or(0, Stack::len) as u32).to_le_bytes())?;
        for id in removed.into_iter().flat_map(Stack::iter) {
            to.write_all(&id.to_le_bytes())?;
        }
        // Many states at once: they stand one after the other.
        let at_once = ((1 << 20) / self.shared.state_bytes()).max(1);
        for first in (0..numbers).step_by(at_once) {
            to.write_all(self.shared.states(first, at_once.min(numbers - first)))?;
        }
        Ok(())
    }

    /// How many states were saved, none of them removed; they follow one after the other.
    pub(crate) fn saved_states(state_bytes: usize, from: &mut dyn Read) -> io::Result<usize> {
        let mut numbers = [0; 12];
        from.read_exact(&mut numbers)?;
        let number = |at: usize| u32::from_le_bytes([numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]]);
        if number(0) as usize != state_bytes || number(8) > 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no whole table with states of this length"));
        }
        Ok(number(4) as usize)
    }

    /// Fills an empty table, of a single owner, with what was saved.
    pub(crate) fn restore_from(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
        let full = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        let mut number = [0; 4];
        let mut read = |from: &mut dyn Read| from.read_exact(&mut number).map(|()| u32::from_le_bytes(number));
        let state_bytes = read(from)? as usize;
        let (numbers, free) = (read(from)?, read(from)?);
        if free > numbers {
            return Err(wrong("more free numbers than numbers"));
        }
        if !self.alone || self.numbers() > 0 || state_bytes != self.shared.state_bytes() {
            return Err(wrong("no empty table for states of this length"));
        }
        match &mut self.removed {
            Some(removed) => {
                removed.ensure(numbers as usize).map_err(full)?;
                let mut seen = Set::new(0);
                if free > 0 {
                    seen = Set::new(numbers as usize);
                }
                for _ in 0..free {
                    let id = Some(read(from)?).filter(|&id| id < numbers && !seen.contains(id as usize));
                    let id = id.ok_or_else(|| wrong("no such number is free"))?;
                    seen.insert(id as usize);
                    removed.push(id);
                }
            }
            None if free == 0 => {}
            None => return Err(wrong("states were removed where none can be")),
        }
        // SAFETY: a single owner, and it is here.
        unsafe {
            self.shared.prepare_room(numbers as usize, 0).map_err(full)?;
            let arena = std::slice::from_raw_parts_mut(self.shared.address(0), numbers as usize * state_bytes);
            from.read_exact(arena)?;
        }
        self.shared.numbered.store(numbers, Ordering::Relaxed);
        self.shared.refill_index(self.removed.as_ref());
        Ok(())
    }
}
