//! Bit-state hashing (Holzmann 1988): a large array of bits, and a few of them for each state. A state whose bits are all
//! set is taken for a known one.
//!
//! The bits of a state are chosen by double hashing: two hashes, and multiples of the second added to the first (Dillinger
//! and Manolios, "Bloom Filters in Probabilistic Verification", 2004). Places of a group of states are computed and asked
//! for before the first is looked at, so that misses overlap.
//!
//! Threads set bits at once. Of two threads with the same new state only one may find it new, so who sees an unset bit takes
//! a lock, one of many, that depends on nothing but the state, and looks again.

use super::index::prefetch_write;
use super::{Full, Set};
use crate::checkpoint::impossible;
use crate::region::Region;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::words::hash_batch;
use scrimp_core::{Budget, Omission};
use scrimp_system::Batch;
use std::io::{self, Read, Write};
use std::sync::{Arc, PoisonError};

/// Bits for each state.
const BITS: usize = 3;
/// States whose places are asked for together.
const GROUP: usize = 64;
const LOCKS: usize = 256;

/// One thread's way to the bits.
pub struct BitState {
    shared: Arc<Shared>,
    hashes: Vec<u64>,
}

struct Shared {
    state_bytes: usize,
    region: Region,
    /// Number of bits.
    bits: u64,
    set: AtomicU64,
    states: AtomicU64,
    /// States that were taken for known ones, expected.
    missed: Mutex<f64>,
    locks: [AtomicBool; LOCKS],
    budget: Arc<Budget>,
}

impl Shared {
    /// The places of a state's bits, from its hash.
    #[inline(always)]
    fn places(&self, hash: u64) -> [u64; BITS] {
        let product = (hash ^ 0x9fb2_1c65_1e98_df25) as u128 * 0xd6e8_feb8_6659_fd93;
        let step = (product as u64 ^ (product >> 64) as u64) | 1;
        let mut at = hash;
        [(); BITS].map(|()| {
            let place = (at as u128 * self.bits as u128) >> 64;
            at = at.wrapping_add(step);
            place as u64
        })
    }

    #[inline(always)]
    fn word(&self, place: u64) -> &AtomicU64 {
        debug_assert!(place < self.bits);
        // SAFETY: within committed, zero-initialised memory, in which there are only atomic words.
        unsafe { &*(self.region.base() as *const AtomicU64).add((place / 64) as usize) }
    }

    #[inline(always)]
    fn is_set(&self, place: u64) -> bool {
        self.word(place).load(Ordering::Relaxed) >> (place % 64) & 1 == 1
    }

    /// Sets the bits at these places: how many were not?
    #[inline(always)]
    fn set_all<const ALONE: bool>(&self, places: [u64; BITS]) -> u64 {
        let mut new = 0;
        for place in places {
            let (word, bit) = (self.word(place), 1 << (place % 64));
            let before = if ALONE {
                let before = word.load(Ordering::Relaxed);
                word.store(before | bit, Ordering::Relaxed);
                before
            } else {
                word.fetch_or(bit, Ordering::Relaxed)
            };
            new += (before & bit == 0) as u64;
        }
        new
    }

    /// Adds a state: how many bits did it set?
    #[inline(always)]
    fn add<const ALONE: bool>(&self, hash: u64, places: [u64; BITS]) -> u64 {
        if places.iter().all(|&place| self.is_set(place)) {
            return 0;
        }
        if ALONE {
            return self.set_all::<true>(places);
        }
        let lock = &self.locks[hash as usize % LOCKS];
        while lock.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            crate::sync::spin_loop();
        }
        let new = self.set_all::<false>(places);
        lock.store(false, Ordering::Release);
        new
    }

    /// The probability that a state that was never here has all its bits set.
    fn false_share(&self) -> f64 {
        (self.set.load(Ordering::Relaxed) as f64 / self.bits as f64).powi(BITS as i32)
    }

    #[inline(always)]
    fn insert<const ALONE: bool>(&self, hashes: &[u64], mut new: impl FnMut(usize)) {
        let (mut states, mut bits) = (0, 0);
        let mut places = [[0; BITS]; GROUP];
        for (group, hashes) in hashes.chunks(GROUP).enumerate() {
            for (&hash, places) in hashes.iter().zip(&mut places) {
                *places = self.places(hash);
                places.iter().for_each(|&place| prefetch_write(self.word(place) as *const AtomicU64 as *const u8));
            }
            for (i, (&hash, &places)) in hashes.iter().zip(&places).enumerate() {
                let set = self.add::<ALONE>(hash, places);
                if set > 0 {
                    new(group * GROUP + i);
                    states += 1;
                    bits += set;
                }
            }
        }
        self.count(states, bits);
    }

    /// For each state that was found new while a share q of the others is missed, q / (1 - q) were missed.
    fn count(&self, states: u64, bits: u64) {
        if states > 0 {
            let q = self.false_share();
            *self.missed.lock().unwrap_or_else(PoisonError::into_inner) += states as f64 * q / (1.0 - q).max(1e-9);
            self.states.fetch_add(states, Ordering::Relaxed);
            self.set.fetch_add(bits, Ordering::Relaxed);
        }
    }

    /// The array as bytes, for a single owner.
    fn array(&self) -> (*mut u8, usize) {
        (self.region.base(), (self.bits / 8) as usize)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.budget.give_back(self.region.committed());
    }
}

