//! Plain breadth-first search, where it is fastest: every state is kept, and every event explored.
//!
//! The table numbers states in the order of discovery, so the queue is a range of numbers and takes no memory, a level is a
//! range too, and what each transition says about the shape of the graph can be counted on the way. Successors of several
//! states are generated before the first is looked up, so that the store can overlap its cache misses; a batch never mixes
//! levels, so depths stay exact.

use crate::check::{Check, Flow, Seen};
use crate::estimate::foresee;
use crate::graph::InDegrees;
use crate::lts::Observer;
use crate::outcome::{Ended, Position, batch_size};
use crate::reduce::{DeferredEvents, Grounded, Kept, Reduce, Source};
use crate::store::{Found, Full, Origin, StateId, Store};
use scrimp_core::{Control, GraphFacts, Limit};
use scrimp_system::{Batch, Model};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Buffers of one thread, and what it has counted; shared by the sequential and the parallel search.
pub struct Worker<'a> {
    model: &'a dyn Model,
    check: &'a dyn Check,
    wants_states: bool,
    pub sources: Batch,
    pub successors: Batch,
    /// For each successor, which of the sources it comes from.
    pub origins: Vec<u32>,
    reduction: Option<Reduction<'a>>,
    places: Vec<Origin>,
    pub found: Vec<Found>,
    pub facts: GraphFacts,
    /// Deadlocks and faults of the states expanded last; they count once the store has taken the successors.
    deadlocks: u64,
    faults: u64,
    /// Lowest number that a transition of the present level leads back to.
    lowest_back: StateId,
}

/// What a worker keeps to explore fewer events.
struct Reduction<'a> {
    reduce: Box<dyn Reduce>,
    keep: Vec<bool>,
    /// For each successor, which one of its source it is.
    places: Vec<u32>,
    /// What is left out until the store has answered; `None` where the answer comes too late for that.
    deferred_events: Option<DeferredEvents>,
    /// Where states have numbers, which of them are grounded.
    grounded: Option<&'a Grounded>,
    /// Sources that are as soon as the store has taken their successors.
    to_ground: Vec<StateId>,
}

impl Reduction<'_> {
    /// Of the successors from `first` on, those of source `i`, leaves only those that are to be explored.
    fn choose(&mut self, (i, id): (u32, StateId), source: Source, successors: &mut Batch, first: usize) {
        let count = successors.len() - first;
        self.keep.clear();
        self.keep.resize(count, true);
        self.places.truncate(first);
        let kept = self.reduce.choose(source, successors, first, &mut self.keep);
        if kept != Kept::Proviso {
            self.to_ground.push(id);
        }
        let deferred_events = match (kept, &mut self.deferred_events) {
            (Kept::All, _) | (Kept::Proviso, None) => return self.places.extend(0..count as u32),
            (Kept::Some, _) => None,
            (Kept::Proviso, deferred_events) => deferred_events.as_mut(),
        };
        self.places.extend((0..count as u32).filter(|&place| self.keep[place as usize]));
        if let Some(deferred_events) = deferred_events {
            deferred_events.begin(i);
            let left_out = (0..count).filter(|&place| !self.keep[place]);
            left_out.for_each(|place| deferred_events.leave_out(successors, first + place, place as u32));
        }
        let mut kept = self.keep.iter();
        successors.retain_from(first, |_| kept.next().copied().unwrap_or(true));
    }
}

