//! Bits one after the other, eight bytes at a time.
//!
//! Whoever writes and reads knows how many bits there are. All of it is inlined: where the numbers of bits are constants, so are the
//! shifts, and what is left is a store for every eight bytes.

use super::Narrow;
use std::fmt;

/// How large integers become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    bits: u32,
    /// The greatest value, where it is not the greatest of so many bits.
    max: Option<u64>,
}

impl Limit {
    /// Whatever so many bits can hold.
    pub const fn of_bits<T: Narrow>(bits: u32) -> Limit {
        assert!(bits <= T::WIDTH, "`bits` is more than the integer has");
        Limit { bits, max: None }
    }

    /// At least zero, and at most this.
    pub const fn of_max<T: Narrow>(max: u64) -> Limit {
        let bits = u64::BITS - max.leading_zeros();
        assert!(bits <= T::WIDTH, "`max` is more than the integer can be");
        Limit { bits, max: Some(max) }
    }

    /// How many bits an integer takes.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// The greatest value, where one is given.
    #[inline(always)]
    pub(super) const fn max(self) -> Option<u64> {
        self.max
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max {
            Some(max) => write!(f, "max = {max}"),
            None => write!(f, "bits = {}", self.bits),
        }
    }
}

/// Those of the lowest bits.
#[inline(always)]
pub(super) const fn lowest(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}

/// Takes bits and makes bytes of them.
pub struct Writer<'a> {
    /// Where the next bytes go.
    out: &'a mut [u8],
    at: usize,
    /// Bits that are not written yet; those above `filled` are zero.
    bits: u64,
    filled: u32,
    /// A value that did not fit, with its field. It is noted without a call, so that all of this can stay in registers.
    misfit: Option<&'static Narrowed>,
    value: i128,
}

/// A field of narrow integers: its name, and how large they become.
pub struct Narrowed {
    /// What the field is called.
    pub field: &'static str,
    /// How large its values may be.
    pub limit: Limit,
}

impl<'a> Writer<'a> {
    /// Fills these bytes from the first one on.
    #[inline(always)]
    pub fn new(out: &'a mut [u8]) -> Writer<'a> {
        Writer { out, at: 0, bits: 0, filled: 0, misfit: None, value: 0 }
    }

    /// Appends the lowest bits of a value, at most 64; the others must be zero, unless it is known that nothing comes of it.
    #[inline(always)]
    pub fn write(&mut self, value: u64, bits: u32) {
        debug_assert!(value & !lowest(bits) == 0 || self.misfit.is_some());
        self.bits |= value << self.filled;
        let filled = self.filled + bits;
        if filled < 64 {
            self.filled = filled;
            return;
        }
        store(self.out, self.at, self.bits);
        self.at += 8;
        // By 64 nobody can shift, but by one and then by 63.
        self.bits = (value >> 1) >> (63 - self.filled);
        self.filled = filled - 64;
    }

    /// Appends zeros.
    #[inline(always)]
    pub fn skip(&mut self, mut bits: u32) {
        while bits > 64 {
            self.write(0, 64);
            bits -= 64;
        }
        self.write(0, bits);
    }

    /// Notes that a value does not fit.
    #[inline(always)]
    pub(super) fn misfit(&mut self, narrowed: &'static Narrowed, value: i128) {
        (self.misfit, self.value) = (Some(narrowed), value);
    }

    /// Writes what is left, and zeros up to the end. Fails where a value did not fit.
    #[inline(always)]
    pub(super) fn finish(self) -> Result<(), String> {
        let rest = &mut self.out[self.at..];
        let bits = self.bits.to_le_bytes();
        let length = rest.len().min(8);
        rest[..length].copy_from_slice(&bits[..length]);
        match self.misfit {
            None => Ok(()),
            Some(misfit) => Err(misfit.told(self.value)),
        }
    }
}

impl Narrowed {
    #[cold]
    fn told(&self, value: i128) -> String {
        format!("`{}` is {value}, which does not fit: the field says {}", self.field, self.limit)
    }
}

/// Writes eight bytes. A function of its own, so that appending a few bits is short enough to be inlined everywhere.
#[inline(never)]
fn store(out: &mut [u8], at: usize, bits: u64) {
    out[at..at + 8].copy_from_slice(&bits.to_le_bytes());
}

/// The eight bytes from there on, or as many as there are.
#[inline(never)]
fn load(from: &[u8], at: usize) -> u64 {
    let rest = from.get(at..).unwrap_or_default();
    if let Some(bytes) = rest.first_chunk::<8>() {
        return u64::from_le_bytes(*bytes);
    }
    let mut bytes = [0; 8];
    bytes[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(bytes)
}

/// Takes bytes and makes bits of them.
pub struct Reader<'a> {
    from: &'a [u8],
    at: usize,
    /// Bits that are not taken yet: so many of the lowest, the others are zero.
    bits: u64,
    left: u32,
    /// Have all bits been those of a value?
    sound: bool,
}

impl<'a> Reader<'a> {
    /// Takes these bytes from the first one on.
    #[inline(always)]
    pub fn new(from: &'a [u8]) -> Reader<'a> {
        Reader { from, at: 8, bits: load(from, 0), left: 64, sound: true }
    }

    /// Takes so many bits, at most 64.
    #[inline(always)]
    pub fn read(&mut self, bits: u32) -> u64 {
        if bits == 0 {
            return 0;
        }
        if bits <= self.left {
            let value = self.bits & lowest(bits);
            self.bits = (self.bits >> 1) >> (bits - 1);
            self.left -= bits;
            return value;
        }
        let next = load(self.from, self.at);
        self.at += 8;
        let value = self.bits | (next << self.left) & lowest(bits);
        let taken = bits - self.left;
        self.bits = (next >> 1) >> (taken - 1);
        self.left = 64 - taken;
        value
    }

    /// Leaves bits out.
    #[inline(always)]
    pub fn skip(&mut self, mut bits: u32) {
        while bits > 64 {
            self.read(64);
            bits -= 64;
        }
        self.read(bits);
    }

    /// Notes whether the bits that were read are those of a value.
    #[inline(always)]
    pub fn expect(&mut self, sound: bool) {
        self.sound &= sound;
    }

    /// Have all bits been those of a value?
    #[inline(always)]
    pub(super) fn is_sound(&self) -> bool {
        self.sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(values in prop::collection::vec((any::<u64>(), 0u32..=64), 0..40)) {
            let bits: u32 = values.iter().map(|(_, bits)| bits).sum();
            let mut bytes = vec![0xff; bits.div_ceil(8) as usize];
            let mut writer = Writer::new(&mut bytes);
            for (value, bits) in &values {
                writer.write(value & lowest(*bits), *bits);
            }
            writer.finish().unwrap();
            let mut reader = Reader::new(&bytes);
            for (value, bits) in &values {
                prop_assert_eq!(reader.read(*bits), value & lowest(*bits));
            }
            // What means nothing is zero.
            let ones: u32 = values.iter().map(|(value, bits)| (value & lowest(*bits)).count_ones()).sum();
            prop_assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), ones);
        }

        #[test]
        fn what_is_left_out_is_zero(before in 0u32..70, length in 0u32..300) {
            let mut bytes = vec![0xff; (before + length + 3).div_ceil(8) as usize];
            let mut writer = Writer::new(&mut bytes);
            writer.skip(before);
            writer.skip(length);
            writer.write(5, 3);
            writer.finish().unwrap();
            let mut reader = Reader::new(&bytes);
            reader.skip(before);
            reader.skip(length);
            prop_assert_eq!(reader.read(3), 5);
            prop_assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 2);
        }
    }
}
