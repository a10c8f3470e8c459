//! The plain table: every state in full, exactly.
//!
//! States stand one after the other in discovery order (the arena), so a breadth-first queue is nothing but a range of
//! numbers and reading it is sequential; the [`Index`] finds a state by its hash. A state costs its own length and at most
//! eight bytes of index. Both parts grow in place.
//!
//! A batch is offered in three passes so that cache misses overlap: hash all and prefetch the buckets; look at the tags
//! and prefetch the states that seem equal; compare and insert.
//!
//! Several threads share one table, each through a [`Table`] of its own that holds a block of numbers to give out. Blocks
//! leave gaps; [`Shared::close_gaps`] moves the last states into them, so numbers are dense again whenever a level ends.

use super::index::{Index, prefetch, prefetch_write};
use super::{Abilities, Found, Full, StateId, Store};
use crate::budget::Budget;
use crate::hash::{Shape, by_words, hash_at, same_at};
use crate::region::{HUGE, Region};
use scrimp_system::Batch;
use std::cell::UnsafeCell;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The index is enlarged when this share of its slots is taken …
const FULLEST: f64 = 0.93;
/// … by this factor, which keeps it within eight bytes a state: 64 / 12 / 0.93 * 1.38 = 7.9.
const GROWTH: f64 = 1.38;
/// Numbers a thread takes at once.
const BLOCK: u32 = 256;
/// Bytes of the index at first.
const FIRST_INDEX: usize = 1 << 12;
/// Numbers are stored plus one.
const MOST_STATES: usize = u32::MAX as usize - 1;

/// Numbers that storing `states` new states may take from a shared table: whole blocks.
pub fn batch_need(states: usize) -> usize {
    states + BLOCK as usize
}

/// The table itself.
///
/// `inner` changes (commits memory, rebuilds the index) only while no other thread is inside `offer`: with one owner always,
/// with several only between the barriers of the parallel search.
pub struct Shared {
    state_bytes: usize,
    shape: Shape,
    inner: UnsafeCell<Inner>,
    /// Numbers given out, those in blocks not yet used included.
    numbered: AtomicU32,
    /// States that the memory committed so far can take.
    room: AtomicUsize,
    /// Numbers that threads now inside `offer` may still take: no two of them count on the same room.
    pending: AtomicUsize,
    budget: Arc<Budget>,
}

struct Inner {
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
    group: Box<Group>,
}

/// States that go through the three passes together: as many as leave room in the first-level cache for the lines that
/// are being fetched.
const GROUP: usize = 96;

struct Group {
    hashes: [u64; GROUP],
    /// The number of the stored state that is likely the same, plus one; 0 for none.
    guesses: [u32; GROUP],
    /// Which of them overflow into a second bucket.
    late: [u8; GROUP],
}

impl Group {
    fn new() -> Box<Group> {
        Box::new(Group { hashes: [0; GROUP], guesses: [0; GROUP], late: [0; GROUP] })
    }
}

impl Table {
    pub fn new(state_bytes: usize, budget: Arc<Budget>) -> io::Result<Table> {
        let reserve = budget.memory().saturating_add(budget.memory() / 16);
        let index = Index::new(reserve, FIRST_INDEX)?;
        let mut arena = Region::reserve(reserve)?;
        arena.commit(state_bytes + size_of::<u64>())?;
        budget.take(index.bytes() + arena.committed());
        let shared = Shared {
            state_bytes,
            shape: Shape::new(state_bytes),
            inner: UnsafeCell::new(Inner { arena, index }),
            numbered: AtomicU32::new(0),
            room: AtomicUsize::new(0),
            pending: AtomicUsize::new(0),
            budget,
        };
        shared.measure_room();
        Ok(Table { shared: Arc::new(shared), block: 0..u32::MAX, alone: true, group: Group::new() })
    }

    /// Turns the table of a single owner into tables for `threads` threads.
    pub fn share(self, threads: usize) -> Vec<Table> {
        let table = |_| Table { shared: self.shared.clone(), block: 0..0, alone: false, group: Group::new() };
        (0..threads).map(table).collect()
    }

    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Numbers taken but not used: the gap this thread leaves.
    pub fn gap(&self) -> Range<u32> {
        self.block.clone()
    }

    /// Forgets the block, after its gap was closed.
    pub fn drop_block(&mut self) {
        self.block = 0..0;
    }

    #[inline(always)]
    fn number(&mut self) -> u32 {
        if self.block.start == self.block.end {
            let start = self.shared.numbered.fetch_add(BLOCK, Ordering::Relaxed);
            self.block = start..start + BLOCK;
        }
        self.block.start += 1;
        self.block.start - 1
    }

