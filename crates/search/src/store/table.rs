//! The plain table: every state in full, exactly.
//!
//! States stand one after the other in discovery order (the arena), so a breadth-first queue is nothing but a range of
//! numbers and reading it is sequential; the [`Index`] finds a state by its hash. A state costs its own length and at most
//! eight bytes of index. Both parts grow in place.
//!
//! A batch is offered in groups, each in three passes so that cache misses overlap: hash all and prefetch the buckets;
//! look at the tags and prefetch the states that seem equal; compare and insert. The first pass of a group comes before
//! the last of the one before it, so that neither waits for memory.
//!
//! Several threads share one table, each through a [`Table`] of its own that holds a block of numbers to give out. Blocks
//! leave gaps; [`Shared::close_gaps`] moves the last states into them, so numbers are dense again whenever a level ends.

use super::index::{Index, prefetch, prefetch_write};
use super::{Abilities, Found, Full, StateId, Store};
use crate::budget::Budget;
use crate::region::{HUGE, Region};
use crate::words::{Shape, by_words, copy_at, hash_at, same_at};
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
/// Full buckets that are followed without waiting for memory.
const FOLLOWED: usize = 4;
/// Numbers a thread takes at once.
const BLOCK: u32 = 256;
/// Bytes of the index at first.
const FIRST_INDEX: usize = 1 << 12;
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
    /// The group in the second and third pass, and the one in its first.
    groups: Box<[Group; 2]>,
}

/// States that go through the three passes together: as many as leave room in the first-level cache for the lines that
/// are being fetched.
const GROUP: usize = 96;

struct Group {
    hashes: [u64; GROUP],
    /// The number of the stored state that is likely the same, plus one; 0 for none.
    guesses: [u32; GROUP],
    /// Which of them overflow into a further bucket.
    late: [u8; GROUP],
}

impl Group {
    fn pair() -> Box<[Group; 2]> {
        Box::new([(); 2].map(|_| Group { hashes: [0; GROUP], guesses: [0; GROUP], late: [0; GROUP] }))
    }
}

impl Table {
    pub fn new(state_bytes: usize, budget: Arc<Budget>) -> io::Result<Table> {
        let reserve = budget.memory().saturating_add(budget.memory() / 16);
        let index = Index::new(reserve, FIRST_INDEX)?;
        let mut arena = Region::reserve(reserve)?;
        arena.commit(state_bytes)?;
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
        Ok(Table { shared: Arc::new(shared), block: 0..u32::MAX, alone: true, groups: Group::pair() })
    }

