//! From a state back to how it came about.
//!
//! No predecessor is stored. In breadth-first order the levels are ranges of numbers: a predecessor of a state on level d
//! is found by expanding level d-1 once more until the state turns up, which costs at worst a second generation of all
//! successors, without any look-up, and no memory. Other searches keep the ancestors of what is open.

use crate::store::{StateId, Store};
use scrimp_core::Trace;
use scrimp_system::{Batch, Model};
use std::collections::HashMap;

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
