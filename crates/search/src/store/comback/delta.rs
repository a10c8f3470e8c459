//! A state written as what differs from another one.
//!
//! States that were found one after the other differ in a few bytes, however long they are. The difference is taken word by
//! word: for every eight words a byte says which of them differ at all; for each of those a byte says which of its bytes do,
//! and these bytes follow, exclusive-ored. States are buffers of whole words, the end of the last one zero.

/// The most bytes a difference between states of so many words takes.
pub fn longest(words: usize) -> usize {
    words.div_ceil(8) + 9 * words
}

/// Bytes that are read beyond the end of a difference.
pub const SLACK: usize = 8;

#[inline(always)]
fn word(state: &[u8], i: usize) -> u64 {
    u64::from_le_bytes(state[8 * i..8 * i + 8].try_into().expect("eight bytes"))
}

/// Which bytes of a word are not zero, as bits.
#[inline(always)]
fn bytes_set(word: u64) -> u8 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    // The lowest bit of each byte becomes the or of all eight.
    let word = word | word >> 4 & 0x0f0f_0f0f_0f0f_0f0f;
    let word = word | word >> 2 & 0x3f3f_3f3f_3f3f_3f3f;
    let word = (word | word >> 1 & 0x7f7f_7f7f_7f7f_7f7f) & LOW;
    (word.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The bytes of a word in which the bits of `mask` are set, all ones.
#[inline(always)]
fn whole_bytes(mask: u8) -> u64 {
    static TABLE: [u64; 256] = {
        let mut table = [0; 256];
        let mut mask = 0;
        while mask < 256 {
            let mut byte = 0;
            while byte < 8 {
                if mask >> byte & 1 == 1 {
                    table[mask] |= 0xff << (8 * byte);
                }
                byte += 1;
            }
            mask += 1;
        }
        table
    };
    TABLE[mask as usize]
}

/// Writes how `state` differs from `other`, and makes them equal. Answers the number of bytes written.
pub fn write(other: &mut [u8], state: &[u8], out: &mut [u8]) -> usize {
    let words = state.len() / 8;
    let mut at = 0;
    for first in (0..words).step_by(8) {
        let head = at;
        let mut differing = 0;
        at += 1;
        for i in first..words.min(first + 8) {
            let mut difference = word(state, i) ^ word(other, i);
            if difference == 0 {
                continue;
            }
            other[8 * i..8 * i + 8].copy_from_slice(&state[8 * i..8 * i + 8]);
            differing |= 1 << (i - first);
            let mut mask = bytes_set(difference);
            out[at] = mask;
            at += 1;
            let mut gone = 0;
            while mask != 0 {
                let byte = mask.trailing_zeros();
                difference >>= 8 * (byte - gone);
                gone = byte;
                out[at] = difference as u8;
                at += 1;
                mask &= mask - 1;
            }
        }
        out[head] = differing;
    }
    at
}

#[inline(always)]
fn read_with(count: usize, from: &[u8], state: &mut [u8], spread: impl Fn(u64, u8) -> u64) -> usize {
    let words = state.len() / 8;
    let mut at = 0;
    for _ in 0..count {
        for first in (0..words).step_by(8) {
            let mut differing = from[at];
            at += 1;
            while differing != 0 {
                let i = first + differing.trailing_zeros() as usize;
                let mask = from[at];
                let changed = spread(word(&from[at + 1..at + 9], 0), mask);
                at += 1 + mask.count_ones() as usize;
                let now = word(state, i) ^ changed;
                state[8 * i..8 * i + 8].copy_from_slice(&now.to_le_bytes());
                differing &= differing - 1;
            }
        }
    }
    at
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2,popcnt")]
fn read_quickly(count: usize, from: &[u8], state: &mut [u8]) -> usize {
    read_with(count, from, state, |bytes, mask| std::arch::x86_64::_pdep_u64(bytes, whole_bytes(mask)))
}

fn read_anywhere(count: usize, from: &[u8], state: &mut [u8]) -> usize {
    read_with(count, from, state, |bytes, mut mask| {
        let (mut spread, mut bytes) = (0, bytes);
        while mask != 0 {
            spread |= (bytes & 0xff) << (8 * mask.trailing_zeros());
            bytes >>= 8;
            mask &= mask - 1;
        }
        spread
    })
}

/// Applies so many differences in turn, the first of which starts where `from` does, to the state that it was taken from.
/// Answers their length.
#[inline(always)]
pub fn read(count: usize, from: &[u8], state: &mut [u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("bmi2") && std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has these instructions.
        return unsafe { read_quickly(count, from, state) };
    }
    read_anywhere(count, from, state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    #[test]
    fn a_difference_leads_from_one_state_to_the_other() {
        let mut random = Random(3);
        for words in [1, 2, 3, 8, 9, 40] {
            for changes in [0, 1, 3, 8 * words, 100 * words] {
                let mut state: Vec<u8> = (0..8 * words).map(|_| random.below(256) as u8).collect();
                let before = state.clone();
                for _ in 0..changes {
                    let at = random.below(8 * words);
                    state[at] = random.below(256) as u8;
                }
                let mut out = vec![0xaa; longest(words) + SLACK];
                let mut other = before.clone();
                let length = write(&mut other, &state, &mut out);
                assert!(length <= longest(words) && other == state);
                for read in [read, read_anywhere] {
                    let mut again = before.clone();
                    assert_eq!(
                        (read(1, &out, &mut again), &again),
                        (length, &state),
                        "{words} words, {changes} changes"
                    );
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_set_are_seen() {
        for mask in 0..=255u8 {
            for value in [1u64, 0x80, 0x10, 0xff] {
                let word = whole_bytes(mask) & value.wrapping_mul(0x0101_0101_0101_0101);
                assert_eq!(bytes_set(word), mask);
            }
        }
    }
}
