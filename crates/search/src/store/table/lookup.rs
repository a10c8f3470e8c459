//! Looking states up, and storing those that are new: the hot loop of every search.
//!
//! A batch is offered in groups, each in three passes so that cache misses overlap: hash all and prefetch the buckets;
//! look at the tags and prefetch the states that seem equal; compare and insert. The first pass of a group comes before
//! the last of the one before it, so that neither waits for memory.

use super::{Shared, Table};
use crate::column::Stack;
use crate::store::index::{prefetch, prefetch_write};
use crate::store::{Found, StateId};
use crate::sync::atomic::Ordering;
use crate::words::{copy_at, hash_at, same_at};
use scrimp_system::Batch;
use std::ops::Range;

/// Full buckets that are followed without waiting for memory.
const FOLLOWED: usize = 4;

/// States that go through the three passes together: as many as leave room in the first-level cache for the lines that
/// are being fetched.
const GROUP: usize = 96;

pub struct Group {
    hashes: [u64; GROUP],
    /// The number of the stored state that is likely the same, plus one; 0 for none.
    guesses: [u32; GROUP],
    /// Which of them overflow into a further bucket.
    late: [u8; GROUP],
}

impl Group {
    pub fn pair() -> Box<[Group; 2]> {
        Box::new([(); 2].map(|_| Group { hashes: [0; GROUP], guesses: [0; GROUP], late: [0; GROUP] }))
    }
}

impl Table {
    /// Takes the states of a batch through the three passes, group by group.
    pub(super) fn offer_groups<const ALONE: bool, const W: usize>(
        &mut self,
        batch: &Batch,
        which: Range<usize>,
        found: &mut Vec<Found>,
    ) {
        let Table { shared, block, groups, removed, .. } = self;
        let [mut group, mut next] = groups.each_mut();
        found.reserve(which.len());
        let mut present = States::of(batch, &which, which.start);
        shared.hash_all::<W>(present, group);
        while present.count > 0 {
            shared.guess_all(present.count, group);
            let following = States::of(batch, &which, present.first + GROUP);
            shared.hash_all::<W>(following, next);
            for i in 0..present.count {
                let (state, guess) = (present.address(i), group.guesses[i]);
                // SAFETY: a state of the batch, which has the table's shape; the guess was published, so its state is
                // there, and `offer` has made room for every state of the batch.
                found.push(unsafe {
                    if guess != 0 && shared.equals::<W>(guess - 1, state) {
                        Found { id: guess - 1, new: false }
                    } else {
                        shared.offer_one::<ALONE, W>(state, group.hashes[i], block, removed.as_mut())
                    }
                });
            }
            present = following;
            std::mem::swap(&mut group, &mut next);
        }
    }
}

/// Up to [`GROUP`] states of a batch, one after the other.
#[derive(Clone, Copy)]
struct States {
    first: usize,
    count: usize,
    start: *const u8,
    stride: usize,
}

impl States {
    /// The states of `which` from `first` on.
    fn of(batch: &Batch, which: &Range<usize>, first: usize) -> States {
        let count = which.end.saturating_sub(first).min(GROUP);
        let start = if count == 0 { std::ptr::null() } else { batch.state(first).as_ptr() };
        States { first, count, start, stride: batch.stride() }
    }

    #[inline(always)]
    fn address(&self, i: usize) -> *const u8 {
        debug_assert!(i < self.count);
        self.start.wrapping_add(i * self.stride)
    }
}

impl Shared {
    /// The first pass over a group.
    #[inline(always)]
    fn hash_all<const W: usize>(&self, states: States, group: &mut Group) {
        for i in 0..states.count {
            // SAFETY: a state of the batch, which has the table's shape.
            let h = unsafe { hash_at::<W>(states.address(i), self.shape()) };
            self.inner().index.prefetch(h);
            group.hashes[i] = h;
        }
    }

