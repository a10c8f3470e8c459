//! Room that a thread has secured for keys to come, and how many it has added.
//!
//! A thread takes room for thousands of keys at a time and counts by itself what it uses, so that threads seldom meet. When
//! the table grows, all leases end.

use crate::store::Full;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Apart, size};
use std::sync::{Arc, PoisonError};

/// Keys for which room is secured at once, unless it is scarce.
const MANY: usize = size(1 << 12, 2);

/// What all threads have secured and used.
#[derive(Default)]
pub struct Leases {
    taken: Apart<AtomicUsize>,
    /// How often all leases have ended.
    ends: AtomicUsize,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    used: Vec<Arc<Apart<AtomicUsize>>>,
    /// By threads that have gone.
    before: usize,
}

/// One thread's lease.
pub struct Lease {
    all: Arc<Leases>,
    /// Keys that this thread has added.
    used: Arc<Apart<AtomicUsize>>,
    left: usize,
    begun: usize,
}

impl Leases {
    /// Keys added by all threads.
    pub fn used(&self) -> usize {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.before + threads.used.iter().map(|used| used.load(Ordering::Relaxed)).sum::<usize>()
    }

    /// How many threads have a lease.
    pub fn threads(&self) -> usize {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).used.len()
    }

    /// Ends all leases. Nobody may be inserting.
    pub fn end(&self) {
        self.ends.fetch_add(1, Ordering::Relaxed);
        self.taken.store(self.used(), Ordering::Relaxed);
    }

    /// Counts keys that nobody added, or takes as many back.
    pub fn set_used(&self, keys: usize) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.used.iter().for_each(|used| used.store(0, Ordering::Relaxed));
        threads.before = keys;
    }
}

impl Lease {
    pub fn new(all: &Arc<Leases>) -> Lease {
        let used = Arc::<Apart<AtomicUsize>>::default();
        all.threads.lock().unwrap_or_else(PoisonError::into_inner).used.push(used.clone());
        Lease { all: all.clone(), used, left: 0, begun: all.ends.load(Ordering::Relaxed) }
    }

    #[inline]
    pub fn has(&self, keys: usize) -> bool {
        self.left >= keys && self.begun == self.all.ends.load(Ordering::Relaxed)
    }

    /// Takes room for so many keys, and more where there is much, of a table that has so much in all.
    pub fn renew(&mut self, keys: usize, room: usize) -> Result<(), Full> {
        self.give_back();
        let scarce = room.saturating_sub(self.all.taken.load(Ordering::Relaxed)) / (4 * self.all.threads());
        let wanted = keys.max(scarce.min(MANY));
        let take = |taken: usize| taken.checked_add(wanted).filter(|&all| all <= room);
        self.all.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map_err(|_| Full)?;
        self.left = wanted;
        Ok(())
    }

    fn give_back(&mut self) {
        let ends = self.all.ends.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.begun, ends) == ends {
            self.all.taken.fetch_sub(self.left, Ordering::Relaxed);
        }
        self.left = 0;
    }

    /// So many keys were added.
    #[inline]
    pub fn use_up(&mut self, keys: usize) {
        self.left -= keys;
        self.count(keys);
    }

    /// So many keys were added for which there was room anyway.
    #[inline]
    pub fn count(&self, keys: usize) {
        self.used.store(self.used.load(Ordering::Relaxed) + keys, Ordering::Relaxed);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.give_back();
        let mut threads = self.all.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.before += self.used.load(Ordering::Relaxed);
        threads.used.retain(|used| !Arc::ptr_eq(used, &self.used));
    }
}
