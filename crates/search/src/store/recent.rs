//! The vectors of some states that were known lately: one for each remainder of their numbers.

use super::StateId;
use crate::words::{Shape, by_words, copy_at, same_at};

/// No number.
const NONE: StateId = StateId::MAX;

pub struct Recent {
    pub state_bytes: usize,
    shape: Shape,
    numbers: Vec<StateId>,
    vectors: Vec<u8>,
}

impl Recent {
    /// Room for so many states, a power of two.
    pub fn new(state_bytes: usize, count: usize) -> Recent {
        debug_assert!(count.is_power_of_two());
        let shape = Shape::new(state_bytes);
        Recent { numbers: vec![NONE; count], vectors: vec![0; count * state_bytes], state_bytes, shape }
    }

    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    #[inline(always)]
    fn place(&self, id: StateId) -> usize {
        id as usize & (self.numbers.len() - 1)
    }

    #[inline(always)]
    pub fn get(&self, id: StateId) -> Option<&[u8]> {
        let at = self.place(id);
        (self.numbers[at] == id).then(|| &self.vectors[at * self.state_bytes..][..self.state_bytes])
    }

    /// Is the state known, and this one?
    #[inline(always)]
    pub fn is(&self, id: StateId, state: &[u8]) -> bool {
        assert!(state.len() == self.state_bytes);
        let Some(known) = self.get(id) else {
            return false;
        };
        // SAFETY: both are states of this shape.
        by_words!(self.shape, W => unsafe { same_at::<W>(known.as_ptr(), state.as_ptr(), self.shape) })
    }

    #[inline(always)]
    pub fn put(&mut self, id: StateId, state: &[u8]) {
        assert!(state.len() == self.state_bytes);
        let at = self.place(id);
        self.numbers[at] = id;
        let to = self.vectors[at * self.state_bytes..][..self.state_bytes].as_mut_ptr();
        // SAFETY: a state of this shape, and room for one that belongs to another structure.
        by_words!(self.shape, W => unsafe { copy_at::<W>(state.as_ptr(), to, self.shape) });
    }

    pub fn forget(&mut self, id: StateId) {
        let at = self.place(id);
        if self.numbers[at] == id {
            self.numbers[at] = NONE;
        }
    }

    /// Asks for the memory that looking at a state will touch.
    #[inline(always)]
    pub fn prefetch(&self, id: StateId) {
        let at = self.place(id);
        super::index::prefetch(self.numbers.as_ptr().wrapping_add(at).cast());
        super::index::prefetch(self.vectors.as_ptr().wrapping_add(at * self.state_bytes));
    }

    pub fn bytes(&self) -> usize {
        self.vectors.len() + self.numbers.len() * size_of::<StateId>()
    }
}
