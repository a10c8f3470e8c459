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

/// The next of a sequence of numbers that look random (splitmix64).
pub(crate) fn draw(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number below `end`, by chance.
pub(crate) fn draw_below(seed: &mut u64, end: usize) -> usize {
    ((draw(seed) as u128 * end as u128) >> 64) as usize
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

    fn depth(&self, _: StateId) -> u32 {
        self.depth
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
