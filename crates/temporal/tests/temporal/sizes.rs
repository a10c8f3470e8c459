//! How large automata are, beside what others give.

use crate::common;
use scrimp_temporal::{Formula, Limits, translate};

/// With the sizes that Spot publishes of the patterns that formulas usually are.
#[test]
fn patterns_are_hardly_larger_than_those_of_spot() {
    let (mut ours, mut theirs) = ([0; 4], [0; 4]);
    for line in include_str!("../dwyer.ltl").lines().filter(|line| !line.starts_with('#')) {
        let (sizes, text) = line.split_once(':').expect("sizes before the formula");
        let sizes: Vec<usize> = sizes.split(' ').map(|size| size.parse().expect("a number")).collect();
        let (formula, _) = common::read(text);
        let negation = Formula::Not(Box::new(formula.clone()));
        let mut own = Vec::new();
        for formula in [formula, negation] {
            let automaton = translate(&formula, &Limits::default()).expect("small enough");
            own.push(automaton.states.len());
            own.push(automaton.state_based().states.len());
        }
        if own != sizes {
            println!("{own:?} {sizes:?} {text}");
        }
        for i in 0..4 {
            ours[i] += own[i];
            theirs[i] += sizes[i];
        }
    }
    println!("ours {ours:?}, theirs {theirs:?}");
    for (ours, theirs) in ours.into_iter().zip(theirs) {
        assert!(ours * 10 <= theirs * 11, "{ours} states where Spot has {theirs}");
    }
}
