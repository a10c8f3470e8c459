//! ComBack: exact hash compaction. Of a state there are a short hash and a backedge, by which it can be replayed.
//!
//! After Westergaard, Kristensen, Brodal and Arge (2007). The [state table](index) maps 32 bits of a state's hash to
//! numbers; the [backedge table](backedges) has for each number a predecessor and which of its successors the state is. Where an offered
//! state has the hash of a stored one, they are compared: equal hashes prove nothing, and here nothing is taken for granted.
//! The stored state is among those [known lately](super::recent), or [in full](vectors), or it is [replayed](replay) from
//! the nearest ancestor that is.
//!
//! Questions wait until the batch has been looked up, and are answered in the order of the numbers. In breadth-first order
//! that is also the order of the predecessors, and of theirs, so what is decoded or replayed for one question serves the
//! next.
//!
//! Memory: the table and the backedges take about eight bytes a state, however long it is. States in full get what is left
//! of [`BYTES_PER_STATE`].

mod backedges;
mod delta;
mod index;
mod lookup;
mod replay;
mod save;
#[cfg(test)]
mod tests;
mod vectors;

use super::recent::Recent;
use super::{Found, Full, Origin, StateId, Store};
use crate::plan::BackedgeChoice;
use crate::region::Region;
use crate::words::{Shape, by_words, hash_at, same_at};
use backedges::Backedges;
use index::{Index, SLOTS};
use replay::Replay;
use scrimp_core::Budget;
use scrimp_system::{Batch, Model};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;
use vectors::Vectors;

/// What a state may take, with all that is kept of it.
const BYTES_PER_STATE: f64 = 12.0;
/// What states known lately may take of that, and the most and the fewest of them.
const RECENT_BYTES: f64 = 1.2;
const MOST_RECENT: usize = 1 << 16;
const FEWEST_RECENT: usize = 1 << 8;
/// States in full may always take so much.
const FEW_VECTORS: usize = 1 << 16;
/// Bytes of the index at first.
const FIRST_INDEX: usize = 1 << 12;
/// The index is enlarged when this share of its slots is taken, by this factor.
const FULLEST: f64 = 0.9;
const GROWTH: f64 = 1.2;
const MOST_STATES: usize = u32::MAX as usize - 1;
/// What there is room for is looked at again after so many states.
const STEP: usize = 1 << 12;

/// The tables: all that is needed to know a state again.
struct Tables<'a> {
    model: &'a dyn Model,
    state_bytes: usize,
    shape: Shape,
    /// The bits of a hash that count: all 32, but for tests.
    mask: u32,
    /// Without places, a state is the first successor of its predecessor with its hash …
    with_places: bool,
    /// … but for these, which are at these places.
    exceptions: BTreeMap<StateId, u32>,
    index: Index,
    backedges: Backedges,
    vectors: Vectors,
    /// States that have no predecessor.
    roots: Batch,
    len: u32,
    /// They come from a file, which may be forged.
    restored: bool,
}

impl Tables<'_> {
    #[inline(always)]
    fn same(&self, a: &[u8], b: &[u8]) -> bool {
        assert!(a.len() == self.state_bytes && b.len() == self.state_bytes);
        // SAFETY: both are states of this shape.
        by_words!(self.shape, W => unsafe { same_at::<W>(a.as_ptr(), b.as_ptr(), self.shape) })
    }

    /// What is kept of a state's hash.
    #[inline(always)]
    fn piece(&self, state: &[u8]) -> u32 {
        debug_assert!(state.len() == self.state_bytes);
        // SAFETY: the state is there, and it has the shape of all.
        let hash = by_words!(self.shape, W => unsafe { hash_at::<W>(state.as_ptr(), self.shape) });
        (hash >> 32) as u32 & self.mask
    }
}

