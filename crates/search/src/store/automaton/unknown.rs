//! The words of a batch that were found nowhere yet.

use super::Automaton;
use super::pending::Adding;
use super::walk::LANES;
use scrimp_system::Batch;

#[derive(Default)]
pub(super) struct Unknown {
    word_bytes: usize,
    /// The words, one after the other, the places of their states in the batch, and the hashes of these.
    words: Vec<u8>,
    at: Vec<u32>,
    hashes: Vec<u64>,
    /// So many of them are not in the automaton; the others have not been sought there.
    sought: usize,
}

impl Unknown {
    pub fn new(word_bytes: usize) -> Unknown {
        Unknown { word_bytes, ..Unknown::default() }
    }

    pub fn len(&self) -> usize {
        self.at.len()
    }

    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    pub fn clear(&mut self) {
        self.keep(0);
    }

    fn keep(&mut self, count: usize) {
        self.words.truncate(count * self.word_bytes);
        self.at.truncate(count);
        self.hashes.truncate(count);
        self.sought = count;
    }

    /// The next word, of the state at place `at`; it stays unless it is [dropped](Unknown::drop_last).
    #[inline(always)]
    pub fn push(&mut self, order: &[u32], state: &[u8], at: u32, hash: u64) -> &[u8] {
        let start = self.words.len();
        self.words.resize(start + self.word_bytes, 0);
        let word = &mut self.words[start..];
        word.iter_mut().zip(order).for_each(|(value, &byte)| *value = state[byte as usize]);
        self.at.push(at);
        self.hashes.push(hash);
        word
    }

    #[inline(always)]
    pub fn drop_last(&mut self) {
        self.words.truncate(self.words.len() - self.word_bytes);
        self.at.pop();
        self.hashes.pop();
    }

    /// Are there so many that have not been sought that they should be?
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.at.len() == self.sought + LANES
    }

    /// Seeks those that have not been sought, at most [`LANES`], and drops the ones that are there.
    #[inline(always)]
    pub fn seek(&mut self, automaton: &Automaton) {
        let (width, first, end) = (self.word_bytes, self.sought, self.at.len());
        // A few are quicker one by one.
        let few = end - first <= 2;
        let known = if few {
            [false; LANES]
        } else {
            self.words.resize((first + LANES) * width, 0);
            automaton.contains_each(&self.words[first * width..])
        };
        let mut kept = first;
        for (i, &known) in (first..end).zip(&known) {
            if known || few && automaton.contains(&self.words[i * width..][..width]) {
                continue;
            }
            if kept < i {
                self.words.copy_within(i * width..(i + 1) * width, kept * width);
                (self.at[kept], self.hashes[kept]) = (self.at[i], self.hashes[i]);
            }
            kept += 1;
        }
        self.keep(kept);
    }

    /// Seeks all of them again, in an automaton that was changed since.
    pub fn seek_again(&mut self, automaton: &Automaton) {
        let Unknown { word_bytes, words, at, hashes, .. } = std::mem::take(self);
        self.word_bytes = word_bytes;
        for ((word, at), hash) in words.chunks_exact(word_bytes).zip(at).zip(hashes) {
            if !automaton.contains(word) {
                self.words.extend_from_slice(word);
                self.at.push(at);
                self.hashes.push(hash);
            }
        }
        self.sought = self.at.len();
    }

    /// Adds those that nobody else has added meanwhile, and tells which.
    #[inline(always)]
    pub fn add(&self, mut adding: Adding, batch: &Batch, new: &mut Vec<u32>, keys: &mut Vec<u8>) {
        for ((word, &at), &hash) in self.words.chunks_exact(self.word_bytes).zip(&self.at).zip(&self.hashes) {
            if adding.insert(word, hash) {
                new.push(at);
                keys.extend_from_slice(batch.state(at as usize));
            }
        }
    }
}
