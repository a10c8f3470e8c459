use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::testing::{after, markings, net, nets};

fn limits() -> Limits {
    Limits { deadline: Instant::now() + Duration::from_secs(5), nodes: 3_000 }
}

/// The tree of Karp and Miller without anything left out; its maximal markings, sorted.
fn karp_miller(net: &Net, limit: usize) -> Option<Vec<Vec<u64>>> {
    let mut all: Vec<Vec<u64>> = vec![net.initial()];
    let mut open = vec![vec![net.initial()]];
    let mut steps = 0;
    while let Some(branch) = open.pop() {
        let last = branch.last().unwrap();
        if branch[..branch.len() - 1].contains(last) {
            continue;
        }
        for t in 0..net.transitions.len() as u32 {
            let Some(next) = fire(net, last, t) else { continue };
            let mut next = next.unwrap().to_vec();
            for earlier in &branch {
                if earlier.iter().zip(&next).all(|(a, b)| a <= b) {
                    for (tokens, before) in next.iter_mut().zip(earlier) {
                        *tokens = if *tokens > *before { OMEGA } else { *tokens };
                    }
                }
            }
            steps += 1;
            if steps > limit {
                return None;
            }
            all.push(next.clone());
            let mut longer = branch.clone();
            longer.push(next);
            open.push(longer);
        }
    }
    let below = |a: &[u64], b: &[u64]| a.iter().zip(b).all(|(a, b)| a <= b);
    all.sort_unstable();
    all.dedup();
    let maximal = |marking: &&Vec<u64>| !all.iter().any(|other| other != *marking && below(marking, other));
    Some(all.iter().filter(maximal).cloned().collect())
}

fn raw(set: &CoverabilitySet) -> Vec<Vec<u64>> {
    let number = |tokens: Tokens| if let Tokens::Finite(tokens) = tokens { tokens as u64 } else { OMEGA };
    let mut raw: Vec<Vec<u64>> = set.maximal().map(|m| m.into_iter().map(number).collect()).collect();
    raw.sort_unstable();
    raw
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_set_is_that_of_the_whole_tree(net in nets(false)) {
        let Some(expected) = karp_miller(&net, 3_000) else { return Ok(()) };
        let Ok(set) = coverability_set(&net, &limits()) else { return Ok(()) };
        prop_assert_eq!(raw(&set), expected);
    }

    #[test]
    fn the_set_covers_the_markings_and_no_more(net in nets(false)) {
        let Some(all) = markings(&net, 2_000) else { return Ok(()) };
        let set = coverability_set(&net, &limits()).expect("few markings");
        prop_assert!(set.is_bounded());
        prop_assert_eq!(boundedness(&net, &limits()), Boundedness::Bounded);
        for place in 0..net.places.len() as u32 {
            let most = all.keys().map(|m| m[place as usize] as u128 + m[0] as u128).max().unwrap();
            prop_assert_eq!(set.bound_of(&[place, 0]), Tokens::Finite(most));
        }
        for t in 0..net.transitions.len() as u32 {
            prop_assert_eq!(set.is_fireable(&net, t), all.keys().any(|m| net.is_enabled(m, t)));
        }
    }

    #[test]
    fn boundedness_is_that_of_the_set_and_pumps_pump(net in nets(false)) {
        let Ok(set) = coverability_set(&net, &limits()) else { return Ok(()) };
        match boundedness(&net, &limits()) {
            Boundedness::Bounded => prop_assert!(set.is_bounded()),
            Boundedness::Unbounded { place, prefix, pump } => {
                prop_assert!(set.unbounded_places().contains(&place));
                check_pump(&net, place, &prefix, &pump)?;
            }
            Boundedness::Unknown(_) => {}
        }
    }

    /// With inhibitor and reset arcs both answers are right where there is one.
    #[test]
    fn answers_are_right_with_all_arcs(net in nets(true)) {
        match boundedness(&net, &limits()) {
            Boundedness::Bounded => {
                // The whole graph may be larger than what was kept, but never without end.
                prop_assert!(markings(&net, 200_000).is_some());
            }
            Boundedness::Unbounded { place, prefix, pump } => check_pump(&net, place, &prefix, &pump)?,
            Boundedness::Unknown(_) => {}
        }
    }
}

fn check_pump(net: &Net, place: u32, prefix: &[u32], pump: &[u32]) -> Result<(), TestCaseError> {
    let mut firing = prefix.to_vec();
    let mut before = after(net, &firing).expect("the prefix fires")[place as usize];
    for _ in 0..10 {
        firing.extend_from_slice(pump);
        let now = after(net, &firing).expect("the pump fires")[place as usize];
        prop_assert!(now > before);
        before = now;
    }
    Ok(())
}

#[test]
fn a_net_that_counts_for_ever() {
    // The first place moves to the second and gives to the third each time it comes back.
    let net = net(&[1, 0, 0], &[(&[1, 0, 0], &[0, 1, 0]), (&[0, 1, 0], &[1, 0, 1]), (&[0, 0, 9], &[0, 0, 0])]);
    let set = coverability_set(&net, &limits()).unwrap();
    assert_eq!(raw(&set), vec![vec![0, 1, OMEGA], vec![1, 0, OMEGA]]);
    assert_eq!(set.unbounded_places(), vec![2]);
    assert_eq!(set.bound_of(&[0, 1, 0]), Tokens::Finite(2));
    assert_eq!(set.bound_of(&[0, 2]), Tokens::Omega);
    assert!(set.dead_transitions(&net).is_empty());
    let Boundedness::Unbounded { place, pump, .. } = boundedness(&net, &limits()) else { panic!("it is unbounded") };
    assert_eq!((place, pump), (2, vec![0, 1]));
}

#[test]
fn inhibitors_and_resets_can_keep_a_net_bounded() {
    let mut inhibited = net(&[0], &[(&[0], &[1])]);
    inhibited.transitions[0].inhibitors.push(crate::Arc { place: 0, weight: 5 });
    assert_eq!(boundedness(&inhibited, &limits()), Boundedness::Bounded);
    assert_eq!(coverability_set(&inhibited, &limits()).unwrap_err(), GaveUp::Arcs);
    let mut reset = net(&[0], &[(&[0], &[1])]);
    reset.transitions[0].resets.push(0);
    assert_eq!(boundedness(&reset, &limits()), Boundedness::Bounded);
}
