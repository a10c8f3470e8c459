//! Breadth-first search over a store without numbers, on one thread or several.
//!
//! What is open lies in a queue of keys for the level being expanded and one for the level that is found meanwhile. Threads
//! take blocks of keys from the one and put blocks into the other. They work in rounds; a round ends with the level, or
//! when someone needs a pause: the set must grow, the search is to be saved, a limit was reached. Between rounds nothing is
//! in the air: a source was either expanded, and all its successors are in the set, or its key is still in the queue. So
//! what is left between rounds, a [`BfsPosition`], can be written to a file, or taken over by another store.

use crate::breadth_first::Worker;
use crate::check::{Check, Flow};
use crate::estimate::{foresee, still_to_come};
use crate::gate::Gate;
use crate::open::{Packed, Pool, Queue};
use crate::outcome::{Ended, batch_size};
use crate::panics::Panics;
use crate::reduce::{Expansion, ReductionFactory};
use crate::store::{NO_ORIGIN, Set};
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Apart, Mutex, MutexGuard, size, start, thread};
use scrimp_core::{Budget, Control, GraphFacts, Limit};
use scrimp_system::Model;
use std::io;
use std::sync::{Arc, PoisonError};

/// Levels with fewer open states than this for each thread are not shared out.
const NARROW: u64 = size(128, 1) as u64;
/// Blocks of a level that each thread should find, and keys that they have at least.
const BLOCKS_EACH: usize = 4;
const LEAST_KEYS: usize = size(32, 1);

/// Rounds in a row that may end for want of room without a source expanded.
const MOST_IDLE: usize = 8;

/// How far a search has come: what it has counted, and what is open.
pub struct BfsPosition {
    pub facts: GraphFacts,
    /// Depth of the level that is being expanded.
    pub depth: u32,
    /// Its states that are still to be expanded, and those of the next level found so far.
    pub now: Queue,
    pub next: Queue,
    pub pool: Pool,
    /// How many states each level begun has.
    pub widths: Vec<u64>,
}

impl BfsPosition {
    pub fn new(set: &dyn Set, budget: &Arc<Budget>) -> io::Result<BfsPosition> {
        let pool = Pool::new(set.key_bytes(), set.key_form(), budget)?;
        let (now, next) = (Queue::default(), Queue::default());
        Ok(BfsPosition { facts: GraphFacts::default(), depth: 0, now, next, pool, widths: Vec::new() })
    }

    pub fn open(&self) -> u64 {
        self.now.len() + self.next.len()
    }

    /// The facts as they stand when `states` were found.
    pub fn facts(&self, states: u64) -> GraphFacts {
        // The level that is being found counts once it has a state.
        let depth = self.depth + 1 + !self.next.is_empty() as u32;
        let widest = self.facts.widest.max(self.next.len());
        GraphFacts { states, depth, widest, open: self.open(), ..self.facts.clone() }
    }
}

/// A search over sets.
pub struct Queued<'a> {
    pub model: &'a dyn Model,
    pub check: &'a dyn Check,
    pub control: &'a Control,
    pub threads: usize,
    pub reduce: &'a ReductionFactory,
}

