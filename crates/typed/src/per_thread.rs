//! Something for each thread that it uses again and again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// More than there are threads, mostly.
const MANY: usize = 64;

/// One for each thread. A thread finds the same one again unless another uses it.
pub struct PerThread<T> {
    all: Box<[Apart<T>]>,
}

/// No two of them in one cache line.
#[repr(align(128))]
struct Apart<T>(Mutex<T>);

impl<T: Default> Default for PerThread<T> {
    fn default() -> PerThread<T> {
        PerThread { all: (0..MANY).map(|_| Apart(Mutex::default())).collect() }
    }
}

impl<T> PerThread<T> {
    /// Those of all threads, each once nobody uses it.
    pub fn all(&self) -> impl Iterator<Item = MutexGuard<'_, T>> {
        self.all.iter().map(|one| one.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// One that nobody else uses now.
    pub fn own(&self) -> MutexGuard<'_, T> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static MINE: usize = NEXT.fetch_add(1, Ordering::Relaxed);
        }
        let mine = MINE.with(|mine| *mine);
        for step in 0..MANY {
            match self.all[(mine + step) % MANY].0.try_lock() {
                Ok(own) => return own,
                // Whoever left it so was in the midst of something; what it holds is only a help.
                Err(TryLockError::Poisoned(own)) => return own.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        self.all[mine % MANY].0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
