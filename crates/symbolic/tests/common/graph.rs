//! Temporal formulas by their definitions, on graphs small enough for that: the oracle of every engine that is not naive.

use proptest::prelude::*;
use scrimp_system::{Batch, Fault, Model};
use scrimp_temporal::{Automaton, Cube, Edge, Formula, Guard};
use std::collections::HashMap;

/// All states of a model and the steps between them. States without successors have none here either.
pub struct Graph {
    pub states: Vec<Vec<u8>>,
    pub next: Vec<Vec<usize>>,
    pub initial: Vec<usize>,
}

impl Graph {
    /// The graph of a model, if it has no more states than this, and the model says all that a state leads to.
    pub fn new(model: &dyn Model, most: usize) -> Option<Graph> {
        let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut graph = Graph { states: Vec::new(), next: Vec::new(), initial: Vec::new() };
        let mut number = |state: &[u8], states: &mut Vec<Vec<u8>>| {
            *numbers.entry(state.to_vec()).or_insert_with(|| {
                states.push(state.to_vec());
                states.len() - 1
            })
        };
        let mut initial = Batch::new(model.state_bytes());
        model.initial(&mut initial);
        graph.initial = (0..initial.len()).map(|i| number(initial.state(i), &mut graph.states)).collect();
        let mut after = Batch::new(model.state_bytes());
        let mut at = 0;
        while at < graph.states.len() {
            if graph.states.len() > most {
                return None;
            }
            after.clear();
            // A batch has the room behind a state that a model may read.
            initial.clear();
            initial.push(&graph.states[at], 0);
            model.expand(initial.state(0), &mut after);
            if after.faults().iter().any(|record| record.fault == Fault::Endless) {
                return None;
            }
            graph.next.push((0..after.len()).map(|i| number(after.state(i), &mut graph.states)).collect());
            at += 1;
        }
        Some(graph)
    }

    /// The states where a CTL formula holds, given where its atoms do. With conditions that must hold again and again, only
    /// runs count on which they do; a run that ends is one that stays in its last state.
    pub fn ctl(&self, formula: &Formula<usize>, atoms: &[Vec<bool>], fairness: &[Vec<bool>]) -> Vec<bool> {
        let all = |value: bool| vec![value; self.states.len()];
        let of = |formula: &Formula<usize>| self.ctl(formula, atoms, fairness);
        let pointwise = |a: &Formula<usize>, b: &Formula<usize>, both: &dyn Fn(bool, bool) -> bool| {
            of(a).into_iter().zip(of(b)).map(|(a, b)| both(a, b)).collect()
        };
        match formula {
            Formula::True => all(true),
            Formula::False => all(false),
            Formula::Atom(number) => atoms[*number].clone(),
            Formula::Not(a) => of(a).into_iter().map(|a| !a).collect(),
            Formula::And(parts) => {
                parts.iter().fold(all(true), |sum, part| sum.into_iter().zip(of(part)).map(|(a, b)| a && b).collect())
            }
            Formula::Or(parts) => {
                parts.iter().fold(all(false), |sum, part| sum.into_iter().zip(of(part)).map(|(a, b)| a || b).collect())
            }
            Formula::Implies(a, b) => pointwise(a, b, &|a, b| !a || b),
            Formula::Equivalent(a, b) => pointwise(a, b, &|a, b| a == b),
            Formula::ExistsPath(path) | Formula::AllPaths(path) => {
                let exists = matches!(formula, Formula::ExistsPath(_));
                let operands: Vec<Vec<bool>> = path.operands().into_iter().map(of).collect();
                match fairness.is_empty() {
                    true => self.path(path, exists, &operands),
                    false => self.fair_path(path, exists, &operands, fairness),
                }
            }
            _ => panic!("not a formula of CTL"),
        }
    }

    /// A fixpoint: a state is in it where `test` says so, given whether any and whether all of its successors are. `least`
    /// begins with nothing, and where there is no successor the run ends there.
    fn fixpoint(&self, least: bool, test: &dyn Fn(usize, bool, bool) -> bool) -> Vec<bool> {
        let mut set = vec![!least; self.states.len()];
        loop {
            let next: Vec<bool> = (0..self.states.len())
                .map(|s| match self.next[s].is_empty() {
                    true => test(s, !least, !least),
                    false => test(s, self.next[s].iter().any(|&t| set[t]), self.next[s].iter().all(|&t| set[t])),
                })
                .collect();
            if next == set {
                return set;
            }
            set = next;
        }
    }

