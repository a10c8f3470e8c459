//! States that the threads of a process gave to their owners lately: these have them, so that they need not be given again.
//!
//! States are compared whole. One that is not remembered is only looked up once more than necessary. The hash of a state says its place,
//! which begins with a word that counts how often the place changed; where there is room, that has the last bytes of the state as well.
//! Who changes a place makes the count odd first, and nobody waits: where a place is changed, or was while it was read, the state is not
//! remembered (Lamport, "Concurrent reading and writing", 1977; a sequence lock).

use crate::words::{Shape, Words};
use scrimp_core::Budget;
use scrimp_search::store::prefetch;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Most states that are remembered, and the bytes that they may take.
const MOST: usize = 1 << 20;
const MOST_BYTES: usize = 32 << 20;
/// The part of what is left of the memory that they may take.
const PART: usize = 32;
/// Words from which on memory lies in large pages, where the system has them: looking up an address takes long otherwise.
const PAGE: usize = (2 << 20) / 8;
/// Bits of the count; above them stand the last bytes of the state.
const COUNT_BITS: u32 = 32;
const COUNT: u64 = (1 << COUNT_BITS) - 1;

pub struct Lately {
    /// Words of a state that stand behind the first word of a place.
    behind: usize,
    places: usize,
    /// The words of all places, behind those that only align them.
    words: Box<[AtomicU64]>,
    skipped: usize,
    /// Only one thread looks.
    alone: bool,
    budget: Arc<Budget>,
}

impl Lately {
    /// For so many threads, with a small part of the memory that is left.
    pub fn new(state_bytes: usize, threads: usize, budget: &Arc<Budget>) -> Lately {
        let shape = Shape::new(state_bytes);
        let behind = shape.words - shape.last_fits(u64::BITS - COUNT_BITS) as usize;
        let room = MOST_BYTES.min(budget.left() / PART) / (8 * (1 + behind));
        let places = if room < 16 { 0 } else { 1 << room.min(MOST).ilog2() };
        Lately::with(behind, places, threads == 1, budget)
    }

    /// For who sends nothing.
    pub fn none(budget: &Arc<Budget>) -> Lately {
        Lately::with(0, 0, true, budget)
    }

    fn with(behind: usize, places: usize, alone: bool, budget: &Arc<Budget>) -> Lately {
        // Zeros that nobody has touched take no memory: what aligns the others costs nothing.
        let beside = if places > 0 { PAGE } else { 0 };
        // SAFETY: zero is a valid number.
        let words = unsafe { Box::<[AtomicU64]>::new_zeroed_slice(places * (1 + behind) + beside).assume_init() };
        let skipped = words.as_ptr().align_offset(8 * PAGE).min(beside);
        let lately = Lately { behind, places, words, skipped, alone, budget: budget.clone() };
        budget.take(lately.bytes());
        prefer_large_pages(lately.all());
        lately
    }

    fn all(&self) -> &[AtomicU64] {
        &self.words[self.skipped..][..self.places * (1 + self.behind)]
    }

    fn bytes(&self) -> usize {
        size_of_val(self.all())
    }

