//! The tree: a state is a pair of halves, a half is a pair of quarters, and each pair is kept only once.
//!
//! States of a model have much in common, halves of states still more. A state is halved down to leaves of at most
//! sixteen bytes; every leaf and every pair of nodes gets a number ([`nodes`]), and a state becomes the pair of the numbers of
//! its two halves, which is its key. Keys are kept in [`Cells`], which need about four bytes for each. After Laarman, van de Pol and
//! Weber, "Parallel recursive state compression for free" (SPIN 2011), and van der Vegt and Laarman, "A parallel compact hash
//! table" (MEMICS 2011).
//!
//! States of at most eight bytes are their own keys.

mod arrange;
mod fold;
mod indexed;
mod keyed;
mod nodes;
mod restored;
mod shape;
#[cfg(test)]
mod tests;

pub use indexed::IndexedTree;
pub(crate) use keyed::Keys;

use super::quotient::{Cells, Lease};
use super::{Full, Set};
use crate::checkpoint::impossible;
use crate::open::KeyForm;
use crate::sync::size;
use fold::{Folder, Forest, need};
use nodes::Nodes;
use restored::are_halves;
use scrimp_core::Budget;
use scrimp_system::{Batch, Model};
use shape::Shape;
use std::cell::UnsafeCell;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Bits of a half of a key at first: fewer would take no less memory.
const FIRST_BITS: u32 = size(20, 3) as u32;
/// Bytes of a key.
const KEY: usize = 8;

/// One thread's way into the tree.
pub struct Tree {
    shared: Arc<Shared>,
    /// For states of more than eight bytes.
    folder: Option<Folder>,
    lease: Lease,
    keys: Vec<u64>,
}

/// `inner` changes (grows) only while no other handle is in use: with one handle always, with several when the caller of
/// `make_room` says so.
struct Shared {
    state_bytes: usize,
    shape: Option<Arc<Shape>>,
    inner: UnsafeCell<Inner>,
}

struct Inner {
    cells: Cells,
    forest: Forest,
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

    /// Numbers of leaves and of pairs that so many states may take.
    fn need(&self, states: usize) -> [usize; 2] {
        self.shape.as_ref().map_or([0; 2], |shape| need(shape, states))
    }

    /// A key as the cells have it.
    #[inline(always)]
    fn cell(&self, key: u64) -> u128 {
        if self.shape.is_some() { cell(key) } else { key as u128 }
    }

    /// The key that stands so in the cells.
    fn key(&self, cell: u128) -> u64 {
        if self.shape.is_some() { state_key(cell) } else { cell as u64 }
    }

    /// Are the halves of a state leaves?
    fn halves_are_leaves(&self) -> bool {
        self.shape.as_ref().is_some_and(|shape| shape.leaves.len() == 2)
    }

    /// Most numbers that leaves and pairs may have, so that keys are no wider than the cells are made for.
    fn limits(&self) -> [usize; 2] {
        let limit = 1usize << (self.inner().cells.bits() / 2);
        if self.halves_are_leaves() { [limit, usize::MAX] } else { [usize::MAX, limit] }
    }

    fn has_nodes(&self, states: usize) -> bool {
        let (Inner { forest, .. }, [leaves, pairs], limits) = (self.inner(), self.need(states), self.limits());
        self.shape.is_none() || forest.leaves.has_room(leaves, limits[0]) && forest.pairs.has_room(pairs, limits[1])
    }

    /// Secures nodes for so many states of one thread, however many others do the same; [`keep`](Shared::keep) ends it.
    fn promise(&self, states: usize) -> Result<(), Full> {
        let (Inner { forest, .. }, [leaves, pairs], limits) = (self.inner(), self.need(states), self.limits());
        forest.leaves.promise(leaves, limits[0])?;
        if forest.pairs.promise(pairs, limits[1]).is_err() {
            forest.leaves.keep(leaves);
            return Err(Full);
        }
        Ok(())
    }

