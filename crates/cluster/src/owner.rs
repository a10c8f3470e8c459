//! Whose a state is: a hash of its bytes says so, the same on every machine.
//!
//! It has nothing to do with the hashes of tables: states of one owner must be spread over its table.

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

fn folded(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// A hash of a state.
#[inline]
pub fn hash(state: &[u8]) -> u64 {
    let mut sum = FACTOR ^ state.len() as u64;
    let (words, rest) = state.as_chunks::<8>();
    for word in words {
        sum = folded(sum ^ u64::from_le_bytes(*word), FACTOR | 1).rotate_left(23);
    }
    if !rest.is_empty() {
        sum = folded(sum ^ last(state), FACTOR | 1);
    }
    folded(sum ^ 0xD6E8_FEB8_6659_FD93, 0xA076_1D64_78BD_642F)
}

/// What is left of a state behind its words of eight bytes, as a word filled up with zeros. It is cut from the last eight bytes: to
/// copy so few takes longer.
#[inline]
pub fn last(state: &[u8]) -> u64 {
    let left = 8 * (state.len() % 8);
    match state.last_chunk::<8>() {
        Some(bytes) if left > 0 => u64::from_le_bytes(*bytes) >> (64 - left),
        Some(_) => 0,
        None => state.iter().rev().fold(0, |word, byte| word << 8 | *byte as u64),
    }
}

/// The worker, of so many, to which a state with this hash belongs.
pub fn owner(hash: u64, workers: usize) -> usize {
    ((hash as u128 * workers as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_a_word() {
        let bytes: Vec<u8> = (1..=24).collect();
        assert_eq!(last(&bytes), 0);
        assert_eq!(last(&bytes[..3]), 0x03_02_01);
        assert_eq!(last(&bytes[..10]), 0x0a_09);
        assert_eq!(last(&[]), 0);
    }

    #[test]
    fn everybody_gets_a_share() {
        for workers in [1, 2, 3, 7, 64] {
            let mut shares = vec![0; workers];
            (0..10_000u32).for_each(|i| shares[owner(hash(&i.to_le_bytes()), workers)] += 1);
            let fair = 10_000 / workers;
            assert!(shares.iter().all(|share| (fair / 2..=2 * fair).contains(share)), "{shares:?}");
        }
    }
}
