//! Expanding: which events sources are begun with, and their successors, kept as long as they are near.

use super::{BEGUN, DROPPED, Frame, GONE, KEPT, NO_EVENT, Part, Search, Step, Stop};
use crate::check::{Flow, Seen};
use crate::reduce::{Kept, Round, Source};
use crate::store::{Origin, StateId};
use scrimp_core::Limit;

impl Search<'_> {
    /// Generates the successors of states chosen for the first time, and shows their expansion to the check.
    pub(super) fn expand(&mut self, ids: &[StateId]) -> Step {
        self.drop_far_successors();
        let in_one_go = self.parts.order.width() == usize::MAX;
        self.depths.clear();
        for (place, &id) in ids.iter().enumerate() {
            let depth = self.parts.order.depth(place);
            self.depths.push(depth);
            self.facts.depth = self.facts.depth.max(depth + 1);
            let first = self.kept.len();
            self.load(id);
            self.parts.model.expand(self.state.state(0), &mut self.kept);
            let round = self.parts.sleeping.as_mut().map_or(Round::First(0), |sleeping| sleeping.begin(id));
            let enabled = self.kept.len() - first;
            let deadlock = self.kept.take_deadlock(enabled) && matches!(round, Round::First(_));
            if matches!(round, Round::Again(_)) {
                self.kept.clear_faults();
            }
            let faults = self.kept.faults();
            self.facts.deadlocks += deadlock as u64;
            self.facts.faults += faults.len() as u64;
            self.facts.max_out_degree = self.facts.max_out_degree.max(enabled as u64);
            self.visits += 1;
            if deadlock || !faults.is_empty() {
                let path = || self.path(id);
                let seen = Seen { state: self.state.state(0), depth, path: Some(&path) };
                if self.parts.check.expanded(seen, deadlock, faults) == Flow::Stop {
                    return Err(Stop::Decided);
                }
            }
            let mut part = self.choose(id, first, Part::Whole, round);
            let leaves_out = part == Part::Whole && self.kept.len() - first < enabled;
            let mut count = self.kept.len() - first;
            let dropped = self.parts.forget.expanding(id, count, in_one_go, self.parts.store);
            if dropped && part == Part::Proviso {
                // It cannot be taken up again.
                self.kept.truncate(first);
                self.parts.model.expand(self.state.state(0), &mut self.kept);
                self.kept.take_deadlock(0);
                (part, count) = (Part::Whole, self.kept.len() - first);
            }
            self.kept.clear_faults();
            if leaves_out && self.parts.forget.heeds_left_out() {
                self.tell_left_out(id);
            }
            if let Some(progress) = &mut self.progress {
                progress[id] = BEGUN;
            }
            let id = if dropped { GONE } else { id };
            self.frames.push(Frame { id, first: first as u32, done: 0, count: count as u32 });
            self.mark(part, round);
            if !in_one_go {
                self.parts.store.prefetch(&self.kept, first..first + count);
            }
        }
        self.reserve_frames()
    }

    /// Takes away the successors of the state that was loaded, from `first` on, that need not be explored or, where the
    /// rest is wanted, those that were explored already.
    fn choose(&mut self, id: StateId, first: usize, wanted: Part, round: Round) -> Part {
        let via = self.via.as_ref().map(|via| via[id]).filter(|&event| event != NO_EVENT);
        if let Some(origins) = &mut self.origins {
            origins.truncate(first);
            origins.extend((first..self.kept.len()).map(|i| Origin { source: id, place: (i - first) as u32 }));
        }
        self.keep.clear();
        self.keep.resize(self.kept.len() - first, true);
        let source = Source { model: self.parts.model, state: self.state.state(0), via };
        let decided = self.parts.reduce.choose(source, &self.kept, first, &mut self.keep);
        if wanted == Part::Rest && decided != Kept::All {
            self.keep.iter_mut().for_each(|keep| *keep = !*keep);
            if self.parts.forget.wants_distinct() {
                self.leave_out_reached(first);
            }
        }
        if let Some(sleeping) = &self.parts.sleeping {
            let again = matches!(round, Round::Again(_));
            for (keep, i) in self.keep.iter_mut().zip(first..) {
                let event = self.parts.model.first_event(self.kept.event(i));
                // What has woken up is explored, whatever suffices now.
                *keep = (*keep || again) && sleeping.explores(round, event);
            }
        }
        if decided != Kept::All || self.parts.sleeping.is_some() {
            let mut keep = self.keep.iter();
            self.kept.retain_from(first, |_| keep.next().copied().unwrap_or(true));
            if let Some(origins) = &mut self.origins {
                let mut keep = self.keep.iter();
                let mut place = 0;
                origins.retain(|_| {
                    place += 1;
                    place <= first || keep.next().copied().unwrap_or(true)
                });
            }
        }
        if self.parts.forget.wants_distinct() {
            let before = self.kept.len();
            self.kept.distinct_from(first);
            self.facts.transitions += (before - self.kept.len()) as u64;
        }
        match decided {
            _ if wanted == Part::Rest => Part::Rest,
            _ if matches!(round, Round::Again(_)) => Part::Whole,
            Kept::Proviso => Part::Proviso,
            Kept::All | Kept::Some => Part::Whole,
        }
    }

    /// Of the successors from `first` on that are kept now, leaves out those that others, which were explored before, led to already.
    fn leave_out_reached(&mut self, first: usize) {
        let count = self.keep.len();
        let explored: Vec<usize> = (0..count).filter(|&i| !self.keep[i]).collect();
        for i in (0..count).filter(|i| explored.binary_search(i).is_err()) {
            if explored.iter().any(|&k| self.kept.state(first + k) == self.kept.state(first + i)) {
                self.keep[i] = false;
                self.facts.transitions += 1;
            }
        }
    }

    /// Tells the forgetter of the stored states to which the events lead that are left out of the state that was loaded.
    pub(super) fn tell_left_out(&mut self, id: StateId) {
        self.scratch.clear();
        self.parts.model.expand(self.state.state(0), &mut self.scratch);
        self.scratch.take_deadlock(0);
        self.scratch.clear_faults();
        self.keep.clear();
        self.keep.resize(self.scratch.len(), true);
        let via = self.via.as_ref().map(|via| via[id]).filter(|&event| event != NO_EVENT);
        let source = Source { model: self.parts.model, state: self.state.state(0), via };
        self.parts.reduce.choose(source, &self.scratch, 0, &mut self.keep);
        for i in (0..self.scratch.len()).filter(|&i| !self.keep[i]) {
            // A predecessor leads to a state once, whichever of its events do.
            let told = |&k: &usize| (self.keep[k] || k < i) && self.scratch.state(k) == self.scratch.state(i);
            if (0..self.scratch.len()).any(|k| told(&k)) {
                continue;
            }
            let elsewhere = self.parts.share.and_then(|share| share.elsewhere(self.scratch.state(i)));
            if let (Some(to), Some(mail)) = (elsewhere, &mut self.mail) {
                mail.send_left_out(to, self.scratch.state(i));
            } else if let Some(found) = self.parts.store.find(&self.scratch, i) {
                self.parts.forget.reached(found, None, self.scratch.event(i), self.parts.store);
            }
        }
    }

    /// Generates the successors of the source on top once more.
    pub(super) fn expand_again(&mut self) {
        self.drop_far_successors();
        let top = self.frames.len() - 1;
        let (id, first, transitions) = (self.frames[top].id, self.kept.len(), self.facts.transitions);
        let (part, round) = self.marked(top);
        self.generate(id, first, part, round);
        self.facts.transitions = transitions;
        // What comes from a file may say that there are more than there are.
        let count = (self.kept.len() - first) as u32;
        let done = self.frames[top].done.min(count);
        self.frames[top] = Frame { id, first: first as u32, done, count };
    }

    /// Generates those successors once more that are wanted.
    pub(super) fn generate(&mut self, id: StateId, first: usize, wanted: Part, round: Round) {
        self.load(id);
        self.parts.model.expand(self.state.state(0), &mut self.kept);
        self.kept.take_deadlock(0);
        self.choose(id, first, wanted, round);
        self.kept.clear_faults();
    }

    /// Remembers what the source begun last was begun with.
    pub(super) fn mark(&mut self, part: Part, round: Round) {
        if self.progress.is_some() {
            self.marks.push((part, round));
        }
    }

    pub(super) fn marked(&self, frame: usize) -> (Part, Round) {
        self.marks.get(frame).copied().unwrap_or((Part::Whole, Round::First(0)))
    }

    pub(super) fn load(&mut self, id: StateId) {
        self.state.clear();
        self.parts.store.load(id, self.state.push_with(0));
    }

    fn drop_far_successors(&mut self) {
        if self.kept.len() * self.kept.stride() > KEPT {
            self.kept.clear();
            self.frames.iter_mut().rev().take_while(|f| f.first != DROPPED).for_each(|f| f.first = DROPPED);
        }
    }

    /// Sources that wait take memory, however little.
    fn reserve_frames(&mut self) -> Step {
        if self.frames.len() + 256 > self.frames.capacity() {
            let more = (self.frames.len() / 8).max(1024);
            let bytes = more * size_of::<Frame>();
            // What was held back is for them.
            self.parts.budget.hold(0);
            if !self.parts.budget.may_take(bytes) {
                return Err(Stop::Limit(Limit::Memory));
            }
            self.parts.budget.take(bytes);
            self.frames.reserve_exact(more);
            self.hold_back();
        }
        Ok(())
    }
}