    fn keep(&self, states: usize) {
        let Inner { forest, .. } = self.inner();
        let [leaves, pairs] = self.need(states);
        forest.pairs.keep(pairs);
        forest.leaves.keep(leaves);
    }

    /// Makes room for so many states and nodes.
    ///
    /// # Safety
    /// No other thread may be using the tree.
    unsafe fn make_room(&self, states: usize, [leaves, pairs]: [usize; 2]) -> Result<(), Full> {
        // SAFETY: as the caller promises.
        let Inner { cells, forest } = unsafe { &mut *self.inner.get() };
        // Each part leaves to the others what they will need.
        let all = (cells.bytes() + forest.leaves.bytes() + forest.pairs.bytes()) as f64;
        let share = |bytes: usize| bytes as f64 / all;
        let mut bits = cells.bits();
        if self.shape.is_some() {
            forest.leaves.make_room(leaves, share(forest.leaves.bytes()))?;
            forest.pairs.make_room(pairs, share(forest.pairs.bytes()))?;
            let halves =
                if self.halves_are_leaves() { forest.leaves.len() + leaves } else { forest.pairs.len() + pairs };
            let width = |numbers: usize| usize::BITS - (numbers - 1).leading_zeros();
            bits = bits.max(2 * width(halves));
        }
        cells.make_room(states, bits, share(cells.bytes()))
    }
}

/// Lowest bits of each half of a key that stand together in the cells; all others take turns, so that a key keeps its value when
/// halves become wider.
const TOGETHER: u32 = 20;

/// A pair of halves as the cells have it.
#[inline(always)]
fn cell(key: u64) -> u128 {
    const LOW: u64 = (1 << TOGETHER) - 1;
    let (left, right) = (key >> 32, key & u32::MAX as u64);
    let low = (left & LOW) << TOGETHER | right & LOW;
    let (left, right) = (left >> TOGETHER, right >> TOGETHER);
    if left | right == 0 {
        return low as u128;
    }
    ((spread(left) << 1 | spread(right)) as u128) << (2 * TOGETHER) | low as u128
}

/// The pair of halves that stands so in the cells.
fn state_key(cell: u128) -> u64 {
    const LOW: u64 = (1 << TOGETHER) - 1;
    let (low, high) = (cell as u64, (cell >> (2 * TOGETHER)) as u64);
    let left = gather(high >> 1) << TOGETHER | low >> TOGETHER & LOW;
    left << 32 | gather(high) << TOGETHER | low & LOW
}

/// Puts a zero above each of the lowest sixteen bits.
#[inline(always)]
fn spread(x: u64) -> u64 {
    let x = (x | x << 8) & 0x00ff_00ff;
    let x = (x | x << 4) & 0x0f0f_0f0f;
    let x = (x | x << 2) & 0x3333_3333;
    (x | x << 1) & 0x5555_5555
}

/// Every other bit.
fn gather(x: u64) -> u64 {
    let x = x & 0x5555_5555;
    let x = (x | x >> 1) & 0x3333_3333;
    let x = (x | x >> 2) & 0x0f0f_0f0f;
    let x = (x | x >> 4) & 0x00ff_00ff;
    (x | x >> 8) & 0xffff
}

impl Tree {
    /// A tree for states of so many bytes.
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> io::Result<Tree> {
        Tree::ordered(state_bytes, None, budget)
    }

    /// A tree for a model, in whose states it looks for bytes that belong together. It finds the same every time.
    pub fn of_model(model: &dyn Model, budget: &Arc<Budget>) -> io::Result<Tree> {
        Tree::ordered(model.state_bytes(), arrange::order(model).as_deref(), budget)
    }

    fn ordered(state_bytes: usize, order: Option<&[usize]>, budget: &Arc<Budget>) -> io::Result<Tree> {
        let shape = (state_bytes > KEY).then(|| Arc::new(Shape::new(state_bytes, order)));
        let bits = match shape {
            Some(_) => 2 * FIRST_BITS,
            None => 8 * state_bytes as u32,
        };
        let leaf_bytes = shape.as_ref().map_or(KEY, |shape| shape.leaf_bytes);
        let inner = Inner { cells: Cells::new(bits, budget)?, forest: Forest::new(leaf_bytes, budget)? };
        Ok(Tree::handle(Arc::new(Shared { state_bytes, shape, inner: UnsafeCell::new(inner) })))
    }