impl BitState {
    /// An array of so many MiB. Fails when the budget does not allow it.
    pub fn new(state_bytes: usize, mib: usize, budget: &Arc<Budget>) -> io::Result<BitState> {
        let bytes = mib << 20;
        if !budget.may_take(bytes) {
            let left = budget.left() >> 20;
            let message = format!("a bit array of {mib} MiB does not fit in the {left} MiB of memory that are left");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let mut region = Region::reserve(bytes)?;
        region.commit(bytes)?;
        if region.committed() < bytes {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        budget.take(region.committed());
        let shared = Shared {
            state_bytes,
            region,
            bits: bytes as u64 * 8,
            set: AtomicU64::new(0),
            states: AtomicU64::new(0),
            missed: Mutex::new(0.0),
            locks: [const { AtomicBool::new(false) }; LOCKS],
            budget: budget.clone(),
        };
        Ok(BitState { shared: Arc::new(shared), hashes: Vec::new() })
    }
}

impl Set for BitState {
    fn key_bytes(&self) -> usize {
        self.shared.state_bytes
    }

    fn insert(&mut self, batch: &Batch, _: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        assert!(batch.state_bytes() == self.shared.state_bytes);
        hash_batch(batch, &mut self.hashes);
        let mut add = |i: usize| {
            new.push(i as u32);
            keys.extend_from_slice(batch.state(i));
        };
        if Arc::get_mut(&mut self.shared).is_some() {
            self.shared.insert::<true>(&self.hashes, &mut add);
        } else {
            self.shared.insert::<false>(&self.hashes, &mut add);
        }
        Ok(())
    }

    /// There is always room: the more states, the more are missed.
    fn make_room(&mut self, _: usize) -> Result<(), Full> {
        Ok(())
    }

    fn share(&self) -> Option<Box<dyn Set>> {
        Some(Box::new(BitState { shared: self.shared.clone(), hashes: Vec::new() }))
    }

    fn len(&self) -> u64 {
        self.shared.states.load(Ordering::Relaxed)
    }

    fn omission(&self) -> Option<Omission> {
        Some(Omission::of_missed(self.len(), *self.shared.missed.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn bytes(&self) -> usize {
        self.shared.region.committed()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let missed = *self.shared.missed.lock().unwrap_or_else(PoisonError::into_inner);
        let set = self.shared.set.load(Ordering::Relaxed);
        for number in [self.shared.bits, self.len(), set, missed.to_bits()] {
            to.write_all(&number.to_le_bytes())?;
        }
        let (start, bytes) = self.shared.array();
        // SAFETY: committed memory, which is zero or was written; the caller has the set for itself.
        to.write_all(unsafe { std::slice::from_raw_parts(start, bytes) })
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut numbers = [0; 4];
        for number in &mut numbers {
            let mut bytes = [0; 8];
            from.read_exact(&mut bytes)?;
            *number = u64::from_le_bytes(bytes);
        }
        let [bits, states, set, missed] = numbers;
        if bits != self.shared.bits || Arc::get_mut(&mut self.shared).is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an array of another size"));
        }
        let (start, bytes) = self.shared.array();
        // SAFETY: committed memory, and there is no other handle.
        from.read_exact(unsafe { std::slice::from_raw_parts_mut(start, bytes) })?;
        // SAFETY: as above.
        let array = unsafe { std::slice::from_raw_parts(start.cast::<u64>(), bytes / 8) };
        let ones: u64 = array.iter().map(|word| word.count_ones() as u64).sum();
        let expected = f64::from_bits(missed);
        if ones != set || states > set || !(expected.is_finite() && expected >= 0.0) {
            return Err(impossible("more states than bits that are set"));
        }
        self.shared.states.store(states, Ordering::Relaxed);
        self.shared.set.store(set, Ordering::Relaxed);
        *self.shared.missed.lock().unwrap_or_else(PoisonError::into_inner) = f64::from_bits(missed);
        Ok(())
    }
}
