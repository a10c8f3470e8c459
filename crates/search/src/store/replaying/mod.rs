//! A table in which some states have no vector and are replayed when one must know them.
//!
//! Every state has an entry: 32 bits of its hash, the event that led to it, and the place of its vector or, once that is
//! stripped, its predecessor. To compare a state with a stripped one, one goes back to the nearest ancestor with a vector
//! and runs the events from there. That happens only where the hashes agree, so nearly always for the same state. The
//! owner sees to it that the predecessor of a stripped state stays, and that the way to a vector is short.
//!
//! The index gets by with the 32 bits of the hash too, so that it can grow without knowing the states.

mod replay;
#[cfg(test)]
mod tests;

use super::index::{Index, SLOTS};
use super::places::Places;
use super::{Found, Full, StateId, Store};
use crate::column::{Column, Pod};
use crate::region::Region;
use crate::words;
use replay::Replay;
use scrimp_core::Budget;
use scrimp_system::{Batch, EventCode, Model};
use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of the index at first.
const FIRST_INDEX: usize = 1 << 12;
/// The index is enlarged when this share of its slots is taken, by this factor.
const FULLEST: f64 = 0.93;
const GROWTH: f64 = 1.38;
/// Marks the place of a vector, among predecessors.
const PLACE: u32 = 1 << 31;
/// The event of a number that is free. No event has this code.
const FREE: EventCode = EventCode::MAX;
/// No number. All numbers are below.
const NONE: u32 = PLACE - 1;

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u32,
    /// The event that led from the predecessor to the state.
    event: EventCode,
    /// With [`PLACE`], where the vector is; without, the predecessor; of a free number, the next free one.
    at: u32,
}

impl Pod for Entry {}

impl Entry {
    #[inline(always)]
    fn place(self) -> Option<u32> {
        (self.at & PLACE != 0).then_some(self.at & !PLACE)
    }

    fn is_free(self) -> bool {
        self.at & PLACE == 0 && self.event == FREE
    }
}

/// What an entry keeps of a state's hash.
#[inline(always)]
fn piece(state: &[u8]) -> u32 {
    (words::hash(state) >> 32) as u32
}

/// The hash that the index is told: its high bits choose the bucket, its low ones are the tag.
#[inline(always)]
fn spread(piece: u32) -> u64 {
    (piece as u64) << 32 | piece as u64
}

pub struct Replaying<'a> {
    model: &'a dyn Model,
    state_bytes: usize,
    index: Index,
    entries: Column<Entry>,
    places: Places,
    /// Numbers ever given; the one that became free last; how many are free.
    numbered: u32,
    free: u32,
    free_count: usize,
    /// Hashes of a batch that is being offered.
    pieces: Vec<u32>,
    replay: RefCell<Replay>,
    budget: Arc<Budget>,
}

