//! Pseudo-root states: a closed state to which every predecessor has led will never be reached again, and goes.
//!
//! Every stored state has a counter of the distinct predecessors that have not led to it yet. The model computes them by
//! running its events backwards; some may be unreachable, and the state then stays: that costs memory, never an answer. So
//! does a state with too many predecessors to be told. What must not be is that one is missing that can be reached: the state
//! would go too early and be found again, perhaps again and again for ever. Where an edge is more than one event, all that
//! it may consist of must therefore be looked through; what the model cannot rule out it must name.
//!
//! A predecessor that is expanded without the event that leads here, because a reduction leaves it out, counts as one that has
//! led here: it will not do so any more. So does one that was expanded before this state was found, as long as it is stored; once
//! it is gone it is waited for in vain.
//!
//! When memory is short all the same, waiting states that are certain to be found again are given up first: those with a
//! predecessor that itself waits and leads to them. (An open counter alone is not enough: the predecessor may be
//! unreachable.) After that the method becomes state caching, with every state stored by then a root of its tree or a
//! candidate.

use super::{Cache, Forget, Link, Ties};
use crate::column::Column;
use crate::store::{Full, StateId, Store};
use scrimp_core::{Budget, ForgetFacts};
use scrimp_system::{Batch, EventCode, Model, Unsuited};
use std::io;
use std::sync::Arc;

const LIVE: u8 = 1;
const BEGUN: u8 = 2;
const CLOSED: u8 = 4;
/// A counter that high can no longer be told, nor can it where the model does not know: the state stays.
const SATURATED: u16 = u16::MAX;
/// What it promises that an expansion releases the expanded state itself, or another one.
const ITSELF: u32 = 1;
const ANOTHER: u32 = 2;

pub struct PseudoRoot<'a> {
    model: &'a dyn Model,
    most: usize,
    counters: Column<u16>,
    flags: Column<u8>,
    numbers: usize,
    state: Batch,
    predecessors: Batch,
    /// Waiting states whose expansion releases one more; only where the order asks for them.
    promotions: Option<Vec<(StateId, u32)>>,
    /// What takes over when memory is short.
    cache: Cache,
    fallen: bool,
    /// Events may be left out.
    reduced: bool,
    facts: ForgetFacts,
}

impl<'a> PseudoRoot<'a> {
    /// `cache` takes over when there is no room for a state more.
    pub fn new(model: &'a dyn Model, cache: Cache, reduced: bool, budget: &Arc<Budget>) -> io::Result<PseudoRoot<'a>> {
        Ok(PseudoRoot {
            model,
            most: cache.most(),
            counters: Column::new(budget)?,
            flags: Column::new(budget)?,
            numbers: 0,
            state: Batch::new(model.state_bytes()),
            predecessors: Batch::new(model.state_bytes()),
            promotions: None,
            cache,
            fallen: false,
            reduced,
            facts: ForgetFacts::default(),
        })
    }

    /// Says which waiting states are worth expanding first, if the order asks for them.
    pub fn releasing(mut self, wants_promotions: bool) -> PseudoRoot<'a> {
        self.promotions = wants_promotions.then(Vec::new);
        self
    }

    fn release(&mut self, id: StateId, store: &mut dyn Store) {
        self.flags[id] = 0;
        self.facts.released += 1;
        store.remove(id);
    }

    /// A closed state waits for one predecessor only: finds it among the waiting states.
    fn look_for_last(&mut self, id: StateId, store: &dyn Store) {
        if self.promotions.is_none() {
            return;
        }
        if let Some(last) = self.waiting_predecessor(id, store) {
            self.promote(last, ANOTHER);
        }
    }

    /// The expansion of a waiting state will release one more: another, or itself.
    fn promote(&mut self, id: StateId, promise: u32) {
        if let Some(promotions) = &mut self.promotions {
            promotions.push((id, promise));
        }
    }

    /// A predecessor that waits to be expanded.
    fn waiting_predecessor(&mut self, id: StateId, store: &dyn Store) -> Option<StateId> {
        self.state.clear();
        store.load(id, self.state.push_with(0));
        self.predecessors.clear();
        self.model.predecessors(self.state.state(0), &mut self.predecessors).ok()?;
        (0..self.predecessors.len())
            .filter_map(|i| store.find(&self.predecessors, i))
            .find(|&pred| pred != id && self.flags[pred] & BEGUN == 0)
    }
}

