//! Depth-first search over a store without numbers: one path, one event at a time.
//!
//! The path is a stack of keys with the number of events done at each; successors of the sources near its end are kept, those
//! of sources further back are generated again on return. A reduction that leaves events out on condition gets what was
//! promised when one of the successors explored is not on the path: then it is explored, or was, before its source is left.

use crate::check::{Check, Flow, Seen};
use crate::open::KeyStack;
use crate::outcome::Ended;
use crate::reduce::{OnPath, Reduce, Source};
use crate::store::{NO_ORIGIN, Set};
use scrimp_core::{Budget, Control, GraphFacts, Limit};
use scrimp_system::{Batch, Model};
use std::io;
use std::sync::Arc;

/// Bytes of successor states kept before those of the sources further back are dropped.
const KEPT: usize = 1 << 20;

/// How far a search has come: what it has counted, and its path.
pub struct Path {
    pub facts: GraphFacts,
    pub stack: KeyStack,
    /// Initial states that were explored.
    pub roots: u64,
}

impl Path {
    pub fn new(key_bytes: usize, budget: &Arc<Budget>) -> io::Result<Path> {
        Ok(Path { facts: GraphFacts::default(), stack: KeyStack::new(key_bytes, budget)?, roots: 0 })
    }
}

pub struct Deep<'a> {
    model: &'a dyn Model,
    check: &'a dyn Check,
    control: &'a Control,
    wants_states: bool,
    /// Successors of the sources at the end of the path, and where those of each begin.
    kept: Batch,
    firsts: Vec<u32>,
    source: Batch,
    one: Batch,
    new: Vec<u32>,
    key: Vec<u8>,
    reduction: Option<OnPath<'a>>,
}