impl Queued<'_> {
    /// Stores the initial states and makes them the first level.
    pub fn begin(&self, set: &mut dyn Set, course: &mut BfsPosition) -> Result<(), Ended> {
        let mut worker = Worker::new(self.model, self.check);
        worker.start();
        let count = worker.successors.len();
        let (mut new, mut keys, mut promise) = (Vec::new(), Vec::new(), 0);
        let full = |_| Ended::Limit(Limit::Memory);
        course.pool.promise(count, usize::MAX, &mut promise).map_err(full)?;
        set.make_room(count).map_err(full)?;
        set.insert(&worker.successors, &vec![NO_ORIGIN; count], &mut new, &mut keys).map_err(full)?;
        let mut packed = course.pool.buffer();
        for key in keys.chunks_exact(set.key_bytes()) {
            if packed.is_full() {
                course.pool.put(&mut course.now, &mut packed, false);
            }
            packed.push(key);
        }
        course.pool.put(&mut course.now, &mut packed, false);
        course.pool.keep(&mut promise);
        course.facts.initial_states = new.len() as u64;
        course.facts.widest = new.len() as u64;
        course.widths.push(new.len() as u64);
        if worker.answered_new(&new, 0) == Flow::Stop {
            return Err(Ended::Decided);
        }
        course.facts.transitions = 0;
        Ok(())
    }

    /// Goes on from `course` until everything is visited, the check is content, or a limit is reached.
    pub fn search(&self, set: &mut dyn Set, course: &mut BfsPosition) -> Ended {
        let buffers = || [course.pool.buffer(), course.pool.buffer()];
        let mut first = Thread::new(self, buffers());
        let others: Vec<_> = (1..self.threads).map_while(|_| Some((set.share()?, buffers()))).collect();
        let (round, gate) = (Round::new(self, course, set.len()), Gate::new(1 + others.len()));
        let ended = thread::scope(|scope| {
            for (mut other, buffers) in others {
                let (round, gate) = (&round, &gate);
                gate.join();
                let work = move || {
                    let mut thread = Thread::new(self, buffers);
                    loop {
                        gate.wait();
                        if round.over.load(Ordering::Relaxed) {
                            return;
                        }
                        thread.work(&mut *other, round);
                        gate.wait();
                    }
                };
                // Where the system has no more threads, there are fewer.
                if start(scope, work).is_err() {
                    gate.leave();
                }
            }
            let threads = gate.threads();
            loop {
                let before = (round.begin(threads), set.len());
                if threads == 1 || before.0 < NARROW * threads as u64 {
                    first.work(set, &round);
                } else {
                    gate.wait();
                    first.work(set, &round);
                    gate.wait();
                }
                if let Some(ended) = round.settle(set, before) {
                    round.over.store(true, Ordering::Relaxed);
                    gate.wait();
                    return ended;
                }
            }
        });
        round.panics.pass_on();
        ended
    }
}

/// What the threads share. What is in a line of its own is written by all of them, but seldom.
struct Round<'a> {
    search: &'a Queued<'a>,
    course: Mutex<&'a mut BfsPosition>,
    depth: AtomicU32,
    /// Most keys of a block, so that there are enough of them for all threads.
    most_keys: AtomicUsize,
    /// Someone wants the round to end.
    pause: AtomicBool,
    /// There are no more rounds.
    over: AtomicBool,
    ended: Mutex<Option<Ended>>,
    /// States for which the set had no room.
    wanted: AtomicUsize,
    /// There is no room for the keys of what will be found.
    out_of_memory: AtomicBool,
    panics: Panics,
    /// Rounds in a row that ended without a source expanded.
    idle: AtomicUsize,
    counts: Apart<Counts>,
}

struct Counts {
    states: AtomicU64,
    visits: AtomicU64,
    transitions: AtomicU64,
}

