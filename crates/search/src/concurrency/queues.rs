//! The search over sets, whose open states lie in queues.

use super::levels::{Until, budget};
use super::{Graph, explore, explore_all};
use crate::check::{Check, Nothing};
use crate::outcome::Ended;
use crate::queued::{BfsPosition, Queued};
use crate::store::{AutomatonSet, BitState, Compact, Set, Tree};
use scrimp_core::{Budget, Control, Limit};
use scrimp_system::Batch;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// A search that may be interrupted and taken up again.
struct Search<'a> {
    graph: &'a Graph,
    threads: usize,
    set: Box<dyn Set>,
    course: BfsPosition,
    begun: bool,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, threads: usize, set: Box<dyn Set>, budget: &Arc<Budget>) -> Search<'a> {
        let course = BfsPosition::new(&*set, budget).unwrap();
        Search { graph, threads, set, course, begun: false }
    }

    fn in_tree(graph: &'a Graph, threads: usize, budget: &Arc<Budget>) -> Search<'a> {
        Search::new(graph, threads, Box::new(Tree::new(graph.state(0).len(), budget).unwrap()), budget)
    }

    /// Goes on, and looks at what it left.
    fn go_on(&mut self, check: &dyn Check, control: &Control) -> Ended {
        let search = Queued { model: self.graph, check, control, threads: self.threads, reduce: &|_| None };
        if !std::mem::replace(&mut self.begun, true) {
            search.begin(&mut *self.set, &mut self.course).unwrap();
        }
        let ended = search.search(&mut *self.set, &mut self.course);
        self.audit();
        ended
    }

    /// The numbers of the open states, of the level that is expanded and of the next one.
    fn open(&mut self) -> [Vec<u8>; 2] {
        let BfsPosition { pool, now, next, .. } = &self.course;
        [now, next].map(|queue| {
            let mut states = Batch::new(self.graph.state(0).len());
            pool.each(queue, &mut |key| {
                self.set.load(key, &mut states);
                true
            });
            (0..states.len()).map(|i| self.graph.number(states.state(i))).collect()
        })
    }

    /// Every state is there; it is open, once, or all its successors are there and were counted once.
    fn audit(&mut self) {
        let distances = self.graph.reachable();
        let mut open = BTreeSet::new();
        for (queue, depth) in self.open().iter().zip(self.course.depth..) {
            for &state in queue {
                assert!(open.insert(state), "state {state} is open twice");
                assert_eq!(distances.get(&state), Some(&depth), "level of state {state}");
            }
        }
        let (mut found, mut transitions) = (BTreeSet::new(), 0);
        let shown = self.set.each(&mut |state| found.insert(self.graph.number(state)));
        // Some sets do not know their states.
        if shown {
            for state in found.difference(&open) {
                let list = &self.graph.lists[*state as usize];
                transitions += list.len() as u64;
                assert!(list.iter().all(|next| found.contains(next)), "a successor of {state} is lost");
            }
            assert!(open.is_subset(&found) && found.iter().all(|state| distances.contains_key(state)));
            assert_eq!((self.set.len(), self.course.facts.transitions), (found.len() as u64, transitions));
        }
    }

    fn complete(&mut self) {
        assert_eq!(self.go_on(&Nothing, &Control::new(None)), Ended::Complete);
        assert_eq!((self.set.len(), self.course.open()), (self.graph.reachable().len() as u64, 0));
    }
}

/// A search over a set that always has room, where no state need be expanded again.
fn expand_once(set: impl FnOnce(&Arc<Budget>) -> Box<dyn Set>) {
    let (graph, budget) = (Graph::random(30, 2, 3), budget());
    Search::new(&graph, 3, set(&budget), &budget).complete();
    assert!(graph.expansions().into_iter().eq(graph.reachable().into_keys()));
}

fn automaton(bytes: usize, budget: &Arc<Budget>) -> AutomatonSet {
    let order: Vec<u32> = (0..bytes as u32).rev().collect();
    AutomatonSet::new(bytes, &order, budget).unwrap()
}

#[test]
fn every_state_of_a_tree_is_expanded() {
    // Short states are their own keys, long ones are folded. Who finds no room expands the same states again.
    explore(|| {
        let (graph, budget) = (Graph::random(30, 2, 3), budget());
        Search::in_tree(&graph, 3, &budget).complete();
    });
    explore(|| {
        let (graph, budget) = (Graph::random(30, 20, 3), budget());
        Search::in_tree(&graph, 3, &budget).complete();
    });
}

