//! What a search for cycles keeps of the states: which it has visited, which are on its path, which are red, and which are
//! explored in full where others are not.
//!
//! Stores with numbers have a byte beside each state. A tree has keys instead: its set holds what was visited, a second one
//! what is red, and what is on the path is kept as long as it is.

use super::path_set::PathSet;
use crate::column::Column;
use crate::store::{Full, Keys, Origin, StateId, Store, Tree};
use scrimp_core::Budget;
use scrimp_system::Batch;
use std::io;
use std::sync::Arc;

/// What stands for a state: its number, or the key of a tree.
pub(super) type Key = u64;

pub(super) const VISITED: u8 = 1;
const ON_PATH: u8 = 2;
pub(super) const RED: u8 = 4;
pub(super) const FULL: u8 = 8;

/// The way to states, to expand them.
pub(super) trait Access {
    /// Appends what stands for each state of a batch: successors of `source`, which was loaded last, or initial states.
    fn keys(&mut self, batch: &Batch, source: Option<Key>, keys: &mut Vec<Key>) -> Result<(), Full>;

    /// Appends the state.
    fn load(&mut self, key: Key, out: &mut Batch);

    /// Are all events of the state explored, where some could be left out?
    fn is_full(&self, key: Key) -> bool;
    fn make_full(&mut self, key: Key) -> Result<(), Full>;
}

pub(super) trait States: Access {
    /// Marks a state as visited: was it not?
    fn visit(&mut self, key: Key) -> Result<bool, Full>;

    fn is_on_path(&self, key: Key) -> bool;
    fn enter_path(&mut self, key: Key) -> Result<(), Full>;
    fn leave_path(&mut self, key: Key);

    /// Makes a state red: was it not?
    fn redden(&mut self, key: Key) -> Result<bool, Full>;

    /// Number of states visited.
    fn len(&self) -> u64;

    /// Bytes held.
    fn bytes(&self) -> usize;
}

/// States that can be saved.
pub(super) trait Known: States {
    fn is_visited(&self, key: Key) -> bool;

    /// Shows every state of which something is known: whether it was visited, is red, is explored in full.
    fn each(&mut self, show: &mut dyn FnMut(&[u8], u8) -> io::Result<()>) -> io::Result<()>;
}

/// States in a store with numbers.
pub(super) struct Numbered<'m> {
    pub store: Box<dyn Store + 'm>,
    state_bytes: usize,
    flags: Column<u8>,
    visited: u64,
    origins: Vec<Origin>,
    found: Vec<crate::store::Found>,
}

impl<'m> Numbered<'m> {
    pub fn new(store: Box<dyn Store + 'm>, state_bytes: usize, budget: &Arc<Budget>) -> io::Result<Numbered<'m>> {
        Ok(Numbered {
            store,
            state_bytes,
            flags: Column::new(budget)?,
            visited: 0,
            origins: Vec::new(),
            found: Vec::new(),
        })
    }

    fn has(&self, key: Key, flag: u8) -> bool {
        self.flags[key as StateId] & flag != 0
    }

    fn set(&mut self, key: Key, flag: u8) -> bool {
        let flags = &mut self.flags[key as StateId];
        let new = *flags & flag == 0;
        *flags |= flag;
        new
    }
}

impl Access for Numbered<'_> {
    fn keys(&mut self, batch: &Batch, source: Option<Key>, keys: &mut Vec<Key>) -> Result<(), Full> {
        let Numbered { store, origins, found, flags, .. } = self;
        found.clear();
        match source {
            Some(source) if store.wants_origins() => {
                origins.clear();
                let origin = |place| Origin { source: source as StateId, place };
                origins.extend((0..batch.len() as u32).map(origin));
                store.offer_from(batch, 0..batch.len(), origins, found)?;
            }
            _ => store.offer(batch, 0..batch.len(), found)?,
        }
        flags.ensure(store.numbers())?;
        keys.extend(found.iter().map(|found| found.id as Key));
        Ok(())
    }

    fn load(&mut self, key: Key, out: &mut Batch) {
        self.store.load(key as StateId, out.push_with(0));
    }

    fn is_full(&self, key: Key) -> bool {
        self.has(key, FULL)
    }

