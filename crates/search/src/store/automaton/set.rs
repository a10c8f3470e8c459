//! The automaton as a store of states.
//!
//! A state that is new waits among the [pending](Pending) words until there are many, and only then goes into the
//! automaton: sorted, so that what words share is opened and closed once for all of them. How many may wait grows with the
//! automaton and stays a small part of it. The key of a state is the state.

use super::Automaton;
use super::recent::{Pending, Seen};
use super::walk::LANES;
use crate::checkpoint::impossible;
use crate::store::{Full, Set};
use crate::words;
use scrimp_core::Budget;
use scrimp_system::{Batch, Random};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Pending words, and states seen last, each have this part of what the automaton has, and at least so many bytes.
const PART: usize = 8;
const LEAST: usize = 64 << 10;
/// Batches that have room among the pending words.
const BATCHES: usize = 4;

pub struct AutomatonSet {
    state_bytes: usize,
    /// For every layer the byte of the state that it stands for.
    order: Vec<u32>,
    automaton: Automaton,
    pending: Pending,
    seen: Seen,
    /// States that must be sought in the automaton: their words, one after the other, their places in the batch and
    /// their hashes.
    asked: Vec<u8>,
    asked_at: [u32; LANES],
    asked_hash: [u64; LANES],
}

impl AutomatonSet {
    /// A set of states of so many bytes. `order` names for every layer of the automaton the byte of the state: a
    /// permutation.
    pub fn new(state_bytes: usize, order: &[u32], budget: &Arc<Budget>) -> Result<AutomatonSet, Full> {
        assert!(super::order::is_permutation(order, state_bytes), "an order of layers has every byte once");
        Ok(AutomatonSet {
            state_bytes,
            order: order.to_vec(),
            automaton: Automaton::new(state_bytes, budget)?,
            pending: Pending::new(state_bytes, budget).map_err(|_| Full)?,
            seen: Seen::new(state_bytes, budget).map_err(|_| Full)?,
            asked: vec![0; LANES * state_bytes],
            asked_at: [0; LANES],
            asked_hash: [0; LANES],
        })
    }

    /// The automaton, with all states in it.
    pub fn automaton(&mut self) -> Result<&Automaton, Full> {
        self.merge()?;
        Ok(&self.automaton)
    }

    fn word_of(&self, state: &[u8]) -> Vec<u8> {
        assert!(state.len() == self.state_bytes);
        self.order.iter().map(|&byte| state[byte as usize]).collect()
    }

    /// Is this state in the set?
    pub fn contains(&self, state: &[u8]) -> bool {
        let word = self.word_of(state);
        self.pending.contains(&word, words::hash(state)) || self.automaton.contains(&word)
    }

    /// Adds a state that is not there.
    pub fn add(&mut self, state: &[u8]) -> Result<(), Full> {
        self.prepare(1)?;
        let word = self.word_of(state);
        self.pending.insert(&word, words::hash(state));
        Ok(())
    }

    /// Which of these states of a batch are there? Sets the answers of those that are.
    pub fn contains_each(&mut self, batch: &Batch, which: &[u32], known: &mut [bool]) {
        let width = self.state_bytes;
        let mut asked = 0;
        for (place, &i) in which.iter().enumerate() {
            if !known[place] {
                let state = batch.state(i as usize);
                let word = &mut self.asked[asked * width..][..width];
                word.iter_mut().zip(&self.order).for_each(|(value, &byte)| *value = state[byte as usize]);
                if self.pending.contains(word, words::hash(state)) {
                    known[place] = true;
                } else {
                    self.asked_at[asked] = place as u32;
                    asked += 1;
                }
            }
            if asked == LANES || asked > 0 && place + 1 == which.len() {
                let answers = self.automaton.contains_each(&self.asked);
                for (&place, answer) in self.asked_at[..asked].iter().zip(answers) {
                    known[place as usize] |= answer;
                }
                asked = 0;
            }
        }
    }

    /// Removes a state by chance, if there is one.
    pub fn remove_any(&mut self, random: &mut Random) -> bool {
        let pending = self.pending.len();
        let chosen = random.below((self.automaton.len() as usize + pending).max(1));
        if chosen < pending {
            let word = self.pending.word(chosen).to_vec();
            return self.pending.remove(&word, hash_of(&self.order));
        }
        let word = self.automaton.draw(random);
        word.is_some_and(|word| self.automaton.remove(&word) == Ok(true))
    }

    /// Drops all states, where none has gone into the automaton yet.
    pub fn clear_pending(&mut self) -> bool {
        if !self.automaton.is_empty() {
            return false;
        }
        if self.pending.len() > 0 {
            self.pending.clear();
        }
        true
    }

