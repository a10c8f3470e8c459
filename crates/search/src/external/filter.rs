//! A Bloom filter: says of a state that it is surely not in a run, or that it may be.
//!
//! All bits of a state lie in one word, so that asking touches memory once.

use super::share::{Part, Pool};
use crate::store::prefetch;

/// Bits a state where there is memory, and the fewest that are worth having.
const BITS: u64 = 10;
const FEWEST: u64 = 4;

pub struct Filter {
    words: Vec<u64>,
    _part: Part,
}

impl Filter {
    /// Words for a filter of up to `states` states; `None` where the pool has too little for it.
    pub fn words(states: u64, pool: &Pool) -> Option<usize> {
        let words = (pool.left() as u64 / 8 / 4 * 3).min(states * BITS / 64 + 1);
        (words * 64 >= states * FEWEST).then_some(words as usize)
    }

    /// Of the words for `all` states, those for some of them.
    pub fn share(words: usize, states: u64, all: u64) -> usize {
        (words as u128 * states as u128 / all.max(1) as u128) as usize + 1
    }

    pub fn new(words: usize, pool: &Pool) -> Filter {
        Filter { words: vec![0; words.max(1)], _part: pool.take(words.max(1) * 8) }
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        ((hash as u128 * self.words.len() as u128) >> 64) as usize
    }

    /// The high bits of the hash choose the word, the low ones four bits in it.
    #[inline]
    fn bits(hash: u64) -> u64 {
        1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63) | 1 << (hash >> 18 & 63)
    }

    #[inline]
    pub fn add(&mut self, hash: u64) {
        let place = self.place(hash);
        self.words[place] |= Filter::bits(hash);
    }

    #[inline]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.words[self.place(hash)] as *const u64 as *const u8);
    }

    #[inline]
    pub fn may_hold(&self, hash: u64) -> bool {
        let bits = Filter::bits(hash);
        self.words[self.place(hash)] & bits == bits
    }
}
