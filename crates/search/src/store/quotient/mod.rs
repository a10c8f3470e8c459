//! An exact set of short keys that takes less memory than the keys: cells of a few bits in cache-line buckets.
//!
//! A cell keeps what its place does not say; see [`Form`]. A full bucket overflows into the next one of its segment, and an
//! entry there is larger by the divisor for each bucket it has passed, so that entries of different homes are never confused.
//! A bucket is one cache line: a header that counts its entries, a lane of 16 bits for each with its lowest bits, which are
//! compared four at a time, and then the other bits, looked at only where the lowest agree. Entries are as many bits wide as
//! they must be: the more buckets, the fewer.
//!
//! Concurrency: entries are added one after the other and never change. Who adds one locks the bucket by a bit in its first
//! word, and publishes the entry by storing that word with a larger count. Looking up needs no lock. Two threads with the
//! same new key meet at the first bucket that is not full, and the second one sees the first's entry once it has the lock.

mod drain;
mod form;
mod growth;
#[cfg(test)]
mod tests;

pub use form::KeyBits;

use super::Full;
use super::index::prefetch_write;
use crate::region::Region;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use form::{Form, LANE, Place};
use scrimp_core::Budget;
use std::io;
use std::sync::Arc;

const BUCKET_BYTES: usize = 64;
/// The header, in the first word of a bucket: how many entries, and whether someone is adding one.
const COUNT: u64 = 0x3f;
const LOCKED: u64 = 0x8000;
/// Keys that go through both passes together.
const GROUP: usize = 64;
/// Entries that may have found no place within reach before the table counts as full.
const MOST_STRAYS: usize = 32;

/// A set of keys. Several threads may insert at once; everything that takes `&mut self` needs the only owner.
pub struct Cells {
    form: Form,
    region: Region,
    len: AtomicUsize,
    /// Keys that the table may hold before it must grow.
    room: usize,
    /// Keys that threads now inserting may still add.
    pending: AtomicUsize,
    /// Keys that found no place within reach of their home: hardly ever one.
    strays: Mutex<Vec<u64>>,
    stray_count: AtomicUsize,
    /// Bytes that were given back already.
    released: usize,
    budget: Arc<Budget>,
}

type Bucket = [AtomicU64; 8];

/// What was seen in a bucket.
enum Seen {
    Known,
    /// Not here, nor in any later bucket: the first word as it was.
    Absent(u64),
    /// Not here, and the bucket is full.
    Beyond,
}

