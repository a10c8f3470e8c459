//! Places for state vectors, all of one size, given back and taken again.

use super::Full;
use crate::column::Column;
use scrimp_core::Budget;
use std::io;
use std::sync::Arc;

const NONE: u32 = u32::MAX;

/// A free place holds the number of the next free one.
pub struct Places {
    state_bytes: usize,
    /// Bytes of a place: those of a state, or of a number where that is longer.
    size: usize,
    bytes: Column<u8>,
    /// Places that were ever taken; those after them are untouched.
    touched: u32,
    /// The place given back last, and how many are free behind it.
    free: u32,
    free_count: usize,
}

impl Places {
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> io::Result<Places> {
        let size = state_bytes.max(size_of::<u32>());
        Ok(Places { state_bytes, size, bytes: Column::new(budget)?, touched: 0, free: NONE, free_count: 0 })
    }

    /// Makes sure that so many places are free.
    pub fn ensure(&mut self, free: usize) -> Result<(), Full> {
        let untouched = free.saturating_sub(self.free_count);
        self.bytes.ensure((self.touched as usize + untouched) * self.size)
    }

    /// Places that can be taken without more memory.
    pub fn free(&self) -> usize {
        self.free_count + self.bytes.len() / self.size - self.touched as usize
    }

    pub fn taken(&self) -> usize {
        self.touched as usize - self.free_count
    }

    /// Puts a state into a free place, which there must be.
    pub fn take(&mut self, state: &[u8]) -> u32 {
        let place = if self.free == NONE {
            self.touched += 1;
            self.touched - 1
        } else {
            let place = self.free;
            let next = self.place(place).first_chunk().expect("a place has room for a number");
            self.free = u32::from_ne_bytes(*next);
            self.free_count -= 1;
            place
        };
        self.bytes.stretch_mut(place as usize * self.size, self.state_bytes).copy_from_slice(state);
        place
    }

    pub fn give_back(&mut self, place: u32) {
        let number = self.bytes.stretch_mut(place as usize * self.size, size_of::<u32>());
        number.copy_from_slice(&self.free.to_ne_bytes());
        self.free = place;
        self.free_count += 1;
    }

    fn place(&self, place: u32) -> &[u8] {
        self.bytes.stretch(place as usize * self.size, self.size)
    }

    pub fn state(&self, place: u32) -> &[u8] {
        &self.place(place)[..self.state_bytes]
    }

    /// Bytes that were touched.
    pub fn bytes(&self) -> usize {
        self.touched as usize * self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_given_back_are_taken_again() {
        for bytes in [1, 3, 4, 21] {
            let mut places = Places::new(bytes, &Arc::new(Budget::new(usize::MAX / 4))).unwrap();
            places.ensure(100).unwrap();
            let taken: Vec<u32> = (0..100).map(|i| places.take(&vec![i; bytes])).collect();
            let free = places.free();
            taken.iter().step_by(3).for_each(|&place| places.give_back(place));
            assert_eq!(places.free(), free + 34);
            let again: Vec<u32> = (0..34).map(|i| places.take(&vec![100 + i; bytes])).collect();
            assert_eq!((places.free(), places.bytes()), (free, 100 * bytes.max(4)));
            for (i, &place) in taken.iter().enumerate().filter(|(i, _)| i % 3 != 0) {
                assert_eq!(places.state(place), vec![i as u8; bytes]);
            }
            for (i, &place) in again.iter().enumerate() {
                assert_eq!(places.state(place), vec![100 + i as u8; bytes]);
            }
        }
    }
}