impl<'a> Deep<'a> {
    pub fn new(
        model: &'a dyn Model,
        check: &'a dyn Check,
        control: &'a Control,
        reduce: Option<Box<dyn Reduce>>,
        budget: &'a Budget,
    ) -> Deep<'a> {
        let bytes = model.state_bytes();
        Deep {
            model,
            check,
            control,
            wants_states: check.wants_states(),
            kept: Batch::new(bytes),
            firsts: Vec::new(),
            source: Batch::new(bytes),
            one: Batch::new(bytes),
            new: Vec::new(),
            key: Vec::new(),
            reduction: reduce.map(|reduce| OnPath::new(reduce, bytes, budget)),
        }
    }

    /// Searches, or goes on from `path`, until everything is visited, the check is content, or a limit is reached.
    pub fn search(&mut self, set: &mut dyn Set, path: &mut Path) -> Ended {
        let mut initial = Batch::new(self.model.state_bytes());
        self.model.initial(&mut initial);
        self.firsts.clear();
        self.kept.clear();
        loop {
            if let Err(ended) = self.follow(set, path) {
                return ended;
            }
            if path.roots == initial.len() as u64 {
                return Ended::Complete;
            }
            self.one.clear();
            self.one.push(initial.state(path.roots as usize), 0);
            if let Err(ended) = self.open(set, path) {
                return ended;
            }
            path.roots += 1;
        }
    }

    /// Explores all that can be reached from the end of the path.
    fn follow(&mut self, set: &mut dyn Set, path: &mut Path) -> Result<(), Ended> {
        for tick in 0u64.. {
            if path.stack.is_empty() {
                break;
            }
            if tick % 64 == 0 {
                self.publish(set, path);
                if let Some(limit) = self.control.stopped(0) {
                    return Err(Ended::Limit(limit));
                }
                if self.control.pause_due(0) {
                    return Err(Ended::Paused);
                }
            }
            if self.firsts.is_empty() {
                self.expand(set, path, false)?;
            }
            let first = *self.firsts.last().expect("the end of the path was expanded");
            let next = first as usize + path.stack.count() as usize;
            // A path that comes from a file may say that more events were done than there are.
            if next >= self.kept.len() {
                if self.expand_fully(set, path) {
                    continue;
                }
                path.stack.pop();
                self.reduction.iter_mut().for_each(OnPath::pop);
                let first = self.firsts.pop().unwrap_or(0);
                self.kept.truncate(first as usize);
                continue;
            }
            self.one.clear();
            self.one.push(self.kept.state(next), self.kept.event(next));
            self.open(set, path)?;
        }
        Ok(())
    }

    /// Stores the state in `one`, found from the end of the path. If it is new, it becomes the end and is expanded.
    fn open(&mut self, set: &mut dyn Set, path: &mut Path) -> Result<(), Ended> {
        let depth = path.stack.len() as u32;
        path.stack.prepare().map_err(|_| Ended::Limit(Limit::Memory))?;
        self.new.clear();
        self.key.clear();
        let mut stored = set.insert(&self.one, &[NO_ORIGIN], &mut self.new, &mut self.key);
        if stored.is_err() {
            stored = set.make_room(1);
            stored = stored.and_then(|()| set.insert(&self.one, &[NO_ORIGIN], &mut self.new, &mut self.key));
        }
        stored.map_err(|_| Ended::Limit(Limit::Memory))?;
        let new = !self.new.is_empty();
        if depth > 0 {
            path.facts.transitions += 1;
            path.stack.set_count(path.stack.count() + 1);
        } else {
            path.facts.initial_states += new as u64;
        }
        if let Some(reduction) = &mut self.reduction {
            reduction.found(self.one.state(0), new);
        }
        if !new {
            return Ok(());
        }
        path.stack.push(&self.key);
        if let Some(reduction) = &mut self.reduction {
            reduction.push(self.one.state(0)).map_err(|_| Ended::Limit(Limit::Memory))?;
        }
        path.facts.widest = path.facts.widest.max(path.stack.len());
        path.facts.depth = path.facts.depth.max(path.stack.len() as u32);
        let seen = Seen { state: self.one.state(0), depth, path: None };
        if self.wants_states && self.check.state(seen) == Flow::Stop {
            return Err(Ended::Decided);
        }
        self.expand(set, path, true)
    }

    /// Generates the successors of the end of the path; when that is for the first time, the check is shown what became
    /// of them.
    fn expand(&mut self, set: &mut dyn Set, path: &mut Path, first_time: bool) -> Result<(), Ended> {
        if self.kept.len() * self.kept.stride() > KEPT {
            self.kept.clear();
            self.firsts.clear();
        }
        let first = self.kept.len();
        self.source.clear();
        set.load(path.stack.key(), &mut self.source);
        self.model.expand(self.source.state(0), &mut self.kept);
        let count = self.kept.len() - first;
        let deadlock = self.kept.take_deadlock(count);
        let faults = self.kept.faults();
        if first_time {
            path.facts.deadlocks += deadlock as u64;
            path.facts.faults += faults.len() as u64;
            path.facts.max_out_degree = path.facts.max_out_degree.max(count as u64);
            let depth = path.stack.len() as u32 - 1;
            if deadlock || !faults.is_empty() {
                let seen = Seen { state: self.source.state(0), depth, path: None };
                if self.check.expanded(seen, deadlock, faults) == Flow::Stop {
                    return Err(Ended::Decided);
                }
            }
        }
        if let Some(reduction) = &mut self.reduction {
            let source = Source { model: self.model, state: self.source.state(0), via: None };
            reduction.choose(source, &mut self.kept, first, first_time);
        }
        self.kept.clear_faults();
        self.firsts.push(first as u32);
        Ok(())
    }

    /// All that was to be explored at the end of the path is. Takes up what was left out, if no successor leads off the
    /// path; false when there is nothing to take up.
    fn expand_fully(&mut self, set: &mut dyn Set, path: &Path) -> bool {
        let Some(reduction) = &mut self.reduction else {
            return false;
        };
        if !reduction.expand_fully() {
            return false;
        }
        let first = self.firsts.last().map_or(0, |&first| first as usize);
        self.kept.truncate(first);
        self.source.clear();
        set.load(path.stack.key(), &mut self.source);
        self.model.expand(self.source.state(0), &mut self.kept);
        self.kept.take_deadlock(0);
        let source = Source { model: self.model, state: self.source.state(0), via: None };
        reduction.choose(source, &mut self.kept, first, false);
        self.kept.clear_faults();
        true
    }

    fn publish(&self, set: &dyn Set, path: &Path) {
        self.control.show_path(set.len(), path.facts.transitions, path.stack.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Nothing;
    use crate::store::Whole;
    use std::time::Duration;

    /// Counts up to nine, by one or by two.
    struct Steps;

    impl Model for Steps {
        fn state_bytes(&self) -> usize {
            1
        }

        fn initial(&self, out: &mut Batch) {
            out.push(&[0], 0);
        }

        fn expand(&self, state: &[u8], out: &mut Batch) {
            (1..=2).filter(|step| state[0] + step < 10).for_each(|step| out.push(&[state[0] + step], 0));
        }
    }

    #[test]
    fn a_path_with_more_events_done_than_there_are_is_left() {
        let budget = Arc::new(Budget::new(usize::MAX / 4));
        for done in [0, 2, 3, u32::MAX] {
            let mut set = Whole::new(1, budget.clone()).unwrap();
            let mut path = Path::new(1, &budget).unwrap();
            let stopped = Control::new(Some(Duration::ZERO));
            let ended = Deep::new(&Steps, &Nothing, &stopped, None, &budget).search(&mut set, &mut path);
            assert_eq!((ended, path.stack.len()), (Ended::Limit(Limit::Time), 1));
            path.stack.set_count(done);
            path.roots = 1;
            let control = Control::new(None);
            let ended = Deep::new(&Steps, &Nothing, &control, None, &budget).search(&mut set, &mut path);
            assert_eq!((ended, set.len()), (Ended::Complete, if done == 0 { 10 } else { 1 }));
        }
    }
}
