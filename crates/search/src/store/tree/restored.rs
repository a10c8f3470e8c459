//! What was read from a file: which numbers may stand in a key, so that following it leads from pairs to pairs and at last to
//! leaves, all of which there are.
//!
//! Pairs of leaves and pairs of pairs have their numbers from one row, and the same pair may be both. So it is found out
//! level by level, from the leaves up, which pairs have halves of the level below: a bit for each.

use super::fold::Forest;
use crate::checkpoint::impossible;
use scrimp_system::Set;
use std::io;

impl Forest {
    /// The numbers of the halves of states, where a tree has so many levels below its root.
    pub fn halves(&self, levels: usize) -> io::Result<Set> {
        // SAFETY: node 0 is always there.
        if unsafe { [self.leaves.content(0), self.pairs.content(0)] } != [[0; 2]; 2] {
            return Err(impossible("a first node that is not zero"));
        }
        let mut known = Set::new(self.leaves.len());
        (0..self.leaves.len()).for_each(|number| known.insert(number));
        for _ in 1..levels {
            let mut above = Set::new(self.pairs.len());
            for number in 0..self.pairs.len() {
                // SAFETY: all these numbers were given out, and nobody else is at work.
                let [pair, _] = unsafe { self.pairs.content(number as u32) };
                if are_halves(&known, pair) {
                    above.insert(number);
                }
            }
            known = above;
        }
        Ok(known)
    }
}

/// Are both halves of a key, or of a pair, among those that are known?
pub fn are_halves(known: &Set, pair: u64) -> bool {
    known.contains((pair >> 32) as usize) && known.contains(pair as u32 as usize)
}