impl<'a> Round<'a> {
    fn new(search: &'a Queued<'a>, course: &'a mut BfsPosition, states: u64) -> Round<'a> {
        Round {
            search,
            depth: AtomicU32::new(course.depth),
            most_keys: AtomicUsize::new(usize::MAX),
            pause: AtomicBool::new(false),
            over: AtomicBool::new(false),
            ended: Mutex::new(None),
            wanted: AtomicUsize::new(0),
            out_of_memory: AtomicBool::new(false),
            panics: Panics::default(),
            idle: AtomicUsize::new(0),
            counts: Apart(Counts {
                states: AtomicU64::new(states),
                // Between rounds nothing is in the air.
                visits: AtomicU64::new(states.saturating_sub(course.open())),
                transitions: AtomicU64::new(course.facts.transitions),
            }),
            course: Mutex::new(course),
        }
    }

    fn course(&self) -> MutexGuard<'_, &'a mut BfsPosition> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn depth(&self) -> u32 {
        self.depth.load(Ordering::Relaxed)
    }

    /// Prepares a round for so many threads: how many states are to be expanded?
    fn begin(&self, threads: usize) -> u64 {
        let course = self.course();
        let width = course.now.len();
        let share = if threads == 1 { usize::MAX } else { width as usize / (threads * BLOCKS_EACH) };
        self.most_keys.store(share.max(LEAST_KEYS), Ordering::Relaxed);
        self.depth.store(course.depth, Ordering::Relaxed);
        width
    }

    /// Decides what comes after a round, while all other threads wait: another one, or how the search ends. `before` is how
    /// many states were to be expanded, and were known, when it began.
    fn settle(&self, set: &mut dyn Set, before: (u64, u64)) -> Option<Ended> {
        let control = self.search.control;
        let course = &mut **self.course();
        course.facts.back_level_edges = None;
        course.facts.longest_back_level_edge = None;
        self.pause.store(false, Ordering::Relaxed);
        if self.panics.any() {
            return Some(Ended::Decided);
        }
        if let Some(ended) = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Some(ended);
        }
        let wanted = self.wanted.swap(0, Ordering::Relaxed);
        let full = Some(Ended::Limit(Limit::Memory));
        if self.out_of_memory.load(Ordering::Relaxed) || wanted > 0 && set.make_room(wanted).is_err() {
            return full;
        }
        // A set that says there is room, and has none, must not be asked for ever.
        let idle = if before == (course.now.len(), set.len()) { self.idle.load(Ordering::Relaxed) + 1 } else { 0 };
        self.idle.store(idle, Ordering::Relaxed);
        if wanted > 0 && idle > MOST_IDLE {
            return full;
        }
        if course.now.is_empty() {
            course.facts.widest = course.facts.widest.max(course.next.len());
            if course.next.is_empty() {
                return Some(Ended::Complete);
            }
            course.widths.push(course.next.len());
            std::mem::swap(&mut course.now, &mut course.next);
            course.depth += 1;
            foresee(control, set.len(), || course.widths.clone());
            set.expect(still_to_come(&course.widths));
        }
        control.pause_due(0).then_some(Ended::Paused)
    }

    fn end(&self, how: Ended) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(how);
        self.pause.store(true, Ordering::Relaxed);
    }

    fn no_memory(&self) {
        self.out_of_memory.store(true, Ordering::Relaxed);
        self.pause.store(true, Ordering::Relaxed);
    }

    /// Adds up what a thread has counted, and shows it.
    fn publish(&self, counted: &mut Counted) {
        let (control, counts) = (self.search.control, &self.counts);
        let Counted { visits, new, successors } = std::mem::take(counted);
        let add = |count: &AtomicU64, more: u64| count.fetch_add(more, Ordering::Relaxed) + more;
        let (states, visits) = (add(&counts.states, new), add(&counts.visits, visits));
        control.states.store(states, Ordering::Relaxed);
        control.visits.store(visits, Ordering::Relaxed);
        control.transitions.store(add(&counts.transitions, successors), Ordering::Relaxed);
        control.open.store(states.saturating_sub(visits), Ordering::Relaxed);
        control.depth.store(self.depth() as u64, Ordering::Relaxed);
    }
}

/// What a thread has counted and not yet published.
#[derive(Default)]
struct Counted {
    visits: u64,
    new: u64,
    successors: u64,
}

/// One thread's buffers.
struct Thread<'a> {
    worker: Worker<'a>,
    batch: usize,
    keys: Vec<u8>,
    new: Vec<u32>,
    new_keys: Vec<u8>,
    taken: Packed,
    found: Packed,
    promise: usize,
    /// Keys for which room was promised.
    covered: usize,
    counted: Counted,
}

/// Whether a thread may go on after a block.
enum Done {
    Block,
    /// The sources from this key on were not expanded.
    Stopped(usize),
}

