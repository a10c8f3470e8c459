//! The plain table: every state in full, exactly.
//!
//! States stand one after the other in discovery order (the arena), so a breadth-first queue is nothing but a range of
//! numbers and reading it is sequential; the [`Index`] finds a state by its hash. A state costs its own length and at most
//! eight bytes of index. Both parts grow in place.
//!
//! Several threads share one table, each through a [`Table`] of its own that holds a block of numbers to give out. Blocks
//! leave gaps; [`Shared::close_gaps`] moves the last states into them, so numbers are dense again whenever a level ends.
//! A single owner may remove states; their places are taken by the next new ones.

mod drain;
mod growth;
mod lookup;
mod saving;
#[cfg(test)]
mod tests;

use super::index::Index;
use super::{Found, Full, StateId, Store};
use crate::column::Stack;
use crate::region::Region;
use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use crate::sync::{Apart, size};
use crate::words::{Shape, by_words};
use lookup::Group;
use scrimp_core::Budget;
use scrimp_system::{Batch, Set};
use std::cell::UnsafeCell;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// Numbers a thread takes at once.
pub(crate) const BLOCK: u32 = size(256, 2) as u32;
/// Bytes of the index at first.
const FIRST_INDEX: usize = size(1 << 12, 1 << 6);
/// Numbers have 32 bits; the last ones are left out, so that threads can count a little beyond the end.
const MOST_STATES: usize = u32::MAX as usize - (1 << 24);

/// Numbers that storing `states` new states may take from a shared table: whole blocks.
pub(crate) fn batch_need(states: usize) -> usize {
    states + BLOCK as usize
}

/// The table itself.
///
/// `inner` changes (commits memory, rebuilds the index) only while no other thread is inside `offer`: with one owner always,
/// with several only between the barriers of the parallel search.
pub(crate) struct Shared {
    inner: UnsafeCell<Inner>,
    /// Numbers given out, those in blocks not yet used included.
    numbered: Apart<AtomicU32>,
    /// States that the memory committed so far can take.
    room: AtomicUsize,
    /// Numbers that all threads together may take before they look again: no two of them count on the same room.
    promised: Apart<AtomicUsize>,
    /// The share of the index's slots that may be taken.
    fullest: f64,
    /// Numbers that a thread takes at once.
    block: u32,
    budget: Arc<Budget>,
}

struct Inner {
    state_bytes: usize,
    shape: Shape,
    arena: Region,
    index: Index,
}

// SAFETY: concurrent access to `inner` follows the protocol stated at `Shared`; index slots are atomics, and a state's bytes
// are written once, by the thread that claimed its slot, before its number is published.
unsafe impl Sync for Shared {}
// SAFETY: all parts are owned memory.
unsafe impl Send for Shared {}

/// One thread's way into a table.
pub struct Table {
    shared: Arc<Shared>,
    /// Numbers this thread may still give out; with a single owner, all that follow.
    block: Range<u32>,
    alone: bool,
    /// Numbers that this thread may take before it looks again.
    promised: usize,
    /// Numbers of removed states, where states may be removed.
    removed: Option<Stack>,
    /// The group in the second and third pass, and the one in its first.
    groups: Box<[Group; 2]>,
}

impl Table {
    pub fn new(state_bytes: usize, budget: Arc<Budget>) -> io::Result<Table> {
        let reserve = budget.memory().saturating_add(budget.memory() / 16);
        let index = Index::new(reserve, FIRST_INDEX)?;
        let mut arena = Region::reserve(reserve)?;
        arena.commit(state_bytes)?;
        budget.take(index.bytes() + arena.committed());
        let shared = Shared {
            inner: UnsafeCell::new(Inner { state_bytes, shape: Shape::new(state_bytes), arena, index }),
            numbered: Apart::default(),
            room: AtomicUsize::new(0),
            promised: Apart::default(),
            fullest: growth::FULLEST,
            block: BLOCK,
            budget,
        };
        shared.measure_room();
        Ok(Table {
            shared: Arc::new(shared),
            block: 0..u32::MAX,
            alone: true,
            promised: 0,
            removed: None,
            groups: Group::pair(),
        })
    }

