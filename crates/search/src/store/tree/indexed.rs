//! A tree whose states have ids: their keys stand in a table, so that any order and any forgetter can use it.
//!
//! A state that goes leaves its nodes behind, for others may share them. Once as many states have gone as are left, and the nodes
//! need room, those that no key leads to are swept away: the states that are left are folded into a new forest.

use super::fold::{Folder, Forest, need};
use super::nodes::hash;
use super::shape::{Part, Shape};
use super::{KEY, arrange, short_key};
use crate::store::{Found, Full, NO_ORIGIN, StateId, Store, Table};
use scrimp_core::Budget;
use scrimp_system::{Batch, Model};
use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// As many states must have gone before nodes are swept.
const LEAST_GONE: usize = 1 << 10;

pub struct IndexedTree {
    keys: Table,
    /// For states that are longer than a key.
    folded: Option<Folded>,
    /// States that went since nodes were swept, where states may go.
    gone: Option<usize>,
    budget: Arc<Budget>,
}

/// States as keys of a forest.
struct Folded {
    shape: Arc<Shape>,
    forest: Forest,
    folder: Folder,
    origins: Vec<u32>,
    keys: Vec<u64>,
    /// The keys as a table takes them.
    batch: Batch,
    /// For unfolding.
    numbers: RefCell<Vec<u32>>,
}

impl IndexedTree {
    /// A tree for a model, in whose states it looks for bytes that belong together.
    pub fn of_model(model: &dyn Model, budget: &Arc<Budget>) -> io::Result<IndexedTree> {
        let state_bytes = model.state_bytes();
        let folded = (state_bytes > KEY)
            .then(|| Folded::new(Arc::new(Shape::new(state_bytes, arrange::order(model).as_deref())), budget))
            .transpose()?;
        let keys = Table::new(state_bytes.min(KEY), budget.clone())?;
        Ok(IndexedTree { keys, folded, gone: None, budget: budget.clone() })
    }

    /// Lets states be removed. The tree must be empty.
    pub fn removable(mut self) -> io::Result<IndexedTree> {
        (self.keys, self.gone) = (self.keys.removable()?, Some(0));
        Ok(self)
    }

    /// Sweeps away the nodes that no key leads to, if there are likely to be many. They stay where memory is too short for
    /// a second forest.
    fn sweep_nodes(&mut self) {
        let (Some(old), Some(gone)) = (&self.folded, &mut self.gone) else { return };
        if *gone < self.keys.len().max(LEAST_GONE) {
            return;
        }
        *gone = 0;
        let removed = self.keys.removed_set();
        let Ok(mut new) = Folded::new(old.shape.clone(), &self.budget) else { return };
        let mut state = Batch::new(old.shape.state_bytes);
        for id in (0..self.keys.numbers()).filter(|&id| !removed.contains(id)) {
            state.clear();
            old.unfold(short_key(self.keys.shared().state(id as StateId)), state.push_with(0));
            if new.make_room(1).is_err() {
                return;
            }
            new.fold(&state, 0..1);
        }
        let mut id = self.keys.numbers();
        let renewed = self.keys.restride(KEY, &mut |key, out| {
            id -= 1;
            if !removed.contains(id) {
                state.clear();
                old.unfold(short_key(key), state.push_with(0));
                // All nodes are there.
                new.fold(&state, 0..1);
                out.copy_from_slice(&new.keys[0].to_le_bytes());
            }
        });
        debug_assert!(renewed.is_ok(), "keys of the same length need no room");
        self.folded = Some(new);
    }
}

impl Folded {
    fn new(shape: Arc<Shape>, budget: &Arc<Budget>) -> io::Result<Folded> {
        Ok(Folded {
            forest: Forest::new(shape.leaf_bytes, budget)?,
            folder: Folder::new(&shape),
            shape,
            origins: Vec::new(),
            keys: Vec::new(),
            batch: Batch::new(KEY),
            numbers: RefCell::new(Vec::new()),
        })
    }

    fn has_room(&self, states: usize) -> bool {
        let [leaves, pairs] = need(&self.shape, states);
        self.forest.leaves.has_room(leaves, usize::MAX) && self.forest.pairs.has_room(pairs, usize::MAX)
    }

