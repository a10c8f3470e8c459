//! A tree whose user asks for the keys of states and decides later which of them are in the set. For a single owner.

use super::{Inner, KEY, Tree, short_key, unfold};
use crate::store::quotient::{Cells, Lease};
use crate::store::{Full, NO_ORIGIN};
use scrimp_core::Budget;
use scrimp_system::Batch;
use std::io;
use std::sync::Arc;

impl Tree {
    /// Appends the keys of all states of a batch, whether they are in the set or not. They are successors of the state
    /// loaded last, or of none.
    pub(crate) fn keys_of(&mut self, batch: &Batch, successors: bool, keys: &mut Vec<u64>) -> Result<(), Full> {
        self.prepare(batch.len())?;
        let Inner { forest, .. } = self.shared.inner();
        match &mut self.folder {
            Some(folder) => {
                let origins = vec![if successors { 0 } else { NO_ORIGIN }; batch.len()];
                folder.fold::<true>(forest, batch, 0..batch.len(), &origins, keys);
            }
            None => keys.extend((0..batch.len()).map(|i| short_key(batch.state(i)))),
        }
        Ok(())
    }

    /// Adds a state by its key: was it not in the set?
    pub(crate) fn visit(&mut self, key: u64) -> Result<bool, Full> {
        self.prepare(1)?;
        let mut new = false;
        let cell = self.shared.cell(key);
        self.shared.inner().cells.insert::<true>(&mut self.lease, 1, |_| cell, |_| new = true);
        Ok(new)
    }

    pub(crate) fn has_visited(&self, key: u64) -> bool {
        self.shared.inner().cells.contains(self.shared.cell(key))
    }

    /// Appends the state with this key.
    pub(crate) fn load_key(&mut self, key: u64, out: &mut Batch) {
        match &mut self.folder {
            Some(folder) => folder.load(&self.shared.inner().forest, std::iter::once(key), out),
            None => out.push(&key.to_le_bytes()[..self.shared.state_bytes.min(KEY)], 0),
        }
    }

    /// Shows every state of the set with its key, until `show` answers `false`.
    pub(crate) fn each_key(&self, show: &mut dyn FnMut(u64, &[u8]) -> bool) -> bool {
        let Inner { cells, forest } = self.shared.inner();
        let mut state = vec![0; self.shared.state_bytes];
        let mut numbers = Vec::new();
        cells.each(|cell| {
            let key = self.shared.key(cell);
            unfold(self.shared.shape.as_deref(), forest, key, &mut numbers, &mut state);
            show(key, &state)
        })
    }

    fn prepare(&mut self, states: usize) -> Result<(), Full> {
        assert!(self.alone());
        self.secure(states)
    }
}

/// A second set of keys of a tree.
pub(crate) struct Keys {
    cells: Cells,
    lease: Lease,
}

impl Keys {
    pub fn of(tree: &Tree, budget: &Arc<Budget>) -> io::Result<Keys> {
        let cells = Cells::new(tree.shared.inner().cells.bits(), budget)?;
        Ok(Keys { lease: cells.lease(), cells })
    }

    pub fn contains(&self, tree: &Tree, key: u64) -> bool {
        self.cells.contains(tree.shared.cell(key))
    }

    /// Adds a key of the tree: was it not in the set?
    pub fn insert(&mut self, tree: &Tree, key: u64) -> Result<bool, Full> {
        let bits = tree.shared.inner().cells.bits();
        if bits != self.cells.bits() || self.cells.secure(&mut self.lease, 1).is_err() {
            self.cells.make_room(1, bits, 0.5)?;
            self.cells.secure(&mut self.lease, 1)?;
        }
        let mut new = false;
        self.cells.insert::<true>(&mut self.lease, 1, |_| tree.shared.cell(key), |_| new = true);
        Ok(new)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.cells.bytes()
    }
}