    /// Lets states be removed. The table must be empty.
    pub fn removable(mut self) -> io::Result<Table> {
        self.removed = Some(Stack::new(&self.shared.budget)?);
        let shared = Arc::get_mut(&mut self.shared).expect("a table of a single owner");
        shared.fullest = growth::FULLEST_REMOVABLE;
        shared.measure_room();
        Ok(self)
    }

    /// Gives numbers out one by one, so that several threads leave no gaps.
    pub(crate) fn without_gaps(mut self) -> Table {
        Arc::get_mut(&mut self.shared).expect("a table of a single owner").block = 1;
        self
    }

    /// Gives every state another form; see [`Shared::restride`]. For a single owner.
    pub(crate) fn restride(&mut self, bytes: usize, change: &mut dyn FnMut(&[u8], &mut [u8])) -> Result<(), Full> {
        assert!(self.alone);
        // SAFETY: a single owner, and it is here.
        unsafe { self.shared.restride(bytes, change)? };
        self.shared.refill_index(self.removed.as_ref());
        Ok(())
    }

    /// The numbers of removed states.
    pub(crate) fn removed_set(&self) -> Set {
        let mut removed = Set::new(self.numbers());
        self.removed.iter().flat_map(Stack::iter).for_each(|id| removed.insert(id as usize));
        removed
    }

    /// Has it a single owner?
    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// Turns one of several handles, when all others are gone, into that of a single owner. Numbers must be dense.
    pub(crate) fn own(&mut self) {
        assert!(Arc::get_mut(&mut self.shared).is_some());
        (self.alone, self.block, self.promised) = (true, 0..u32::MAX, 0);
        self.shared.promised.store(0, Ordering::Relaxed);
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Numbers taken but not used: the gap this thread leaves.
    pub(crate) fn gap(&self) -> Range<u32> {
        self.block.clone()
    }

    /// Forgets the block, after its gap was closed.
    pub(crate) fn drop_block(&mut self) {
        self.block = 0..0;
    }
}

impl Store for Table {
    fn offer(&mut self, batch: &Batch, which: Range<usize>, found: &mut Vec<Found>) -> Result<(), Full> {
        assert!(batch.state_bytes() == self.shared.state_bytes() && which.end <= batch.len());
        let (shape, states) = (self.shared.shape(), which.len());
        if self.alone {
            if self.shared.crowded(self.len() + states) {
                // SAFETY: a single owner, and it is here.
                unsafe { self.shared.make_room(states, self.removed.as_ref())? };
            }
            // New states take the numbers of removed ones first.
            let numbers = self.shared.len().max(self.len() + states);
            if let Some(removed) = &mut self.removed {
                removed.ensure(numbers)?;
            }
            self.block.start = self.shared.numbered.load(Ordering::Relaxed);
            by_words!(shape, W => self.offer_groups::<true, W>(batch, which, found));
            self.shared.numbered.store(self.block.start, Ordering::Relaxed);
        } else {
            self.shared.promise(states, &mut self.promised)?;
            by_words!(shape, W => self.offer_groups::<false, W>(batch, which, found));
        }
        Ok(())
    }

    fn find(&self, batch: &Batch, which: usize) -> Option<StateId> {
        assert!(batch.state_bytes() == self.shared.state_bytes());
        by_words!(self.shared.shape(), W => self.shared.find::<W>(batch.state(which)))
    }

    fn prefetch(&self, batch: &Batch, which: Range<usize>) {
        assert!(batch.state_bytes() == self.shared.state_bytes() && which.end <= batch.len());
        by_words!(self.shared.shape(), W => self.shared.prefetch_all::<W>(batch, which));
    }

    fn remove(&mut self, id: StateId) {
        let removed = self.removed.as_mut().expect("a table from which states may be removed");
        let hash = by_words!(self.shared.shape(), W => self.shared.hash_of::<W>(id));
        // SAFETY: a single owner, and it is here.
        unsafe { (*self.shared.inner.get()).index.remove(hash, id) };
        removed.push(id);
    }

