//! Formulas of branching time by their fixpoints, one state after the other.
//!
//! A run that cannot go on ends: what holds for ever on it holds up to its end, and there is no next state.

use super::graph::Movers;
use crate::formula::{Connective, Formula, Quantifier, Temporal};

/// In which states the formula holds; `labels` says which atoms hold in each state, `edges` where it leads to.
pub fn holds(formula: &Formula, labels: &[u64], edges: &[Vec<(usize, Movers)>]) -> Vec<bool> {
    let of = |f: &Formula| holds(f, labels, edges);
    let states = 0..labels.len();
    match formula {
        Formula::Truth(value) => vec![*value; labels.len()],
        Formula::Atom(number) => labels.iter().map(|label| label >> number & 1 == 1).collect(),
        Formula::Not(a) => of(a).into_iter().map(|value| !value).collect(),
        Formula::Both(connective, a, b) => {
            let (a, b) = (of(a), of(b));
            states.map(|s| connected(*connective, a[s], b[s])).collect()
        }
        Formula::Runs(quantifier, temporal, list) => {
            let list: Vec<Vec<bool>> = list.iter().map(of).collect();
            let all = *quantifier == Some(Quantifier::All);
            runs(all, *temporal, &list, edges)
        }
    }
}

pub fn connected(connective: Connective, a: bool, b: bool) -> bool {
    match connective {
        Connective::And => a && b,
        Connective::Or => a || b,
        Connective::Implies => !a || b,
        Connective::Equivalent => a == b,
    }
}

fn runs(all: bool, temporal: Temporal, list: &[Vec<bool>], edges: &[Vec<(usize, Movers)>]) -> Vec<bool> {
    let yes = vec![true; edges.len()];
    let [a, rest @ ..] = list else { return yes };
    let b = rest.first().unwrap_or(a);
    match temporal {
        Temporal::Next => {
            let next = |to: &Vec<(usize, Movers)>| match all {
                true => to.iter().all(|(to, _)| a[*to]),
                false => to.iter().any(|(to, _)| a[*to]),
            };
            edges.iter().map(next).collect()
        }
        Temporal::Finally => until(all, &yes, a, edges, false),
        Temporal::Globally => until(all, a, &vec![false; edges.len()], edges, true),
        Temporal::Until => until(all, a, b, edges, false),
        Temporal::WeakUntil => until(all, a, b, edges, true),
        // The second up to and with the first, or for ever.
        Temporal::Release => until(all, b, &both(a, b), edges, true),
        Temporal::StrongRelease => until(all, b, &both(a, b), edges, false),
    }
}

fn both(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| *a && *b).collect()
}

/// The first until the second, on all runs or on some; where `for_ever`, the second need not come.
fn until(all: bool, a: &[bool], b: &[bool], edges: &[Vec<(usize, Movers)>], for_ever: bool) -> Vec<bool> {
    // The least fixpoint from below, the greatest from above.
    let mut holds = vec![for_ever; edges.len()];
    loop {
        let value = |state: usize| {
            let to = &edges[state];
            let goes_on = match (to.is_empty(), all) {
                // The run ends here, and the second has not come.
                (true, _) => for_ever,
                (false, true) => to.iter().all(|(to, _)| holds[*to]),
                (false, false) => to.iter().any(|(to, _)| holds[*to]),
            };
            b[state] || a[state] && goes_on
        };
        let next: Vec<bool> = (0..edges.len()).map(value).collect();
        if next == holds {
            return holds;
        }
        holds = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 -> 1 -> 0, 1 -> 2, which ends; the atom holds in 1.
    #[test]
    fn runs_end_where_nothing_follows() {
        let edges = vec![vec![(1, vec![0])], vec![(0, vec![0]), (2, vec![0])], vec![]];
        let check = |quantifier, temporal, expected: [bool; 3]| {
            let formula = Formula::Runs(Some(quantifier), temporal, vec![Formula::Atom(0)]);
            assert_eq!(holds(&formula, &[0, 1, 0], &edges), expected, "{quantifier:?} {temporal:?}");
            let formula = Formula::Runs(Some(quantifier), temporal, vec![Formula::Atom(0).negated()]).dual();
            assert_eq!(holds(&formula, &[1, 0, 1], &edges), expected, "{quantifier:?} {temporal:?}");
        };
        check(Quantifier::All, Temporal::Next, [true, false, true]);
        check(Quantifier::Some, Temporal::Next, [true, false, false]);
        check(Quantifier::All, Temporal::Finally, [true, true, false]);
        check(Quantifier::Some, Temporal::Finally, [true, true, false]);
        check(Quantifier::Some, Temporal::Globally, [false, false, false]);
        let formula = Formula::Runs(Some(Quantifier::Some), Temporal::Globally, vec![Formula::Atom(0).negated()]);
        assert_eq!(holds(&formula, &[0, 1, 0], &edges), [false, false, true]);
    }
}
