//! Runs events from a state with a vector down to one without.

use super::{Entry, Places, piece};
use crate::column::Column;
use crate::store::StateId;
use crate::store::recent::Recent;
use scrimp_core::Budget;
use scrimp_system::{Batch, Model};

/// Of so many states, the vector of one that was known lately is at hand …
const RECENT: usize = 64;
/// … up to so many bytes in all.
const MOST_BYTES: usize = 1 << 19;

pub struct Replay {
    /// Events that were run.
    pub events: u64,
    /// The state that was prepared is number `at` of these.
    current: Batch,
    at: usize,
    successors: Batch,
    /// What is left of the way down, last state first.
    way: Vec<StateId>,
    recent: Recent,
}

impl Replay {
    pub fn new(state_bytes: usize) -> Replay {
        Replay {
            events: 0,
            current: Batch::new(state_bytes),
            at: 0,
            successors: Batch::new(state_bytes),
            way: Vec::new(),
            recent: Recent::new(state_bytes, 1),
        }
    }

    /// Adapts to so many states.
    pub fn fit(&mut self, states: usize, budget: &Budget) {
        let (now, state_bytes) = (self.recent.bytes(), self.recent.state_bytes);
        let more = 2 * self.recent.count();
        if states > more * RECENT && more * state_bytes <= MOST_BYTES {
            self.recent = Recent::new(state_bytes, more);
            budget.take(self.recent.bytes() - now);
        }
    }

    pub fn state(&mut self, id: StateId, model: &dyn Model, entries: &Column<Entry>, places: &Places) -> &[u8] {
        self.prepare(id, model, entries, places);
        self.prepared()
    }

    /// Makes the state's vector.
    pub fn prepare(&mut self, id: StateId, model: &dyn Model, entries: &Column<Entry>, places: &Places) {
        let Replay { events, current, at, successors, way, recent } = self;
        let mut from = id;
        let start = loop {
            let entry = entries[from];
            match entry.place() {
                Some(place) => break places.state(place),
                None => {
                    if let Some(state) = recent.get(from) {
                        break state;
                    }
                    way.push(from);
                    from = entry.at;
                }
            }
        };
        current.clear();
        current.push(start, 0);
        *at = 0;
        while let Some(id) = way.pop() {
            let Entry { hash, event, .. } = entries[id];
            successors.clear();
            model.expand(current.state(*at), successors);
            let leads_there = |&i: &usize| successors.event(i) == event && piece(successors.state(i)) == hash;
            *at = (0..successors.len()).find(leads_there).expect("a state always has the same successors");
            std::mem::swap(current, successors);
            recent.put(id, current.state(*at));
            *events += 1;
        }
    }

    pub fn prepared(&self) -> &[u8] {
        self.current.state(self.at)
    }

    /// A state that is about to lose its vector may soon be asked for.
    pub fn remember(&mut self, id: StateId, state: &[u8]) {
        self.recent.put(id, state);
    }

    /// The number will mean another state.
    pub fn forget(&mut self, id: StateId) {
        self.recent.forget(id);
    }

    pub fn bytes(&self) -> usize {
        self.current.bytes() + self.successors.bytes() + self.recent.bytes()
    }
}
