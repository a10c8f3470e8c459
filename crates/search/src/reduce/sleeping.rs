//! Sleep sets (Godefroid): an event that was explored before it came to matter is not explored again.
//!
//! From a state where a and b are enabled and accord, a is explored first. After b, a sleeps: exploring it would lead to what
//! a, b leads to. An event sleeps until one happens that it does not accord with. A state that is found again may be found
//! with fewer events asleep than before; those that were asleep then and are not now are *awake* and must be explored, so
//! the state is taken up once more for them alone.
//!
//! Why nothing is missed, in whatever order states are expanded, however often: let w lead from a state s to what is looked
//! for, and let no event that w could begin with be asleep at s in the end. Of those that were explored at s take one of
//! the last time s was taken up, and of these the first, a. What is asleep where a leads was asleep at s then, and still is,
//! or was explored at the same time before a; w could begin with neither. So the rest of w, which is shorter, is not asleep
//! there. If nothing that w could begin with was explored at s, then the persistent set there has no part in w, one of its
//! events was explored, and leads to a state whose own turn comes later, with the same w.

use crate::column::Column;
use crate::store::{Found, Full, StateId};
use scrimp_core::Budget;
use scrimp_system::EventId;
use scrimp_system::dependence::Dependence;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// A set of events, by number; 0 is the empty one.
type SetId = u32;

/// What a source was taken up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// All its events but those of this set, which slept.
    First(SetId),
    /// The events of this set, which had woken up.
    Again(SetId),
}

pub struct Sleeping {
    dependence: Arc<Dependence>,
    sets: Vec<Arc<[u32]>>,
    numbers: HashMap<Arc<[u32]>, SetId>,
    /// For each state the events that sleep, and those that have woken up since it was expanded.
    asleep: Column<u32>,
    awake: Column<u32>,
    budget: Arc<Budget>,
    bytes: usize,
    scratch: Vec<u32>,
}

impl Sleeping {
    pub fn new(dependence: Arc<Dependence>, budget: &Arc<Budget>) -> io::Result<Sleeping> {
        let empty: Arc<[u32]> = Arc::new([]);
        Ok(Sleeping {
            dependence,
            sets: vec![empty.clone()],
            numbers: HashMap::from([(empty, 0)]),
            asleep: Column::new(budget)?,
            awake: Column::new(budget)?,
            budget: budget.clone(),
            bytes: 0,
            scratch: Vec::new(),
        })
    }

    /// Makes room for so many states.
    pub fn prepare(&mut self, numbers: usize) -> Result<(), Full> {
        self.asleep.ensure(numbers)?;
        self.awake.ensure(numbers)
    }

    /// A state is taken up.
    pub fn begin(&mut self, id: StateId) -> Round {
        match std::mem::take(&mut self.awake[id]) {
            0 => Round::First(self.asleep[id]),
            awake => Round::Again(awake),
        }
    }

    /// Is an event explored in a round?
    pub fn explores(&self, round: Round, event: u32) -> bool {
        let has = |set: SetId| self.sets[set as usize].binary_search(&event).is_ok();
        match round {
            Round::First(asleep) => !has(asleep),
            Round::Again(awake) => has(awake),
        }
    }

    /// An event of `source` has led to a state, after those of `before` were explored in the same round. True when the state
    /// was expanded already and must be taken up again.
    pub fn pass(&mut self, source: StateId, before: &[u32], event: u32, to: Found, expanded: bool) -> bool {
        let mut passed = std::mem::take(&mut self.scratch);
        passed.clear();
        let conflicts = self.dependence.conflicts(EventId(event));
        let accords = |other: &u32| *other != event && conflicts.binary_search(other).is_err();
        passed.extend(self.sets[self.asleep[source] as usize].iter().filter(|other| accords(other)));
        passed.extend(before.iter().filter(|other| accords(other)));
        passed.sort_unstable();
        passed.dedup();
        let mut again = false;
        if to.new {
            self.awake[to.id] = 0;
            self.asleep[to.id] = self.number(&passed);
        } else {
            let stored = self.sets[self.asleep[to.id] as usize].clone();
            let (still, woken): (Vec<u32>, Vec<u32>) =
                stored.iter().partition(|event| passed.binary_search(event).is_ok());
            if !woken.is_empty() {
                self.asleep[to.id] = self.number(&still);
                if expanded {
                    let earlier = self.awake[to.id];
                    again = earlier == 0;
                    let mut all = [&self.sets[earlier as usize][..], &woken].concat();
                    all.sort_unstable();
                    self.awake[to.id] = self.number_of_woken(&all);
                }
            }
        }
        self.scratch = passed;
        again
    }

    /// The number of a set of sleeping events. Where memory is short nothing sleeps, which is always right.
    fn number(&mut self, events: &[u32]) -> SetId {
        match self.numbers.get(events) {
            Some(&number) => number,
            None if self.may_add(events) => self.add(events),
            None => 0,
        }
    }

    /// The number of a set of events that must be explored, memory or not.
    fn number_of_woken(&mut self, events: &[u32]) -> SetId {
        self.numbers.get(events).copied().unwrap_or_else(|| self.add(events))
    }

    fn may_add(&self, events: &[u32]) -> bool {
        self.budget.may_take(Sleeping::cost(events))
    }

    /// A set, its counts, its place in both lists.
    fn cost(events: &[u32]) -> usize {
        events.len() * 4 + 72
    }

    fn add(&mut self, events: &[u32]) -> SetId {
        let number = self.sets.len() as SetId;
        let set: Arc<[u32]> = events.into();
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        self.bytes += Sleeping::cost(events);
        self.budget.take(Sleeping::cost(events));
        number
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes + self.asleep.bytes() + self.awake.bytes()
    }
}

impl Drop for Sleeping {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}
