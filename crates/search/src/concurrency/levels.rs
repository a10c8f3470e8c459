//! The search that shares a table and hands each level out in chunks.

use super::{Graph, explore, explore_all};
use crate::check::{Check, Flow, Nothing, Seen};
use crate::outcome::{Ended, Position};
use crate::parallel;
use crate::reduce::{Grounded, ReductionFactory};
use crate::store::{Store, Table};
use scrimp_core::{Budget, Control, Limit};
use scrimp_system::{Batch, FaultRecord};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Is content with the first state of this number.
pub struct Until<'a>(pub &'a Graph, pub u8);

impl Check for Until<'_> {
    fn wants_states(&self) -> bool {
        true
    }

    fn state(&self, seen: Seen) -> Flow {
        if self.0.number(seen.state) == self.1 { Flow::Stop } else { Flow::Continue }
    }

    fn expanded(&self, _: Seen, _: bool, _: &[FaultRecord]) -> Flow {
        Flow::Continue
    }
}

/// A search that may be interrupted and taken up again.
struct Search<'a> {
    graph: &'a Graph,
    threads: usize,
    table: Option<Table>,
    position: Position,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, threads: usize, budget: &Arc<Budget>) -> Search<'a> {
        let table = Table::new(graph.state(0).len(), budget.clone()).unwrap();
        Search { graph, threads, table: Some(table), position: Position::default() }
    }

    /// Goes on, and looks at what it left.
    fn go_on(&mut self, check: &dyn Check, control: &Control) -> Ended {
        let table = self.table.take().unwrap();
        let position = &mut self.position;
        let all_events: &ReductionFactory = &|_| None;
        let whole = (all_events, &Grounded::new(Arc::new(Budget::new(0))));
        let (table, ended) =
            parallel::search(self.graph, table, check, control, self.threads, position, whole).unwrap();
        self.table = Some(table);
        self.audit();
        ended
    }

    /// Every state is there once, at its distance; it is open, or all its successors are there and were counted once.
    fn audit(&self) {
        let (table, Position { levels, left, facts }) = (self.table.as_ref().unwrap(), &self.position);
        let distances = self.graph.reachable();
        let (mut numbers, mut transitions) = (BTreeSet::new(), 0);
        let found = table.numbers() as u32;
        let end = *levels.last().unwrap();
        for id in 0..found {
            let mut state = self.graph.state(0);
            table.load(id, &mut state);
            let number = self.graph.number(&state);
            assert!(numbers.insert(number), "state {number} is there twice");
            let level = levels.iter().filter(|&&first| first <= id).count() as u32 - 1;
            assert_eq!(distances.get(&number), Some(&level), "level of state {number}");
            if id < end && left.iter().all(|part| !part.contains(&id)) {
                transitions += self.graph.lists[number as usize].len() as u64;
                for &next in &self.graph.lists[number as usize] {
                    let mut batch = Batch::new(state.len());
                    batch.push(&self.graph.state(next), 0);
                    assert!(table.find(&batch, 0).is_some(), "state {next} is lost");
                }
            }
        }
        let open = left.iter().map(|part| part.len() as u64).sum::<u64>() + (found - end) as u64;
        assert_eq!((facts.states, facts.open, facts.transitions), (found as u64, open, transitions));
    }

    fn complete(&mut self) {
        assert_eq!(self.go_on(&Nothing, &Control::new(None)), Ended::Complete);
        let open = self.position.facts.open;
        assert_eq!((self.table.as_ref().unwrap().len(), open), (self.graph.reachable().len(), 0));
    }
}

pub fn budget() -> Arc<Budget> {
    Arc::new(Budget::new(1 << 30))
}

#[test]
fn every_state_is_expanded_once() {
    for threads in [2, 3] {
        explore(move || {
            let graph = Graph::random(30, 2, 3);
            Search::new(&graph, threads, &budget()).complete();
            assert!(graph.expansions().into_iter().eq(graph.reachable().into_keys()));
        });
    }
}

/// A level of two states and one of one.
#[test]
fn every_schedule_expands_every_state_once() {
    explore_all(2, || {
        let graph = Graph::new(vec![vec![1, 2], vec![3, 1], vec![3], vec![]], 2);
        Search::new(&graph, 2, &budget()).complete();
        assert_eq!(graph.expansions(), [0, 1, 2, 3]);
    });
}

/// A page has room for six such states.
#[test]
fn large_states_make_the_table_grow() {
    explore(|| {
        let graph = Graph::random(24, 600, 5);
        Search::new(&graph, 3, &budget()).complete();
        // Threads that found no room keep what they have expanded.
        assert!(graph.expansions().into_iter().eq(graph.reachable().into_keys()));
    });
}

#[test]
fn an_answer_ends_all_threads() {
    explore(|| {
        let graph = Graph::random(24, 2, 3);
        let mut search = Search::new(&graph, 3, &budget());
        let sought = *graph.reachable().iter().max_by_key(|(_, distance)| **distance).unwrap().0;
        assert_eq!(search.go_on(&Until(&graph, sought), &Control::new(None)), Ended::Decided);
        search.complete();
    });
}

#[test]
fn a_stop_ends_all_threads() {
    explore(|| {
        let control = Arc::new(Control::new(None));
        let asked = control.clone();
        let graph = Graph::random(24, 2, 3).with(move |state| {
            if state == 7 {
                asked.interrupt()
            }
        });
        let mut search = Search::new(&graph, 3, &budget());
        assert_eq!(search.go_on(&Nothing, &control), Ended::Limit(Limit::Interrupt));
        search.complete();
    });
}

#[test]
fn a_pause_loses_nothing() {
    explore(|| {
        let graph = Graph::random(24, 2, 3);
        let control = Control::new(None);
        let mut search = Search::new(&graph, 2, &budget());
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
    explore(|| {
        let budget = budget();
        let refusing = budget.clone();
        let graph = Graph::random(30, 2, 3).with(move |_| refusing.hold(1 << 60));
        let mut search = Search::new(&graph, 3, &budget);
        assert_eq!(search.go_on(&Nothing, &Control::new(None)), Ended::Limit(Limit::Memory));
        let graph = Graph::random(30, 2, 3);
        budget.hold(0);
        Search { graph: &graph, ..search }.complete();
    });
}

#[test]
fn a_panic_ends_all_threads_and_is_passed_on() {
    explore(|| {
        let graph = Graph::random(24, 2, 3).with(|state| {
            if state == 7 {
                resume_unwind(Box::new("state 7"));
            }
        });
        let search = || Search::new(&graph, 3, &budget()).go_on(&Nothing, &Control::new(None));
        let panic = catch_unwind(AssertUnwindSafe(search)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"state 7"));
        graph.assert_none_beyond(7);
    });
}
