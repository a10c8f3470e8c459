//! The general state exploring algorithm: choose an open state, run its events, open what is new, close it.
//!
//! One loop serves every order and every forgetter. An order that bounds its levels gets one event at a time: a source that
//! must wait keeps its place, and the successors of the sources begun last are kept with it; those of sources further back
//! are generated again on return. Other orders get whole batches of sources, so that the store can overlap its cache
//! misses. Where the store may not grow, states are offered one at a time, and one goes for each that comes.
//!
//! A reduction may leave events out on condition that one of the others leads to a state whose own turn comes later: one
//! that was not begun. Where none does, the source is taken up again for the rest of its events before it is closed.

use crate::budget::{Budget, Control, Limit};
use crate::check::{Check, Flow, Seen};
use crate::column::Column;
use crate::condensed::Observer;
use crate::forget::{Forget, ForgetFacts, Link};
use crate::graph::GraphFacts;
use crate::order::{Next, Opening, Order};
use crate::outcome::{Ended, Outcome, batch_size};
use crate::reduce::{Kept, Reduce, Round, Sleeping, Source};
use crate::store::{Found, Origin, StateId, Store};
use scrimp_system::{Batch, EventCode, Model};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes of successor states kept before those of the sources further back are dropped.
const KEPT: usize = 1 << 20;
const DROPPED: u32 = u32::MAX;
const NO_EVENT: EventCode = EventCode::MAX;
/// A source that is no longer stored.
const GONE: StateId = StateId::MAX;

/// Where a state stands by a measure or a heuristic, from its bytes and its depth: lowest first.
pub type Rank<'a> = dyn Fn(&[u8], u32) -> u128 + 'a;

/// The parts of a search.
pub struct Parts<'a> {
    pub model: &'a dyn Model,
    pub store: &'a mut dyn Store,
    pub order: &'a mut dyn Order,
    pub forget: &'a mut dyn Forget,
    pub reduce: &'a mut dyn Reduce,
    /// The events that sleep at each state, if any may.
    pub sleeping: Option<Sleeping>,
    pub check: &'a dyn Check,
    pub control: &'a Control,
    pub budget: &'a Arc<Budget>,
    /// Where a state stands, for orders that ask: by its bytes and its depth.
    pub rank: Option<&'a Rank<'a>>,
    /// The most states to expand.
    pub most_visits: u64,
    /// Is told whenever the sweep-line has moved.
    pub front: Option<&'a dyn Fn(Front)>,
    /// Is told of everything found, where the order expands states in one go.
    pub observer: Option<&'a dyn Observer>,
    /// The order goes level by level: where no state is found twice, those of each level are counted.
    pub by_level: bool,
}

/// The sweep-line where it stood, and what was stored just before it moved on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Front {
    pub sweep: u64,
    pub progress: u128,
    pub stored: u64,
    pub open: u64,
    pub persistent: u64,
    pub visits: u64,
}

/// A source that was begun.
#[derive(Debug, Clone, Copy)]
struct Frame {
    id: StateId,
    /// Where its successors start among those kept, or [`DROPPED`].
    first: u32,
    /// How many of them are done.
    done: u32,
    count: u32,
}

/// Which of its events a source is begun with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All that are to be explored.
    Whole,
    /// Those that were chosen, on a condition that is not met yet.
    Provided,
    /// Those that were left out at first.
    Rest,
}

/// How far a state has come, where a reduction needs to know.
const WAITING: u8 = 0;
const BEGUN: u8 = 1;