    fn handle(shared: Arc<Shared>) -> Tree {
        let (folder, lease) = (shared.shape.as_ref().map(Folder::new), shared.inner().cells.lease());
        Tree { folder, lease, shared, keys: Vec::new() }
    }

    /// Secures room for so many states. For the only handle.
    fn secure(&mut self, states: usize) -> Result<(), Full> {
        let secured = self.shared.inner().cells.secure(&mut self.lease, states);
        if secured.is_err() || !self.shared.has_nodes(states) {
            // SAFETY: the only handle is here.
            unsafe { self.shared.make_room(states, self.shared.need(states))? };
            self.shared.inner().cells.secure(&mut self.lease, states)?;
        }
        Ok(())
    }

    /// Is this the only handle?
    fn alone(&mut self) -> bool {
        Arc::get_mut(&mut self.shared).is_some()
    }

    fn insert_all<const ALONE: bool>(&mut self, batch: &Batch, origins: &[u32], new: &mut Vec<u32>, out: &mut Vec<u8>) {
        let Inner { cells, forest } = self.shared.inner();
        let keys = &mut self.keys;
        keys.clear();
        if let Some(folder) = &mut self.folder {
            folder.fold::<ALONE>(forest, batch, 0..batch.len(), origins, keys);
            cells.insert::<ALONE>(
                &mut self.lease,
                keys.len(),
                |i| cell(keys[i]),
                |i| {
                    new.push(i as u32);
                    out.extend_from_slice(&keys[i].to_le_bytes());
                },
            );
        } else {
            keys.extend((0..batch.len()).map(|i| short_key(batch.state(i))));
            cells.insert::<ALONE>(
                &mut self.lease,
                keys.len(),
                |i| keys[i] as u128,
                |i| {
                    new.push(i as u32);
                    out.extend_from_slice(batch.state(i));
                },
            );
        }
    }
}

/// Makes `state` the one with this key. `numbers` is a buffer.
fn unfold(shape: Option<&Shape>, forest: &Forest, key: u64, numbers: &mut Vec<u32>, state: &mut [u8]) {
    match shape {
        Some(shape) => Folder::unfold(shape, forest, key, numbers, state),
        None => state.copy_from_slice(&key.to_le_bytes()[..state.len()]),
    }
}

/// The key of a state of at most eight bytes.
#[inline(always)]
fn short_key(state: &[u8]) -> u64 {
    state.iter().rev().fold(0, |key, &byte| key << 8 | byte as u64)
}

impl Set for Tree {
    fn key_bytes(&self) -> usize {
        self.shared.state_bytes.min(KEY)
    }

    fn key_form(&self) -> KeyForm {
        if self.folder.is_some() { KeyForm::Number } else { KeyForm::State }
    }

    fn load(&mut self, keys: &[u8], sources: &mut Batch) {
        match &mut self.folder {
            Some(folder) => {
                let keys = keys.chunks_exact(KEY).map(short_key);
                folder.load(&self.shared.inner().forest, keys, sources);
            }
            None => keys.chunks_exact(self.shared.state_bytes).for_each(|state| sources.push(state, 0)),
        }
    }

    fn insert(&mut self, batch: &Batch, origins: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        assert!(batch.state_bytes() == self.shared.state_bytes && origins.len() == batch.len());
        let states = batch.len();
        if self.alone() {
            self.secure(states)?;
            self.insert_all::<true>(batch, origins, new, keys);
            return Ok(());
        }
        self.shared.inner().cells.secure(&mut self.lease, states)?;
        self.shared.promise(states)?;
        self.insert_all::<false>(batch, origins, new, keys);
        self.shared.keep(states);
        Ok(())
    }

