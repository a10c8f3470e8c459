//! What is about one moment becomes single atoms, so that formulas with large conditions have small automata.

use crate::automaton::MOST_ATOMS;
use crate::formula::Formula;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The formula over numbered atoms, and what each of them stands for.
///
/// Parts about one moment become one atom where none of their atoms occurs in another part; a part and its negation share
/// one. When that leaves more atoms than there may be, all parts become one atom each: that is as right, and only hides
/// what they have in common. There can still be more than 64; [`translate`](crate::translate) says so.
pub fn propositions<A: Clone + Eq + Hash>(formula: &Formula<A>) -> (Formula<u32>, Vec<Formula<A>>) {
    let mut parts = HashSet::new();
    collect(formula, &mut parts);
    let mut uses: HashMap<&A, usize> = HashMap::new();
    for part in &parts {
        distinct(part).into_iter().for_each(|atom| *uses.entry(atom).or_default() += 1);
    }
    let alone = |part: &Formula<A>| {
        let atoms = distinct(part);
        !atoms.is_empty() && atoms.into_iter().all(|atom| uses[atom] == 1)
    };
    let fine = numbered(formula, &alone);
    if fine.1.len() <= MOST_ATOMS { fine } else { numbered(formula, &|part| !distinct(part).is_empty()) }
}

fn distinct<A: Eq + Hash>(formula: &Formula<A>) -> HashSet<&A> {
    let mut atoms = HashSet::new();
    formula.atoms(&mut |atom| {
        atoms.insert(atom);
    });
    atoms
}

/// The part without negations before it, and whether there was an odd number of them.
fn stripped<A>(mut formula: &Formula<A>) -> (&Formula<A>, bool) {
    let mut negated = false;
    while let Formula::Not(inner) = formula {
        formula = inner;
        negated = !negated;
    }
    (formula, negated)
}

/// The largest parts that are about one moment.
fn collect<'f, A: Eq + Hash>(formula: &'f Formula<A>, parts: &mut HashSet<&'f Formula<A>>) {
    if formula.is_state() {
        parts.insert(stripped(formula).0);
    } else {
        formula.operands().into_iter().for_each(|operand| collect(operand, parts));
    }
}

/// Numbers what becomes an atom: the largest parts about one moment that are chosen, and the atoms of the others.
fn numbered<A: Clone + Eq + Hash>(
    formula: &Formula<A>,
    chosen: &dyn Fn(&Formula<A>) -> bool,
) -> (Formula<u32>, Vec<Formula<A>>) {
    let of_parts: Formula<Formula<A>> = formula.replaced(
        &|part| {
            if !part.is_state() {
                return None;
            }
            let (inner, negated) = stripped(part);
            let atom = chosen(inner).then(|| Formula::Atom(inner.clone()))?;
            Some(if negated { Formula::Not(Box::new(atom)) } else { atom })
        },
        &|atom| Formula::Atom(atom.clone()),
    );
    let mut numbers: HashMap<Formula<A>, u32> = HashMap::new();
    let mut meanings = Vec::new();
    let formula = of_parts.map(&mut |part| {
        *numbers.entry(part.clone()).or_insert_with(|| {
            meanings.push(part.clone());
            meanings.len() as u32 - 1
        })
    });
    (formula, meanings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not(a: Formula<char>) -> Formula<char> {
        Formula::Not(Box::new(a))
    }

    #[test]
    fn conditions_become_atoms_where_they_share_nothing() {
        let part = Formula::And(vec![Formula::Atom('p'), Formula::Atom('q')]);
        let shared = |a| Formula::Or(vec![Formula::Atom('r'), Formula::Atom(a)]);
        let formula = Formula::And(vec![
            Formula::Globally(Box::new(Formula::Implies(
                Box::new(part.clone()),
                Box::new(Formula::Finally(Box::new(not(part.clone())))),
            ))),
            Formula::Finally(Box::new(shared('s'))),
            Formula::Finally(Box::new(shared('t'))),
        ]);
        let (small, meanings) = propositions(&formula);
        assert_eq!(small.to_string(), "G (0 -> F !0) && F (1 || 2) && F (1 || 3)");
        let atoms = ['r', 's', 't'].map(Formula::Atom);
        assert_eq!(meanings, [&[part][..], &atoms[..]].concat());
    }

    #[test]
    fn with_too_many_atoms_conditions_become_atoms_all_the_same() {
        let large = |from: u32| Formula::Or((from..from + 50).map(Formula::Atom).collect());
        let formula = Formula::Until(Box::new(large(0)), Box::new(large(40)));
        let (small, meanings) = propositions(&formula);
        assert_eq!(small.to_string(), "0 U 1");
        assert_eq!(meanings, [large(0), large(40)]);
        let constant = Formula::<u32>::Globally(Box::new(Formula::And(vec![])));
        assert_eq!(propositions(&constant).1, []);
    }
}
