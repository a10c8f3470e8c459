//! When work has to end before it is done: at a point in time, when somebody asks, or when memory is used up.
//!
//! A [`Stop`] is handed to whatever may take long, which looks at it now and then and leaves its work where it is. Copies
//! belong together: to ask one is to ask them all. One [beneath](Stop::beneath) another can be asked by itself.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why work has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    Time,
    Interrupt,
    Memory,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Time => "the time limit is over",
            Cause::Interrupt => "it was interrupted",
            Cause::Memory => "the memory budget is used up",
        })
    }
}

/// When to stop.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    deadline: Option<Instant>,
    asked: Arc<AtomicBool>,
    /// Whom to ask as well.
    above: Option<Arc<AtomicBool>>,
    memory: Option<Memory>,
}

/// Bytes that may be used, and who knows how many are.
#[derive(Debug, Clone, Copy)]
struct Memory {
    most: usize,
    used: fn() -> Option<usize>,
}

impl Stop {
    /// Only when somebody asks.
    pub fn never() -> Stop {
        Stop::default()
    }

    /// At a point in time at the latest, if one is given.
    pub fn at(deadline: Option<Instant>) -> Stop {
        Stop { deadline, ..Stop::default() }
    }

    /// When more bytes than these are used, too.
    pub fn with_memory(mut self, most: usize, used: fn() -> Option<usize>) -> Stop {
        self.memory = Some(Memory { most, used });
        self
    }

    /// The same, but at the latest when so much time has gone by.
    pub fn within(&self, time: Duration) -> Stop {
        let end = Instant::now().checked_add(time);
        let deadline = match (self.deadline, end) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Stop { deadline, ..self.clone() }
    }

    /// The same for a part of the work, which can be asked to end while the rest goes on. A part has no parts.
    pub fn beneath(&self) -> Stop {
        Stop { asked: Arc::default(), above: Some(self.asked.clone()), ..self.clone() }
    }

    /// Asks everybody who has this to end.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// When it ends at the latest.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Has somebody asked? Costs nothing.
    #[inline]
    pub fn asked(&self) -> Option<Cause> {
        let asked = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        (asked(&self.asked) || self.above.as_ref().is_some_and(asked)).then_some(Cause::Interrupt)
    }

    /// Why it is time to stop, if it is. Reads the clock.
    #[inline]
    pub fn due(&self) -> Option<Cause> {
        let over = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.asked().or_else(|| over().then_some(Cause::Time))
    }

    /// The same, having looked at the memory, which takes some microseconds.
    pub fn due_or_full(&self) -> Option<Cause> {
        let full = |memory: Memory| (memory.used)().is_some_and(|used| used > memory.most);
        self.due().or_else(|| self.memory.is_some_and(full).then_some(Cause::Memory))
    }
}

/// Looks at a [`Stop`] every so many rounds.
#[derive(Debug)]
pub struct Rounds<'s> {
    stop: &'s Stop,
    every: u32,
    gone: Cell<u32>,
}

impl<'s> Rounds<'s> {
    /// Looks every so many rounds, and in the first one.
    pub fn new(stop: &'s Stop, every: u32) -> Rounds<'s> {
        Rounds { stop, every: every.max(1), gone: Cell::new(0) }
    }

    /// Another round; fails where it is time to stop.
    #[inline]
    pub fn next(&self) -> Result<(), Cause> {
        let gone = self.gone.get();
        self.gone.set(if gone + 1 == self.every { 0 } else { gone + 1 });
        if gone == 0 { self.stop.due_or_full().map_or(Ok(()), Err) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_asked_together() {
        let stop = Stop::never();
        let copy = stop.within(Duration::from_secs(3600));
        assert_eq!((stop.due(), copy.due()), (None, None));
        copy.ask();
        assert_eq!((stop.due(), copy.due()), (Some(Cause::Interrupt), Some(Cause::Interrupt)));
    }

    #[test]
    fn a_part_is_asked_alone_and_with_the_whole() {
        let whole = Stop::never();
        let (one, other) = (whole.beneath(), whole.beneath());
        one.ask();
        assert_eq!((one.asked(), other.asked(), whole.asked()), (Some(Cause::Interrupt), None, None));
        whole.ask();
        assert_eq!(other.asked(), Some(Cause::Interrupt));
    }

    #[test]
    fn the_earlier_end_counts() {
        let stop = Stop::never().within(Duration::ZERO);
        assert_eq!(stop.within(Duration::from_secs(3600)).due(), Some(Cause::Time));
        assert_eq!(Stop::at(None).within(Duration::MAX).due(), None);
    }

    #[test]
    fn memory_is_looked_at_when_it_is_asked_for() {
        let stop = Stop::never().with_memory(9, || Some(10));
        assert_eq!((stop.due(), stop.due_or_full()), (None, Some(Cause::Memory)));
        assert_eq!(Stop::never().with_memory(10, || Some(10)).due_or_full(), None);
        let rounds = Rounds::new(&stop, 2);
        assert_eq!([rounds.next(), rounds.next(), rounds.next()], [Err(Cause::Memory), Ok(()), Err(Cause::Memory)]);
    }
}
