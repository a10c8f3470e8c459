//! From a state back to how it came about.
//!
//! No predecessor is stored. In breadth-first order the levels are ranges of numbers: a predecessor of a state on level d
//! is found by expanding level d-1 once more until the state turns up, which costs at worst a second generation of all
//! successors, without any look-up, and no memory. Other searches keep the ancestors of what is open.

use crate::store::{StateId, Store};
use scrimp_system::{Batch, EventCode, FaultRecord, Model};
use std::collections::{HashMap, HashSet};

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
    pub fn single_steps(&self, model: &dyn Model, fault: Option<FaultRecord>) -> Vec<Step> {
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

    /// Shortest runs to targets, each of which stands on the level `depth` of a breadth-first search with these levels.
    /// All are looked for together, level by level, so that many cost no more than the farthest one.
    pub fn backwards(
        model: &dyn Model,
        store: &dyn Store,
        levels: &[StateId],
        targets: &[(&[u8], u32)],
    ) -> Vec<Option<Trace>> {
        // For each target the run from as far back as it is known, the last step first.
        let mut ways: Vec<Trace> =
            targets.iter().map(|(state, _)| Trace { initial: state.to_vec(), steps: Vec::new() }).collect();
        let mut source = Batch::new(model.state_bytes());
        let mut successors = Batch::new(model.state_bytes());
        let deepest = targets.iter().map(|(_, depth)| *depth as usize).max().unwrap_or(0);
        for level in (0..deepest.min(levels.len().saturating_sub(1))).rev() {
            let mut wanted: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
            for (i, way) in ways.iter().enumerate() {
                if targets[i].1 as usize == level + 1 + way.steps.len() {
                    wanted.entry(way.initial.clone()).or_default().push(i);
                }
            }
            for id in levels[level]..levels[level + 1] {
                if wanted.is_empty() {
                    break;
                }
                source.clear();
                successors.clear();
                store.load(id, source.push_with(0));
                model.expand(source.state(0), &mut successors);
                for next in 0..successors.len() {
                    for i in wanted.remove(successors.state(next)).into_iter().flatten() {
                        let after = std::mem::replace(&mut ways[i].initial, source.state(0).to_vec());
                        ways[i].steps.push((successors.event(next), after));
                    }
                }
            }
        }
        let mut whole = Vec::new();
        for (mut way, (_, depth)) in ways.into_iter().zip(targets) {
            way.steps.reverse();
            whole.push((way.steps.len() == *depth as usize).then_some(way));
        }
        whole
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
