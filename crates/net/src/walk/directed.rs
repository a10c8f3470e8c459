//! Search that goes on from the marking nearest to a condition, with a limit on the markings that it keeps.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{SLICE, Search};
use crate::{Marking, TransitionId};

/// A marking that was met, and how: `NONE` before the first.
struct Node {
    marking: Marking,
    before: u32,
    fired: TransitionId,
}

const NONE: u32 = u32::MAX;
/// Tokens kept at most, over all markings.
const ROOM: usize = 64 << 20;

/// Goes on from the nearest marking until so many markings were met, the condition was, or there are no more.
pub(super) fn best_first(search: &mut Search, goal: u32, markings: u64) {
    let places = search.net.places.len().max(1);
    let limit = markings.min((ROOM / 8 / places) as u64).min(NONE as u64 - 1) as usize;
    let mut walker = search.wiring.start();
    let mut nodes = vec![Node { marking: walker.marking.clone(), before: NONE, fired: 0 }];
    // Two markings with the same hash are taken for one: then less is met, and nothing wrong.
    let mut known = HashSet::from([hash(&walker.marking)]);
    let mut open = BinaryHeap::from([(Reverse(0i128), 0u32)]);
    let mut fired = 0u64;
    while let Some((_, id)) = open.pop() {
        let from = nodes[id as usize].marking.clone();
        walker.go_to(&search.wiring, &from);
        let enabled = walker.enabled().to_vec();
        for t in enabled {
            search.met.firings += 1;
            fired += 1;
            if fired.is_multiple_of(SLICE) && search.is_over() {
                return;
            }
            walker.go_to(&search.wiring, &from);
            if !walker.fire(&search.wiring, t) || !known.insert(hash(&walker.marking)) {
                continue;
            }
            let next = nodes.len() as u32;
            nodes.push(Node { marking: walker.marking.clone(), before: id, fired: t });
            let mut values = search.goals.values(&walker.marking);
            search.goals.raise(&values, &mut search.met.largest);
            let stuck = walker.enabled().is_empty();
            let news = search.open.iter().any(|&goal| search.goals.holds(goal, &values, stuck));
            if news || (stuck && search.met.deadlock.is_none()) {
                search.look(&walker, &mut values, &trace(&nodes, next));
                if search.met.goals[goal as usize].is_some() {
                    return;
                }
            }
            if nodes.len() >= limit {
                return;
            }
            open.push((Reverse(search.goals.distance(goal, &values)), next));
        }
    }
}

fn hash(marking: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    marking.hash(&mut hasher);
    hasher.finish()
}

fn trace(nodes: &[Node], mut id: u32) -> Vec<TransitionId> {
    let mut trace = Vec::new();
    while nodes[id as usize].before != NONE {
        trace.push(nodes[id as usize].fired);
        id = nodes[id as usize].before;
    }
    trace.reverse();
    trace
}
