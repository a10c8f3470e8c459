//! States that were made lately, as they are: what is wanted again soon need not be read.

use crate::code::hash;
use crate::panics::caught;

/// Places for states.
const PLACES: usize = 1 << 8;

/// Larger states, in bytes as they are written, are not kept: there would be no room for all.
const LARGE: usize = (1 << 20) / PLACES;

/// States by their bytes; a new one takes the place of another.
pub struct Recent<S> {
    /// None before the first state comes.
    places: Vec<Option<(Vec<u8>, S)>>,
    /// A state has turned out to be large.
    full: bool,
}

impl<S> Default for Recent<S> {
    fn default() -> Recent<S> {
        Recent { places: Vec::new(), full: false }
    }
}

impl<S> Recent<S> {
    /// The state with these bytes, if it is there; then no longer.
    pub fn take(&mut self, bytes: &[u8]) -> Option<S> {
        let place = self.places.get_mut(place(bytes))?;
        place.take_if(|(own, _)| own == bytes).map(|(_, state)| state)
    }

    /// A state of so many bytes is written.
    pub fn written(&mut self, size: usize) {
        self.full |= size > LARGE;
    }

    pub fn put(&mut self, bytes: &[u8], state: S) {
        if self.full {
            return;
        }
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        match &mut self.places[place(bytes)] {
            Some(there) => {
                there.0.clear();
                there.0.extend_from_slice(bytes);
                there.1 = state;
            }
            place => *place = Some((bytes.to_vec(), state)),
        }
    }
}

impl<S> Drop for Recent<S> {
    /// When the search is over nobody is told what panics.
    fn drop(&mut self) {
        self.places.drain(..).for_each(|place| _ = caught(|| drop(place)));
    }
}

fn place(bytes: &[u8]) -> usize {
    hash(bytes) as usize % PLACES
}
