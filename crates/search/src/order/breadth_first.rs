//! Breadth first: level by level, in the order of discovery.
//!
//! The queue holds ranges of numbers. A store that numbers states in the order of discovery, as the table does, makes it
//! one range: the queue then takes no memory at all.

use super::Order;
use crate::store::StateId;
use std::collections::VecDeque;
use std::ops::Range;

#[derive(Debug, Default)]
pub struct BreadthFirst {
    queue: VecDeque<Range<StateId>>,
    len: usize,
    /// States of the present level that are still in the queue.
    level_left: usize,
    /// Levels begun.
    levels: u32,
}

impl Order for BreadthFirst {
    fn push(&mut self, id: StateId) {
        self.len += 1;
        match self.queue.back_mut() {
            Some(last) if last.end == id => last.end += 1,
            _ => self.queue.push_back(id..id + 1),
        }
    }

    fn pop(&mut self, most: usize, out: &mut Vec<StateId>) {
        if self.level_left == 0 {
            if self.len == 0 {
                return;
            }
            self.level_left = self.len;
            self.levels += 1;
        }
        let mut wanted = most.min(self.level_left);
        self.level_left -= wanted;
        self.len -= wanted;
        while wanted > 0 {
            let first = self.queue.front_mut().expect("the queue holds as many states as it counted");
            let taken = wanted.min(first.len());
            out.extend(first.start..first.start + taken as StateId);
            first.start += taken as StateId;
            wanted -= taken;
            if first.start == first.end {
                self.queue.pop_front();
            }
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn depth(&self) -> u32 {
        self.levels.saturating_sub(1)
    }

    fn bytes(&self) -> usize {
        self.queue.capacity() * size_of::<Range<StateId>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_mixes_levels() {
        let mut order = BreadthFirst::default();
        let mut out = vec![];
        order.push(0);
        order.pop(16, &mut out);
        assert_eq!((out.as_slice(), order.depth()), ([0].as_slice(), 0));
        [1, 2, 7].iter().for_each(|&id| order.push(id));
        out.clear();
        order.pop(2, &mut out);
        order.push(8);
        assert_eq!((out.as_slice(), order.depth()), ([1, 2].as_slice(), 1));
        out.clear();
        order.pop(16, &mut out);
        assert_eq!((out.as_slice(), order.depth()), ([7].as_slice(), 1));
        out.clear();
        order.pop(16, &mut out);
        assert_eq!((out.as_slice(), order.depth()), ([8].as_slice(), 2));
        assert!(order.is_empty());
    }
}
