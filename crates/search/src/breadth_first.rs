//! Plain breadth-first search, where it is fastest: every state is kept, and every event explored.
//!
//! The table numbers states in the order of discovery, so the queue is a range of numbers and takes no memory, a level is a
//! range too, and what each transition says about the shape of the graph can be counted on the way. Successors of several
//! states are generated before the first is looked up, so that the store can overlap its cache misses; a batch never mixes
//! levels, so depths stay exact.

use crate::budget::{Control, Limit};
use crate::check::{Check, Flow, Seen};
use crate::graph::{GraphFacts, InDegrees};
use crate::outcome::{Ended, Outcome, batch_size};
use crate::store::{Found, Full, Origin, StateId, Store};
use scrimp_system::{Batch, Model};
use std::sync::atomic::Ordering;

/// Buffers of one thread, and what it has counted; shared by the sequential and the parallel search.
pub struct Worker<'a> {
    model: &'a dyn Model,
    check: &'a dyn Check,
    wants_states: bool,
    sources: Batch,
    pub successors: Batch,
    /// Where each successor comes from, if the store wants to know.
    origins: Vec<Origin>,
    pub found: Vec<Found>,
    pub facts: GraphFacts,
    /// Deadlocks and faults of the states expanded last; they count once the store has taken the successors.
    deadlocks: u64,
    faults: u64,
    /// Lowest number that a transition of the present level leads back to.
    lowest_back: StateId,
}

impl<'a> Worker<'a> {
    pub fn new(model: &'a dyn Model, check: &'a dyn Check) -> Worker<'a> {
        Worker {
            model,
            check,
            wants_states: check.wants_states(),
            sources: Batch::new(model.state_bytes()),
            successors: Batch::new(model.state_bytes()),
            origins: Vec::new(),
            found: Vec::new(),
            facts: GraphFacts { back_level_edges: Some(0), longest_back_level_edge: Some(0), ..GraphFacts::default() },
            deadlocks: 0,
            faults: 0,
            lowest_back: StateId::MAX,
        }
    }

    /// Fills `successors` with the initial states.
    pub fn start(&mut self) {
        self.successors.clear();
        self.model.initial(&mut self.successors);
    }

    /// Fills `successors` with those of the states `ids`, all at `depth`.
    pub fn expand(&mut self, ids: impl Iterator<Item = StateId>, store: &dyn Store, depth: u32) -> Flow {
        self.sources.clear();
        self.successors.clear();
        self.origins.clear();
        let with_origins = store.wants_origins();
        for id in ids {
            // The event of a source is of no interest: its number goes there.
            store.load(id, self.sources.push_with(id));
        }
        (self.deadlocks, self.faults) = (0, 0);
        let mut faults = 0;
        for i in 0..self.sources.len() {
            let first = self.successors.len();
            let state = self.sources.state(i);
            self.model.expand(state, &mut self.successors);
            let (count, new_faults) = (self.successors.len() - first, self.successors.faults().len() - faults);
            let deadlock = self.successors.take_deadlock(count);
            if deadlock || new_faults > 0 {
                self.deadlocks += deadlock as u64;
                self.faults += new_faults as u64;
                let seen = Seen { state, depth, path: None };
                if self.check.expanded(seen, deadlock, &self.successors.faults()[faults..]) == Flow::Stop {
                    return Flow::Stop;
                }
                faults += new_faults;
            }
            self.facts.max_out_degree = self.facts.max_out_degree.max(count as u64);
            if with_origins {
                let source = self.sources.event(i);
                self.origins.extend((0..count as u32).map(|place| Origin { source, place }));
            }
        }
        Flow::Continue
    }

    /// Offers the successors to the store.
    pub fn offer(&mut self, store: &mut dyn Store) -> Result<(), Full> {
        self.found.clear();
        let all = 0..self.successors.len();
        if self.origins.is_empty() {
            store.offer(&self.successors, all, &mut self.found)
        } else {
            store.offer_from(&self.successors, all, &self.origins, &mut self.found)
        }
    }

    /// Takes the store's answers: counts transitions, shows new states, found at `depth`, to the check.
    ///
    /// `level_end` is the first number beyond the level being expanded.
    pub fn answered(&mut self, depth: u32, level_end: StateId) -> Flow {
        self.facts.transitions += self.found.len() as u64;
        self.facts.deadlocks += self.deadlocks;
        self.facts.faults += self.faults;
        let mut back = 0;
        for found in &self.found {
            back += (found.id < level_end) as u64;
            self.lowest_back = self.lowest_back.min(found.id);
        }
        *self.facts.back_level_edges.get_or_insert(0) += back;
        if self.wants_states { self.show(depth) } else { Flow::Continue }
    }

    /// Shows the new ones among `successors` to the check.
    pub fn show(&self, depth: u32) -> Flow {
        for (i, found) in self.found.iter().enumerate() {
            if found.new {
                let seen = Seen { state: self.successors.state(i), depth, path: None };
                if self.check.state(seen) == Flow::Stop {
                    return Flow::Stop;
                }
            }
        }
        Flow::Continue
    }

    /// Closes the level with these first numbers: how far back did its transitions lead?
    pub fn level_done(&mut self, levels: &[StateId]) {
        let depth = levels.len() - 2;
        if self.lowest_back < levels[depth + 1] {
            let target = levels.partition_point(|&first| first <= self.lowest_back) - 1;
            let longest = self.facts.longest_back_level_edge.get_or_insert(0);
            *longest = (*longest).max((depth - target) as u64);
        }
        self.lowest_back = StateId::MAX;
    }
}

