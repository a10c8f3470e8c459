//! An exact set of short keys that takes less memory than the keys: cells of a few bits in cache-line buckets.
//!
//! A cell keeps what its place does not say; see [`Form`]. A full bucket overflows into the next one, and an entry there is
//! larger by the divisor for each bucket it has passed, so that entries of different homes are never confused. Entries are as
//! many bits wide as they must be: the more buckets, the fewer.
//!
//! Concurrency: entries are added one after the other and never change. Who adds one locks the bucket by a bit in its first
//! word, and publishes the entry by storing that word with a larger count. Looking up needs no lock. Two threads with the
//! same new key meet at the first bucket that is not full, and the second one sees the first's entry once it has the lock.
//! Room is secured beforehand, for many keys at once, and what each thread adds it counts itself ([`Lease`]): there is
//! nothing that all threads write.

mod drain;
mod form;
mod growth;
mod lease;
mod line;
#[cfg(test)]
mod tests;
mod wide;

pub use form::MOST_BITS;
pub use lease::Lease;

use super::Full;
use super::index::prefetch_write;
use crate::region::Region;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use form::{Form, Mixed, Place};
use lease::Leases;
use line::{LINE_BYTES, Line, Seen};
use scrimp_core::Budget;
use std::io;
use std::sync::Arc;

/// So many keys before a key is looked up, its bucket is asked for; a power of two.
const AHEAD: usize = 32;
/// Entries that may have found no place within reach before the table counts as full.
const MOST_STRAYS: usize = 32;

/// A set of keys. Several threads may insert at once; everything that takes `&mut self` needs the only owner.
pub struct Cells {
    form: Form,
    region: Region,
    leases: Arc<Leases>,
    /// Keys that the table may hold before it must grow, and those that are to come, where that is known.
    room: usize,
    expected: Option<u64>,
    /// Keys that found no place within reach of their home: hardly ever one.
    strays: Mutex<Vec<u128>>,
    stray_count: AtomicUsize,
    /// Bytes that were given back already.
    released: usize,
    budget: Arc<Budget>,
}

impl Cells {
    /// An empty set of keys of so many bits.
    pub fn new(bits: u32, budget: &Arc<Budget>) -> io::Result<Cells> {
        let form = Form::new(bits, growth::FIRST_BUCKETS);
        let mut region = Region::reserve(budget.memory().saturating_add(budget.memory() / 16))?;
        region.commit(form.all_buckets() * LINE_BYTES)?;
        budget.take(region.committed());
        Ok(Cells {
            room: growth::room(&form),
            expected: None,
            form,
            region,
            leases: Arc::default(),
            strays: Mutex::default(),
            stray_count: AtomicUsize::new(0),
            released: 0,
            budget: budget.clone(),
        })
    }

    pub fn len(&self) -> usize {
        self.leases.used()
    }

    /// Keys that can be held before the table must grow.
    #[cfg(all(test, feature = "shuttle"))]
    pub fn room(&self) -> usize {
        self.room
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.region.committed()
    }

    /// The width of keys that may be inserted.
    pub fn bits(&self) -> u32 {
        self.form.bits
    }

    /// One more thread's way to room.
    pub fn lease(&self) -> Lease {
        Lease::new(&self.leases)
    }

    /// Secures room for so many keys, which are then inserted with this lease, however many others do the same.
    #[inline]
    pub fn secure(&self, lease: &mut Lease, keys: usize) -> Result<(), Full> {
        if lease.has(keys) {
            return Ok(());
        }
        let room = if self.stray_count.load(Ordering::Relaxed) <= MOST_STRAYS { self.room } else { 0 };
        lease.renew(keys, room)
    }