    /// Turns the table of a single owner into tables for `threads` threads.
    pub(crate) fn share(self, threads: usize) -> Vec<Table> {
        let table = |_| Table { shared: self.shared.clone(), block: 0..0, alone: false, groups: Group::pair() };
        (0..threads).map(table).collect()
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

    /// Takes the states of a batch through the three passes, group by group.
    fn offer_groups<const ALONE: bool, const W: usize>(
        &mut self,
        batch: &Batch,
        which: Range<usize>,
        found: &mut Vec<Found>,
    ) {
        let Table { shared, block, groups, .. } = self;
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
                        shared.offer_one::<ALONE, W>(state, group.hashes[i], block)
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
            self.shared.pending.fetch_sub(batch_need(states), Ordering::Release);
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
    pub(crate) fn len(&self) -> usize {
        self.numbered.load(Ordering::Relaxed) as usize
    }

    /// Length of a state.
    pub(crate) fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    /// Bytes of states and index that were touched.
    pub(crate) fn bytes(&self) -> usize {
        self.len() * self.state_bytes + self.inner().index.bytes()
    }

    #[inline(always)]
    fn address(&self, id: StateId) -> *mut u8 {
        self.inner().arena.base().wrapping_add(id as usize * self.state_bytes)
    }

    /// The bytes of a state whose number this thread has seen.
    #[inline(always)]
    fn state(&self, id: StateId) -> &[u8] {
        assert!((id as usize) < self.len());
        // SAFETY: within the arena; numbers are published after the bytes were written, and those do not change while
        // anyone may look.
        unsafe { std::slice::from_raw_parts(self.address(id), self.state_bytes) }
    }

    /// The first pass over a group.
    #[inline(always)]
    fn hash_all<const W: usize>(&self, states: States, group: &mut Group) {
        for i in 0..states.count {
            // SAFETY: a state of the batch, which has the table's shape.
            let h = unsafe { hash_at::<W>(states.address(i), self.shape) };
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

    /// Finds or stores one state, giving it a number from `block`.
    ///
    /// # Safety
    /// A state of the table's shape is there, and room was made for it. With `ALONE`, no other thread uses the table.
    #[inline(always)]
    unsafe fn offer_one<const ALONE: bool, const W: usize>(
        &self,
        state: *const u8,
        hash: u64,
        block: &mut Range<u32>,
    ) -> Found {
        let index = &self.inner().index;
        loop {
            // SAFETY: as the caller promises; numbers in the index have their states.
            match index.find(hash, |id| unsafe { self.equals::<W>(id, state) }) {
                Ok(id) => return Found { id, new: false },
                Err(free) => {
                    if let Some(claim) = index.claim::<ALONE>(hash, free) {
                        let id = self.number(block);
                        // SAFETY: there is room for the state, and the number is this thread's alone.
                        unsafe { copy_at::<W>(state, self.address(id), self.shape) };
                        claim.publish(id);
                        prefetch_write(self.address(id).wrapping_add(256));
                        return Found { id, new: true };
                    }
                }
            }
        }
    }

    /// The next number of a block, or of a new one when it is used up.
    #[inline(always)]
    fn number(&self, block: &mut Range<u32>) -> u32 {
        if block.start == block.end {
            let start = self.numbered.fetch_add(BLOCK, Ordering::Relaxed);
            *block = start..start + BLOCK;
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
            prefetch(address.wrapping_add(self.state_bytes - 1));
        }
    }

    /// Is the stored state `id` the one at this address?
    ///
    /// # Safety
    /// `id` was published, and a state of the table's shape is at `state`.
    #[inline(always)]
    unsafe fn equals<const W: usize>(&self, id: StateId, state: *const u8) -> bool {
        // SAFETY: as the caller promises.
        unsafe { same_at::<W>(self.address(id), state, self.shape) }
    }

    /// The hash of a stored state.
    fn hash_of<const W: usize>(&self, id: StateId) -> u64 {
        assert!((id as usize) < self.len());
        // SAFETY: the caller's number is below `len`, so it lies within the arena.
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
        let states = inner.arena.committed() / self.state_bytes;
        let slots = (inner.index.slots() as f64 * FULLEST) as usize;
        self.room.store(states.min(slots).min(MOST_STATES), Ordering::Relaxed);
    }

    /// Commits memory for `more` states, rebuilding the index where it is the index that is full.
    ///
    /// # Safety
    /// No other thread may be using the table.
    pub(crate) unsafe fn make_room(&self, more: usize) -> Result<(), Full> {
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
    pub(crate) unsafe fn prepare_room(&self, more: usize) -> Result<bool, Full> {
        let wanted = self.len() + more;
        if wanted > MOST_STATES {
            return Err(Full);
        }
        // SAFETY: as the caller promises.
        let inner = unsafe { &mut *self.inner.get() };
        let arena_bytes = wanted * self.state_bytes;
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
        let idle = inner.arena.committed() - self.len() * self.state_bytes;
        let rest = (self.budget.left_beside(idle) + now + inner.arena.committed()) as f64;
        let at_most = cost(rest / (self.state_bytes as f64 + cost(1.0))) as usize;
        let larger = ((now as f64 * GROWTH) as usize).min(at_most);
        // Whole pages, all of them used: rounding up would waste part of one.
        let whole = larger / Region::page(larger) * Region::page(larger);
        let bytes = if whole >= needed && whole > now { whole } else { Region::rounded(needed.max(now + 1)) };
        if bytes > inner.index.most_bytes() || bytes.saturating_sub(now) > self.budget.left_beside(idle) {
            return Err(Full);
        }
        inner.index.reset(bytes).map_err(|_| Full)?;
        self.budget.take(inner.index.bytes() - now);
        Ok(())
    }

    /// Enters the states `which`, but for those in `gaps`, into an index that does not have them. Threads may do this side by
    /// side for different ranges, unless one of them is `ALONE`.
    pub(crate) fn fill_index<const ALONE: bool>(&self, which: Range<u32>, gaps: &[Range<u32>]) {
        by_words!(self.shape, W => self.enter_all::<ALONE, W>(which, gaps));
    }

    fn enter_all<const ALONE: bool, const W: usize>(&self, which: Range<u32>, gaps: &[Range<u32>]) {
        /// How many states lie between asking for a bucket and using it.
        const AHEAD: usize = 64;
        let index = &self.inner().index;
        let mut waiting = [(0u64, 0u32); AHEAD];
        let mut count = 0;
        for id in which.filter(|id| !gaps.iter().any(|gap| gap.contains(id))) {
            let (h, earlier) = waiting[count % AHEAD];
            if count >= AHEAD {
                index.enter::<ALONE>(h, earlier);
            }
            let h = self.hash_of::<W>(id);
            index.prefetch(h);
            waiting[count % AHEAD] = (h, id);
            count += 1;
        }
        waiting[..count.min(AHEAD)].iter().for_each(|&(h, id)| index.enter::<ALONE>(h, id));
    }

    /// Moves the states with the highest numbers into the gaps, after which numbers are dense.
    ///
    /// # Safety
    /// No other thread may be using the table, and `gaps` are exactly the numbers without a state.
    pub(crate) unsafe fn close_gaps(&self, gaps: &[Range<u32>]) {
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
            assert_eq!(h, crate::words::hash(shared.state(id)));
            assert_eq!(shared.inner().index.find(h, |n| n == id).ok(), Some(id));
        }
    }
}