    /// The second pass. Where the home bucket is full and knows nothing, the next one is fetched and asked once all homes
    /// were, and so on.
    #[inline(always)]
    fn guess_all(&self, count: usize, group: &mut Group) {
        let index = &self.inner().index;
        let mut late = 0;
        for i in 0..count {
            let (guess, overflows) = index.guess(group.hashes[i], 0);
            self.prefetch(guess);
            group.guesses[i] = guess;
            group.late[late] = i as u8;
            late += overflows as usize;
        }
        for beyond in 1..=FOLLOWED {
            let mut later = 0;
            for at in 0..late {
                let i = group.late[at];
                let (guess, overflows) = index.guess(group.hashes[i as usize], beyond);
                self.prefetch(guess);
                group.guesses[i as usize] = guess;
                group.late[later] = i;
                later += overflows as usize;
            }
            late = later;
        }
    }

    /// Finds or stores one state, giving it the number of a `removed` one, or else one from `block`.
    ///
    /// # Safety
    /// A state of the table's shape is there, and room was made for it. With `ALONE`, no other thread uses the table.
    #[inline(always)]
    unsafe fn offer_one<const ALONE: bool, const W: usize>(
        &self,
        state: *const u8,
        hash: u64,
        block: &mut Range<u32>,
        removed: Option<&mut Stack>,
    ) -> Found {
        let index = &self.inner().index;
        loop {
            // SAFETY: as the caller promises; numbers in the index have their states.
            match index.find(hash, |id| unsafe { self.equals::<W>(id, state) }) {
                Ok(id) => return Found { id, new: false },
                Err(free) => {
                    if let Some(claim) = index.claim::<ALONE>(hash, free) {
                        let reused = if ALONE { removed.and_then(Stack::pop) } else { None };
                        let id = reused.unwrap_or_else(|| self.number(block));
                        // SAFETY: there is room for the state, and the number is this thread's alone.
                        unsafe { copy_at::<W>(state, self.address(id), self.shape()) };
                        claim.publish(id);
                        prefetch_write(self.address(id).wrapping_add(256));
                        return Found { id, new: true };
                    }
                }
            }
        }
    }

    /// The number of a state, if it is stored.
    pub(super) fn find<const W: usize>(&self, state: &[u8]) -> Option<StateId> {
        let state = state.as_ptr();
        // SAFETY: the caller's state has the table's shape; numbers in the index have their states.
        unsafe {
            let hash = hash_at::<W>(state, self.shape());
            self.inner().index.find(hash, |id| self.equals::<W>(id, state)).ok()
        }
    }

    /// Asks for the home buckets of states that will soon be looked up.
    pub(super) fn prefetch_all<const W: usize>(&self, batch: &Batch, which: Range<usize>) {
        for i in which {
            // SAFETY: a state of the batch, which has the table's shape.
            let hash = unsafe { hash_at::<W>(batch.state(i).as_ptr(), self.shape()) };
            self.inner().index.prefetch(hash);
        }
    }

    /// The next number of a block, or of a new one when it is used up.
    #[inline(always)]
    fn number(&self, block: &mut Range<u32>) -> u32 {
        if block.start == block.end {
            let start = self.numbered.fetch_add(self.block, Ordering::SeqCst);
            *block = start..start + self.block;
        }
        block.start += 1;
        block.start - 1
    }

    /// Asks for the state with this number plus one.
    #[inline(always)]
    fn prefetch(&self, guess: u32) {
        if guess != 0 {
            let address = self.address(guess - 1);
            prefetch(address);
            prefetch(address.wrapping_add(self.state_bytes() - 1));
        }
    }

    /// Is the stored state `id` the one at this address?
    ///
    /// # Safety
    /// `id` was published, and a state of the table's shape is at `state`.
    #[inline(always)]
    unsafe fn equals<const W: usize>(&self, id: StateId, state: *const u8) -> bool {
        // SAFETY: as the caller promises.
        unsafe { same_at::<W>(self.address(id), state, self.shape()) }
    }
}