    fn expect(&mut self, more: Option<u64>) {
        // SAFETY: no other handle is in use.
        unsafe { (*self.shared.inner.get()).cells.expect(more) }
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        // Each handle may leave part of a block unused.
        let blocks = Arc::strong_count(&self.shared) - 1;
        let nodes = self.shared.need(more).map(|nodes| nodes + blocks * Nodes::need(0));
        // SAFETY: no other handle is in use.
        unsafe { self.shared.make_room(more, nodes) }
    }

    fn is_key(&self, key: &[u8]) -> bool {
        key.len() == self.key_bytes() && self.shared.inner().cells.contains(self.shared.cell(short_key(key)))
    }

    fn share(&self) -> Option<Box<dyn Set>> {
        Some(Box::new(Tree::handle(self.shared.clone())))
    }

    fn len(&self) -> u64 {
        self.shared.inner().cells.len() as u64
    }

    fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.each_key(&mut |_, state| show(state))
    }

    fn drain(&mut self, _: bool, show: &mut dyn FnMut(&[u8]) -> bool) -> Option<bool> {
        assert!(self.alone());
        // SAFETY: the only handle is here.
        let Inner { cells, forest } = unsafe { &mut *self.shared.inner.get() };
        let (shape, mut numbers) = (&self.shared.shape, Vec::new());
        let mut state = vec![0; self.shared.state_bytes];
        let drained = cells.drain(|cell| {
            unfold(shape.as_deref(), forest, self.shared.key(cell), &mut numbers, &mut state);
            show(&state)
        });
        drained.ok()
    }

    fn bytes(&self) -> usize {
        let Inner { cells, forest } = self.shared.inner();
        cells.bytes() + forest.leaves.bytes() + forest.pairs.bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let Inner { cells, forest } = self.shared.inner();
        let mut to = io::BufWriter::with_capacity(1 << 16, to);
        forest.leaves.save(&mut to)?;
        forest.pairs.save(&mut to)?;
        to.write_all(&(cells.len() as u64).to_le_bytes())?;
        let mut result = Ok(());
        cells.each(|cell| {
            result = to.write_all(&self.shared.key(cell).to_le_bytes());
            result.is_ok()
        });
        result?;
        to.flush()
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        assert!(self.alone() && self.is_empty());
        // SAFETY: the only handle is here.
        let forest = unsafe { &mut (*self.shared.inner.get()).forest };
        forest.leaves.restore(from)?;
        forest.pairs.restore(from)?;
        let halves = self.shared.shape.as_ref().map(|shape| forest.halves(shape.levels.len())).transpose()?;
        let mut word = [0; 8];
        from.read_exact(&mut word)?;
        let mut left = u64::from_le_bytes(word);
        // At once where that can be: cells that grow little by little are filled again every time.
        // SAFETY: as above.
        let at_once = unsafe { self.shared.make_room(left.min(1 << 32) as usize, [1, 1]).is_ok() };
        let mut bytes = vec![0; 8 << 12];
        while left > 0 {
            let some = left.min(1 << 12) as usize;
            from.read_exact(&mut bytes[..8 * some])?;
            self.keys.clear();
            self.keys.extend(bytes[..8 * some].chunks_exact(KEY).map(short_key));
            let most = u64::MAX >> (64 - 8 * self.shared.state_bytes.min(KEY));
            let sound = |&key: &u64| match &halves {
                Some(halves) => are_halves(halves, key),
                None => key <= most,
            };
            if !self.keys.iter().all(sound) {
                return Err(impossible("a key of no state"));
            }
            if !at_once || self.shared.inner().cells.secure(&mut self.lease, some).is_err() {
                // SAFETY: as above.
                unsafe { self.shared.make_room(some, [1, 1]).map_err(|_| io::ErrorKind::OutOfMemory)? };
            }
            let Tree { shared, lease, keys, .. } = self;
            shared.inner().cells.secure(lease, some).map_err(|_| io::ErrorKind::OutOfMemory)?;
            shared.inner().cells.insert::<true>(lease, some, |i| shared.cell(keys[i]), |_| ());
            left -= some as u64;
        }
        Ok(())
    }
}
