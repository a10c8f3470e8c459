//! A part of the memory budget from which smaller parts come and to which they go back.

use scrimp_core::Budget;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes taken from the budget, for structures that come and go.
#[derive(Clone)]
pub struct Pool(Arc<Whole>);

struct Whole {
    bytes: usize,
    taken: AtomicUsize,
    budget: Arc<Budget>,
}

impl Pool {
    pub fn new(bytes: usize, budget: &Arc<Budget>) -> Pool {
        budget.take(bytes);
        Pool(Arc::new(Whole { bytes, taken: AtomicUsize::new(0), budget: budget.clone() }))
    }

    pub fn left(&self) -> usize {
        self.0.bytes.saturating_sub(self.0.taken.load(Ordering::Relaxed))
    }

    /// A part of so many bytes, whether or not there are so many left: who can do with less asks first.
    pub fn take(&self, bytes: usize) -> Part {
        self.0.taken.fetch_add(bytes, Ordering::Relaxed);
        Part { bytes, pool: self.clone() }
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// Bytes of a pool, given back when dropped.
pub struct Part {
    bytes: usize,
    pool: Pool,
}

impl Part {
    /// Takes so many bytes more, if that is at most half of what is left.
    pub fn grow(&mut self, more: usize) -> bool {
        let Whole { bytes, taken, .. } = &*self.pool.0;
        let fits = |taken: usize| (more <= bytes.saturating_sub(taken) / 2).then(|| taken + more);
        let grown = taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        self.bytes += if grown { more } else { 0 };
        grown
    }

    pub fn resize(&mut self, bytes: usize) {
        let taken = &self.pool.0.taken;
        taken.fetch_add(bytes, Ordering::Relaxed);
        taken.fetch_sub(std::mem::replace(&mut self.bytes, bytes), Ordering::Relaxed);
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.pool.0.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
