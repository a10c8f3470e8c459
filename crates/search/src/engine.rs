//! The general loop: take open states, expand them, offer what comes out to the store, open what is new.
//!
//! It works on batches. Successors of several states are generated before the first is looked up, so that the store can
//! overlap its cache misses; an order never mixes depths in one batch, so depths stay exact.

use crate::budget::{Control, Limit};
use crate::check::{Check, Flow, Seen};
use crate::forget::Forget;
use crate::graph::{GraphFacts, InDegrees};
use crate::order::Order;
use crate::reduce::Reduce;
use crate::store::{Found, StateId, Store};
use scrimp_system::{Batch, Model};
use std::sync::atomic::Ordering;

/// States expanded before the store is asked about their successors: many, unless they are large.
pub fn batch_size(state_bytes: usize) -> usize {
    ((64 << 10) / state_bytes.max(1)).clamp(1, 128)
}

/// How a search came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Everything was visited.
    Complete,
    /// The check knows all that it wants to know.
    Decided,
    /// A limit was reached first.
    Limit(Limit),
}

/// What a search leaves behind beside the store.
#[derive(Debug)]
pub struct Outcome {
    pub ended: Ended,
    pub facts: GraphFacts,
    /// Breadth-first: the first number of each level begun, and of the one after the last.
    pub levels: Vec<StateId>,
}

/// The parts of a sequential search.
pub struct Parts<'a> {
    pub model: &'a dyn Model,
    pub store: &'a mut dyn Store,
    pub order: &'a mut dyn Order,
    pub forget: &'a mut dyn Forget,
    pub reduce: &'a mut dyn Reduce,
    pub check: &'a dyn Check,
    pub control: &'a Control,
    pub in_degrees: &'a mut InDegrees,
}

/// Buffers of one thread, and what it has counted; shared by the sequential and the parallel search.
pub struct Worker<'a> {
    model: &'a dyn Model,
    check: &'a dyn Check,
    wants_states: bool,
    sources: Batch,
    pub successors: Batch,
    /// Where the successors of each source end.
    ends: Vec<usize>,
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
            ends: Vec::new(),
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
    pub fn expand(&mut self, ids: &[StateId], store: &dyn Store, reduce: &mut dyn Reduce, depth: u32) -> Flow {
        self.sources.clear();
        self.successors.clear();
        self.ends.clear();
        for &id in ids {
            store.load(id, self.sources.push_with(0));
        }
        (self.deadlocks, self.faults) = (0, 0);
        let mut faults = 0;
        for i in 0..ids.len() {
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
            reduce.choose(state, &mut self.successors, first);
            self.facts.max_out_degree = self.facts.max_out_degree.max(count as u64);
            self.ends.push(self.successors.len());
        }
        Flow::Continue
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

    /// Each source's share of `found`.
    pub fn answers(&self) -> impl Iterator<Item = &[Found]> {
        (0..self.ends.len()).map(|i| &self.found[if i == 0 { 0 } else { self.ends[i - 1] }..self.ends[i]])
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

/// Searches with the given parts until everything is visited, the check is content, or a limit is reached.
pub fn search(parts: Parts) -> Outcome {
    let Parts { model, store, order, forget, reduce, check, control, in_degrees } = parts;
    let mut worker = Worker::new(model, check);
    let mut levels: Vec<StateId> = vec![0];
    let batch = batch_size(model.state_bytes());
    let mut ids = Vec::with_capacity(batch);
    let mut widest = 0;
    worker.start();
    let ended = 'search: {
        if store.offer(&worker.successors, 0..worker.successors.len(), &mut worker.found).is_err() {
            break 'search Ended::Limit(Limit::Memory);
        }
        open_new(&worker.found, order);
        worker.facts.initial_states = store.len() as u64;
        levels.push(store.len() as StateId);
        widest = store.len() as u64;
        if worker.show(0) == Flow::Stop {
            break 'search Ended::Decided;
        }
        let mut level_end = store.len() as StateId;
        for tick in 0u64.. {
            ids.clear();
            order.pop(batch, &mut ids);
            if ids.is_empty() {
                break;
            }
            let depth = order.depth();
            if depth as usize + 1 == levels.len() {
                if depth > 0 {
                    worker.level_done(&levels);
                }
                level_end = store.len() as StateId;
                widest = widest.max((ids.len() + order.len()) as u64);
                levels.push(level_end);
            }
            if let Some(limit) = control.stopped(tick) {
                ids.iter().for_each(|&id| order.push(id));
                break 'search Ended::Limit(limit);
            }
            if worker.expand(&ids, store, reduce, depth) == Flow::Stop {
                ids.iter().for_each(|&id| order.push(id));
                break 'search Ended::Decided;
            }
            worker.found.clear();
            if store.offer(&worker.successors, 0..worker.successors.len(), &mut worker.found).is_err() {
                ids.iter().for_each(|&id| order.push(id));
                break 'search Ended::Limit(Limit::Memory);
            }
            open_new(&worker.found, order);
            in_degrees.count(&worker.found, store.len());
            for (&id, found) in ids.iter().zip(worker.answers()) {
                forget.expanded(id, found);
            }
            if worker.answered(depth + 1, level_end) == Flow::Stop {
                break 'search Ended::Decided;
            }
            control.states.store(store.len() as u64, Ordering::Relaxed);
            control.transitions.store(worker.facts.transitions, Ordering::Relaxed);
            control.open.store(order.len() as u64, Ordering::Relaxed);
            control.depth.store(depth as u64, Ordering::Relaxed);
        }
        worker.level_done(&levels);
        Ended::Complete
    };
    let facts = GraphFacts {
        states: store.len() as u64,
        depth: levels.len() as u32 - 1,
        widest,
        max_in_degree: in_degrees.most(),
        open: order.len() as u64,
        ..worker.facts
    };
    Outcome { ended, facts, levels }
}

fn open_new(found: &[Found], order: &mut dyn Order) {
    for f in found {
        if f.new {
            order.push(f.id);
        }
    }
}