impl<'a> Thread<'a> {
    fn new(search: &Queued<'a>, [taken, found]: [Packed; 2]) -> Thread<'a> {
        Thread {
            worker: Worker::new(search.model, search.check).reducing((search.reduce)(Expansion::Stateful), true),
            batch: batch_size(search.model.state_bytes()),
            keys: Vec::new(),
            new: Vec::new(),
            new_keys: Vec::new(),
            taken,
            found,
            promise: 0,
            covered: 0,
            counted: Counted::default(),
        }
    }

    /// Expands states of the level until there are none left or someone wants a pause. A panic ends the round for all.
    fn work(&mut self, set: &mut dyn Set, round: &Round) {
        if round.panics.catch(|| self.expand_blocks(set, round)).is_none() {
            round.pause.store(true, Ordering::Relaxed);
        }
    }

    fn expand_blocks(&mut self, set: &mut dyn Set, round: &Round) {
        // What was taken must find room to go back.
        self.covered = 0;
        if round.course().pool.promise(0, usize::MAX, &mut self.promise).is_err() {
            return round.no_memory();
        }
        while !round.pause.load(Ordering::Relaxed) {
            {
                let course = &mut **round.course();
                if !course.pool.take(&mut course.now, false, &mut self.taken) {
                    break;
                }
            }
            self.keys.clear();
            self.taken.unpack(&mut self.keys);
            let done = self.expand_keys(set, round);
            round.publish(&mut self.counted);
            if let Done::Stopped(at) = done {
                self.put_back(at, round);
                break;
            }
        }
        let course = &mut **round.course();
        course.pool.put(&mut course.next, &mut self.found, false);
        course.pool.keep(&mut self.promise);
        course.facts.merge(&std::mem::take(&mut self.worker.facts));
    }

    fn expand_keys(&mut self, set: &mut dyn Set, round: &Round) -> Done {
        let step = self.batch * set.key_bytes();
        let control = round.search.control;
        for (tick, at) in (0..self.keys.len()).step_by(step).enumerate() {
            if let Some(limit) = control.stopped(tick as u64) {
                round.end(Ended::Limit(limit));
                return Done::Stopped(at);
            }
            if control.pause_due(tick as u64) {
                round.pause.store(true, Ordering::Relaxed);
            }
            if round.pause.load(Ordering::Relaxed) {
                return Done::Stopped(at);
            }
            let end = (at + step).min(self.keys.len());
            self.worker.sources.clear();
            set.load(&self.keys[at..end], &mut self.worker.sources);
            if self.worker.expand_sources(round.depth()) == Flow::Stop {
                round.end(Ended::Decided);
                return Done::Stopped(at);
            }
            loop {
                if !self.store_successors(set, round) {
                    return Done::Stopped(at);
                }
                if self.worker.answered_new(&self.new, round.depth() + 1) == Flow::Stop {
                    round.end(Ended::Decided);
                    return Done::Stopped(end);
                }
                // What is new is of the next level.
                if !self.worker.expand_fully(|_, i| self.new.binary_search(&(i as u32)).is_ok()) {
                    break;
                }
            }
            self.counted.visits += self.worker.sources.len() as u64;
        }
        Done::Block
    }

    /// Adds the successors to the set, and the new ones to the next level; `false` when there is no room.
    fn store_successors(&mut self, set: &mut dyn Set, round: &Round) -> bool {
        let count = self.worker.successors.len();
        let unread = self.keys.len() / set.key_bytes();
        let most_keys = round.most_keys.load(Ordering::Relaxed);
        if self.covered < count {
            // For some batches at once where that can be.
            let promised = [4 * count, count]
                .into_iter()
                .find(|more| round.course().pool.promise(more + unread, most_keys, &mut self.promise).is_ok());
            let Some(covered) = promised else {
                round.no_memory();
                return false;
            };
            self.covered = covered;
        }
        self.new.clear();
        self.new_keys.clear();
        // Room for nothing may be refused, too.
        if count > 0
            && set.insert(&self.worker.successors, &self.worker.origins, &mut self.new, &mut self.new_keys).is_err()
        {
            round.wanted.fetch_add(count.max(1), Ordering::Relaxed);
            round.pause.store(true, Ordering::Relaxed);
            return false;
        }
        self.covered -= self.new.len();
        for key in self.new_keys.chunks_exact(set.key_bytes()) {
            if self.found.is_full() || self.found.keys() >= most_keys {
                let course = &mut **round.course();
                course.pool.put(&mut course.next, &mut self.found, false);
            }
            self.found.push(key);
        }
        self.counted.new += self.new.len() as u64;
        self.counted.successors += count as u64;
        true
    }

    /// Puts the keys from `at` on back where they came from.
    fn put_back(&mut self, at: usize, round: &Round) {
        let course = &mut **round.course();
        self.taken.clear();
        for key in self.keys[at..].chunks_exact(course.pool.key_bytes()) {
            if self.taken.is_full() {
                course.pool.put(&mut course.now, &mut self.taken, true);
            }
            self.taken.push(key);
        }
        course.pool.put(&mut course.now, &mut self.taken, true);
    }
}