    /// Adds so many keys, and calls `new` with the places of those that were not there, in ascending order. Room for them must have
    /// been [secured](Cells::secure). A thread that is `ALONE` need not lock.
    #[inline(always)]
    pub fn insert<const ALONE: bool>(
        &self,
        lease: &mut Lease,
        keys: usize,
        key: impl Fn(usize) -> u128,
        new: impl FnMut(usize),
    ) {
        debug_assert!(lease.has(keys));
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi2")]
            fn fast<const ALONE: bool>(
                cells: &Cells,
                keys: usize,
                key: impl Fn(usize) -> u128,
                new: impl FnMut(usize),
            ) -> usize {
                cells.insert_by::<ALONE, true>(keys, key, new)
            }
            if wide::is_there() {
                // SAFETY: the processor has what it needs.
                return lease.use_up(unsafe { fast::<ALONE>(self, keys, key, new) });
            }
        }
        lease.use_up(self.insert_by::<ALONE, false>(keys, key, new));
    }

    /// Adds so many keys: how many were new?
    #[inline(always)]
    fn insert_by<const ALONE: bool, const FAST: bool>(
        &self,
        keys: usize,
        key: impl Fn(usize) -> u128,
        mut new: impl FnMut(usize),
    ) -> usize {
        let form = self.form;
        let mut added = 0;
        let (mut now, mut next) = (&mut [Place::default(); AHEAD], &mut [Place::default(); AHEAD]);
        let ask = |places: &mut [Place; AHEAD], start: usize| {
            for (place, i) in places.iter_mut().zip(start..keys) {
                *place = form.place(key(i));
                prefetch_write((self.line(place.home) as *const Line).cast());
            }
        };
        ask(now, 0);
        for start in (0..keys).step_by(AHEAD) {
            ask(next, start + AHEAD);
            for (place, i) in now.iter().zip(start..keys) {
                let seen = self.line(place.home).look::<FAST>(&form, *place);
                if !matches!(seen, Seen::Known) && self.add::<ALONE, FAST>(&form, *place, seen) {
                    new(i);
                    added += 1;
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        added
    }

    /// Is the key in the set?
    pub fn contains(&self, key: u128) -> bool {
        if key >> self.form.most_bits != 0 {
            return false;
        }
        let mut place = self.form.place(key);
        for at in place.home..place.home + self.form.reach {
            match self.line(at).look::<false>(&self.form, place) {
                Seen::Known => return true,
                Seen::Absent(_) => return false,
                Seen::Beyond => place.entry += self.form.divisor,
            }
        }
        self.stray_count.load(Ordering::Relaxed) > 0
            && self.strays.lock().unwrap_or_else(|e| e.into_inner()).contains(&key)
    }

    #[inline(always)]
    fn line(&self, bucket: usize) -> &Line {
        debug_assert!(bucket < self.region.committed() / LINE_BYTES);
        // SAFETY: within committed, zero-initialised memory; a line consists of atomics, for which zero is valid.
        unsafe { &*(self.region.base() as *const Line).add(bucket) }
    }

    /// Adds a key for which there is room, if it is not there, while others may do the same: was it new?
    fn add_one(&self, key: u128) -> bool {
        let place = self.form.place(key);
        self.add::<false, false>(&self.form, place, self.line(place.home).look::<false>(&self.form, place))
    }

    /// Adds the key with this place, of which so much was seen in its home, if it is not there: was it new?
    #[inline(always)]
    fn add<const ALONE: bool, const FAST: bool>(&self, form: &Form, place: Place, mut seen: Seen) -> bool {
        let (mut at, mut entry) = (place.home, place.entry);
        loop {
            let line = self.line(at);
            let here = Place { entry, ..place };
            match seen {
                Seen::Known => return false,
                Seen::Absent(first) if ALONE => {
                    line.put::<FAST>(form, first, here);
                    return true;
                }
                // Where the first word is not as it was seen, someone has added an entry: look again.
                Seen::Absent(first) => match line.lock(first) {
                    Some(first) => {
                        line.put::<FAST>(form, first, here);
                        return true;
                    }
                    None => crate::sync::spin_loop(),
                },
                Seen::Beyond => (at, entry) = (at + 1, entry + form.divisor),
            }
            if at == place.home + form.reach {
                return self.add_stray(form.mixed(place.home, place.entry, place.tail).key());
            }
            seen = self.line(at).look::<FAST>(form, Place { entry, ..place });
        }
    }

    /// Adds a key for which there was no place, if it is not there.
    #[cold]
    fn add_stray(&self, key: u128) -> bool {
        let mut strays = self.strays.lock().unwrap_or_else(|e| e.into_inner());
        let new = !strays.contains(&key);
        if new {
            strays.push(key);
            self.stray_count.store(strays.len(), Ordering::Relaxed);
        }
        new
    }

    /// Calls `show` with every entry of some buckets.
    #[inline(always)]
    fn each_in(&self, buckets: std::ops::Range<usize>, mut show: impl FnMut(Mixed) -> bool) -> bool {
        for at in buckets {
            let line = self.line(at);
            for slot in 0..line.count() {
                let (entry, tail) = line.entry::<false>(&self.form, slot);
                if !show(self.form.mixed(at, entry, tail)) {
                    return false;
                }
            }
        }
        true
    }

    /// Shows every key, in any order, until `show` answers `false`.
    pub fn each(&self, mut show: impl FnMut(u128) -> bool) -> bool {
        let strays = self.strays.lock().unwrap_or_else(|e| e.into_inner());
        self.each_in(0..self.form.all_buckets(), |mixed| show(mixed.key())) && strays.iter().all(|&key| show(key))
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        self.budget.give_back(self.region.committed() - self.released);
    }
}
