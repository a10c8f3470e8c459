use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::testing::{after, conditions, markings, net, nets};

fn walks(goals: Vec<Condition>, firings: u64) -> Walks {
    let deadline = Instant::now() + Duration::from_secs(20);
    Walks { goals, deadlock: true, sums: Vec::new(), deadline, firings, seed: 7 }
}

proptest! {
    // Walks may miss something: the same nets every time, so that they miss nothing in any run.
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Whatever is met is reachable, and in these small nets nothing reachable stays unmet.
    #[test]
    fn walks_meet_what_is_reachable(net in nets(true), goals in proptest::collection::vec(conditions(2), 1..4)) {
        let Some(all) = markings(&net, 40) else { return Ok(()) };
        let mut walks = walks(goals.clone(), 20_000);
        walks.sums.push((Sum { terms: vec![(0, 1), (1, 2)], constant: 0 }, None));
        let met = walk(&net, &walks);
        for (goal, trace) in goals.iter().zip(&met.goals) {
            let reachable = all.keys().any(|marking| goal.holds(&net, marking));
            match trace {
                Some(trace) => prop_assert!(goal.holds(&net, &after(&net, trace).expect("a walk can be fired"))),
                None => prop_assert!(!reachable, "{goal:?} stayed unmet"),
            }
        }
        let stuck = all.keys().any(|marking| Condition::Deadlock.holds(&net, marking));
        prop_assert_eq!(met.deadlock.is_some(), stuck);
        let largest = all.keys().map(|marking| walks.sums[0].0.value(marking)).max();
        prop_assert_eq!(Some(met.largest[0]), largest);
    }
}

#[test]
fn conditions_about_firing_and_deadlock_are_met() {
    let net = net(&[2, 0, 0], &[(&[1, 0, 0], &[0, 1, 0]), (&[0, 2, 0], &[0, 0, 1])]);
    let goals = vec![
        Condition::Fireable(vec![1]),
        Condition::All(vec![Condition::Deadlock, Condition::Not(Box::new(Condition::Fireable(vec![0, 1])))]),
        Condition::Not(Box::new(Condition::Deadlock)),
    ];
    let met = walk(&net, &walks(goals, 1000));
    let lengths: Vec<_> = met.goals.iter().map(|trace| trace.as_ref().map(Vec::len)).collect();
    assert_eq!(lengths, vec![Some(2), Some(3), Some(0)]);
    assert_eq!(met.deadlock, Some(vec![0, 0, 1]));
}

#[test]
fn tokens_that_cannot_be_counted_end_a_walk() {
    let net = net(&[u64::MAX - 1], &[(&[0], &[1])]);
    let met = walk(&net, &walks(vec![Condition::False], 1000));
    assert_eq!((met.goals, met.deadlock), (vec![None], None));
}
