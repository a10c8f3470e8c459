//! States that were given to their owners lately: these have them, so that they need not be given again.
//!
//! States are compared whole. One that is not remembered is only looked up once more than necessary.

use crate::owner::last;
use scrimp_core::Budget;
use std::sync::Arc;

/// Most states that are remembered, and the bytes that they may take.
const MOST: usize = 1 << 16;
const MOST_BYTES: usize = 8 << 20;

pub struct Lately {
    state_bytes: usize,
    states: Vec<u8>,
    /// For each place a few bits of the hash of its state, which tell most states apart at once; 0 where there is none.
    tags: Vec<u8>,
    budget: Arc<Budget>,
}

impl Lately {
    /// With a small part of the memory that is left.
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> Lately {
        let room = MOST_BYTES.min(budget.left() / 64) / (state_bytes + 1);
        let places = if room < 16 { 0 } else { 1 << room.min(MOST).ilog2() };
        budget.take(places * (state_bytes + 1));
        let (states, tags) = (vec![0; places * state_bytes], vec![0; places]);
        Lately { state_bytes, states, tags, budget: budget.clone() }
    }

    /// Nobody has any of them any more.
    pub fn clear(&mut self) {
        self.tags.fill(0);
    }

    /// Was this state given lately? From now on it was.
    #[inline]
    pub fn has(&mut self, hash: u64, state: &[u8]) -> bool {
        if self.tags.is_empty() {
            return false;
        }
        let (place, tag) = (hash as usize & (self.tags.len() - 1), (hash >> 32) as u8 | 1);
        let here = &mut self.states[place * self.state_bytes..][..self.state_bytes];
        if self.tags[place] == tag && same(here, state) {
            return true;
        }
        here.copy_from_slice(state);
        self.tags[place] = tag;
        false
    }
}

/// Are they equal? States are short: a call would take longer.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    let (words, others) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    words.iter().zip(others).all(|(a, b)| a == b) && last(a) == last(b)
}

impl Drop for Lately {
    fn drop(&mut self) {
        self.budget.give_back(self.tags.len() * (self.state_bytes + 1));
    }
}
