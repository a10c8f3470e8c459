//! Searches of one run take turns, so that a short answer does not wait behind a long search.
//!
//! They are carried out one after the other. Where one takes long, those behind it are tried beside it: each for a while, then
//! for longer, with a small part of the memory, and only as long as most of that is free. What comes to an answer beside
//! need not be searched for again; a violation ends the one that takes long, where nothing more is asked after that.

use scrimp_core::Control;
use scrimp_core::budget::resident;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the first search is left alone.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long one is tried beside it at first; and how many times as long each time after that.
const SLICE: Duration = Duration::from_secs(1);
const LONGER: u32 = 4;
/// How often it is looked at what they take.
const GLANCE: Duration = Duration::from_millis(20);
/// Of the memory that is free at the beginning, all may take one part of these before nothing is done beside; what is tried
/// beside may take one of these.
const ROOM: usize = 4;
const PART: usize = 8;
/// What is tried beside needs this at least.
const LEAST: usize = 16 << 20;

/// What was found for each of the searches, and who works at which.
pub(crate) struct Turns<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// When it began, and the memory that was in use then and may be in all.
    begun: Instant,
    base: usize,
    memory: usize,
    helpers: usize,
    /// Does a violation end everything?
    first_ends: bool,
}

struct State<T> {
    all: Vec<Status<T>>,
    /// The one whose turn it is, and what it shares with those who watch it.
    at: usize,
    control: Option<Arc<Control>>,
    violated: Option<usize>,
    over: bool,
}

enum Status<T> {
    /// Was tried so often.
    Waits(u32, Option<T>),
    Beside(Beside),
    Done(T),
    /// Is left to its turn.
    Left,
}

struct Beside {
    tried: u32,
    since: Instant,
    slice: Duration,
    control: Option<Arc<Control>>,
    /// Its turn has come: it may take as long as it takes.
    awaited: bool,
    dismissed: bool,
}

/// What is known of a search when its turn comes.
pub(crate) enum Known<T> {
    Nothing,
    /// It was cut short beside another.
    Part(T),
    All(T),
}

impl<T> Turns<T> {
    /// For so many searches, with so many helpers beside the first.
    pub fn new(searches: usize, helpers: usize, memory: usize, first_ends: bool) -> Turns<T> {
        let all = (0..searches).map(|_| Status::Waits(0, None)).collect();
        let state = State { all, at: 0, control: None, violated: None, over: false };
        let base = resident().unwrap_or(0);
        let (state, changed) = (Mutex::new(state), Condvar::new());
        Turns { state, changed, begun: Instant::now(), base, memory, helpers, first_ends }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The turn of a search has come. Waits for who works at it.
    pub fn reach(&self, number: usize) -> Known<T> {
        let mut state = self.lock();
        (state.at, state.control) = (number, None);
        while let Status::Beside(beside) = &mut state.all[number] {
            beside.awaited = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        match std::mem::replace(&mut state.all[number], Status::Left) {
            Status::Done(found) => Known::All(found),
            Status::Waits(_, Some(found)) => Known::Part(found),
            _ => Known::Nothing,
        }
    }

    /// The search whose turn it is has begun, and can be ended by this.
    pub fn began(&self, control: &Arc<Control>) {
        let mut state = self.lock();
        state.control = Some(control.clone());
        if state.violated.is_some() {
            control.interrupt();
        }
    }

    /// The search that has found a violation before its turn, if that ends everything.
    pub fn violated(&self) -> Option<(usize, T)> {
        let mut state = self.lock();
        let number = state.violated?;
        match std::mem::replace(&mut state.all[number], Status::Left) {
            Status::Done(found) => Some((number, found)),
            _ => None,
        }
    }

    /// Everything is over: whoever works beside may go.
    pub fn finish(&self) {
        let mut state = self.lock();
        state.over = true;
        state.all.iter_mut().for_each(Status::dismiss);
        self.changed.notify_all();
    }

    /// Looks at what is done beside until everything is over.
    pub fn watch(&self) {
        let mut state = self.lock();
        while !state.over {
            let full = self.used() > self.memory.saturating_sub(self.base) / ROOM;
            for status in &mut state.all {
                if let Status::Beside(beside) = status
                    && !beside.awaited
                    && (full || beside.since.elapsed() > beside.slice)
                {
                    status.dismiss();
                }
            }
            state = self.changed.wait_timeout(state, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn used(&self) -> usize {
        resident().unwrap_or(0).saturating_sub(self.base)
    }

    /// The next search to try beside the one whose turn it is, and the memory that the process may use then; nothing once there
    /// is no more to do.
    pub fn next(&self) -> Option<(usize, usize)> {
        let mut state = self.lock();
        loop {
            let ahead = state.at + 1;
            let open = |(number, status): (usize, &Status<T>)| match status {
                Status::Waits(tried, _) if number >= ahead => Some((*tried, number)),
                _ => None,
            };
            if state.over || state.violated.is_some() || ahead >= state.all.len() {
                return None;
            }
            let waiting: Vec<(u32, usize)> = state.all.iter().enumerate().filter_map(open).collect();
            let free = self.memory.saturating_sub(self.base);
            let part = free / PART;
            let room = self.used() + part <= free / ROOM && part >= LEAST && self.begun.elapsed() >= PATIENCE;
            if let Some(&(tried, number)) = waiting.iter().min().filter(|_| room) {
                let slice = match waiting.len() <= self.helpers {
                    true => Duration::MAX,
                    false => SLICE * LONGER.saturating_pow(tried.min(10)),
                };
                let (since, control) = (Instant::now(), None);
                let beside = Beside { tried, since, slice, control, awaited: false, dismissed: false };
                state.all[number] = Status::Beside(beside);
                return Some((number, self.base + self.used() + part));
            }
            state = self.changed.wait_timeout(state, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A search beside has begun, and can be ended by this.
    pub fn began_beside(&self, number: usize, control: &Arc<Control>) {
        if let Status::Beside(beside) = &mut self.lock().all[number] {
            beside.control = Some(control.clone());
            if beside.dismissed {
                control.interrupt();
            }
        }
    }

    /// What came of a search beside, if anything did.
    pub fn end(&self, number: usize, found: Option<T>, decided: bool, violated: bool) {
        let mut state = self.lock();
        let tried = match &state.all[number] {
            Status::Beside(beside) => beside.tried + 1,
            _ => 1,
        };
        state.all[number] = match found {
            Some(found) if decided => Status::Done(found),
            Some(found) => Status::Waits(tried, Some(found)),
            None => Status::Left,
        };
        if violated && self.first_ends && state.violated.is_none() {
            state.violated = Some(number);
            if let Some(control) = &state.control {
                control.interrupt();
            }
        }
        self.changed.notify_all();
    }
}

impl<T> Status<T> {
    /// Ends what is done beside.
    fn dismiss(&mut self) {
        if let Status::Beside(beside) = self {
            beside.dismissed = true;
            if let Some(control) = &beside.control {
                control.interrupt();
            }
        }
    }
}
