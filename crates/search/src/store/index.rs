//! The index of the table: from a state's hash to its number, in cache-line buckets that many threads may fill.
//!
//! A bucket is 64 bytes: twelve one-byte tags and twelve numbers. Looking a state up reads one cache line, compares all
//! tags at once, and touches a stored state only where the tag agrees. A full bucket overflows into the next one and
//! counts how many states went past it, so that a state can be removed without hiding those behind it.
//!
//! The index holds nothing that could not be computed again from the states themselves. So it grows in place: it is
//! cleared and filled anew, larger, and there is never a second copy of it.
//!
//! Concurrency: a slot is claimed by a compare-and-swap of its tag from zero, always the first free slot of the bucket,
//! and published by storing the number, which is never zero. Two threads with the same new state therefore meet at the
//! same slot: one claims it, the other sees the tag and waits for the number. Slots are never freed while shared, so a
//! bucket once full stays full, and nobody needs to count what goes past it.

use crate::region::Region;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::io;

/// States in a bucket.
pub const SLOTS: usize = 12;
const BUCKET_BYTES: usize = 64;
/// The bits of a mask that stand for slots: the second tag word has only four tags.
const ALL_SLOTS: u32 = (1 << SLOTS) - 1;
/// One state that went past a bucket, in its second tag word: the four bytes behind the tags count them.
const PAST: u64 = 1 << 32;

#[repr(C, align(64))]
struct Bucket {
    tags: [AtomicU64; 2],
    /// Number of the state plus one; zero until it is published.
    numbers: [AtomicU32; SLOTS],
}

impl Bucket {
    #[inline(always)]
    fn load_tags(&self, ordering: Ordering) -> [u64; 2] {
        [self.tags[0].load(ordering), self.tags[1].load(ordering)]
    }
}

pub struct Index {
    region: Region,
    buckets: usize,
}

/// Where a free slot was seen.
#[derive(Clone, Copy)]
pub struct Free {
    bucket: usize,
    slot: usize,
    word: u64,
}

/// A claimed slot, waiting for its number.
#[must_use]
pub struct Claim<'a>(&'a AtomicU32);

impl Claim<'_> {
    /// Publishes the number; the state's bytes must have been written before.
    pub fn publish(self, number: u32) {
        self.0.store(number + 1, Ordering::Release);
    }
}

/// The slots whose tag equals `tag`, as bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn slots_with(tags: [u64; 2], tag: u8) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let tags = _mm_set_epi64x(tags[1] as i64, tags[0] as i64);
        _mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8(tag as i8))) as u32 & ALL_SLOTS
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn slots_with(tags: [u64; 2], tag: u8) -> u32 {
    let equal = |(i, &t): (usize, &u8)| ((t == tag) as u32) << i;
    let mask = |at: usize| tags[at].to_le_bytes().iter().enumerate().map(equal).sum::<u32>() << (8 * at);
    (mask(0) | mask(1)) & ALL_SLOTS
}

/// May a state whose home is here, or before, be in the next bucket?
#[inline(always)]
fn goes_on(tags: [u64; 2]) -> bool {
    tags[1] >= PAST || slots_with(tags, 0) == 0
}

#[inline(always)]
fn tag_of(hash: u64) -> u8 {
    (hash as u8).max(1)
}

impl Index {
    /// Bytes of a slot.
    pub const SLOT_BYTES: f64 = BUCKET_BYTES as f64 / SLOTS as f64;

    /// An index of `bytes`, a multiple of a page, that may grow up to `reserve`.
    pub fn new(reserve: usize, bytes: usize) -> io::Result<Index> {
        let mut region = Region::reserve(reserve)?;
        region.commit(bytes)?;
        Ok(Index { buckets: bytes / BUCKET_BYTES, region })
    }

    pub fn slots(&self) -> usize {
        self.buckets * SLOTS
    }

    pub fn bytes(&self) -> usize {
        self.buckets * BUCKET_BYTES
    }

    pub fn most_bytes(&self) -> usize {
        self.region.reserved()
    }

    /// Empties the index and gives it `bytes`, a multiple of a page and at least as much as before.
    pub fn reset(&mut self, bytes: usize) -> io::Result<()> {
        debug_assert!(bytes >= self.bytes());
        // Memory first: when there is none, the index stays as it is.
        self.region.commit(bytes)?;
        // SAFETY: the buckets in use lie within committed memory, and `&mut self` says that nobody reads them.
        unsafe { std::ptr::write_bytes(self.region.base(), 0, self.bytes()) };
        self.buckets = bytes / BUCKET_BYTES;
        Ok(())
    }

