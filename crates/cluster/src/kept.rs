//! The states that are owned here: in a packed table and, once memory is used up or they do not suit it, in a tree.

use scrimp_core::Budget;
use scrimp_search::store::{Full, NO_ORIGIN, PackedTable, Set, Tree};
use scrimp_system::{Batch, Model};
use std::sync::Arc;

/// States that move at a time.
const AT_ONCE: usize = 256;
/// To move on takes a little memory to begin with, which is kept back until then: such a part of all memory, and not more than that of what
/// is left at first.
const FOR_TREE: (usize, usize) = (16, 4);

pub struct Kept {
    /// Nothing, where there is no memory for any.
    set: Option<Box<dyn Set>>,
    in_tree: bool,
    /// States that were new here.
    count: u64,
    origins: Vec<u32>,
    new: Vec<u32>,
    keys: Vec<u8>,
}

impl Kept {
    pub fn none() -> Kept {
        Kept { set: None, in_tree: false, count: 0, origins: Vec::new(), new: Vec::new(), keys: Vec::new() }
    }

    pub fn new(model: &dyn Model, budget: &Arc<Budget>) -> Kept {
        let mut initial = Batch::new(model.state_bytes());
        model.initial(&mut initial);
        let mut kept = Kept::none();
        if let Ok(mut table) = PackedTable::new(model.state_bytes(), budget)
            && table.foresee(&initial)
        {
            kept.set = Some(Box::new(table));
            budget.hold((budget.memory() / FOR_TREE.0).min(budget.left() / FOR_TREE.1));
        } else if let Ok(tree) = Tree::of_model(model, budget) {
            kept.set = Some(Box::new(tree));
            kept.in_tree = true;
        }
        kept
    }

    /// Becomes one more thread's way to the states that another one has, and goes on counting those that it adds. From then on, room is
    /// [made](Kept::make_room) while nobody adds any.
    pub fn join(&mut self, other: &Kept) {
        (self.set, self.in_tree) = (other.set.as_ref().and_then(|set| set.share()), other.in_tree);
    }

    /// Is no way to any states any more.
    pub fn leave(&mut self) {
        self.set = None;
    }

    /// Makes room for so many more states of all threads. Nobody may be adding any.
    pub fn make_room(&mut self, more: usize) -> Result<(), Full> {
        self.set.as_mut().ok_or(Full)?.make_room(more)
    }

    /// Can no room be made, because states have become larger than they suit the table?
    pub fn is_unsuited(&self) -> bool {
        self.set.as_ref().is_some_and(|set| set.unsuited().is_some())
    }

    /// Adds states; answers the places of those that are new.
    pub fn insert(&mut self, batch: &Batch) -> Result<&[u32], Full> {
        let Kept { set, origins, new, keys, count, .. } = self;
        origins.resize(batch.len(), NO_ORIGIN);
        new.clear();
        keys.clear();
        set.as_mut().ok_or(Full)?.insert(batch, origins, new, keys)?;
        *count += new.len() as u64;
        Ok(new)
    }

    /// Moves all states to a tree. Fails where that has no memory either, or all are in one already; what is kept then is of no more use.
    pub fn move_to_tree(&mut self, model: &dyn Model, budget: &Arc<Budget>) -> Result<(), Full> {
        if self.in_tree {
            return Err(Full);
        }
        budget.hold(0);
        let mut tree = Tree::of_model(model, budget).map_err(|_| Full)?;
        let (mut some, mut fits) = (Batch::new(model.state_bytes()), true);
        let (mut new, mut keys) = (Vec::new(), Vec::new());
        let mut add = |some: &mut Batch| {
            new.clear();
            keys.clear();
            let added = tree.insert(some, &vec![NO_ORIGIN; some.len()], &mut new, &mut keys).is_ok();
            some.clear();
            added
        };
        let mut show = |state: &[u8]| {
            some.push(state, 0);
            fits &= some.len() < AT_ONCE || add(&mut some);
            fits
        };
        // Memory goes as states do; where that cannot be, all of them are there twice for a while.
        let mut table = self.set.take().ok_or(Full)?;
        if table.drain(false, &mut show).is_none() {
            table.each(&mut show);
        }
        drop(table);
        if !(fits && add(&mut some)) {
            return Err(Full);
        }
        self.set = Some(Box::new(tree));
        self.in_tree = true;
        Ok(())
    }

    pub fn is_in_tree(&self) -> bool {
        self.in_tree
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// States that are kept, of all threads.
    pub fn len(&self) -> u64 {
        self.set.as_ref().map_or(0, |set| set.len())
    }

    pub fn bytes(&self) -> usize {
        self.set.as_ref().map_or(0, |set| set.bytes())
    }

    /// Shows every state until `show` answers `false`.
    pub fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.set.as_ref().is_some_and(|set| set.each(show))
    }
}
