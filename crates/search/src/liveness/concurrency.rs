//! Threads that look for a cycle together, under very many schedules; see [`concurrency`](crate::concurrency).

use super::crew::Ended;
use super::lasso::Rough;
use super::product::Product;
use super::{swarm, together};
use crate::concurrency::{Graph, explore};
use scrimp_core::{Budget, Control, Limit, Predicate};
use scrimp_system::{Batch, Fault, Model, Random};
use scrimp_temporal::{Automaton, Cube, Edge, Guard};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Accepts what meets the atom again and again.
fn again_and_again() -> Automaton {
    let edge = |positive, negative, marks| {
        let guard = Guard { cubes: vec![Cube { positive, negative }] };
        Edge { guard, to: 0, marks }
    };
    Automaton { atoms: 1, states: vec![vec![edge(1, 0, 1), edge(0, 1, 0)]], initial: 0, sets: 1 }.state_based()
}

/// A graph, the states in which the atom holds, as bits, and one in which that cannot be said.
struct Case {
    graph: Graph,
    accepting: u64,
    faulty: Option<u8>,
    way: Way,
}

/// Which search.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Nested,
    Components,
}

const WAYS: [Way; 2] = [Way::Nested, Way::Components];

impl Case {
    fn new(graph: Graph, accepting: u64) -> Case {
        Case { graph, accepting, faulty: None, way: Way::Nested }
    }

    fn by(self, way: Way) -> Case {
        Case { way, ..self }
    }

    fn random(seed: u64) -> Case {
        let mut random = Random(seed);
        let accepting = random.next() & random.next() & random.next();
        Case::new(Graph::random(9, 2, seed), accepting)
    }

    /// Edges lead to larger numbers alone; half of the states accept.
    fn acyclic(states: u8) -> Case {
        let list = |i: u8| [i + 1, i + 2, i + 5].into_iter().filter(|&next| next < states).collect();
        Case::new(Graph::new((0..states).map(list).collect(), 2), 0x5555_5555_5555_5555)
    }

    /// The thread that comes to 1 meets, beyond 3, the accepting state 2, which the other has begun: there is a cycle of 2 and
    /// 3, which it must leave to the other, who may first follow 4 to the last state.
    fn waiting(first: u8, states: u8) -> Case {
        let mut lists = vec![vec![1, 2], vec![3], vec![first, 7 - first], vec![2]];
        lists.extend((5..=states).map(|next| Vec::from_iter((next < states).then_some(next))));
        // A state of the product accepts where the atom held one step before.
        Case::new(Graph::new(lists, 2), 0b1001)
    }

    fn accepts(&self, state: u8) -> bool {
        self.accepting >> state & 1 == 1
    }

    /// Is there a cycle, that can be reached, with a state that accepts?
    fn has_cycle(&self) -> bool {
        let further = |from: u8| {
            let (mut found, mut at) = (self.graph.lists[from as usize].clone(), 0);
            while at < found.len() {
                for &next in &self.graph.lists[found[at] as usize] {
                    if !found.contains(&next) {
                        found.push(next);
                    }
                }
                at += 1;
            }
            found
        };
        self.graph.reachable().into_keys().any(|state| self.accepts(state) && further(state).contains(&state))
    }

    /// Searches; what is answered is looked at.
    fn search(&self, threads: usize, control: &Control, budget: &Arc<Budget>) -> Ended<Option<Rough>> {
        let automaton = again_and_again();
        let holds = |state: &[u8]| match self.graph.number(state) {
            number if self.faulty == Some(number) => Err(Fault::Division),
            number => Ok(self.accepts(number)),
        };
        let atoms: [Predicate; 1] = [Box::new(holds)];
        let nested = self.way == Way::Nested;
        let product = Product::new(&self.graph, &automaton, &atoms, None, nested).ending(true);
        let search = if nested { swarm::search } else { together::search };
        let (ended, facts, _) = search(&product, threads, control, budget).unwrap();
        match &ended {
            Ended::Complete => {
                let (states, edges) = size(&product);
                assert!(!self.has_cycle(), "a cycle was not seen");
                assert_eq!((facts.states, facts.transitions), (states, edges), "each state is done once");
            }
            Ended::Found(rough) => {
                let rough =
                    rough.as_ref().unwrap_or_else(|| panic!("no run is told, cycle: {}, {facts:?}", self.has_cycle()));
                let number = |state: &Vec<u8>| self.graph.number(product.system(state));
                let stem: Vec<u8> = rough.stem.iter().map(number).collect();
                let cycle: Vec<u8> = stem.last().copied().into_iter().chain(rough.cycle.iter().map(number)).collect();
                let leads = |pair: &[u8]| self.graph.lists[pair[0] as usize].contains(&pair[1]);
                assert!(stem[0] == 0 && stem.windows(2).chain(cycle.windows(2)).all(leads), "{stem:?} {cycle:?}");
                assert!(cycle.len() > 1 && cycle.first() == cycle.last(), "{cycle:?}");
                assert!(cycle.iter().any(|&state| self.accepts(state)), "{cycle:?}");
            }
            Ended::Fault(_) | Ended::Limit(_) => {}
        }
        ended
    }
}

/// How many states and edges a product has.
fn size(product: &Product) -> (u64, u64) {
    let mut batch = Batch::new(product.state_bytes());
    product.initial(&mut batch);
    let (mut found, mut at, mut edges) = (vec![batch.state(0).to_vec()], 0, 0);
    let mut known = BTreeSet::from([found[0].clone()]);
    while at < found.len() {
        batch.clear();
        product.expand(&found[at], &mut batch);
        edges += batch.len() as u64;
        for state in (0..batch.len()).map(|i| batch.state(i).to_vec()) {
            if known.insert(state.clone()) {
                found.push(state);
            }
        }
        at += 1;
    }
    (found.len() as u64, edges)
}

