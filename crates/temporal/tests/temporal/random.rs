//! Random formulas on random words: every automaton that is made of a formula agrees with what the formula means.

use crate::common::Chance;
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

/// Of a few formulas and what they are when negated, promised or always so, all operands are made: rules that compare
/// operands find much to do.
#[test]
fn operands_that_depend_on_each_other_keep_their_meaning() {
    let mut chance = Chance(0x5eed_0010);
    for round in 0..6000 {
        let few: Vec<Formula<u32>> = (0..2).map(|_| chance.formula(1 + round % 3, ATOMS)).collect();
        let formula = match chance.below(8) {
            0 => Formula::And(some(&mut chance, &few)),
            1 => Formula::Or(some(&mut chance, &few)),
            kind => {
                let [a, b] = [0; 2].map(|_| Box::new(junction(&mut chance, &few)));
                match kind {
                    2 => Formula::WeakUntil(a, b),
                    3 => Formula::Release(a, b),
                    4 => Formula::StrongRelease(a, b),
                    5 => Formula::Finally(a),
                    6 => Formula::Globally(b),
                    _ => Formula::Until(a, b),
                }
            }
        };
        let simple = simplify(&formula);
        for _ in 0..30 {
            let (stem, cycle) = chance.word(ATOMS);
            let (meant, holds) = (formula.holds_on(&stem, &cycle), simple.holds_on(&stem, &cycle));
            assert_eq!(holds, meant, "{simple} for {formula} on {stem:?} {cycle:?}");
        }
    }
}

/// Three operands, each made of one of these formulas or an atom.
fn some(chance: &mut Chance, few: &[Formula<u32>]) -> Vec<Formula<u32>> {
    let mut one = || {
        let any = few.get(chance.below(few.len() + 2)).cloned();
        let any = any.unwrap_or_else(|| Formula::Atom(chance.below(ATOMS) as u32));
        match chance.below(8) {
            0 | 1 => Formula::Not(Box::new(any)),
            2 => Formula::Finally(Box::new(any)),
            3 => Formula::Globally(Box::new(any)),
            4 => Formula::Next(Box::new(any)),
            5 => Formula::Until(Box::new(few[0].clone()), Box::new(any)),
            6 => Formula::Release(Box::new(any), Box::new(few[1].clone())),
            _ => any,
        }
    };
    vec![one(), one(), one()]
}

/// One of these formulas, or several of what is made of them.
fn junction(chance: &mut Chance, few: &[Formula<u32>]) -> Formula<u32> {
    match chance.below(5) {
        0 => few[chance.below(few.len())].clone(),
        1 | 2 => Formula::Or(some(chance, few)),
        _ => Formula::And(some(chance, few)),
    }
}
