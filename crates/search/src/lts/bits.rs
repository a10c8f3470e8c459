//! Numbers of any width, one after the other, in memory that grows in place.

use crate::column::Column;
use crate::store::Full;
use scrimp_core::Budget;
use std::io;
use std::sync::Arc;

pub struct Bits {
    words: Column<u64>,
    len: u64,
}

impl Bits {
    pub fn new(budget: &Arc<Budget>) -> io::Result<Bits> {
        Ok(Bits { words: Column::new(budget)?, len: 0 })
    }

    /// Bits written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Makes room for so many bits more.
    pub fn reserve(&mut self, bits: u64) -> Result<(), Full> {
        // Words have numbers of 32 bits.
        let words = (self.len + bits) / 64 + 2;
        if words > u32::MAX as u64 { Err(Full) } else { self.words.ensure(words as usize) }
    }

    /// Appends a number of up to 32 bits. Room must have been made.
    #[inline]
    pub fn push(&mut self, value: u32, width: u32) {
        debug_assert!(width == 32 || value >> width == 0);
        let (word, shift) = ((self.len / 64) as u32, self.len % 64);
        self.words[word] |= (value as u64) << shift;
        if shift + width as u64 > 64 {
            self.words[word + 1] |= value as u64 >> (64 - shift);
        }
        self.len += width as u64;
    }

    /// The number of this width at a place.
    #[inline]
    pub fn get(&self, at: u64, width: u32) -> u32 {
        let (word, shift) = ((at / 64) as u32, at % 64);
        let mut value = self.words[word] >> shift;
        if shift + width as u64 > 64 {
            value |= self.words[word + 1] << (64 - shift);
        }
        (value & ((1u64 << width) - 1)) as u32
    }

    /// The words that hold the bits.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len.div_ceil(64) as u32).map(|word| self.words[word])
    }

    /// Appends a whole word; what was written before ends with one.
    pub fn push_word(&mut self, word: u64) {
        self.words[(self.len / 64) as u32] = word;
        self.len += 64;
    }

    /// Forgets what lies behind so many bits.
    pub fn truncate(&mut self, len: u64) {
        self.len = self.len.min(len);
    }

    pub fn bytes(&self) -> usize {
        self.words.bytes()
    }
}

/// How many bits a number takes.
#[inline]
pub fn width(value: u32) -> u32 {
    32 - value.leading_zeros()
}
