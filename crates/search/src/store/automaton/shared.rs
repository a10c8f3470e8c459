//! What all handles of a set share: the automaton, and the words that wait to go into it.
//!
//! Looking up words and adding some to those that wait changes nothing that others look at, so all threads do that at once.
//! Only one that is alone puts what waits into the automaton; the others then help to sort it and no more.

use super::Automaton;
use super::pending::Pending;
use crate::store::Full;
use crate::sync::size;
use crate::words;
use scrimp_core::Budget;
use std::sync::Arc;

/// Pending words, and states seen last, each have this part of what the automaton has, and at least so many bytes.
const PART: usize = 8;
const LEAST: usize = size(64 << 10, 0);
/// Where threads wait for each other, pending words have more, so that they wait seldom: at least so many bytes, but no more
/// than this part of all memory.
const LEAST_SHARED: usize = size(4 << 20, 0);
const SHARED_PART: usize = 64;
/// Batches that have room among the pending words.
const BATCHES: usize = size(4, 1);

pub(super) struct Shared {
    /// For every layer the byte of the state that it stands for.
    order: Arc<[u32]>,
    pub automaton: Automaton,
    pub pending: Pending,
    /// How often words went into the automaton.
    pub merges: u64,
    budget: Arc<Budget>,
}

impl Shared {
    pub fn new(order: Arc<[u32]>, budget: &Arc<Budget>) -> Result<Shared, Full> {
        let automaton = Automaton::new(order.len(), budget)?;
        let pending = Pending::new(order.len(), budget).map_err(|_| Full)?;
        Ok(Shared { order, automaton, pending, merges: 0, budget: budget.clone() })
    }

    /// Bytes for the states seen last, by all threads.
    pub fn part(&self) -> usize {
        (self.automaton.bytes() / PART).max(LEAST)
    }

    /// Bytes for the pending words.
    fn pending_part(&self, threads: usize) -> usize {
        let shared = if threads > 1 { LEAST_SHARED.min(self.budget.memory() / SHARED_PART) } else { 0 };
        self.part().max(shared)
    }

    pub fn contains(&self, word: &[u8], hash: u64) -> bool {
        self.pending.contains(word, hash) || self.automaton.contains(word)
    }

    /// Removes a word; was it there? When it fails, nothing was changed.
    pub fn remove(&mut self, word: &[u8]) -> Result<bool, Full> {
        Ok(self.pending.remove(word, hash_of(&self.order)) || self.automaton.remove(word)?)
    }

    /// Puts all pending words into the automaton. When the budget does not allow that, some stay.
    pub fn merge(&mut self, threads: usize) -> Result<(), Full> {
        let count = self.pending.len();
        if count == 0 {
            return Ok(());
        }
        self.merges += 1;
        self.pending.sort(threads);
        let pending = &self.pending;
        let done = self.automaton.insert_sorted(count, |i| pending.sorted(i));
        self.pending.forget(done, hash_of(&self.order));
        if done < count { Err(Full) } else { Ok(()) }
    }

    /// Makes room for so many pending words.
    pub fn prepare(&mut self, count: usize, threads: usize) -> Result<(), Full> {
        if self.pending.adding().free() >= count {
            return Ok(());
        }
        self.merge(threads)?;
        // What is wanted is not needed: without it, things are slower.
        let wanted = (self.pending_part(threads) / self.pending.word_cost()).max(BATCHES * count);
        self.pending.grow(wanted).or_else(|_| self.pending.grow(count))
    }
}

/// From a word to the hash of its state.
pub(super) fn hash_of(order: &[u32]) -> impl FnMut(&[u8]) -> u64 {
    let mut state = vec![0; order.len()];
    move |word| {
        order.iter().zip(word).for_each(|(&byte, &value)| state[byte as usize] = value);
        words::hash(&state)
    }
}
