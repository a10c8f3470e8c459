//! Breadth first on several threads: a shared table, and each level's states handed out in chunks.
//!
//! All threads run the same round: work, wait for each other, let the first one settle what comes next while nobody
//! touches the table, and go on. A round ends when a level is done or when the table must grow. At the end of a level its
//! numbers are dense again, whatever blocks the threads took, so levels are ranges as in the sequential search and all
//! totals are the same. Narrow levels, which would be all waiting and no work, the first thread expands alone.

use crate::breadth_first::Worker;
use crate::check::{Check, Flow};
use crate::estimate::foresee;
use crate::gate::Gate;
use crate::outcome::{Ended, Position, batch_size, widths};
use crate::panics::Panics;
use crate::reduce::{Expansion, Grounded, ReductionFactory};
use crate::store::StateId;
use crate::store::table::{BLOCK, Concurrent, Shared, batch_need};
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, RwLock, size, start, thread};
use scrimp_core::{Control, GraphFacts, Limit};
use scrimp_system::Model;
use std::io;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::PoisonError;

/// States a thread takes at once.
const CHUNK: u32 = size(256, 2) as u32;
/// Levels with fewer states than this for each thread are not shared out.
const NARROW: u32 = size(512, 1) as u32;

/// What the threads share beside the table.
struct Level<'a> {
    table: &'a Shared,
    control: &'a Control,
    gate: Gate,
    /// Next state to hand out, and the end of the level.
    cursor: AtomicU32,
    end: AtomicU32,
    depth: AtomicU32,
    /// Someone wants the round to end: for room, or for good.
    pause: AtomicBool,
    transitions: AtomicU64,
    meeting: Mutex<Meeting>,
    panics: Panics,
}

/// What threads note before they wait, and what the first one then settles.
struct Meeting {
    levels: Vec<StateId>,
    /// The numbers each thread has taken and not used.
    gaps: Vec<Range<u32>>,
    /// States each thread has taken and not expanded.
    left: Vec<Vec<Range<u32>>>,
    /// Numbers needed by the threads that found no room.
    wanted: usize,
    ended: Option<Ended>,
    next: Next,
    facts: GraphFacts,
}

#[derive(Clone, Copy)]
enum Next {
    /// The same level goes on.
    Resume,
    /// The index was enlarged: all fill it, then the same level goes on.
    Refill,
    Level,
    Finish,
}

/// Searches, from `position` on. Fails when the threads cannot be started. A panic in one of them (in a model written in
/// Rust, say) ends the search and is passed on.
pub fn search<S: Concurrent>(
    model: &dyn Model,
    mut store: S,
    check: &dyn Check,
    control: &Control,
    threads: usize,
    position: &mut Position,
    (reduce, grounded): (&ReductionFactory, &Grounded),
) -> io::Result<(S, Ended)> {
    let mut ended = None;
    if position.levels.is_empty() {
        let mut first = Worker::new(model, check);
        first.start();
        ended = match store.offer(&first.successors, 0..first.successors.len(), &mut first.found) {
            Err(_) => Some(Ended::Limit(Limit::Memory)),
            Ok(()) => (first.show(0) == Flow::Stop).then_some(Ended::Decided),
        };
        let initial = store.len() as u32;
        (position.facts.initial_states, position.facts.widest) = (initial as u64, initial as u64);
        position.levels = vec![0, initial];
        position.left.push(0..initial);
    }
    let end = position.level_end();
    // The level goes on where its last part begins; parts before that were left by threads that had to stop.
    let mut early = std::mem::take(&mut position.left);
    let rest = early.iter().position(|part| part.end == end).map_or(end..end, |at| early.swap_remove(at));
    let shared = store.table().shared().clone();
    let level = Level {
        table: &shared,
        control,
        gate: Gate::of(threads),
        cursor: AtomicU32::new(rest.start),
        end: AtomicU32::new(end),
        depth: AtomicU32::new(position.depth()),
        pause: AtomicBool::new(ended.is_some()),
        transitions: AtomicU64::new(position.facts.transitions),
        meeting: Mutex::new(Meeting {
            levels: std::mem::take(&mut position.levels),
            gaps: vec![0..0; threads],
            left: vec![Vec::new(); threads],
            wanted: 0,
            ended,
            next: Next::Resume,
            facts: std::mem::take(&mut position.facts),
        }),
        panics: Panics::default(),
    };
    // Threads wait at the gate until all are there: those that exist would wait for the missing ones for ever.
    let gate = RwLock::new(false);
    let mut stores: Vec<S> = thread::scope(|scope| -> io::Result<Vec<S>> {
        let mut all_started = gate.write().unwrap_or_else(PoisonError::into_inner);
        let mut handles = Vec::with_capacity(threads);
        for (me, store) in store.share(threads).into_iter().enumerate() {
            let (level, gate) = (&level, &gate);
            let early = if me == 0 { std::mem::take(&mut early) } else { Vec::new() };
            let thread = move || {
                if *gate.read().unwrap_or_else(PoisonError::into_inner) {
                    let worker = Worker::new(model, check).reducing(reduce(Expansion::Stateful), true);
                    let worker = worker.remembering(grounded);
                    Thread { me, threads, level, store, worker, early, waiting: 0 }.run()
                } else {
                    store
                }
            };
            let lacking = |e: io::Error| io::Error::new(e.kind(), format!("cannot start {threads} threads: {e}"));
            handles.push(start(scope, thread).map_err(lacking)?);
        }
        *all_started = true;
        drop(all_started);
        Ok(handles.into_iter().map(|h| h.join().unwrap_or_else(|panic| resume_unwind(panic))).collect())
    })?;
    let (cursor, end) = (level.cursor.load(Ordering::Relaxed), level.end.load(Ordering::Relaxed));
    level.panics.pass_on();
    let meeting = level.meeting.into_inner().unwrap_or_else(PoisonError::into_inner);
    let left = meeting.left.into_iter().flatten().chain(std::iter::once(cursor.min(end)..end)).collect();
    *position = Position { levels: meeting.levels, left, facts: meeting.facts };
    position.settle(shared.len());
    let mut store = stores.swap_remove(0);
    drop((stores, shared));
    store.own();
    Ok((store, meeting.ended.unwrap_or(Ended::Complete)))
}