    fn make_full(&mut self, key: Key) -> Result<(), Full> {
        self.set(key, FULL);
        Ok(())
    }
}

impl States for Numbered<'_> {
    fn visit(&mut self, key: Key) -> Result<bool, Full> {
        let new = self.set(key, VISITED);
        self.visited += new as u64;
        Ok(new)
    }

    fn is_on_path(&self, key: Key) -> bool {
        self.has(key, ON_PATH)
    }

    fn enter_path(&mut self, key: Key) -> Result<(), Full> {
        self.set(key, ON_PATH);
        Ok(())
    }

    fn leave_path(&mut self, key: Key) {
        self.flags[key as StateId] &= !ON_PATH;
    }

    fn redden(&mut self, key: Key) -> Result<bool, Full> {
        Ok(self.set(key, RED))
    }

    fn len(&self) -> u64 {
        self.visited
    }

    fn bytes(&self) -> usize {
        self.store.bytes() + self.flags.bytes()
    }
}

impl Known for Numbered<'_> {
    fn is_visited(&self, key: Key) -> bool {
        self.has(key, VISITED)
    }

    fn each(&mut self, show: &mut dyn FnMut(&[u8], u8) -> io::Result<()>) -> io::Result<()> {
        let (mut state, mut result) = (vec![0; self.state_bytes], Ok(()));
        self.store.each_number(&mut |id| {
            let flags = self.flags[id] & !ON_PATH;
            if flags != 0 && result.is_ok() {
                self.store.load(id, &mut state);
                result = show(&state, flags);
            }
        });
        result
    }
}

/// States in a tree.
pub(super) struct Keyed {
    tree: Tree,
    red: Keys,
    full: Keys,
    path: PathSet,
    visited: u64,
}

impl Keyed {
    pub fn new(tree: Tree, budget: &Arc<Budget>) -> io::Result<Keyed> {
        let (red, full) = (Keys::of(&tree, budget)?, Keys::of(&tree, budget)?);
        Ok(Keyed { tree, red, full, path: PathSet::new(budget)?, visited: 0 })
    }
}

impl Access for Keyed {
    fn keys(&mut self, batch: &Batch, source: Option<Key>, keys: &mut Vec<Key>) -> Result<(), Full> {
        self.tree.keys_of(batch, source.is_some(), keys)
    }

    fn load(&mut self, key: Key, out: &mut Batch) {
        self.tree.load_key(key, out);
    }

    fn is_full(&self, key: Key) -> bool {
        self.full.contains(&self.tree, key)
    }

    fn make_full(&mut self, key: Key) -> Result<(), Full> {
        self.full.insert(&self.tree, key).map(drop)
    }
}

impl States for Keyed {
    fn visit(&mut self, key: Key) -> Result<bool, Full> {
        let new = self.tree.visit(key)?;
        self.visited += new as u64;
        Ok(new)
    }

    fn is_on_path(&self, key: Key) -> bool {
        self.path.contains(key)
    }

    fn enter_path(&mut self, key: Key) -> Result<(), Full> {
        self.path.insert(key)
    }

    fn leave_path(&mut self, key: Key) {
        self.path.remove(key);
    }

    fn redden(&mut self, key: Key) -> Result<bool, Full> {
        self.red.insert(&self.tree, key)
    }

    fn len(&self) -> u64 {
        self.visited
    }

    fn bytes(&self) -> usize {
        use crate::store::Set;
        self.tree.bytes() + self.red.bytes() + self.full.bytes() + self.path.bytes()
    }
}

impl Known for Keyed {
    fn is_visited(&self, key: Key) -> bool {
        self.tree.has_visited(key)
    }

    fn each(&mut self, show: &mut dyn FnMut(&[u8], u8) -> io::Result<()>) -> io::Result<()> {
        let Keyed { tree, red, full, .. } = self;
        let mut result = Ok(());
        tree.each_key(&mut |key, state| {
            let flag = |set: &Keys, flag| if set.contains(tree, key) { flag } else { 0 };
            result = show(state, VISITED | flag(red, RED) | flag(full, FULL));
            result.is_ok()
        });
        result
    }
}
