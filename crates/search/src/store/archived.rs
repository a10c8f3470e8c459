//! States that are done with, in minimized automata: only those that are open, or led to one that is, have ids.
//!
//! What has an id lies in a table. A state that is done with, and that nothing refers to, goes into an automaton: for good, or
//! for as long as there is room. Where states are counted, any one of these makes room for another. Where memory is short, many
//! go at once: they form two generations, and the older one goes as a whole, for an automaton may well be larger without a
//! word.

use super::{ARCHIVED, AutomatonSet, Dropped, Found, Full, Set, Shelf, StateId, Store, Table};
use scrimp_core::Budget;
use scrimp_system::{Batch, Model, Random};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The younger generation takes at most this part of the memory.
const PART: usize = 4;

pub struct Archived {
    active: Table,
    kept: Generation,
    young: Generation,
    old: Generation,
    random: Random,
    budget: Arc<Budget>,
    unknown: Vec<u32>,
    known: Vec<bool>,
}

/// Words that come and go together.
struct Generation {
    set: Option<AutomatonSet>,
    /// Memory for more was refused. It is not asked for again: that takes long.
    full: bool,
    state_bytes: usize,
    order: Arc<[u32]>,
}

impl Generation {
    fn new(state_bytes: usize, order: &Arc<[u32]>) -> Generation {
        Generation { set: None, full: false, state_bytes, order: order.clone() }
    }

    fn len(&self) -> u64 {
        self.set.as_ref().map_or(0, Set::len)
    }

    fn bytes(&self) -> usize {
        self.set.as_ref().map_or(0, Set::bytes)
    }

    fn add(&mut self, state: &[u8], budget: &Arc<Budget>) -> Result<(), Full> {
        if self.full {
            return Err(Full);
        }
        let added = match &mut self.set {
            Some(set) => set.add(state),
            None => {
                let mut set = AutomatonSet::new(self.state_bytes, &self.order, budget)?;
                let added = set.add(state);
                self.set = Some(set);
                added
            }
        };
        self.full = added.is_err();
        added
    }

    /// Drops all words; how many were there?
    fn clear(&mut self) -> u64 {
        let len = self.len();
        self.full = false;
        if self.set.as_mut().is_some_and(|set| !set.clear_pending()) {
            self.set = None;
        }
        len
    }
}

impl Archived {
    /// `order` names for every layer of the automata the byte of the state; `seed` says which states make room.
    pub fn new(model: &dyn Model, order: &[u32], seed: u64, budget: &Arc<Budget>) -> io::Result<Archived> {
        let (bytes, order) = (model.state_bytes(), Arc::from(order));
        Ok(Archived {
            active: Table::new(bytes, budget.clone())?.removable()?,
            kept: Generation::new(bytes, &order),
            young: Generation::new(bytes, &order),
            old: Generation::new(bytes, &order),
            random: Random(seed),
            budget: budget.clone(),
            unknown: Vec::new(),
            known: Vec::new(),
        })
    }

    fn archived(&self) -> u64 {
        self.kept.len() + self.young.len() + self.old.len()
    }

    /// Drops one state that need not stay, by chance.
    fn drop_one(&mut self) -> bool {
        let (young, old) = (self.young.len() as usize, self.old.len() as usize);
        let from_old = self.random.below((young + old).max(1)) < old;
        let of = if from_old { &mut self.old } else { &mut self.young };
        of.set.as_mut().is_some_and(|set| set.remove_any(&mut self.random))
    }

    fn is_archived(&self, state: &[u8]) -> bool {
        [&self.young, &self.old, &self.kept].iter().any(|of| of.set.as_ref().is_some_and(|set| set.contains(state)))
    }
}

impl Store for Archived {
    fn offer(&mut self, batch: &Batch, which: Range<usize>, found: &mut Vec<Found>) -> Result<(), Full> {
        let first = found.len();
        self.active.prefetch(batch, which.clone());
        self.unknown.clear();
        for i in which.clone() {
            let id = self.active.find(batch, i);
            if id.is_none() {
                self.unknown.push(i as u32);
            }
            found.push(Found { id: id.unwrap_or(ARCHIVED), new: false });
        }
        self.known.clear();
        self.known.resize(self.unknown.len(), false);
        for of in [&mut self.young, &mut self.old, &mut self.kept] {
            if let Some(set) = &mut of.set {
                set.contains_each(batch, &self.unknown, &mut self.known);
            }
        }
        let mut one = Vec::with_capacity(1);
        for (&i, known) in self.unknown.iter().zip(&self.known) {
            if *known {
                continue;
            }
            one.clear();
            let i = i as usize;
            if self.active.offer(batch, i..i + 1, &mut one).is_err() {
                // Nothing was stored, then.
                for found in found.drain(first..).filter(|found| found.new) {
                    self.active.remove(found.id);
                }
                return Err(Full);
            }
            found[first + i - which.start] = one[0];
        }
        Ok(())
    }

    fn find(&self, batch: &Batch, which: usize) -> Option<StateId> {
        self.active.find(batch, which).or_else(|| self.is_archived(batch.state(which)).then_some(ARCHIVED))
    }

    fn prefetch(&self, batch: &Batch, which: Range<usize>) {
        self.active.prefetch(batch, which);
    }

    fn remove(&mut self, id: StateId) {
        self.active.remove(id);
    }

    fn load(&self, id: StateId, out: &mut [u8]) {
        self.active.load(id, out);
    }

    fn archive(&mut self, id: StateId, shelf: Shelf) -> bool {
        let state = self.active.shared().state(id);
        let generation = match shelf {
            Shelf::Kept => &mut self.kept,
            Shelf::Passing => &mut self.young,
        };
        if generation.add(state, &self.budget).is_err() {
            return false;
        }
        self.active.remove(id);
        if self.old.len() == 0 && self.young.bytes() > self.budget.memory() / PART {
            std::mem::swap(&mut self.young, &mut self.old);
        }
        true
    }

    fn drop_passing(&mut self, how_many: Dropped) -> u64 {
        match how_many {
            Dropped::One => self.drop_one() as u64,
            Dropped::Many => {
                let dropped = if self.old.len() > 0 { self.old.clear() } else { self.young.clear() };
                std::mem::swap(&mut self.young, &mut self.old);
                dropped
            }
            Dropped::All => self.young.clear() + self.old.clear(),
        }
    }

    fn regains(&self) -> bool {
        true
    }

    fn whole(&self) -> usize {
        self.stored()
    }

    fn stored(&self) -> usize {
        self.active.len() + self.archived() as usize
    }

    fn len(&self) -> usize {
        self.active.len()
    }

    fn room(&self) -> usize {
        self.active.room()
    }

    fn numbers(&self) -> usize {
        self.active.numbers()
    }

    fn each_number(&self, show: &mut dyn FnMut(StateId)) {
        self.active.each_number(show);
    }

    fn each_archived(&self, show: &mut dyn FnMut(&[u8], Shelf)) {
        let all = [(&self.kept, Shelf::Kept), (&self.young, Shelf::Passing), (&self.old, Shelf::Passing)];
        for (generation, shelf) in all {
            if let Some(set) = &generation.set {
                set.each(&mut |state| {
                    show(state, shelf);
                    true
                });
            }
        }
    }

    fn bytes(&self) -> usize {
        self.active.bytes() + self.kept.bytes() + self.young.bytes() + self.old.bytes()
    }
}
