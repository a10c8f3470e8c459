//! Formulas that are too large are refused, soon, and with the reason.

use crate::common;
use scrimp_temporal::{Formula, Limits, TooLarge, is_stutter_invariant, simplify, translate};
use std::time::{Duration, Instant};

fn atom(number: u32) -> Box<Formula<u32>> {
    Box::new(Formula::Atom(number))
}

#[test]
fn what_is_too_large_is_refused() {
    let limits = Limits { states: 1000, until: None };
    let every =
        |make: fn(Box<Formula<u32>>) -> Formula<u32>, count| Formula::And((0..count).map(|i| make(atom(i))).collect());
    assert_eq!(translate(&every(Formula::Finally, 12), &limits), Err(TooLarge::States));
    assert_eq!(translate(&every(Formula::Finally, 65), &limits), Err(TooLarge::Atoms));
    let quantified = Formula::AllPaths(Box::new(Formula::Finally(atom(0))));
    assert_eq!(translate(&quantified, &limits), Err(TooLarge::Quantifier));
    assert_eq!(is_stutter_invariant(&quantified, &limits), Err(TooLarge::Quantifier));
    assert_eq!(simplify(&quantified), quantified);
    let often = |a| Formula::Globally(Box::new(Formula::Finally(a)));
    assert_eq!(translate(&every(often, 60), &limits).map(|automaton| automaton.states.len()), Ok(1));
    // What must come once has to be remembered, and all of them at once: that is refused before it takes long.
    let begun = Instant::now();
    assert!(translate(&every(Formula::Finally, 40), &Limits::default()).is_err());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn time_is_kept() {
    let mut chance = common::Chance(0x5eed_0006);
    for size in [100, 300, 1000] {
        let formula = chance.formula(size, 12);
        let begin = Instant::now();
        let limits = Limits { states: 100_000, until: Some(begin + Duration::from_millis(300)) };
        let _ = translate(&formula, &limits);
        let _ = is_stutter_invariant(&formula, &limits);
        assert!(begin.elapsed() < Duration::from_secs(20), "{size}: {:?}", begin.elapsed());
    }
}

/// Two rules that lead back to each other once overflowed the stack.
#[test]
fn rules_come_to_an_end() {
    let formula = common::letters("X (G !(F ((X F a U b) && a) && (a && b)) M X (!b && F F b))");
    assert!(translate(&formula, &Limits::default()).is_ok());
}

/// Puts an operator around a formula.
type Step = fn(u32, Formula<u32>) -> Formula<u32>;

/// As deep as formulas may be, in the stack of a test's thread.
#[test]
fn deep_formulas_do_not_overflow_the_stack() {
    let limits = Limits { states: 10_000, until: Some(Instant::now() + Duration::from_secs(5)) };
    let steps: [Step; 7] = [
        |_, f| Formula::Next(Box::new(f)),
        |_, f| Formula::Not(Box::new(f)),
        |i, f| Formula::Until(atom(i % 60), Box::new(f)),
        |i, f| Formula::Until(Box::new(f), atom(i % 60)),
        |i, f| Formula::Release(Box::new(f), atom(i % 3)),
        |i, f| Formula::Equivalent(atom(i % 60), Box::new(f)),
        |i, f| Formula::Or(vec![*atom(i % 60), Formula::Globally(Box::new(f))]),
    ];
    for step in steps {
        let formula = (0..Formula::<u32>::DEPTH as u32 - 2).fold(Formula::Atom(0), |formula, i| step(i, formula));
        let _ = translate(&formula, &limits);
        let _ = simplify(&formula);
    }
}