struct Search<'a> {
    parts: Parts<'a>,
    wants_states: bool,
    frames: Vec<Frame>,
    /// What each of them was begun with, where a reduction needs to know.
    marks: Vec<(Part, Round)>,
    kept: Batch,
    /// Where each of those comes from, if the store wants to know.
    origins: Option<Vec<Origin>>,
    /// A state, and its successors, only to be looked at.
    state: Batch,
    scratch: Batch,
    found: Vec<Found>,
    /// The event that led to each state, where the reduction asks for it.
    via: Option<Column<u32>>,
    /// How far each state has come, where the reduction may ask for that.
    progress: Option<Column<u8>>,
    keep: Vec<bool>,
    /// Sources of a group that are done with what was chosen and must be taken up again for the rest.
    unmet: Vec<(StateId, Round)>,
    facts: GraphFacts,
    visits: u64,
    stored_peak: u64,
    /// Bytes of the order that the budget knows of.
    order_bytes: usize,
    /// Memory for several states at once was refused: they come one at a time.
    pressed: bool,
    /// The most states to store, since memory for one more was refused. It is not asked for again: that takes long.
    most: usize,
}

/// Why a search ends early.
enum Stop {
    Decided,
    Limit(Limit),
    Unsuited(String),
}

type Step<T = ()> = Result<T, Stop>;

/// Searches with the given parts until everything is visited, the check is content, or a limit is reached.
pub fn search(parts: Parts) -> io::Result<Outcome> {
    let via = parts.reduce.wants_events().then(|| Column::new(parts.budget)).transpose()?;
    let history = parts.reduce.wants_history() || parts.sleeping.is_some();
    let progress = history.then(|| Column::new(parts.budget)).transpose()?;
    let bytes = parts.model.state_bytes();
    let mut search = Search {
        wants_states: parts.check.wants_states(),
        frames: Vec::new(),
        marks: Vec::new(),
        kept: Batch::new(bytes),
        origins: parts.store.wants_origins().then(Vec::new),
        state: Batch::new(bytes),
        scratch: Batch::new(bytes),
        found: Vec::new(),
        via,
        progress,
        keep: Vec::new(),
        unmet: Vec::new(),
        facts: GraphFacts::default(),
        visits: 0,
        stored_peak: 0,
        order_bytes: 0,
        pressed: false,
        most: usize::MAX,
        parts,
    };
    let ended = match search.run() {
        Ok(()) => Ended::Complete,
        Err(Stop::Decided) => Ended::Decided,
        Err(Stop::Limit(limit)) => Ended::Limit(limit),
        Err(Stop::Unsuited(reason)) => Ended::Unsuited(reason),
    };
    search.publish();
    let Search { parts, frames, mut facts, visits, stored_peak, order_bytes, .. } = search;
    if facts.level_sizes.iter().sum::<u64>() != facts.states || !parts.forget.once() {
        // States were given up and found again, on another level perhaps, or there are too many levels.
        facts.level_sizes.clear();
    }
    parts.budget.give_back(order_bytes);
    // Where a limit was met in the midst of several sources, some of them are done.
    let begun = frames.iter().filter(|frame| frame.done < frame.count).count();
    let open = (parts.order.len() + begun) as u64;
    Ok(Outcome {
        ended,
        facts: GraphFacts { open, ..facts },
        levels: Vec::new(),
        visits,
        once: parts.forget.once(),
        by_level: false,
        forget: ForgetFacts { stored_peak, replays: parts.store.replays(), ..parts.forget.facts() },
        beside_bytes: parts.forget.bytes() + parts.order.bytes(),
        expected: None,
        omission: None,
    })
}

