//! Random graphs as models, random formulas, and what these mean by the book: sets of states, one fixpoint for each operator,
//! and fair runs by trying every set of states that a run can stay in.

use scrimp_core::Predicate;
use scrimp_system::{Batch, EventCode, Model, Random};
use scrimp_temporal::Formula;

/// A graph as a model. A state is its number; atom i holds in a state where bit i of its letter is set.
pub struct Graph {
    pub initial: Vec<u16>,
    pub lists: Vec<Vec<u16>>,
    pub letters: Vec<u8>,
}

/// So many atoms are told apart.
pub const ATOMS: u32 = 3;

impl Graph {
    pub fn random(states: usize, random: &mut Random) -> Graph {
        let degree = 1 + random.below(3);
        let list = |random: &mut Random| {
            (0..random.below(degree + 1)).map(|_| random.below(states) as u16).collect::<Vec<_>>()
        };
        Graph {
            initial: (0..1 + random.below(2)).map(|_| random.below(states) as u16).collect(),
            lists: (0..states).map(|_| list(random)).collect(),
            letters: (0..states).map(|_| random.next() as u8 | random.next() as u8 & 1).collect(),
        }
    }

    pub fn number(state: &[u8]) -> u16 {
        u16::from_le_bytes([state[0], state[1]])
    }

    pub fn has(&self, atom: u32, state: usize) -> bool {
        self.letters[state] >> atom & 1 == 1
    }

    /// The atoms, and conditions for fairness, as searches want them.
    pub fn conditions(&self, atoms: std::ops::Range<u32>) -> Vec<Predicate<'_>> {
        let condition =
            |atom: u32| -> Predicate<'_> { Box::new(move |state| Ok(self.has(atom, Graph::number(state) as usize))) };
        atoms.map(condition).collect()
    }
}

impl Model for Graph {
    fn state_bytes(&self) -> usize {
        2
    }

    fn initial(&self, out: &mut Batch) {
        self.initial.iter().for_each(|state| out.push(&state.to_le_bytes(), 0));
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        for (event, next) in self.lists[Graph::number(state) as usize].iter().enumerate() {
            out.push(&next.to_le_bytes(), event as EventCode);
        }
    }
}

pub fn random_formula(depth: usize, random: &mut Random) -> Formula<u32> {
    let inner = |random: &mut Random| Box::new(random_formula(depth - 1, random));
    let some = |random: &mut Random| (0..random.below(4)).map(|_| random_formula(depth - 1, random)).collect();
    if depth == 0 || random.below(12) == 0 {
        return match random.below(8) {
            0 => Formula::True,
            1 => Formula::False,
            _ => Formula::Atom(random.below(ATOMS as usize) as u32),
        };
    }
    match random.below(12) {
        0 => Formula::Not(inner(random)),
        1 => Formula::And(some(random)),
        2 => Formula::Or(some(random)),
        3 => Formula::Implies(inner(random), inner(random)),
        4 => Formula::Equivalent(inner(random), inner(random)),
        _ => {
            let path = match random.below(8) {
                0 => Formula::Next(inner(random)),
                1 => Formula::Finally(inner(random)),
                2 => Formula::Globally(inner(random)),
                3 => Formula::WeakUntil(inner(random), inner(random)),
                4 => Formula::Release(inner(random), inner(random)),
                5 => Formula::StrongRelease(inner(random), inner(random)),
                _ => Formula::Until(inner(random), inner(random)),
            };
            if random.below(2) == 0 { Formula::AllPaths(path.into()) } else { Formula::ExistsPath(path.into()) }
        }
    }
}

type Set = Vec<bool>;

/// The least or the greatest set that is the same before and after a step.
fn fixpoint(graph: &Graph, greatest: bool, step: impl Fn(&Set, usize) -> bool) -> Set {
    let states = 0..graph.lists.len();
    let mut set = vec![greatest; states.len()];
    loop {
        let next: Set = states.clone().map(|state| step(&set, state)).collect();
        if next == set {
            return set;
        }
        set = next;
    }
}