impl<'a> Worker<'a> {
    /// Explores fewer events. With `history`, [`expand_fully`](Worker::expand_fully) is called once the store has answered.
    pub fn reducing(self, reduce: Option<Box<dyn Reduce>>, history: bool) -> Worker<'a> {
        let deferred_events = history.then(|| DeferredEvents::new(self.model.state_bytes()));
        let reduction = |reduce| Reduction {
            reduce,
            keep: Vec::new(),
            places: Vec::new(),
            deferred_events,
            grounded: None,
            to_ground: Vec::new(),
        };
        Worker { reduction: reduce.map(reduction), ..self }
    }

    /// Remembers which states are grounded, so that more may be left out.
    pub fn remembering(mut self, grounded: &'a Grounded) -> Worker<'a> {
        if let Some(reduction) = &mut self.reduction {
            reduction.grounded = Some(grounded);
        }
        self
    }

    /// Puts those successors in the place of the others that were left out on condition that another one be a `witness`, by
    /// its number: a state whose own turn comes later. False when there are none; true when they are to be offered as well.
    pub fn expand_fully(&mut self, witness: impl Fn(&[Found], usize) -> bool) -> bool {
        let Worker { reduction, sources, successors, origins, found, .. } = self;
        let Some(Reduction { places, deferred_events: Some(deferred_events), grounded, to_ground, .. }) = reduction
        else {
            return false;
        };
        if let Some(grounded) = grounded {
            to_ground.iter().for_each(|id| grounded.insert(*id));
        }
        to_ground.clear();
        if deferred_events.is_empty() {
            return false;
        }
        // What was found by the expansion itself was counted with the first part.
        (self.deadlocks, self.faults) = (0, 0);
        deferred_events.release(successors, origins, places, |source, mut range| {
            let id = sources.event(source as usize);
            let leads_on = |grounded: &Grounded| range.clone().any(|i| grounded.contains(found[i].id));
            match grounded.filter(|grounded| leads_on(grounded)) {
                Some(grounded) => grounded.insert(id),
                None if range.any(|i| witness(found, i)) => {}
                None => {
                    to_ground.push(id);
                    return false;
                }
            }
            true
        })
    }

    pub fn new(model: &'a dyn Model, check: &'a dyn Check) -> Worker<'a> {
        Worker {
            model,
            check,
            wants_states: check.wants_states(),
            sources: Batch::new(model.state_bytes()),
            successors: Batch::new(model.state_bytes()),
            origins: Vec::new(),
            reduction: None,
            places: Vec::new(),
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
        for id in ids {
            // The event of a source is of no interest: its number goes there.
            store.load(id, self.sources.push_with(id));
        }
        self.expand_sources(depth)
    }

    /// Fills `successors` with those of `sources`, all at `depth`.
    pub fn expand_sources(&mut self, depth: u32) -> Flow {
        self.successors.clear();
        self.origins.clear();
        (self.deadlocks, self.faults) = (0, 0);
        if let Some(Reduction { deferred_events: Some(deferred_events), to_ground, .. }) = &mut self.reduction {
            deferred_events.clear();
            to_ground.clear();
        }
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
            }
            if let Some(reduction) = &mut self.reduction {
                let source = Source { model: self.model, state, via: None };
                reduction.choose((i as u32, self.sources.event(i)), source, &mut self.successors, first);
            }
            faults += new_faults;
            let count = self.successors.len() - first;
            self.origins.resize(first + count, i as u32);
            self.facts.max_out_degree = self.facts.max_out_degree.max(count as u64);
        }
        Flow::Continue
    }

    /// Offers the successors to the store, with where they come from if it wants to know.
    pub fn offer(&mut self, store: &mut dyn Store) -> Result<(), Full> {
        self.found.clear();
        let all = 0..self.successors.len();
        if !store.wants_origins() {
            return store.offer(&self.successors, all, &mut self.found);
        }
        self.places.clear();
        let mut before = None;
        for (i, &origin) in self.origins.iter().enumerate() {
            let source = self.sources.event(origin as usize);
            let place = match &self.reduction {
                Some(reduction) => reduction.places[i],
                None => before.filter(|&(last, _)| last == origin).map_or(0, |(_, place)| place + 1),
            };
            self.places.push(Origin { source, place });
            before = Some((origin, place));
        }
        store.offer_from(&self.successors, all, &self.places, &mut self.found)
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

    /// Takes the answer of a store without numbers: which of the successors, found at `depth`, are new.
    pub fn answered_new(&mut self, new: &[u32], depth: u32) -> Flow {
        self.facts.transitions += self.successors.len() as u64;
        self.facts.deadlocks += self.deadlocks;
        self.facts.faults += self.faults;
        if self.wants_states {
            for &i in new {
                let seen = Seen { state: self.successors.state(i as usize), depth, path: None };
                if self.check.state(seen) == Flow::Stop {
                    return Flow::Stop;
                }
            }
        }
        Flow::Continue
    }

    /// Tells of everything found from `sources`.
    fn tell(&self, observer: &dyn Observer, sources: Range<StateId>) -> Result<(), Full> {
        let mut at = 0;
        for (source, id) in sources.enumerate() {
            while self.origins.get(at) == Some(&(source as u32)) {
                let found = self.found[at];
                if found.new {
                    observer.found(found.id, self.successors.state(at), false)?;
                }
                observer.leads_to(found.id, self.successors.event(at));
                at += 1;
            }
            observer.expanded(id)?;
        }
        Ok(())
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

/// Searches, from `position` on, until everything is visited, the check is content, or a limit is reached. The observer is
/// told of everything found.
pub fn search(
    mut worker: Worker,
    store: &mut dyn Store,
    control: &Control,
    in_degrees: &mut InDegrees,
    position: &mut Position,
    observer: Option<&dyn Observer>,
) -> Ended {
    let ended = match begin(&mut worker, store, position, observer) {
        Ok(()) => go_on(&mut worker, store, control, in_degrees, position, observer),
        Err(ended) => ended,
    };
    if !position.levels.is_empty() {
        worker.level_done(&position.levels);
    }
    position.facts = GraphFacts { max_in_degree: in_degrees.most(), ..worker.facts };
    position.settle(store.len());
    ended
}

/// Stores the initial states, unless that was done before.
fn begin(
    worker: &mut Worker,
    store: &mut dyn Store,
    position: &mut Position,
    observer: Option<&dyn Observer>,
) -> Result<(), Ended> {
    if !position.levels.is_empty() {
        worker.facts = position.facts.clone();
        return Ok(());
    }
    worker.start();
    let stored = store.offer(&worker.successors, 0..worker.successors.len(), &mut worker.found);
    stored.map_err(|_| Ended::Limit(Limit::Memory))?;
    let states = store.len();
    (worker.facts.initial_states, worker.facts.widest) = (states as u64, states as u64);
    position.levels = vec![0, states as StateId];
    position.left.push(0..states as StateId);
    if let Some(observer) = observer {
        let mut new = worker.found.iter().enumerate().filter(|(_, found)| found.new);
        let told = new.try_for_each(|(i, found)| observer.found(found.id, worker.successors.state(i), true));
        told.map_err(|_| Ended::Limit(Limit::Memory))?;
    }
    if worker.show(0) == Flow::Stop { Err(Ended::Decided) } else { Ok(()) }
}

fn go_on(
    worker: &mut Worker,
    store: &mut dyn Store,
    control: &Control,
    in_degrees: &mut InDegrees,
    position: &mut Position,
    observer: Option<&dyn Observer>,
) -> Ended {
    let batch = store.sources_at_once().unwrap_or(batch_size(worker.model.state_bytes())) as StateId;
    for tick in 0u64.. {
        let (depth, level_end) = (position.depth(), position.level_end());
        let Some(range) = position.left.last_mut() else {
            worker.level_done(&position.levels);
            let end = store.len() as StateId;
            if end == level_end {
                break;
            }
            worker.facts.widest = worker.facts.widest.max((end - level_end) as u64);
            position.levels.push(end);
            position.left.push(level_end..end);
            foresee(control, end as u64, || position.widths());
            continue;
        };
        if range.start == range.end {
            position.left.pop();
            continue;
        }
        if let Some(limit) = control.stopped(tick) {
            return Ended::Limit(limit);
        }
        if control.pause_due(tick) {
            return Ended::Paused;
        }
        let sources = range.start..range.end.min(range.start + batch);
        if worker.expand(sources.clone(), store, depth) == Flow::Stop {
            return Ended::Decided;
        }
        loop {
            if worker.offer(store).is_err() {
                return Ended::Limit(Limit::Memory);
            }
            in_degrees.count(&worker.found, store.len());
            if observer.is_some_and(|observer| worker.tell(observer, sources.clone()).is_err()) {
                return Ended::Limit(Limit::Memory);
            }
            if worker.answered(depth + 1, level_end) == Flow::Stop {
                range.start = sources.end;
                return Ended::Decided;
            }
            // From one witness to the next, numbers rise: that comes to an end.
            if !worker.expand_fully(|found, i| found[i].id >= sources.end) {
                break;
            }
        }
        range.start = sources.end;
        control.states.store(store.len() as u64, Ordering::Relaxed);
        control.visits.store(sources.end as u64, Ordering::Relaxed);
        control.transitions.store(worker.facts.transitions, Ordering::Relaxed);
        control.open.store(store.len() as u64 - sources.end as u64, Ordering::Relaxed);
        control.depth.store(depth as u64, Ordering::Relaxed);
    }
    Ended::Complete
}
