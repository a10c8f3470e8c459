use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::Condition;
use crate::testing::{after, conditions, flows, markings, net, nets, some_markings};

fn rules(on: &[Rule]) -> Rules {
    Rules { on: on.to_vec(), growth: 3, ..Rules::all(Instant::now() + Duration::from_secs(5)) }
}

/// The reduced net has the same projections (and deadlocks), and what is found in it can be fired in the original.
fn check(net: &Net, observed: &Observed, on: &[Rule]) -> Result<(), TestCaseError> {
    let reduced = reduce(net, observed, &rules(on));
    if reduced.removed.is_empty() {
        let arcs =
            |net: &Net| net.transitions.iter().map(|t| (t.inputs.clone(), t.outputs.clone())).collect::<Vec<_>>();
        prop_assert_eq!(arcs(net), arcs(&reduced.net));
        return Ok(());
    }
    let (all, complete) = some_markings(net, 300);
    let (small, small_complete) = some_markings(&reduced.net, 1_500);
    prop_assert!(small_complete || !complete, "the reduced net has far more markings");
    let old = |marking: &[u64]| observed.places.iter().map(|&p| marking[p as usize]).collect::<Vec<_>>();
    let new = |marking: &[u64]| {
        let number = |&p: &PlaceId| marking[reduced.place(p).expect("observed places stay") as usize];
        observed.places.iter().map(number).collect::<Vec<_>>()
    };
    let before: HashSet<_> = all.keys().map(|marking| old(marking)).collect();
    let now: HashSet<_> = small.keys().map(|marking| new(marking)).collect();
    prop_assert!(!small_complete || before.is_subset(&now), "{before:?} {now:?} {:?}", reduced.removed);
    prop_assert!(!complete || now.is_subset(&before), "{before:?} {now:?} {:?}", reduced.removed);
    let stuck = |net: &Net, marking: &[u64]| Condition::Deadlock.holds(net, marking);
    if observed.deadlock {
        let before: HashSet<_> = all.keys().filter(|m| stuck(net, m)).map(|m| old(m)).collect();
        let now: HashSet<_> = small.keys().filter(|m| stuck(&reduced.net, m)).map(|m| new(m)).collect();
        prop_assert!(!small_complete || before.is_subset(&now), "deadlocks {:?}", reduced.removed);
        prop_assert!(!complete || now.is_subset(&before), "deadlocks {:?}", reduced.removed);
    }
    for (marking, firing) in small.iter().take(200) {
        let lifted = reduced.lift(net, firing);
        prop_assert!(lifted.is_some(), "{:?} does not lift {:?}", firing, reduced.removed);
        prop_assert_eq!(old(&after(net, &lifted.unwrap()).unwrap()), new(marking));
        if observed.deadlock && stuck(&reduced.net, marking) {
            let lifted = reduced.lift_to_deadlock(net, firing);
            prop_assert!(lifted.is_some(), "{:?} does not lift to a deadlock {:?}", firing, reduced.removed);
            let end = after(net, &lifted.unwrap()).unwrap();
            prop_assert!(stuck(net, &end) && old(&end) == new(marking));
        }
    }
    Ok(())
}

fn observed(places: u32, deadlock: bool) -> Observed {
    Observed { places: (0..places).collect(), deadlock, runs: None }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn all_rules_together_keep_what_is_asked(net in nets(false), places in 0u32..3, deadlock: bool) {
        check(&net, &observed(places, deadlock), &Rule::ALL)?;
    }

    #[test]
    fn what_is_fused_keeps_what_is_asked(net in flows(), places in 0u32..3, deadlock: bool) {
        check(&net, &observed(places, deadlock), &Rule::ALL)?;
    }

    #[test]
    fn each_rule_alone_fuses_well(net in flows(), places in 0u32..3, deadlock: bool) {
        for rule in Rule::ALL {
            check(&net, &observed(places, deadlock), &[rule])?;
        }
    }

    #[test]
    fn inhibitors_and_resets_are_left_alone(net in nets(true), places in 0u32..3, deadlock: bool) {
        check(&net, &observed(places, deadlock), &Rule::ALL)?;
    }

    #[test]
    fn each_rule_alone_keeps_what_is_asked(net in nets(false), places in 0u32..3, deadlock: bool) {
        for rule in Rule::ALL {
            check(&net, &observed(places, deadlock), &[rule])?;
        }
    }

    #[test]
    fn conditions_have_the_same_answers(net in nets(true), condition in conditions(2), fireable in 0u32..8) {
        let Some(all) = markings(&net, 500) else { return Ok(()) };
        let t = fireable % net.transitions.len() as u32;
        let asked = Condition::Any(vec![condition, Condition::Fireable(vec![t])]);
        let asked = Condition::Not(Box::new(asked));
        let observed = Observed { places: asked.places(&net), deadlock: asked.asks_for_deadlock(), runs: None };
        let reduced = reduce(&net, &observed, &rules(&Rule::ALL));
        let question = reduced.question(&net, &asked).expect("its places are observed");
        let small = markings(&reduced.net, 3_000).expect("no larger");
        let before = all.keys().any(|marking| asked.holds(&net, marking));
        prop_assert_eq!(before, small.keys().any(|marking| question.holds(&reduced.net, marking)));
    }
}

#[test]
fn a_sequence_becomes_one_transition() {
    // A token goes along four places and back; only the last place is looked at.
    let net = net(
        &[1, 0, 0, 0],
        &[
            (&[1, 0, 0, 0], &[0, 1, 0, 0]),
            (&[0, 1, 0, 0], &[0, 0, 1, 0]),
            (&[0, 0, 1, 0], &[0, 0, 0, 1]),
            (&[0, 0, 0, 1], &[1, 0, 0, 0]),
        ],
    );
    let reduced = reduce(&net, &Observed { places: vec![3], deadlock: true, runs: None }, &rules(&Rule::ALL));
    assert!(reduced.net.places.len() <= 2 && reduced.net.transitions.len() <= 2, "{:?}", reduced.removed);
    let found = markings(&reduced.net, 10).unwrap();
    let (_, firing) = found.iter().find(|(marking, _)| marking[reduced.place(3).unwrap() as usize] == 1).unwrap();
    assert_eq!(reduced.lift(&net, firing), Some(vec![0, 1, 2]));
}

#[test]
fn tokens_are_brought_to_where_they_are_needed() {
    // Two tokens move freely between three places; another transition takes one from each of the last two.
    let net = net(
        &[2, 0, 0, 0],
        &[
            (&[1, 0, 0, 0], &[0, 1, 0, 0]),
            (&[0, 1, 0, 0], &[0, 0, 1, 0]),
            (&[0, 0, 1, 0], &[1, 0, 0, 0]),
            (&[0, 1, 1, 0], &[0, 0, 0, 1]),
        ],
    );
    let reduced = reduce(&net, &Observed { places: vec![3], ..Observed::default() }, &rules(&[Rule::FreeCircles]));
    assert_eq!((reduced.net.places.len(), reduced.net.transitions.len()), (2, 1));
    assert_eq!(reduced.lift(&net, &[0]).map(|firing| firing.len()), Some(4));
}
