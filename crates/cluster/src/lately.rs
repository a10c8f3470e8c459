//! States that were given to their owners lately: these have them, so that they need not be given again.
//!
//! States are compared whole. One that is not remembered is only looked up once more than necessary.

use crate::words::{Shape, Words};
use scrimp_core::Budget;
use scrimp_search::store::prefetch;
use std::sync::Arc;

/// Most states that are remembered, and the bytes that they may take.
const MOST: usize = 1 << 18;
const MOST_BYTES: usize = 16 << 20;
/// The part of what is left of the memory that all threads of a process together take for it.
const PART: usize = 32;

pub struct Lately {
    /// Words of a state.
    length: usize,
    states: Vec<u64>,
    /// For each place a few bits of the hash of its state, which tell most states apart at once; 0 where there is none.
    tags: Vec<u8>,
    budget: Arc<Budget>,
}

impl Lately {
    /// With a small part of the memory that is left, among so many threads.
    pub fn new(state_bytes: usize, threads: usize, budget: &Arc<Budget>) -> Lately {
        let length = Shape::new(state_bytes).words;
        let room = MOST_BYTES.min(budget.left() / PART / threads.max(1)) / (8 * length + 1);
        let places = if room < 16 { 0 } else { 1 << room.min(MOST).ilog2() };
        let lately = Lately { length, states: vec![0; places * length], tags: vec![0; places], budget: budget.clone() };
        budget.take(lately.bytes());
        lately
    }

    /// For who sends nothing.
    pub fn none(budget: &Arc<Budget>) -> Lately {
        Lately { length: 0, states: Vec::new(), tags: Vec::new(), budget: budget.clone() }
    }

    fn bytes(&self) -> usize {
        8 * self.states.len() + self.tags.len()
    }

    /// Nobody has any of them any more.
    pub fn clear(&mut self) {
        self.tags.fill(0);
    }

    #[inline(always)]
    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.tags.len() - 1)
    }

    /// Asks for what looking at a state with this hash will touch.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        if !self.tags.is_empty() {
            let place = self.place(hash);
            prefetch(self.tags.as_ptr().wrapping_add(place));
            prefetch(self.states.as_ptr().wrapping_add(place * self.length).cast());
        }
    }

    /// Was this state given lately? From now on it was.
    #[inline(always)]
    pub fn has<const W: usize>(&mut self, hash: u64, state: Words<'_, W>) -> bool {
        if self.tags.is_empty() {
            return false;
        }
        let (place, tag, count) = (self.place(hash), (hash >> 32) as u8 | 1, state.count());
        let here = &mut self.states[place * count..][..count];
        if self.tags[place] == tag && (0..count).fold(0, |other, i| other | here[i] ^ state.get(i)) == 0 {
            return true;
        }
        (0..count).for_each(|i| here[i] = state.get(i));
        self.tags[place] = tag;
        false
    }
}

impl Drop for Lately {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes());
    }
}
