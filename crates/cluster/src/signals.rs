//! What the threads of one process share: the wish to stop, that somebody is gone, and how far they have come.

use crate::word::Finding;
use scrimp_core::Limit;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub struct Signals {
    /// Why to stop; 0 for not at all.
    stop: AtomicU8,
    /// Nothing more will come of this: some process is gone.
    gone: AtomicBool,
    why: Mutex<Option<Loss>>,
    /// The session is over, so that links may end.
    pub over: AtomicBool,
    pub states: AtomicU64,
    pub visits: AtomicU64,
    pub transitions: AtomicU64,
    pub depth: AtomicU64,
    /// How long its threads waited for others, all together.
    pub waited_us: AtomicU64,
    /// For each goal the state that decides it, as far as all knew when they last met.
    found: Mutex<Vec<Option<Finding>>>,
    /// Bytes that went out to other processes, and states among them.
    pub sent_bytes: AtomicU64,
    pub sent_states: AtomicU64,
}

/// Who is gone, as far as this process knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    pub process: usize,
    pub why: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It ended, or cannot go on.
    Gone,
    /// The connection to it broke, which says nothing of itself.
    Broke,
    /// It and this process are both there, and do not reach each other.
    Apart(usize),
}

/// A process is gone, or there is nobody left to work with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

const LIMITS: [Limit; 5] = [Limit::Memory, Limit::Time, Limit::Interrupt, Limit::Disk, Limit::Cache];

/// A limit as a number that is not 0.
pub fn number_of(limit: Limit) -> u8 {
    LIMITS.iter().position(|other| *other == limit).map_or(3, |at| at as u8 + 1)
}

pub fn limit_of(number: u8) -> Option<Limit> {
    LIMITS.get((number as usize).checked_sub(1)?).copied()
}

impl Signals {
    /// Before the next search.
    pub fn reset(&self) {
        self.stop.store(0, Ordering::Relaxed);
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let figures = [&self.states, &self.visits, &self.transitions, &self.depth, &self.waited_us];
        for figure in figures.into_iter().chain([&self.sent_bytes, &self.sent_states]) {
            figure.store(0, Ordering::Relaxed);
        }
    }

    pub fn find(&self, findings: &[Option<Finding>]) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if *found != findings {
            *found = findings.to_vec();
        }
    }

    /// What all know, for each goal; nothing where they have not met.
    pub fn found(&self) -> Vec<Option<Finding>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn stop(&self, limit: Limit) {
        let _ = self.stop.compare_exchange(0, number_of(limit), Ordering::Relaxed, Ordering::Relaxed);
    }

    pub fn stopped(&self) -> Option<Limit> {
        limit_of(self.stop.load(Ordering::Relaxed))
    }

    pub fn lose(&self, process: usize, why: impl Into<String>) {
        self.lose_as(Kind::Gone, process, why);
    }

    /// The first loss counts: others may follow from it.
    pub fn lose_as(&self, kind: Kind, process: usize, why: impl Into<String>) {
        let mut first = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| Loss { process, why: why.into(), kind });
        self.gone.store(true, Ordering::Release);
    }

    pub fn is_lost(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    pub fn loss(&self) -> Option<Loss> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