impl<'a> Replaying<'a> {
    pub fn new(model: &'a dyn Model, budget: &Arc<Budget>) -> io::Result<Replaying<'a>> {
        let state_bytes = model.state_bytes();
        let index = Index::new(budget.memory().saturating_add(budget.memory() / 16), FIRST_INDEX)?;
        budget.take(index.bytes());
        Ok(Replaying {
            model,
            state_bytes,
            index,
            entries: Column::new(budget)?,
            places: Places::new(state_bytes, budget)?,
            numbered: 0,
            free: NONE,
            free_count: 0,
            pieces: Vec::new(),
            replay: RefCell::new(Replay::new(state_bytes)),
            budget: budget.clone(),
        })
    }

    /// Secures memory for so many new states, each with its vector.
    fn make_room(&mut self, states: usize) -> Result<(), Full> {
        let wanted = self.len() + states;
        if wanted > NONE as usize {
            return Err(Full);
        }
        self.entries.ensure(wanted.max(self.numbered as usize))?;
        self.places.ensure(states)?;
        self.replay.get_mut().fit(wanted, &self.budget);
        if wanted > self.index_room() { self.grow_index(wanted) } else { Ok(()) }
    }

    fn index_room(&self) -> usize {
        (self.index.slots() as f64 * FULLEST) as usize
    }

    #[cold]
    fn grow_index(&mut self, wanted: usize) -> Result<(), Full> {
        let now = self.index.bytes();
        let needed = ((wanted + SLOTS) as f64 / FULLEST * Index::SLOT_BYTES) as usize;
        let fits = |&bytes: &usize| {
            bytes >= needed && bytes <= self.index.most_bytes() && self.budget.may_take(bytes.saturating_sub(now))
        };
        let larger = ((now as f64 * GROWTH) as usize).max(now + 1);
        let bytes = [larger.max(needed), needed].map(Region::rounded).into_iter().find(fits).ok_or(Full)?;
        self.index.reset(bytes).map_err(|_| Full)?;
        self.budget.take(self.index.bytes() - now);
        for id in 0..self.numbered {
            let entry = self.entries[id];
            if !entry.is_free() {
                self.index.enter::<true>(spread(entry.hash), id);
            }
        }
        Ok(())
    }

    /// Shows a stored state, replayed where it has no vector.
    #[inline(always)]
    fn show<T>(&self, id: StateId, look: impl FnOnce(&[u8]) -> T) -> T {
        match self.entries[id].place() {
            Some(place) => look(self.places.state(place)),
            None => look(self.replay.borrow_mut().state(id, self.model, &self.entries, &self.places)),
        }
    }

    #[inline(always)]
    fn is(&self, id: StateId, hash: u32, state: &[u8]) -> bool {
        self.entries[id].hash == hash && self.show(id, |stored| stored == state)
    }

    /// Finds or stores one state, for which room was made.
    fn offer_one(&mut self, state: &[u8], event: EventCode, hash: u32) -> Found {
        let free = match self.index.find(spread(hash), |id| self.is(id, hash, state)) {
            Ok(id) => return Found { id, new: false },
            Err(free) => free,
        };
        let id = if self.free == NONE {
            self.numbered += 1;
            self.numbered - 1
        } else {
            self.free_count -= 1;
            let next = self.entries[self.free].at;
            std::mem::replace(&mut self.free, next)
        };
        self.entries[id] = Entry { hash, event, at: PLACE | self.places.take(state) };
        self.index.claim::<true>(spread(hash), free).expect("there is no other thread").publish(id);
        Found { id, new: true }
    }
}

impl Store for Replaying<'_> {
    fn offer(&mut self, batch: &Batch, which: Range<usize>, found: &mut Vec<Found>) -> Result<(), Full> {
        assert!(batch.state_bytes() == self.state_bytes);
        self.make_room(which.len())?;
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        for i in which.clone() {
            let hash = piece(batch.state(i));
            self.index.prefetch(spread(hash));
            pieces.push(hash);
        }
        for (i, &hash) in which.zip(&pieces) {
            found.push(self.offer_one(batch.state(i), batch.event(i), hash));
        }
        self.pieces = pieces;
        Ok(())
    }

    fn find(&self, batch: &Batch, which: usize) -> Option<StateId> {
        let state = batch.state(which);
        let hash = piece(state);
        self.index.find(spread(hash), |id| self.is(id, hash, state)).ok()
    }

    fn prefetch(&self, batch: &Batch, which: Range<usize>) {
        which.for_each(|i| self.index.prefetch(spread(piece(batch.state(i)))));
    }

    fn remove(&mut self, id: StateId) {
        let entry = self.entries[id];
        debug_assert!(!entry.is_free());
        self.index.remove(spread(entry.hash), id);
        if let Some(place) = entry.place() {
            self.places.give_back(place);
        }
        self.replay.get_mut().forget(id);
        self.entries[id] = Entry { hash: 0, event: FREE, at: self.free };
        self.free = id;
        self.free_count += 1;
    }

    fn load(&self, id: StateId, out: &mut [u8]) {
        self.show(id, |state| out.copy_from_slice(state));
    }

    fn led_by(&mut self, id: StateId, event: EventCode) {
        debug_assert!(self.entries[id].place().is_some());
        self.entries[id].event = event;
    }

    fn strip(&mut self, id: StateId, predecessor: StateId) {
        if let Some(place) = self.entries[id].place() {
            self.replay.get_mut().remember(id, self.places.state(place));
            self.places.give_back(place);
            self.entries[id].at = predecessor;
        }
    }

    fn restore(&mut self, id: StateId) -> Result<(), Full> {
        if self.entries[id].place().is_none() {
            self.places.ensure(1)?;
            let Replaying { model, entries, places, replay, .. } = self;
            let replay = replay.get_mut();
            replay.prepare(id, *model, entries, places);
            entries[id].at = PLACE | places.take(replay.prepared());
        }
        Ok(())
    }

    fn is_whole(&self, id: StateId) -> bool {
        self.entries[id].place().is_some()
    }

    fn whole(&self) -> usize {
        self.places.taken()
    }

    fn replays(&self) -> u64 {
        self.replay.borrow().events
    }

    fn len(&self) -> usize {
        self.numbered as usize - self.free_count
    }

    fn room(&self) -> usize {
        (self.len() + self.places.free()).min(self.entries.len()).min(self.index_room()).min(NONE as usize)
    }

    fn numbers(&self) -> usize {
        self.numbered as usize
    }

    fn each_number(&self, show: &mut dyn FnMut(StateId)) {
        (0..self.numbered).filter(|&id| !self.entries[id].is_free()).for_each(show);
    }

    fn bytes(&self) -> usize {
        self.index.bytes() + self.entries.bytes() + self.places.bytes() + self.replay.borrow().bytes()
    }
}
