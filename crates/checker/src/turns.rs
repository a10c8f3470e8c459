//! Searches of one run take turns, so that a short answer does not wait behind a long search.
//!
//! They are carried out one after the other. Where one takes long, those behind it are tried beside it, and other ways to the
//! answer that it looks for: each for a while, then for longer, with a small part of the memory, and only as long as most of
//! that is free. What comes to an answer beside need not be searched for again; a violation ends the one that takes long,
//! where nothing more is asked after that, and so does its own answer found in another way.

use scrimp_core::budget::resident;
use scrimp_core::{Control, cores};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the first search is left alone.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long one is tried beside it at first; and how many times as long each time after that.
const SLICE: Duration = Duration::from_secs(1);
const LONGER: u32 = 4;
/// Other ways are tried only where an answer takes so long; and, where there are few cores, only for this part of the time.
const LONG: Duration = Duration::from_secs(4);
const SHARE: u32 = 4;
const MANY_CORES: usize = 4;
/// How often it is looked at what they take.
const GLANCE: Duration = Duration::from_millis(20);
/// Of the memory that is free at the beginning, in eighths: what is tried beside may take this; until all take that, it may be
/// begun, and go on; and where memory is used so fast, other ways are tried at once, while there is room.
const EIGHTHS: usize = 8;
const PART: usize = 1;
const BEGIN: usize = 4;
const GO_ON: usize = 6;
const FAST: usize = 2;
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
    /// How many are carried out in turn; the others are other ways to the first answer.
    in_turn: usize,
    /// Does a violation end everything?
    first_ends: bool,
}

