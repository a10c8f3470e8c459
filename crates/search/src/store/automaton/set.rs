//! The automaton as a store of states.
//!
//! A state that is new waits among the [pending](super::pending) words until there are many, and only then goes into the
//! automaton: sorted, so that what words share is opened and closed once for all of them. How many may wait grows with the
//! automaton and stays a small part of it. The key of a state is the state.
//!
//! Each thread has a handle of its own, with its own memory of the states that it has seen.

#[cfg(test)]
use super::Automaton;
use super::recent::Seen;
use super::shared::{Shared, hash_of};
use super::unknown::Unknown;
use super::walk::LANES;
use crate::checkpoint::impossible;
use crate::store::{Full, Set};
use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use crate::words;
use scrimp_core::Budget;
use scrimp_system::{Batch, Random};
use std::io::{self, Read, Write};
use std::sync::{Arc, PoisonError};

pub struct AutomatonSet {
    state_bytes: usize,
    /// For every layer the byte of the state that it stands for.
    order: Arc<[u32]>,
    shared: Arc<RwLock<Shared>>,
    seen: Seen,
    unknown: Unknown,
    budget: Arc<Budget>,
}

fn read(shared: &RwLock<Shared>) -> RwLockReadGuard<'_, Shared> {
    shared.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(shared: &RwLock<Shared>) -> RwLockWriteGuard<'_, Shared> {
    shared.write().unwrap_or_else(PoisonError::into_inner)
}

impl AutomatonSet {
    /// A set of states of so many bytes. `order` names for every layer of the automaton the byte of the state: a
    /// permutation.
    pub fn new(state_bytes: usize, order: &[u32], budget: &Arc<Budget>) -> Result<AutomatonSet, Full> {
        assert!(super::order::is_permutation(order, state_bytes), "an order of layers has every byte once");
        let order: Arc<[u32]> = order.into();
        let shared = Shared::new(order.clone(), budget)?;
        AutomatonSet::handle(order, Arc::new(RwLock::new(shared)), budget)
    }

    fn handle(order: Arc<[u32]>, shared: Arc<RwLock<Shared>>, budget: &Arc<Budget>) -> Result<AutomatonSet, Full> {
        let state_bytes = order.len();
        let seen = Seen::new(state_bytes, budget).map_err(|_| Full)?;
        Ok(AutomatonSet {
            state_bytes,
            order,
            shared,
            seen,
            unknown: Unknown::new(state_bytes),
            budget: budget.clone(),
        })
    }

    /// How many threads use the set.
    fn threads(&self) -> usize {
        Arc::strong_count(&self.shared)
    }

    /// Shows the automaton, with all states in it.
    #[cfg(test)]
    pub(super) fn merged(&mut self, show: impl FnOnce(&Automaton)) -> Result<(), Full> {
        let mut shared = write(&self.shared);
        shared.merge(1)?;
        show(&shared.automaton);
        Ok(())
    }

    fn word_of(&self, state: &[u8]) -> Vec<u8> {
        assert!(state.len() == self.state_bytes);
        self.order.iter().map(|&byte| state[byte as usize]).collect()
    }

    /// Is this state in the set?
    pub fn contains(&self, state: &[u8]) -> bool {
        read(&self.shared).contains(&self.word_of(state), words::hash(state))
    }

    /// Adds a state that is not there.
    pub fn add(&mut self, state: &[u8]) -> Result<(), Full> {
        self.make_room(1)?;
        read(&self.shared).pending.adding().insert(&self.word_of(state), words::hash(state));
        Ok(())
    }

    /// Which of these states of a batch are there? Sets the answers of those that are.
    pub fn contains_each(&mut self, batch: &Batch, which: &[u32], known: &mut [bool]) {
        let shared = read(&self.shared);
        let width = self.state_bytes;
        let (mut words, mut places) = (vec![0; LANES * width], Vec::with_capacity(LANES));
        for (place, &i) in which.iter().enumerate() {
            if !known[place] {
                let state = batch.state(i as usize);
                let word = &mut words[places.len() * width..][..width];
                word.iter_mut().zip(&*self.order).for_each(|(value, &byte)| *value = state[byte as usize]);
                if shared.pending.contains(word, words::hash(state)) {
                    known[place] = true;
                } else {
                    places.push(place);
                }
            }
            if places.len() == LANES || !places.is_empty() && place + 1 == which.len() {
                let answers = shared.automaton.contains_each(&words);
                places.drain(..).zip(answers).for_each(|(place, answer)| known[place] |= answer);
            }
        }
    }