    /// Takes the states of a batch through the three passes, group by group.
    fn offer_groups<const ALONE: bool, const W: usize>(
        &mut self,
        batch: &Batch,
        which: Range<usize>,
        found: &mut Vec<Found>,
    ) {
        found.reserve(which.len());
        let mut group = std::mem::replace(&mut self.group, Group::new());
        for first in which.clone().step_by(GROUP) {
            let count = GROUP.min(which.end - first);
            let states = batch.state(first).as_ptr();
            // SAFETY: `count` states of the batch follow one another from there, in whole words and with this stride.
            let state = |i: usize| unsafe { states.add(i * batch.stride()) };
            let shared = &*self.shared;
            let index = &shared.inner().index;
            for i in 0..count {
                // SAFETY: states of a batch are readable in whole words, and this is the table's shape.
                let h = unsafe { hash_at::<W>(state(i), shared.shape) };
                index.prefetch(h);
                group.hashes[i] = h;
            }
            // Where the home bucket is full and knows nothing, the next one is fetched and asked once all homes were.
            let mut late = 0;
            for i in 0..count {
                let (guess, overflows) = index.guess(group.hashes[i], 0);
                shared.prefetch(guess);
                group.guesses[i] = guess;
                group.late[late] = i as u8;
                late += overflows as usize;
            }
            for &i in &group.late[..late] {
                let (guess, _) = index.guess(group.hashes[i as usize], 1);
                shared.prefetch(guess);
                group.guesses[i as usize] = guess;
            }
            for i in 0..count {
                let guess = group.guesses[i];
                // SAFETY: as in the first pass; the number was published, so a state is there.
                let known = guess != 0 && unsafe { self.shared.equals::<W>(guess - 1, state(i)) };
                found.push(match known {
                    true => Found { id: guess - 1, new: false },
                    // SAFETY: as in the first pass.
                    false => unsafe { self.offer_one::<ALONE, W>(state(i), group.hashes[i]) },
                });
            }
        }
        self.group = group;
    }

    /// Finds or stores one state.
    ///
    /// # Safety
    /// A state of the table's shape is there, readable in whole words, and room was made for it.
    #[inline(always)]
    unsafe fn offer_one<const ALONE: bool, const W: usize>(&mut self, state: *const u8, hash: u64) -> Found {
        loop {
            let shared = Arc::as_ptr(&self.shared);
            // SAFETY: `self.shared` keeps it alive; borrowed through a pointer only because `number` needs `&mut self`.
            let shared = unsafe { &*shared };
            let inner = shared.inner();
            // SAFETY: as the caller promises; numbers in the index have their states.
            match inner.index.find(hash, |id| unsafe { shared.equals::<W>(id, state) }) {
                Ok(id) => return Found { id, new: false },
                Err(free) => {
                    if let Some(claim) = inner.index.claim::<ALONE>(hash, free) {
                        let id = self.number();
                        // SAFETY: `make_room` left place for every state of the batch; the slot is this thread's alone.
                        unsafe { std::ptr::copy_nonoverlapping(state, shared.address(id), shared.state_bytes) };
                        claim.publish(id);
                        prefetch_write(shared.address(id).wrapping_add(256));
                        return Found { id, new: true };
                    }
                }
            }
        }
    }
}

impl Store for Table {
    fn abilities(&self) -> Abilities {
        Abilities { exact: true, removable: false, loads: true, shared: true }
    }

    fn offer(&mut self, batch: &Batch, which: Range<usize>, found: &mut Vec<Found>) -> Result<(), Full> {
        assert!(batch.state_bytes() == self.shared.state_bytes && which.end <= batch.len());
        let (shape, states) = (self.shared.shape, which.len());
        if self.alone {
            if self.shared.crowded(states) {
                // SAFETY: a single owner, and it is here.
                unsafe { self.shared.make_room(states)? };
            }
            self.block.start = self.shared.numbered.load(Ordering::Relaxed);
            by_words!(shape, W => self.offer_groups::<true, W>(batch, which, found));
            self.shared.numbered.store(self.block.start, Ordering::Relaxed);
        } else {
            self.shared.promise(states)?;
            by_words!(shape, W => self.offer_groups::<false, W>(batch, which, found));
            self.shared.pending.fetch_sub(batch_need(states), Ordering::Relaxed);
        }
        Ok(())
    }

