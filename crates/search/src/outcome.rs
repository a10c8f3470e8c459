//! What a search leaves behind beside the store.

use crate::store::StateId;
use crate::sync::size;
use scrimp_core::{ForgetFacts, GraphFacts, Limit, Omission};
use std::ops::Range;

/// States expanded before the store is asked about their successors: many, unless they are large.
pub fn batch_size(state_bytes: usize) -> usize {
    ((64 << 10) / state_bytes.max(1)).clamp(1, size(128, 2))
}

/// How a search came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Everything was visited.
    Complete,
    /// The check knows all that it wants to know.
    Decided,
    /// A limit was reached first.
    Limit(Limit),
    /// A pause was due; the search can go on from where it stands.
    Paused,
    /// The model does not suit the method, for this reason.
    Unsuited(String),
}

/// Where a plain breadth-first search stands. Its states are numbered in the order of discovery.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// The first number of each level begun, and of the one after the last; empty when nothing was begun.
    pub levels: Vec<StateId>,
    /// What is still to be expanded of the last level begun.
    pub left: Vec<Range<StateId>>,
    /// All that was counted, `states`, `depth` and `open` included.
    pub facts: GraphFacts,
}

impl Position {
    /// The first number of the level that is being found.
    pub fn level_end(&self) -> StateId {
        self.levels.last().copied().unwrap_or(0)
    }

    /// How many states each level begun has.
    pub fn widths(&self) -> Vec<u64> {
        widths(&self.levels)
    }

    /// Depth of the level that is being expanded.
    pub fn depth(&self) -> u32 {
        (self.levels.len() as u32).saturating_sub(2)
    }

    /// Brings the facts up to date: so many states were found.
    pub fn settle(&mut self, states: usize) {
        self.left.retain(|range| !range.is_empty());
        let left: u64 = self.left.iter().map(|range| range.len() as u64).sum();
        let facts = &mut self.facts;
        facts.states = states as u64;
        facts.depth = (self.levels.len() as u32).saturating_sub(1);
        facts.open = left + facts.states - self.levels.last().copied().unwrap_or(0) as u64;
    }
}

/// How many states each level has, from their first numbers and that of the one after the last.
pub fn widths(levels: &[StateId]) -> Vec<u64> {
    levels.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect()
}

#[derive(Debug)]
pub struct Outcome {
    pub ended: Ended,
    pub facts: GraphFacts,
    /// Plain breadth-first: the first number of each level begun, and of the one after the last.
    pub levels: Vec<StateId>,
    /// States expanded, each time counted.
    pub visits: u64,
    /// Was every state found only once, so that counts are those of the state space?
    pub once: bool,
    /// Did it go level by level, so that the depth at which a state was found is its distance?
    pub by_level: bool,
    pub forget: ForgetFacts,
    /// Bytes held beside the store.
    pub beside_bytes: usize,
    /// How many states there may be in all, from how the levels grew, where the search did not come to its end.
    pub expected: Option<f64>,
    /// What the store has probably missed, if it may take different states for one.
    pub omission: Option<Omission>,
}

impl Outcome {
    /// The outcome of a search that keeps every state and counts it once.
    pub fn of_plain(ended: Ended, facts: GraphFacts, levels: Vec<StateId>) -> Outcome {
        let forget = ForgetFacts { stored_peak: facts.states, ..ForgetFacts::default() };
        let visits = facts.states - facts.open;
        Outcome {
            ended,
            facts,
            levels,
            visits,
            once: true,
            by_level: true,
            forget,
            beside_bytes: 0,
            expected: None,
            omission: None,
        }
    }
}
