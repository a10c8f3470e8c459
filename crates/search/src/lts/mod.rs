//! The reachability graph: states are numbers, and each has a list of successors in as few bits as they need.
//!
//! Numbers are given when states are found, so when a state is expanded the largest number in its list is known, and with it
//! the width of the list. Vectors are needed only to recognise states: behind the sweep-line they go, and numbers and lists
//! stay. A state that is deleted and found again gets a second number. The graph is then an unfolding of the reachability
//! graph: larger, but bisimilar to it, so temporal properties hold in the one where they hold in the other.

mod binary;
mod bits;
mod components;
mod dot;
mod export;
mod record;
mod reverse;
#[cfg(test)]
mod tests;

pub use components::Components;
pub use export::Form;
pub use record::{Observer, Recorder, Wanted};
pub use reverse::Reverse;

use crate::column::Column;
use crate::store::Full;
use bits::{Bits, width};
use scrimp_core::Budget;
use scrimp_system::EventCode;
use std::io;
use std::sync::Arc;

/// The number of a state.
pub type Number = u32;

/// Bits in front of each list: the widths of its length, of its numbers and of its events.
const HEAD: u32 = 6;

pub struct Lts {
    states: u32,
    transitions: u64,
    initial: Vec<Number>,
    /// All lists, in the order in which states were expanded. The first bit belongs to none.
    lists: Bits,
    /// Where each state's list begins, 40 bits in two parts; 0 where the state was not expanded.
    low: Column<u32>,
    high: Column<u8>,
    /// Conditions that were evaluated in each state: their names, and a bit for each.
    labels: Vec<(String, Bits)>,
    /// The vectors of the first states, where they were asked for.
    vectors: Vec<Vec<u8>>,
}

/// A list of successors with the events that lead to them.
#[derive(Clone)]
pub struct Successors<'a> {
    lists: &'a Bits,
    at: u64,
    left: u32,
    numbers: u32,
    events: u32,
}

/// A place in a list of successors that borrows nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor {
    at: u64,
    left: u32,
    numbers: u16,
    events: u16,
}

impl Cursor {
    /// How many successors are left.
    pub fn left(self) -> u32 {
        self.left
    }
}

impl Lts {
    /// An empty graph whose states will have these labels.
    pub(crate) fn new(labels: impl Iterator<Item = String>, budget: &Arc<Budget>) -> io::Result<Lts> {
        let mut lists = Bits::new(budget)?;
        lists.reserve(1).map_err(|_| io::ErrorKind::OutOfMemory)?;
        lists.push(0, 1);
        Ok(Lts {
            states: 0,
            transitions: 0,
            initial: Vec::new(),
            lists,
            low: Column::new(budget)?,
            high: Column::new(budget)?,
            labels: labels.map(|name| Ok((name, Bits::new(budget)?))).collect::<io::Result<_>>()?,
            vectors: Vec::new(),
        })
    }

    /// How many states there are; their numbers are those below.
    pub fn states(&self) -> u32 {
        self.states
    }

    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    pub fn initial(&self) -> &[Number] {
        &self.initial
    }

    fn start(&self, state: Number) -> u64 {
        self.low[state] as u64 | (self.high[state] as u64) << 32
    }

    /// Was the state expanded, so that its successors are known?
    pub fn is_expanded(&self, state: Number) -> bool {
        self.start(state) != 0
    }

    /// The successors of a state, in the order of the model. None where it was not expanded.
    pub fn successors(&self, state: Number) -> Successors<'_> {
        let (lists, mut at) = (&self.lists, self.start(state));
        if at == 0 {
            return Successors { lists, at, left: 0, numbers: 0, events: 0 };
        }
        let mut next = |width: u32| {
            at += width as u64;
            lists.get(at - width as u64, width)
        };
        let (length, numbers, events) = (next(HEAD), next(HEAD), next(HEAD));
        let left = next(length);
        Successors { lists, at, left, numbers, events }
    }

    /// A place at the beginning of a state's list of successors.
    #[inline]
    pub(crate) fn cursor(&self, state: Number) -> Cursor {
        let Successors { at, left, numbers, events, .. } = self.successors(state);
        Cursor { at, left, numbers: numbers as u16, events: events as u16 }
    }

    /// The successor at a place, which moves on.
    #[inline]
    pub(crate) fn advance(&self, cursor: &mut Cursor) -> Option<Number> {
        cursor.left = cursor.left.checked_sub(1)?;
        let number = self.lists.get(cursor.at, cursor.numbers as u32);
        cursor.at += cursor.numbers as u64 + cursor.events as u64;
        Some(number)
    }

    /// The names of the conditions that were evaluated in each state.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(|(name, _)| name.as_str())
    }

    /// Does the condition with this number hold in a state?
    pub fn holds(&self, label: usize, state: Number) -> bool {
        self.labels[label].1.get(state as u64, 1) == 1
    }

    /// The vector of a state, where it was kept.
    pub fn vector(&self, state: Number) -> Option<&[u8]> {
        self.vectors.get(state as usize).map(Vec::as_slice)
    }

    /// Adds a state, with a truth value for each label.
    pub(crate) fn add(&mut self, labels: impl Iterator<Item = bool>) -> Result<Number, Full> {
        self.reserve()?;
        let number = self.states;
        self.states += 1;
        for ((_, bits), holds) in self.labels.iter_mut().zip(labels) {
            bits.push(holds as u32, 1);
        }
        Ok(number)
    }

    /// Makes room for one more state.
    fn reserve(&mut self) -> Result<(), Full> {
        let states = self.states as usize + 1;
        if self.states == u32::MAX {
            return Err(Full);
        }
        self.low.ensure(states)?;
        self.high.ensure(states)?;
        self.labels.iter_mut().try_for_each(|(_, bits)| bits.reserve(1))
    }

    /// Notes the successors of a state.
    pub(crate) fn list(&mut self, state: Number, successors: &[(Number, EventCode)]) -> Result<(), Full> {
        let (mut highest, mut event) = (0, 0);
        for &(number, code) in successors {
            (highest, event) = (highest.max(number), event.max(code));
        }
        let length = successors.len() as u32;
        let (numbers, events) = (width(highest), width(event));
        self.lists.reserve((3 * HEAD + 32) as u64 + successors.len() as u64 * (numbers + events) as u64)?;
        let start = self.lists.len();
        if start >> 40 != 0 {
            return Err(Full);
        }
        for value in [width(length), numbers, events] {
            self.lists.push(value, HEAD);
        }
        self.lists.push(length, width(length));
        for &(number, code) in successors {
            self.lists.push(number, numbers);
            self.lists.push(code, events);
        }
        (self.low[state], self.high[state]) = (start as u32, (start >> 32) as u8);
        self.transitions += successors.len() as u64;
        Ok(())
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let labels: usize = self.labels.iter().map(|(_, bits)| bits.bytes()).sum();
        self.lists.bytes() + self.low.bytes() + self.high.bytes() + labels
    }
}

impl Iterator for Successors<'_> {
    type Item = (Number, EventCode);

    #[inline]
    fn next(&mut self) -> Option<(Number, EventCode)> {
        self.left = self.left.checked_sub(1)?;
        let number = self.lists.get(self.at, self.numbers);
        let event = self.lists.get(self.at + self.numbers as u64, self.events);
        self.at += (self.numbers + self.events) as u64;
        Some((number, event))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Successors<'_> {}
