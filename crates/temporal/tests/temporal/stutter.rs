//! Whether formulas mind repeated letters, against words in which letters are repeated.

use crate::common;
use crate::common::Chance;
use scrimp_temporal::{Limits, is_stutter_invariant};

#[test]
fn known_formulas() {
    let invariant = |text: &str| is_stutter_invariant(&common::letters(text), &Limits::default());
    for text in ["a U b", "G (a -> F b)", "X G F a", "F (a && X (!a && b))", "a && X (a U (!a && b))", "F (a && X !a)"]
    {
        assert_eq!(invariant(text), Ok(true), "{text}");
    }
    for text in ["X a", "G (a -> X b)", "F (a && X a)", "a && X !a && X X a"] {
        assert_eq!(invariant(text), Ok(false), "{text}");
    }
}

/// Each letter so often, at least once.
fn stretched(letters: &[u64], chance: &mut Chance) -> Vec<u64> {
    letters.iter().flat_map(|&letter| vec![letter; 1 + chance.below(3)]).collect()
}

#[test]
fn invariant_formulas_do_not_mind_and_others_do() {
    const ATOMS: usize = 2;
    let mut chance = Chance(0x5eed_0004);
    let (mut invariant, mut seen, mut unseen) = (0, 0, 0);
    for round in 0..1500 {
        let formula = chance.formula(2 + round % 9, ATOMS);
        let says = is_stutter_invariant(&formula, &Limits::default()).expect("small enough");
        let minds = (0..1000).any(|_| {
            let (stem, cycle) = chance.word(ATOMS);
            let (long_stem, long_cycle) = (stretched(&stem, &mut chance), stretched(&cycle, &mut chance));
            formula.holds_on(&stem, &cycle) != formula.holds_on(&long_stem, &long_cycle)
        });
        assert!(!(says && minds), "{formula} minds repeated letters");
        invariant += usize::from(says && formula.to_string().contains('X'));
        seen += usize::from(minds);
        unseen += usize::from(!says && !minds);
    }
    // Formulas that mind do so on some word, which chance finds for nearly all.
    assert!(invariant > 50 && seen > 100 && unseen < 5, "{invariant} with X do not mind, {seen} do, {unseen} unseen");
}
