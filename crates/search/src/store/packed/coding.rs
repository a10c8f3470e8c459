//! States as short numbers: of each byte only the bits that ever changed.
//!
//! For each byte there is a least value, which is subtracted, and a mask of the bits that are set in what is left; these bits
//! of all bytes, one after the other, are the number. Nothing need be known of the model: a state that does not fit shows
//! what must change. Bits that come late stand above all others, so that the numbers given before keep their values.

use crate::checkpoint::impossible;
use scrimp_system::Batch;
use std::io::{self, Read, Write};

/// What is known of the values of a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Byte {
    /// Subtracted from every value.
    least: u8,
    /// Bits that are set in what is left.
    mask: u8,
}

impl Byte {
    /// The same with one value more, in as few bits as can be.
    fn with(self, value: u8) -> Byte {
        let left = value.wrapping_sub(self.least);
        if left & !self.mask == 0 {
            return self;
        }
        let beside = Byte { mask: self.mask | left, ..self };
        // A value that lies a little below the least one, such as -1.
        let under = match self.mask.checked_add(left.wrapping_neg()) {
            Some(most) => Byte { least: value, mask: u8::MAX >> most.leading_zeros() },
            None => beside,
        };
        if under.mask.count_ones() < beside.mask.count_ones() { under } else { beside }
    }
}

/// How states become numbers.
#[derive(Debug, Clone)]
pub struct Coding {
    /// The least value of each byte, and the bits of each that were known first, and that came later, time after time.
    least: Vec<u8>,
    masks: Vec<Vec<u8>>,
    words: Vec<Word>,
    /// Bits that came late.
    pieces: Vec<Piece>,
    bits: u32,
}

/// Eight bytes of a state.
#[derive(Debug, Clone, Copy)]
struct Word {
    least: Least,
    /// Bits that must be zero.
    unused: u64,
    /// Bits that were known first, at most 63: where they stand in the number, and how many there are.
    mask: u64,
    at: u32,
    bits: u32,
}

/// Bits of a word that stand together in the number.
#[derive(Debug, Clone, Copy)]
struct Piece {
    word: usize,
    mask: u64,
    at: u32,
}

const HIGH: u64 = 0x8080_8080_8080_8080;

/// Eight values to be subtracted: without the highest bit of each, and that bit, turned over.
#[derive(Debug, Clone, Copy)]
struct Least {
    low: u64,
    high: u64,
}

impl Least {
    fn new(least: u64) -> Least {
        Least { low: least & !HIGH, high: !least & HIGH }
    }

    /// Subtracts each byte from that of `a`.
    #[inline(always)]
    fn subtract_from(self, a: u64) -> u64 {
        ((a | HIGH) - self.low) ^ ((a & HIGH) ^ self.high)
    }

    fn word(self) -> u64 {
        self.low | !self.high & HIGH
    }
}

/// Adds each byte of `b` to that of `a`.
fn add(a: u64, b: u64) -> u64 {
    ((a & !HIGH) + (b & !HIGH)) ^ ((a ^ b) & HIGH)
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

/// Bytes as a word.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64)
}

impl Coding {
    /// For states like this one only.
    pub fn of(state: &[u8]) -> Coding {
        Coding::new(state.to_vec(), vec![vec![0; state.len()]])
    }

