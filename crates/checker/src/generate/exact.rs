//! The fewest runs of all that cover the same items, where a graph is small: every run that may be worth it is looked at, and then
//! every choice of some of them.

use super::graph::{Graph, NOBODY, Way};
use scrimp_system::Stop;

/// Pairs of a node and what a run to it has covered: with more of them, nothing is found out.
const MOST_ENDS: usize = 1 << 16;
/// What runs to one node may have covered.
const MOST_AT_ONE: usize = 1 << 9;
/// Runs among which some are chosen, and how many of them are looked at to choose.
const MOST_RUNS: usize = 1 << 10;
const MOST_LOOKS: usize = 1 << 20;
const GLANCE: usize = 1 << 10;

/// What came of looking for fewer runs.
pub enum Fewer {
    /// These are the fewest of all.
    Found(Vec<Way>),
    /// There are none.
    No,
    Unknown,
}

/// A run to a node, with the items that it covers as bits; the entry that it goes on from, and the set of the last edge.
struct End {
    node: u32,
    has: u128,
    before: u32,
    set: u32,
}

/// Looks for fewer runs than this that cover all items.
pub fn fewer(graph: &Graph, items: usize, than: usize, stop: &Stop) -> Fewer {
    if items > u128::BITS as usize || graph.nodes() as usize > MOST_ENDS {
        return Fewer::Unknown;
    }
    let Some(ends) = ends(graph, stop) else { return Fewer::Unknown };
    let Some(best) = best(&ends, stop) else { return Fewer::Unknown };
    let runs: Vec<u128> = best.iter().map(|&end| ends[end].has).collect();
    let all = runs.iter().fold(0, |all, has| all | has);
    let mut looks = 0;
    for many in 1..than {
        let mut chosen = Vec::new();
        if choose(&runs, all, many, &mut chosen, &mut looks) {
            return Fewer::Found(chosen.into_iter().map(|run| way(&ends, best[run])).collect());
        }
        if looks > MOST_LOOKS || stop.due().is_some() {
            return Fewer::Unknown;
        }
    }
    Fewer::No
}

/// Where runs end and with what, shortest runs first. One that has no more than another at the same node is left out.
fn ends(graph: &Graph, stop: &Stop) -> Option<Vec<End>> {
    let bits = |set: u32| graph.items(set).iter().fold(0u128, |bits, item| bits | 1 << item);
    let masks: Vec<u128> = (0..graph.sets()).map(bits).collect();
    let mut known: Vec<Vec<u128>> = vec![Vec::new(); graph.nodes() as usize];
    let mut ends: Vec<End> = Vec::new();
    let offer = |known: &mut [Vec<u128>], ends: &mut Vec<End>, end: End| {
        let known = &mut known[end.node as usize];
        if !known.iter().any(|other| end.has & !other == 0) {
            known.push(end.has);
            ends.push(end);
        }
    };
    for &(node, set) in &graph.initial {
        offer(&mut known, &mut ends, End { node, has: masks[set as usize], before: NOBODY, set });
    }
    let mut next = 0;
    while next < ends.len() {
        if ends.len() > MOST_ENDS || (next.is_multiple_of(GLANCE) && stop.due().is_some()) {
            return None;
        }
        let (node, has) = (ends[next].node, ends[next].has);
        if known[node as usize].len() > MOST_AT_ONE {
            return None;
        }
        for (target, set) in graph.successors(node) {
            offer(
                &mut known,
                &mut ends,
                End { node: target, has: has | masks[set as usize], before: next as u32, set },
            );
        }
        next += 1;
    }
    Some(ends)
}

/// The runs of which no other one has everything too; nothing where these are too many.
fn best(ends: &[End], stop: &Stop) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    // Of those that have as much, the first is the shortest.
    order.sort_by_key(|&end| std::cmp::Reverse(ends[end].has.count_ones()));
    let mut best: Vec<usize> = Vec::new();
    for (number, end) in order.into_iter().enumerate() {
        if number.is_multiple_of(GLANCE) && stop.due().is_some() {
            return None;
        }
        if !best.iter().any(|&other| ends[end].has & !ends[other].has == 0) {
            best.push(end);
            if best.len() > MOST_RUNS {
                return None;
            }
        }
    }
    Some(best)
}

/// Chooses at most so many runs that cover what is left.
fn choose(runs: &[u128], left: u128, many: usize, chosen: &mut Vec<usize>, looks: &mut usize) -> bool {
    if left == 0 {
        return true;
    }
    *looks += runs.len();
    if many == 0 || *looks > MOST_LOOKS {
        return false;
    }
    // The item that fewest runs have: one of these must be chosen.
    let mut counts = [0u32; u128::BITS as usize];
    for has in runs {
        let mut bits = has & left;
        while bits != 0 {
            counts[bits.trailing_zeros() as usize] += 1;
            bits &= bits - 1;
        }
    }
    let rarest = (0..u128::BITS).filter(|bit| left >> bit & 1 == 1).min_by_key(|&bit| counts[bit as usize]);
    let Some(rarest) = rarest else { return true };
    for (run, has) in runs.iter().enumerate().filter(|(_, has)| **has >> rarest & 1 == 1) {
        chosen.push(run);
        if choose(runs, left & !has, many - 1, chosen, looks) {
            return true;
        }
        chosen.pop();
    }
    false
}

/// The way of a run.
fn way(ends: &[End], end: usize) -> Way {
    let mut steps = Vec::new();
    let mut at = end as u32;
    while at != NOBODY {
        let End { node, set, before, .. } = ends[at as usize];
        steps.push((node, set));
        at = before;
    }
    steps.reverse();
    Way { steps }
}
