//! A panic in one of several threads, in a model written in Rust, say. It must not leave the others waiting: whoever catches it
//! tells them to end, and passes it on when all have.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

/// What the first thread that panicked did so with.
#[derive(Default)]
pub struct Panics(Mutex<Option<Box<dyn Any + Send>>>);

impl Panics {
    /// Does some work; `None` when it panicked.
    pub fn catch<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let first = |panic| {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
        };
        catch_unwind(AssertUnwindSafe(work)).map_err(first).ok()
    }

    /// Has a thread panicked?
    pub fn any(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Panics as the first thread did, if one has.
    pub fn pass_on(&self) {
        let panic = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}
