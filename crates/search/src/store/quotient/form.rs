//! From a key to its place, and back: the arithmetic of a table that keeps only what a place does not say.
//!
//! A key is two numbers of a known width, `left << 32 | right`. Its lowest bits, added to a hash of all others, choose a
//! segment; all others are mixed by a permutation, and the mixed number is divided: the quotient is the home bucket in the
//! segment, the remainder is kept. Each step can be undone, so segment, bucket and remainder give the key again (quotienting:
//! Cleary, "Compact hash tables using bidirectional linear probing", 1984).
//!
//! The segment of a key depends on nothing but the key. So a table whose buckets or key widths change can be rebuilt segment
//! by segment.

/// Width of the two halves of a key, each at most 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyBits {
    pub left: u32,
    pub right: u32,
}

impl KeyBits {
    /// Keys that are one number of so many bits, from 2 to 64.
    pub fn whole(bits: u32) -> KeyBits {
        KeyBits { left: bits.saturating_sub(32), right: bits.min(32) }
    }

    pub fn total(self) -> u32 {
        self.left + self.right
    }

    /// How many different keys there are, or as many as can be counted.
    pub fn keys(self) -> u64 {
        1u64.checked_shl(self.total()).unwrap_or(u64::MAX)
    }

    /// Is a key of this width?
    pub fn fits(self, key: u64) -> bool {
        key >> 32 < 1 << self.left && (key & u32::MAX as u64) < 1 << self.right
    }

    /// Widths for keys of this kind and for those of the other.
    pub fn max(self, other: KeyBits) -> KeyBits {
        KeyBits { left: self.left.max(other.left), right: self.right.max(other.right) }
    }
}

/// Bits of a bucket: a cache line.
const BUCKET_BITS: u32 = 512;
/// A bucket begins with a header of so many bits; each entry has as many low bits beside it, in a lane of their own.
pub const LANE: u32 = 16;
/// Buckets beyond its home that an entry can stand at least.
const LEAST_REACH: u64 = 24;
/// Bits of the segment, in tables that have segments, and the number of buckets from which on they have them.
const SEGMENT_BITS: u32 = 6;
const SEGMENTED: usize = 1 << 14;

const MIX: [u64; 2] = [0x9fb2_1c65_1e98_df25, 0xd6e8_feb8_6659_fd93];
/// Their inverses modulo 2^64.
const UNMIX: [u64; 2] = [inverse(MIX[0]), inverse(MIX[1])];

const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut round = 0;
    while round < 6 {
        // Newton: each round doubles the number of right bits.
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        round += 1;
    }
    x
}

/// Where a key belongs: its home bucket, and the entry it has there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// First bucket of the segment, and the home in it.
    pub segment: usize,
    pub home: usize,
    pub entry: u64,
}

/// How a table with so many buckets, for keys of such a width, is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    pub bits: KeyBits,
    /// The logarithm of the number of segments.
    pub segment_bits: u32,
    /// Buckets in a segment.
    pub buckets: usize,
    /// Bits of a mixed number, and half of them.
    rest_bits: u32,
    half: u32,
    mask: u64,
    /// Mixed numbers with the same home, and 2^64 divided by that.
    pub divisor: u64,
    reciprocal: u64,
    /// Bits of an entry, and entries in a bucket.
    pub width: u32,
    pub slots: usize,
    /// An entry stands less than so many buckets beyond its home.
    pub reach: usize,
}

impl Form {
    /// A form of about so many buckets in all, not more where that can be.
    pub fn new(bits: KeyBits, buckets: usize) -> Form {
        let segment_bits = if buckets >= SEGMENTED && bits.right > SEGMENT_BITS { SEGMENT_BITS } else { 0 };
        let rest_bits = bits.total() - segment_bits;
        let numbers = 1u128 << rest_bits;
        // There are at least two homes of at least two numbers each, so that divisor and reciprocal are words.
        let buckets = (buckets >> segment_bits).clamp(2, (numbers / 2).min(1 << 62) as usize);
        let divisor = numbers.div_ceil(buckets as u128).max(2);
        let widest = divisor * (LEAST_REACH as u128).min(buckets as u128);
        let width = (128 - (widest - 1).leading_zeros()).clamp(LANE, 64);
        let reach = ((1u128 << width) / divisor).min(buckets as u128) as usize;
        Form {
            bits,
            segment_bits,
            buckets,
            rest_bits,
            half: rest_bits.div_ceil(2),
            mask: u64::MAX >> (64 - rest_bits),
            divisor: divisor as u64,
            reciprocal: ((1u128 << 64) / divisor) as u64,
            width,
            slots: ((BUCKET_BITS - LANE) / width) as usize,
            reach,
        }
    }