    /// Removes a state by chance, if there is one.
    pub fn remove_any(&mut self, random: &mut Random) -> bool {
        let mut shared = write(&self.shared);
        let pending = shared.pending.len();
        let chosen = random.below((shared.automaton.len() as usize + pending).max(1));
        if chosen < pending {
            let word = shared.pending.word(chosen).to_vec();
            return shared.remove(&word) == Ok(true);
        }
        let word = shared.automaton.draw(random);
        word.is_some_and(|word| shared.automaton.remove(&word) == Ok(true))
    }

    /// Drops all states, where none has gone into the automaton yet.
    pub fn clear_pending(&mut self) -> bool {
        let mut shared = write(&self.shared);
        if !shared.automaton.is_empty() {
            return false;
        }
        if shared.pending.len() > 0 {
            shared.pending.clear();
        }
        true
    }

    /// Removes a state; was it there? When it fails, nothing was changed. No other handle may be in use.
    pub fn remove(&mut self, state: &[u8]) -> Result<bool, Full> {
        self.seen.forget(words::hash(state));
        write(&self.shared).remove(&self.word_of(state))
    }
}

impl Set for AutomatonSet {
    fn key_bytes(&self) -> usize {
        self.state_bytes
    }

    fn insert(&mut self, batch: &Batch, _: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        let threads = self.threads();
        let AutomatonSet { state_bytes, order, shared, seen, unknown, .. } = self;
        let now = read(shared);
        let places = now.part() / threads / (*state_bytes + 1);
        if places > seen.places() + seen.places() / 4 {
            // One handle at a time asks the budget.
            let _alone = now.pending.adding();
            seen.grow(places);
        }
        unknown.clear();
        for i in 0..batch.len() {
            let state = batch.state(i);
            let hash = words::hash(state);
            if seen.ask(state, hash) {
                continue;
            }
            if now.pending.contains(unknown.push(order, state, i as u32, hash), hash) {
                unknown.drop_last();
            } else if unknown.is_due() {
                unknown.seek(&now.automaton);
            }
        }
        unknown.seek(&now.automaton);
        let adding = now.pending.adding();
        if adding.free() >= unknown.len() {
            unknown.add(adding, batch, new, keys);
            return Ok(());
        }
        drop(adding);
        let merges = now.merges;
        drop(now);
        let mut alone = write(shared);
        if alone.prepare(unknown.len(), threads).is_err() {
            // They were seen, and yet are not there.
            unknown.hashes().iter().for_each(|&hash| seen.forget(hash));
            return Err(Full);
        }
        if alone.merges != merges {
            unknown.seek_again(&alone.automaton);
        }
        unknown.add(alone.pending.adding(), batch, new, keys);
        Ok(())
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        write(&self.shared).prepare(more, self.threads())
    }

    fn share(&self) -> Option<Box<dyn Set>> {
        let handle = AutomatonSet::handle(self.order.clone(), self.shared.clone(), &self.budget);
        handle.ok().map(|handle| Box::new(handle) as Box<dyn Set>)
    }

    fn len(&self) -> u64 {
        let shared = read(&self.shared);
        shared.automaton.len() + shared.pending.len() as u64
    }

    fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let shared = read(&self.shared);
        let mut state = vec![0; self.state_bytes];
        let mut show = |word: &[u8]| {
            self.order.iter().zip(word).for_each(|(&byte, &value)| state[byte as usize] = value);
            show(&state)
        };
        shared.automaton.each(&mut show) && (0..shared.pending.len()).all(|i| show(shared.pending.word(i)))
    }

    fn bytes(&self) -> usize {
        let shared = read(&self.shared);
        shared.automaton.bytes() + shared.pending.bytes() + self.seen.bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let Shared { automaton, pending, .. } = &*read(&self.shared);
        automaton.save(to)?;
        to.write_all(&(pending.len() as u64).to_le_bytes())?;
        (0..pending.len()).try_for_each(|i| to.write_all(pending.word(i)))
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let full = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        let mut shared = write(&self.shared);
        shared.automaton.restore(from)?;
        let (mut word, mut hash) = (vec![0; self.state_bytes], hash_of(&self.order));
        for _ in 0..super::saved::read_u64(from)? {
            from.read_exact(&mut word)?;
            shared.prepare(1, 1).map_err(full)?;
            // Merging relies on it.
            if shared.automaton.contains(&word) || !shared.pending.adding().insert(&word, hash(&word)) {
                return Err(impossible("a word that waits is there already"));
            }
        }
        Ok(())
    }
}