struct Thread<'a, S> {
    me: usize,
    threads: usize,
    level: &'a Level<'a>,
    store: S,
    worker: Worker<'a>,
    /// Parts of the level that were left when the search stopped before.
    early: Vec<Range<u32>>,
    /// States whose successors are generated but found no room yet.
    waiting: u32,
}

impl<S: Concurrent> Thread<'_, S> {
    fn run(mut self) -> S {
        let mut chunk = 0..0;
        loop {
            self.work(&mut chunk);
            self.note(&chunk);
            self.level.gate.wait();
            if self.me == 0 {
                self.settle();
            }
            self.level.gate.wait();
            let (next, gaps) = {
                let meeting = self.meeting();
                (meeting.next, meeting.gaps.clone())
            };
            match next {
                Next::Resume => {}
                Next::Refill => {
                    self.refill(&gaps);
                    self.level.gate.wait();
                }
                Next::Level => self.store.table_mut().drop_block(),
                Next::Finish => {
                    self.meeting().facts.merge(&self.worker.facts);
                    return self.store;
                }
            }
        }
    }

    fn meeting(&self) -> MutexGuard<'_, Meeting> {
        self.level.meeting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Expands states of the level until there are none left or someone wants a pause. A panic becomes the search's end:
    /// the others must not wait for this thread in vain.
    fn work(&mut self, chunk: &mut Range<u32>) {
        if self.level.panics.catch(|| self.expand_chunks(chunk)).is_none() {
            self.end(Ended::Decided);
        }
    }

    fn expand_chunks(&mut self, chunk: &mut Range<u32>) {
        let level = self.level;
        let (depth, end) = (level.depth.load(Ordering::Relaxed), level.end.load(Ordering::Relaxed));
        let batch = batch_size(self.worker.successors.state_bytes());
        let mut ids = Vec::with_capacity(batch);
        for tick in 0u64.. {
            if level.pause.load(Ordering::Relaxed) {
                return;
            }
            if let Some(limit) = level.control.stopped(tick) {
                return self.end(Ended::Limit(limit));
            }
            if level.control.pause_due(tick) {
                return self.end(Ended::Paused);
            }
            if self.waiting == 0 {
                if chunk.start == chunk.end {
                    if let Some(part) = self.early.pop() {
                        *chunk = part;
                        continue;
                    }
                    // Looking first keeps the cursor from running away while others still work.
                    if level.cursor.load(Ordering::Relaxed) >= end {
                        return;
                    }
                    let start = level.cursor.fetch_add(CHUNK, Ordering::Relaxed);
                    *chunk = start.min(end)..start.saturating_add(CHUNK).min(end);
                    continue;
                }
                ids.clear();
                ids.extend(chunk.by_ref().take(batch));
                self.waiting = ids.len() as u32;
                if self.worker.expand(ids.iter().copied(), &self.store, depth) == Flow::Stop {
                    return self.end(Ended::Decided);
                }
            }
            let successors = self.worker.successors.len();
            self.worker.found.clear();
            if self.store.offer(&self.worker.successors, 0..successors, &mut self.worker.found).is_err() {
                self.meeting().wanted += batch_need(successors);
                return level.pause.store(true, Ordering::Relaxed);
            }
            if self.worker.answered(depth + 1, end) == Flow::Stop {
                self.waiting = 0;
                return self.end(Ended::Decided);
            }
            self.publish(depth, successors as u64);
            // Who expands which state of this level when is not known; those of the next one come later.
            if !self.worker.expand_fully(|found, i| found[i].id >= end) {
                self.waiting = 0;
            }
        }
    }

    fn publish(&self, depth: u32, successors: u64) {
        let (level, control) = (self.level, self.level.control);
        let transitions = level.transitions.fetch_add(successors, Ordering::Relaxed) + successors;
        // Threads take numbers, and states to expand, before they use them: what is shown never goes back in the end.
        let threads = self.threads as u64;
        let states = (level.table.len() as u64).saturating_sub(threads * BLOCK as u64);
        let cursor = level.cursor.load(Ordering::Relaxed).min(level.end.load(Ordering::Relaxed)) as u64;
        let visits = cursor.saturating_sub(threads * CHUNK as u64);
        control.transitions.store(transitions, Ordering::Relaxed);
        let states = control.states.fetch_max(states, Ordering::Relaxed).max(states);
        let visits = control.visits.fetch_max(visits, Ordering::Relaxed).max(visits);
        control.open.store(states.saturating_sub(visits), Ordering::Relaxed);
        control.depth.store(depth as u64, Ordering::Relaxed);
    }

    fn end(&self, how: Ended) {
        self.meeting().ended.get_or_insert(how);
        self.level.pause.store(true, Ordering::Relaxed);
    }

    fn note(&mut self, chunk: &Range<u32>) {
        let level = self.level;
        let mut meeting = level.meeting.lock().unwrap_or_else(PoisonError::into_inner);
        meeting.gaps[self.me] = self.store.table().gap();
        let own = chunk.start - self.waiting..chunk.end;
        meeting.left[self.me] = self.early.iter().cloned().chain([own]).collect();
        self.worker.level_done(&meeting.levels);
    }

    fn refill(&self, gaps: &[Range<u32>]) {
        let table = self.level.table;
        let share = table.len().div_ceil(self.threads);
        let bound = |part: usize| (part * share).min(table.len()) as u32;
        table.fill_index::<false>(bound(self.me)..bound(self.me + 1), gaps);
    }

    /// Decides what comes next. All other threads wait.
    fn settle(&mut self) {
        let next = loop {
            if self.meeting().ended.is_some() {
                self.close_gaps();
                break Next::Finish;
            }
            if self.level.pause.swap(false, Ordering::Relaxed) {
                match self.make_room() {
                    Some(true) => break Next::Refill,
                    Some(false) => break Next::Resume,
                    None => continue,
                }
            }
            self.close_gaps();
            if !self.open_level() {
                break Next::Finish;
            }
            if self.width() >= NARROW * self.threads as u32 {
                break Next::Level;
            }
            self.work_alone();
        };
        self.meeting().next = next;
    }

    /// Expands the whole level while the others wait, up to its end or the end of the search.
    fn work_alone(&mut self) {
        let mut chunk = 0..0;
        loop {
            self.work(&mut chunk);
            self.note(&chunk);
            if self.meeting().ended.is_some() || !self.level.pause.swap(false, Ordering::Relaxed) {
                return;
            }
            match self.make_room() {
                Some(true) => {
                    self.level.table.fill_index::<true>(0..self.level.table.len() as u32, &[self.store.table().gap()])
                }
                Some(false) => {}
                None => return,
            }
        }
    }

    /// Gives the table the room that threads asked for, and says whether its index must be filled again; without memory
    /// the search has ended. All other threads wait.
    fn make_room(&self) -> Option<bool> {
        let wanted = std::mem::take(&mut self.meeting().wanted);
        // SAFETY: all other threads wait.
        let refill = unsafe { self.store.prepare_room(wanted) };
        if refill.is_err() {
            self.end(Ended::Limit(Limit::Memory));
        }
        refill.ok()
    }

    fn close_gaps(&mut self) {
        let gaps = std::mem::replace(&mut self.meeting().gaps, vec![0..0; self.threads]);
        // SAFETY: all other threads wait, and each noted its gap; they forget their blocks when they go on.
        unsafe { self.level.table.close_gaps(&gaps) };
        self.store.table_mut().drop_block();
    }

    /// Moves on to the states found last; `false` when there are none.
    fn open_level(&mut self) -> bool {
        let level = self.level;
        let (start, end) = (level.end.load(Ordering::Relaxed), level.table.len() as u32);
        level.cursor.store(start, Ordering::Relaxed);
        if start == end {
            return false;
        }
        level.end.store(end, Ordering::Relaxed);
        level.depth.fetch_add(1, Ordering::Relaxed);
        let mut meeting = self.meeting();
        meeting.levels.push(end);
        meeting.facts.widest = meeting.facts.widest.max((end - start) as u64);
        foresee(level.control, end as u64, || widths(&meeting.levels));
        true
    }

    fn width(&self) -> u32 {
        self.level.end.load(Ordering::Relaxed) - self.level.cursor.load(Ordering::Relaxed)
    }
}
