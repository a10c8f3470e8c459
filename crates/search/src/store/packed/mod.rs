//! The packed table: of every state the bits that tell it from others, exactly, one cache line a lookup.
//!
//! A state becomes a number of as few bits as the states seen so far need ([`Coding`]), and the number stands in [`Cells`], which
//! keep only what its place does not say. When states come that do not fit, numbers get more bits: at first, and that happens
//! again and again, all are made anew; later, bits are added above the others.

mod coding;

use super::quotient::{Cells, Lease, MOST_BITS};
use super::{Full, Set};
use crate::checkpoint::impossible;
use crate::sync::{Mutex, MutexGuard};
use coding::Coding;
use scrimp_core::Budget;
use scrimp_system::Batch;
use std::cell::UnsafeCell;
use std::io::{self, Read, Write};
use std::sync::{Arc, PoisonError};

/// Up to so many states, numbers are made anew.
const FEW: usize = 1 << 16;
/// Pieces of numbers that may have come late, before all are made anew, if there are twice as many as the last time and not
/// too many of them.
const MANY_LATE: usize = 3;
const MANY: usize = 1 << 23;
/// States that are made anew at a time.
const AT_ONCE: usize = 256;

/// One thread's way into the table.
pub struct PackedTable {
    shared: Arc<Shared>,
    lease: Lease,
    numbers: Vec<u128>,
}

/// `inner` changes only while no other handle is in use: with one handle always, with several when the caller of `make_room`
/// says so.
struct Shared {
    state_bytes: usize,
    inner: UnsafeCell<Inner>,
    /// States that did not fit.
    unfit: Mutex<Batch>,
}

struct Inner {
    cells: Cells,
    /// Nothing before the first state.
    coding: Option<Coding>,
    /// How many numbers there were when all were made anew.
    recoded: usize,
}

// SAFETY: concurrent access to `inner` follows the protocol stated at `Shared`; what several threads change at once consists
// of atomics.
unsafe impl Sync for Shared {}
// SAFETY: all parts are owned memory.
unsafe impl Send for Shared {}

impl Shared {
    #[inline(always)]
    fn inner(&self) -> &Inner {
        // SAFETY: nobody changes `inner` now; see the protocol at `Shared`.
        unsafe { &*self.inner.get() }
    }

