//! The tree: a state is a pair of halves, a half is a pair of quarters, and each pair is kept only once.
//!
//! States of a model have much in common, halves of states still more. A state is halved down to leaves of at most eight
//! bytes; every leaf and every pair of nodes gets a number ([`Nodes`]), and a state becomes the pair of the numbers of its two
//! halves, which is its key. Keys are kept in [`Cells`], which need about four bytes for each. After Laarman, van de Pol and
//! Weber, "Parallel recursive state compression for free" (SPIN 2011), and van der Vegt and Laarman, "A parallel compact hash
//! table" (MEMICS 2011).
//!
//! States of at most eight bytes are their own keys.

mod fold;
mod nodes;
mod shape;
#[cfg(test)]
mod tests;

use super::cells::{Cells, KeyBits};
use super::{Full, Set};
use crate::budget::Budget;
use fold::Folder;
use nodes::Nodes;
use scrimp_system::Batch;
use shape::Shape;
use std::cell::UnsafeCell;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Bits of a half of a key at first.
const FIRST_BITS: u32 = 8;
/// Bytes of a key.
const KEY: usize = 8;

/// One thread's way into the tree.
pub struct Tree {
    shared: Arc<Shared>,
    /// For states of more than eight bytes.
    folder: Option<Folder>,
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
    nodes: Nodes,
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

    /// Nodes that so many states may add.
    fn nodes_for(&self, states: usize) -> usize {
        self.shape.as_ref().map_or(0, |shape| Folder::need(shape, states))
    }

    /// Makes room for so many states and nodes.
    ///
    /// # Safety
    /// No other thread may be using the tree.
    unsafe fn make_room(&self, states: usize, nodes: usize) -> Result<(), Full> {
        // SAFETY: as the caller promises.
        let inner = unsafe { &mut *self.inner.get() };
        assert!(inner.cells.is_quiet(), "no other handle may be in use");
        // Each part leaves to the other what that will need.
        let share = inner.cells.bytes() as f64 / (inner.cells.bytes() + inner.nodes.bytes()) as f64;
        let mut bits = inner.cells.bits();
        if self.shape.is_some() {
            inner.nodes.make_room(nodes, 1.0 - share)?;
            let width = usize::BITS - (inner.nodes.len() + nodes - 1).leading_zeros();
            bits = bits.max(KeyBits { left: width, right: width });
        }
        inner.cells.make_room(states, bits, share)
    }
}

/// All numbers of nodes must be below this, so that keys are no wider than the cells are made for.
fn limit(cells: &Cells) -> usize {
    1usize << cells.bits().left
}

impl Tree {
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> io::Result<Tree> {
        let shape = (state_bytes > KEY).then(|| Arc::new(Shape::new(state_bytes)));
        let bits = match shape {
            Some(_) => KeyBits { left: FIRST_BITS, right: FIRST_BITS },
            None => KeyBits::whole(8 * state_bytes.max(1) as u32),
        };
        let inner = Inner { cells: Cells::new(bits, budget)?, nodes: Nodes::new(budget)? };
        Ok(Tree::handle(Arc::new(Shared { state_bytes, shape, inner: UnsafeCell::new(inner) })))
    }

    fn handle(shared: Arc<Shared>) -> Tree {
        Tree { folder: shared.shape.as_ref().map(Folder::new), shared, keys: Vec::new() }
    }

    /// Is this the only handle?
    fn alone(&mut self) -> bool {
        Arc::get_mut(&mut self.shared).is_some()
    }

