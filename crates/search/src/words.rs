//! States as 64-bit words: hashing, comparing and copying them, in as few instructions as possible.
//!
//! A state is read in whole words, the last of which ends where the state ends and may overlap the one before. The
//! functions exist once for each small number of words (`W`), so that their loops disappear, and once for any number
//! (`W` = 0).
//!
//! The hash folds sixteen bytes at a time by a 64 x 64 to 128 bit multiplication (the construction of wyhash). Both its
//! high bits (which choose a bucket) and its low bits (which become a tag) are good. It is the same on every machine:
//! stores and files may rely on it.

use scrimp_system::Batch;

const KEYS: [u64; 3] = [0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9, 0x4b33_a62e_d433_d4a3];

/// The length of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    bytes: usize,
    pub words: usize,
}

impl Shape {
    pub fn new(state_bytes: usize) -> Shape {
        Shape { bytes: state_bytes, words: state_bytes.div_ceil(8) }
    }

    #[inline(always)]
    fn count<const W: usize>(self) -> usize {
        if W == 0 { self.words } else { W }
    }
}

/// Evaluates an expression in which `$w` is the number of words as a constant where it is small, and 0 elsewhere.
macro_rules! by_words {
    ($shape:expr, $w:ident => $body:expr) => {
        by_words!(@ $shape, $w, $body, 1 2 3 4 5 6 7 8)
    };
    (@ $shape:expr, $w:ident, $body:expr, $($number:literal)+) => {
        match $shape.words {
            $($number => { const $w: usize = $number; $body })+
            _ => { const $w: usize = 0; $body }
        }
    };
}
pub(crate) use by_words;

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// The hash of so many words.
#[inline(always)]
pub fn hash_words(count: usize, word: impl Fn(usize) -> u64) -> u64 {
    let mut seed = KEYS[2] ^ count as u64;
    for i in 0..count / 2 {
        seed = fold(word(2 * i) ^ KEYS[0], word(2 * i + 1) ^ seed);
    }
    if count % 2 == 1 {
        seed = fold(word(count - 1) ^ KEYS[1], seed);
    }
    fold(seed ^ KEYS[0], KEYS[1])
}

/// The hash of a state.
pub fn hash(state: &[u8]) -> u64 {
    // SAFETY: the state is there.
    unsafe { hash_at::<0>(state.as_ptr(), Shape::new(state.len())) }
}

/// # Safety
/// A state of this shape is at `state`, and `i` is less than its number of words.
#[inline(always)]
unsafe fn word_at<const W: usize>(state: *const u8, i: usize, shape: Shape) -> u64 {
    // SAFETY: as the caller promises; the last word ends with the state.
    unsafe {
        if i + 1 < shape.count::<W>() {
            u64::from_le(state.cast::<u64>().add(i).read_unaligned())
        } else if shape.bytes >= 8 {
            u64::from_le(state.add(shape.bytes - 8).cast::<u64>().read_unaligned())
        } else {
            (0..shape.bytes).fold(0, |word, byte| word | (*state.add(byte) as u64) << (8 * byte))
        }
    }
}

/// The hash of the state at an address.
///
/// # Safety
/// A state of this shape is there.
#[inline(always)]
pub unsafe fn hash_at<const W: usize>(state: *const u8, shape: Shape) -> u64 {
    // SAFETY: as the caller promises.
    hash_words(shape.count::<W>(), |i| unsafe { word_at::<W>(state, i, shape) })
}

/// The hashes of all states of a batch, one after the other.
pub fn hash_batch(batch: &Batch, hashes: &mut Vec<u64>) {
    fn by<const W: usize>(batch: &Batch, shape: Shape, hashes: &mut Vec<u64>) {
        // SAFETY: states of the batch, whose shape this is.
        hashes.extend((0..batch.len()).map(|i| unsafe { hash_at::<W>(batch.state(i).as_ptr(), shape) }));
    }
    let shape = Shape::new(batch.state_bytes());
    hashes.clear();
    by_words!(shape, W => by::<W>(batch, shape, hashes));
}

