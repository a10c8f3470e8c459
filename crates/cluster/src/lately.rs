//! States that were given to their owners lately: these have them, so that they need not be given again.
//!
//! States are compared whole. One that is not remembered is only looked up once more than necessary. The hash of a state says its
//! place. A place of which nothing is remembered holds a state that does not belong there, so that nobody asks for it.

use crate::owner::hash_words;
use crate::words::{Shape, Words};
use scrimp_core::Budget;
use scrimp_search::store::prefetch;
use std::sync::Arc;

/// Most states that are remembered, and the bytes that they may take.
const MOST: usize = 1 << 18;
const MOST_BYTES: usize = 16 << 20;
/// The part of what is left of the memory that all threads of a process together take for it.
const PART: usize = 32;
/// Words from which on memory lies in large pages, where the system has them: looking up an address takes long otherwise.
const PAGE: usize = (2 << 20) / 8;

pub struct Lately {
    shape: Shape,
    places: usize,
    /// The words of all places, behind those that only align them.
    states: Vec<u64>,
    skipped: usize,
    taken: usize,
    budget: Arc<Budget>,
}

impl Lately {
    /// With a small part of the memory that is left, among so many threads.
    pub fn new(state_bytes: usize, threads: usize, budget: &Arc<Budget>) -> Lately {
        let shape = Shape::new(state_bytes);
        let room = MOST_BYTES.min(budget.left() / PART / threads.max(1)) / (8 * shape.words.max(1));
        let places = if room < 16 { 0 } else { 1 << room.min(MOST).ilog2() };
        Lately::with(shape, places, budget)
    }

    /// For who sends nothing.
    pub fn none(budget: &Arc<Budget>) -> Lately {
        Lately::with(Shape::new(0), 0, budget)
    }

    fn with(shape: Shape, places: usize, budget: &Arc<Budget>) -> Lately {
        // Zeros that nobody has touched take no memory: what aligns the others costs nothing.
        let beside = if places > 0 { PAGE } else { 0 };
        let states = vec![0u64; places * shape.words + beside];
        let skipped = states.as_ptr().align_offset(8 * PAGE).min(beside);
        let taken = 8 * places * shape.words;
        budget.take(taken);
        let mut lately = Lately { shape, places, states, skipped, taken, budget: budget.clone() };
        prefer_large_pages(lately.all());
        lately.leave_zero();
        lately
    }

    fn all(&mut self) -> &mut [u64] {
        &mut self.states[self.skipped..][..self.places * self.shape.words]
    }

    /// Nobody has any of them any more.
    pub fn clear(&mut self) {
        self.all().fill(0);
        self.leave_zero();
    }

    /// Where nothing is remembered there are zeros: where those belong, another state.
    fn leave_zero(&mut self) {
        let (shape, places) = (self.shape, self.places);
        if self.taken == 0 {
            return;
        }
        let mut state = vec![0; 8 * shape.words];
        let place = |state: &[u8]| hash_words(Words::<0>::new(state, shape)) as usize & (places - 1);
        let home = place(&state);
        let stranger = (1..=u8::MAX).find(|byte| {
            state[0] = *byte;
            place(&state) != home
        });
        match stranger {
            Some(byte) => self.all()[home * shape.words] = byte as u64,
            // All states belong to one place, which cannot be.
            None => self.places = 0,
        }
    }

    #[inline(always)]
    fn start(&self, hash: u64) -> usize {
        self.skipped + (hash as usize & (self.places - 1)) * self.shape.words
    }

    /// Asks for what looking at a state with this hash will touch.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        if self.places > 0 {
            prefetch(self.states.as_ptr().wrapping_add(self.start(hash)).cast());
        }
    }

    /// Was this state given lately? From now on it was.
    #[inline(always)]
    pub fn has<const W: usize>(&mut self, hash: u64, state: Words<'_, W>) -> bool {
        if self.places == 0 || state.count() == 0 {
            return false;
        }
        let (start, count) = (self.start(hash), state.count());
        let here = &mut self.states[start..][..count];
        if (0..count).fold(0, |other, i| other | here[i] ^ state.get(i)) == 0 {
            return true;
        }
        (0..count).for_each(|i| here[i] = state.get(i));
        false
    }
}

#[cfg(target_os = "linux")]
fn prefer_large_pages(words: &mut [u64]) {
    if words.len() >= PAGE {
        // SAFETY: an advice about memory that is ours; where it is not taken, nothing changes.
        unsafe { libc::madvise(words.as_mut_ptr().cast(), size_of_val(words), libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_large_pages(_: &mut [u64]) {}

impl Drop for Lately {
    fn drop(&mut self) {
        self.budget.give_back(self.taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Batch;

    #[test]
    fn nothing_is_remembered_that_was_not_given() {
        let budget = Arc::new(Budget::apart(1 << 30));
        for length in [0, 1, 2, 8, 20, 28] {
            let (shape, mut lately) = (Shape::new(length), Lately::new(length, 1, &budget));
            for round in 0..2 {
                let mut states = Batch::new(length);
                for i in 0..if length < 2 { 200u32 } else { 50_000 } {
                    let bytes: Vec<u8> = i.to_le_bytes().into_iter().chain(std::iter::repeat(0)).take(length).collect();
                    states.push(&bytes, 0);
                }
                let words = |i: usize| Words::<0>::new(states.padded(i), shape);
                let mut twice = 0;
                for i in 0..states.len() {
                    let hash = hash_words(words(i));
                    assert!(
                        length < 4 && i >= 1 << (8 * length) || !lately.has(hash, words(i)),
                        "{length} {round} {i}"
                    );
                    twice += lately.has(hash, words(i)) as usize;
                }
                assert!(length == 0 || twice == states.len());
                lately.clear();
            }
        }
        assert_eq!(budget.left(), Budget::apart(1 << 30).left());
    }
}