    fn path(&self, path: &Formula<usize>, exists: bool, operands: &[Vec<bool>]) -> Vec<bool> {
        let (a, b) = (&operands[0], &operands[operands.len() - 1]);
        let on = |any: bool, every: bool| if exists { any } else { every };
        match path {
            Formula::Next(_) => (0..self.states.len())
                .map(|s| match exists {
                    true => self.next[s].iter().any(|&t| a[t]),
                    false => self.next[s].iter().all(|&t| a[t]),
                })
                .collect(),
            Formula::Finally(_) => self.fixpoint(true, &|s, any, every| a[s] || on(any, every)),
            Formula::Globally(_) => self.fixpoint(false, &|s, any, every| a[s] && on(any, every)),
            Formula::Until(..) => self.fixpoint(true, &|s, any, every| b[s] || a[s] && on(any, every)),
            Formula::WeakUntil(..) => self.fixpoint(false, &|s, any, every| b[s] || a[s] && on(any, every)),
            Formula::Release(..) => self.fixpoint(false, &|s, any, every| b[s] && (a[s] || on(any, every))),
            Formula::StrongRelease(..) => self.fixpoint(true, &|s, any, every| b[s] && (a[s] || on(any, every))),
            _ => panic!("not a temporal operator"),
        }
    }

    /// The same where only fair runs count: on some run by what it needs, on all by there being no run against it.
    fn fair_path(
        &self,
        path: &Formula<usize>,
        exists: bool,
        operands: &[Vec<bool>],
        fairness: &[Vec<bool>],
    ) -> Vec<bool> {
        let (a, b) = (&operands[0], &operands[operands.len() - 1]);
        let no = |set: &[bool]| set.iter().map(|value| !value).collect::<Vec<bool>>();
        let zip = |a: &[bool], b: &[bool], f: &dyn Fn(bool, bool) -> bool| {
            a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect::<Vec<bool>>()
        };
        let (and, or) = (|a, b| a && b, |a, b| a || b);
        let fair = self.fair_always(&vec![true; self.states.len()], fairness);
        let next = |a: &[bool]| -> Vec<bool> {
            self.next.iter().map(|after| after.iter().any(|&t| a[t] && fair[t])).collect()
        };
        let until = |a: &[bool], b: &[bool]| {
            self.fixpoint(true, &|s, any, _| b[s] && fair[s] || a[s] && any && !self.next[s].is_empty())
        };
        let weak = |a: &[bool], b: &[bool]| zip(&until(a, b), &self.fair_always(a, fairness), &or);
        let everything = vec![true; self.states.len()];
        match (path, exists) {
            (Formula::Next(_), true) => next(a),
            (Formula::Next(_), false) => no(&next(&no(a))),
            (Formula::Finally(_), true) => until(&everything, a),
            (Formula::Finally(_), false) => no(&self.fair_always(&no(a), fairness)),
            (Formula::Globally(_), true) => self.fair_always(a, fairness),
            (Formula::Globally(_), false) => no(&until(&everything, &no(a))),
            (Formula::Until(..), true) => until(a, b),
            (Formula::Until(..), false) => no(&weak(&no(b), &zip(&no(a), &no(b), &and))),
            (Formula::WeakUntil(..), true) => weak(a, b),
            (Formula::WeakUntil(..), false) => no(&until(&no(b), &zip(&no(a), &no(b), &and))),
            (Formula::Release(..), true) => weak(b, &zip(a, b, &and)),
            (Formula::Release(..), false) => no(&until(&no(a), &no(b))),
            (Formula::StrongRelease(..), true) => until(b, &zip(a, b, &and)),
            (Formula::StrongRelease(..), false) => no(&weak(&no(a), &no(b))),
            _ => panic!("not a temporal operator"),
        }
    }

    /// Where a fair run stays in a set for ever: it comes to a component there that has all that is needed.
    fn fair_always(&self, set: &[bool], fairness: &[Vec<bool>]) -> Vec<bool> {
        let edges: Vec<Vec<usize>> = (0..self.states.len())
            .map(|s| match (set[s], self.next[s].is_empty()) {
                (false, _) => Vec::new(),
                (true, true) => vec![s],
                (true, false) => self.next[s].iter().copied().filter(|&t| set[t]).collect(),
            })
            .collect();
        let components = components(&edges);
        let mut good: Vec<bool> = vec![false; self.states.len()];
        for component in &components {
            let cyclic = component.len() > 1 || edges[component[0]].contains(&component[0]);
            if cyclic && fairness.iter().all(|condition| component.iter().any(|&s| condition[s])) {
                component.iter().for_each(|&s| good[s] = true);
            }
        }
        self.fixpoint(true, &|s, any, _| set[s] && (good[s] || any && !self.next[s].is_empty()))
    }
}

