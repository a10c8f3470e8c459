//! From a key to its place, and back: the arithmetic of a table that keeps only what a place does not say.
//!
//! A key is a number. Its lowest [`HEAD`] bits, the head, are mixed with all others, the tail, and divided: the quotient is the home
//! bucket, the remainder is kept, and so is the tail as it is. Each step can be undone, so bucket, remainder and tail give the key again
//! (quotienting: Cleary, "Compact hash tables using bidirectional linear probing", 1984).
//!
//! The lowest six bits of the head, added to a hash of all others, choose one of 64 segments, which lie one after the other: the keys
//! of a segment need not say them. Where wider keys come, their tails are longer, and those of all others begin with zeros: no key has
//! another home then.

/// Bits of the head of a key.
pub const HEAD: u32 = 40;
/// Bits that a key can have at most.
pub const MOST_BITS: u32 = HEAD + u64::BITS;
/// The logarithm of the number of segments.
pub const SEGMENT_BITS: u32 = 6;
pub const SEGMENTS: usize = 1 << SEGMENT_BITS;
/// Bits of the head but for those that choose the segment.
const REST: u32 = HEAD - SEGMENT_BITS;
const REST_MASK: u64 = (1 << REST) - 1;

/// Bits of a bucket: a cache line.
const BUCKET_BITS: u32 = 512;
/// A bucket begins with a header of so many bits; each entry has as many low bits beside it, in a lane of their own.
pub const LANE: u32 = 16;
/// Buckets beyond its home that an entry can stand at least, and at most.
const LEAST_REACH: u64 = 64;
const MOST_REACH: u64 = 128;

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
    pub home: usize,
    pub entry: u64,
    pub tail: u64,
}

/// A key in its segment: the mixed number, which home and entry come from, and the tail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mixed {
    pub number: u64,
    pub tail: u64,
}

/// How a table with so many buckets, for keys of such a width, is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Bits that keys are said to have, and bits that they may have.
    pub bits: u32,
    pub most_bits: u32,
    /// Homes.
    pub buckets: usize,
    /// Mixed numbers with the same home, and 2^64 divided by that.
    pub divisor: u64,
    reciprocal: u64,
    /// Bits of an entry and of a tail, and how many of both a bucket holds.
    pub width: u32,
    pub tail: u32,
    pub slots: usize,
    /// An entry stands less than so many buckets beyond its home.
    pub reach: usize,
}

/// What is added to the rest of the head.
#[inline(always)]
fn turn(tail: u64) -> u64 {
    (tail ^ tail >> 32).wrapping_mul(MIX[1]) >> (64 - REST)
}

/// What is added to the lowest bits of the head.
#[inline(always)]
fn low_turn(mixed_rest: u64, tail: u64) -> u64 {
    (mixed_rest ^ tail.rotate_left(REST)).wrapping_mul(MIX[0]) >> (64 - SEGMENT_BITS)
}

/// What is home comes from the highest bits, which depend on all others.
#[inline(always)]
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_mul(MIX[0]) & REST_MASK;
    x ^= x >> (REST / 2);
    x.wrapping_mul(MIX[1]) & REST_MASK
}

#[inline(always)]
fn unmix(mut x: u64) -> u64 {
    x = x.wrapping_mul(UNMIX[1]) & REST_MASK;
    x ^= x >> (REST / 2);
    x.wrapping_mul(UNMIX[0]) & REST_MASK
}

impl Mixed {
    #[inline(always)]
    pub fn of(key: u128) -> Mixed {
        let (head, tail) = (key as u64 & ((1 << HEAD) - 1), (key >> HEAD) as u64);
        let rest = mix((head >> SEGMENT_BITS).wrapping_add(turn(tail)) & REST_MASK);
        let segment = head.wrapping_add(low_turn(rest, tail)) & (SEGMENTS as u64 - 1);
        Mixed { number: segment << REST | rest, tail }
    }

    pub fn segment(self) -> usize {
        (self.number >> REST) as usize
    }