    #[inline(always)]
    pub fn home(&self, hash: u64) -> usize {
        ((hash as u128 * self.buckets as u128) >> 64) as usize
    }

    #[inline(always)]
    fn bucket(&self, bucket: usize) -> &Bucket {
        debug_assert!(bucket < self.buckets);
        // SAFETY: within committed, zero-initialised memory; a bucket consists of atomics, for which zero is valid.
        unsafe { &*(self.region.base() as *const Bucket).add(bucket) }
    }

    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        prefetch(self.bucket(self.home(hash)) as *const Bucket as *const u8);
    }

    /// Looks into the home bucket, or the one `beyond` it: the number, plus one, of the first state whose tag agrees, most
    /// likely the one that is sought, or 0. The second answer is true when it may be in the next bucket, which is asked for.
    #[inline(always)]
    pub fn guess(&self, hash: u64, beyond: usize) -> (u32, bool) {
        let mut at = self.home(hash) + beyond;
        if at >= self.buckets {
            at -= self.buckets;
        }
        let bucket = self.bucket(at);
        let tags = bucket.load_tags(Ordering::Acquire);
        let hits = slots_with(tags, tag_of(hash));
        if hits != 0 {
            return (bucket.numbers[hits.trailing_zeros() as usize].load(Ordering::Acquire), false);
        }
        let on = goes_on(tags);
        if on {
            prefetch((bucket as *const Bucket).wrapping_add(1) as *const u8);
        }
        (0, on)
    }

    /// The number for which `same` holds among those with this hash's tag, or else the free slot to claim.
    #[inline(always)]
    pub fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Result<u32, Free> {
        let tag = tag_of(hash);
        let mut at = self.home(hash);
        let mut first_free = None;
        loop {
            let bucket = self.bucket(at);
            let tags = bucket.load_tags(Ordering::Acquire);
            let mut hits = slots_with(tags, tag);
            while hits != 0 {
                let number = published(&bucket.numbers[hits.trailing_zeros() as usize]);
                if same(number) {
                    return Ok(number);
                }
                hits &= hits - 1;
            }
            let free = slots_with(tags, 0);
            if free != 0 {
                let slot = free.trailing_zeros() as usize;
                let here = *first_free.get_or_insert(Free { bucket: at, slot, word: tags[slot / 8] });
                if tags[1] < PAST {
                    return Err(here);
                }
            }
            at = self.next(at);
            // Once round: where every bucket has been passed, only a free slot is left to be had.
            if let Some(free) = first_free.filter(|_| at == self.home(hash)) {
                return Err(free);
            }
        }
    }

    #[inline(always)]
    fn next(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets { 0 } else { bucket + 1 }
    }

    /// Claims a free slot for a state with this hash; `None` when another thread was quicker in that part of the bucket,
    /// after which [`find`](Index::find) must be asked again. A thread that is `ALONE` need not compete: a locked
    /// instruction would wait for all its writes before, and those miss the cache.
    #[inline(always)]
    pub fn claim<const ALONE: bool>(&self, hash: u64, free: Free) -> Option<Claim<'_>> {
        let bucket = self.bucket(free.bucket);
        let tagged = free.word | (tag_of(hash) as u64) << (free.slot % 8 * 8);
        let tags = &bucket.tags[free.slot / 8];
        if ALONE {
            tags.store(tagged, Ordering::Relaxed);
            self.count_past(hash, free.bucket, PAST);
        } else {
            tags.compare_exchange(free.word, tagged, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        }
        Some(Claim(&bucket.numbers[free.slot]))
    }

    /// Enters a state that is known not to be in the index.
    #[inline(always)]
    pub fn enter<const ALONE: bool>(&self, hash: u64, number: u32) {
        let mut at = self.home(hash);
        loop {
            let tags = self.bucket(at).load_tags(Ordering::Relaxed);
            let free = slots_with(tags, 0);
            if free != 0 {
                let slot = free.trailing_zeros() as usize;
                if let Some(claim) = self.claim::<ALONE>(hash, Free { bucket: at, slot, word: tags[slot / 8] }) {
                    return claim.publish(number);
                }
            } else {
                at = self.next(at);
            }
        }
    }

    /// Adds `change` to the counts of the buckets that a state with this hash passes on its way to `bucket`.
    #[inline(always)]
    fn count_past(&self, hash: u64, bucket: usize, change: u64) {
        let mut at = self.home(hash);
        while at != bucket {
            let word = &self.bucket(at).tags[1];
            word.store(word.load(Ordering::Relaxed).wrapping_add(change), Ordering::Relaxed);
            at = self.next(at);
        }
    }

    /// Takes out the state with this hash and number, which is there. Only for a single owner.
    pub fn remove(&mut self, hash: u64, number: u32) {
        let mut at = self.home(hash);
        loop {
            let bucket = self.bucket(at);
            let mut hits = slots_with(bucket.load_tags(Ordering::Relaxed), tag_of(hash));
            while hits != 0 {
                let slot = hits.trailing_zeros() as usize;
                if bucket.numbers[slot].load(Ordering::Relaxed) == number + 1 {
                    let word = &bucket.tags[slot / 8];
                    let cleared = word.load(Ordering::Relaxed) & !(0xff << (slot % 8 * 8));
                    word.store(cleared, Ordering::Relaxed);
                    bucket.numbers[slot].store(0, Ordering::Relaxed);
                    return self.count_past(hash, at, PAST.wrapping_neg());
                }
                hits &= hits - 1;
            }
            at = self.next(at);
        }
    }

    /// Gives the state with this hash and number `old` the number `new`.
    pub fn renumber(&self, hash: u64, old: u32, new: u32) {
        let tag = tag_of(hash);
        let home = self.home(hash);
        for at in (home..self.buckets).chain(0..home) {
            let bucket = self.bucket(at);
            for slot in 0..SLOTS {
                let word = bucket.tags[slot / 8].load(Ordering::Relaxed);
                if (word >> (slot % 8 * 8)) as u8 == tag
                    && bucket.numbers[slot]
                        .compare_exchange(old + 1, new + 1, Ordering::Relaxed, Ordering::Relaxed)
                        .is_ok()
                {
                    return;
                }
            }
        }
        unreachable!("every stored state is in the index");
    }
}

