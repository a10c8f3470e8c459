//! Random formulas on random words: every automaton that is made of a formula agrees with what the formula means.

mod common;

use common::Chance;
use scrimp_temporal::{Formula, Limits, simplify, translate};

const ATOMS: usize = 3;

#[test]
fn automata_accept_what_formulas_mean() {
    let mut chance = Chance(0x5eed_0001);
    let limits = Limits::default();
    for round in 0..3000 {
        let formula = chance.formula(2 + round % 14, ATOMS);
        let negation = Formula::Not(Box::new(formula.clone()));
        let automaton = translate(&formula, &limits).expect("small enough");
        let opposite = translate(&negation, &limits).expect("small enough");
        let (one_set, on_states) = (automaton.degeneralised(), automaton.state_based());
        assert!(one_set.sets <= 1 && on_states.sets == 1);
        for edges in &on_states.states {
            assert!(edges.windows(2).all(|two| two[0].marks == two[1].marks), "{formula}: marks on states");
        }
        let simple = simplify(&formula);
        for _ in 0..40 {
            let (stem, cycle) = chance.word(ATOMS);
            let holds = formula.holds_on(&stem, &cycle);
            let place = || format!("{formula} on {stem:?} {cycle:?}");
            assert_eq!(simple.holds_on(&stem, &cycle), holds, "{simple} for {}", place());
            assert_eq!(automaton.accepts(&stem, &cycle), holds, "{}", place());
            assert_eq!(one_set.accepts(&stem, &cycle), holds, "one set: {}", place());
            assert_eq!(on_states.accepts(&stem, &cycle), holds, "on states: {}", place());
            assert_eq!(opposite.accepts(&stem, &cycle), !holds, "not {}", place());
        }
        let both = automaton.intersection(&opposite).expect("few sets");
        assert!(both.is_empty(), "{formula} and its negation have a word in common");
    }
}
