//! A hash of states, the same on every machine. It has nothing to do with those of tables.

use crate::words::{Words, words_of};

const KEYS: [u64; 3] = [0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93, 0xA076_1D64_78BD_642F];

/// The product of two words, its upper half upon its lower one.
#[inline(always)]
pub fn folded(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// A hash of a state.
#[inline]
pub fn hash(state: &[u8]) -> u64 {
    let (words, last) = words_of(state);
    hash_by(words.len() + last.is_some() as usize, |i| match words.get(i) {
        Some(word) => u64::from_le_bytes(*word),
        None => last.unwrap_or(0),
    })
}

/// The same hash of a state in its words.
#[inline(always)]
pub fn hash_words<const W: usize>(state: Words<'_, W>) -> u64 {
    hash_by(state.count(), |i| state.get(i))
}

#[inline(always)]
fn hash_by(count: usize, word: impl Fn(usize) -> u64) -> u64 {
    let mut sum = KEYS[0] ^ count as u64;
    for i in 0..count / 2 {
        sum = folded(word(2 * i) ^ KEYS[1], word(2 * i + 1) ^ sum);
    }
    if count % 2 == 1 {
        sum = folded(word(count - 1) ^ KEYS[1], sum);
    }
    folded(sum ^ KEYS[1], KEYS[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Shape;

    #[test]
    fn a_state_has_one_hash() {
        let bytes: Vec<u8> = (1..=24).collect();
        for length in 0..=24 {
            let words = Words::<0>::new(&bytes, Shape::new(length));
            assert_eq!(hash(&bytes[..length]), hash_words(words), "{length}");
        }
    }
}