    pub fn segments(&self) -> usize {
        1 << self.segment_bits
    }

    /// Buckets of all segments.
    pub fn all_buckets(&self) -> usize {
        self.buckets << self.segment_bits
    }

    /// Entries that all buckets can hold.
    pub fn all_slots(&self) -> usize {
        self.all_buckets() * self.slots
    }

    /// A hash of all of a key but its lowest bits, as wide as a segment's number.
    #[inline(always)]
    fn turn(&self, rest: u64) -> u64 {
        let h = (rest ^ rest >> 29).wrapping_mul(MIX[0]);
        (h ^ h >> 32).wrapping_mul(MIX[1]) >> 1 >> (63 - self.segment_bits)
    }

    #[inline(always)]
    fn mix(&self, mut x: u64) -> u64 {
        x ^= x >> self.half;
        x = x.wrapping_mul(MIX[0]) & self.mask;
        x ^= x >> self.half;
        x = x.wrapping_mul(MIX[1]) & self.mask;
        x ^ x >> self.half
    }

    #[inline(always)]
    fn unmix(&self, mut x: u64) -> u64 {
        x ^= x >> self.half;
        x = x.wrapping_mul(UNMIX[1]) & self.mask;
        x ^= x >> self.half;
        x = x.wrapping_mul(UNMIX[0]) & self.mask;
        x ^ x >> self.half
    }

    /// Quotient and remainder.
    #[inline(always)]
    fn divide(&self, x: u64) -> (u64, u64) {
        let quotient = ((x as u128 * self.reciprocal as u128) >> 64) as u64;
        let remainder = x - quotient * self.divisor;
        // The reciprocal is a little too small, and the quotient at most one.
        let short = remainder >= self.divisor;
        (quotient + short as u64, if short { remainder - self.divisor } else { remainder })
    }

    /// The segment of a key and its mixed number there.
    #[inline(always)]
    pub fn split(&self, key: u64) -> (usize, u64) {
        debug_assert!(key >> 32 < 1 << self.bits.left && key as u32 as u64 >> self.bits.right == 0);
        let segment_mask = (1u64 << self.segment_bits) - 1;
        let segment = key.wrapping_add(self.turn(key >> self.segment_bits)) & segment_mask;
        // The left half is moved down to where the right one ends.
        let right = key as u32 as u64 >> self.segment_bits;
        let rest = (key >> 32) << (self.bits.right - self.segment_bits) | right;
        (segment as usize, self.mix(rest))
    }

    /// The place of a mixed number in a segment.
    #[inline(always)]
    pub fn place_of(&self, segment: usize, mixed: u64) -> Place {
        let (home, entry) = self.divide(mixed);
        Place { segment: segment * self.buckets, home: home as usize, entry }
    }

    #[inline(always)]
    pub fn place(&self, key: u64) -> Place {
        let (segment, mixed) = self.split(key);
        self.place_of(segment, mixed)
    }

    /// The mixed number of what stands in this bucket of a segment.
    #[inline(always)]
    pub fn mixed(&self, bucket: usize, entry: u64) -> u64 {
        let (beyond, remainder) = self.divide(entry);
        let beyond = beyond as usize;
        let home = if bucket >= beyond { bucket - beyond } else { bucket + self.buckets - beyond };
        home as u64 * self.divisor + remainder
    }

    /// The key with this mixed number in a segment.
    #[inline(always)]
    pub fn key(&self, segment: usize, mixed: u64) -> u64 {
        self.key_of(segment, self.rest(mixed))
    }

    /// All of a key but its lowest bits, from its mixed number: in the order of the keys, but for those.
    pub fn rest(&self, mixed: u64) -> u64 {
        self.unmix(mixed)
    }

    pub fn rest_bits(&self) -> u32 {
        self.rest_bits
    }

    /// The key with this rest in a segment.
    #[inline(always)]
    pub fn key_of(&self, segment: usize, rest: u64) -> u64 {
        let right_bits = self.bits.right - self.segment_bits;
        let (left, right) = (rest >> right_bits, rest & ((1u64 << right_bits) - 1));
        let rest = left << (32 - self.segment_bits) | right;
        let segment_mask = (1u64 << self.segment_bits) - 1;
        rest << self.segment_bits | (segment as u64).wrapping_sub(self.turn(rest)) & segment_mask
    }
}