    fn load(&self, id: StateId, out: &mut [u8]) {
        out.copy_from_slice(self.shared.state(id));
    }

    fn len(&self) -> usize {
        self.shared.len() - self.removed.as_ref().map_or(0, Stack::len)
    }

    fn room(&self) -> usize {
        self.shared.room()
    }

    fn numbers(&self) -> usize {
        self.shared.len()
    }

    fn each_number(&self, show: &mut dyn FnMut(StateId)) {
        let removed = self.removed_set();
        (0..self.numbers()).filter(|&id| !removed.contains(id)).for_each(|id| show(id as StateId));
    }

    fn bytes(&self) -> usize {
        self.shared.bytes() + self.removed.as_ref().map_or(0, Stack::bytes)
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.save_to(to)
    }

    fn refill(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.restore_from(from)
    }
}

/// A store that several threads can fill at once: a table, and perhaps more in front of it.
pub(crate) trait Concurrent: Store + Send + Sized {
    /// Turns the store of a single owner into ways to it for `threads` threads, who may not remove states.
    fn share(self, threads: usize) -> Vec<Self>;

    fn table(&self) -> &Table;

    fn table_mut(&mut self) -> &mut Table;

    /// Makes one of several handles, when all others are gone, that of a single owner. Numbers must be dense.
    fn own(&mut self) {
        self.table_mut().own();
    }

    /// Makes room for `more` states, and for what threads asked for in vain; see [`Shared::prepare_room`].
    ///
    /// # Safety
    /// No other thread may be using the store.
    unsafe fn prepare_room(&self, more: usize) -> Result<bool, Full>;
}

impl Concurrent for Table {
    fn share(self, threads: usize) -> Vec<Table> {
        assert!(self.removed.is_none());
        let table = |_| Table {
            shared: self.shared.clone(),
            block: 0..0,
            alone: false,
            promised: 0,
            removed: None,
            groups: Group::pair(),
        };
        (0..threads).map(table).collect()
    }

    fn table(&self) -> &Table {
        self
    }

    fn table_mut(&mut self) -> &mut Table {
        self
    }

    unsafe fn prepare_room(&self, more: usize) -> Result<bool, Full> {
        // SAFETY: as the caller promises.
        unsafe { self.shared.prepare_room(more, 0) }
    }
}

impl Shared {
    #[inline(always)]
    fn inner(&self) -> &Inner {
        // SAFETY: nobody changes `inner` now; see the protocol at `Shared`.
        unsafe { &*self.inner.get() }
    }

    /// Number of states, gaps included.
    pub(crate) fn len(&self) -> usize {
        self.numbered.load(Ordering::SeqCst) as usize
    }

    /// Length of a state.
    #[inline(always)]
    pub(crate) fn state_bytes(&self) -> usize {
        self.inner().state_bytes
    }

    #[inline(always)]
    fn shape(&self) -> Shape {
        self.inner().shape
    }

    /// Bytes of states and index that were touched.
    pub(crate) fn bytes(&self) -> usize {
        self.len() * self.state_bytes() + self.inner().index.bytes()
    }

    #[inline(always)]
    fn address(&self, id: StateId) -> *mut u8 {
        self.inner().arena.base().wrapping_add(id as usize * self.state_bytes())
    }

    /// The bytes of a state whose number this thread has seen.
    #[inline(always)]
    pub(crate) fn state(&self, id: StateId) -> &[u8] {
        assert!((id as usize) < self.len());
        // SAFETY: within the arena; numbers are published after the bytes were written, and those do not change while
        // anyone may look.
        unsafe { std::slice::from_raw_parts(self.address(id), self.state_bytes()) }
    }

    /// The bytes of `count` states from number `first` on, where no thread is at work.
    fn states(&self, first: usize, count: usize) -> &[u8] {
        assert!(first + count <= self.len());
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.address(first as StateId), count * self.state_bytes()) }
    }
}