/// Are the states at two addresses equal?
///
/// # Safety
/// States of this shape are there.
#[inline(always)]
pub unsafe fn same_at<const W: usize>(a: *const u8, b: *const u8, shape: Shape) -> bool {
    // SAFETY: as the caller promises.
    let difference = |i: usize| unsafe { word_at::<W>(a, i, shape) ^ word_at::<W>(b, i, shape) };
    if W == 0 {
        (0..shape.words).all(|i| difference(i) == 0)
    } else {
        // Without branches: states that get this far are nearly always equal.
        (0..W).fold(0, |sum, i| sum | difference(i)) == 0
    }
}

/// Copies a state.
///
/// # Safety
/// A state of this shape is at `from`, there is room for it at `to`, and the two do not overlap.
#[inline(always)]
pub unsafe fn copy_at<const W: usize>(from: *const u8, to: *mut u8, shape: Shape) {
    // SAFETY: as the caller promises; the last word ends with the state.
    unsafe {
        if W == 0 || shape.bytes < 8 {
            return std::ptr::copy_nonoverlapping(from, to, shape.bytes);
        }
        for i in 0..W - 1 {
            to.cast::<u64>().add(i).write_unaligned(from.cast::<u64>().add(i).read_unaligned());
        }
        let last = shape.bytes - 8;
        to.add(last).cast::<u64>().write_unaligned(from.add(last).cast::<u64>().read_unaligned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn neighbours_do_not_collide() {
        for length in [1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 33, 100] {
            let mut seen = HashSet::new();
            let mut state = vec![0u8; length];
            assert!(seen.insert(hash(&state)));
            for i in 0..length {
                for value in 1..=255 {
                    state[i] = value;
                    assert!(seen.insert(hash(&state)), "length {length}, byte {i}, value {value}");
                }
                state[i] = 0;
            }
        }
    }

    #[test]
    fn high_and_low_bits_spread() {
        let (mut buckets, mut tags) = ([0u32; 64], [0u32; 64]);
        for i in 0..64_000u32 {
            let mut state = [0u8; 24];
            state[3..7].copy_from_slice(&i.to_le_bytes());
            let h = hash(&state);
            buckets[((h as u128 * 64) >> 64) as usize] += 1;
            tags[h as usize % 64] += 1;
        }
        assert!(buckets.iter().chain(&tags).all(|c| (850..1150).contains(c)), "{buckets:?} {tags:?}");
    }

    #[test]
    fn all_variants_agree() {
        fn hash_of<const W: usize>(state: *const u8, shape: Shape) -> u64 {
            // SAFETY: the test's buffer is longer than the state.
            unsafe { hash_at::<W>(state, shape) }
        }
        fn same<const W: usize>(a: *const u8, b: *const u8, shape: Shape) -> bool {
            // SAFETY: as above.
            unsafe { same_at::<W>(a, b, shape) }
        }
        for length in 1..100 {
            let shape = Shape::new(length);
            let buffer: Vec<u8> = (0..length as u8 + 8).map(|i| i.wrapping_mul(37) | 1).collect();
            let mut other = buffer.clone();
            // What lies behind the state does not count.
            other[length..].fill(0);
            let expected = hash(&buffer[..length]);
            for buffer in [&buffer, &other] {
                assert_eq!(by_words!(shape, W => hash_of::<W>(buffer.as_ptr(), shape)), expected, "length {length}");
                assert_eq!(hash_of::<0>(buffer.as_ptr(), shape), expected);
            }
            assert!(by_words!(shape, W => same::<W>(buffer.as_ptr(), other.as_ptr(), shape)));
            let mut copy = vec![0; length + 1];
            // SAFETY: the copy has room for the state.
            by_words!(shape, W => unsafe { copy_at::<W>(buffer.as_ptr(), copy.as_mut_ptr(), shape) });
            assert_eq!((&copy[..length], copy[length]), (&buffer[..length], 0));
            for i in 0..length {
                other[i] ^= 0x40;
                assert!(!by_words!(shape, W => same::<W>(buffer.as_ptr(), other.as_ptr(), shape)), "{length} {i}");
                assert!(!same::<0>(buffer.as_ptr(), other.as_ptr(), shape));
                other[i] ^= 0x40;
            }
        }
    }
}
