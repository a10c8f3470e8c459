//! One hash for states, in 64 bits, the same on every machine: stores and files may rely on it.
//!
//! Sixteen bytes at a time are folded by a 64 x 64 to 128 bit multiplication (the construction of wyhash). Both the
//! high bits (which choose a bucket) and the low bits (which become a tag) are good.

const KEYS: [u64; 3] = [0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9, 0x4b33_a62e_d433_d4a3];

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

#[inline(always)]
pub fn hash(state: &[u8]) -> u64 {
    let length = state.len();
    let mut seed = KEYS[2] ^ length as u64;
    if length < 8 {
        let mut last = [0; 8];
        last[..length].copy_from_slice(state);
        return fold(fold(u64::from_le_bytes(last) ^ KEYS[0], seed ^ KEYS[1]), KEYS[2]);
    }
    let mut at = 0;
    while at + 16 <= length {
        seed = fold(word(state, at) ^ KEYS[0], word(state, at + 8) ^ seed);
        at += 16;
    }
    // The rest, up to fifteen bytes, as two words that may overlap what was read already.
    let first = word(state, at.min(length - 8));
    fold(fold(first ^ KEYS[1], word(state, length - 8) ^ seed), KEYS[0])
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
    fn buckets_fill_evenly() {
        let mut counts = [0u32; 64];
        for i in 0..64_000u32 {
            let mut state = [0u8; 24];
            state[3..7].copy_from_slice(&i.to_le_bytes());
            counts[((hash(&state) as u128 * 64) >> 64) as usize] += 1;
        }
        assert!(counts.iter().all(|&c| (850..1150).contains(&c)), "{counts:?}");
    }

    #[test]
    fn length_matters() {
        assert_ne!(hash(&[0; 8]), hash(&[0; 16]));
    }
}
