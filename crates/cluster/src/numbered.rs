//! The states that a worker owns with a number each, and what a search for accepting cycles knows of them: a few bits, and one place
//! that counts predecessors or, at another time, says from which state it was reached first.
//!
//! Once all states are found no memory is needed any more: states that wait to be expanded stand on a list of fixed length, and have a
//! bit by which they are found again where that was too short.

use crate::mail::Takes;
use scrimp_core::Budget;
use scrimp_search::Column;
use scrimp_search::store::{Found, Full, IndexedTree, Store, Table};
use scrimp_system::{Batch, Model};
use std::io;
use std::sync::Arc;

/// It is in the set of states that may be on an accepting cycle.
pub const SET: u8 = 1;
/// It was reached in this phase.
pub const REACHED: u8 = 2;
/// An edge of it accepts.
pub const ACCEPTS: u8 = 4;
/// It waits to be expanded in an even round, or in an odd one.
const WAITS: [u8; 2] = [8, 16];
/// It was passed on the way back.
pub const PASSED: u8 = 32;
/// It is an initial state.
pub const ROOT: u8 = 64;
/// It is what is looked for.
pub const TARGET: u8 = 128;

/// States on a list.
const LISTED: usize = 1 << 14;
/// Bytes of a number behind a state.
pub const NUMBER: usize = 4;

/// What is done with states that come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// They are kept.
    Explore,
    /// They are ends of edges that accept.
    Seed,
    /// They are successors of states that were reached, and count them.
    Reach,
    /// A predecessor of them has left the set.
    Remove,
    /// They are successors of states that were reached, whose numbers come with them.
    Parents,
    /// The same, of all states.
    Stem,
}

/// A state, by its owner and the number that it has there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Address {
    pub worker: u16,
    pub number: u32,
}

pub struct Numbered<'m> {
    store: Box<dyn Store + 'm>,
    state_bytes: usize,
    flags: Column<u8>,
    /// Predecessors in the set; or the number of the state from which it was reached first.
    counts: Column<u32>,
    /// The owner of that state.
    owners: Column<u16>,
    found: Vec<Found>,
    /// States of the store that there are places for.
    known: u32,
    states: Batch,
    /// States that wait for a round, even or odd.
    lists: [Vec<u32>; 2],
    waiting: [u64; 2],
    /// The round that fills up.
    next: usize,
    pub phase: Phase,
    /// States of the set, and those reached.
    pub set: u64,
    pub reached: u64,
    /// A target was reached.
    pub hit: bool,
    /// There was no memory for a state that came.
    pub full: bool,
    /// A state came that is not known, though all are.
    pub unknown: bool,
    budget: Arc<Budget>,
}

impl<'m> Numbered<'m> {
    pub fn new(model: &'m dyn Model, in_tree: bool, budget: &Arc<Budget>) -> io::Result<Numbered<'m>> {
        let store: Box<dyn Store + 'm> = match in_tree {
            true => Box::new(IndexedTree::of_model(model, budget)?),
            false => Box::new(Table::new(model.state_bytes(), budget.clone())?),
        };
        budget.take(2 * LISTED * size_of::<u32>());
        Ok(Numbered {
            store,
            state_bytes: model.state_bytes(),
            flags: Column::new(budget)?,
            counts: Column::new(budget)?,
            owners: Column::new(budget)?,
            found: Vec::new(),
            known: 0,
            states: Batch::new(model.state_bytes()),
            lists: [Vec::new(), Vec::new()],
            waiting: [0, 0],
            next: 0,
            phase: Phase::Explore,
            set: 0,
            reached: 0,
            hit: false,
            full: false,
            unknown: false,
            budget: budget.clone(),
        })
    }

    pub fn len(&self) -> u32 {
        self.known
    }

    pub fn bytes(&self) -> usize {
        self.store.bytes() + self.flags.bytes() + self.counts.bytes() + self.owners.bytes()
    }

    pub fn load(&self, number: u32, state: &mut Vec<u8>) {
        state.resize(self.state_bytes, 0);
        self.store.load(number, state);
    }

    pub fn has(&self, number: u32, flag: u8) -> bool {
        self.flags[number] & flag != 0
    }

    pub fn mark(&mut self, number: u32, flag: u8) {
        self.flags[number] |= flag;
    }

    /// The number of a state that is known.
    pub fn find(&mut self, state: &[u8]) -> Option<u32> {
        self.states.clear();
        self.states.push(state, 0);
        self.store.find(&self.states, 0).filter(|&number| number < self.known)
    }

    /// The first state of the set.
    pub fn first_of_set(&self) -> Option<u32> {
        (0..self.len()).find(|&number| self.has(number, SET))
    }

    /// From which state it was reached; nothing, where a run begins in it.
    pub fn parent(&self, number: u32) -> Option<Address> {
        (!self.has(number, ROOT)).then(|| Address { worker: self.owners[number], number: self.counts[number] })
    }

    /// Notes that a state is to be expanded in the next round.
    pub fn wait(&mut self, number: u32) {
        self.flags[number] |= WAITS[self.next];
        self.waiting[self.next] += 1;
        let list = &mut self.lists[self.next];
        if list.len() < LISTED {
            list.push(number);
        }
    }

    /// How many states wait for the next round.
    pub fn waiting(&self) -> u64 {
        self.waiting[self.next]
    }