impl Forget for PseudoRoot<'_> {
    fn prepare(&mut self, numbers: usize) -> Result<(), Full> {
        self.counters.ensure(numbers)?;
        self.flags.ensure(numbers)?;
        self.cache.prepare(numbers)?;
        self.numbers = self.numbers.max(numbers);
        Ok(())
    }

    fn most(&self) -> usize {
        self.most
    }

    /// Few while few states are stored: what waits for its turn takes room itself.
    fn at_once(&self, stored: usize) -> usize {
        (stored / 2048).max(1)
    }

    fn opened(&mut self, link: Link, store: &dyn Store) -> Result<(), Unsuited> {
        if self.fallen {
            return self.cache.opened(link, store);
        }
        self.predecessors.clear();
        let told = self.model.predecessors(link.state, &mut self.predecessors);
        // One that is done has left the event out that leads here.
        let done = |i: usize| store.find(&self.predecessors, i).is_some_and(|pred| self.flags[pred] & CLOSED != 0);
        let still = (0..self.predecessors.len()).filter(|&i| !(self.reduced && done(i))).count();
        let open = match told {
            Ok(()) => still.saturating_sub(!link.initial as usize),
            Err(_) => SATURATED as usize,
        };
        self.facts.never_came += told.map_or(0, |()| open as u64);
        self.counters[link.id] = open.min(SATURATED as usize) as u16;
        self.flags[link.id] = LIVE;
        if open == 0 {
            self.promote(link.id, ITSELF);
        }
        Ok(())
    }

    fn note(&self, id: StateId) -> u32 {
        if self.fallen { 0 } else { self.counters[id] as u32 }
    }

    fn adopt(&mut self, link: Link, note: u32, store: &dyn Store) -> Result<(), Unsuited> {
        if self.fallen {
            return self.cache.opened(link, store);
        }
        self.counters[link.id] = note.min(SATURATED as u32) as u16;
        self.facts.never_came += if note < SATURATED as u32 { note as u64 } else { 0 };
        self.flags[link.id] = LIVE;
        if note == 0 {
            self.promote(link.id, ITSELF);
        }
        Ok(())
    }

    /// Counters are counted as they come back, while there are any.
    fn remember(&mut self, facts: &ForgetFacts) {
        let never_came = if self.fallen { facts.never_came } else { self.facts.never_came };
        self.facts = ForgetFacts { never_came, ..facts.clone() };
        self.cache.remember(facts);
    }

    fn reached(&mut self, id: StateId, from: Option<StateId>, event: EventCode, store: &mut dyn Store) {
        if self.fallen {
            return self.cache.reached(id, from, event, store);
        }
        let counter = &mut self.counters[id];
        debug_assert!(
            *counter > 0,
            "an event leads to a state of which it is no predecessor, or a saved counter was wrong"
        );
        if *counter == SATURATED || *counter == 0 {
            return;
        }
        self.facts.never_came -= 1;
        *counter -= 1;
        match (*counter, self.flags[id] & CLOSED != 0) {
            (0, true) => self.release(id, store),
            (0, false) => self.promote(id, ITSELF),
            (1, true) => self.look_for_last(id, store),
            _ => {}
        }
    }

    fn expanding(&mut self, id: StateId, successors: usize, in_one_go: bool, store: &mut dyn Store) -> bool {
        if self.fallen {
            return self.cache.expanding(id, successors, in_one_go, store);
        }
        self.flags[id] |= BEGUN;
        let dropped = in_one_go && self.counters[id] == 0;
        if dropped {
            self.release(id, store);
        }
        dropped
    }

    fn closed(&mut self, id: StateId, store: &mut dyn Store) {
        if self.fallen {
            return self.cache.closed(id, store);
        }
        self.flags[id] |= CLOSED;
        match self.counters[id] {
            0 => self.release(id, store),
            1 => self.look_for_last(id, store),
            _ => {}
        }
    }

    fn reclaim(&mut self, store: &mut dyn Store) -> bool {
        self.fall_back();
        self.cache.reclaim(store)
    }

    fn has_fallen_back(&self) -> bool {
        self.fallen
    }

    /// Becomes state caching.
    fn fall_back(&mut self) {
        if std::mem::replace(&mut self.fallen, true) {
            return;
        }
        for id in 0..self.numbers as StateId {
            if self.flags[id] & LIVE != 0 {
                self.cache.take_over(id, self.flags[id] & CLOSED != 0);
            }
        }
    }

    fn ties(&mut self) -> Option<&mut dyn Ties> {
        if self.fallen { self.cache.ties() } else { None }
    }

    /// A reduction may leave out the event by which a state would be found again.
    fn retracts(&self) -> bool {
        !self.fallen && !self.reduced
    }

    fn heeds_left_out(&self) -> bool {
        !self.fallen && self.reduced
    }

    fn retract(&mut self, id: StateId, store: &mut dyn Store) -> bool {
        let Some(pred) = self.waiting_predecessor(id, store) else { return false };
        // What gives up an edge that goes on for very long may not lead here.
        store.load(pred, self.state.push_with(0));
        self.predecessors.clear();
        self.model.expand(self.state.state(1), &mut self.predecessors);
        if (0..self.predecessors.len()).all(|i| self.predecessors.state(i) != self.state.state(0)) {
            return false;
        }
        let counter = self.counters[id];
        self.facts.never_came -= if counter == SATURATED { 0 } else { counter as u64 };
        self.facts.retracted += 1;
        self.flags[id] = 0;
        store.remove(id);
        true
    }

    /// Also when it has become a cache: successors that are generated again must be those of the first time.
    fn wants_distinct(&self) -> bool {
        true
    }

    fn promotion(&mut self) -> Option<(StateId, u32)> {
        self.promotions.as_mut()?.pop()
    }

    fn once(&self) -> bool {
        !self.fallen || self.cache.once()
    }

    fn facts(&self) -> ForgetFacts {
        let ForgetFacts { released, never_came, retracted, .. } = self.facts;
        ForgetFacts { released, never_came, retracted, ..self.cache.facts() }
    }

    fn bytes(&self) -> usize {
        let columns = self.counters.bytes() + self.flags.bytes();
        columns + if self.fallen { self.cache.bytes() } else { 0 }
    }
}
