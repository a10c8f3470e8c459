//! Formulas of linear time on a finite graph, by guessing at each state which parts will hold in the next one.
//!
//! A state and a guess know which parts of the formula hold there. A run of guesses is right where each agrees with what
//! holds in the state after it, and where what an `U` promises does come. No automaton is built of the formula, and nothing
//! is simplified. A run that cannot go on repeats its last state.

use crate::formula::{Connective, Formula, Temporal};
use std::collections::{BTreeSet, HashMap};

/// What a formula is asked of: for each state the atoms that hold, and where it leads to, with who moves.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    pub labels: &'a [u64],
    pub edges: &'a [Vec<(usize, usize)>],
    /// Do only runs count on which nobody who could always move waits for ever?
    pub fair: bool,
}

impl Runs<'_> {
    /// Does every run from state 0 satisfy the formula?
    pub fn all_satisfy(&self, formula: &Formula) -> bool {
        let mut closure = Closure::default();
        let top = closure.add(formula);
        let guesses = 1 << closure.nexts.len();
        let node = |state: usize, guess: usize| state * guesses + guess;
        let holds: Vec<Vec<bool>> = (0..self.labels.len() * guesses)
            .map(|at| closure.values(self.labels[at / guesses], at % guesses))
            .collect();
        // What must have been guessed before each node.
        let promised = |at: usize| -> usize {
            closure.nexts.iter().enumerate().map(|(bit, part)| (holds[at][*part] as usize) << bit).sum()
        };
        let mut edges: Vec<Vec<(usize, Option<usize>)>> = vec![Vec::new(); holds.len()];
        for (state, to) in self.edges.iter().enumerate() {
            let stays = to.is_empty().then_some((state, None));
            for (next, mover) in to.iter().map(|(next, mover)| (*next, Some(*mover))).chain(stays) {
                for guess in 0..guesses {
                    let to = node(next, guess);
                    edges[node(state, promised(to))].push((to, mover));
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
        let movers: BTreeSet<usize> =
            self.edges.iter().flatten().map(|(_, mover)| *mover).filter(|_| self.fair).collect();
        let can_move = |state: usize, who: usize| self.edges[state].iter().any(|(_, mover)| *mover == who);
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
                && movers.iter().all(|who| {
                    let moves = |at: usize| within(at).any(|(_, mover)| *mover == Some(*who));
                    part.iter().any(|at| !can_move(at / guesses, *who) || moves(*at))
                })
        })
    }
}

/// A formula in few words, operands before what they are part of.
#[derive(Default)]
struct Closure {
    parts: Vec<Part>,
    /// What is guessed to hold in the next state.
    nexts: Vec<usize>,
    /// For each `U`: itself, and what it promises.
    promises: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    True,
    Atom(usize),
    Not(usize),
    And(usize, usize),
    /// The guess of that number.
    Next(usize),
    /// Here the second, or the first and the guess of that number, which is about the whole.
    Until(usize, usize, usize),
}

