//! Groups of places of which at most one is marked, with one token: a group is stored as the number of that place.

use super::equation::{Equation, Inequality};
use super::flows::Flow;
use super::siphons::never_marked;
use crate::net::{Net, PlaceId};
use std::collections::HashSet;
use std::time::Instant;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExclusiveGroup {
    /// Sorted; no place is in two groups.
    pub places: Vec<PlaceId>,
    /// One of them is always marked.
    pub always_one: bool,
}

impl ExclusiveGroup {
    /// Bits that a state spends on the group.
    pub fn bits(&self) -> u32 {
        bits(self.places.len(), self.always_one)
    }

    fn saves(&self) -> usize {
        self.places.len() - self.bits() as usize
    }
}

fn bits(places: usize, always_one: bool) -> u32 {
    let values = if always_one { places } else { places + 1 };
    usize::BITS - values.saturating_sub(1).leading_zeros()
}

/// Disjoint groups that save much. They come from flows, from inequalities without negative weights (such as the proofs of
/// bounds), and from the net's units as far as the state equation proves them before the deadline.
pub fn exclusive_groups(net: &Net, flows: &[Flow], proofs: &[Inequality], deadline: Instant) -> Vec<ExclusiveGroup> {
    let mut candidates: Vec<ExclusiveGroup> = Vec::new();
    for flow in flows.iter().filter(|flow| flow.is_positive()) {
        if let Some(group) = heavy(&flow.as_inequality()) {
            let always_one = flow.weights.iter().all(|e| i128::from(e.1) == flow.value);
            candidates.push(ExclusiveGroup { places: group, always_one });
        }
    }
    for places in proofs.iter().filter_map(heavy).chain(proven_units(net, deadline)) {
        candidates.push(ExclusiveGroup { places, always_one: false });
    }
    // A place that is never marked takes no part, and no room.
    let never = never_marked(net);
    candidates.iter_mut().for_each(|group| group.places.retain(|&p| !never[p as usize]));
    choose(candidates, net.places.len())
}

/// The places two tokens of which would be more than the bound allows. One alone may hold only one token, then.
fn heavy(inequality: &Inequality) -> Option<Vec<PlaceId>> {
    if inequality.bound < 1 || inequality.weights.iter().any(|e| e.1 < 0) {
        return None;
    }
    let heavy: Vec<PlaceId> =
        inequality.weights.iter().filter(|e| 2 * i128::from(e.1) > inequality.bound).map(|e| e.0).collect();
    (heavy.len() > 1).then_some(heavy)
}

/// Units, each with those of its parts that are largest, as long as the state equation proves that they are exclusive.
fn proven_units(net: &Net, deadline: Instant) -> Vec<Vec<PlaceId>> {
    let mut proven = Vec::new();
    let Some(units) = &net.units else { return proven };
    let Some(mut equation) = Equation::new(net) else { return proven };
    let count = units.units.len();
    let mut below: Vec<Option<Vec<PlaceId>>> = vec![None; count];
    // Leaves first. A unit that is reached twice is no tree, and is looked at once.
    let mut order: Vec<u32> = Vec::new();
    let mut seen = vec![false; count];
    let mut stack = vec![units.root];
    while let Some(unit) = stack.pop() {
        let Some(known) = seen.get_mut(unit as usize) else { continue };
        if !std::mem::replace(known, true) {
            order.push(unit);
            stack.extend(&units.units[unit as usize].subunits);
        }
    }
    for &index in order.iter().rev() {
        let unit = &units.units[index as usize];
        let mut own = unit.places.clone();
        own.retain(|&p| (p as usize) < net.places.len());
        own.sort_unstable();
        own.dedup();
        let deepest = unit.subunits.iter().filter_map(|&s| below.get(s as usize)?.clone()).max_by_key(Vec::len);
        let mut path = deepest.unwrap_or_default();
        path.extend(&own);
        path.sort_unstable();
        path.dedup();
        let mut exclusive = |places: &[PlaceId]| {
            let weights: Vec<(PlaceId, i64)> = places.iter().map(|&p| (p, 1)).collect();
            let Some(first) = equation.at_first(&weights) else { return false };
            let Ok(variable) = equation.sum(&weights) else { return false };
            matches!(equation.largest(variable, deadline), Ok(Some(more)) if more + first <= 1)
        };
        if path.len() > 1 && exclusive(&path) {
            proven.push(path.clone());
            below[index as usize] = Some(path);
        } else {
            let alone = own.len() > 1 && own.len() < path.len() && exclusive(&own);
            if alone {
                proven.push(own.clone());
            }
            below[index as usize] = (alone || own.len() == 1).then_some(own);
        }
    }
    proven
}

