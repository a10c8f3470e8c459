//! The graph the other way round: the predecessors of each state, by a counting sort.

use super::{Lts, Number};
use crate::store::Full;
use scrimp_core::Budget;
use std::sync::Arc;

pub struct Reverse {
    /// Where the predecessors of each state begin; one more for the end.
    starts: Vec<u64>,
    sources: Vec<Number>,
    bytes: usize,
    budget: Arc<Budget>,
}

impl Reverse {
    pub fn new(graph: &Lts, budget: &Arc<Budget>) -> Result<Reverse, Full> {
        let states = graph.states();
        let bytes = (states as usize + 1) * 8 + graph.transitions() as usize * size_of::<Number>();
        if !budget.may_take(bytes) {
            return Err(Full);
        }
        budget.take(bytes);
        let mut starts = vec![0u64; states as usize + 1];
        for (target, _) in (0..states).flat_map(|state| graph.successors(state)) {
            starts[target as usize] += 1;
        }
        // Each becomes the end of its state's predecessors, and moves to their beginning as they are put in place.
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut sources = vec![0; sum as usize];
        for state in (0..states).rev() {
            for (target, _) in graph.successors(state) {
                starts[target as usize] -= 1;
                sources[starts[target as usize] as usize] = state;
            }
        }
        Ok(Reverse { starts, sources, bytes, budget: budget.clone() })
    }

    /// The states from which events lead to this one, ascending; one for each event.
    pub fn predecessors(&self, state: Number) -> &[Number] {
        &self.sources[self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize]
    }
}

impl Drop for Reverse {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}