impl Closure {
    fn part(&mut self, part: Part) -> usize {
        self.parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            self.parts.push(part);
            self.parts.len() - 1
        })
    }

    fn not(&mut self, a: usize) -> usize {
        match self.parts[a] {
            Part::Not(inner) => inner,
            _ => self.part(Part::Not(a)),
        }
    }

    fn or(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.part(Part::And(a, b));
        self.not(neither)
    }

    fn until(&mut self, a: usize, b: usize) -> usize {
        let same = |part: &Part| matches!(part, Part::Until(x, y, _) if (*x, *y) == (a, b));
        if let Some(known) = self.parts.iter().position(same) {
            return known;
        }
        let whole = self.parts.len();
        self.parts.push(Part::Until(a, b, self.nexts.len()));
        self.nexts.push(whole);
        self.promises.push((whole, b));
        whole
    }

    fn add(&mut self, formula: &Formula) -> usize {
        let all: Vec<usize> = formula.operands().into_iter().map(|operand| self.add(operand)).collect();
        let always = self.part(Part::True);
        match formula {
            Formula::Truth(true) => always,
            Formula::Truth(false) => self.not(always),
            Formula::Atom(number) => self.part(Part::Atom(*number)),
            Formula::Not(_) => self.not(all[0]),
            Formula::Both(Connective::And, ..) => self.part(Part::And(all[0], all[1])),
            Formula::Both(Connective::Or, ..) => self.or(all[0], all[1]),
            Formula::Both(Connective::Implies, ..) => {
                let not = self.not(all[0]);
                self.or(not, all[1])
            }
            Formula::Both(Connective::Equivalent, ..) => {
                let both = self.part(Part::And(all[0], all[1]));
                let either = self.or(all[0], all[1]);
                let neither = self.not(either);
                self.or(both, neither)
            }
            Formula::Runs(_, temporal, _) => self.temporal(*temporal, &all, always),
        }
    }

    fn temporal(&mut self, temporal: Temporal, all: &[usize], always: usize) -> usize {
        match temporal {
            Temporal::Next => {
                let guess = self.nexts.iter().position(|known| *known == all[0]).unwrap_or_else(|| {
                    self.nexts.push(all[0]);
                    self.nexts.len() - 1
                });
                self.part(Part::Next(guess))
            }
            Temporal::Finally => self.until(always, all[0]),
            Temporal::Globally => {
                let not = self.not(all[0]);
                let ends = self.until(always, not);
                self.not(ends)
            }
            Temporal::Until => self.until(all[0], all[1]),
            Temporal::WeakUntil => {
                // The first for ever, or until the second.
                let not = self.not(all[0]);
                let ends = self.until(always, not);
                let (lasts, until) = (self.not(ends), self.until(all[0], all[1]));
                self.or(lasts, until)
            }
            Temporal::Release => {
                let (a, b) = (self.not(all[0]), self.not(all[1]));
                let until = self.until(a, b);
                self.not(until)
            }
            Temporal::StrongRelease => {
                let both = self.part(Part::And(all[0], all[1]));
                self.until(all[1], both)
            }
        }
    }

    /// Which parts hold in a state with these atoms, given which guesses hold in the next.
    fn values(&self, label: u64, guess: usize) -> Vec<bool> {
        let mut values: Vec<bool> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            values.push(match *part {
                Part::True => true,
                Part::Atom(atom) => label >> atom & 1 == 1,
                Part::Not(a) => !values[a],
                Part::And(a, b) => values[a] && values[b],
                Part::Next(bit) => guess >> bit & 1 == 1,
                Part::Until(a, b, bit) => values[b] || values[a] && guess >> bit & 1 == 1,
            });
        }
        values
    }
}

/// The strongly connected components of what can be reached: a number for each node, `None` where it cannot.
fn components<E>(edges: &[Vec<(usize, E)>], starts: &[usize]) -> Vec<Option<usize>> {
    const NEW: usize = usize::MAX;
    let (mut found, mut lowest) = (vec![NEW; edges.len()], vec![NEW; edges.len()]);
    let mut component = vec![None; edges.len()];
    let (mut open, mut count, mut numbers) = (Vec::new(), 0, 0);
    for &start in starts {
        let mut way: Vec<(usize, usize)> = Vec::new();
        if found[start] == NEW {
            way.push((start, 0));
        }
        while let Some((at, next)) = way.pop() {
            if next == 0 {
                (found[at], lowest[at]) = (count, count);
                count += 1;
                open.push(at);
            }
            if let Some((to, _)) = edges[at].get(next) {
                way.push((at, next + 1));
                if found[*to] == NEW {
                    way.push((*to, 0));
                } else if component[*to].is_none() {
                    lowest[at] = lowest[at].min(found[*to]);
                }
                continue;
            }
            if lowest[at] == found[at] {
                while let Some(member) = open.pop() {
                    component[member] = Some(numbers);
                    if member == at {
                        break;
                    }
                }
                numbers += 1;
            }
            if let Some((before, _)) = way.last() {
                lowest[*before] = lowest[*before].min(lowest[at]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 -> 1 -> 0 by process 0, 0 -> 0 by process 1; the atom holds in 1.
    #[test]
    fn who_waits_for_ever_is_not_fair() {
        let edges = vec![vec![(1, 0), (0, 1)], vec![(0, 0)]];
        let comes = Formula::Runs(None, Temporal::Finally, vec![Formula::Atom(0)]);
        let runs = |fair| Runs { labels: &[0, 1], edges: &edges, fair };
        assert!(!runs(false).all_satisfy(&comes));
        assert!(runs(true).all_satisfy(&comes));
        assert!(!runs(true).all_satisfy(&Formula::Runs(None, Temporal::Next, vec![Formula::Atom(0)])));
    }

    #[test]
    fn the_last_state_repeats() {
        let edges = vec![vec![(1, 0)], vec![]];
        let stays = Formula::Runs(None, Temporal::Globally, vec![Formula::Atom(0)]);
        let holds = |f| Runs { labels: &[0, 1], edges: &edges, fair: true }.all_satisfy(&f);
        assert!(holds(Formula::Runs(None, Temporal::Next, vec![stays.clone()])));
        assert!(!holds(stays));
    }
}
