//! What the search learnt about the shape of the state space.

use crate::budget::Budget;
use crate::store::Found;
use std::sync::Arc;

/// States up to which in-degrees are counted without being asked for.
const FEW: usize = 1 << 20;

/// Facts about the reachability graph. Transitions are (state, event) pairs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphFacts {
    pub states: u64,
    pub transitions: u64,
    pub deadlocks: u64,
    /// Events that ended in a fault, and those that violated an assertion, which have a successor all the same.
    pub faults: u64,
    pub initial_states: u64,
    /// Breadth-first levels, that of the initial states included; longest path in depth-first order.
    pub depth: u32,
    /// States on the widest level; most open states in depth-first order.
    pub widest: u64,
    pub max_out_degree: u64,
    /// Known for small graphs, and where it was asked for: it costs memory for every state.
    pub max_in_degree: Option<u64>,
    /// Breadth-first only: transitions to a state of the same or an earlier level, and the longest way back among them.
    pub back_level_edges: Option<u64>,
    pub longest_back_level_edge: Option<u64>,
    /// Open states when the search ended.
    pub open: u64,
}

impl GraphFacts {
    /// Adds what another thread saw of the same search.
    pub fn merge(&mut self, other: &GraphFacts) {
        self.transitions += other.transitions;
        self.deadlocks += other.deadlocks;
        self.faults += other.faults;
        self.max_out_degree = self.max_out_degree.max(other.max_out_degree);
        self.back_level_edges = add(self.back_level_edges, other.back_level_edges);
        self.longest_back_level_edge = self.longest_back_level_edge.max(other.longest_back_level_edge);
    }
}

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

fn add(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}