impl Cells {
    /// An empty set of keys of such a width.
    pub fn new(bits: KeyBits, budget: &Arc<Budget>) -> io::Result<Cells> {
        let form = Form::new(bits, growth::FIRST_BUCKETS);
        let mut region = Region::reserve(budget.memory().saturating_add(budget.memory() / 16))?;
        region.commit(form.all_buckets() * BUCKET_BYTES)?;
        budget.take(region.committed());
        Ok(Cells {
            room: growth::room(&form),
            form,
            region,
            len: AtomicUsize::new(0),
            pending: AtomicUsize::new(0),
            strays: Mutex::default(),
            stray_count: AtomicUsize::new(0),
            released: 0,
            budget: budget.clone(),
        })
    }

    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.region.committed()
    }

    /// The width of keys that may be inserted.
    pub fn bits(&self) -> KeyBits {
        self.form.bits
    }

    /// Can so many more keys be inserted?
    #[inline]
    pub fn has_room(&self, more: usize) -> bool {
        self.len() + more <= self.room && self.stray_count.load(Ordering::Relaxed) <= MOST_STRAYS
    }

    /// Secures room for `keys` keys of one thread, however many others do the same; [`keep`](Cells::keep) ends it.
    pub fn promise(&self, keys: usize) -> Result<(), Full> {
        let pending = self.pending.fetch_add(keys, Ordering::AcqRel) + keys;
        if self.has_room(pending) {
            return Ok(());
        }
        self.keep(keys);
        Err(Full)
    }

    /// Gives back what was [promised](Cells::promise).
    pub fn keep(&self, keys: usize) {
        self.pending.fetch_sub(keys, Ordering::Release);
    }

    /// Is nobody inserting?
    pub fn is_quiet(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
    }

    /// Adds all keys, and calls `new` with the places of those that were not there, in ascending order. There must be
    /// [room](Cells::has_room). A thread that is `ALONE` need not lock.
    #[inline(always)]
    pub fn insert<const ALONE: bool>(&self, keys: &[u64], mut new: impl FnMut(usize)) {
        let mut added = 0;
        let mut groups = [[Place::default(); GROUP]; 2];
        let [mut present, mut next] = groups.each_mut();
        self.place_all(keys, present);
        for (number, group) in keys.chunks(GROUP).enumerate() {
            let first = number * GROUP;
            // The places of the next group are asked for before this one's are used.
            self.place_all(keys.get(first + GROUP..).unwrap_or_default(), next);
            for (i, &key) in group.iter().enumerate() {
                if self.add::<ALONE>(present[i], || key) {
                    new(first + i);
                    added += 1;
                }
            }
            std::mem::swap(&mut present, &mut next);
        }
        if ALONE {
            self.len.store(self.len() + added, Ordering::Relaxed);
        } else if added > 0 {
            self.len.fetch_add(added, Ordering::Relaxed);
        }
    }

    /// Is the key in the set? It must be of the set's width.
    pub fn contains(&self, key: u64) -> bool {
        let place = self.form.place(key);
        let (mut at, mut entry) = (place.home, place.entry);
        for _ in 0..self.form.reach {
            match self.look(self.bucket(place.segment + at), entry) {
                Seen::Known => return true,
                Seen::Absent(_) => return false,
                Seen::Beyond => {}
            }
            at += 1;
            if at == self.form.buckets {
                at = 0;
            }
            entry += self.form.divisor;
        }
        self.stray_count.load(Ordering::Relaxed) > 0
            && self.strays.lock().unwrap_or_else(|e| e.into_inner()).contains(&key)
    }

    #[inline(always)]
    fn place_all(&self, keys: &[u64], places: &mut [Place; GROUP]) {
        for (&key, place) in keys.iter().zip(places) {
            *place = self.form.place(key);
            prefetch_write(self.bucket(place.segment + place.home).as_ptr().cast());
        }
    }

    #[inline(always)]
    fn bucket(&self, bucket: usize) -> &Bucket {
        debug_assert!(bucket < self.form.all_buckets());
        // SAFETY: within committed, zero-initialised memory; a bucket consists of atomics, for which zero is valid.
        unsafe { &*(self.region.base() as *const Bucket).add(bucket) }
    }

    /// Adds the key with this place, if it is not there: was it new?
    #[inline(always)]
    fn add<const ALONE: bool>(&self, place: Place, key: impl Fn() -> u64) -> bool {
        let mut at = place.home;
        let mut entry = place.entry;
        for _ in 0..self.form.reach {
            let bucket = self.bucket(place.segment + at);
            loop {
                match self.look(bucket, entry) {
                    Seen::Known => return false,
                    Seen::Beyond => break,
                    Seen::Absent(first) if ALONE => {
                        self.put(bucket, first, entry);
                        return true;
                    }
                    Seen::Absent(first) => {
                        let unlocked = first & !LOCKED;
                        let lock = |_| {
                            bucket[0].compare_exchange_weak(
                                unlocked,
                                unlocked | LOCKED,
                                Ordering::Acquire,
                                Ordering::Relaxed,
                            )
                        };
                        // Where the first word is not as it was seen, someone has added an entry: look again.
                        if lock(()).is_ok() {
                            self.put(bucket, unlocked, entry);
                            return true;
                        }
                        crate::sync::spin_loop();
                    }
                }
            }
            at += 1;
            if at == self.form.buckets {
                at = 0;
            }
            entry += self.form.divisor;
        }
        self.add_stray(key())
    }

    /// Looks for an entry in a bucket.
    #[inline(always)]
    fn look(&self, bucket: &Bucket, entry: u64) -> Seen {
        let first = bucket[0].load(Ordering::Acquire);
        let count = (first & COUNT) as usize;
        // The first lane is the header.
        let taken = (2u64 << count) - 2;
        let mut hits = lanes_with(bucket, first, self.form.slots, entry as u16) & taken;
        while hits != 0 {
            if self.high_bits(bucket, hits.trailing_zeros() as usize - 1) == entry >> LANE {
                return Seen::Known;
            }
            hits &= hits - 1;
        }
        if count < self.form.slots { Seen::Absent(first) } else { Seen::Beyond }
    }

    /// Where the high bits of a slot begin.
    #[inline(always)]
    fn high_start(&self, slot: usize) -> (usize, usize) {
        let bit = LANE as usize * (1 + self.form.slots) + slot * (self.form.width - LANE) as usize;
        (bit / 64, bit % 64)
    }

    #[inline(always)]
    fn high_bits(&self, bucket: &Bucket, slot: usize) -> u64 {
        let width = (self.form.width - LANE) as usize;
        if width == 0 {
            return 0;
        }
        let (word, shift) = self.high_start(slot);
        let mut bits = bucket[word].load(Ordering::Relaxed) >> shift;
        if shift + width > 64 {
            bits |= bucket[word + 1].load(Ordering::Relaxed) << (64 - shift);
        }
        bits & ((1 << width) - 1)
    }

    /// Adds an entry to a bucket that is not full and whose first word is this; it belongs to this thread, alone or by its
    /// lock, which is released.
    #[inline(always)]
    fn put(&self, bucket: &Bucket, mut first: u64, entry: u64) {
        let set =
            |word: usize, bits: u64| bucket[word].store(bucket[word].load(Ordering::Relaxed) | bits, Ordering::Relaxed);
        let slot = (first & COUNT) as usize;
        let high = entry >> LANE;
        if high != 0 {
            let (word, shift) = self.high_start(slot);
            if word > 0 {
                set(word, high << shift);
            } else {
                first |= high << shift;
            }
            if shift + (self.form.width - LANE) as usize > 64 {
                set(word + 1, high >> (64 - shift));
            }
        }
        let (word, shift) = ((slot + 1) / 4, (slot + 1) % 4 * LANE as usize);
        let low = (entry & 0xffff) << shift;
        if word > 0 {
            set(word, low);
        } else {
            first |= low;
        }
        bucket[0].store(first + 1, Ordering::Release);
    }

    /// Adds a key for which there was no place, if it is not there.
    #[cold]
    fn add_stray(&self, key: u64) -> bool {
        let mut strays = self.strays.lock().unwrap_or_else(|e| e.into_inner());
        let new = !strays.contains(&key);
        if new {
            strays.push(key);
            self.stray_count.store(strays.len(), Ordering::Relaxed);
        }
        new
    }

    /// The entry in a slot.
    fn entry(&self, bucket: &Bucket, slot: usize) -> u64 {
        let low = bucket[(slot + 1) / 4].load(Ordering::Relaxed) >> ((slot + 1) % 4 * LANE as usize) & 0xffff;
        self.high_bits(bucket, slot) << LANE | low
    }

    /// Calls `show` with the mixed number of every entry of a segment.
    #[inline(always)]
    fn each_in(&self, segment: usize, mut show: impl FnMut(u64) -> bool) -> bool {
        for at in 0..self.form.buckets {
            let bucket = self.bucket(segment * self.form.buckets + at);
            let count = (bucket[0].load(Ordering::Acquire) & COUNT) as usize;
            for slot in 0..count {
                if !show(self.form.mixed(at, self.entry(bucket, slot))) {
                    return false;
                }
            }
        }
        true
    }

    /// Shows every key, in any order, until `show` answers `false`.
    pub fn each(&self, mut show: impl FnMut(u64) -> bool) -> bool {
        let strays = self.strays.lock().unwrap_or_else(|e| e.into_inner());
        (0..self.form.segments()).all(|s| self.each_in(s, |mixed| show(self.form.key(s, mixed))))
            && strays.iter().all(|&key| show(key))
    }
}

/// The lanes, of the header and of `slots` slots at least, that equal `low`, as bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn lanes_with(bucket: &Bucket, first: u64, slots: usize, low: u16) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi16, _mm_movemask_epi8, _mm_packs_epi16, _mm_set_epi64x, _mm_set1_epi16};
    let word = |i: usize| bucket[i].load(Ordering::Relaxed) as i64;
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
fn lanes_with(bucket: &Bucket, first: u64, slots: usize, low: u16) -> u64 {
    let lane = |i: usize| {
        let word = if i < 4 { first } else { bucket[i / 4].load(Ordering::Relaxed) };
        (word >> (i % 4 * LANE as usize)) as u16
    };
    (0..=slots).fold(0, |hits, i| hits | ((lane(i) == low) as u64) << i)
}

impl Drop for Cells {
    fn drop(&mut self) {
        self.budget.give_back(self.region.committed() - self.released);
    }
}
