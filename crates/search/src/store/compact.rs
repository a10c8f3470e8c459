//! Hash compaction (Wolper and Leroy 1993, Stern and Dill 1995): of a state a hash of some bits is kept, and states with the
//! same hash are taken for one. The hashes stand in [`Cells`], which take less memory than their bits.

use super::quotient::{Cells, Lease};
use super::{Full, Set};
use crate::words::hash_batch;
use scrimp_core::{Budget, Omission};
use scrimp_system::Batch;
use std::cell::UnsafeCell;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// One thread's way to the hashes.
pub struct Compact {
    shared: Arc<Shared>,
    lease: Lease,
    hashes: Vec<u64>,
}

/// The cells change in size only while a single owner has them, or where `make_room` says that no other is in use.
struct Shared {
    state_bytes: usize,
    bits: u32,
    cells: UnsafeCell<Cells>,
}

// SAFETY: `Cells` may be filled by several threads at once; all else follows the protocol above.
unsafe impl Sync for Shared {}
// SAFETY: all parts are owned memory.
unsafe impl Send for Shared {}

impl Shared {
    #[inline(always)]
    fn cells(&self) -> &Cells {
        // SAFETY: nobody changes the cells now; see the protocol at `Shared`.
        unsafe { &*self.cells.get() }
    }

    /// # Safety
    /// No other handle may be in use.
    unsafe fn make_room(&self, more: usize) -> Result<(), Full> {
        // SAFETY: as the caller promises.
        unsafe { (*self.cells.get()).make_room(more, self.bits, 1.0) }
    }
}

impl Compact {
    pub fn new(state_bytes: usize, bits: u32, budget: &Arc<Budget>) -> io::Result<Compact> {
        let cells = UnsafeCell::new(Cells::new(bits, budget)?);
        Ok(Compact::handle(Arc::new(Shared { state_bytes, bits, cells })))
    }

    fn handle(shared: Arc<Shared>) -> Compact {
        Compact { lease: shared.cells().lease(), shared, hashes: Vec::new() }
    }

    fn insert_all<const ALONE: bool>(&mut self, new: impl FnMut(usize)) {
        let Compact { shared, lease, hashes } = self;
        shared.cells().insert::<ALONE>(lease, hashes.len(), |i| hashes[i] as u128, new);
    }
}

impl Set for Compact {
    fn key_bytes(&self) -> usize {
        self.shared.state_bytes
    }

    fn insert(&mut self, batch: &Batch, _: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        assert!(batch.state_bytes() == self.shared.state_bytes);
        hash_batch(batch, &mut self.hashes);
        let shift = 64 - self.shared.bits;
        self.hashes.iter_mut().for_each(|hash| *hash >>= shift);
        let count = batch.len();
        let add = |i: usize| {
            new.push(i as u32);
            keys.extend_from_slice(batch.state(i));
        };
        let alone = Arc::get_mut(&mut self.shared).is_some();
        if self.shared.cells().secure(&mut self.lease, count).is_err() {
            if !alone {
                return Err(Full);
            }
            // SAFETY: there is no other handle.
            unsafe { self.shared.make_room(count)? };
            self.shared.cells().secure(&mut self.lease, count)?;
        }
        if alone {
            self.insert_all::<true>(add)
        } else {
            self.insert_all::<false>(add)
        }
        Ok(())
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        // SAFETY: as the trait says, no other handle is in use.
        unsafe { self.shared.make_room(more) }
    }

    fn share(&self) -> Option<Box<dyn Set>> {
        Some(Box::new(Compact::handle(self.shared.clone())))
    }

    fn len(&self) -> u64 {
        self.shared.cells().len() as u64
    }

    fn omission(&self) -> Option<Omission> {
        Some(Omission::of_hashes(self.len(), self.shared.bits))
    }

    fn bytes(&self) -> usize {
        self.shared.cells().bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&self.len().to_le_bytes())?;
        let mut written = Ok(());
        self.shared.cells().each(|hash| {
            written = to.write_all(&(hash as u64).to_le_bytes());
            written.is_ok()
        });
        written
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        const AT_ONCE: u64 = 4096;
        let mut word = [0; 8];
        from.read_exact(&mut word)?;
        let mut left = u64::from_le_bytes(word);
        while left > 0 {
            self.hashes.clear();
            for _ in 0..left.min(AT_ONCE) {
                from.read_exact(&mut word)?;
                // A foreign number must not be wider than a hash.
                self.hashes.push(u64::from_le_bytes(word) & (u64::MAX >> (64 - self.shared.bits)));
            }
            // SAFETY: the caller has the set for itself.
            unsafe { self.shared.make_room(self.hashes.len()).map_err(|_| io::ErrorKind::OutOfMemory)? };
            let secured = self.shared.cells().secure(&mut self.lease, self.hashes.len());
            secured.map_err(|_| io::ErrorKind::OutOfMemory)?;
            self.insert_all::<true>(|_| ());
            left -= self.hashes.len() as u64;
        }
        Ok(())
    }
}