    fn make_room(&mut self, states: usize) -> Result<(), Full> {
        if self.has_room(states) {
            return Ok(());
        }
        let [leaves, pairs] = need(&self.shape, states);
        let Forest { leaves: of_leaves, pairs: of_pairs } = &mut self.forest;
        let share = of_leaves.bytes() as f64 / (of_leaves.bytes() + of_pairs.bytes()) as f64;
        of_leaves.make_room(leaves, share / 2.0)?;
        of_pairs.make_room(pairs, (1.0 - share) / 2.0)
    }

    /// Makes `keys` and `batch` the keys of these states, for which there is room.
    fn fold(&mut self, batch: &Batch, which: Range<usize>) {
        self.origins.resize(which.len(), NO_ORIGIN);
        self.keys.clear();
        self.folder.fold::<true>(&self.forest, batch, which, &self.origins, &mut self.keys);
        self.batch.clear();
        self.keys.iter().for_each(|key| self.batch.push(&key.to_le_bytes(), 0));
    }

    /// The key of a state, if all its nodes are there.
    fn find(&self, state: &[u8]) -> Option<u64> {
        assert!(state.len() == self.shape.state_bytes);
        let mut numbers = self.numbers.borrow_mut();
        numbers.resize(self.shape.positions.len(), 0);
        // Below a pair stand nodes of higher positions.
        for (at, position) in self.shape.positions.iter().enumerate().rev() {
            let (nodes, content) = match position.part {
                Part::Leaf(leaf) => {
                    // SAFETY: a state of the shape's length.
                    let content = unsafe { self.shape.leaves[leaf as usize].read(state.as_ptr()) };
                    (&self.forest.leaves, content)
                }
                Part::Pair(a, b) => {
                    let pair = (numbers[a as usize] as u64) << 32 | numbers[b as usize] as u64;
                    (&self.forest.pairs, [pair, 0])
                }
            };
            numbers[at] = nodes.find(hash(content), content)?;
        }
        Some((numbers[0] as u64) << 32 | numbers[1] as u64)
    }

    fn unfold(&self, key: u64, out: &mut [u8]) {
        Folder::unfold(&self.shape, &self.forest, key, &mut self.numbers.borrow_mut(), out);
    }

    fn bytes(&self) -> usize {
        self.forest.leaves.bytes() + self.forest.pairs.bytes()
    }
}

impl Store for IndexedTree {
    fn offer(&mut self, batch: &Batch, which: Range<usize>, found: &mut Vec<Found>) -> Result<(), Full> {
        if self.folded.as_ref().is_some_and(|folded| !folded.has_room(which.len())) {
            self.sweep_nodes();
        }
        let Some(folded) = &mut self.folded else {
            return self.keys.offer(batch, which, found);
        };
        assert!(batch.state_bytes() == folded.shape.state_bytes && which.end <= batch.len());
        if !folded.has_room(which.len()) {
            // Where nodes are to be swept, there must be room for those that stay.
            if self.gone.is_some() && self.budget.left() < folded.bytes() / 2 {
                return Err(Full);
            }
            folded.make_room(which.len())?;
        }
        folded.fold(batch, which);
        self.keys.offer(&folded.batch, 0..folded.batch.len(), found)
    }

    fn find(&self, batch: &Batch, which: usize) -> Option<StateId> {
        let Some(folded) = &self.folded else {
            return self.keys.find(batch, which);
        };
        let mut key = Batch::new(KEY);
        key.push(&folded.find(batch.state(which))?.to_le_bytes(), 0);
        self.keys.find(&key, 0)
    }

    /// Where keys begin to be looked for is known only once they are folded; then it is time for more than that.
    fn prefetch(&self, _: &Batch, _: Range<usize>) {}

    fn remove(&mut self, id: StateId) {
        self.keys.remove(id);
        self.gone = self.gone.map(|gone| gone + 1);
    }

    fn load(&self, id: StateId, out: &mut [u8]) {
        match &self.folded {
            Some(folded) => folded.unfold(short_key(self.keys.shared().state(id)), out),
            None => self.keys.load(id, out),
        }
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn room(&self) -> usize {
        self.keys.room()
    }

    fn numbers(&self) -> usize {
        self.keys.numbers()
    }

    fn each_number(&self, show: &mut dyn FnMut(StateId)) {
        self.keys.each_number(show);
    }

    fn bytes(&self) -> usize {
        self.keys.bytes() + self.folded.as_ref().map_or(0, Folded::bytes)
    }
}