    fn unfit(&self) -> MutexGuard<'_, Batch> {
        self.unfit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PackedTable {
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> io::Result<PackedTable> {
        let inner = UnsafeCell::new(Inner { cells: Cells::new(0, budget)?, coding: None, recoded: 0 });
        let unfit = Mutex::new(Batch::new(state_bytes));
        Ok(PackedTable::handle(Arc::new(Shared { state_bytes, inner, unfit })))
    }

    fn handle(shared: Arc<Shared>) -> PackedTable {
        PackedTable { lease: shared.inner().cells.lease(), shared, numbers: Vec::new() }
    }

    fn alone(&mut self) -> bool {
        Arc::get_mut(&mut self.shared).is_some()
    }

    /// Makes the numbers of a batch and secures room for them.
    fn prepare(&mut self, batch: &Batch) -> Result<(), Full> {
        let Inner { cells, coding, .. } = self.shared.inner();
        self.numbers.clear();
        let encoded = coding.as_ref().map_or(Err(0), |coding| coding.encode(batch, &mut self.numbers));
        if let Err(first) = encoded {
            self.note_unfit(batch, first);
            return Err(Full);
        }
        cells.secure(&mut self.lease, batch.len())
    }

    fn note_unfit(&self, batch: &Batch, first: usize) {
        let mut unfit = self.shared.unfit();
        (first..batch.len()).for_each(|i| unfit.push(batch.state(i), 0));
    }

    fn insert_all<const ALONE: bool>(&mut self, new: impl FnMut(usize)) {
        let PackedTable { shared, lease, numbers } = self;
        shared.inner().cells.insert::<ALONE>(lease, numbers.len(), |i| numbers[i], new);
    }

    /// Makes all numbers anew, by as many threads as use the table, in other cells.
    ///
    /// # Safety
    /// No other handle may be in use.
    unsafe fn recode(&mut self, coding: Coding, more: usize) -> Result<(), Full> {
        // SAFETY: as the caller promises.
        let Inner { cells, coding: old, recoded } = unsafe { &mut *self.shared.inner.get() };
        let before = old.as_ref().expect("states have a coding");
        cells.remake(coding.bits(), more, |numbers, anew| {
            let mut states = Batch::new(self.shared.state_bytes);
            for some in numbers.chunks(AT_ONCE) {
                states.clear();
                before.decode(some, &mut states);
                coding.encode(&states, anew).expect("what was there fits");
            }
        })?;
        (*old, *recoded) = (Some(coding), cells.len());
        Ok(())
    }

    /// Takes the states in that did not fit.
    ///
    /// # Safety
    /// No other handle may be in use.
    unsafe fn fit(&mut self, more: usize) -> Result<(), Full> {
        let shared = self.shared.clone();
        let mut unfit = shared.unfit();
        if unfit.is_empty() {
            return Ok(());
        }
        let states = || (0..unfit.len()).map(|i| unfit.state(i));
        // SAFETY: as the caller promises; what is borrowed here is not used any more when it is borrowed again.
        let (late, anew, len, recoded) = unsafe {
            let Inner { cells, coding, recoded } = &mut *shared.inner.get();
            let old = coding.get_or_insert_with(|| Coding::of(unfit.state(0)));
            (old.and_late(states()), old.with(states()), cells.len(), *recoded)
        };
        let fits_late = late.bits() <= MOST_BITS;
        let is_slow = late.late() > MANY_LATE && (2 * recoded..MANY).contains(&len);
        let is_better = !fits_late || len <= FEW || is_slow;
        // SAFETY: as the caller promises.
        let made_anew = is_better && anew.bits() <= MOST_BITS && unsafe { self.recode(anew, more).is_ok() };
        if !made_anew {
            if !fits_late {
                return Err(Full);
            }
            // SAFETY: as the caller promises.
            let Inner { cells, coding, .. } = unsafe { &mut *shared.inner.get() };
            cells.make_room(more, late.bits(), 1.0)?;
            *coding = Some(late);
        }
        unfit.clear();
        Ok(())
    }

    /// # Safety
    /// No other handle may be in use.
    unsafe fn prepare_room(&mut self, more: usize) -> Result<(), Full> {
        // SAFETY: as the caller promises.
        unsafe { self.fit(more)? };
        // SAFETY: as the caller promises.
        let Inner { cells, coding, .. } = unsafe { &mut *self.shared.inner.get() };
        cells.make_room(more, coding.as_ref().map_or(0, Coding::bits), 1.0)
    }
}

impl Set for PackedTable {
    fn key_bytes(&self) -> usize {
        self.shared.state_bytes
    }

    fn insert(&mut self, batch: &Batch, _: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        assert!(batch.state_bytes() == self.shared.state_bytes);
        let alone = self.alone();
        if self.prepare(batch).is_err() {
            if !alone {
                return Err(Full);
            }
            // SAFETY: the only handle is here.
            unsafe { self.prepare_room(batch.len())? };
            self.prepare(batch)?;
        }
        let add = |i: usize| {
            new.push(i as u32);
            keys.extend_from_slice(batch.state(i));
        };
        if alone {
            self.insert_all::<true>(add)
        } else {
            self.insert_all::<false>(add)
        }
        Ok(())
    }

    fn foresee(&mut self, batch: &Batch) -> bool {
        assert!(self.alone() && self.is_empty());
        // SAFETY: the only handle is here.
        self.prepare(batch).is_ok() || unsafe { self.fit(0).is_ok() }
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        // SAFETY: no other handle is in use.
        unsafe { self.prepare_room(more) }
    }

    fn is_key(&self, key: &[u8]) -> bool {
        let Inner { cells, coding, .. } = self.shared.inner();
        let (mut batch, mut numbers) = (Batch::new(self.shared.state_bytes), Vec::new());
        key.len() == self.shared.state_bytes && {
            batch.push(key, 0);
            let encoded = coding.as_ref().is_some_and(|coding| coding.encode(&batch, &mut numbers).is_ok());
            encoded && cells.contains(numbers[0])
        }
    }

