//! Walks through one model on several threads, and what came of them.

use super::Walks;
use super::shorten::{Shortened, shorten};
use super::sought::{Decided, decides};
use super::walker::Walker;
use crate::coverage::of_events;
use scrimp_core::{Condition, Limit, Property, PropertyResult, Trace, Verdict};
use scrimp_native::NativeModel;
use scrimp_net::Net;
use scrimp_report::simulation::{FoundBy, Simulation};
use scrimp_system::{Cause, Describe, EventCode, Stop, Then};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// After so many events it is looked at whether to go on.
const GLANCE: u64 = 256;
/// After so many events of a walk that is made again, it is looked at how much memory it takes.
const WEIGHED: u64 = 4096;

/// A state on a walk that decides a property.
struct Met {
    walk: u64,
    step: u64,
    state: Vec<u8>,
    decided: Decided,
}

/// Walks through one model, and what they have met so far.
pub(super) struct Simulator<'a> {
    model: &'a NativeModel,
    net: Option<&'a Net>,
    properties: &'a [Property<Condition<'a>>],
    walks: Walks,
    stop: &'a Stop,
    next: AtomicU64,
    /// The last walk that matters: those after it are given up.
    last: AtomicU64,
    /// For each property, the first walk that decides it.
    met: Mutex<Vec<Option<Met>>>,
    /// For each event, the first walk that executes it.
    executed: Vec<AtomicU64>,
    made: AtomicU64,
    events: AtomicU64,
    /// A limit ended the walks.
    ended: Mutex<Option<Cause>>,
    over: AtomicBool,
}

