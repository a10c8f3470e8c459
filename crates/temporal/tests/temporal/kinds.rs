//! What is said of components, against all closed walks of small random automata.

use crate::common;
use crate::common::Chance;
use scrimp_temporal::{Automaton, Cube, Edge, Guard, Kind, Limits, Strength, translate};
use std::collections::BTreeSet;

fn random_automaton(chance: &mut Chance) -> Automaton {
    let (states, sets) = (1 + chance.below(5), chance.below(3));
    let mut edges = |_| {
        let count = chance.below(4);
        let mut edge = |_| {
            let guard = match chance.below(4) {
                0 => Guard { cubes: vec![Cube { positive: 1, negative: 0 }] },
                1 => Guard { cubes: vec![Cube { positive: 0, negative: 1 }] },
                _ => Guard::always(),
            };
            Edge { guard, to: chance.below(states) as u32, marks: chance.below(1 << sets) as u64 }
        };
        (0..count).map(&mut edge).collect()
    };
    Automaton { atoms: 1, states: (0..states).map(&mut edges).collect(), initial: 0, sets }
}

/// Where walks from a state can lead, and the marks that they have met, by all walks of one edge or more.
fn walks(automaton: &Automaton, from: u32) -> BTreeSet<(u32, u64)> {
    let mut found = BTreeSet::new();
    let mut open = vec![(from, 0)];
    while let Some((state, marks)) = open.pop() {
        for edge in &automaton.states[state as usize] {
            let next = (edge.to, marks | edge.marks);
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}

#[test]
fn kinds_are_what_closed_walks_say() {
    let mut chance = Chance(0x5eed_0005);
    let mut seen = [0; 5];
    for _ in 0..4000 {
        let automaton = random_automaton(&mut chance);
        let all = automaton.all_marks();
        let walks: Vec<_> = (0..automaton.states.len() as u32).map(|state| walks(&automaton, state)).collect();
        let leads = |a: usize, b: usize| walks[a].iter().any(|walk| walk.0 as usize == b);
        for (state, kind) in automaton.kinds().into_iter().enumerate() {
            let component: Vec<usize> = (0..walks.len())
                .filter(|&other| other == state || leads(state, other) && leads(other, state))
                .collect();
            let closed: Vec<u64> = component
                .iter()
                .flat_map(|&member| {
                    walks[member].iter().filter(move |walk| walk.0 as usize == member).map(|walk| walk.1)
                })
                .collect();
            let (some, every) = (closed.contains(&all), closed.iter().all(|&marks| marks == all));
            let expected = match (closed.is_empty(), some, every) {
                (true, ..) => Kind::Transient,
                (_, false, _) => Kind::Rejecting,
                (_, _, true) => Kind::Weak,
                _ => Kind::General,
            };
            let stays = |&member: &usize| {
                let inside = |edge: &&Edge| component.contains(&(edge.to as usize));
                let inner: Vec<_> = automaton.states[member].iter().filter(inside).collect();
                [0, 1].iter().all(|&letter| inner.iter().any(|edge| edge.guard.holds(letter)))
            };
            if kind == Kind::Terminal {
                assert!(matches!(expected, Kind::Weak | Kind::Transient), "{state} of {automaton:?}");
                let from_here = Automaton { initial: state as u32, ..automaton.clone() };
                for _ in 0..20 {
                    let (stem, cycle) = chance.word(1);
                    assert!(from_here.accepts(&stem, &cycle), "{state} of {automaton:?} on {stem:?} {cycle:?}");
                }
            } else {
                assert_eq!(kind, expected, "{state} of {automaton:?}");
                assert!(expected != Kind::Weak || !component.iter().all(stays), "{state} of {automaton:?} is terminal");
            }
            seen[kind as usize] += 1;
        }
        // Emptiness, by the same walks.
        let reached = (0..walks.len()).filter(|&state| state == 0 || leads(0, state));
        let mut loops = reached.flat_map(|state| walks[state].iter().filter(move |walk| walk.0 as usize == state));
        assert_eq!(automaton.is_empty(), !loops.any(|walk| walk.1 == all), "{automaton:?}");
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn strengths_of_formulas() {
    let strength = |text: &str| translate(&common::letters(text), &Limits::default()).expect("small").strength();
    for (text, expected) in [
        ("F a", Strength::Terminal),
        ("a U b", Strength::Terminal),
        ("false", Strength::Terminal),
        ("true", Strength::Terminal),
        ("G a", Strength::Weak),
        ("F G a", Strength::Weak),
        ("F (a && G b)", Strength::Weak),
        ("G F a", Strength::General),
        ("G (a -> F b)", Strength::General),
    ] {
        assert_eq!(strength(text), expected, "{text}");
    }
}
