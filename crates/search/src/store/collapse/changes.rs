//! Where each state of a batch differs from the one before it, in 64 bits: a bit for each byte of a short state, and for
//! each word, or every 64th, of a longer one.

use scrimp_system::Batch;
use std::ops::Range;

/// States up to this length have a bit for each byte.
const SHORT: usize = 64;

/// The bit for a byte.
fn bit_of(byte: usize, state_bytes: usize) -> u64 {
    1 << if state_bytes <= SHORT { byte } else { byte / 8 % 64 }
}

/// The bits for a component.
pub fn mask(ranges: &[Range<usize>], state_bytes: usize) -> u64 {
    ranges.iter().cloned().flatten().fold(0, |mask, byte| mask | bit_of(byte, state_bytes))
}

/// Notes for each of these states where it differs from the one before; the first differs everywhere.
pub fn changes(batch: &Batch, which: Range<usize>, changed: &mut Vec<u64>) {
    changed.clear();
    changed.resize(which.len(), !0);
    let start = which.start;
    let differs = if batch.state_bytes() <= SHORT { bytes_between } else { words_between };
    for i in which.skip(1) {
        changed[i - start] = differs(batch.state(i - 1), batch.state(i));
    }
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// A bit for each byte of a word that is not zero.
#[inline(always)]
fn bytes_of(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let highest = (((word & LOW) + LOW) | word) & !LOW;
    // Each highest bit is moved to a place of its own in the top byte.
    (highest >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

fn bytes_between(a: &[u8], b: &[u8]) -> u64 {
    let length = a.len();
    if length < 8 {
        return (0..length).fold(0, |bits, i| bits | ((a[i] != b[i]) as u64) << i);
    }
    // The last word ends with the state and may overlap the one before.
    let mut bits = bytes_of(word(&a[length - 8..]) ^ word(&b[length - 8..])) << (length - 8);
    for (i, (a, b)) in a.chunks_exact(8).zip(b.chunks_exact(8)).enumerate() {
        bits |= bytes_of(word(a) ^ word(b)) << (8 * i);
    }
    bits
}

fn words_between(a: &[u8], b: &[u8]) -> u64 {
    let differs = |(i, (a, b)): (usize, (&[u8], &[u8]))| ((a != b) as u64) << (i % 64);
    let whole = a.len() / 8 * 8;
    let bits = a
        .chunks_exact(8)
        .zip(b.chunks_exact(8))
        .enumerate()
        .map(|(i, (a, b))| ((word(a) != word(b)) as u64) << (i % 64));
    bits.fold(differs((whole / 8, (&a[whole..], &b[whole..]))), |all, bit| all | bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_bit() {
        for length in [1, 5, 7, 8, 9, 15, 16, 20, 63, 64, 65, 100, 300, 1000] {
            let mut batch = Batch::new(length);
            let mut state = vec![7; length];
            batch.push(&state, 0);
            for i in 0..length {
                // The lowest and the highest bit.
                state[i] ^= if i % 2 == 0 { 1 } else { 0x80 };
                batch.push(&state, 0);
            }
            batch.push(&state, 0);
            let mut changed = Vec::new();
            changes(&batch, 0..batch.len(), &mut changed);
            assert_eq!((changed[0], changed[length + 1]), (!0, 0));
            for i in 0..length {
                assert_eq!(changed[i + 1], mask(std::slice::from_ref(&(i..i + 1)), length), "byte {i} of {length}");
            }
        }
    }
}