#[test]
fn every_state_whose_hash_is_kept_is_expanded() {
    explore(|| expand_once(|budget| Box::new(BitState::new(2, 1, budget).unwrap())));
    explore(|| {
        let (graph, budget) = (Graph::random(30, 2, 3), budget());
        Search::new(&graph, 3, Box::new(Compact::new(2, 40, &budget).unwrap()), &budget).complete();
    });
}

#[test]
fn every_state_of_an_automaton_is_expanded_once() {
    explore(|| expand_once(|budget| Box::new(automaton(2, budget))));
}

/// A level of three states and one of one.
#[test]
fn every_schedule_expands_every_state_once() {
    explore_all(2, || {
        let graph = Graph::new(vec![vec![1, 2, 3], vec![4, 1], vec![4], vec![0], vec![]], 2);
        Search::in_tree(&graph, 2, &budget()).complete();
        assert_eq!(graph.expansions(), [0, 1, 2, 3, 4]);
    });
}

#[test]
fn an_answer_ends_all_threads() {
    explore(|| {
        let (graph, budget) = (Graph::random(24, 2, 3), budget());
        let mut search = Search::in_tree(&graph, 3, &budget);
        let sought = *graph.reachable().iter().max_by_key(|(_, distance)| **distance).unwrap().0;
        assert_eq!(search.go_on(&Until(&graph, sought), &Control::new(None)), Ended::Decided);
        search.complete();
    });
}

#[test]
fn a_stop_ends_all_threads() {
    explore(|| {
        let (control, budget) = (Arc::new(Control::new(None)), budget());
        let asked = control.clone();
        let graph = Graph::random(24, 20, 3).with(move |state| {
            if state == 7 {
                asked.interrupt()
            }
        });
        let mut search = Search::in_tree(&graph, 3, &budget);
        assert_eq!(search.go_on(&Nothing, &control), Ended::Limit(Limit::Interrupt));
        search.complete();
    });
}

#[test]
fn a_pause_loses_nothing() {
    explore(|| {
        let (graph, budget) = (Graph::random(24, 2, 3), budget());
        let control = Control::new(None);
        let mut search = Search::in_tree(&graph, 2, &budget);
        for states in [3, 9, 15] {
            control.pause_at_states(states);
            assert_eq!(search.go_on(&Nothing, &control), Ended::Paused);
            control.paused();
        }
        search.complete();
    });
}

#[test]
fn refused_memory_ends_all_threads() {
    // Once a state from `after` on was expanded, neither the set may grow nor the list of what is open.
    fn refuse(bytes: usize, after: u8, threads: usize, set: impl FnOnce(&Arc<Budget>) -> Box<dyn Set>) {
        let budget = budget();
        let refusing = budget.clone();
        let graph = Graph::random(30, bytes, 3).with(move |state| {
            if state >= after {
                refusing.hold(1 << 60);
            }
        });
        let mut search = Search::new(&graph, threads, set(&budget), &budget);
        assert_eq!(search.go_on(&Nothing, &Control::new(None)), Ended::Limit(Limit::Memory));
        let graph = Graph::random(30, bytes, 3);
        budget.hold(0);
        Search { graph: &graph, ..search }.complete();
    }
    explore(|| refuse(20, 0, 3, |budget| Box::new(Tree::new(20, budget).unwrap())));
    explore(|| refuse(20, 9, 3, |budget| Box::new(Tree::new(20, budget).unwrap())));
    // Long keys: a page has room for few of them.
    explore(|| refuse(300, 0, 2, |budget| Box::new(automaton(300, budget))));
    explore(|| refuse(300, 0, 3, |budget| Box::new(automaton(300, budget))));
}

#[test]
fn a_panic_ends_all_threads_and_is_passed_on() {
    explore(|| {
        let budget = budget();
        let graph = Graph::random(24, 2, 3).with(|state| {
            if state == 7 {
                resume_unwind(Box::new("state 7"));
            }
        });
        let search = || Search::in_tree(&graph, 3, &budget).go_on(&Nothing, &Control::new(None));
        let panic = catch_unwind(AssertUnwindSafe(search)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"state 7"));
        graph.assert_none_beyond(7);
    });
}
