//! The vectors of some states that were known lately: one for each remainder of their numbers.

use super::StateId;

/// No number.
const NONE: StateId = StateId::MAX;

pub struct Recent {
    pub state_bytes: usize,
    numbers: Vec<StateId>,
    vectors: Vec<u8>,
}

impl Recent {
    /// Room for so many states, a power of two.
    pub fn new(state_bytes: usize, count: usize) -> Recent {
        debug_assert!(count.is_power_of_two());
        Recent { numbers: vec![NONE; count], vectors: vec![0; count * state_bytes], state_bytes }
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

    #[inline(always)]
    pub fn put(&mut self, id: StateId, state: &[u8]) {
        let at = self.place(id);
        self.numbers[at] = id;
        self.vectors[at * self.state_bytes..][..self.state_bytes].copy_from_slice(state);
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