struct State<T> {
    all: Vec<Status<T>>,
    /// The one whose turn it is, and what it shares with those who watch it.
    at: usize,
    control: Option<Arc<Control>>,
    /// A search that has found what ends the one whose turn it is.
    decisive: Option<usize>,
    /// What went into other ways.
    spent: Duration,
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
    /// For so many searches in turn and so many other ways, with so many helpers.
    pub fn new(in_turn: usize, ways: usize, helpers: usize, memory: usize, first_ends: bool) -> Turns<T> {
        let all = (0..in_turn + ways).map(|_| Status::Waits(0, None)).collect();
        let state = State { all, at: 0, control: None, decisive: None, spent: Duration::ZERO, over: false };
        let base = resident().unwrap_or(0);
        let (state, changed) = (Mutex::new(state), Condvar::new());
        Turns { state, changed, begun: Instant::now(), base, memory, helpers, in_turn, first_ends }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The turn of a search has come. Waits for who works at it.
    pub fn reach(&self, number: usize) -> Known<T> {
        let mut state = self.lock();
        (state.at, state.control) = (number, None);
        if number > 0 {
            state.all[self.in_turn..].iter_mut().for_each(Status::dismiss);
            state.decisive = state.decisive.filter(|decisive| *decisive < self.in_turn);
        }
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
        if state.decisive.is_some() {
            control.interrupt();
        }
    }

    /// The search that has ended the one whose turn it is, or was: by its answer, or by a violation after which nothing is asked.
    pub fn decisive(&self) -> Option<(usize, T)> {
        let mut state = self.lock();
        let number = state.decisive.take()?;
        match std::mem::replace(&mut state.all[number], Status::Left) {
            Status::Done(found) => Some((number, found)),
            _ => None,
        }
    }

    /// Everything is over, whatever happens, once this is dropped.
    pub fn until_dropped(&self) -> impl Drop + '_ {
        struct Finish<'t, T>(&'t Turns<T>);
        impl<T> Drop for Finish<'_, T> {
            fn drop(&mut self) {
                self.0.finish();
            }
        }
        Finish(self)
    }

    /// Everything is over: whoever works beside may go.
    fn finish(&self) {
        let mut state = self.lock();
        state.over = true;
        state.all.iter_mut().for_each(Status::dismiss);
        self.changed.notify_all();
    }

    /// Looks at what is done beside until everything is over.
    pub fn watch(&self) {
        let mut state = self.lock();
        while !state.over {
            let full = self.used() > self.eighths(GO_ON);
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

    /// So many eighths of the memory that was free at the beginning.
    fn eighths(&self, number: usize) -> usize {
        self.memory.saturating_sub(self.base) / EIGHTHS * number
    }

    fn used(&self) -> usize {
        resident().unwrap_or(0).saturating_sub(self.base)
    }

    /// The next search to try beside the one whose turn it is, and the memory that the process may use then; nothing once there
    /// is no more to do.
    pub fn next(&self) -> Option<(usize, usize)> {
        let mut state = self.lock();
        loop {
            let (at, gone, used) = (state.at, self.begun.elapsed(), self.used());
            let long =
                (gone > LONG || used > self.eighths(FAST)) && (cores() >= MANY_CORES || state.spent * SHARE < gone);
            let open = |(number, status): (usize, &Status<T>)| match status {
                Status::Waits(..) if number <= at || number >= self.in_turn && (at > 0 || !long) => None,
                Status::Waits(tried, _) => Some((*tried, number)),
                _ => None,
            };
            let last = at + 1 >= self.in_turn && (at > 0 || self.in_turn == state.all.len());
            if state.over || last {
                return None;
            }
            let waiting: Vec<(u32, usize)> = state.all.iter().enumerate().filter_map(open).collect();
            let part = self.eighths(PART);
            let room = used + part <= self.eighths(BEGIN) && part >= LEAST && gone >= PATIENCE;
            if let Some(&(tried, number)) = waiting.iter().min().filter(|_| room && state.decisive.is_none()) {
                let slice = match waiting.len() <= self.helpers {
                    true => Duration::MAX,
                    false => SLICE * LONGER.saturating_pow((tried + (number >= self.in_turn) as u32).min(10)),
                };
                let (since, control) = (Instant::now(), None);
                let beside = Beside { tried, since, slice, control, awaited: false, dismissed: false };
                state.all[number] = Status::Beside(beside);
                return Some((number, self.base + used + part));
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
        let another_way = number >= self.in_turn;
        let tried = match &state.all[number] {
            Status::Beside(beside) => {
                let (tried, taken) = (beside.tried + 1, beside.since.elapsed());
                state.spent += if another_way { taken } else { Duration::ZERO };
                tried
            }
            _ => 1,
        };
        state.all[number] = match found {
            Some(found) if decided => Status::Done(found),
            Some(found) => Status::Waits(tried, Some(found)),
            None => Status::Left,
        };
        let ends = if another_way { decided && state.at == 0 } else { violated && self.first_ends };
        if ends && state.decisive.is_none() {
            state.decisive = Some(number);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const MUCH: usize = 1 << 40;

    /// As if this had begun long ago.
    fn turns(in_turn: usize, ways: usize, helpers: usize) -> Turns<&'static str> {
        let mut turns = Turns::new(in_turn, ways, helpers, MUCH, true);
        turns.begun = Instant::now().checked_sub(LONG + PATIENCE).unwrap();
        turns
    }

    #[test]
    fn what_was_found_beside_is_known_when_its_turn_comes() {
        let turns = turns(3, 0, 1);
        assert!(matches!(turns.reach(0), Known::Nothing));
        assert_eq!(turns.next().map(|(number, _)| number), Some(1));
        turns.end(1, Some("part"), false, false);
        // What was not tried yet comes first.
        assert_eq!(turns.next().map(|(number, _)| number), Some(2));
        turns.end(2, Some("all"), true, false);
        assert!(matches!(turns.reach(1), Known::Part("part")));
        assert!(matches!(turns.reach(2), Known::All("all")));
        assert!(turns.next().is_none());
    }

    #[test]
    fn a_violation_ends_what_takes_long() {
        let turns = turns(2, 0, 1);
        let control = Arc::new(Control::new(None));
        turns.reach(0);
        turns.began(&control);
        assert_eq!(turns.next().map(|(number, _)| number), Some(1));
        turns.end(1, Some("violated"), true, true);
        assert!(control.stop().asked().is_some());
        assert_eq!(turns.decisive(), Some((1, "violated")));
        assert_eq!(turns.decisive(), None);
    }

    #[test]
    fn an_answer_found_in_another_way_ends_its_own_search_only() {
        let turns = turns(2, 1, 1);
        let first = Arc::new(Control::new(None));
        turns.reach(0);
        turns.began(&first);
        assert_eq!(turns.next().map(|(number, _)| number), Some(1));
        turns.end(1, None, false, false);
        assert_eq!(turns.next().map(|(number, _)| number), Some(2));
        turns.end(2, Some("answer"), true, false);
        assert!(first.stop().asked().is_some());
        // The search had come to its own answer by then.
        let second = Arc::new(Control::new(None));
        assert!(matches!(turns.reach(1), Known::Nothing));
        turns.began(&second);
        assert!(second.stop().asked().is_none() && turns.decisive().is_none());
    }

    #[test]
    fn whose_turn_comes_waits_for_who_works_at_it() {
        let turns = turns(2, 0, 1);
        turns.reach(0);
        let (number, _) = turns.next().unwrap();
        thread::scope(|scope| {
            let waits = scope.spawn(|| matches!(turns.reach(1), Known::All("late")));
            thread::sleep(3 * GLANCE);
            turns.end(number, Some("late"), true, false);
            assert!(waits.join().unwrap());
        });
    }

    #[test]
    fn who_works_beside_is_sent_away() {
        let turns = turns(3, 0, 1);
        let control = Arc::new(Control::new(None));
        turns.reach(0);
        let (number, _) = turns.next().unwrap();
        turns.finish();
        // It is told so even if it begins only now.
        turns.began_beside(number, &control);
        assert!(control.stop().asked().is_some() && turns.next().is_none());
        turns.watch();
    }

    #[test]
    fn nothing_is_done_beside_in_little_memory() {
        let mut turns: Turns<&str> = turns(2, 0, 1);
        turns.memory = turns.base + LEAST;
        turns.reach(0);
        thread::scope(|scope| {
            let helper = scope.spawn(|| turns.next());
            thread::sleep(3 * GLANCE);
            turns.finish();
            assert_eq!(helper.join().unwrap(), None);
        });
    }
}
