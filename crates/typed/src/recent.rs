//! States that were made lately, as they are: what is wanted again soon need not be read.

use crate::code::hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Places for states.
const PLACES: usize = 1 << 12;

/// Larger states, in bytes as they are written, are not kept: there would be no room for all.
const LARGE: usize = (16 << 20) / PLACES;

/// A place, and the state that is there with its bytes.
type Place<S> = Mutex<Option<(Vec<u8>, S)>>;

/// States by their bytes; a new one takes the place of another.
pub struct Recent<S> {
    places: Box<[Place<S>]>,
    /// A state has turned out to be large.
    full: AtomicBool,
}

impl<S> Recent<S> {
    pub fn new() -> Recent<S> {
        Recent { places: (0..PLACES).map(|_| Mutex::new(None)).collect(), full: AtomicBool::new(false) }
    }

    fn place(&self, bytes: &[u8]) -> &Place<S> {
        &self.places[hash(bytes) as usize % PLACES]
    }

    /// The state with these bytes, if it is there; then no longer.
    pub fn take(&self, bytes: &[u8]) -> Option<S> {
        let mut place = self.place(bytes).lock().unwrap_or_else(PoisonError::into_inner);
        place.take_if(|(own, _)| own == bytes).map(|(_, state)| state)
    }

    /// A state of so many bytes is written.
    pub fn written(&self, size: usize) {
        if size > LARGE {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    pub fn put(&self, bytes: &[u8], state: S) {
        if self.full.load(Ordering::Relaxed) {
            return;
        }
        let mut place = self.place(bytes).lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = place.take().map_or_else(Vec::new, |(own, _)| own);
        own.clear();
        own.extend_from_slice(bytes);
        *place = Some((own, state));
    }
}