pub struct ComBack<'a> {
    tables: Tables<'a>,
    replay: RefCell<Replay>,
    /// States known lately, where the user says how many.
    cache: Option<usize>,
    /// Bytes that states in full may take, as long as there are fewer states than this.
    allowed: usize,
    settled: usize,
    lookup: lookup::Buffers,
    budget: Arc<Budget>,
}

impl<'a> ComBack<'a> {
    /// An empty store with a cache of so many full states, or as many as seems right.
    pub fn new(
        model: &'a dyn Model,
        backedges: BackedgeChoice,
        cache: Option<usize>,
        budget: &Arc<Budget>,
    ) -> io::Result<ComBack<'a>> {
        let state_bytes = model.state_bytes();
        let index = Index::new(budget.memory().saturating_add(budget.memory() / 16), FIRST_INDEX)?;
        budget.take(index.held());
        let recent = cache.map_or(FEWEST_RECENT, |count| 1 << count.clamp(1, 1 << 31).ilog2());
        if recent.saturating_mul(state_bytes) > budget.left() {
            return Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                format!("there is not enough memory for a cache of {recent} states"),
            ));
        }
        let recent = Recent::new(state_bytes, recent);
        budget.take(recent.bytes());
        let tables = Tables {
            model,
            state_bytes,
            shape: Shape::new(state_bytes),
            mask: u32::MAX,
            with_places: backedges == BackedgeChoice::Events,
            exceptions: BTreeMap::new(),
            index,
            backedges: Backedges::new(budget)?,
            vectors: Vectors::new(state_bytes, budget)?,
            roots: Batch::new(state_bytes),
            len: 0,
            restored: false,
        };
        Ok(ComBack {
            tables,
            replay: RefCell::new(Replay::new(recent)),
            cache,
            allowed: FEW_VECTORS,
            settled: 0,
            lookup: lookup::Buffers::default(),
            budget: budget.clone(),
        })
    }

    /// Makes hashes so short that many states share them.
    #[cfg(test)]
    fn with_hash_bits(mut self, bits: u32) -> ComBack<'a> {
        self.tables.mask = u32::MAX << (32 - bits);
        self
    }

    /// Keeps in full what was not [stripped](Store::strip), for a search that says what it will not expand any more.
    pub fn sweeping(mut self) -> io::Result<ComBack<'a>> {
        self.tables.vectors = self.tables.vectors.sweeping(&self.budget)?;
        Ok(self)
    }

    /// Secures memory for so many new states.
    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        let wanted = self.tables.len as usize + more;
        if wanted > MOST_STATES {
            return Err(Full);
        }
        self.tables.backedges.ensure(more)?;
        self.tables.vectors.ensure(more)?;
        if wanted > self.index_room() {
            self.grow_index(wanted)?;
        }
        if wanted > self.settled {
            self.settle(wanted);
        }
        Ok(())
    }

    fn index_room(&self) -> usize {
        (self.tables.index.slots() as f64 * FULLEST) as usize
    }

    #[cold]
    fn grow_index(&mut self, wanted: usize) -> Result<(), Full> {
        let index = &mut self.tables.index;
        let now = index.held();
        let needed = ((wanted + SLOTS) as f64 / FULLEST * Index::SLOT_BYTES) as usize;
        let fits = |&bytes: &usize| {
            bytes >= needed && bytes <= index.most_bytes() && self.budget.may_take(bytes.saturating_sub(now))
        };
        // While it is small it may as well grow faster.
        let factor = if now < 1 << 16 { 1.5 } else { GROWTH };
        let larger = ((now as f64 * factor) as usize).max(now + 1);
        let bytes = [larger.max(needed), needed].map(Region::rounded).into_iter().find(fits).ok_or(Full)?;
        index.grow(bytes).map_err(|_| Full)?;
        self.budget.take(index.held() - now);
        Ok(())
    }

    /// Shares out the memory of so many states among what speeds things up.
    #[cold]
    fn settle(&mut self, wanted: usize) {
        self.settled = wanted + STEP;
        let replay = self.replay.get_mut();
        if self.cache.is_none() {
            let recent = &replay.recent;
            let (more, each) = (2 * recent.count(), self.tables.state_bytes + size_of::<StateId>());
            let worth = (more * each) as f64 <= wanted as f64 * RECENT_BYTES;
            if worth && more <= MOST_RECENT && self.budget.may_take(more * each) {
                self.budget.give_back(recent.bytes());
                replay.recent = Recent::new(self.tables.state_bytes, more);
                self.budget.take(replay.recent.bytes());
            }
        }
        // When memory is scarce, it is for states to come.
        if self.budget.left() > self.budget.memory() / 8 {
            let tables = &self.tables;
            // The index counts as what it will be when it has grown.
            let index = (wanted as f64 / FULLEST * Index::SLOT_BYTES * GROWTH) as usize;
            let rest = index + tables.backedges.bytes() + tables.vectors.beside();
            let rest = if self.cache.is_none() { rest + replay.recent.bytes() } else { rest };
            let left = (wanted as f64 * BYTES_PER_STATE) as usize;
            self.allowed = left.saturating_sub(rest).max(FEW_VECTORS);
        }
    }
}

