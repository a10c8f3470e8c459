//! Depth first: one event at a time, so that only the states of the present path are open.
//!
//! A frame of the stack is a state's number and how many of its events are done. The successors of frames near the top
//! are kept; those further down are dropped when they become many and generated again on return, so memory grows by
//! a few bytes for a step of the path, not by its successors.

use crate::budget::{Budget, Control, Limit};
use crate::check::{Check, Flow, Seen};
use crate::engine::{Ended, Outcome};
use crate::graph::GraphFacts;
use crate::store::{Found, StateId, Store};
use scrimp_system::{Batch, Model};
use std::sync::atomic::Ordering;

/// Bytes of successor states kept before those of the frames further down are dropped.
const KEPT: usize = 1 << 20;
const DROPPED: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Frame {
    id: StateId,
    /// Where its successors start among those kept, or [`DROPPED`].
    first: u32,
    /// How many of them are done.
    done: u32,
    count: u32,
}

struct DepthFirst<'a> {
    model: &'a dyn Model,
    store: &'a mut dyn Store,
    check: &'a dyn Check,
    wants_states: bool,
    frames: Vec<Frame>,
    /// Initial states not yet begun.
    waiting: u64,
    kept: Batch,
    source: Batch,
    facts: GraphFacts,
}

pub fn search(
    model: &dyn Model,
    store: &mut dyn Store,
    check: &dyn Check,
    control: &Control,
    budget: &Budget,
) -> Outcome {
    let mut search = DepthFirst {
        model,
        store,
        check,
        wants_states: check.wants_states(),
        frames: Vec::new(),
        waiting: 0,
        kept: Batch::new(model.state_bytes()),
        source: Batch::new(model.state_bytes()),
        facts: GraphFacts::default(),
    };
    let ended = search.run(control, budget);
    let open = search.frames.len() as u64 + search.waiting;
    let facts = GraphFacts { states: search.store.len() as u64, open, ..search.facts };
    Outcome { ended, facts, levels: Vec::new() }
}

impl DepthFirst<'_> {
    fn run(&mut self, control: &Control, budget: &Budget) -> Ended {
        let mut initial = Batch::new(self.model.state_bytes());
        self.model.initial(&mut initial);
        let mut found = Vec::new();
        if self.store.offer(&initial, 0..initial.len(), &mut found).is_err() {
            return Ended::Limit(Limit::Memory);
        }
        self.facts.initial_states = self.store.len() as u64;
        let roots: Vec<(usize, StateId)> =
            found.iter().enumerate().filter(|(_, f)| f.new).map(|(i, f)| (i, f.id)).collect();
        for &(i, id) in &roots {
            let seen = Seen { state: initial.state(i), depth: 0, path: Some(&|| vec![id]) };
            if self.wants_states && self.check.state(seen) == Flow::Stop {
                self.waiting = roots.len() as u64;
                return Ended::Decided;
            }
        }
        self.waiting = roots.len() as u64;
        let mut tick = 0u64;
        for (_, id) in roots {
            self.waiting -= 1;
            self.push(id);
            if self.expand_top(true) == Flow::Stop {
                return Ended::Decided;
            }
            while !self.frames.is_empty() {
                tick += 1;
                if tick.is_multiple_of(64) {
                    if let Some(limit) = control.stopped(tick) {
                        return Ended::Limit(limit);
                    }
                    self.publish(control);
                }
                match self.step(&mut found, budget) {
                    Ok(Flow::Continue) => {}
                    Ok(Flow::Stop) => return Ended::Decided,
                    Err(limit) => return Ended::Limit(limit),
                }
            }
        }
        Ended::Complete
    }

    fn publish(&self, control: &Control) {
        control.states.store(self.store.len() as u64, Ordering::Relaxed);
        control.transitions.store(self.facts.transitions, Ordering::Relaxed);
        control.open.store(self.frames.len() as u64, Ordering::Relaxed);
        control.depth.store(self.frames.len() as u64, Ordering::Relaxed);
    }

    /// Runs one event of the state on top, or leaves that state when all are done.
    fn step(&mut self, found: &mut Vec<Found>, budget: &Budget) -> Result<Flow, Limit> {
        let Some(top) = self.frames.last().copied() else {
            return Ok(Flow::Continue);
        };
        if top.done == top.count {
            if top.first != DROPPED {
                self.kept.truncate(top.first as usize);
            }
            self.frames.pop();
            return Ok(Flow::Continue);
        }
        if top.first == DROPPED {
            self.expand_top(false);
        }
        if self.frames.len() == self.frames.capacity() {
            let more = (self.frames.len() / 8).max(1024);
            if !budget.may_take(more * size_of::<Frame>()) {
                return Err(Limit::Memory);
            }
            budget.take(more * size_of::<Frame>());
            self.frames.reserve_exact(more);
        }
        let depth = self.frames.len() - 1;
        let next = self.frames[depth].first as usize + self.frames[depth].done as usize;
        found.clear();
        if self.store.offer(&self.kept, next..next + 1, found).is_err() {
            return Err(Limit::Memory);
        }
        self.frames[depth].done += 1;
        self.facts.transitions += 1;
        if !found[0].new {
            return Ok(Flow::Continue);
        }
        self.push(found[0].id);
        if self.wants_states {
            let path = || self.path().collect();
            let seen = Seen { state: self.kept.state(next), depth: depth as u32 + 1, path: Some(&path) };
            if self.check.state(seen) == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(self.expand_top(true))
    }

    fn path(&self) -> impl Iterator<Item = StateId> {
        self.frames.iter().map(|f| f.id)
    }

    fn push(&mut self, id: StateId) {
        self.frames.push(Frame { id, first: DROPPED, done: 0, count: 0 });
        self.facts.depth = self.facts.depth.max(self.frames.len() as u32);
        self.facts.widest = self.facts.depth as u64;
    }

    /// Generates the successors of the state on top. The `first_time`, they are counted and the check sees the expansion.
    fn expand_top(&mut self, first_time: bool) -> Flow {
        if self.kept.len() * self.kept.stride() > KEPT {
            self.kept.clear();
            self.frames
                .iter_mut()
                .rev()
                .take_while(|f| f.first != DROPPED || f.count == 0)
                .for_each(|f| f.first = DROPPED);
        }
        let depth = self.frames.len() - 1;
        let id = self.frames[depth].id;
        self.source.clear();
        self.store.load(id, self.source.push_with(0));
        let first = self.kept.len();
        self.model.expand(self.source.state(0), &mut self.kept);
        let count = self.kept.len() - first;
        let frame = &mut self.frames[depth];
        frame.first = first as u32;
        frame.count = count as u32;
        if !first_time {
            self.kept.take_deadlock(count);
            self.kept.clear_faults();
            return Flow::Continue;
        }
        let deadlock = self.kept.take_deadlock(count);
        let faults = self.kept.faults();
        self.facts.faults += faults.len() as u64;
        self.facts.deadlocks += deadlock as u64;
        self.facts.max_out_degree = self.facts.max_out_degree.max(count as u64);
        let mut flow = Flow::Continue;
        if deadlock || !faults.is_empty() {
            let path = || self.path().collect();
            let seen = Seen { state: self.source.state(0), depth: depth as u32, path: Some(&path) };
            flow = self.check.expanded(seen, deadlock, faults);
            self.kept.clear_faults();
        }
        flow
    }
}