/// The candidate that saves most first, then the best of what is left of the others.
fn choose(candidates: Vec<ExclusiveGroup>, places: usize) -> Vec<ExclusiveGroup> {
    let mut seen = HashSet::new();
    let mut candidates = candidates;
    candidates.sort_by_key(|group| !group.always_one);
    candidates.retain(|group| seen.insert(group.places.clone()));
    let mut taken = vec![false; places];
    let mut chosen = Vec::new();
    loop {
        for group in &mut candidates {
            let before = group.places.len();
            group.places.retain(|&p| !taken[p as usize]);
            group.always_one &= group.places.len() == before;
        }
        candidates.retain(|group| group.places.len() > 1 && group.saves() > 0);
        let best = candidates.iter().enumerate().max_by_key(|(_, group)| (group.saves(), group.always_one));
        let Some(at) = best.map(|(at, _)| at) else { return chosen };
        let group = candidates.swap_remove(at);
        group.places.iter().for_each(|&p| taken[p as usize] = true);
        chosen.push(group);
    }
}

#[cfg(test)]
mod tests {
    use super::super::brute::{net_of, nets, reachable};
    use super::super::{bounds, place_semiflows};
    use super::*;
    use crate::net::{Unit, Units};
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn a_ring_is_one_group() {
        let mut net = net_of(&[1, 0, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(2, 1)]), (&[(2, 1)], &[(0, 1)])]);
        let deadline = Instant::now() + Duration::from_secs(10);
        let flows = place_semiflows(&net, 1000).flows;
        let found = exclusive_groups(&net, &flows, &[], deadline);
        assert_eq!(found, vec![ExclusiveGroup { places: vec![0, 1, 2], always_one: true }]);
        assert_eq!(found[0].bits(), 2);
        let unit = |places, subunits| Unit { id: String::new(), places, subunits };
        let units = vec![unit(vec![0], vec![1, 0]), unit(vec![1, 2], vec![])];
        net.units = Some(Units { root: 0, safe: true, units });
        let found = exclusive_groups(&net, &[], &[], deadline);
        assert_eq!(found, vec![ExclusiveGroup { places: vec![0, 1, 2], always_one: false }]);
        assert_eq!(found[0].bits(), 2);
    }

    proptest! {
        #[test]
        fn groups_are_exclusive(net in nets(), split in 1u32..7) {
            let deadline = Instant::now() + Duration::from_secs(10);
            let mut net = net;
            let places = net.places.len() as u32;
            let unit = |places: std::ops::Range<u32>, subunits| Unit { id: String::new(), places: places.collect(), subunits };
            let split = split.min(places);
            net.units = Some(Units { root: 0, safe: true, units: vec![unit(0..split, vec![1]), unit(split..places, vec![])] });
            let flows = place_semiflows(&net, 100_000).flows;
            let proofs = bounds(&net, &[], deadline).proofs;
            let found = exclusive_groups(&net, &flows, &proofs, deadline);
            for m in reachable(&net, 300).0 {
                for group in &found {
                    let sum: u64 = group.places.iter().map(|&p| m[p as usize]).sum();
                    prop_assert!(sum <= 1 && (!group.always_one || sum == 1));
                }
            }
        }
    }
}
