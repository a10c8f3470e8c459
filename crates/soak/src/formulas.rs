//! Random formulas, over atoms that are numbers.

use scrimp_system::Random;
use scrimp_temporal::Formula;

/// A formula of LTL with so many operators over so many atoms; `next` allows the operator of that name.
pub fn ltl(random: &mut Random, atoms: usize, operators: usize, next: bool) -> Formula<usize> {
    if operators == 0 {
        return match random.below(12) {
            0 => Formula::True,
            1 => Formula::False,
            _ => Formula::Atom(random.below(atoms)),
        };
    }
    let left = random.below(operators);
    let right = operators - 1 - left;
    let one = |random: &mut Random| Box::new(ltl(random, atoms, operators - 1, next));
    let a = |random: &mut Random| Box::new(ltl(random, atoms, left, next));
    let b = |random: &mut Random| Box::new(ltl(random, atoms, right, next));
    match random.below(18) {
        0 | 1 => Formula::Not(one(random)),
        2 if next => Formula::Next(one(random)),
        3..=5 => Formula::Finally(one(random)),
        6..=8 => Formula::Globally(one(random)),
        9 => Formula::And(vec![*a(random), *b(random)]),
        10 => Formula::Or(vec![*a(random), *b(random)]),
        11 => Formula::Implies(a(random), b(random)),
        12 => Formula::Equivalent(a(random), b(random)),
        13 => Formula::WeakUntil(a(random), b(random)),
        14 => Formula::Release(a(random), b(random)),
        15 => Formula::StrongRelease(a(random), b(random)),
        _ => Formula::Until(a(random), b(random)),
    }
}
