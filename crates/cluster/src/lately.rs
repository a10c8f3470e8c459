//! States that were sent lately: their owners have them, so that they need not be sent again.
//!
//! States are compared whole. One that is not remembered is only sent once more than necessary.

use scrimp_core::Budget;
use std::sync::Arc;

/// Most states that are remembered, and the bytes that they may take.
const MOST: usize = 1 << 16;
const MOST_BYTES: usize = 8 << 20;

pub struct Lately {
    state_bytes: usize,
    states: Vec<u8>,
    /// Is there a state in this place?
    taken: Vec<bool>,
    budget: Arc<Budget>,
}

impl Lately {
    /// With a small part of the memory that is left.
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> Lately {
        let room = MOST_BYTES.min(budget.left() / 64) / (state_bytes + 1);
        let places = if room < 16 { 0 } else { 1 << room.min(MOST).ilog2() };
        budget.take(places * (state_bytes + 1));
        let (states, taken) = (vec![0; places * state_bytes], vec![false; places]);
        Lately { state_bytes, states, taken, budget: budget.clone() }
    }

    /// Nobody has any of them any more.
    pub fn clear(&mut self) {
        self.taken.fill(false);
    }

    /// Was this state sent lately? From now on it was.
    pub fn has(&mut self, hash: u64, state: &[u8]) -> bool {
        if self.taken.is_empty() {
            return false;
        }
        let place = hash as usize & (self.taken.len() - 1);
        let here = &mut self.states[place * self.state_bytes..][..self.state_bytes];
        if self.taken[place] && here == state {
            return true;
        }
        here.copy_from_slice(state);
        self.taken[place] = true;
        false
    }
}

impl Drop for Lately {
    fn drop(&mut self) {
        self.budget.give_back(self.taken.len() * (self.state_bytes + 1));
    }
}
