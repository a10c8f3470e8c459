//! The packed table: of every state the bits that tell it from others, exactly, one cache line a lookup.
//!
//! A state becomes a number of as few bits as the states seen so far need ([`Coding`]), and the number stands in [`Cells`], which
//! keep only what its place does not say. When states come that do not fit, numbers get more bits: at first, and that happens
//! again and again, all are made anew; later, bits are added above the others.

mod coding;

use super::quotient::{Cells, Lease, MOST_BITS};
use super::{Full, Set};
use crate::checkpoint::impossible;
use crate::open::KeyForm;
use crate::sync::{Mutex, MutexGuard};
use coding::Coding;
use scrimp_core::Budget;
use scrimp_system::Batch;
use std::cell::UnsafeCell;
use std::io::{self, Read, Write};
use std::sync::{Arc, PoisonError};

/// Up to so many states, numbers are made anew.
const FEW: usize = 1 << 16;
/// Pieces of numbers that may have come late, before all are made anew, if there are twice as many as the last time. That
/// takes a second table for a while: it must be small, or what is to come must take as much anyway.
const MANY_LATE: usize = 1;
const MANY: usize = 1 << 23;
/// States that are made anew at a time.
const AT_ONCE: usize = 256;

/// Bytes of a number, and before it one that says which coding it is of.
const NUMBER: usize = MOST_BITS.div_ceil(8) as usize;
const MOST_CODINGS: usize = 1 << u8::BITS;

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
    /// The last is that of all numbers in the cells. Keys that were told before may be numbers of others.
    codings: Vec<Coding>,
    /// How many numbers there were when all were made anew.
    recoded: usize,
}

impl Inner {
    fn coding(&self) -> Option<&Coding> {
        self.codings.last()
    }

    /// Should numbers be made anew that are made in this way?
    fn is_slow(&self, coding: &Coding) -> bool {
        let keys = self.cells.len();
        coding.late() > MANY_LATE
            && keys >= 2 * self.recoded
            && (keys < MANY || self.cells.expected().is_some_and(|more| more >= keys as u64))
    }
}

// SAFETY: concurrent access to `inner` follows the protocol stated at `Shared`; what several threads change at once consists
// of atomics.
unsafe impl Sync for Shared {}
// SAFETY: all parts are owned memory.
unsafe impl Send for Shared {}

/// The number in a key.
#[inline(always)]
fn number(key: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..key.len()].copy_from_slice(key);
    u128::from_le_bytes(bytes) >> u8::BITS
}

impl Shared {
    fn key_bytes(&self) -> usize {
        1 + NUMBER.min(self.state_bytes)
    }

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
        let inner = UnsafeCell::new(Inner { cells: Cells::new(0, budget)?, codings: Vec::new(), recoded: 0 });
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
        let Inner { cells, codings, .. } = self.shared.inner();
        self.numbers.clear();
        let encoded = codings.last().map_or(Err(0), |coding| coding.encode(batch, &mut self.numbers));
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

    fn insert_all<const ALONE: bool>(&mut self, new: &mut Vec<u32>, keys: &mut Vec<u8>) {
        let PackedTable { shared, lease, numbers } = self;
        let (Inner { cells, codings, .. }, key_bytes) = (shared.inner(), shared.key_bytes());
        let coding = codings.len() as u128 - 1;
        cells.insert::<ALONE>(
            lease,
            numbers.len(),
            |i| numbers[i],
            |i| {
                new.push(i as u32);
                keys.extend_from_slice(&(numbers[i] << u8::BITS | coding).to_le_bytes()[..key_bytes]);
            },
        );
    }

    /// Makes all numbers anew, by as many threads as use the table, in other cells.
    ///
    /// # Safety
    /// No other handle may be in use.
    unsafe fn recode(&mut self, coding: Coding, more: usize) -> Result<(), Full> {
        if coding.bits() > MOST_BITS {
            return Err(Full);
        }
        // SAFETY: as the caller promises.
        let Inner { cells, codings, recoded } = unsafe { &mut *self.shared.inner.get() };
        let before = codings.last().filter(|_| codings.len() < MOST_CODINGS).ok_or(Full)?;
        cells.remake(coding.bits(), more, |numbers, anew| {
            let mut states = Batch::new(self.shared.state_bytes);
            for some in numbers.chunks(AT_ONCE) {
                states.clear();
                before.decode(some, &mut states);
                coding.encode(&states, anew).expect("what was there fits");
            }
        })?;
        if cells.len() == 0 {
            // No key was told in any of them.
            codings.clear();
        }
        codings.push(coding);
        *recoded = cells.len();
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
        let (late, anew, slow) = unsafe {
            let inner = &mut *shared.inner.get();
            if inner.codings.is_empty() {
                inner.codings.push(Coding::of(unfit.state(0)));
            }
            let old = inner.coding().expect("there is one");
            let late = old.and_late(states());
            let slow = inner.cells.len() <= FEW || inner.is_slow(&late);
            (late, old.with(states()), slow)
        };
        let fits_late = late.bits() <= MOST_BITS;
        // SAFETY: as the caller promises.
        let made_anew = (slow || !fits_late) && unsafe { self.recode(anew, more).is_ok() };
        if !made_anew {
            if !fits_late {
                return Err(Full);
            }
            // SAFETY: as the caller promises.
            let Inner { cells, codings, .. } = unsafe { &mut *shared.inner.get() };
            cells.make_room(more, late.bits(), 1.0)?;
            *codings.last_mut().expect("there is one") = late;
        }
        unfit.clear();
        Ok(())
    }

