//! A bucket: one cache line with a header, which counts its entries, a lane of 16 bits for the lowest bits of each, which are compared
//! several at a time, then the other bits, looked at only where the lowest agree, and the tails.

use super::form::{Form, LANE, Place};
use super::wide;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The header, in the first word: how many entries, and whether someone is adding one.
const COUNT: u64 = 0x3f;
const LOCKED: u64 = 0x8000;
/// Slots with a lane in the first word.
const LANES_OF_FIRST: usize = 3;
/// Entries that a bucket can have at most.
pub const MOST_SLOTS: usize = 31;

#[repr(align(64))]
pub struct Line(pub(super) [AtomicU64; 8]);

pub const LINE_BYTES: usize = size_of::<Line>();

/// What was seen in a bucket.
pub enum Seen {
    Known,
    /// Not here, nor in any later bucket: the first word as it was.
    Absent(u64),
    /// Not here, and the bucket is full.
    Beyond,
}

impl Line {
    #[inline(always)]
    fn word(&self, i: usize) -> u64 {
        self.0[i].load(Ordering::Relaxed)
    }

    /// Looks for an entry; where `FAST`, with [wide] reads.
    #[inline(always)]
    pub fn look<const FAST: bool>(&self, form: &Form, place: Place) -> Seen {
        let first = self.0[0].load(Ordering::Acquire);
        let count = (first & COUNT) as usize;
        // The first lane is the header.
        let taken = (2u64 << count) - 2;
        let low = place.entry as u16;
        let lanes = if FAST {
            // SAFETY: who says `FAST` has made sure of it.
            unsafe { wide::lanes_with(self, low) }
        } else {
            self.lanes_with(first, form.slots, low)
        };
        let mut hits = lanes & taken;
        while hits != 0 {
            let slot = hits.trailing_zeros() as usize - 1;
            if self.upper::<FAST>(form, slot) == (place.entry >> LANE, place.tail) {
                return Seen::Known;
            }
            hits &= hits - 1;
        }
        if count < form.slots { Seen::Absent(first) } else { Seen::Beyond }
    }

