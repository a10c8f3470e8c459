//! What the threads of a process share in a search: the states that the process owns, its part of the levels, and what it sent lately.
//!
//! Every thread adds states to the one table, and finds those of the next level by itself; at the end of a level that becomes one, whose
//! states are handed out in chunks. The table may only grow, or become a tree, while nobody uses it: each thread has a way to it behind
//! a lock of its own, which nobody else takes but who changes the table, and he takes all of them.
//!
//! Where all threads go on to something else, behind a meeting, the first one to come changes the levels for all ([`Shared::once`]).

use crate::kept::Kept;
use crate::lately::Lately;
use crate::level::Level;
use scrimp_core::Budget;
use scrimp_system::Model;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// States that are handed out at once: so many chunks for each thread, within these bounds.
const CHUNKS: u64 = 16;
const CHUNK: Range<u64> = 16..1024;
/// Bytes for each thread that are made free at least where a level has no memory to grow.
const AT_LEAST: usize = 1 << 18;

pub struct Shared {
    /// For each thread its way to the states.
    ways: Vec<Mutex<Kept>>,
    /// How often room was made for more.
    rooms: AtomicU64,
    levels: Mutex<Levels>,
    pub lately: Lately,
    /// The next state of the level to be handed out.
    cursor: AtomicU64,
    /// No state is kept any more.
    full: AtomicBool,
    state_bytes: usize,
    budget: Arc<Budget>,
}

/// The levels of a process.
pub struct Levels {
    /// How often all threads have gone on to something else.
    turn: u64,
    /// The level that is expanded, what is left of chunks of it, and what was found of the next one.
    now: Arc<Level>,
    /// Is it only what was left of a level when the search was saved?
    rest: bool,
    left: Vec<Range<u64>>,
    next: Level,
    /// The levels before it that are kept, the last of them last.
    before: VecDeque<Arc<Level>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub fn new(model: &dyn Model, processes: usize, threads: usize, budget: &Arc<Budget>) -> Shared {
        let first = Kept::new(model, budget);
        let mut others: Vec<Kept> = (1..threads).map(|_| Kept::none()).collect();
        others.iter_mut().for_each(|way| way.join(&first));
        let ways = std::iter::once(first).chain(others).map(Mutex::new).collect();
        let level = || Level::new(model.state_bytes(), budget);
        let levels = Levels {
            turn: 0,
            now: Arc::new(level()),
            rest: false,
            left: Vec::new(),
            next: level(),
            before: VecDeque::new(),
        };
        // Who is alone sends nothing.
        let lately = match processes {
            1 => Lately::none(budget),
            _ => Lately::new(model.state_bytes(), threads, budget),
        };
        Shared {
            ways,
            lately,
            rooms: AtomicU64::new(0),
            levels: Mutex::new(levels),
            cursor: AtomicU64::new(0),
            full: AtomicBool::new(false),
            state_bytes: model.state_bytes(),
            budget: budget.clone(),
        }
    }