    /// # Safety
    /// No other handle may be in use.
    unsafe fn prepare_room(&mut self, more: usize) -> Result<(), Full> {
        // SAFETY: as the caller promises.
        unsafe { self.fit(more)? };
        // SAFETY: as the caller promises; what is borrowed here is not used any more when it is borrowed again.
        let slow = unsafe {
            let inner = &*self.shared.inner.get();
            let slow = inner.coding().filter(|coding| inner.cells.must_grow(more) && inner.is_slow(coding));
            slow.map(|coding| coding.with([]))
        };
        // Where that cannot be done, numbers stay as they are.
        // SAFETY: as the caller promises.
        let _ = slow.map(|anew| unsafe { self.recode(anew, more) });
        // SAFETY: as the caller promises.
        let inner = unsafe { &mut *self.shared.inner.get() };
        let bits = inner.coding().map_or(0, Coding::bits);
        inner.cells.make_room(more, bits, 1.0)
    }
}

impl Set for PackedTable {
    fn key_bytes(&self) -> usize {
        self.shared.key_bytes()
    }

    fn key_form(&self) -> KeyForm {
        KeyForm::Number
    }

    fn load(&mut self, keys: &[u8], sources: &mut Batch) {
        let codings = &self.shared.inner().codings;
        let Some(&(mut coding)) = keys.first() else { return };
        self.numbers.clear();
        for key in keys.chunks_exact(self.shared.key_bytes()) {
            if key[0] != coding {
                codings[coding as usize].decode(&self.numbers, sources);
                self.numbers.clear();
                coding = key[0];
            }
            self.numbers.push(number(key));
        }
        codings[coding as usize].decode(&self.numbers, sources);
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
        if alone {
            self.insert_all::<true>(new, keys)
        } else {
            self.insert_all::<false>(new, keys)
        }
        Ok(())
    }

    fn foresee(&mut self, batch: &Batch) -> bool {
        assert!(self.alone() && self.is_empty());
        // SAFETY: the only handle is here.
        self.prepare(batch).is_ok() || unsafe { self.fit(0).is_ok() }
    }

    fn expect(&mut self, more: Option<u64>) {
        // SAFETY: no other handle is in use.
        unsafe { (*self.shared.inner.get()).cells.expect(more) }
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        // SAFETY: no other handle is in use.
        unsafe { self.prepare_room(more) }
    }

    fn is_key(&self, key: &[u8]) -> bool {
        let Inner { cells, codings, .. } = self.shared.inner();
        let sound = key.len() == self.shared.key_bytes()
            && codings.get(key[0] as usize).is_some_and(|coding| number(key) >> coding.bits() == 0);
        sound && {
            let (mut batch, mut numbers) = (Batch::new(self.shared.state_bytes), Vec::new());
            codings[key[0] as usize].decode(&[number(key)], &mut batch);
            let encoded = codings.last().is_some_and(|coding| coding.encode(&batch, &mut numbers).is_ok());
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
        let Inner { cells, codings, .. } = self.shared.inner();
        let mut state = Batch::new(self.shared.state_bytes);
        codings.last().is_none_or(|coding| {
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
        let Inner { cells, codings, .. } = unsafe { &mut *self.shared.inner.get() };
        let mut state = Batch::new(self.shared.state_bytes);
        let Some(coding) = codings.last() else { return Some(true) };
        let show = |number: u128| {
            state.clear();
            coding.decode(&[number], &mut state);
            show(state.state(0))
        };
        let drained = if sorted { cells.drain(show) } else { cells.drain_in_any_order(show) };
        drained.ok()
    }

    fn unsuited(&self) -> Option<String> {
        let (unfit, coding) = (self.shared.unfit(), self.shared.inner().codings.last()?);
        let bits = coding.with((0..unfit.len()).map(|i| unfit.state(i))).bits();
        let why =
            || format!("states differ in {bits} bits; --store packed supports at most {MOST_BITS}; use --store tree");
        (bits > MOST_BITS).then(why)
    }

    fn bytes(&self) -> usize {
        self.shared.inner().cells.bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let Inner { cells, codings, .. } = self.shared.inner();
        let mut to = io::BufWriter::with_capacity(1 << 16, to);
        to.write_all(&(cells.len() as u64).to_le_bytes())?;
        to.write_all(&[codings.len().saturating_sub(1) as u8])?;
        codings.iter().try_for_each(|coding| coding.save(&mut to))?;
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
        let mut last = [0];
        from.read_exact(&mut last)?;
        if left == 0 {
            return Ok(());
        }
        // SAFETY: the only handle is here.
        let Inner { cells, codings, .. } = unsafe { &mut *self.shared.inner.get() };
        codings.clear();
        for _ in 0..=last[0] {
            codings.push(Coding::restore(self.shared.state_bytes, from)?);
        }
        if codings.iter().any(|coding| coding.bits() > MOST_BITS) {
            return Err(impossible("a state that is too wide"));
        }
        let bits = codings.last().map_or(0, Coding::bits);
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
