//! States on their way: each as the bits that differ somewhere in its parcel.
//!
//! A parcel begins with its first state and with a bit for each bit of a state, set where not all states of the parcel have the same there.
//! Then come, state after state, the bits that are set in it. Nobody need agree on anything beforehand, and no parcel depends on another one.

use crate::words::{Shape, Words, words_of};
use scrimp_system::Batch;

/// More states than there are in any parcel.
const MOST: u32 = 1 << 16;

/// States that are collected for one owner, as words, the last one of each filled up with zeros.
pub struct Collected {
    state_bytes: usize,
    words: Vec<u64>,
    pub count: u32,
}

impl Collected {
    pub fn new(state_bytes: usize) -> Collected {
        Collected { state_bytes, words: Vec::new(), count: 0 }
    }

    #[inline]
    pub fn push(&mut self, state: &[u8]) {
        let (words, last) = words_of(state);
        self.words.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        self.words.extend(last);
        self.count += 1;
    }

    /// The same of a state in its words.
    #[inline(always)]
    pub fn push_words<const W: usize>(&mut self, state: Words<'_, W>) {
        if W == 0 {
            self.words.extend(state.all());
        } else {
            self.words.extend_from_slice(&std::array::from_fn::<u64, W, _>(|i| state.get(i)));
        }
        self.count += 1;
    }

    /// Bytes that it takes here.
    pub fn bytes(&self) -> usize {
        8 * self.words.len()
    }

    /// Everything collected, as a parcel; then it begins anew.
    pub fn take(&mut self) -> (u32, Vec<u8>) {
        let (count, length) = (std::mem::take(&mut self.count), Shape::new(self.state_bytes).words);
        let mut parcel = Vec::new();
        if count > 0 && length > 0 {
            let first = self.words[..length].to_vec();
            let mut differ = vec![0; length];
            for state in self.words.chunks_exact(length) {
                differ.iter_mut().zip(state.iter().zip(&first)).for_each(|(differ, (a, b))| *differ |= a ^ b);
            }
            for part in [&first, &differ] {
                let start = parcel.len();
                part.iter().for_each(|word| parcel.extend(word.to_le_bytes()));
                parcel.truncate(start + self.state_bytes);
            }
            let bits: u64 = differ.iter().map(|word| word.count_ones() as u64).sum();
            parcel.reserve((bits * count as u64).div_ceil(8) as usize);
            match is_fast() {
                // SAFETY: asked for just now.
                #[cfg(target_arch = "x86_64")]
                true => unsafe { write_fast(&self.words, &differ, &mut parcel) },
                _ => write::<false>(&self.words, &differ, &mut parcel),
            }
        }
        self.words.clear();
        (count, parcel)
    }
}

/// Appends the states of a parcel to a batch; `None` where the bytes are no states.
pub fn read(bytes: &[u8], count: u32, batch: &mut Batch) -> Option<()> {
    if count > MOST {
        return None;
    }
    let (length, count) = (batch.state_bytes(), count as usize);
    if length == 0 || count == 0 {
        (0..count).for_each(|_| batch.push(&[], 0));
        return bytes.is_empty().then_some(());
    }
    let (first, rest) = bytes.split_at_checked(length)?;
    let (differ, rest) = rest.split_at_checked(length)?;
    let (first, differ): (Vec<u64>, Vec<u64>) = (collect_words(first), collect_words(differ));
    let bits: usize = differ.iter().map(|word| word.count_ones() as usize).sum();
    if rest.len() != bits.checked_mul(count)?.div_ceil(8) {
        return None;
    }
    match is_fast() {
        // SAFETY: asked for just now.
        #[cfg(target_arch = "x86_64")]
        true => unsafe { read_fast(rest, &first, &differ, count, batch) },
        _ => read_states::<false>(rest, &first, &differ, count, batch),
    }
    Some(())
}

fn collect_words(bytes: &[u8]) -> Vec<u64> {
    let (words, last) = words_of(bytes);
    words.iter().map(|word| u64::from_le_bytes(*word)).chain(last).collect()
}

