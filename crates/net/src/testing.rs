//! Small random nets and their markings by brute force: what the tests of this crate compare with.

use std::collections::{HashMap, VecDeque};

use proptest::prelude::*;

use crate::{Arc, Condition, Marking, Net, Place, Sum, Transition, TransitionId};

fn arcs(weights: &[u64]) -> Vec<Arc> {
    let arc = |(place, &weight): (usize, &u64)| (weight > 0).then_some(Arc { place: place as u32, weight });
    weights.iter().enumerate().filter_map(arc).collect()
}

/// A net from a table: initial tokens, and for each transition what it takes from and gives to each place.
pub(crate) fn net(initial: &[u64], transitions: &[(&[u64], &[u64])]) -> Net {
    let place = |(i, &initial): (usize, &u64)| Place { name: format!("p{i}"), initial, line: 0 };
    let transition = |(i, (inputs, outputs)): (usize, &(&[u64], &[u64]))| Transition {
        name: format!("t{i}"),
        inputs: arcs(inputs),
        outputs: arcs(outputs),
        ..Transition::default()
    };
    Net {
        places: initial.iter().enumerate().map(place).collect(),
        transitions: transitions.iter().enumerate().map(transition).collect(),
        ..Net::default()
    }
}

fn weight(zeros: u32) -> impl Strategy<Value = u64> {
    prop_oneof![zeros => Just(0u64), 6 => Just(1u64), 1 => Just(2u64)]
}

/// Nets with few arcs at a transition, as most nets have; with inhibitor and reset arcs if `special`.
pub(crate) fn nets(special: bool) -> impl Strategy<Value = Net> {
    let zeros = prop_oneof![Just(12u32), Just(30u32)];
    (2usize..8, 1usize..9, zeros).prop_flat_map(move |(places, transitions, zeros)| {
        let row = || proptest::collection::vec(weight(zeros), places);
        let extra = proptest::collection::vec((0u8..12, 1u64..3), places);
        let initial = proptest::collection::vec(prop_oneof![3 => Just(0u64), 3 => Just(1u64), 1 => Just(2u64)], places);
        let transition = (row(), row(), extra);
        (initial, proptest::collection::vec(transition, transitions)).prop_map(move |(initial, table)| {
            let rows: Vec<(&[u64], &[u64])> = table.iter().map(|(i, o, _)| (&i[..], &o[..])).collect();
            let mut made = net(&initial, &rows);
            for (transition, (_, _, extra)) in
                made.transitions.iter_mut().zip(&table).take(if special { 99 } else { 0 })
            {
                for (place, &(kind, weight)) in extra.iter().enumerate() {
                    match kind {
                        0 => transition.inhibitors.push(Arc { place: place as u32, weight }),
                        1 => transition.resets.push(place as u32),
                        _ => {}
                    }
                }
            }
            made
        })
    })
}

/// Nets of many places in which tokens go along with few choices, so that there is much to be fused.
pub(crate) fn flows() -> impl Strategy<Value = Net> {
    (4usize..10, 3usize..10).prop_flat_map(|(places, transitions)| {
        let ends = |most: usize| {
            proptest::collection::vec((0..places, prop_oneof![7 => Just(1u64), 1 => Just(2u64)]), 0..=most)
        };
        let inputs = prop_oneof![6 => ends(1), 2 => ends(2)];
        let outputs = prop_oneof![6 => ends(1), 2 => ends(2), 1 => ends(3)];
        let tokens = proptest::collection::vec(0..places, 1..4);
        (tokens, proptest::collection::vec((inputs, outputs), transitions)).prop_map(move |(tokens, table)| {
            let mut initial = vec![0; places];
            tokens.into_iter().for_each(|place| initial[place] += 1);
            let row = |ends: &[(usize, u64)]| {
                let mut row = vec![0; places];
                ends.iter().for_each(|&(place, weight)| row[place] = weight);
                row
            };
            let rows: Vec<(Vec<u64>, Vec<u64>)> = table.iter().map(|(i, o)| (row(i), row(o))).collect();
            let rows: Vec<(&[u64], &[u64])> = rows.iter().map(|(i, o)| (&i[..], &o[..])).collect();
            net(&initial, &rows)
        })
    })
}

/// Conditions over the first places of a net.
pub(crate) fn conditions(places: u32) -> impl Strategy<Value = Condition> {
    let term = (0..places, prop_oneof![Just(1i64), Just(-1i64), Just(2i64)]);
    let sum = (proptest::collection::vec(term, 1..3), -3i64..3).prop_map(|(mut terms, constant)| {
        terms.sort_unstable();
        terms.dedup_by_key(|term| term.0);
        Condition::AtMostZero(Sum { terms, constant })
    });
    sum.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|c| Condition::Not(Box::new(c))),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(Condition::All),
            proptest::collection::vec(inner, 1..3).prop_map(Condition::Any),
        ]
    })
}

/// All markings with the firings that lead to each, or nothing when there are more than `limit`.
pub(crate) fn markings(net: &Net, limit: usize) -> Option<HashMap<Marking, Vec<TransitionId>>> {
    let (found, all) = some_markings(net, limit);
    all.then_some(found)
}

/// Markings with the firings that lead to each, the nearest first up to `limit`, and whether these are all.
pub(crate) fn some_markings(net: &Net, limit: usize) -> (HashMap<Marking, Vec<TransitionId>>, bool) {
    let mut found = HashMap::from([(net.initial(), Vec::new())]);
    let mut open = VecDeque::from([net.initial()]);
    while let Some(marking) = open.pop_front() {
        for t in 0..net.transitions.len() as u32 {
            let mut next = marking.clone();
            if !net.is_enabled(&marking, t) || !net.fire(&mut next, t) || found.contains_key(&next) {
                continue;
            }
            if found.len() >= limit {
                return (found, false);
            }
            let mut firing = found[&marking].clone();
            firing.push(t);
            found.insert(next.clone(), firing);
            open.push_back(next);
        }
    }
    (found, true)
}

/// The marking after these firings, if each was enabled.
pub(crate) fn after(net: &Net, firing: &[TransitionId]) -> Option<Marking> {
    let mut marking = net.initial();
    firing.iter().all(|&t| net.is_enabled(&marking, t) && net.fire(&mut marking, t)).then_some(marking)
}
