//! A second pair of eyes: remembers every state that the search visits, whatever the search itself forgets.
//!
//! With it, a search that drops states can be shown to have visited all of them. It takes the memory that the search saves.

use super::{Check, Flow, Seen};
use scrimp_system::FaultRecord;
use std::collections::HashSet;
use std::sync::Mutex;

pub struct Audit<'a> {
    check: &'a dyn Check,
    visited: Mutex<HashSet<Box<[u8]>>>,
}

impl<'a> Audit<'a> {
    pub fn new(check: &'a dyn Check) -> Audit<'a> {
        Audit { check, visited: Mutex::default() }
    }

    /// How many different states were visited.
    pub fn distinct(&self) -> u64 {
        self.visited.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).len() as u64
    }
}

impl Check for Audit<'_> {
    fn wants_states(&self) -> bool {
        true
    }

    fn state(&self, seen: Seen) -> Flow {
        self.visited.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(seen.state.into());
        if self.check.wants_states() { self.check.state(seen) } else { Flow::Continue }
    }

    fn expanded(&self, seen: Seen, deadlock: bool, faults: &[FaultRecord]) -> Flow {
        self.check.expanded(seen, deadlock, faults)
    }
}