/// Searches until everything is visited, the check is content, or a limit is reached.
pub fn search(
    model: &dyn Model,
    store: &mut dyn Store,
    check: &dyn Check,
    control: &Control,
    in_degrees: &mut InDegrees,
) -> Outcome {
    let mut worker = Worker::new(model, check);
    let mut levels: Vec<StateId> = vec![0];
    let batch = store.sources_at_once().unwrap_or(batch_size(model.state_bytes())) as StateId;
    let mut widest = 0;
    // The states from here to the last one found are open.
    let mut next: StateId = 0;
    worker.start();
    let ended = 'search: {
        if store.offer(&worker.successors, 0..worker.successors.len(), &mut worker.found).is_err() {
            break 'search Ended::Limit(Limit::Memory);
        }
        worker.facts.initial_states = store.len() as u64;
        levels.push(store.len() as StateId);
        widest = store.len() as u64;
        if worker.show(0) == Flow::Stop {
            break 'search Ended::Decided;
        }
        for tick in 0u64.. {
            let depth = levels.len() as u32 - 2;
            let level_end = levels[depth as usize + 1];
            if next == level_end {
                worker.level_done(&levels);
                let end = store.len() as StateId;
                if end == level_end {
                    break;
                }
                widest = widest.max((end - level_end) as u64);
                levels.push(end);
                continue;
            }
            if let Some(limit) = control.stopped(tick) {
                break 'search Ended::Limit(limit);
            }
            let sources = next..level_end.min(next + batch);
            if worker.expand(sources.clone(), store, depth) == Flow::Stop {
                break 'search Ended::Decided;
            }
            if worker.offer(store).is_err() {
                break 'search Ended::Limit(Limit::Memory);
            }
            next = sources.end;
            in_degrees.count(&worker.found, store.len());
            if worker.answered(depth + 1, level_end) == Flow::Stop {
                break 'search Ended::Decided;
            }
            control.states.store(store.len() as u64, Ordering::Relaxed);
            control.visits.store(next as u64, Ordering::Relaxed);
            control.transitions.store(worker.facts.transitions, Ordering::Relaxed);
            control.open.store(store.len() as u64 - next as u64, Ordering::Relaxed);
            control.depth.store(depth as u64, Ordering::Relaxed);
        }
        Ended::Complete
    };
    let facts = GraphFacts {
        states: store.len() as u64,
        depth: levels.len() as u32 - 1,
        widest,
        max_in_degree: in_degrees.most(),
        open: store.len() as u64 - next as u64,
        ..worker.facts
    };
    Outcome::of_plain(ended, facts, levels)
}