    fn load(&self, id: StateId, out: &mut [u8]) {
        out.copy_from_slice(self.shared.state(id));
    }

    fn len(&self) -> usize {
        self.shared.len()
    }

    fn bytes(&self) -> usize {
        self.shared.bytes()
    }
}

impl Shared {
    #[inline(always)]
    fn inner(&self) -> &Inner {
        // SAFETY: nobody changes `inner` now; see the protocol at `Shared`.
        unsafe { &*self.inner.get() }
    }

    /// Number of states, gaps included.
    pub fn len(&self) -> usize {
        self.numbered.load(Ordering::Relaxed) as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Length of a state.
    pub fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    /// Bytes of states and index that were touched.
    pub fn bytes(&self) -> usize {
        self.len() * self.state_bytes + self.inner().index.bytes()
    }

    #[inline(always)]
    fn address(&self, id: StateId) -> *mut u8 {
        self.inner().arena.base().wrapping_add(id as usize * self.state_bytes)
    }

    /// The bytes of a state whose number this thread has seen.
    #[inline(always)]
    pub fn state(&self, id: StateId) -> &[u8] {
        debug_assert!((id as usize) < self.len());
        // SAFETY: numbers are published after the bytes were written, and those never change while shared.
        unsafe { std::slice::from_raw_parts(self.address(id), self.state_bytes) }
    }

    /// Asks for the state with this number plus one.
    #[inline(always)]
    fn prefetch(&self, guess: u32) {
        if guess != 0 {
            let address = self.address(guess - 1);
            prefetch(address);
            prefetch(address.wrapping_add(self.state_bytes - 1));
        }
    }

    /// Is the stored state `id` the one at this address?
    ///
    /// # Safety
    /// `id` was published, and a state of the table's shape is at `state`, readable in whole words.
    #[inline(always)]
    unsafe fn equals<const W: usize>(&self, id: StateId, state: *const u8) -> bool {
        // SAFETY: as the caller promises; the arena is committed for a word more than its states take.
        unsafe { same_at::<W>(self.address(id), state, self.shape) }
    }

    /// The hash of a stored state.
    fn hash_of<const W: usize>(&self, id: StateId) -> u64 {
        debug_assert!((id as usize) < self.len());
        // SAFETY: numbers below `len` have their states, and the arena is readable a word beyond them.
        unsafe { hash_at::<W>(self.address(id), self.shape) }
    }

    /// Would `more` states go beyond what is committed?
    #[inline(always)]
    fn crowded(&self, more: usize) -> bool {
        self.len() + more > self.room.load(Ordering::Relaxed)
    }

    /// Secures room for `states` new states of one thread, however many others do the same.
    fn promise(&self, states: usize) -> Result<(), Full> {
        let need = batch_need(states);
        let pending = self.pending.fetch_add(need, Ordering::AcqRel) + need;
        if self.crowded(pending) {
            self.pending.fetch_sub(need, Ordering::Relaxed);
            return Err(Full);
        }
        Ok(())
    }

    fn measure_room(&self) {
        let inner = self.inner();
        let states = (inner.arena.committed() - size_of::<u64>()) / self.state_bytes;
        let slots = (inner.index.slots() as f64 * FULLEST) as usize;
        self.room.store(states.min(slots).min(MOST_STATES), Ordering::Relaxed);
    }

    /// Commits memory for `more` states, rebuilding the index where it is the index that is full.
    ///
    /// # Safety
    /// No other thread may be using the table.
    pub unsafe fn make_room(&self, more: usize) -> Result<(), Full> {
        // SAFETY: as the caller promises.
        unsafe {
            if self.prepare_room(more)? {
                self.fill_index::<true>(0..self.len() as u32, &[]);
            }
        }
        Ok(())
    }

    /// The first half of [`make_room`](Shared::make_room): `true` when the index was enlarged and stands empty, to be filled
    /// with all numbers by [`fill_index`](Shared::fill_index).
    ///
    /// # Safety
    /// No other thread may be using the table.
    pub unsafe fn prepare_room(&self, more: usize) -> Result<bool, Full> {
        let wanted = self.len() + more;
        if wanted > MOST_STATES {
            return Err(Full);
        }
        // SAFETY: as the caller promises.
        let inner = unsafe { &mut *self.inner.get() };
        let arena_bytes = wanted * self.state_bytes + size_of::<u64>();
        if arena_bytes > inner.arena.committed() {
            self.grow_arena(inner, arena_bytes)?;
        }
        let emptied = wanted as f64 > inner.index.slots() as f64 * FULLEST;
        if emptied {
            self.grow_index(inner, wanted)?;
        }
        self.measure_room();
        Ok(emptied)
    }

    /// Commits a little more than needed, in steps that stay small beside what is there.
    fn grow_arena(&self, inner: &mut Inner, needed: usize) -> Result<(), Full> {
        let now = inner.arena.committed();
        let step = (now / 32).clamp(1 << 14, 16 * HUGE);
        for bytes in [needed.max(now + step), needed] {
            let bytes = Region::rounded(bytes).min(inner.arena.reserved());
            if bytes >= needed && self.budget.may_take(bytes - now) {
                inner.arena.commit(bytes).map_err(|_| Full)?;
                self.budget.take(inner.arena.committed() - now);
                return Ok(());
            }
        }
        Err(Full)
    }

    /// Enlarges the index by [`GROWTH`], or by what lets index and states fill the rest of the budget together.
    fn grow_index(&self, inner: &mut Inner, wanted: usize) -> Result<(), Full> {
        let now = inner.index.bytes();
        let cost = |states: f64| states / FULLEST * Index::SLOT_BYTES;
        let needed = cost(wanted as f64 + super::index::SLOTS as f64) as usize;
        let rest = (self.budget.left() + now + inner.arena.committed()) as f64;
        let at_most = cost(rest / (self.state_bytes as f64 + cost(1.0))) as usize;
        let larger = ((now as f64 * GROWTH) as usize).min(at_most);
        // Whole pages, all of them used: rounding up would waste part of one.
        let whole = larger / Region::page(larger) * Region::page(larger);
        let bytes = if whole >= needed && whole > now { whole } else { Region::rounded(needed.max(now + 1)) };
        if bytes > inner.index.most_bytes() || !self.budget.may_take(bytes.saturating_sub(now)) {
            return Err(Full);
        }
        inner.index.reset(bytes).map_err(|_| Full)?;
        self.budget.take(inner.index.bytes() - now);
        Ok(())
    }

    /// Enters the states `which`, but for those in `gaps`, into an index that does not have them. Threads may do this side by
    /// side for different ranges, unless one of them is `ALONE`.
    pub fn fill_index<const ALONE: bool>(&self, which: Range<u32>, gaps: &[Range<u32>]) {
        by_words!(self.shape, W => self.enter_all::<ALONE, W>(which, gaps));
    }

    fn enter_all<const ALONE: bool, const W: usize>(&self, which: Range<u32>, gaps: &[Range<u32>]) {
        let index = &self.inner().index;
        let mut waiting = [(0u64, 0u32); GROUP];
        let mut count = 0;
        for id in which {
            if gaps.iter().any(|gap| gap.contains(&id)) {
                continue;
            }
            let h = self.hash_of::<W>(id);
            index.prefetch(h);
            waiting[count] = (h, id);
            count += 1;
            if count == GROUP {
                waiting.iter().for_each(|&(h, id)| index.enter::<ALONE>(h, id));
                count = 0;
            }
        }
        waiting[..count].iter().for_each(|&(h, id)| index.enter::<ALONE>(h, id));
    }

    /// Moves the states with the highest numbers into the gaps, after which numbers are dense.
    ///
    /// # Safety
    /// No other thread may be using the table, and `gaps` are exactly the numbers without a state.
    pub unsafe fn close_gaps(&self, gaps: &[Range<u32>]) {
        let missing: u32 = gaps.iter().map(|gap| gap.end - gap.start).sum();
        let dense = self.len() as u32 - missing;
        let is_gap = |id: u32| gaps.iter().any(|gap| gap.contains(&id));
        let mut last = self.len() as u32;
        for id in gaps.iter().cloned().flatten().filter(|&id| id < dense) {
            last -= 1;
            while is_gap(last) {
                last -= 1;
            }
            let h = self.hash_of::<0>(last);
            self.inner().index.renumber(h, last, id);
            // SAFETY: both lie within the arena and differ; nobody else is looking.
            unsafe { std::ptr::copy_nonoverlapping(self.address(last), self.address(id), self.state_bytes) };
        }
        self.numbered.store(dense, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn table(state_bytes: usize, memory: usize) -> Table {
        Table::new(state_bytes, Arc::new(Budget::new(memory))).unwrap()
    }

    fn state(i: u32, bytes: usize) -> Vec<u8> {
        let mut state = vec![0; bytes];
        let number = i.wrapping_mul(2_654_435_761).to_le_bytes();
        let length = bytes.min(4);
        state[..length].copy_from_slice(&number[..length]);
        state[bytes - 1] ^= (i % 7) as u8;
        state
    }

    #[test]
    fn agrees_with_a_map_while_growing() {
        for bytes in [1, 3, 7, 8, 9, 16, 25, 100] {
            let mut table = table(bytes, 1 << 30);
            let mut map: HashMap<Vec<u8>, u32> = HashMap::new();
            let mut batch = Batch::new(bytes);
            let mut found = Vec::new();
            for round in 0..400u32 {
                batch.clear();
                found.clear();
                for i in 0..100 {
                    batch.push(&state((round * 61 + i * i) % 20_000, bytes), 0);
                }
                table.offer(&batch, 0..batch.len(), &mut found).unwrap();
                for (i, f) in found.iter().enumerate() {
                    let next = map.len() as u32;
                    let known = map.get(batch.state(i)).copied();
                    assert_eq!(*f, Found { id: known.unwrap_or(next), new: known.is_none() });
                    map.entry(batch.state(i).to_vec()).or_insert(next);
                }
            }
            assert_eq!(table.len(), map.len());
            let mut out = vec![0; bytes];
            for (state, id) in &map {
                table.load(*id, &mut out);
                assert_eq!(&out, state);
            }
        }
    }

    #[test]
    fn a_state_costs_its_length_and_at_most_eight_bytes() {
        let mut table = table(20, 1 << 30);
        let mut batch = Batch::new(20);
        let mut found = Vec::new();
        for round in 0..4000u32 {
            batch.clear();
            found.clear();
            (0..100).for_each(|i| batch.push(&state(round * 100 + i, 20), 0));
            table.offer(&batch, 0..100, &mut found).unwrap();
            if round > 200 {
                let each = table.bytes() as f64 / table.len() as f64;
                assert!(each <= 28.0, "{each} bytes a state at {} states", table.len());
            }
        }
    }

    #[test]
    fn full_is_an_answer() {
        let used = crate::budget::resident().unwrap_or(0);
        let mut table = table(64, used + (8 << 20));
        let mut batch = Batch::new(64);
        let mut found = Vec::new();
        for round in 0.. {
            batch.clear();
            found.clear();
            (0..100).for_each(|i| batch.push(&state(round * 100 + i, 64), 0));
            if table.offer(&batch, 0..100, &mut found).is_err() {
                assert!(found.is_empty() && table.len() < 8 << 20 >> 6);
                return;
            }
            assert!(table.len() < 1 << 20, "the budget was not kept");
        }
    }

    #[test]
    fn threads_agree_on_what_is_new() {
        const STATES: u32 = 60_000;
        let threads = 4;
        let first = table(12, 1 << 30);
        let shared = first.shared().clone();
        // SAFETY: nobody else has the table yet.
        unsafe { shared.make_room(STATES as usize * 2).unwrap() };
        let offer_all = |(me, mut table): (usize, Table)| {
            let mut batch = Batch::new(12);
            let mut found = Vec::new();
            let mut new = 0;
            for start in (0..STATES).step_by(50) {
                batch.clear();
                found.clear();
                // Each thread goes through all states, from another place.
                let from = start + me as u32 * 50;
                (0..50).for_each(|i| batch.push(&state((from + i) % STATES, 12), 0));
                table.offer(&batch, 0..50, &mut found).unwrap();
                new += found.iter().filter(|f| f.new).count();
            }
            (new, table.gap())
        };
        let results: Vec<(usize, Range<u32>)> = std::thread::scope(|scope| {
            let handles: Vec<_> =
                first.share(threads).into_iter().enumerate().map(|t| scope.spawn(move || offer_all(t))).collect();
            handles.into_iter().map(|h| h.join().unwrap()).collect()
        });
        let distinct: std::collections::HashSet<Vec<u8>> = (0..STATES).map(|i| state(i, 12)).collect();
        assert_eq!(results.iter().map(|(new, _)| new).sum::<usize>(), distinct.len());
        let gaps: Vec<Range<u32>> = results.into_iter().map(|(_, gap)| gap).collect();
        // SAFETY: the threads are gone, and these are the gaps they left.
        unsafe { shared.close_gaps(&gaps) };
        assert_eq!(shared.len(), distinct.len());
        for id in 0..shared.len() as u32 {
            assert!(distinct.contains(shared.state(id)));
            let h = shared.hash_of::<0>(id);
            assert_eq!(h, crate::hash::hash(shared.state(id)));
            assert_eq!(shared.inner().index.find(h, |n| n == id).ok(), Some(id));
        }
    }
}
