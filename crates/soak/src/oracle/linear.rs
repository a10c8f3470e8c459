//! Formulas of linear time on a finite graph, by guessing at each state which parts will hold in the next one.
//!
//! A state and a guess know which parts of the formula hold there. A run of guesses is right where each agrees with what
//! holds in the state after it, and where what an `U` promises does come. No automaton is built of the formula, and nothing
//! is simplified. A run that cannot go on repeats its last state.

use super::closure::{Closure, components};
use super::graph::Movers;
use crate::formula::{Connective, Formula, Temporal};
use std::collections::{BTreeSet, HashMap};

/// What a formula is asked of: for each state the atoms that hold, and where it leads to, with who takes part.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    pub labels: &'a [u64],
    pub edges: &'a [Vec<(usize, Movers)>],
    /// Do only runs count on which nobody who could always make something happen waits for ever, taking part in nothing?
    pub fair: bool,
}

impl Runs<'_> {
    /// Does every run from state 0 satisfy the formula?
    pub fn all_satisfy(&self, formula: &Formula) -> bool {
        let mut closure = Closure::default();
        let top = add(&mut closure, formula);
        let guesses = 1 << closure.nexts.len();
        let node = |state: usize, guess: usize| state * guesses + guess;
        let holds: Vec<Vec<bool>> = (0..self.labels.len() * guesses)
            .map(|at| closure.values(self.labels[at / guesses], at % guesses))
            .collect();
        // What must have been guessed before each node.
        let promised = |at: usize| -> usize {
            closure.nexts.iter().enumerate().map(|(bit, part)| (holds[at][*part] as usize) << bit).sum()
        };
        let mut edges: Vec<Vec<(usize, &[usize])>> = vec![Vec::new(); holds.len()];
        for (state, to) in self.edges.iter().enumerate() {
            let stays = to.is_empty().then_some((state, &[][..]));
            for (next, movers) in to.iter().map(|(next, movers)| (*next, &movers[..])).chain(stays) {
                for guess in 0..guesses {
                    let to = node(next, guess);
                    edges[node(state, promised(to))].push((to, movers));
                }
            }
        }
        let starts: Vec<usize> = (0..guesses).map(|guess| node(0, guess)).filter(|at| !holds[*at][top]).collect();
        let components = &components(&edges, &starts);
        let mut parts: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, component) in components.iter().enumerate() {
            if let Some(component) = component {
                parts.entry(*component).or_default().push(at);
            }
        }
        let everyone: BTreeSet<usize> =
            self.edges.iter().flatten().map(|(_, movers)| movers[0]).filter(|_| self.fair).collect();
        let can_begin = |state: usize, who: usize| self.edges[state].iter().any(|(_, movers)| movers[0] == who);
        !parts.values().any(|part| {
            let within = |at: usize| {
                let own = components[at];
                edges[at].iter().filter(move |(to, _)| components[*to] == own)
            };
            part.iter().any(|at| within(*at).next().is_some())
                && closure
                    .promises
                    .iter()
                    .all(|(until, goal)| part.iter().any(|at| !holds[*at][*until] || holds[*at][*goal]))
                && everyone.iter().all(|who| {
                    let moves = |at: usize| within(at).any(|(_, movers)| movers.contains(who));
                    part.iter().any(|at| !can_begin(at / guesses, *who) || moves(*at))
                })
        })
    }
}

/// The number of a formula among the parts of the closure.
fn add(closure: &mut Closure, formula: &Formula) -> usize {
    let all: Vec<usize> = formula.operands().into_iter().map(|operand| add(closure, operand)).collect();
    match formula {
        Formula::Truth(value) => closure.truth(*value),
        Formula::Atom(number) => closure.atom(*number),
        Formula::Not(_) => closure.not(all[0]),
        Formula::Both(Connective::And, ..) => closure.and(all[0], all[1]),
        Formula::Both(Connective::Or, ..) => closure.or(all[0], all[1]),
        Formula::Both(Connective::Implies, ..) => closure.implies(all[0], all[1]),
        Formula::Both(Connective::Equivalent, ..) => closure.equivalent(all[0], all[1]),
        Formula::Runs(_, temporal, _) => match temporal {
            Temporal::Next => closure.next(all[0]),
            Temporal::Finally => closure.finally(all[0]),
            Temporal::Globally => closure.globally(all[0]),
            Temporal::Until => closure.until(all[0], all[1]),
            Temporal::WeakUntil => closure.weak_until(all[0], all[1]),
            Temporal::Release => closure.release(all[0], all[1]),
            Temporal::StrongRelease => closure.strong_release(all[0], all[1]),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 -> 1 -> 0 by process 0, 0 -> 0 by process 1; the atom holds in 1.
    #[test]
    fn who_waits_for_ever_is_not_fair() {
        let edges = vec![vec![(1, vec![0]), (0, vec![1])], vec![(0, vec![0])]];
        let comes = Formula::Runs(None, Temporal::Finally, vec![Formula::Atom(0)]);
        let runs = |fair| Runs { labels: &[0, 1], edges: &edges, fair };
        assert!(!runs(false).all_satisfy(&comes));
        assert!(runs(true).all_satisfy(&comes));
        assert!(!runs(true).all_satisfy(&Formula::Runs(None, Temporal::Next, vec![Formula::Atom(0)])));
    }

    #[test]
    fn the_last_state_repeats() {
        let edges = vec![vec![(1, vec![0])], vec![]];
        let stays = Formula::Runs(None, Temporal::Globally, vec![Formula::Atom(0)]);
        let holds = |f| Runs { labels: &[0, 1], edges: &edges, fair: true }.all_satisfy(&f);
        assert!(holds(Formula::Runs(None, Temporal::Next, vec![stays.clone()])));
        assert!(!holds(stays));
    }
}