    /// Locks the bucket where its first word is still this: the word without the lock, for [`put`](Line::put).
    #[inline(always)]
    pub fn lock(&self, first: u64) -> Option<u64> {
        let free = first & !LOCKED;
        let taken = self.0[0].compare_exchange_weak(free, free | LOCKED, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then_some(free)
    }

    /// The first word, if there is room for one more entry.
    #[inline(always)]
    pub fn with_room(&self, form: &Form) -> Option<u64> {
        let first = self.0[0].load(Ordering::Relaxed);
        (((first & COUNT) as usize) < form.slots).then_some(first)
    }

    pub fn count(&self) -> usize {
        (self.0[0].load(Ordering::Acquire) & COUNT) as usize
    }

    /// Adds an entry to a bucket that is not full and whose first word is this; it belongs to this thread, alone or by its
    /// lock, which is released.
    #[inline(always)]
    pub fn put<const FAST: bool>(&self, form: &Form, mut first: u64, place: Place) {
        let slot = (first & COUNT) as usize;
        let (high, start) = (form.width - LANE, upper_start(form, slot));
        if FAST && high + form.tail <= wide::MOST {
            if slot < LANES_OF_FIRST {
                first |= (place.entry & 0xffff) << (LANE as usize * (slot + 1));
            }
            // SAFETY: who says `FAST` has made sure of it; the bucket belongs to this thread, and the bits are beyond its
            // first word, as there are more slots than lanes in that.
            unsafe {
                if slot >= LANES_OF_FIRST {
                    wide::set_lane(self, slot + 1, place.entry as u16);
                }
                wide::add_bits(self, start, place.entry >> LANE | place.tail << high);
            }
            return self.0[0].store(first + 1, Ordering::Release);
        }
        let mut set = |bit: usize, width: u32, bits: u64| {
            let (word, shift) = (bit / 64, bit % 64);
            if bits == 0 {
                return;
            }
            if word == 0 {
                first |= bits << shift;
            } else {
                self.0[word].store(self.word(word) | bits << shift, Ordering::Relaxed);
            }
            if shift + width as usize > 64 {
                self.0[word + 1].store(self.word(word + 1) | bits >> (64 - shift), Ordering::Relaxed);
            }
        };
        set(LANE as usize * (slot + 1), LANE, place.entry & 0xffff);
        if high + form.tail <= u64::BITS {
            set(start, high + form.tail, place.entry >> LANE | place.tail << high);
        } else {
            set(start, high, place.entry >> LANE);
            set(start + high as usize, form.tail, place.tail);
        }
        self.0[0].store(first + 1, Ordering::Release);
    }

    /// The entry and the tail in a slot; where `FAST`, with [wide] reads.
    #[inline(always)]
    pub fn entry<const FAST: bool>(&self, form: &Form, slot: usize) -> (u64, u64) {
        let low = self.word((slot + 1) / 4) >> ((slot + 1) % 4 * LANE as usize) & 0xffff;
        let (high, tail) = self.upper::<FAST>(form, slot);
        (high << LANE | low, tail)
    }

    /// Empties the bucket. It belongs to this thread.
    #[inline(always)]
    pub fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// All of an entry but its lowest bits, and the tail.
    #[inline(always)]
    fn upper<const FAST: bool>(&self, form: &Form, slot: usize) -> (u64, u64) {
        let (high, start) = (form.width - LANE, upper_start(form, slot));
        if FAST && high + form.tail <= wide::MOST {
            // SAFETY: who says `FAST` has made sure of it.
            let both = unsafe { wide::bits(self, start) } & ((1 << (high + form.tail)) - 1);
            return (both & ((1 << high) - 1), both >> high);
        }
        if high + form.tail <= u64::BITS {
            let both = self.bits(start, high + form.tail);
            return (both & ((1 << high) - 1), both >> high);
        }
        (self.bits(start, high), self.bits(start + high as usize, form.tail))
    }

    #[inline(always)]
    fn bits(&self, bit: usize, width: u32) -> u64 {
        if width == 0 {
            return 0;
        }
        let (word, shift) = (bit / 64, bit % 64);
        let mut bits = self.word(word) >> shift;
        if shift + width as usize > 64 {
            bits |= self.word(word + 1) << (64 - shift);
        }
        bits & u64::MAX >> (64 - width)
    }

    /// The lanes, of the header and of `slots` slots at least, that equal `low`, as bits.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn lanes_with(&self, first: u64, slots: usize, low: u16) -> u64 {
        use std::arch::x86_64::{_mm_cmpeq_epi16, _mm_movemask_epi8, _mm_packs_epi16, _mm_set_epi64x, _mm_set1_epi16};
        let word = |i: usize| self.word(i) as i64;
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            let low = _mm_set1_epi16(low as i16);
            let lanes = |high: i64, low_word: i64| _mm_cmpeq_epi16(_mm_set_epi64x(high, low_word), low);
            let bits = |a, b| _mm_movemask_epi8(_mm_packs_epi16(a, b)) as u32 as u64;
            let hits = bits(lanes(word(1), first as i64), lanes(word(3), word(2)));
            if slots < 16 {
                return hits;
            }
            hits | bits(lanes(word(5), word(4)), lanes(word(7), word(6))) << 16
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn lanes_with(&self, first: u64, slots: usize, low: u16) -> u64 {
        let lane = |i: usize| {
            let word = if i < 4 { first } else { self.word(i / 4) };
            (word >> (i % 4 * LANE as usize)) as u16
        };
        (0..=slots).fold(0, |hits, i| hits | ((lane(i) == low) as u64) << i)
    }
}

/// Where the high bits of a slot begin, which its tail follows.
#[inline(always)]
fn upper_start(form: &Form, slot: usize) -> usize {
    LANE as usize * (1 + form.slots) + slot * (form.width - LANE + form.tail) as usize
}
