//! What is refuted never holds, seen by brute force.

use super::super::brute::{net_of, nets, reachable};
use super::super::place_bounds;
use super::*;
use proptest::prelude::*;
use std::time::Duration;

fn sums() -> impl Strategy<Value = Condition> {
    (proptest::collection::btree_map(0u32..7, prop_oneof![Just(1i64), Just(-1), Just(2), Just(-3)], 0..4), -4i64..5)
        .prop_map(|(terms, constant)| Condition::AtMostZero(Sum { terms: terms.into_iter().collect(), constant }))
}

fn conditions() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        10 => sums(),
        2 => proptest::collection::vec(0u32..8, 0..3).prop_map(Condition::Fireable),
        2 => Just(Condition::Deadlock),
        1 => Just(Condition::True),
        1 => Just(Condition::False),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|c| Condition::Not(Box::new(c))),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Condition::All),
            proptest::collection::vec(inner, 0..4).prop_map(Condition::Any),
        ]
    })
}

/// Leaves out places and transitions that the net does not have.
fn fit(condition: Condition, net: &Net) -> Condition {
    let list = |parts: Vec<Condition>| parts.into_iter().map(|part| fit(part, net)).collect();
    match condition {
        Condition::Not(inner) => Condition::Not(Box::new(fit(*inner, net))),
        Condition::All(parts) => Condition::All(list(parts)),
        Condition::Any(parts) => Condition::Any(list(parts)),
        Condition::AtMostZero(mut sum) => {
            sum.terms.retain(|e| (e.0 as usize) < net.places.len());
            Condition::AtMostZero(sum)
        }
        Condition::Fireable(mut which) => {
            which.retain(|&t| (t as usize) < net.transitions.len());
            Condition::Fireable(which)
        }
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn what_is_refuted_never_holds(net in nets(), conditions in proptest::collection::vec(conditions(), 1..4)) {
        let deadline = Instant::now() + Duration::from_secs(10);
        let (markings, _) = reachable(&net, 400);
        let bounds = place_bounds(&net, deadline);
        let mut refuter = Refuter::new(&net, &bounds).unwrap();
        for condition in conditions {
            let condition = fit(condition, &net);
            if never_holds(&net, &condition, deadline) || refuter.never_holds(&condition, 1000, deadline) {
                for m in &markings {
                    prop_assert!(!condition.holds(&net, m), "{:?} in {:?}", condition, m);
                }
            }
            if let Condition::AtMostZero(sum) = &condition
                && let Some(most) = refuter.upper_bound(sum, 1000, deadline)
            {
                for m in &markings {
                    prop_assert!(sum.value(m) <= most);
                }
            }
        }
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

fn at_least(place: u32, tokens: i64) -> Condition {
    Condition::AtMostZero(Sum { terms: vec![(place, -1)], constant: tokens })
}

#[test]
fn two_processes_with_a_lock_exclude_each_other() {
    let net = net_of(
        &[1, 0, 1, 0, 1],
        &[
            (&[(0, 1), (4, 1)], &[(1, 1)]),
            (&[(1, 1)], &[(0, 1), (4, 1)]),
            (&[(2, 1), (4, 1)], &[(3, 1)]),
            (&[(3, 1)], &[(2, 1), (4, 1)]),
        ],
    );
    assert!(never_holds(&net, &Condition::All(vec![at_least(1, 1), at_least(3, 1)]), soon()));
    assert!(never_holds(&net, &Condition::Deadlock, soon()));
    assert!(!never_holds(&net, &at_least(3, 1), soon()));
}

/// The equation lets the token vanish here, and only the trap knows better.
#[test]
fn a_trap_proves_what_the_equation_does_not() {
    let net = net_of(&[1, 0, 0], &[(&[(0, 1)], &[(1, 2)]), (&[(1, 2)], &[(1, 1)]), (&[(1, 1)], &[(1, 1), (2, 1)])]);
    let empty = Condition::Not(Box::new(Condition::Any(vec![at_least(0, 1), at_least(1, 1)])));
    assert!(never_holds(&net, &empty, soon()));
}

#[test]
fn tokens_are_whole() {
    let net = net_of(&[2, 0], &[(&[(0, 2)], &[(1, 2)])]);
    assert!(never_holds(&net, &Condition::All(vec![at_least(0, 1), at_least(1, 1)]), soon()));
}
