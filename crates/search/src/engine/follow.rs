//! Following events: what each leads to is offered to the store, heard of by all parts, opened where it is new; then the
//! source is closed.

use super::{Frame, GONE, NO_EVENT, Parent, Part, Parts, Search, Step, Stop, Unmet, WAITING};
use crate::check::{Flow, Seen};
use crate::column::Column;
use crate::forget::Link;
use crate::order::Opening;
use crate::reduce::{Kept, Source};
use crate::store::{ARCHIVED, Found, StateId};
use scrimp_core::Limit;
use scrimp_system::EventCode;

impl Search<'_> {
    /// Runs the events of the sources from frame `group` on, all of them, or as many as the order's width allows.
    pub(super) fn run_events(&mut self, group: usize) -> Step {
        let bounded = self.parts.order.width() != usize::MAX;
        let singly = bounded || self.parts.forget.at_once(self.parts.store.len()) == 1;
        let start = self.frames[group].first as usize;
        let mut at = start + self.frames[group].done as usize;
        let mut frame = group;
        self.group = group;
        while at < self.kept.len() && self.parts.order.width() > 0 {
            let answered = self.offer(at..if singly { at + 1 } else { self.kept.len() })?;
            let found = std::mem::take(&mut self.found);
            let heard = self.hear(&found[..answered], at, &mut frame);
            self.found = found;
            heard?;
            at += answered;
        }
        while frame < self.frames.len() && self.frames[frame].done == self.frames[frame].count {
            self.close(frame)?;
            frame += 1;
        }
        if frame == self.frames.len() {
            self.frames.truncate(group);
            self.marks.truncate(group);
            self.kept.truncate(start);
            if !self.unmet.is_empty() && self.parts.share.is_none() {
                self.depths.clear();
                self.take_up_rest();
                return self.run_events(group);
            }
            if bounded {
                self.parts.order.finished();
            }
        }
        while let Some((id, promise)) = self.parts.forget.promotion() {
            self.parts.order.promote(id, promise);
        }
        Ok(())
    }

    /// Begins the sources again whose condition was not met, with what was left out of their events.
    pub(super) fn take_up_rest(&mut self) {
        for Unmet { id, round, depth } in std::mem::take(&mut self.unmet) {
            let first = self.kept.len();
            self.depths.push(depth);
            self.generate(id, first, Part::Rest, round);
            let count = self.kept.len() - first;
            self.frames.push(Frame { id, first: first as u32, done: 0, count: count as u32 });
            self.mark(Part::Rest, round);
        }
    }

    /// Depth of a source of the group that is being run.
    pub(super) fn depth_of(&self, frame: usize) -> u32 {
        self.depths.get(frame - self.group).copied().unwrap_or_else(|| self.parts.order.depth(0))
    }

    /// Comes the turn of a state that an event led to later than that of the source?
    pub(super) fn is_later(&self, found: Found) -> bool {
        let waits = |progress: &Column<u8>| found.id != ARCHIVED && progress[found.id] == WAITING;
        found.new || self.progress.as_ref().is_some_and(waits)
    }

    /// Takes the store's answers on successors from number `at` on, the first of them one of `frame`'s.
    fn hear(&mut self, found: &[Found], mut at: usize, frame: &mut usize) -> Step {
        let heeds_reached = self.parts.forget.heeds_reached();
        let mut rest = found;
        while !rest.is_empty() {
            while self.frames[*frame].done == self.frames[*frame].count {
                self.close(*frame)?;
                *frame += 1;
            }
            let source = &mut self.frames[*frame];
            let these = ((source.count - source.done) as usize).min(rest.len());
            source.done += these as u32;
            let source = source.id;
            let depth = self.depth_of(*frame) + 1;
            self.facts.transitions += these as u64;
            for (i, found) in rest[..these].iter().enumerate() {
                if self.marked(*frame).0 == Part::Proviso && self.is_later(*found) {
                    self.marks[*frame].0 = Part::Met;
                }
                if self.parts.sleeping.is_some() {
                    self.pass_sleep(*frame, at + i, *found, depth);
                }
                if found.new {
                    self.open(at + i, found.id, Parent::Here(source), depth)?;
                } else if heeds_reached && found.id != ARCHIVED {
                    let from = Some(source).filter(|&source| source != GONE);
                    self.parts.forget.reached(found.id, from, self.kept.event(at + i), self.parts.store);
                }
                if let Some(observer) = self.parts.observer {
                    observer.leads_to(found.id, self.kept.event(at + i));
                }
            }
            at += these;
            rest = &rest[these..];
        }
        self.facts.widest = self.facts.widest.max((self.parts.order.len() + self.frames.len()) as u64);
        Ok(())
    }

    /// Tells the state that a source led to which events sleep there; takes it up again if some woke up.
    fn pass_sleep(&mut self, frame: usize, at: usize, found: Found, depth: u32) {
        let Parts { model, sleeping, order, rank, .. } = &mut self.parts;
        let (Some(sleeping), Some(progress)) = (sleeping, &self.progress) else {
            return;
        };
        let Frame { id: source, first, .. } = self.frames[frame];
        let event = |i: usize| model.first_event(self.kept.event(i));
        let before: Vec<u32> = (first as usize..at).map(event).collect();
        let expanded = !found.new && progress[found.id] != WAITING;
        if sleeping.pass(source, &before, event(at), found, expanded) {
            let rank = rank.map_or(0, |rank| rank(self.kept.state(at), depth));
            order.push(Opening { id: found.id, depth, rank });
        }
    }

    /// All events of a source have been run.
    fn close(&mut self, frame: usize) -> Step {
        let id = self.frames[frame].id;
        let (part, round) = self.marked(frame);
        if part == Part::Proviso {
            let depth = self.depth_of(frame);
            self.unmet.push(Unmet { id, round, depth });
            return Ok(());
        }
        self.close_source(id, part)
    }

    /// A source that was begun with such a part of its events is done.
    pub(super) fn close_source(&mut self, id: StateId, part: Part) -> Step {
        if part == Part::Met && self.parts.forget.heeds_left_out() {
            self.load(id);
            self.tell_left_out(id);
        }
        if let Some(observer) = self.parts.observer {
            observer.expanded(id).map_err(|_| Stop::Limit(Limit::Memory))?;
        }
        if id != GONE {
            self.parts.forget.closed(id, self.parts.store);
        }
        Ok(())
    }

    /// A state, number `at` of those kept, was found and stored.
    pub(super) fn open(&mut self, at: usize, id: StateId, parent: Parent, depth: u32) -> Step {
        self.facts.states += 1;
        if self.parts.by_level {
            self.facts.count_on_level(depth);
        }
        let initial = matches!(parent, Parent::Initial);
        let event = (!initial).then(|| self.kept.event(at));
        let single = self.parts.forget.wants_chains() && self.is_single(at, event);
        if let Some(via) = &mut self.via {
            via[id] = event.unwrap_or(NO_EVENT);
        }
        if let Some(progress) = &mut self.progress {
            progress[id] = WAITING;
        }
        let state = self.kept.state(at);
        let rank = self.parts.rank.map_or(0, |rank| rank(state, depth));
        if let Some(observer) = self.parts.observer {
            observer.found(id, state, initial).map_err(|_| Stop::Limit(Limit::Memory))?;
        }
        let behind = !self.parts.order.push(Opening { id, depth, rank });
        let (from, tie) = match parent {
            Parent::Here(source) if source != GONE => (Some(source), None),
            Parent::Elsewhere(tie) => (None, tie),
            _ => (None, None),
        };
        let link = Link { id, state, initial, from, depth, behind, single, tie };
        self.parts.forget.opened(link, self.parts.store).map_err(|unsuited| Stop::Unsuited(unsuited.to_string()))?;
        if self.wants_states {
            let path = || self.path(id);
            let seen = Seen { state: self.kept.state(at), depth, path: Some(&path) };
            if self.parts.check.state(seen) == Flow::Stop {
                return Err(Stop::Decided);
            }
        }
        Ok(())
    }

    /// Has this state, number `at` of those kept and found by `via`, a single successor to explore?
    fn is_single(&mut self, at: usize, via: Option<EventCode>) -> bool {
        self.scratch.clear();
        self.parts.model.expand(self.kept.state(at), &mut self.scratch);
        self.scratch.take_deadlock(0);
        self.keep.clear();
        self.keep.resize(self.scratch.len(), true);
        let source = Source { model: self.parts.model, state: self.kept.state(at), via };
        // What is left out on condition may have to be explored all the same.
        match self.parts.reduce.choose(source, &self.scratch, 0, &mut self.keep) {
            Kept::Some => self.keep.iter().filter(|keep| **keep).count() == 1,
            Kept::All | Kept::Proviso => self.scratch.len() == 1,
        }
    }

    /// The states on the way to a state, as far as they are stored.
    pub(super) fn path(&self, id: StateId) -> Option<Vec<Vec<u8>>> {
        let Parts { store, forget, .. } = &self.parts;
        let mut path = store.ancestors(id).or_else(|| forget.ancestors(id))?;
        path.reverse();
        path.push(id);
        let load = |id| {
            let mut state = vec![0; self.parts.model.state_bytes()];
            store.load(id, &mut state);
            state
        };
        Some(path.into_iter().map(load).collect())
    }
}