/// The states where a formula holds.
pub fn meaning(graph: &Graph, formula: &Formula<u32>) -> Set {
    let states = 0..graph.lists.len();
    let each = |test: &dyn Fn(usize) -> bool| states.clone().map(test).collect::<Set>();
    let sets: Vec<Set> = match formula {
        Formula::AllPaths(path) | Formula::ExistsPath(path) => {
            path.operands().into_iter().map(|operand| meaning(graph, operand)).collect()
        }
        _ => formula.operands().into_iter().map(|operand| meaning(graph, operand)).collect(),
    };
    let some = |set: &Set, s: usize| graph.lists[s].iter().any(|&next| set[next as usize]);
    let every = |set: &Set, s: usize| graph.lists[s].iter().all(|&next| set[next as usize]);
    let dead = |s: usize| graph.lists[s].is_empty();
    match formula {
        Formula::ExistsPath(path) => match **path {
            Formula::Next(_) => each(&|s| some(&sets[0], s)),
            Formula::Finally(_) => fixpoint(graph, false, |z, s| sets[0][s] || some(z, s)),
            Formula::Globally(_) => fixpoint(graph, true, |z, s| sets[0][s] && (dead(s) || some(z, s))),
            Formula::Until(..) => fixpoint(graph, false, |z, s| sets[1][s] || sets[0][s] && some(z, s)),
            Formula::WeakUntil(..) => fixpoint(graph, true, |z, s| sets[1][s] || sets[0][s] && (dead(s) || some(z, s))),
            Formula::Release(..) => fixpoint(graph, true, |z, s| sets[1][s] && (sets[0][s] || dead(s) || some(z, s))),
            _ => fixpoint(graph, false, |z, s| sets[1][s] && (sets[0][s] || some(z, s))),
        },
        Formula::AllPaths(path) => match **path {
            Formula::Next(_) => each(&|s| every(&sets[0], s)),
            Formula::Finally(_) => fixpoint(graph, false, |z, s| sets[0][s] || !dead(s) && every(z, s)),
            Formula::Globally(_) => fixpoint(graph, true, |z, s| sets[0][s] && every(z, s)),
            Formula::Until(..) => fixpoint(graph, false, |z, s| sets[1][s] || sets[0][s] && !dead(s) && every(z, s)),
            Formula::WeakUntil(..) => fixpoint(graph, true, |z, s| sets[1][s] || sets[0][s] && every(z, s)),
            Formula::Release(..) => fixpoint(graph, true, |z, s| sets[1][s] && (sets[0][s] || every(z, s))),
            _ => fixpoint(graph, false, |z, s| sets[1][s] && (sets[0][s] || !dead(s) && every(z, s))),
        },
        _ => boolean(graph, formula, &sets),
    }
}

fn boolean(graph: &Graph, formula: &Formula<u32>, sets: &[Set]) -> Set {
    let holds = |s: usize| match formula {
        Formula::True => true,
        Formula::Atom(atom) => graph.has(*atom, s),
        Formula::Not(_) => !sets[0][s],
        Formula::And(_) => sets.iter().all(|set| set[s]),
        Formula::Or(_) => sets.iter().any(|set| set[s]),
        Formula::Implies(..) => !sets[0][s] || sets[1][s],
        Formula::Equivalent(..) => sets[0][s] == sets[1][s],
        _ => false,
    };
    (0..graph.lists.len()).map(holds).collect()
}

