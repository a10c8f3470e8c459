//! From a state back to how it came about.
//!
//! No predecessor is stored. In breadth-first order the levels are ranges of numbers: a predecessor of a state on level d
//! is found by expanding level d-1 once more until the state turns up, which costs at worst a second generation of all
//! successors, without any look-up, and no memory. In depth-first order the path is at hand.

use crate::store::{StateId, Store};
use scrimp_system::{Batch, EventCode, Model};

/// A run of the model: where it starts, and each event with the state it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub initial: Vec<u8>,
    pub steps: Vec<(EventCode, Vec<u8>)>,
}

impl Trace {
    /// A shortest run to `target`, which stands on level `depth` of a breadth-first search with these levels.
    pub fn backwards(
        model: &dyn Model,
        store: &dyn Store,
        levels: &[StateId],
        target: &[u8],
        depth: u32,
    ) -> Option<Trace> {
        let mut steps = Vec::new();
        let mut target = target.to_vec();
        let mut source = Batch::new(model.state_bytes());
        let mut successors = Batch::new(model.state_bytes());
        for level in (0..depth as usize).rev() {
            let predecessor = (levels[level]..levels[level + 1]).find_map(|id| {
                source.clear();
                successors.clear();
                store.load(id, source.push_with(0));
                model.expand(source.state(0), &mut successors);
                (0..successors.len()).find(|&i| successors.state(i) == target).map(|i| successors.event(i))
            });
            let before = source.state(0).to_vec();
            steps.push((predecessor?, std::mem::replace(&mut target, before)));
        }
        steps.reverse();
        Some(Trace { initial: target, steps })
    }

    /// The run through these stored states, each a successor of the one before.
    pub fn along(model: &dyn Model, store: &dyn Store, path: &[StateId]) -> Option<Trace> {
        let load = |id: StateId| {
            let mut state = Batch::new(model.state_bytes());
            store.load(id, state.push_with(0));
            state
        };
        let mut current = load(*path.first()?);
        let initial = current.state(0).to_vec();
        let mut steps = Vec::with_capacity(path.len() - 1);
        let mut successors = Batch::new(model.state_bytes());
        for &id in &path[1..] {
            let next = load(id);
            successors.clear();
            model.expand(current.state(0), &mut successors);
            let i = (0..successors.len()).find(|&i| successors.state(i) == next.state(0))?;
            steps.push((successors.event(i), next.state(0).to_vec()));
            current = next;
        }
        Some(Trace { initial, steps })
    }

    /// The last state.
    pub fn last(&self) -> &[u8] {
        self.steps.last().map_or(&self.initial, |(_, state)| state)
    }
}