/// Waits for a claimed slot's number: a few instructions of the thread that claimed it.
#[inline(always)]
fn published(number: &AtomicU32) -> u32 {
    loop {
        let number = number.load(Ordering::Acquire);
        if number != 0 {
            return number - 1;
        }
        crate::sync::spin_loop();
    }
}

/// Asks for a cache line ahead of its use.
#[inline(always)]
pub fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for a cache line that will be written.
#[inline(always)]
pub fn prefetch_write(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults, and where a processor does not know this one, it does nothing.
    unsafe {
        std::arch::asm!("prefetchw [{0}]", in(reg) address, options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_found_by_tag() {
        let tags = [u64::from_le_bytes([9, 7, 0, 7, 1, 2, 3, 7]), u64::from_le_bytes([7, 0, 5, 7, 0, 0, 0, 7])];
        assert_eq!(slots_with(tags, 7), 0b1001_1000_1010);
        assert_eq!(slots_with(tags, 0), 0b0010_0000_0100);
        assert_eq!(slots_with(tags, 200), 0);
    }

    #[test]
    fn full_buckets_overflow_and_everything_is_found() {
        let index = Index::new(1 << 20, 1 << 12).unwrap();
        let hash = |i: u32| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let count = (index.slots() - 2) as u32;
        for i in 0..count {
            index.enter::<true>(hash(i), i);
        }
        for i in 0..count {
            assert_eq!(index.find(hash(i), |n| n == i).ok(), Some(i));
        }
        assert!(index.find(hash(count), |n| n == count).is_err());
    }

    #[test]
    fn what_is_removed_is_gone_and_hides_nothing() {
        let mut index = Index::new(1 << 20, 1 << 12).unwrap();
        let hash = |i: u32| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let most = index.slots() as u32 * 93 / 100;
        let mut seed = 1u32;
        let mut there = std::collections::BTreeSet::new();
        for _ in 0..100_000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = (seed >> 8) % (2 * most);
            let known = index.find(hash(number), |n| n == number);
            assert_eq!(known.is_ok(), there.contains(&number));
            match known {
                Ok(_) => {
                    index.remove(hash(number), number);
                    there.remove(&number);
                }
                Err(free) if there.len() < most as usize => {
                    index.claim::<true>(hash(number), free).unwrap().publish(number);
                    there.insert(number);
                }
                Err(_) => {}
            }
        }
        for number in there {
            index.remove(hash(number), number);
        }
        let counts = (0..index.buckets).map(|b| index.bucket(b).load_tags(Ordering::Relaxed));
        assert!(counts.into_iter().all(|tags| tags == [0, 0]));
    }
}
