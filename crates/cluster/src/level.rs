//! The states of a level, one after the other, in blocks that are paid for. Each thread finds states in a level of its own, and what
//! the threads of a process have found becomes one.

use scrimp_core::Budget;
use std::sync::Arc;

/// Bytes of a block, about.
const BLOCK: usize = 1 << 16;

pub struct Level {
    state_bytes: usize,
    /// States of a block.
    full: usize,
    blocks: Vec<Vec<u8>>,
    /// The number of the first state of each block.
    firsts: Vec<u64>,
    /// Blocks that are paid for, and empty.
    spare: Vec<Vec<u8>>,
    /// May the last block take more?
    open: bool,
    len: u64,
    bytes: usize,
    budget: Arc<Budget>,
}

impl Level {
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> Level {
        let full = (BLOCK / state_bytes.max(1)).clamp(1, BLOCK);
        Level {
            state_bytes,
            full,
            blocks: Vec::new(),
            firsts: Vec::new(),
            spare: Vec::new(),
            open: false,
            len: 0,
            bytes: 0,
            budget: budget.clone(),
        }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// States for which there is room in the last block.
    fn room(&self) -> usize {
        self.firsts.last().filter(|_| self.open).map_or(0, |first| self.full - (self.len - first) as usize)
    }

    /// Makes sure of room for so many more; fails where there is no memory for it.
    pub fn may_take(&mut self, more: usize) -> bool {
        while self.room() + self.spare.len() * self.full < more {
            if !self.budget.may_take(self.block_bytes()) {
                return false;
            }
            self.add_spare();
        }
        true
    }

    fn add_spare(&mut self) {
        let block = Vec::with_capacity(self.block_bytes());
        self.pay(block.capacity());
        self.spare.push(block);
    }

    fn pay(&mut self, bytes: usize) {
        self.budget.take(bytes);
        self.bytes += bytes;
    }

    fn block_bytes(&self) -> usize {
        self.full * self.state_bytes
    }

    #[inline]
    pub fn push(&mut self, state: &[u8]) {
        if self.room() == 0 {
            if self.spare.is_empty() {
                self.add_spare();
            }
            self.blocks.extend(self.spare.pop());
            self.firsts.push(self.len);
            self.open = true;
        }
        if let Some(block) = self.blocks.last_mut() {
            block.extend_from_slice(state);
        }
        self.len += 1;
    }

    /// Takes no more memory than its states do.
    fn close(&mut self) {
        let mut less: usize = self.spare.drain(..).map(|spare| spare.capacity()).sum();
        if let Some(last) = self.blocks.last_mut().filter(|_| self.open) {
            less += last.capacity();
            last.shrink_to_fit();
            less -= last.capacity();
        }
        self.open = false;
        self.bytes -= less;
        self.budget.give_back(less);
    }

    /// Appends the states of another level.
    pub fn append(&mut self, mut other: Level) {
        self.close();
        other.close();
        self.bytes += std::mem::take(&mut other.bytes);
        self.blocks.append(&mut other.blocks);
        self.firsts.extend(other.firsts.iter().map(|first| self.len + first));
        self.len += other.len;
    }

    /// The states from this one on that lie together with it; none behind the last.
    pub fn from(&self, first: u64) -> impl Iterator<Item = &[u8]> {
        let block = self.firsts.partition_point(|start| *start <= first).saturating_sub(1);
        let start = self.firsts.get(block).copied().unwrap_or(0);
        let end = self.firsts.get(block + 1).copied().unwrap_or(self.len);
        let bytes = self.blocks.get(block).map_or(&[][..], |block| &block[..]);
        let within = (first - start) as usize..(end - start) as usize;
        within.map(move |i| &bytes[i * self.state_bytes..][..self.state_bytes])
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(level: &Level) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        while let here = level.from(all.len() as u64).map(|state| state.to_vec()).collect::<Vec<_>>()
            && !here.is_empty()
        {
            all.extend(here);
        }
        all
    }

    #[test]
    fn states_stay_in_their_order() {
        let budget = Arc::new(Budget::apart(1 << 30));
        for length in [0, 1, 5, 70_000] {
            let mut level = Level::new(length, &budget);
            let count = if length == 70_000 { 3 } else { 200_000 };
            let state = |i: u32| vec![i as u8; length];
            (0..count).for_each(|i| level.push(&state(i)));
            assert!(
                all(&level) == (0..count).map(state).collect::<Vec<_>>() && level.len() == count as u64,
                "{length}"
            );
        }
    }

    #[test]
    fn what_several_found_is_one_level() {
        let budget = Arc::new(Budget::apart(1 << 30));
        let before = budget.left();
        let mut together = Level::new(4, &budget);
        let (mut expected, mut next) = (Vec::new(), 0u32);
        for count in [0, 1, 40_000, 3, 0, 16_384, 7] {
            let mut part = Level::new(4, &budget);
            assert!(part.may_take(count));
            for _ in 0..count {
                part.push(&next.to_le_bytes());
                expected.push(next.to_le_bytes().to_vec());
                next += 1;
            }
            together.append(part);
        }
        assert!(together.len() == next as u64 && all(&together) == expected);
        assert_eq!(before - budget.left(), together.bytes);
        assert!(together.bytes < 5 * next as usize);
        drop(together);
        assert_eq!(budget.left(), before);
    }
}
