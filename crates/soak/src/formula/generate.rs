//! Formulas at random: every operator inside every other.

use super::tree::{Connective, Formula, Quantifier, Temporal};
use crate::coverage::{Grammar, Nesting};
use scrimp_system::Random;

const LINEAR: &[&str] = &["truth", "atom", "!", "&&", "||", "->", "<->", "X", "F", "G", "U", "W", "R", "M"];
const LINEAR_OUTER: &[&str] = &["!", "&&", "||", "->", "<->", "X", "F", "G", "U", "W", "R", "M"];
const BRANCHING: &[&str] = &[
    "truth", "atom", "!", "&&", "||", "->", "<->", "AX", "AF", "AG", "AU", "AW", "AR", "AM", "EX", "EF", "EG", "EU",
    "EW", "ER", "EM",
];
const BRANCHING_OUTER: &[&str] =
    &["!", "&&", "||", "->", "<->", "AX", "AF", "AG", "AU", "AW", "AR", "AM", "EX", "EF", "EG", "EU", "EW", "ER", "EM"];

/// The formulas of both logics: in each, everything stands inside everything.
pub static GRAMMAR: Grammar = Grammar {
    productions: &[
        "truth", "atom", "!", "&&", "||", "->", "<->", "X", "F", "G", "U", "W", "R", "M", "AX", "AF", "AG", "AU", "AW",
        "AR", "AM", "EX", "EF", "EG", "EU", "EW", "ER", "EM",
    ],
    allowed: &[Nesting { outer: LINEAR_OUTER, inner: LINEAR }, Nesting { outer: BRANCHING_OUTER, inner: BRANCHING }],
    excluded: &[],
};

/// A formula over so many atoms, with at most so many temporal operators.
pub fn formula(random: &mut Random, branching: bool, atoms: usize, most: usize) -> Formula {
    let mut left = 1 + random.below(most.max(1));
    let depth = 2 + random.below(3);
    part(random, branching, atoms, &mut left, depth)
}

fn part(random: &mut Random, branching: bool, atoms: usize, left: &mut usize, depth: usize) -> Formula {
    let inner = |random: &mut Random, left: &mut usize| part(random, branching, atoms, left, depth.saturating_sub(1));
    match random.below(if depth == 0 { 3 } else { 12 }) {
        0 if random.below(4) == 0 => Formula::Truth(random.below(2) == 0),
        0..3 if depth == 0 => Formula::Atom(random.below(atoms)),
        0 => Formula::Atom(random.below(atoms)),
        1..3 => inner(random, left).negated(),
        3..6 => {
            let connective = Connective::ALL[random.below(4)];
            let a = inner(random, left);
            Formula::both(connective, a, inner(random, left))
        }
        _ if *left == 0 => Formula::Atom(random.below(atoms)),
        _ => {
            *left -= 1;
            let temporal = Temporal::ALL[random.below(7)];
            let quantifier = [Quantifier::All, Quantifier::Some][random.below(2)];
            let list = (0..temporal.operands()).map(|_| inner(random, left)).collect();
            Formula::Runs(branching.then_some(quantifier), temporal, list)
        }
    }
}