    /// All of the key but its lowest bits: in the order of the keys, but for those.
    #[inline(always)]
    pub fn rest(self) -> u128 {
        let rest = unmix(self.number & REST_MASK).wrapping_sub(turn(self.tail)) & REST_MASK;
        (self.tail as u128) << REST | rest as u128
    }

    #[inline(always)]
    pub fn key(self) -> u128 {
        let low = (self.number >> REST).wrapping_sub(low_turn(self.number & REST_MASK, self.tail));
        self.rest() << SEGMENT_BITS | (low & (SEGMENTS as u64 - 1)) as u128
    }
}

/// The key with this [rest](Mixed::rest) in a segment.
pub fn key_of(segment: usize, rest: u128) -> u128 {
    let tail = (rest >> REST) as u64;
    let mixed = mix((rest as u64).wrapping_add(turn(tail)) & REST_MASK);
    let low = (segment as u64).wrapping_sub(low_turn(mixed, tail)) & (SEGMENTS as u64 - 1);
    rest << SEGMENT_BITS | low as u128
}

/// How many different keys of so many bits there are, or as many as can be counted.
pub fn keys(bits: u32) -> u64 {
    1u64.checked_shl(bits).unwrap_or(u64::MAX)
}

impl Form {
    /// A form of so many buckets in all, those at the end among them that are nobody's home.
    pub fn new(bits: u32, all_buckets: usize) -> Form {
        assert!(bits <= MOST_BITS);
        let buckets = all_buckets.saturating_sub(MOST_REACH as usize).clamp(2, 1 << (HEAD - 1));
        let divisor = (1u64 << HEAD).div_ceil(buckets as u64);
        let width = (u64::BITS - (divisor * LEAST_REACH - 1).leading_zeros()).max(LANE);
        let slots = (BUCKET_BITS - LANE) / (width + bits.saturating_sub(HEAD));
        // Bits that would serve nothing are left to tails to come.
        let tail = ((BUCKET_BITS - LANE) / slots - width).min(u64::BITS);
        Form {
            bits,
            most_bits: HEAD + tail,
            buckets,
            divisor,
            reciprocal: ((1u128 << 64) / divisor as u128) as u64,
            width,
            tail,
            slots: slots as usize,
            reach: ((1 << width) / divisor).min(MOST_REACH) as usize,
        }
    }

    /// All buckets: beyond the last home there is room for what stands in none.
    pub fn all_buckets(&self) -> usize {
        self.buckets + MOST_REACH as usize
    }

    /// Entries that all homes can hold.
    pub fn all_slots(&self) -> usize {
        self.buckets * self.slots
    }

    /// The first home of a segment, which may be the last one of the segment before, too.
    pub fn first_home(&self, segment: usize) -> usize {
        (((segment as u64) << REST) / self.divisor) as usize
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

    #[inline(always)]
    pub fn place_of(&self, mixed: Mixed) -> Place {
        let (home, entry) = self.divide(mixed.number);
        Place { home: home as usize, entry, tail: mixed.tail }
    }

    #[inline(always)]
    pub fn place(&self, key: u128) -> Place {
        self.place_of(Mixed::of(key))
    }

    /// What stands in this bucket.
    #[inline(always)]
    pub fn mixed(&self, bucket: usize, entry: u64, tail: u64) -> Mixed {
        // Nearly always an entry is in its home.
        if entry < self.divisor {
            return Mixed { number: bucket as u64 * self.divisor + entry, tail };
        }
        let (beyond, remainder) = self.divide(entry);
        Mixed { number: (bucket as u64 - beyond) * self.divisor + remainder, tail }
    }

    /// The lowest bucket from which on nothing has its home in buckets below `bound` of another form.
    pub fn beyond(&self, bound: usize, other: &Form) -> usize {
        let homes = (bound as u128 * other.divisor as u128).div_ceil(self.divisor as u128);
        self.reach + homes as usize
    }
}
