//! A run of a model.

use scrimp_system::{Batch, Describe, EventCode, FaultRecord, Model};
use std::collections::HashSet;

/// A run of the model: where it starts, and each event with the state it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub initial: Vec<u8>,
    pub steps: Vec<(EventCode, Vec<u8>)>,
}

/// One step of a run as a person sees it: a single event, where an edge of the graph may stand for several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub event: EventCode,
    pub state: Vec<u8>,
    /// The event code of the edge that this step completes; `None` where `state` is only passed through.
    pub edge: Option<EventCode>,
}

impl Trace {
    /// The run step by step, and on to the event of a fault that its last state leads to.
    pub fn single_steps(&self, model: &dyn Describe, fault: Option<FaultRecord>) -> Vec<Step> {
        let mut all = Vec::with_capacity(self.steps.len());
        let mut before = &self.initial;
        for (code, after) in &self.steps {
            let steps = model.steps(before, *code, after);
            let last = steps.len().saturating_sub(1);
            let edge = |i: usize| (i == last).then_some(*code);
            all.extend(steps.into_iter().enumerate().map(|(i, (event, state))| Step { event, state, edge: edge(i) }));
            before = after;
        }
        let to_fault = fault.map(|record| model.steps_to_fault(before, record)).unwrap_or_default();
        all.extend(to_fault.into_iter().map(|(event, state)| Step { event, state, edge: None }));
        all
    }

    /// The run through these states, the first one initial. Between two of them states may be missing, as long as the way
    /// is not hard to find: chains of states with one successor, mostly.
    pub fn through(model: &dyn Model, path: &[Vec<u8>]) -> Option<Trace> {
        let initial = path.first()?.clone();
        let mut steps = Vec::with_capacity(path.len() - 1);
        for ends in path.windows(2) {
            bridge(model, &ends[0], &ends[1], &mut steps)?;
        }
        Some(Trace { initial, steps })
    }

    /// The last state.
    pub fn last(&self) -> &[u8] {
        self.steps.last().map_or(&self.initial, |(_, state)| state)
    }
}

/// Appends the shortest run from one state to another, not counting the first; gives up when it is far.
fn bridge(model: &dyn Model, from: &[u8], to: &[u8], steps: &mut Vec<(EventCode, Vec<u8>)>) -> Option<()> {
    const FAR: usize = 1 << 20;
    let mut known: HashSet<Vec<u8>> = HashSet::from([from.to_vec()]);
    // Each state with the place of its predecessor and the event that led to it.
    let mut found: Vec<(usize, EventCode, Vec<u8>)> = vec![(0, 0, from.to_vec())];
    let mut successors = Batch::new(model.state_bytes());
    let mut next = 0;
    while next < found.len() && found.len() < FAR {
        successors.clear();
        model.expand(&found[next].2, &mut successors);
        successors.take_deadlock(0);
        for i in 0..successors.len() {
            if successors.state(i) == to {
                let mut way = vec![(successors.event(i), to.to_vec())];
                let mut at = next;
                while at != 0 {
                    way.push((found[at].1, std::mem::take(&mut found[at].2)));
                    at = found[at].0;
                }
                steps.extend(way.into_iter().rev());
                return Some(());
            }
            if known.insert(successors.state(i).to_vec()) {
                found.push((next, successors.event(i), successors.state(i).to_vec()));
            }
        }
        next += 1;
    }
    None
}
