//! Keys, one after the other, each as what differs from the one before it.
//!
//! Neighbours in an open list come from the same source or from similar ones, so most of their bytes agree. A key is taken
//! as words of eight bytes; a bit for each word says whether it differs, and for one that does, a bit for each byte.

/// Bytes that a key can take at most.
pub fn longest(key_bytes: usize) -> usize {
    let words = key_bytes.div_ceil(8);
    words.div_ceil(8) + words + key_bytes
}

/// Eight bytes, or what is left of them.
#[inline(always)]
fn nth_word(bytes: &[u8], i: usize) -> u64 {
    let rest = &bytes[8 * i..];
    match (rest.first_chunk(), bytes.last_chunk::<8>()) {
        (Some(whole), _) => u64::from_le_bytes(*whole),
        (None, Some(last)) => u64::from_le_bytes(*last) >> (8 * (8 - rest.len())),
        (None, None) => rest.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64),
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

/// A one for each byte that is not zero, in the lowest bit of that byte.
#[inline(always)]
fn differing(word: u64) -> u64 {
    ((((word & !HIGH) + !HIGH) | word) & HIGH) >> 7
}

/// The lowest bits of all bytes, moved together.
#[inline(always)]
fn together(ones: u64) -> u8 {
    (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The bytes of a word where `ones` has a one, moved together.
#[inline(always)]
fn gather<const FAST: bool>(word: u64, ones: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if FAST {
        // SAFETY: who says `FAST` has made sure of BMI2.
        return unsafe { std::arch::x86_64::_pext_u64(word, ones.wrapping_mul(0xff)) };
    }
    let (mut ones, mut gathered, mut at) = (ones, 0, 0);
    while ones != 0 {
        gathered |= (word >> ones.trailing_zeros() & 0xff) << at;
        at += 8;
        ones &= ones - 1;
    }
    gathered
}

/// Appends `key` as its difference from `before`.
pub fn pack(key: &[u8], before: &[u8], out: &mut Vec<u8>) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "bmi2")]
        fn fast(key: &[u8], before: &[u8], out: &mut Vec<u8>) {
            pack_by::<true>(key, before, out);
        }
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: it was detected.
            return unsafe { fast(key, before, out) };
        }
    }
    pack_by::<false>(key, before, out);
}

#[inline(always)]
fn pack_by<const FAST: bool>(key: &[u8], before: &[u8], out: &mut Vec<u8>) {
    assert!(key.len() == before.len());
    // Whole words are written: there is room for one more than the key can take.
    out.reserve(longest(key.len()) + 8);
    let start = out.len();
    // SAFETY: what is written, and the word behind it, lies in what was reserved, and all bytes before `at` were written.
    unsafe {
        let base = out.as_mut_ptr();
        let mut at = start;
        for (key, before) in key.chunks(64).zip(before.chunks(64)) {
            let (mask_at, mut mask) = (at, 0u8);
            at += 1;
            for i in 0..key.len().div_ceil(8) {
                let difference = nth_word(key, i) ^ nth_word(before, i);
                if difference != 0 {
                    mask |= 1 << i;
                    let ones = differing(difference);
                    base.add(at).write(together(ones));
                    base.add(at + 1).cast::<[u8; 8]>().write(gather::<FAST>(difference, ones).to_le_bytes());
                    at += 1 + ones.count_ones() as usize;
                }
            }
            base.add(mask_at).write(mask);
        }
        out.set_len(at);
    }
}

/// Turns `key`, the one before, into the next one; `packed` moves on behind it. Nothing when there is too little of it.
pub fn unpack(packed: &mut &[u8], key: &mut [u8]) -> Option<()> {
    for key in key.chunks_mut(64) {
        let mut words = *packed.split_off_first()?;
        while words != 0 {
            let word = words.trailing_zeros() as usize * 8;
            words &= words - 1;
            let mut bytes = *packed.split_off_first()?;
            while bytes != 0 {
                let byte = key.get_mut(word + bytes.trailing_zeros() as usize)?;
                *byte ^= *packed.split_off_first()?;
                bytes &= bytes - 1;
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    #[test]
    fn keys_come_back() {
        let mut random = Random(3);
        for length in [1, 3, 7, 8, 9, 24, 63, 64, 65, 130, 300] {
            let mut keys = vec![vec![0u8; length]];
            for _ in 0..200 {
                let mut key = keys.last().unwrap().clone();
                for _ in 0..random.below(4) {
                    key[random.below(length)] = random.below(256) as u8;
                }
                keys.push(key);
            }
            keys.push(vec![0xff; length]);
            let mut packed = Vec::new();
            for pair in keys.windows(2) {
                let before = packed.len();
                pack(&pair[1], &pair[0], &mut packed);
                assert!(packed.len() - before <= longest(length));
                let mut slow = packed[..before].to_vec();
                pack_by::<false>(&pair[1], &pair[0], &mut slow);
                assert_eq!(packed, slow);
            }
            let (mut rest, mut key) = (&packed[..], vec![0; length]);
            for expected in &keys[1..] {
                unpack(&mut rest, &mut key).unwrap();
                assert_eq!(&key, expected);
            }
            assert!(rest.is_empty());
            assert!(unpack(&mut &packed[..packed.len() - 1][..0], &mut key).is_none());
        }
    }
}
