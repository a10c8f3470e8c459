//! Any open state, by chance: the same seed makes the same choices.

use super::{Next, Opening, Order};
use crate::store::StateId;

#[derive(Debug)]
pub struct Random {
    open: Vec<(StateId, u32)>,
    seed: u64,
    /// Depth of the state handed out last.
    depth: u32,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random { open: Vec::new(), seed, depth: 0 }
    }
}

/// A number below `end`, by chance.
pub(crate) fn draw_below(seed: &mut u64, end: usize) -> usize {
    let mut random = scrimp_system::Random(*seed);
    let drawn = random.next();
    *seed = random.0;
    ((drawn as u128 * end as u128) >> 64) as usize
}

impl Order for Random {
    fn push(&mut self, state: Opening) -> bool {
        self.open.push((state.id, state.depth));
        true
    }

    fn next(&mut self, _: usize, out: &mut Vec<StateId>) -> Next {
        if self.open.is_empty() {
            return Next::Done;
        }
        let (id, depth) = self.open.swap_remove(draw_below(&mut self.seed, self.open.len()));
        self.depth = depth;
        out.push(id);
        Next::Expand
    }

    fn depth(&self, _: usize) -> u32 {
        self.depth
    }

    fn each(&self, show: &mut dyn FnMut(Option<StateId>, u32)) {
        self.open.iter().for_each(|&(id, depth)| show(Some(id), depth));
    }

    fn retract(&mut self) -> Option<StateId> {
        self.open.pop().map(|(id, _)| id)
    }

    fn len(&self) -> usize {
        self.open.len()
    }

    fn bytes(&self) -> usize {
        self.open.len() * size_of::<(StateId, u32)>()
    }
}