    /// Nobody has any of them any more. Nobody may be looking.
    pub fn clear(&self) {
        self.all().iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    #[inline(always)]
    fn start(&self, hash: u64) -> usize {
        self.skipped + (hash as usize & (self.places - 1)) * (1 + self.behind)
    }

    /// Asks for what looking at a state with this hash will touch.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        if self.places > 0 {
            prefetch(self.words.as_ptr().wrapping_add(self.start(hash)).cast());
        }
    }

    /// Was this state given lately? From now on it was.
    #[inline(always)]
    pub fn has<const W: usize>(&self, hash: u64, state: Words<'_, W>) -> bool {
        if self.places == 0 {
            return false;
        }
        let behind = if W == 0 || self.behind < W { self.behind } else { W };
        let [first, others @ ..] = &self.words[self.start(hash)..][..1 + behind] else { return false };
        let last = if behind < state.count() { state.get(behind) << COUNT_BITS } else { 0 };
        let seen = first.load(Ordering::Acquire);
        let differ = |differ, (other, i): (&AtomicU64, usize)| differ | other.load(Ordering::Relaxed) ^ state.get(i);
        // A count of zero says that there is none, an odd one that it is being changed.
        let count = seen & COUNT;
        if count != 0 && seen & !COUNT == last && others.iter().zip(0..).fold(count & 1, differ) == 0 {
            fence(Ordering::Acquire);
            if first.load(Ordering::Relaxed) == seen {
                return true;
            }
        }
        let changing = last | (count + 1) & COUNT;
        if self.alone {
            first.store(changing, Ordering::Relaxed);
        } else if count & 1 == 1
            || first.compare_exchange(seen, changing, Ordering::Acquire, Ordering::Relaxed).is_err()
        {
            return false;
        }
        fence(Ordering::Release);
        others.iter().zip(0..).for_each(|(other, i)| other.store(state.get(i), Ordering::Relaxed));
        first.store(last | (count + 2) & COUNT, Ordering::Release);
        false
    }
}

#[cfg(target_os = "linux")]
fn prefer_large_pages(words: &[AtomicU64]) {
    if words.len() >= PAGE {
        // SAFETY: an advice about memory that is ours; where it is not taken, nothing changes.
        unsafe { libc::madvise(words.as_ptr().cast_mut().cast(), size_of_val(words), libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_large_pages(_: &[AtomicU64]) {}

impl Drop for Lately {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Batch;

    fn states(length: usize, count: u32) -> Batch {
        let mut states = Batch::new(length);
        for i in 0..count {
            let bytes = i.to_le_bytes().into_iter().chain([7, 7, 7, 7]).cycle();
            states.push(&bytes.take(length).collect::<Vec<u8>>(), 0);
        }
        states
    }

    #[test]
    fn only_what_was_given_is_remembered() {
        let budget = Arc::new(Budget::apart(1 << 30));
        let left = budget.left();
        for length in [0, 1, 4, 7, 8, 12, 13, 16, 28, 100] {
            for threads in [1, 2] {
                let (shape, lately) = (Shape::new(length), Lately::new(length, threads, &budget));
                let count = if length < 4 { 1 << (8 * length) } else { 50_000 };
                let states = states(length, count);
                for _ in 0..2 {
                    for i in 0..states.len() {
                        let state = Words::<0>::new(states.padded(i), shape);
                        let hash = state.hash();
                        assert!(!lately.has(hash, state), "{length} {i}");
                        assert!(lately.has(hash, state), "{length} {i}");
                    }
                    lately.clear();
                }
            }
        }
        assert_eq!(budget.left(), left);
    }

    /// Whatever several threads do at once, each state is given by somebody.
    #[test]
    fn every_state_is_given_once_at_least() {
        let budget = Arc::new(Budget::apart(1 << 16));
        for length in [4, 12, 16, 28] {
            let (shape, lately, states) = (Shape::new(length), Lately::new(length, 3, &budget), states(length, 3000));
            let given: Vec<_> = (0..states.len()).map(|_| AtomicU64::new(0)).collect();
            std::thread::scope(|scope| {
                for thread in 0..3 {
                    let (lately, states, given) = (&lately, &states, &given);
                    scope.spawn(move || {
                        for round in 0..10 {
                            for i in 0..states.len() {
                                let i = (i * (2 * thread + 1) + 31 * round) % states.len();
                                let state = Words::<0>::new(states.padded(i), shape);
                                if !lately.has(state.hash(), state) {
                                    given[i].fetch_add(1, Ordering::Relaxed);
                                }
                            }
                        }
                    });
                }
            });
            assert!(given.iter().all(|times| times.load(Ordering::Relaxed) > 0), "{length}");
        }
    }
}