fn budget() -> Arc<Budget> {
    Arc::new(Budget::new(1 << 30))
}

#[test]
fn a_cycle_is_found_where_there_is_one() {
    let cycles = (0..8).map(|seed| Case::random(seed).has_cycle()).filter(|has| *has).count();
    assert!((2..=6).contains(&cycles), "{cycles} of 8 have a cycle");
    for (seed, way) in (0..8).flat_map(|seed| WAYS.map(|way| (seed, way))) {
        for threads in [2, 3] {
            explore(move || {
                let case = Case::random(seed).by(way);
                let ended = case.search(threads, &Control::new(None), &budget());
                assert!(matches!(ended, Ended::Complete | Ended::Found(_)), "nothing else ends it");
                assert_eq!(matches!(ended, Ended::Found(_)), case.has_cycle());
            });
        }
    }
}

/// Who waits for 2 lets the other thread make room for what follows 4.
#[test]
fn accepting_states_are_waited_for() {
    for (first, states) in [(3, 8), (4, 8), (3, 24), (4, 24)] {
        explore(move || {
            let ended = Case::waiting(first, states).search(2, &Control::new(None), &budget());
            assert!(matches!(ended, Ended::Found(_)));
        });
    }
}

#[test]
fn the_table_grows_behind_the_gate() {
    for way in WAYS {
        explore(move || {
            let ended = Case::acyclic(40).by(way).search(3, &Control::new(None), &budget());
            assert!(matches!(ended, Ended::Complete));
        });
        // Every state leads back to the first one, and none accepts.
        explore(move || {
            let mut lists = Case::acyclic(30).graph.lists;
            lists.iter_mut().for_each(|list| list.push(0));
            let case = Case::new(Graph::new(lists, 2), 0).by(way);
            assert!(matches!(case.search(3, &Control::new(None), &budget()), Ended::Complete));
        });
    }
}

#[test]
fn refused_memory_ends_all_threads() {
    for (after, way) in [(0, Way::Nested), (8, Way::Nested), (0, Way::Components)] {
        explore(move || {
            let budget = budget();
            let (case, refusing) = (Case::acyclic(40).by(way), budget.clone());
            let graph = case.graph.with(move |state| {
                if state >= after {
                    refusing.hold(1 << 60)
                }
            });
            let ended = Case { graph, ..case }.search(3, &Control::new(None), &budget);
            assert!(matches!(ended, Ended::Limit(Limit::Memory)), "{way:?} from {after} on: {ended:?}");
        });
    }
}

#[test]
fn a_stop_ends_all_threads() {
    for way in WAYS {
        explore(move || {
            let control = Arc::new(Control::new(None));
            let (case, asked) = (Case::acyclic(20).by(way), control.clone());
            let graph = case.graph.with(move |_| asked.interrupt());
            assert!(matches!(Case { graph, ..case }.search(3, &control, &budget()), Ended::Limit(Limit::Interrupt)));
        });
    }
}

#[test]
fn a_fault_ends_all_threads() {
    for way in WAYS {
        explore(move || {
            let case = Case { faulty: Some(9), ..Case::acyclic(20) }.by(way);
            assert!(matches!(case.search(3, &Control::new(None), &budget()), Ended::Fault(Fault::Division)));
        });
    }
    for first in [3, 4] {
        explore(move || {
            let case = Case { faulty: Some(7), ..Case::waiting(first, 8) };
            let ended = case.search(2, &Control::new(None), &budget());
            assert!(matches!(ended, Ended::Fault(Fault::Division) | Ended::Found(_)));
        });
    }
}

/// Who waits for an accepting state that another thread has begun must not wait for ever when that thread is lost.
#[test]
fn a_panic_ends_all_threads_and_is_passed_on() {
    for (first, way) in [3, 4].into_iter().flat_map(|first| WAYS.map(|way| (first, way))) {
        explore(move || {
            let (case, lost) = (Case::waiting(first, 8).by(way), AtomicBool::new(false));
            let graph = case.graph.with(move |state| {
                if state == 7 && !lost.swap(true, Ordering::Relaxed) {
                    resume_unwind(Box::new("state 7"));
                }
            });
            let search = || Case { graph, ..case }.search(2, &Control::new(None), &budget());
            match catch_unwind(AssertUnwindSafe(search)) {
                Ok(ended) => assert!(matches!(ended, Ended::Found(_)), "nobody came to state 7"),
                Err(panic) => assert_eq!(panic.downcast_ref(), Some(&"state 7")),
            }
        });
    }
}

/// Two rings, and ways from each into the other: whoever unites them, the marks stay with them.
#[test]
fn sets_are_united_by_several_threads() {
    for (accepting, threads) in [(0, 2), (0, 3), (1 << 4, 2), (1 << 4, 3)] {
        explore(move || {
            let lists = vec![vec![1, 3], vec![2, 4], vec![0, 5], vec![4, 0], vec![5, 1], vec![3, 2]];
            let case = Case::new(Graph::new(lists, 2), accepting).by(Way::Components);
            let ended = case.search(threads, &Control::new(None), &budget());
            assert_eq!(matches!(ended, Ended::Found(_)), accepting != 0);
        });
    }
}
