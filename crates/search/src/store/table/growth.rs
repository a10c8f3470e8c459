//! Making room: memory for more states, a larger index, and dense numbers after several threads were at work.
//!
//! The arena grows by small steps. The index holds nothing that could not be computed again from the states, so it grows by
//! being cleared and filled anew, larger, in place.

use super::{Inner, MOST_STATES, Shared, batch_need};
use crate::column::Stack;
use crate::region::{HUGE, Region};
use crate::store::index::{Index, SLOTS};
use crate::store::{Full, StateId};
use crate::sync::atomic::Ordering;
use crate::words::{Shape, by_words, hash_at};
use std::ops::Range;

/// The index is enlarged when this share of its slots is taken …
pub(super) const FULLEST: f64 = 0.93;
/// … or this one, where states come and go: what was put into a later bucket stays there when its own gets room again, so
/// that the ways become long when there is little room.
pub(super) const FULLEST_REMOVABLE: f64 = 0.75;
/// … by this factor, which keeps it within eight bytes a state: 64 / 12 / 0.93 * 1.38 = 7.9.
const GROWTH: f64 = 1.38;

impl Shared {
    /// The hash of a stored state.
    pub(super) fn hash_of<const W: usize>(&self, id: StateId) -> u64 {
        assert!((id as usize) < self.len());
        // SAFETY: the caller's number is below `len`, so it lies within the arena.
        unsafe { hash_at::<W>(self.address(id), self.shape()) }
    }

    /// States that fit into what is committed.
    pub(super) fn room(&self) -> usize {
        self.room.load(Ordering::Relaxed)
    }

    /// Would so many states go beyond what is committed?
    #[inline(always)]
    pub(super) fn crowded(&self, states: usize) -> bool {
        states > self.room()
    }

    /// Secures room for `states` new states of one thread, however many others do the same. What it was `promised` stays so, and
    /// when that is enough, nothing is written: each thread sees, in one order of all that happens, how many numbers were taken,
    /// and that all can take what they were promised beyond that.
    pub(super) fn promise(&self, states: usize, promised: &mut usize) -> Result<(), Full> {
        let more = batch_need(states).saturating_sub(*promised);
        if more > 0 {
            self.promised.fetch_add(more, Ordering::SeqCst);
            *promised += more;
        }
        if self.crowded(self.promised.load(Ordering::SeqCst) + self.len()) {
            self.promised.fetch_sub(std::mem::take(promised), Ordering::SeqCst);
            return Err(Full);
        }
        Ok(())
    }

    pub(super) fn measure_room(&self) {
        let inner = self.inner();
        let states = inner.arena.committed() / self.state_bytes();
        let slots = (inner.index.slots() as f64 * self.fullest) as usize;
        self.room.store(states.min(slots).min(MOST_STATES), Ordering::Relaxed);
    }

    /// Commits memory for `more` states beside those there are, rebuilding the index where it is the index that is full.
    /// The numbers in `removed` have no state.
    ///
    /// # Safety
    /// No other thread may be using the table.
    pub(crate) unsafe fn make_room(&self, more: usize, removed: Option<&Stack>) -> Result<(), Full> {
        // SAFETY: as the caller promises.
        unsafe {
            if self.prepare_room(more, removed.map_or(0, Stack::len))? {
                self.refill_index(removed);
            }
        }
        Ok(())
    }

    /// Enters all states but those `removed` into an empty index. No other thread may do the same.
    pub(super) fn refill_index(&self, removed: Option<&Stack>) {
        let mut gaps: Vec<u32> = removed.into_iter().flat_map(Stack::iter).collect();
        gaps.sort_unstable();
        let mut start = 0;
        for gap in gaps {
            self.fill_index::<true>(start..gap, &[]);
            start = gap + 1;
        }
        self.fill_index::<true>(start..self.len() as u32, &[]);
    }

    /// Gives every state another form, of `bytes` bytes, no fewer than it had: `change` writes the new one from the old one.
    /// All numbers stay; the index stands empty, to be filled with all of them. States move from the last to the first, so
    /// that none is overwritten before it has moved.
    ///
    /// # Safety
    /// No other thread may be using the table.
    pub(crate) unsafe fn restride(&self, bytes: usize, change: &mut dyn FnMut(&[u8], &mut [u8])) -> Result<(), Full> {
        // SAFETY: as the caller promises.
        let inner = unsafe { &mut *self.inner.get() };
        let before = inner.state_bytes;
        assert!(bytes >= before);
        let needed = self.len().max(1) * bytes;
        if needed > inner.arena.committed() {
            self.grow_arena(inner, needed)?;
        }
        let mut old = vec![0; before];
        for id in (0..self.len()).rev() {
            let base = inner.arena.base();
            // SAFETY: both lie within the arena. The new place begins no earlier than the old one, and the states whose
            // places it covers have moved already.
            unsafe {
                std::ptr::copy_nonoverlapping(base.add(id * before), old.as_mut_ptr(), before);
                change(&old, std::slice::from_raw_parts_mut(base.add(id * bytes), bytes));
            }
        }
        (inner.state_bytes, inner.shape) = (bytes, Shape::new(bytes));
        // As much as it has already: that cannot fail.
        let _ = inner.index.reset(inner.index.bytes());
        self.measure_room();
        Ok(())
    }

    /// The first half of [`make_room`](Shared::make_room): `true` when the index was enlarged and stands empty, to be filled
    /// with all numbers by [`fill_index`](Shared::fill_index).
    ///
    /// # Safety
    /// No other thread may be using the table.
    pub(crate) unsafe fn prepare_room(&self, more: usize, removed: usize) -> Result<bool, Full> {
        let wanted = self.len() - removed + more + self.promised.load(Ordering::Relaxed);
        if wanted > MOST_STATES {
            return Err(Full);
        }
        // SAFETY: as the caller promises.
        let inner = unsafe { &mut *self.inner.get() };
        let arena_bytes = wanted.max(self.len()) * inner.state_bytes;
        if arena_bytes > inner.arena.committed() {
            self.grow_arena(inner, arena_bytes)?;
        }
        let emptied = wanted as f64 > inner.index.slots() as f64 * self.fullest;
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
        let cost = |states: f64| states / self.fullest * Index::SLOT_BYTES;
        let needed = cost(wanted as f64 + SLOTS as f64) as usize;
        let idle = inner.arena.committed() - self.len() * inner.state_bytes;
        let rest = (self.budget.left_beside(idle) + now + inner.arena.committed()) as f64;
        let at_most = cost(rest / (inner.state_bytes as f64 + cost(1.0))) as usize;
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
        by_words!(self.shape(), W => self.enter_all::<ALONE, W>(which, gaps));
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
            unsafe { std::ptr::copy_nonoverlapping(self.address(last), self.address(id), self.state_bytes()) };
        }
        self.numbered.store(dense, Ordering::Relaxed);
    }
}
