//! What a search leaves behind beside the store.

use crate::budget::Limit;
use crate::forget::ForgetFacts;
use crate::graph::GraphFacts;
use crate::store::StateId;

/// States expanded before the store is asked about their successors: many, unless they are large.
pub fn batch_size(state_bytes: usize) -> usize {
    ((64 << 10) / state_bytes.max(1)).clamp(1, 128)
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
    /// The model does not suit the method, for this reason.
    Unsuited(String),
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
    pub forget: ForgetFacts,
    /// Bytes held beside the store.
    pub beside_bytes: usize,
}

impl Outcome {
    /// The outcome of a search that keeps every state.
    pub fn of_plain(ended: Ended, facts: GraphFacts, levels: Vec<StateId>) -> Outcome {
        let forget = ForgetFacts { stored_peak: facts.states, ..ForgetFacts::default() };
        let visits = facts.states - facts.open;
        Outcome { ended, facts, levels, visits, once: true, forget, beside_bytes: 0 }
    }
}
