//! The states that were asked for last: one place for every hash, holding the last state that was asked for there, so that
//! asking again soon, as a search does, is answered without a walk.

use super::pending::home;
use crate::column::Column;
use scrimp_core::Budget;
use std::io;
use std::sync::Arc;

/// The states that were asked for last.
pub(super) struct Seen {
    state_bytes: usize,
    states: Column<u8>,
    /// For every place a part of the hash; 0 where there is no state.
    tags: Column<u8>,
    places: usize,
}

impl Seen {
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> io::Result<Seen> {
        Ok(Seen { state_bytes, states: Column::new(budget)?, tags: Column::new(budget)?, places: 0 })
    }

    pub fn places(&self) -> usize {
        self.places
    }

    /// Empties the cache and gives it so many places, where the budget allows it.
    pub fn grow(&mut self, places: usize) {
        if places > self.places
            && self.states.ensure(places * self.state_bytes).is_ok()
            && self.tags.ensure(places).is_ok()
        {
            self.tags.first_mut(self.places).fill(0);
            self.places = places;
        }
    }

    /// Has this state been asked for lately? From now on it has.
    #[inline(always)]
    pub fn ask(&mut self, state: &[u8], hash: u64) -> bool {
        if self.places == 0 {
            return false;
        }
        let (at, tag) = (home(hash, self.places), hash as u8 | 1);
        let place = self.states.stretch_mut(at * self.state_bytes, self.state_bytes);
        if self.tags[at as u32] == tag && *place == *state {
            return true;
        }
        place.copy_from_slice(state);
        self.tags[at as u32] = tag;
        false
    }

    /// This state is to be unknown.
    pub fn forget(&mut self, hash: u64) {
        if self.places > 0 {
            self.tags[home(hash, self.places) as u32] = 0;
        }
    }

    pub fn bytes(&self) -> usize {
        self.states.bytes() + self.tags.bytes()
    }
}