    fn insert_all<const ALONE: bool>(&mut self, batch: &Batch, origins: &[u32], new: &mut Vec<u32>, out: &mut Vec<u8>) {
        let Inner { cells, nodes } = self.shared.inner();
        let keys = &mut self.keys;
        keys.clear();
        if let Some(folder) = &mut self.folder {
            folder.fold::<ALONE>(nodes, batch, origins, keys);
            cells.insert::<ALONE>(keys, |i| {
                new.push(i as u32);
                out.extend_from_slice(&keys[i].to_le_bytes());
            });
        } else {
            keys.extend((0..batch.len()).map(|i| short_key(batch.state(i))));
            cells.insert::<ALONE>(keys, |i| {
                new.push(i as u32);
                out.extend_from_slice(batch.state(i));
            });
        }
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

    fn load(&mut self, keys: &[u8], sources: &mut Batch) {
        match &mut self.folder {
            Some(folder) => {
                let keys = keys.chunks_exact(KEY).map(short_key);
                folder.load(&self.shared.inner().nodes, keys, sources);
            }
            None => keys.chunks_exact(self.shared.state_bytes).for_each(|state| sources.push(state, 0)),
        }
    }

    fn insert(&mut self, batch: &Batch, origins: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        assert!(batch.state_bytes() == self.shared.state_bytes && origins.len() == batch.len());
        let states = batch.len();
        let needed = self.shared.nodes_for(states);
        if self.alone() {
            let Inner { cells, nodes } = self.shared.inner();
            if !cells.has_room(states) || needed > 0 && !nodes.has_room(needed, limit(cells)) {
                // SAFETY: the only handle is here.
                unsafe { self.shared.make_room(states, needed)? };
            }
            self.insert_all::<true>(batch, origins, new, keys);
            return Ok(());
        }
        let Inner { cells, nodes } = self.shared.inner();
        cells.promise(states)?;
        if needed > 0 && nodes.promise(needed, limit(cells)).is_err() {
            cells.keep(states);
            return Err(Full);
        }
        self.insert_all::<false>(batch, origins, new, keys);
        let Inner { cells, nodes } = self.shared.inner();
        if needed > 0 {
            nodes.keep(needed);
        }
        cells.keep(states);
        Ok(())
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        // Each handle may leave part of a block unused.
        let blocks = Arc::strong_count(&self.shared);
        let nodes = self.shared.nodes_for(more) + (blocks - 1) * Nodes::need(0);
        // SAFETY: no other handle is in use.
        unsafe { self.shared.make_room(more, nodes) }
    }

    fn share(&self) -> Option<Box<dyn Set>> {
        Some(Box::new(Tree::handle(self.shared.clone())))
    }

    fn len(&self) -> u64 {
        self.shared.inner().cells.len() as u64
    }

    fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let Inner { cells, nodes } = self.shared.inner();
        let mut state = vec![0; self.shared.state_bytes];
        let mut numbers = Vec::new();
        cells.each(|key| {
            match &self.shared.shape {
                Some(shape) => Folder::unfold(shape, nodes, key, &mut numbers, &mut state),
                None => state.copy_from_slice(&key.to_le_bytes()[..self.shared.state_bytes]),
            }
            show(&state)
        })
    }

    fn bytes(&self) -> usize {
        let Inner { cells, nodes } = self.shared.inner();
        cells.bytes() + nodes.bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let Inner { cells, nodes } = self.shared.inner();
        let mut to = io::BufWriter::new(to);
        let mut put = |word: u64| to.write_all(&word.to_le_bytes());
        put(nodes.len() as u64)?;
        (0..nodes.len() as u32).try_for_each(|number| put(nodes.content(number)))?;
        put(cells.len() as u64)?;
        let mut result = Ok(());
        cells.each(|key| {
            result = put(key);
            result.is_ok()
        });
        result?;
        to.flush()
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut get = || {
            let mut word = [0; 8];
            from.read_exact(&mut word).map(|()| u64::from_le_bytes(word))
        };
        let full = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        let count = get()? as usize;
        assert!(self.alone() && self.is_empty());
        // SAFETY: the only handle is here.
        unsafe { (*self.shared.inner.get()).nodes.restore(count, &mut get)? };
        let mut left = get()? as usize;
        while left > 0 {
            let some = left.min(4096);
            // SAFETY: as above.
            unsafe { self.shared.make_room(some, 1).map_err(full)? };
            self.keys.clear();
            for _ in 0..some {
                self.keys.push(get()?);
            }
            self.shared.inner().cells.insert::<true>(&self.keys, |_| ());
            left -= some;
        }
        Ok(())
    }
}