    /// A thread's way to the states.
    pub fn kept(&self, thread: usize) -> MutexGuard<'_, Kept> {
        lock(&self.ways[thread])
    }

    /// How often room was made: what [`make_room`](Shared::make_room) must be told by who found none.
    pub fn rooms(&self) -> u64 {
        self.rooms.load(Ordering::Acquire)
    }

    /// Makes room for so many more states, or where none are told, memory for something else, unless somebody has meanwhile: of
    /// the levels that are kept for a run the first goes, and then states move to a tree. `false` where nothing helps. Who calls it
    /// may not hold his [way](Shared::kept).
    pub fn make_room(&self, seen: u64, states: Option<usize>, model: &dyn Model) -> bool {
        let mut ways: Vec<_> = self.ways.iter().map(lock).collect();
        if self.rooms() != seen {
            return true;
        }
        // Each thread may be about to ask for as much.
        let ways_count = ways.len();
        let states = states.map(|states| states * ways_count);
        let Some((first, others)) = ways.split_first_mut() else { return false };
        let mut room = match states {
            // No memory helps a table that states have outgrown.
            Some(_) if first.is_unsuited() => false,
            Some(states) => loop {
                if first.make_room(states).is_ok() {
                    break true;
                }
                if !self.drop_levels(0) {
                    break false;
                }
            },
            None => self.drop_levels(AT_LEAST * ways_count),
        };
        if !room {
            // What is moved may have one user only.
            others.iter_mut().for_each(|way| way.leave());
            room = first.move_to_tree(model, &self.budget).is_ok();
            others.iter_mut().for_each(|way| way.join(first));
        }
        self.rooms.fetch_add(1, Ordering::Release);
        self.full.fetch_or(!room, Ordering::Relaxed);
        room
    }

    /// Lets go of levels that were kept, the first ones first, until so many bytes are free. Answers whether there was one.
    fn drop_levels(&self, bytes: usize) -> bool {
        let (mut levels, before) = (lock(&self.levels), self.budget.left());
        let mut dropped = false;
        while levels.before.pop_front().is_some() {
            dropped = true;
            if self.budget.left() >= before.saturating_add(bytes) {
                break;
            }
        }
        dropped
    }

    /// Is no state kept any more?
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// There is no use in asking for more room.
    pub fn give_up(&self) {
        self.full.store(true, Ordering::Relaxed);
    }

    /// All threads go on to something else, `turn` says to what number of it: the first one to come makes the change. Where one has
    /// come here, all have left what they did before.
    fn once(&self, turn: &mut u64, change: impl FnOnce(&mut Levels)) -> MutexGuard<'_, Levels> {
        let mut levels = lock(&self.levels);
        *turn += 1;
        if levels.turn < *turn {
            levels.turn = *turn;
            change(&mut levels);
        }
        levels
    }

    fn empty(&self) -> Level {
        Level::new(self.state_bytes, &self.budget)
    }

    /// What was found becomes the level that is expanded, and that is answered; the one before is kept, if it should be.
    pub fn go_down(&self, turn: &mut u64, keep: bool) -> Arc<Level> {
        let levels = self.once(turn, |levels| {
            let next = std::mem::replace(&mut levels.next, self.empty());
            let done = std::mem::replace(&mut levels.now, Arc::new(next));
            levels.before.extend((keep && !levels.rest).then_some(done));
            levels.rest = false;
            levels.left.clear();
            self.cursor.store(0, Ordering::Relaxed);
        });
        levels.now.clone()
    }

    /// The same where a search is taken up: what was found is what was left of the level that was expanded then.
    pub fn take_up(&self, turn: &mut u64) -> Arc<Level> {
        let levels = self.once(turn, |levels| {
            let rest = std::mem::replace(&mut levels.next, self.empty());
            levels.now = Arc::new(rest);
            levels.rest = true;
            levels.left.clear();
            self.cursor.store(0, Ordering::Relaxed);
        });
        levels.now.clone()
    }

    /// Begins anew, without any states.
    pub fn begin_anew(&self, turn: &mut u64, model: &dyn Model) -> Arc<Level> {
        let levels = self.once(turn, |levels| {
            (levels.now, levels.next) = (Arc::new(self.empty()), self.empty());
            levels.before.clear();
            levels.left.clear();
            levels.rest = false;
            // Nobody waits for the levels with a way to the states in hand: all come here first.
            let mut ways: Vec<_> = self.ways.iter().map(lock).collect();
            ways.iter_mut().for_each(|way| **way = Kept::none());
            if let Some((first, others)) = ways.split_first_mut() {
                **first = Kept::new(model, &self.budget);
                others.iter_mut().for_each(|way| way.join(first));
            }
            self.lately.clear();
            self.cursor.store(0, Ordering::Relaxed);
            self.full.store(false, Ordering::Relaxed);
        });
        levels.now.clone()
    }

    /// Adds to the next level what a thread has found of it.
    pub fn hand_in(&self, found: Level) {
        if found.len() > 0 {
            lock(&self.levels).next.append(found);
        }
    }

    /// The next states of a level, the present one, that a thread is to expand.
    pub fn hand_out(&self, now: &Level) -> Option<Range<u64>> {
        let chunk = (now.len() / (self.ways.len() as u64 * CHUNKS)).clamp(CHUNK.start, CHUNK.end);
        // Looking first keeps the cursor from running away.
        if self.cursor.load(Ordering::Relaxed) >= now.len() {
            return None;
        }
        let first = self.cursor.fetch_add(chunk, Ordering::Relaxed);
        (first < now.len()).then(|| first..now.len().min(first + chunk))
    }

    /// States that a thread was to expand and has not.
    pub fn hand_back(&self, states: Range<u64>) {
        if !states.is_empty() {
            lock(&self.levels).left.push(states);
        }
    }

    /// The level that is expanded, what of it was not, and what was found of the next one. No thread may be at work.
    pub fn open(&self, mut show: impl FnMut(&Level, &[Range<u64>], &Level)) {
        let levels = lock(&self.levels);
        let not_begun = self.cursor.load(Ordering::Relaxed).min(levels.now.len())..levels.now.len();
        let left: Vec<Range<u64>> = levels.left.iter().cloned().chain([not_begun]).collect();
        show(&levels.now, &left, &levels.next);
    }

    /// How many states of the level are not expanded. No thread may be at work.
    pub fn left(&self) -> u64 {
        let mut count = 0;
        self.open(|_, left, _| count = left.iter().map(|range| range.end - range.start).sum());
        count
    }

    /// The level so many before the present one, where all of it is still there.
    pub fn level(&self, back: usize) -> Option<Arc<Level>> {
        let levels = lock(&self.levels);
        match back {
            0 => (!levels.rest).then(|| levels.now.clone()),
            back => levels.before.get(levels.before.len().checked_sub(back)?).cloned(),
        }
    }
}