impl<'a> Simulator<'a> {
    pub fn new(
        model: &'a NativeModel,
        net: Option<&'a Net>,
        properties: &'a [Property<Condition<'a>>],
        walks: Walks,
        stop: &'a Stop,
    ) -> Simulator<'a> {
        Simulator {
            model,
            net,
            properties,
            walks,
            stop,
            next: AtomicU64::new(1),
            last: AtomicU64::new(walks.count),
            met: Mutex::new(properties.iter().map(|_| None).collect()),
            executed: model.system().events.iter().map(|_| AtomicU64::new(u64::MAX)).collect(),
            made: AtomicU64::new(0),
            events: AtomicU64::new(0),
            ended: Mutex::new(None),
            over: AtomicBool::new(false),
        }
    }

    fn walker(&self) -> Walker<'a> {
        Walker::new(self.model, self.net.is_some())
    }

    /// Makes all walks, and tells what came of them.
    pub fn run(self) -> Simulation {
        let threads = (self.walks.threads as u64).clamp(1, self.walks.count.max(1));
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // With fewer threads it takes longer, and the answer is the same.
                if std::thread::Builder::new().spawn_scoped(scope, || self.work()).is_err() {
                    break;
                }
            }
            self.work();
        });
        self.told()
    }

    fn work(&self) {
        let mut walker = self.walker();
        while !self.over.load(Ordering::Relaxed) {
            let walk = self.next.fetch_add(1, Ordering::Relaxed);
            if walk > self.last.load(Ordering::Relaxed) {
                break;
            }
            self.walk(&mut walker, walk);
        }
    }

    /// Makes one walk.
    fn walk(&self, walker: &mut Walker, walk: u64) {
        let mut undecided: Vec<usize> = (0..self.properties.len()).collect();
        let (mut events, mut whole) = (0, true);
        walker.walk(self.walks.seed_of(walk), self.walks.steps, |visit| {
            if let Some((before, event)) = visit.by {
                events = visit.step;
                self.note(walk, before, event, visit.state);
            }
            if visit.step % GLANCE == 0 && !self.goes_on(walk) || self.model_is_too_small() {
                whole = false;
                return false;
            }
            let mut violated = false;
            undecided.retain(|&number| {
                let property = &self.properties[number];
                let found = match violated {
                    false => decides(property, visit.state, visit.deadlock, visit.faults),
                    true => None,
                };
                let Some(decided) = found else { return true };
                violated = property.finding_violates();
                self.meet(number, Met { walk, step: visit.step, state: visit.state.to_vec(), decided });
                false
            });
            !violated
        });
        if whole {
            self.made.fetch_add(1, Ordering::Relaxed);
        }
        self.events.fetch_add(events, Ordering::Relaxed);
    }

    fn model_is_too_small(&self) -> bool {
        let outgrown = self.model.outgrown().is_some();
        if outgrown {
            self.over.store(true, Ordering::Relaxed);
        }
        outgrown
    }

    /// Does a walk still matter, and is there time?
    fn goes_on(&self, walk: u64) -> bool {
        if let Some(cause) = self.stop.due() {
            self.ended.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
            self.over.store(true, Ordering::Relaxed);
        }
        !self.over.load(Ordering::Relaxed) && walk <= self.last.load(Ordering::Relaxed)
    }

    /// Notes what is executed by going from one state to another.
    fn note(&self, walk: u64, before: &[u8], code: EventCode, after: &[u8]) {
        let one = |code: EventCode| {
            let event = self.model.parts(code).0.and_then(|event| self.executed.get(event as usize));
            if let Some(first) = event.filter(|first| first.load(Ordering::Relaxed) > walk) {
                first.fetch_min(walk, Ordering::Relaxed);
            }
        };
        one(code);
        let first = self.model.parts(code).0.and_then(|event| self.model.system().events.get(event as usize));
        if first.is_some_and(|event| event.then != Then::Free) {
            self.model.steps(before, code, after).into_iter().for_each(|(code, _)| one(code));
        }
    }

    /// Notes a state that decides a property. A violation ends the work, and so does the last answer.
    fn meet(&self, number: usize, met: Met) {
        let mut all = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = all[number].as_ref().is_none_or(|known| met.walk < known.walk);
        if self.properties[number].finding_violates() {
            self.last.fetch_min(met.walk, Ordering::Relaxed);
        }
        if earlier {
            all[number] = Some(met);
        }
        if let Some(last) = all.iter().map(|met| met.as_ref().map(|met| met.walk)).collect::<Option<Vec<_>>>() {
            self.last.fetch_min(last.into_iter().max().unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// What came of the walks up to the last that matters.
    fn told(self) -> Simulation {
        let last = self.last.load(Ordering::Relaxed);
        let met = std::mem::take(&mut *self.met.lock().unwrap_or_else(PoisonError::into_inner));
        let mut found: Option<FoundBy> = None;
        let mut properties = Vec::with_capacity(met.len());
        for (number, met) in met.into_iter().enumerate() {
            let property = &self.properties[number];
            let mut result = PropertyResult::undecided(&property.name);
            if let Some(met) = met.filter(|met| met.walk <= last) {
                let violates = property.finding_violates();
                result.verdict = if violates { Verdict::Violated } else { Verdict::Verified };
                let by = FoundBy { walk: met.walk, seed: self.walks.seed_of(met.walk), steps: met.step, violates };
                if found.as_ref().is_none_or(|found| violates && !found.violates) {
                    found = Some(by);
                }
                self.show(property, met, &mut result);
            }
            properties.push(result);
        }
        let happened: Vec<bool> = self.executed.iter().map(|first| first.load(Ordering::Relaxed) <= last).collect();
        let all = last == self.walks.count;
        let made = if all { self.made.load(Ordering::Relaxed) } else { last };
        let ended = self.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        Simulation {
            walks: self.walks.count,
            steps: self.walks.steps,
            seed: self.walks.seed,
            made,
            // How far others had come when the last walk ended depends on the threads.
            events: all.then(|| self.events.into_inner()),
            found,
            properties,
            left_out: Vec::new(),
            limit: ended.filter(|_| made < self.walks.count && all).map(Limit::from),
            coverage: of_events(self.model.system(), self.net, &happened),
            elapsed: Default::default(),
        }
    }

    /// The run that shows what a walk has met, as short as it gets; without one, the state alone.
    fn show(&self, property: &Property<Condition>, met: Met, result: &mut PropertyResult) {
        let shown = self.again(&met).and_then(|trace| shorten(self.model, property, trace, self.stop));
        let decided = match shown {
            Some(Shortened { trace, shortest, decided }) => {
                (result.state, result.shortest) = (Some(trace.last().to_vec()), shortest);
                result.trace = Some(trace);
                decided
            }
            None => {
                result.state = Some(met.state);
                met.decided
            }
        };
        (result.fault, result.condition_fault) = (decided.fault, decided.condition_fault);
    }

    /// The walk to a state once more, without loops; nothing where that takes too much time or memory.
    fn again(&self, met: &Met) -> Option<Trace> {
        let mut trace: Option<Trace> = None;
        let mut place: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut gave_up = false;
        self.walker().walk(self.walks.seed_of(met.walk), met.step, |visit| {
            gave_up |= visit.step % WEIGHED == WEIGHED - 1 && self.stop.due_or_full().is_some();
            match (&mut trace, visit.by) {
                (Some(trace), Some((_, event))) => match place.get(visit.state).copied() {
                    Some(length) => {
                        for (_, state) in trace.steps.drain(length..) {
                            place.remove(&state);
                        }
                    }
                    None => {
                        trace.steps.push((event, visit.state.to_vec()));
                        place.insert(visit.state.to_vec(), trace.steps.len());
                    }
                },
                _ => {
                    trace = Some(Trace { initial: visit.state.to_vec(), steps: Vec::new() });
                    place.insert(visit.state.to_vec(), 0);
                }
            }
            !gave_up
        });
        trace.filter(|trace| !gave_up && trace.last() == met.state)
    }
}
