//! Where threads wait for each other between two rounds of work: for a moment by looking again and again, as most rounds are
//! short, and then asleep.

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Condvar, Mutex, size, spin_loop};
use std::sync::PoisonError;

/// How often a thread looks before it sleeps.
const LOOKS: usize = size(4000, 0);
/// The same where there are more threads than cores.
const FEW_LOOKS: usize = size(20, 0);

pub struct Gate {
    /// Threads that pass together.
    threads: AtomicUsize,
    waiting: AtomicUsize,
    /// How often all have passed.
    passed: AtomicUsize,
    looks: usize,
    asleep: Mutex<()>,
    awake: Condvar,
}

impl Gate {
    /// For the present thread; others [join](Gate::join) before it waits. There may be so many in all.
    pub fn new(most: usize) -> Gate {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Gate {
            threads: AtomicUsize::new(1),
            waiting: AtomicUsize::new(0),
            passed: AtomicUsize::new(0),
            looks: if most <= cores { LOOKS } else { FEW_LOOKS },
            asleep: Mutex::new(()),
            awake: Condvar::new(),
        }
    }

    /// For so many threads.
    pub fn of(threads: usize) -> Gate {
        let gate = Gate::new(threads);
        gate.threads.store(threads, Ordering::Relaxed);
        gate
    }

    pub fn join(&self) {
        self.threads.fetch_add(1, Ordering::Relaxed);
    }

    /// Threads that pass together.
    pub fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    pub fn leave(&self) {
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }

    /// Waits until all threads are here. What they did before is seen by all afterwards.
    pub fn wait(&self) {
        let passed = self.passed.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads.load(Ordering::Relaxed) {
            self.waiting.store(0, Ordering::Relaxed);
            self.passed.store(passed.wrapping_add(1), Ordering::Release);
            drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
            self.awake.notify_all();
            return;
        }
        for _ in 0..self.looks {
            if self.passed.load(Ordering::Acquire) != passed {
                return;
            }
            spin_loop();
        }
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        while self.passed.load(Ordering::Acquire) == passed {
            asleep = self.awake.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