/// The states of a small graph where a formula holds when only runs count on which each of these atoms holds again and again.
pub fn fair_meaning(graph: &Graph, formula: &Formula<u32>, fairness: &[u32]) -> Set {
    let states = 0..graph.lists.len();
    let of = |formula: &Formula<u32>| fair_meaning(graph, formula, fairness);
    let (exists, path) = match formula {
        Formula::ExistsPath(path) => (true, path),
        Formula::AllPaths(path) => (false, path),
        _ => {
            let sets: Vec<Set> = formula.operands().into_iter().map(of).collect();
            return boolean(graph, formula, &sets);
        }
    };
    let fair = fair_for_ever(graph, &vec![true; states.len()], fairness);
    let until = |hold: &Set, goal: &Set| {
        let some = |z: &Set, s: usize| graph.lists[s].iter().any(|&next| z[next as usize]);
        fixpoint(graph, false, |z, s| goal[s] && fair[s] || hold[s] && some(z, s))
    };
    let weak = |hold: &Set, goal: &Set| {
        let (comes, stays) = (until(hold, goal), fair_for_ever(graph, hold, fairness));
        states.clone().map(|s| comes[s] || stays[s]).collect::<Set>()
    };
    let not = |set: &Set| set.iter().map(|has| !has).collect::<Set>();
    let and = |a: &Set, b: &Set| states.clone().map(|s| a[s] && b[s]).collect::<Set>();
    let sets: Vec<Set> = path.operands().into_iter().map(of).collect();
    let (a, b) = (&sets[0], sets.last().unwrap());
    let (all, none) = (vec![true; states.len()], vec![false; states.len()]);
    let next = |a: &Set| {
        let some = |s: usize| graph.lists[s].iter().any(|&next| a[next as usize] && fair[next as usize]);
        states.clone().map(some).collect::<Set>()
    };
    match (&**path, exists) {
        (Formula::Next(_), true) => next(a),
        (Formula::Next(_), false) => not(&next(&not(a))),
        (Formula::Finally(_), true) => until(&all, a),
        (Formula::Finally(_), false) => not(&weak(&not(a), &none)),
        (Formula::Globally(_), true) => weak(a, &none),
        (Formula::Globally(_), false) => not(&until(&all, &not(a))),
        (Formula::Until(..), true) => until(a, b),
        (Formula::Until(..), false) => not(&weak(&not(b), &and(&not(a), &not(b)))),
        (Formula::WeakUntil(..), true) => weak(a, b),
        (Formula::WeakUntil(..), false) => not(&until(&not(b), &and(&not(a), &not(b)))),
        (Formula::Release(..), true) => weak(b, &and(a, b)),
        (Formula::Release(..), false) => not(&until(&not(a), &not(b))),
        (_, true) => until(b, &and(a, b)),
        (_, false) => not(&weak(&not(a), &not(b))),
    }
}

/// States from which a fair run stays in a set: tries every set of states that it may go round in.
fn fair_for_ever(graph: &Graph, inside: &Set, fairness: &[u32]) -> Set {
    let count = graph.lists.len();
    let edge = |a: usize, b: usize| graph.lists[a].contains(&(b as u16)) || a == b && graph.lists[a].is_empty();
    let mut set = vec![false; count];
    for subset in 1u32..1 << count {
        let members: Vec<usize> = (0..count).filter(|s| subset >> s & 1 == 1).collect();
        let visits_all = fairness.iter().all(|&atom| members.iter().any(|&s| graph.has(atom, s)));
        if !visits_all || !members.iter().all(|&s| inside[s]) {
            continue;
        }
        // Each member reaches each, itself too, by at least one step among them.
        let round = members.iter().all(|&from| {
            let mut reached = vec![false; count];
            let mut open: Vec<usize> = vec![from];
            while let Some(s) = open.pop() {
                for &next in members.iter().filter(|&&next| edge(s, next)) {
                    if !std::mem::replace(&mut reached[next], true) {
                        open.push(next);
                    }
                }
            }
            members.iter().all(|&s| reached[s])
        });
        if round {
            members.iter().for_each(|&s| set[s] = true);
        }
    }
    fixpoint(graph, false, |z, s| set[s] || inside[s] && graph.lists[s].iter().any(|&next| z[next as usize]))
}