impl Graph {
    /// Does an automaton accept a run, given where its atoms hold? A state without successors goes on with itself.
    pub fn accepted(&self, automaton: &Automaton, atoms: &[Vec<bool>]) -> bool {
        let (count, states) = (self.states.len(), automaton.states.len());
        let letter = |s: usize| atoms.iter().enumerate().fold(0, |sum, (bit, atom)| sum | u64::from(atom[s]) << bit);
        let number = |state: u32, s: usize| state as usize * count + s;
        let mut edges = vec![Vec::new(); count * states];
        let mut marks = vec![Vec::new(); count * states];
        for (state, list) in automaton.states.iter().enumerate() {
            for s in 0..count {
                let after = if self.next[s].is_empty() { vec![s] } else { self.next[s].clone() };
                for edge in list.iter().filter(|edge| edge.guard.holds(letter(s))) {
                    for &next in &after {
                        edges[number(state as u32, s)].push(number(edge.to, next));
                        marks[number(state as u32, s)].push(edge.marks);
                    }
                }
            }
        }
        let mut reached = vec![false; count * states];
        let mut open: Vec<usize> = self.initial.iter().map(|&s| number(automaton.initial, s)).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                open.extend(&edges[at]);
            }
        }
        components(&edges).iter().filter(|component| reached[component[0]]).any(|component| {
            let inside = |at: usize| edges[at].iter().zip(&marks[at]).filter(|(to, _)| component.contains(to));
            let cyclic = component.iter().any(|&at| inside(at).next().is_some());
            let met = component.iter().flat_map(|&at| inside(at)).fold(0, |sum, (_, marks)| sum | marks);
            cyclic && met == automaton.all_marks()
        })
    }
}

/// Random automata over so many atoms.
pub fn automaton(atoms: usize) -> impl Strategy<Value = Automaton> {
    (1..5u32, 0..3usize, any::<bool>()).prop_flat_map(move |(states, sets, weak)| {
        let all = (1u64 << sets) - 1;
        let cube = (0..1u64 << atoms, 0..1u64 << atoms, 0..1u64 << atoms).prop_map(|(positive, negative, few)| Cube {
            positive: positive & few,
            negative: negative & few & !positive,
        });
        let guard = prop_oneof![
            1 => Just(Guard::always()),
            3 => prop::collection::vec(cube, 1..3).prop_map(|cubes| Guard { cubes }),
        ];
        let marks = if weak { Just(all).boxed() } else { (0..=all).boxed() };
        let edge = (guard, 0..states, marks).prop_map(|(guard, to, marks)| Edge { guard, to, marks });
        let states = prop::collection::vec(prop::collection::vec(edge, 0..4), states as usize);
        states.prop_map(move |states| Automaton { atoms, states, initial: 0, sets })
    })
}

/// The strongly connected components of a graph.
pub fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    // All in the order in which a search is done with them; then backwards, from the last on.
    let count = edges.len();
    let mut order = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    for start in 0..count {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((node, at)) = path.last_mut() {
            match edges[*node].get(*at) {
                Some(&to) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        path.push((to, 0));
                    }
                }
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
    }
    let mut back = vec![Vec::new(); count];
    for (from, list) in edges.iter().enumerate() {
        list.iter().for_each(|&to| back[to].push(from));
    }
    let mut all = Vec::new();
    let mut left = vec![true; count];
    for &start in order.iter().rev() {
        if !std::mem::replace(&mut left[start], false) {
            continue;
        }
        let (mut component, mut at) = (vec![start], 0);
        while at < component.len() {
            for &from in &back[component[at]] {
                if std::mem::replace(&mut left[from], false) {
                    component.push(from);
                }
            }
            at += 1;
        }
        all.push(component);
    }
    all
}

/// Random formulas of CTL over so many atoms.
pub fn ctl(atoms: usize) -> impl Strategy<Value = Formula<usize>> {
    let leaf = prop_oneof![1 => Just(Formula::True), 8 => (0..atoms).prop_map(Formula::Atom)];
    leaf.prop_recursive(4, 16, 2, |inner| {
        let one = || inner.clone().prop_map(Box::new);
        let path = prop_oneof![
            one().prop_map(Formula::Next),
            one().prop_map(Formula::Finally),
            one().prop_map(Formula::Globally),
            (one(), one()).prop_map(|(a, b)| Formula::Until(a, b)),
            (one(), one()).prop_map(|(a, b)| Formula::WeakUntil(a, b)),
            (one(), one()).prop_map(|(a, b)| Formula::Release(a, b)),
            (one(), one()).prop_map(|(a, b)| Formula::StrongRelease(a, b)),
        ];
        let quantified = (path, any::<bool>()).prop_map(|(path, exists)| match exists {
            true => Formula::ExistsPath(Box::new(path)),
            false => Formula::AllPaths(Box::new(path)),
        });
        prop_oneof![
            6 => quantified,
            1 => one().prop_map(Formula::Not),
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(Formula::And),
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(Formula::Or),
            1 => (one(), one()).prop_map(|(a, b)| Formula::Implies(a, b)),
            1 => (one(), one()).prop_map(|(a, b)| Formula::Equivalent(a, b)),
        ]
    })
}
