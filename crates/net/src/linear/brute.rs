//! For tests: small random nets and all markings that they reach.

use crate::net::{Arc, Marking, Net, Place, Transition};
use proptest::prelude::*;
use std::collections::HashSet;

type Arcs<'a> = &'a [(u32, u64)];

pub fn net_of(initial: &[u64], transitions: &[(Arcs, Arcs)]) -> Net {
    let arcs = |arcs: Arcs| arcs.iter().map(|&(place, weight)| Arc { place, weight }).collect();
    Net {
        places: initial.iter().map(|&initial| Place { initial, ..Place::default() }).collect(),
        transitions: transitions
            .iter()
            .map(|&(inputs, outputs)| Transition {
                inputs: arcs(inputs),
                outputs: arcs(outputs),
                ..Transition::default()
            })
            .collect(),
        ..Net::default()
    }
}

/// The markings that can be reached, at most so many, and whether these are all.
pub fn reachable(net: &Net, most: usize) -> (Vec<Marking>, bool) {
    let mut seen: HashSet<Marking> = HashSet::from([net.initial()]);
    let mut list = vec![net.initial()];
    let mut next = 0;
    while next < list.len() {
        for t in 0..net.transitions.len() as u32 {
            if net.is_enabled(&list[next], t) {
                let mut marking = list[next].clone();
                if net.fire(&mut marking, t) && seen.insert(marking.clone()) {
                    if list.len() == most {
                        return (list, false);
                    }
                    list.push(marking);
                }
            }
        }
        next += 1;
    }
    (list, true)
}

fn arcs(places: u32, most: usize) -> impl Strategy<Value = Vec<Arc>> {
    let weight = prop_oneof![6 => Just(1u64), 1 => Just(2), 1 => Just(3)];
    proptest::collection::btree_map(0..places, weight, 0..=most)
        .prop_map(|map| map.into_iter().map(|(place, weight)| Arc { place, weight }).collect())
}

fn transition(places: u32) -> impl Strategy<Value = Transition> {
    let rare = prop_oneof![12 => Just(0usize), 1 => Just(1)];
    let resets = (rare.clone(), 0..places).prop_map(|(n, p)| if n == 0 { vec![] } else { vec![p] });
    let inhibitors = (rare, 0..places, 1u64..3)
        .prop_map(|(n, place, weight)| if n == 0 { vec![] } else { vec![Arc { place, weight }] });
    // As many outputs as inputs more often than not, so that tokens are conserved now and then.
    let balanced = (1..=2usize).prop_flat_map(move |n| (arcs(places, n), arcs(places, n)));
    (balanced, inhibitors, resets).prop_map(|((inputs, outputs), inhibitors, resets)| Transition {
        inputs,
        outputs,
        inhibitors,
        resets,
        ..Transition::default()
    })
}

/// Nets with up to seven places and eight transitions.
pub fn nets() -> impl Strategy<Value = Net> {
    (2u32..8).prop_flat_map(|places| {
        let marks =
            proptest::collection::vec(prop_oneof![3 => Just(0u64), 3 => Just(1), 1 => Just(3)], places as usize);
        (marks, proptest::collection::vec(transition(places), 1..8)).prop_map(|(marks, transitions)| Net {
            places: marks.into_iter().map(|initial| Place { initial, ..Place::default() }).collect(),
            transitions,
            ..Net::default()
        })
    })
}
