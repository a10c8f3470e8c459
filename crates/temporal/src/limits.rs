//! How much work a translation may be, and what is said when it would be more.

use std::fmt;
use std::time::Instant;

/// What a translation may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most states of any automaton on the way.
    pub states: usize,
    /// When it must have ended.
    pub until: Option<Instant>,
}

impl Default for Limits {
    /// Ten thousand states, in any time.
    fn default() -> Limits {
        Limits { states: 10_000, until: None }
    }
}

/// Why there is no automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooLarge {
    /// It would have more states, or edges, than allowed.
    States,
    /// It was not ready in time.
    Time,
    /// It takes more steps, or more memory on the way, than is sensible.
    Steps,
    /// The formula has more than 64 atoms, or one with a number of 64 or more.
    Atoms,
    /// It would need more than 64 acceptance sets.
    Sets,
    /// The formula has path quantifiers: it is not about one run.
    Quantifier,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TooLarge::States => "the automaton of the formula has too many states",
            TooLarge::Time => "the automaton of the formula was not ready in time",
            TooLarge::Steps => "the automaton of the formula takes too much work",
            TooLarge::Atoms => "the formula has more than 64 atoms",
            TooLarge::Sets => "the automaton of the formula needs more than 64 acceptance sets",
            TooLarge::Quantifier => "a formula with path quantifiers has no automaton on words",
        })
    }
}

impl std::error::Error for TooLarge {}

/// The steps that a translation may take: a few seconds' worth.
const STEPS: u64 = 30_000_000;

/// Counts steps, and looks at the clock now and then.
#[derive(Debug, Clone)]
pub(crate) struct Meter {
    left: u64,
    until: Option<Instant>,
    pub states: usize,
}

impl Meter {
    pub fn new(limits: &Limits) -> Meter {
        Meter { left: STEPS, until: limits.until, states: limits.states }
    }

    /// A meter for something that may as well be left out: it allows a small part of what is left.
    pub fn part(&self, steps: u64) -> Meter {
        Meter { left: steps.min(self.left), until: self.until, states: self.states }
    }

    /// A meter for what is never long: no limits but the steps.
    pub fn free() -> Meter {
        Meter { left: u64::MAX, until: None, states: usize::MAX }
    }

    /// One step more.
    pub fn tick(&mut self) -> Result<(), TooLarge> {
        self.left = self.left.checked_sub(1).ok_or(TooLarge::Steps)?;
        if self.left & 0x3ff == 0 && self.until.is_some_and(|until| Instant::now() > until) {
            return Err(TooLarge::Time);
        }
        Ok(())
    }

    /// So many states, or edges of states, are needed.
    pub fn states(&self, count: usize) -> Result<(), TooLarge> {
        if count > self.states { Err(TooLarge::States) } else { Ok(()) }
    }
}
