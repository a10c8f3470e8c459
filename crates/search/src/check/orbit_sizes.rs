//! Adds up how many states there are in the orbits that a search visits.

use super::{Check, Flow, Seen};
use scrimp_system::{FaultRecord, Symmetry};
use std::sync::Mutex;

pub struct OrbitSizes<'a> {
    check: &'a dyn Check,
    symmetry: &'a Symmetry,
    /// Orbits seen, and the states in them; no number where some orbit's size is not known.
    sum: Mutex<(u64, Option<u128>)>,
}

impl<'a> OrbitSizes<'a> {
    pub fn new(check: &'a dyn Check, symmetry: &'a Symmetry) -> OrbitSizes<'a> {
        OrbitSizes { check, symmetry, sum: Mutex::new((0, Some(0))) }
    }

    /// How many states there are in so many orbits, which are all that were visited.
    pub fn states(&self, orbits: u64) -> Option<u128> {
        let (seen, sum) = *self.sum.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        sum.filter(|_| seen == orbits)
    }
}

impl Check for OrbitSizes<'_> {
    fn wants_states(&self) -> bool {
        true
    }

    fn state(&self, seen: Seen) -> Flow {
        let size = self.symmetry.orbit_size(seen.state);
        let mut sum = self.sum.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *sum = (sum.0 + 1, sum.1.zip(size).and_then(|(sum, size)| sum.checked_add(size)));
        drop(sum);
        if self.check.wants_states() { self.check.state(seen) } else { Flow::Continue }
    }

    fn expanded(&self, seen: Seen, deadlock: bool, faults: &[FaultRecord]) -> Flow {
        self.check.expanded(seen, deadlock, faults)
    }
}
