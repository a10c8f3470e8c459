//! When to stop: the user's limits, and how long a single question may take.

use scrimp_core::{Budget, Control, Limit};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Looks of the solver between two looks at the clock.
const CLOCK: u64 = 256;

/// Looks at the clock between two looks at the memory.
const MEMORY: u64 = 64;

/// What the solver looks at while it works.
pub struct Limits<'a> {
    control: &'a Control,
    budget: &'a Budget,
    looks: Cell<u64>,
    reached: Cell<Option<Limit>>,
    /// When the question at hand is to be given up, and whether it was.
    until: Cell<Option<Instant>>,
    given_up: Cell<bool>,
}

impl<'a> Limits<'a> {
    /// Limits of which none is reached yet.
    pub fn new(control: &'a Control, budget: &'a Budget) -> Limits<'a> {
        Limits {
            control,
            budget,
            looks: Cell::new(0),
            reached: Cell::new(None),
            until: Cell::new(None),
            given_up: Cell::new(false),
        }
    }

    /// The next question may take so long, or as long as it likes.
    pub fn begin(&self, patience: Option<Duration>) {
        self.until.set(patience.and_then(|patience| Instant::now().checked_add(patience)));
        self.given_up.set(false);
    }

    /// Is it time to stop? Cheap enough for every decision of the solver.
    pub fn look(&self) -> bool {
        let looks = self.looks.get() + 1;
        self.looks.set(looks);
        if looks.is_multiple_of(CLOCK) {
            self.look_closely(looks.is_multiple_of(CLOCK * MEMORY));
        }
        self.given_up.get() || self.reached.get().is_some()
    }

    /// Looks at the clock, and at the memory if that is wanted.
    pub fn look_closely(&self, memory: bool) -> Option<Limit> {
        if self.reached.get().is_none() {
            let full = memory && self.budget.left() == 0;
            self.reached.set(self.control.stopped(0).or(full.then_some(Limit::Memory)));
        }
        if self.until.get().is_some_and(|until| Instant::now() >= until) {
            self.given_up.set(true);
        }
        self.reached.get()
    }

    /// The limit that was reached.
    pub fn reached(&self) -> Option<Limit> {
        self.reached.get()
    }

    /// Ends everything: there is no more memory.
    pub fn out_of_memory(&self) {
        self.reached.set(Some(Limit::Memory));
    }

    /// Bytes that may still be used.
    pub fn left(&self) -> usize {
        self.budget.left()
    }
}