    fn new(least: Vec<u8>, masks: Vec<Vec<u8>>) -> Coding {
        let (mut words, mut pieces, mut bits) = (Vec::<Word>::new(), Vec::new(), 0);
        for (time, masks) in masks.iter().enumerate() {
            for (at, (least, mask)) in least.chunks(8).zip(masks.chunks(8)).enumerate() {
                let (mask, all) = (word(mask), u64::MAX >> (64 - 8 * least.len()));
                if time > 0 {
                    words[at].unused &= !mask;
                    pieces.push(Piece { word: at, mask, at: bits });
                    bits += mask.count_ones();
                } else {
                    // A word whose bits are all in use has one of them among the late ones.
                    let first = if mask == u64::MAX { mask >> 1 } else { mask };
                    let count = first.count_ones();
                    words.push(Word {
                        least: Least::new(word(least)),
                        unused: all & !mask,
                        mask: first,
                        at: bits,
                        bits: count,
                    });
                    bits += count;
                }
            }
            if time == 0 {
                for (at, _) in words.iter().enumerate().filter(|(_, word)| word.bits == 63 && word.unused == 0) {
                    pieces.push(Piece { word: at, mask: 1 << 63, at: bits });
                    bits += 1;
                }
            }
        }
        pieces.retain(|piece| piece.mask != 0);
        Coding { least, masks, words, pieces, bits }
    }

    /// Bits of a number. There may be too many: then the coding is for nothing else than to say so.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Pieces of numbers that came late: the more, the longer it takes to make one.
    pub fn late(&self) -> usize {
        self.pieces.len()
    }

    fn bytes(&self) -> impl Iterator<Item = Byte> {
        let mask = |at: usize| self.masks.iter().fold(0, |all, mask| all | mask[at]);
        (0..self.least.len()).map(move |at| Byte { least: self.least[at], mask: mask(at) })
    }