    /// The next round begins: its states are those that waited.
    pub fn begin_round(&mut self) -> Round {
        let now = self.next;
        self.next ^= 1;
        let list = std::mem::take(&mut self.lists[now]);
        let all = list.len() as u64 == std::mem::take(&mut self.waiting[now]);
        Round { list: if all { list } else { Vec::new() }, all_listed: all, at: 0, flag: WAITS[now] }
    }

    /// The next state of a round.
    pub fn next_of(&mut self, round: &mut Round) -> Option<u32> {
        let number = match round.all_listed {
            true => *round.list.get(round.at)?,
            false => {
                let left = self.flags.stretch(round.at, self.len() as usize - round.at);
                (round.at + left.iter().position(|flags| flags & round.flag != 0)?) as u32
            }
        };
        round.at = if round.all_listed { round.at + 1 } else { number as usize + 1 };
        self.flags[number] &= !round.flag;
        Some(number)
    }

    /// Forgets what is of one phase only. Unless the set is to stay as it is, it becomes what was reached.
    pub fn begin(&mut self, phase: Phase, keeps_set: bool) {
        self.phase = phase;
        (self.reached, self.hit, self.waiting) = (0, false, [0, 0]);
        self.lists.iter_mut().for_each(Vec::clear);
        let len = self.len() as usize;
        let mut set = 0;
        for flags in self.flags.stretch_mut(0, len) {
            let stays = if keeps_set { *flags & SET } else { (*flags & REACHED != 0) as u8 * SET };
            set += (stays != 0) as u64;
            *flags = *flags & ACCEPTS | stays;
        }
        self.set = set;
        self.counts.first_mut(len).fill(0);
    }

    /// States that were reached, but from none that was, leave the set.
    pub fn remove_unreached(&mut self) {
        self.phase = Phase::Remove;
        for number in 0..self.len() {
            if self.has(number, REACHED) && self.counts[number] == 0 {
                self.remove(number);
            }
        }
    }

    fn remove(&mut self, number: u32) {
        self.flags[number] &= !REACHED;
        self.reached -= 1;
        self.wait(number);
    }

    /// A state was reached: is it the first time?
    pub fn reach(&mut self, number: u32) -> bool {
        let new = !self.has(number, REACHED);
        if new {
            self.flags[number] |= REACHED;
            self.reached += 1;
            self.wait(number);
        }
        new
    }

    /// Keeps states; those that are new are of the set.
    fn keep(&mut self, records: &Batch) {
        if self.full || records.is_empty() {
            return;
        }
        self.found.clear();
        let kept = self.store.offer(records, 0..records.len(), &mut self.found).and_then(|()| {
            let numbers = self.store.numbers();
            self.flags.ensure(numbers)?;
            self.counts.ensure(numbers)?;
            self.owners.ensure(numbers)
        });
        match kept {
            Ok(()) => {
                for found in self.found.iter().filter(|found| found.new) {
                    self.flags[found.id] = SET;
                    self.set += 1;
                }
                self.known = self.store.len() as u32;
            }
            Err(Full) => self.full = true,
        }
    }

    fn meet(&mut self, number: u32, from: usize, beside: &[u8]) {
        match self.phase {
            Phase::Explore => {}
            Phase::Seed if self.has(number, SET) => {
                self.reach(number);
            }
            Phase::Reach if self.has(number, SET) => {
                // So many predecessors are never taken away again, which only keeps a state in the set that might leave it.
                self.counts[number] = self.counts[number].saturating_add(1);
                self.reach(number);
            }
            Phase::Remove if self.has(number, REACHED) => {
                let count = self.counts[number];
                if count == u32::MAX {
                    return;
                }
                self.counts[number] = count.saturating_sub(1);
                if count <= 1 {
                    self.remove(number);
                }
            }
            Phase::Parents | Phase::Stem => {
                let may = self.phase == Phase::Stem || self.has(number, SET);
                if may && self.reach(number) {
                    self.owners[number] = from as u16;
                    self.counts[number] = beside.try_into().map_or(0, u32::from_le_bytes);
                    self.hit |= self.has(number, TARGET);
                }
            }
            _ => {}
        }
    }
}

impl Takes for Numbered<'_> {
    fn take(&mut self, from: usize, records: &Batch) {
        if self.phase == Phase::Explore {
            return self.keep(records);
        }
        let mut states = std::mem::replace(&mut self.states, Batch::new(0));
        states.clear();
        (0..records.len()).for_each(|i| states.push(&records.state(i)[..self.state_bytes], 0));
        self.store.prefetch(&states, 0..states.len());
        for i in 0..states.len() {
            match self.store.find(&states, i) {
                Some(number) if number < self.known => self.meet(number, from, &records.state(i)[self.state_bytes..]),
                // What leads on from states that were not expanded is not known where the search was ended early.
                _ => self.unknown |= self.phase != Phase::Stem,
            }
        }
        self.states = states;
    }
}

impl Drop for Numbered<'_> {
    fn drop(&mut self) {
        self.budget.give_back(2 * LISTED * size_of::<u32>());
    }
}

/// The states of a round, one after the other.
pub struct Round {
    list: Vec<u32>,
    all_listed: bool,
    at: usize,
    flag: u8,
}