    fn share(&self) -> Option<Box<dyn Set>> {
        Some(Box::new(PackedTable::handle(self.shared.clone())))
    }

    fn len(&self) -> u64 {
        self.shared.inner().cells.len() as u64
    }

    fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let Inner { cells, coding, .. } = self.shared.inner();
        let mut state = Batch::new(self.shared.state_bytes);
        coding.as_ref().is_none_or(|coding| {
            cells.each(|number| {
                state.clear();
                coding.decode(&[number], &mut state);
                show(state.state(0))
            })
        })
    }

    fn drain(&mut self, sorted: bool, show: &mut dyn FnMut(&[u8]) -> bool) -> Option<bool> {
        assert!(self.alone());
        // SAFETY: the only handle is here.
        let Inner { cells, coding, .. } = unsafe { &mut *self.shared.inner.get() };
        let mut state = Batch::new(self.shared.state_bytes);
        let Some(coding) = coding else { return Some(true) };
        let show = |number: u128| {
            state.clear();
            coding.decode(&[number], &mut state);
            show(state.state(0))
        };
        let drained = if sorted { cells.drain(show) } else { cells.drain_in_any_order(show) };
        drained.ok()
    }

    fn unsuited(&self) -> Option<String> {
        let (unfit, coding) = (self.shared.unfit(), self.shared.inner().coding.as_ref()?);
        let bits = coding.with((0..unfit.len()).map(|i| unfit.state(i))).bits();
        let why =
            || format!("states differ in {bits} bits, and a packed table is for at most {MOST_BITS}: say --store tree");
        (bits > MOST_BITS).then(why)
    }

    fn bytes(&self) -> usize {
        self.shared.inner().cells.bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let Inner { cells, coding, .. } = self.shared.inner();
        let mut to = io::BufWriter::with_capacity(1 << 16, to);
        to.write_all(&(cells.len() as u64).to_le_bytes())?;
        coding.iter().try_for_each(|coding| coding.save(&mut to))?;
        let mut written = Ok(());
        cells.each(|number| {
            written = to.write_all(&number.to_le_bytes());
            written.is_ok()
        });
        written?;
        to.flush()
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        const AT_ONCE: u64 = 1 << 12;
        assert!(self.alone() && self.is_empty());
        let no_memory = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        let mut word = [0; 8];
        from.read_exact(&mut word)?;
        let mut left = u64::from_le_bytes(word);
        if left == 0 {
            return Ok(());
        }
        let coding = Coding::restore(self.shared.state_bytes, from)?;
        let bits = coding.bits();
        if bits > MOST_BITS {
            return Err(impossible("a state that is too wide"));
        }
        // SAFETY: the only handle is here.
        let Inner { cells, coding: old, .. } = unsafe { &mut *self.shared.inner.get() };
        *old = Some(coding);
        // At once where that can be: cells that grow little by little are filled again every time.
        let _ = cells.make_room(left.min(1 << 36) as usize, bits, 1.0);
        let mut bytes = vec![0; 16 * AT_ONCE as usize];
        while left > 0 {
            let some = left.min(AT_ONCE) as usize;
            from.read_exact(&mut bytes[..16 * some])?;
            let number = |bytes: &[u8]| u128::from_le_bytes(bytes.try_into().expect("sixteen bytes"));
            self.numbers.clear();
            self.numbers.extend(bytes[..16 * some].chunks_exact(16).map(number));
            if self.numbers.iter().any(|number| number >> bits != 0) {
                return Err(impossible("a number of no state"));
            }
            if cells.secure(&mut self.lease, some).is_err() {
                cells.make_room(some, bits, 1.0).map_err(no_memory)?;
                cells.secure(&mut self.lease, some).map_err(no_memory)?;
            }
            let PackedTable { lease, numbers, .. } = self;
            cells.insert::<true>(lease, some, |i| numbers[i], |_| ());
            left -= some as u64;
        }
        Ok(())
    }
}
