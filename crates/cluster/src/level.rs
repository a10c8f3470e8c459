//! The states of a level, one after the other, in blocks that are paid for.

use scrimp_core::Budget;
use std::sync::Arc;

/// Bytes of a block, about.
const BLOCK: usize = 1 << 16;

pub struct Level {
    state_bytes: usize,
    /// States of a block.
    full: usize,
    blocks: Vec<Vec<u8>>,
    len: u64,
    budget: Arc<Budget>,
}

impl Level {
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> Level {
        let full = (BLOCK / state_bytes.max(1)).clamp(1, BLOCK);
        Level { state_bytes, full, blocks: Vec::new(), len: 0, budget: budget.clone() }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// Is there room for so many more, or memory for that room?
    pub fn may_take(&self, more: usize) -> bool {
        let blocks = (self.len as usize % self.full + more).div_ceil(self.full);
        self.budget.may_take(blocks * self.block_bytes())
    }

    fn block_bytes(&self) -> usize {
        self.full * self.state_bytes
    }

    pub fn push(&mut self, state: &[u8]) {
        if (self.len as usize).is_multiple_of(self.full) {
            self.budget.take(self.block_bytes());
            self.blocks.push(Vec::with_capacity(self.block_bytes()));
        }
        if let Some(block) = self.blocks.last_mut() {
            block.extend_from_slice(state);
        }
        self.len += 1;
    }

    /// The states from this one on that lie together with it; none behind the last.
    pub fn from(&self, first: u64) -> impl Iterator<Item = &[u8]> {
        let (block, within) = (first as usize / self.full, first as usize % self.full);
        let count =
            if first < self.len { self.full.min((self.len - (first - within as u64)) as usize) - within } else { 0 };
        let bytes = self.blocks.get(block).map_or(&[][..], |block| &block[..]);
        (within..within + count).map(move |i| &bytes[i * self.state_bytes..][..self.state_bytes])
    }

    pub fn bytes(&self) -> usize {
        self.blocks.len() * self.block_bytes()
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_stay_in_their_order() {
        let budget = Arc::new(Budget::apart(1 << 30));
        for length in [0, 1, 5, 70_000] {
            let mut level = Level::new(length, &budget);
            let count = if length == 70_000 { 3 } else { 200_000 };
            (0..count).for_each(|i: u32| level.push(&vec![i as u8; length]));
            let (mut seen, mut all) = (0, true);
            while let here = level.from(seen).map(|state| state.to_vec()).collect::<Vec<_>>()
                && !here.is_empty()
            {
                all &= here.iter().zip(seen..).all(|(state, i)| *state == vec![i as u8; length]);
                seen += here.len() as u64;
            }
            assert!(all && seen == count as u64 && level.len() == seen, "{length}");
        }
    }
}
