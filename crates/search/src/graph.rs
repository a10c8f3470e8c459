//! How often states are reached.

use crate::store::Found;
use scrimp_core::Budget;
use std::sync::Arc;

/// States up to which in-degrees are counted without being asked for.
const FEW: usize = 1 << 20;

/// How often each state was reached.
#[derive(Debug)]
pub struct InDegrees {
    counts: Vec<u32>,
    most: usize,
    budget: Arc<Budget>,
    /// Given up: too many states, or no memory.
    lost: bool,
}

impl InDegrees {
    /// Counts while there are few states, or, when `wanted`, as long as there is memory.
    pub fn new(wanted: bool, budget: Arc<Budget>) -> InDegrees {
        InDegrees { counts: Vec::new(), most: if wanted { usize::MAX } else { FEW }, budget, lost: false }
    }

    /// Counts the transitions to `found`; `states` is how many states there are by now.
    pub fn count(&mut self, found: &[Found], states: usize) {
        if self.lost {
            return;
        }
        if states > self.counts.len() {
            let more = (states * 2).max(1024);
            let bytes = (more - self.counts.len()) * size_of::<u32>();
            if states > self.most || !self.budget.may_take(bytes) {
                return self.give_up();
            }
            self.budget.take(bytes);
            self.counts.reserve_exact(more - self.counts.len());
            self.counts.resize(more, 0);
        }
        for f in found {
            self.counts[f.id as usize] += 1;
        }
    }

    /// Not all transitions were seen: nothing can be said.
    pub fn give_up(&mut self) {
        self.lost = true;
        self.budget.give_back(self.counts.len() * size_of::<u32>());
        self.counts = Vec::new();
    }

    pub fn most(&self) -> Option<u64> {
        (!self.lost).then(|| self.counts.iter().copied().max().unwrap_or(0) as u64)
    }
}