impl Search<'_> {
    fn run(&mut self) -> Step {
        self.begin()?;
        let mut ids = Vec::new();
        let most = self.parts.store.sources_at_once().unwrap_or(batch_size(self.parts.model.state_bytes()));
        let mut sweep = 1;
        for tick in 0u64.. {
            if tick % 1024 == 0 {
                self.account();
            }
            if tick % 16 == 0 {
                self.publish();
                if let Some(limit) = self.parts.control.stopped(tick / 16) {
                    return Err(Stop::Limit(limit));
                }
            }
            if self.visits >= self.parts.most_visits && !(self.parts.order.is_empty() && self.frames.is_empty()) {
                return Err(Stop::Limit(Limit::Visits));
            }
            ids.clear();
            let left = (self.parts.most_visits - self.visits).min(most as u64) as usize;
            let batch = self.parts.forget.at_once(self.parts.store.len()).min(left);
            match self.parts.order.next(batch, &mut ids) {
                Next::Done => {
                    self.show_front(sweep);
                    return Ok(());
                }
                Next::Advance { again } => self.advance(&mut sweep, again),
                Next::Resume => {
                    if self.frames.last().is_some_and(|f| f.first == DROPPED) {
                        self.expand_again();
                    }
                    self.run_events(self.frames.len() - 1)?;
                }
                Next::Expand => {
                    let first = self.frames.len();
                    self.expand(&ids)?;
                    self.run_events(first)?;
                }
            }
        }
        Ok(())
    }

    /// Tells the budget what the order holds by now. It grows without asking, but little by little; what others have taken
    /// and not used yet must not hide it.
    fn account(&mut self) {
        let Parts { order, budget, .. } = &self.parts;
        let bytes = order.bytes();
        budget.give_back(std::mem::replace(&mut self.order_bytes, bytes));
        budget.take(bytes);
    }

    fn publish(&self) {
        let Parts { control, store, order, .. } = &self.parts;
        control.states.store(store.len() as u64, Ordering::Relaxed);
        control.transitions.store(self.facts.transitions, Ordering::Relaxed);
        control.visits.store(self.visits, Ordering::Relaxed);
        control.open.store((order.len() + self.frames.len()) as u64, Ordering::Relaxed);
        control.depth.store(self.facts.depth as u64, Ordering::Relaxed);
    }

    /// Opens the initial states.
    fn begin(&mut self) -> Step {
        let mut initial = Batch::new(self.parts.model.state_bytes());
        self.parts.model.initial(&mut initial);
        std::mem::swap(&mut self.kept, &mut initial);
        for at in 0..self.kept.len() {
            self.offer(at..at + 1)?;
            if self.found[0].new {
                self.open(at, self.found[0].id, None, 0)?;
            }
        }
        self.facts.initial_states = self.parts.store.len() as u64;
        self.kept.clear();
        Ok(())
    }

    fn advance(&mut self, sweep: &mut u64, again: bool) {
        self.show_front(*sweep);
        *sweep += again as u64;
        self.parts.forget.advanced(self.parts.store, again);
    }

    fn show_front(&self, sweep: u64) {
        let Parts { store, forget, order, front, .. } = &self.parts;
        if let (Some(front), Some(progress)) = (front, order.line()) {
            let (stored, open) = (store.len() as u64, order.len() as u64);
            let persistent = forget.facts().persistent;
            front(Front { sweep, progress, stored, open, persistent, visits: self.visits });
        }
    }

    /// Generates the successors of states chosen for the first time, and shows their expansion to the check.
    fn expand(&mut self, ids: &[StateId]) -> Step {
        self.drop_far_successors();
        let in_one_go = self.parts.order.width() == usize::MAX;
        // All states handed out together have the same depth.
        let depth = ids.first().map_or(0, |&id| self.parts.order.depth(id));
        self.facts.depth = self.facts.depth.max(depth + 1);
        for &id in ids {
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
            let mut count = self.kept.len() - first;
            let dropped = self.parts.forget.expanding(id, count, in_one_go, self.parts.store);
            if dropped && part == Part::Provided {
                // It cannot be taken up again.
                self.kept.truncate(first);
                self.parts.model.expand(self.state.state(0), &mut self.kept);
                self.kept.take_deadlock(0);
                (part, count) = (Part::Whole, self.kept.len() - first);
            }
            self.kept.clear_faults();
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
            Kept::Provided => Part::Provided,
            Kept::All | Kept::Some => Part::Whole,
        }
    }

    /// Generates the successors of the source on top once more.
    fn expand_again(&mut self) {
        self.drop_far_successors();
        let top = self.frames.len() - 1;
        let (id, first, transitions) = (self.frames[top].id, self.kept.len(), self.facts.transitions);
        let (part, round) = self.marked(top);
        self.generate(id, first, part, round);
        self.facts.transitions = transitions;
        self.frames[top].first = first as u32;
    }

    /// Generates those successors once more that are wanted.
    fn generate(&mut self, id: StateId, first: usize, wanted: Part, round: Round) {
        self.load(id);
        self.parts.model.expand(self.state.state(0), &mut self.kept);
        self.kept.take_deadlock(0);
        self.choose(id, first, wanted, round);
        self.kept.clear_faults();
    }

    /// Remembers what the source begun last was begun with.
    fn mark(&mut self, part: Part, round: Round) {
        if self.progress.is_some() {
            self.marks.push((part, round));
        }
    }

    fn marked(&self, frame: usize) -> (Part, Round) {
        self.marks.get(frame).copied().unwrap_or((Part::Whole, Round::First(0)))
    }

    fn load(&mut self, id: StateId) {
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
            if !self.parts.budget.may_take(more * size_of::<Frame>()) {
                return Err(Stop::Limit(Limit::Memory));
            }
            self.parts.budget.take(more * size_of::<Frame>());
            self.frames.reserve_exact(more);
        }
        Ok(())
    }

    /// Runs the events of the sources from frame `group` on, all of them, or as many as the order's width allows.
    fn run_events(&mut self, group: usize) -> Step {
        let bounded = self.parts.order.width() != usize::MAX;
        let singly = bounded || self.parts.forget.at_once(self.parts.store.len()) == 1;
        let start = self.frames[group].first as usize;
        let mut at = start + self.frames[group].done as usize;
        let mut frame = group;
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
            if !self.unmet.is_empty() {
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
    fn take_up_rest(&mut self) {
        for (id, round) in std::mem::take(&mut self.unmet) {
            let first = self.kept.len();
            self.generate(id, first, Part::Rest, round);
            let count = self.kept.len() - first;
            self.frames.push(Frame { id, first: first as u32, done: 0, count: count as u32 });
            self.mark(Part::Rest, round);
        }
    }

    /// Comes the turn of a state that an event led to later than that of the source?
    fn is_later(&self, found: Found) -> bool {
        found.new || self.progress.as_ref().is_some_and(|progress| progress[found.id] == WAITING)
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
            let depth = self.parts.order.depth(source) + 1;
            self.facts.transitions += these as u64;
            for (i, found) in rest[..these].iter().enumerate() {
                if self.marked(*frame).0 == Part::Provided && self.is_later(*found) {
                    self.marks[*frame].0 = Part::Whole;
                }
                if self.parts.sleeping.is_some() {
                    self.pass_sleep(*frame, at + i, *found, depth);
                }
                if found.new {
                    self.open(at + i, found.id, Some(source), depth)?;
                } else if heeds_reached {
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
        if part == Part::Provided {
            self.unmet.push((id, round));
            return Ok(());
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
    fn open(&mut self, at: usize, id: StateId, source: Option<StateId>, depth: u32) -> Step {
        self.facts.states += 1;
        if self.parts.by_level {
            self.facts.count_on_level(depth);
        }
        let single = self.parts.forget.wants_chains() && self.is_single(at);
        if let Some(via) = &mut self.via {
            via[id] = if source.is_some() { self.kept.event(at) } else { NO_EVENT };
        }
        if let Some(progress) = &mut self.progress {
            progress[id] = WAITING;
        }
        let state = self.kept.state(at);
        let rank = self.parts.rank.map_or(0, |rank| rank(state, depth));
        if let Some(observer) = self.parts.observer {
            observer.found(id, state, source.is_none()).map_err(|_| Stop::Limit(Limit::Memory))?;
        }
        let behind = !self.parts.order.push(Opening { id, depth, rank });
        let from = source.filter(|&source| source != GONE);
        let link = Link { id, state, initial: source.is_none(), from, depth, behind, single };
        self.parts.forget.opened(link).map_err(|unsuited| Stop::Unsuited(unsuited.to_string()))?;
        if self.wants_states {
            let path = || self.path(id);
            let seen = Seen { state: self.kept.state(at), depth, path: Some(&path) };
            if self.parts.check.state(seen) == Flow::Stop {
                return Err(Stop::Decided);
            }
        }
        Ok(())
    }

    /// Has this state, number `at` of those kept, a single successor to explore?
    fn is_single(&mut self, at: usize) -> bool {
        self.scratch.clear();
        self.parts.model.expand(self.kept.state(at), &mut self.scratch);
        self.scratch.take_deadlock(0);
        self.keep.clear();
        self.keep.resize(self.scratch.len(), true);
        let source = Source { model: self.parts.model, state: self.kept.state(at), via: Some(self.kept.event(at)) };
        // What is left out on condition may have to be explored all the same.
        match self.parts.reduce.choose(source, &self.scratch, 0, &mut self.keep) {
            Kept::Some => self.keep.iter().filter(|keep| **keep).count() == 1,
            Kept::All | Kept::Provided => self.scratch.len() == 1,
        }
    }

    /// The states on the way to a state, as far as they are stored.
    fn path(&self, id: StateId) -> Option<Vec<Vec<u8>>> {
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

    /// Offers states to the store: all of `which`, or the first one where the store cannot just grow. Answers how many.
    fn offer(&mut self, which: Range<usize>) -> Step<usize> {
        self.found.clear();
        let (stored, whole) = (self.parts.store.len() + which.len(), self.parts.store.whole() + which.len());
        let one_by_one = self.pressed && self.parts.store.numbers() < self.most && which.len() > 1;
        let allowed = whole <= self.parts.forget.most() && stored <= self.most;
        if allowed && !one_by_one && self.take(which.clone()) {
            return Ok(which.len());
        }
        if let Some(id) = self.parts.store.find(&self.kept, which.start) {
            self.found.push(Found { id, new: false });
            return Ok(1);
        }
        let one = which.start..which.start + 1;
        let mut tried = false;
        loop {
            let allowed = self.parts.store.whole() < self.parts.forget.most();
            if allowed && self.parts.store.len() < self.most && self.take(one.clone()) {
                return Ok(1);
            }
            let limit = if allowed { Limit::Memory } else { Limit::Cache };
            if !(self.retract(&mut tried) || self.parts.forget.reclaim(self.parts.store)) {
                return Err(Stop::Limit(limit));
            }
        }
    }

    /// Stores states, with memory for all that is kept beside them.
    fn take(&mut self, which: Range<usize>) -> bool {
        let Parts { store, forget, sleeping, .. } = &mut self.parts;
        let numbers = store.numbers().max(store.len() + which.len());
        let taken = forget.prepare(numbers).is_ok()
            && self.via.as_mut().is_none_or(|via| via.ensure(numbers).is_ok())
            && self.progress.as_mut().is_none_or(|progress| progress.ensure(numbers).is_ok())
            && sleeping.as_mut().is_none_or(|sleeping| sleeping.prepare(numbers).is_ok())
            && match &self.origins {
                Some(origins) if !origins.is_empty() => {
                    store.offer_from(&self.kept, which.clone(), origins, &mut self.found).is_ok()
                }
                _ => store.offer(&self.kept, which.clone(), &mut self.found).is_ok(),
            };
        self.pressed |= !taken;
        if !taken && which.len() == 1 {
            self.most = self.most.min(store.numbers());
        }
        self.stored_peak = self.stored_peak.max(store.len() as u64);
        taken
    }

    /// Gives up a waiting state that is certain to be found again.
    fn retract(&mut self, tried: &mut bool) -> bool {
        let Parts { store, forget, order, rank, .. } = &mut self.parts;
        if std::mem::replace(tried, true) || !forget.retracts() {
            return false;
        }
        let Some(id) = order.retract() else {
            return false;
        };
        if forget.retract(id, *store) {
            self.facts.states -= 1;
            return true;
        }
        self.state.clear();
        store.load(id, self.state.push_with(0));
        let depth = order.depth(id) + 1;
        let rank = rank.map_or(0, |rank| rank(self.state.state(0), depth));
        order.push(Opening { id, depth, rank });
        false
    }
}