    /// The same for some states more, in as few bits as can be: numbers change.
    pub fn with<'s>(&self, states: impl IntoIterator<Item = &'s [u8]>) -> Coding {
        let mut bytes: Vec<Byte> = self.bytes().collect();
        for state in states {
            bytes.iter_mut().zip(state).for_each(|(byte, &value)| *byte = byte.with(value));
        }
        Coding::new(bytes.iter().map(|byte| byte.least).collect(), vec![bytes.iter().map(|byte| byte.mask).collect()])
    }

    /// The same for some states more: numbers stay as they are.
    pub fn and_late<'s>(&self, states: impl IntoIterator<Item = &'s [u8]>) -> Coding {
        let mut more = vec![0; self.least.len()];
        for state in states {
            for (more, (byte, value)) in more.iter_mut().zip(self.bytes().zip(state)) {
                *more |= value.wrapping_sub(byte.least) & !byte.mask;
            }
        }
        let masks = self.masks.iter().cloned().chain([more]).collect();
        Coding::new(self.least.clone(), masks)
    }

    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&(self.masks.len() as u64).to_le_bytes())?;
        to.write_all(&self.least)?;
        self.masks.iter().try_for_each(|mask| to.write_all(mask))
    }

    /// What was saved for states of so many bytes.
    pub fn restore(state_bytes: usize, from: &mut dyn Read) -> io::Result<Coding> {
        let mut times = [0; 8];
        from.read_exact(&mut times)?;
        let times = u64::from_le_bytes(times);
        // Each time there is a bit more.
        if times == 0 || times > 8 * state_bytes as u64 + 1 {
            return Err(impossible("bits that states do not have"));
        }
        let mut bytes = || {
            let mut bytes = vec![0; state_bytes];
            from.read_exact(&mut bytes).map(|()| bytes)
        };
        let least = bytes()?;
        let masks: Vec<Vec<u8>> = (0..times).map(|_| bytes()).collect::<io::Result<_>>()?;
        for at in 0..state_bytes {
            let (all, count) =
                masks.iter().fold((0, 0), |(all, count), mask| (all | mask[at], count + mask[at].count_ones()));
            if all.count_ones() != count {
                return Err(impossible("a bit that comes twice"));
            }
        }
        Ok(Coding::new(least, masks))
    }

    /// Appends the numbers of all states of a batch; where one does not fit, nothing but its place.
    pub fn encode(&self, batch: &Batch, numbers: &mut Vec<u128>) -> Result<(), usize> {
        let first = numbers.len();
        let encoded = self.encode_all(batch, numbers);
        if encoded.is_err() {
            numbers.truncate(first);
        }
        encoded
    }

    #[cfg(target_arch = "x86_64")]
    fn encode_all(&self, batch: &Batch, numbers: &mut Vec<u128>) -> Result<(), usize> {
        #[target_feature(enable = "bmi2")]
        fn fast(coding: &Coding, batch: &Batch, numbers: &mut Vec<u128>) -> Result<(), usize> {
            coding.encode_by_words::<true>(batch, numbers)
        }
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: it was detected.
            return unsafe { fast(self, batch, numbers) };
        }
        self.encode_by_words::<false>(batch, numbers)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn encode_all(&self, batch: &Batch, numbers: &mut Vec<u128>) -> Result<(), usize> {
        self.encode_by_words::<false>(batch, numbers)
    }

    #[inline(always)]
    fn encode_by_words<const FAST: bool>(&self, batch: &Batch, numbers: &mut Vec<u128>) -> Result<(), usize> {
        match self.words.len() {
            1 => self.encode_words::<FAST, 1>(batch, numbers),
            2 => self.encode_words::<FAST, 2>(batch, numbers),
            3 => self.encode_words::<FAST, 3>(batch, numbers),
            4 => self.encode_words::<FAST, 4>(batch, numbers),
            5 => self.encode_words::<FAST, 5>(batch, numbers),
            6 => self.encode_words::<FAST, 6>(batch, numbers),
            _ => self.encode_words::<FAST, 0>(batch, numbers),
        }
    }

    #[inline(always)]
    fn encode_words<const FAST: bool, const W: usize>(
        &self,
        batch: &Batch,
        numbers: &mut Vec<u128>,
    ) -> Result<(), usize> {
        let words = if W == 0 { &self.words[..] } else { &self.words[..W] };
        let mut first_unfit = batch.len();
        numbers.extend(batch.all_padded().enumerate().map(|(i, state)| {
            let state = &state[..8 * words.len()];
            let subtracted = |at: usize| {
                let bytes: [u8; 8] = state[8 * at..][..8].try_into().expect("eight bytes");
                words[at].least.subtract_from(u64::from_le_bytes(bytes))
            };
            let (mut unfit, mut number) = (0, 0u128);
            for (at, word) in words.iter().enumerate().rev() {
                let value = subtracted(at);
                unfit |= value & word.unused;
                number = number << (word.bits & 63) | gather::<FAST>(value, word.mask) as u128;
            }
            for piece in &self.pieces {
                number |= (gather::<FAST>(subtracted(piece.word), piece.mask) as u128) << piece.at;
            }
            if unfit != 0 {
                first_unfit = first_unfit.min(i);
            }
            number
        }));
        if first_unfit < batch.len() { Err(first_unfit) } else { Ok(()) }
    }

    /// Appends the states with these numbers to a batch.
    #[cfg(target_arch = "x86_64")]
    pub fn decode(&self, numbers: &[u128], states: &mut Batch) {
        #[target_feature(enable = "bmi2")]
        fn fast(coding: &Coding, numbers: &[u128], states: &mut Batch) {
            coding.decode_all::<true>(numbers, states);
        }
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: it was detected.
            return unsafe { fast(self, numbers, states) };
        }
        self.decode_all::<false>(numbers, states);
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub fn decode(&self, numbers: &[u128], states: &mut Batch) {
        self.decode_all::<false>(numbers, states);
    }

    #[inline(always)]
    fn decode_all<const FAST: bool>(&self, numbers: &[u128], states: &mut Batch) {
        for (&number, state) in numbers.iter().zip(states.push_padded(numbers.len())) {
            let (words, _) = state.as_chunks_mut();
            for (bytes, word) in words.iter_mut().zip(&self.words) {
                let left = scatter::<FAST>((number >> word.at) as u64, word.mask);
                *bytes = add(left, word.least.word()).to_le_bytes();
            }
            for piece in &self.pieces {
                let left = scatter::<FAST>((number >> piece.at) as u64, piece.mask);
                words[piece.word] = add(u64::from_le_bytes(words[piece.word]), left).to_le_bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    /// Every value that was shown fits, and comes back.
    #[test]
    fn what_was_shown_fits_and_comes_back() {
        let mut random = Random(11);
        for length in [1, 3, 8, 9, 17, 30, 64, 100] {
            let ranges: Vec<(u8, usize)> =
                (0..length).map(|_| (random.next() as u8, [1, 1, 1, 2, 3, 6, 20][random.below(7)])).collect();
            let mut states = Batch::new(length);
            let mut coding: Option<Coding> = None;
            for _ in 0..300 {
                let state: Vec<u8> = ranges.iter().map(|&(low, n)| low.wrapping_add(random.below(n) as u8)).collect();
                let late = random.below(9) == 0;
                coding = Some(match coding {
                    None => Coding::of(&state),
                    Some(coding) if late => coding.and_late([&state[..]]),
                    Some(coding) => coding.with([&state[..]]),
                });
                states.push(&state, 0);
            }
            let coding = coding.unwrap();
            let mut saved = Vec::new();
            coding.save(&mut saved).unwrap();
            let coding = Coding::restore(length, &mut &saved[..]).unwrap();
            let least: u32 = ranges.iter().map(|(_, n)| usize::BITS - (n - 1).leading_zeros()).sum();
            assert!(coding.bits() >= least, "{} for {least}", coding.bits());
            if coding.bits() > 104 {
                continue;
            }
            let mut numbers = Vec::new();
            coding.encode(&states, &mut numbers).unwrap();
            let mut slow = Vec::new();
            coding.encode_by_words::<false>(&states, &mut slow).unwrap();
            assert_eq!(numbers, slow);
            let (mut again, mut slowly) = (Batch::new(length), Batch::new(length));
            coding.decode(&numbers, &mut again);
            coding.decode_all::<false>(&numbers, &mut slowly);
            for (i, &number) in numbers.iter().enumerate() {
                assert!(number >> coding.bits() == 0);
                assert_eq!((again.state(i), slowly.state(i)), (states.state(i), states.state(i)));
            }
        }
    }

    #[test]
    fn a_value_below_zero_takes_no_byte() {
        let coding = Coding::of(&[0, 0, 0, 0, 5]).with([&[255, 255, 255, 255, 5][..], &[1, 0, 0, 0, 4]]);
        assert_eq!(coding.bits(), 2 + 3 + 1);
    }

    /// What comes late changes no number.
    #[test]
    fn numbers_stay_as_they_are() {
        let mut random = Random(4);
        let mut coding = Coding::of(&[0; 20]);
        let (mut states, mut numbers) = (Batch::new(20), Vec::new());
        for _ in 0..60 {
            let state: Vec<u8> =
                (0..20).map(|_| if random.below(12) == 0 { 1 << random.below(3) } else { 0 }).collect();
            coding = coding.and_late([&state[..]]);
            states.push(&state, 0);
            let mut again = Vec::new();
            coding.encode(&states, &mut again).unwrap();
            assert_eq!(again[..numbers.len()], numbers[..]);
            numbers = again;
        }
        assert!(coding.late() > 10);
        let damaged = |at: usize| {
            let mut saved = Vec::new();
            coding.save(&mut saved).unwrap();
            saved[at] ^= 0xff;
            Coding::restore(20, &mut &saved[..]).is_err()
        };
        assert!(damaged(0) && damaged(7) && damaged(8 + 20 + 5));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let coding = Coding::of(&[7; 12]).with([&[8; 12][..]]);
        let mut states = Batch::new(12);
        states.push(&[8; 12], 0);
        states.push(&[7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 9], 0);
        let mut numbers = vec![3];
        assert_eq!((coding.encode(&states, &mut numbers), numbers.len()), (Err(1), 1));
    }
}