fn is_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("bmi2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn write_fast(words: &[u64], differ: &[u64], out: &mut Vec<u8>) {
    write::<true>(words, differ, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn read_fast(bytes: &[u8], first: &[u64], differ: &[u64], count: usize, batch: &mut Batch) {
    read_states::<true>(bytes, first, differ, count, batch);
}

/// Appends the bits of all states that differ.
#[inline(always)]
fn write<const FAST: bool>(words: &[u64], differ: &[u64], out: &mut Vec<u8>) {
    let (mut open, mut filled) = (0u64, 0u32);
    for state in words.chunks_exact(differ.len()) {
        for (&word, &mask) in state.iter().zip(differ).filter(|(_, mask)| **mask != 0) {
            let (bits, many) = (gather::<FAST>(word, mask), mask.count_ones());
            open |= bits << filled;
            filled += many;
            if filled >= 64 {
                out.extend(open.to_le_bytes());
                filled -= 64;
                open = if filled == 0 { 0 } else { bits >> (many - filled) };
            }
        }
    }
    out.extend(&open.to_le_bytes()[..filled.div_ceil(8) as usize]);
}

/// The other way round. There are as many bits as it takes.
#[inline(always)]
fn read_states<const FAST: bool>(bytes: &[u8], first: &[u64], differ: &[u64], count: usize, batch: &mut Batch) {
    let words = collect_words(bytes);
    let mut at = 0;
    for state in batch.push_padded(count) {
        for ((&first, &mask), place) in first.iter().zip(differ).zip(state.as_chunks_mut::<8>().0) {
            let mut word = first;
            if mask != 0 {
                let (here, beyond) = (at / 64, at % 64);
                let next = words.get(here + 1).copied().unwrap_or(0);
                let bits = words[here] >> beyond | next << 1 << (63 - beyond);
                word = first & !mask | scatter::<FAST>(bits, mask);
                at += mask.count_ones() as usize;
            }
            *place = word.to_le_bytes();
        }
    }
}

/// The bits of `x` that are set in the mask, moved together.
#[inline(always)]
fn gather<const FAST: bool>(x: u64, mask: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if FAST {
        // SAFETY: who says `FAST` has made sure of BMI2.
        return unsafe { std::arch::x86_64::_pext_u64(x, mask) };
    }
    let (mut left, mut gathered, mut at) = (mask, 0, 0);
    while left != 0 {
        // A run of ones at a time.
        let start = left.trailing_zeros();
        let run = (left >> start).trailing_ones();
        let ones = u64::MAX >> (64 - run);
        gathered |= (x >> start & ones) << at;
        at += run;
        left &= !(ones << start);
    }
    gathered
}

/// The reverse: the lowest bits of `x` where the mask has ones.
#[inline(always)]
fn scatter<const FAST: bool>(x: u64, mask: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if FAST {
        // SAFETY: who says `FAST` has made sure of BMI2.
        return unsafe { std::arch::x86_64::_pdep_u64(x, mask) };
    }
    let (mut left, mut scattered, mut at) = (mask, 0, 0);
    while left != 0 {
        let start = left.trailing_zeros();
        let run = (left >> start).trailing_ones();
        let ones = u64::MAX >> (64 - run);
        scattered |= (x >> at & ones) << start;
        at += run;
        left &= !(ones << start);
    }
    scattered
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    #[test]
    fn states_come_back() {
        let mut random = Random(7);
        for length in [0, 1, 3, 8, 9, 16, 64, 254, 255, 256, 700] {
            for most in [2, 3, 17, 256] {
                let (mut all, mut states) = (Collected::new(length), Vec::new());
                let mut state = vec![5u8; length];
                for round in 0..200 {
                    for _ in 0..if round % 10 == 0 { length } else { round % 4 } {
                        if length > 0 {
                            state[random.below(length)] = random.below(most) as u8;
                        }
                    }
                    if round % 2 == 0 {
                        all.push(&state);
                    } else {
                        let mut padded = Batch::new(length);
                        padded.push(&state, 0);
                        all.push_words(Words::<0>::new(padded.padded(0), Shape::new(length)));
                    }
                    states.push(state.clone());
                }
                let (count, bytes) = all.take();
                let mut batch = Batch::new(length);
                assert_eq!(read(&bytes, count, &mut batch), Some(()), "{length}");
                assert!((0..states.len()).all(|i| batch.state(i) == &states[i][..]), "{length} {most}");
                // What is cut or longer is no parcel, and does no harm.
                for cut in 0..bytes.len().min(300) {
                    assert_eq!(read(&bytes[..cut], count, &mut Batch::new(length)), None);
                }
                assert_eq!(read(&[&bytes[..], &[0]].concat(), count, &mut Batch::new(length)), None);
                assert_eq!(read(&bytes, u32::MAX, &mut Batch::new(length)), None);
            }
        }
    }

    /// Processors that have no instruction for it do the same.
    #[test]
    fn both_ways_are_the_same() {
        let mut random = Random(3);
        let mut word = || (0..8).fold(0, |word, _| word << 8 | random.below(256) as u64);
        for _ in 0..1000 {
            let (x, mask) = (word(), word() & word());
            let gathered = gather::<false>(x, mask);
            assert_eq!(scatter::<false>(gathered, mask), x & mask);
            assert_eq!(gathered.count_ones(), (x & mask).count_ones());
            if is_fast() {
                assert_eq!((gathered, scatter::<false>(x, mask)), (gather::<true>(x, mask), scatter::<true>(x, mask)));
            }
        }
    }
}