    /// Removes a state; was it there? When it fails, nothing was changed.
    pub fn remove(&mut self, state: &[u8]) -> Result<bool, Full> {
        let (word, hash) = (self.word_of(state), words::hash(state));
        self.seen.forget(hash);
        Ok(self.pending.remove(&word, hash_of(&self.order)) || self.automaton.remove(&word)?)
    }

    /// Puts all pending words into the automaton. When the budget does not allow that, some stay.
    fn merge(&mut self) -> Result<(), Full> {
        let count = self.pending.len();
        if count == 0 {
            return Ok(());
        }
        self.pending.sort();
        let pending = &self.pending;
        let done = self.automaton.insert_sorted(count, |i| pending.sorted(i));
        self.pending.forget(done, hash_of(&self.order));
        if done < count { Err(Full) } else { Ok(()) }
    }

    /// Makes room for so many pending words.
    fn prepare(&mut self, count: usize) -> Result<(), Full> {
        if self.pending.free() >= count {
            return Ok(());
        }
        self.merge()?;
        let part = (self.automaton.bytes() / PART).max(LEAST);
        let wanted = part / self.pending.word_cost();
        // What is wanted is not needed: without it, things are slower.
        let wanted = wanted.max(BATCHES * count);
        self.pending.grow(wanted).or_else(|_| self.pending.grow(count))?;
        let places = part / (self.state_bytes + 1);
        if places > self.seen.places() + self.seen.places() / 4 {
            self.seen.grow(places);
        }
        Ok(())
    }

    /// Seeks the first `count` of the states that were asked for, and adds those that are new.
    #[inline(always)]
    fn answer(&mut self, count: usize, batch: &Batch, new: &mut Vec<u32>, keys: &mut Vec<u8>) {
        let width = self.state_bytes;
        // A few are quicker one by one.
        let few = count <= 2;
        let known = if few { [false; LANES] } else { self.automaton.contains_each(&self.asked) };
        for (lane, &known) in known[..count].iter().enumerate() {
            let word = &self.asked[lane * width..][..width];
            let known = known || few && self.automaton.contains(word);
            if !known && self.pending.insert(word, self.asked_hash[lane]) {
                new.push(self.asked_at[lane]);
                keys.extend_from_slice(batch.state(self.asked_at[lane] as usize));
            }
        }
    }
}

/// From a word to the hash of its state.
fn hash_of(order: &[u32]) -> impl FnMut(&[u8]) -> u64 {
    let mut state = vec![0; order.len()];
    move |word| {
        order.iter().zip(word).for_each(|(&byte, &value)| state[byte as usize] = value);
        words::hash(&state)
    }
}

impl Set for AutomatonSet {
    fn key_bytes(&self) -> usize {
        self.state_bytes
    }

    fn insert(&mut self, batch: &Batch, _: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        self.prepare(batch.len())?;
        let mut asked = 0;
        for i in 0..batch.len() {
            let state = batch.state(i);
            let hash = words::hash(state);
            if self.seen.ask(state, hash) {
                continue;
            }
            let word = &mut self.asked[asked * self.state_bytes..][..self.state_bytes];
            word.iter_mut().zip(&self.order).for_each(|(value, &byte)| *value = state[byte as usize]);
            if self.pending.contains(word, hash) {
                continue;
            }
            self.asked_at[asked] = i as u32;
            self.asked_hash[asked] = hash;
            asked += 1;
            if asked == LANES {
                self.answer(asked, batch, new, keys);
                asked = 0;
            }
        }
        if asked > 0 {
            self.answer(asked, batch, new, keys);
        }
        Ok(())
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        self.prepare(more)
    }

    fn len(&self) -> u64 {
        self.automaton.len() + self.pending.len() as u64
    }

    fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let mut state = vec![0; self.state_bytes];
        let mut show = |word: &[u8]| {
            self.order.iter().zip(word).for_each(|(&byte, &value)| state[byte as usize] = value);
            show(&state)
        };
        self.automaton.each(&mut show) && (0..self.pending.len()).all(|i| show(self.pending.word(i)))
    }

    fn bytes(&self) -> usize {
        self.automaton.bytes() + self.pending.bytes() + self.seen.bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.automaton.save(to)?;
        to.write_all(&(self.pending.len() as u64).to_le_bytes())?;
        (0..self.pending.len()).try_for_each(|i| to.write_all(self.pending.word(i)))
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let full = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        self.automaton.restore(from)?;
        let order = self.order.clone();
        let (mut word, mut hash) = (vec![0; self.state_bytes], hash_of(&order));
        for _ in 0..super::saved::read_u64(from)? {
            from.read_exact(&mut word)?;
            self.prepare(1).map_err(full)?;
            // Merging relies on it.
            if self.automaton.contains(&word) || !self.pending.insert(&word, hash(&word)) {
                return Err(impossible("a word that waits is there already"));
            }
        }
        Ok(())
    }
}