impl Store for ComBack<'_> {
    fn offer(&mut self, batch: &Batch, which: Range<usize>, found: &mut Vec<Found>) -> Result<(), Full> {
        self.offer_all(batch, which, None, found)
    }

    fn offer_from(
        &mut self,
        batch: &Batch,
        which: Range<usize>,
        origins: &[Origin],
        found: &mut Vec<Found>,
    ) -> Result<(), Full> {
        self.offer_all(batch, which, Some(origins), found)
    }

    fn wants_origins(&self) -> bool {
        true
    }

    fn sources_at_once(&self) -> Option<usize> {
        Some(((1 << 18) / self.tables.state_bytes).clamp(128, 1 << 12))
    }

    fn find(&self, batch: &Batch, which: usize) -> Option<StateId> {
        let state = batch.state(which);
        let piece = self.tables.piece(state);
        self.find_exactly(state, piece, &mut self.replay.borrow_mut())
    }

    fn prefetch(&self, batch: &Batch, which: Range<usize>) {
        which.for_each(|i| self.tables.index.prefetch(self.tables.piece(batch.state(i))));
    }

    fn remove(&mut self, _: StateId) {
        unreachable!("a state of this store may be the only way to others, and nobody asks for it to go");
    }

    fn load(&self, id: StateId, out: &mut [u8]) {
        let mut replay = self.replay.borrow_mut();
        replay.load(id, &self.tables, out);
    }

    fn strip(&mut self, id: StateId, _: StateId) {
        self.tables.vectors.pass(id);
    }

    fn is_whole(&self, id: StateId) -> bool {
        self.tables.vectors.has(id)
    }

    fn whole(&self) -> usize {
        self.tables.vectors.whole()
    }

    fn ancestors(&self, id: StateId) -> Option<Vec<StateId>> {
        let before = |&id: &StateId| Some(self.tables.backedges.get(id).predecessor).filter(|&before| before != id);
        Some(std::iter::successors(before(&id), before).collect())
    }

    fn replays(&self) -> u64 {
        self.replay.borrow().events
    }

    fn len(&self) -> usize {
        self.tables.len as usize
    }

    fn room(&self) -> usize {
        self.index_room()
    }

    fn numbers(&self) -> usize {
        self.tables.len as usize
    }

    fn bytes(&self) -> usize {
        let Tables { index, backedges, vectors, roots, .. } = &self.tables;
        let tables = index.bytes() + backedges.bytes() + vectors.bytes() + roots.bytes();
        tables + self.replay.borrow().bytes()
    }

    fn is_damaged(&self) -> bool {
        self.replay.borrow().damaged
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.save_to(to)
    }

    fn refill(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.restore_from(from)
    }
}
