//! States that were made lately, as they are: what is wanted again soon need not be read.

use crate::code::hash;
use std::sync::{Mutex, PoisonError};

/// Places for states.
const PLACES: usize = 1 << 12;

/// States by their bytes; a new one takes the place of another.
pub struct Recent<S> {
    places: Box<[Mutex<Option<(Vec<u8>, S)>>]>,
}

impl<S> Recent<S> {
    pub fn new() -> Recent<S> {
        Recent { places: (0..PLACES).map(|_| Mutex::new(None)).collect() }
    }

    fn place(&self, bytes: &[u8]) -> &Mutex<Option<(Vec<u8>, S)>> {
        &self.places[hash(bytes) as usize % PLACES]
    }

    /// The state with these bytes, if it is there; then no longer.
    pub fn take(&self, bytes: &[u8]) -> Option<S> {
        let mut place = self.place(bytes).lock().unwrap_or_else(PoisonError::into_inner);
        place.take_if(|(own, _)| own == bytes).map(|(_, state)| state)
    }

    pub fn put(&self, bytes: &[u8], state: S) {
        let mut place = self.place(bytes).lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = place.take().map_or_else(Vec::new, |(own, _)| own);
        own.clear();
        own.extend_from_slice(bytes);
        *place = Some((own, state));
    }
}
