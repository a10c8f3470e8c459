//! The path of a depth-first search through a product: its states, how many edges of each are done, and the edges of those
//! near its end. The edges of sources further back are found again on return.

use super::product::{Expansion, INSIDE, Mover, WEAK};
use super::states::{Access, Key};
use crate::column::Column;
use crate::store::Full;
use scrimp_core::Budget;
use scrimp_system::{Batch, Fault};
use scrimp_temporal::Marks;
use std::io;
use std::sync::Arc;

/// Edges kept before those of sources further back are dropped.
const KEPT: usize = 1 << 16;

/// Why a search ends early.
#[derive(Debug)]
pub(super) enum Halt {
    Full,
    /// An atom could not be evaluated in the state at the end of the path.
    Fault(Fault),
    Limit(scrimp_core::budget::Limit),
    /// A pause is due: the search can go on from where it stands.
    Paused,
    /// There is a cycle: the search knows where.
    Found,
}

impl From<Full> for Halt {
    fn from(_: Full) -> Halt {
        Halt::Full
    }
}

/// An edge: where it leads, and its marks.
pub(super) type Edge = (Key, Marks);

pub(super) struct Walk {
    keys: Column<u64>,
    done: Column<u32>,
    len: u32,
    /// For each of the last sources, where its edges begin, and what expanding it was like.
    firsts: Vec<(u32, Expansion)>,
    edges: Vec<Edge>,
    state: Batch,
    successors: Batch,
    marks: Vec<Marks>,
    found: Vec<Key>,
    /// How edges are turned, so that threads take different ways.
    turn: u64,
    pub deepest: u32,
}

impl Walk {
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> io::Result<Walk> {
        Ok(Walk {
            keys: Column::new(budget)?,
            done: Column::new(budget)?,
            len: 0,
            firsts: Vec::new(),
            edges: Vec::new(),
            state: Batch::new(state_bytes),
            successors: Batch::new(state_bytes),
            marks: Vec::new(),
            found: Vec::new(),
            turn: 0,
            deepest: 0,
        })
    }

    /// The same, taking the edges of a state in another order.
    pub fn turned(self, turn: u64) -> Walk {
        Walk { turn, ..self }
    }

    pub fn len(&self) -> u32 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The state at a place of the path.
    pub fn key(&self, place: u32) -> Key {
        self.keys[place]
    }

    /// How many edges of the state at a place of the path are done.
    pub fn done(&self, place: u32) -> u32 {
        self.done[place]
    }

    /// The path goes on to a state with so many edges done. They are found when the path is gone on with.
    pub fn put_back(&mut self, key: Key, done: u32) -> Result<(), Full> {
        self.keys.ensure(self.len as usize + 1)?;
        self.done.ensure(self.len as usize + 1)?;
        self.keys[self.len] = key;
        self.done[self.len] = done;
        self.len += 1;
        Ok(())
    }

    /// All states of the path.
    pub fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        (0..self.len).map(|place| self.keys[place])
    }

    /// The path goes on to a state, whose edges are found.
    pub fn push(&mut self, key: Key, states: &mut dyn Access, mover: &mut Mover) -> Result<Expansion, Halt> {
        self.put_back(key, 0)?;
        self.deepest = self.deepest.max(self.len);
        self.expand(states, mover)
    }

    /// Leaves the state at the end.
    pub fn pop(&mut self) -> Key {
        self.len -= 1;
        if let Some((first, _)) = self.firsts.pop() {
            self.edges.truncate(first as usize);
        }
        self.keys[self.len]
    }

    /// The next edge of the state at the end; `None` when all are done.
    pub fn next(&mut self, states: &mut dyn Access, mover: &mut Mover) -> Result<Option<Edge>, Halt> {
        let (first, done) = self.position(states, mover)?;
        let edge = self.edges.get(first + done).copied();
        self.done[self.len - 1] += edge.is_some() as u32;
        Ok(edge)
    }

    /// The edge of the state at the end that was done last.
    pub fn last(&mut self, states: &mut dyn Access, mover: &mut Mover) -> Result<Option<Edge>, Halt> {
        let (first, done) = self.position(states, mover)?;
        Ok(done.checked_sub(1).and_then(|last| self.edges.get(first + last).copied()))
    }

    /// How many edges the state at the end has, and whether one of them has all marks and can be on a cycle, without
    /// every cycle accepting anyway.
    pub fn summary(&mut self, all: Marks, states: &mut dyn Access, mover: &mut Mover) -> Result<(u64, bool), Halt> {
        let (first, _) = self.position(states, mover)?;
        let edges = &self.edges[first..];
        let accepts = |marks: Marks| marks & INSIDE != 0 && marks & WEAK == 0 && marks & all == all;
        Ok((edges.len() as u64, edges.iter().any(|(_, marks)| accepts(*marks))))
    }

    /// What expanding the state at the end was like, which has just been [summed up](Walk::summary).
    pub fn expansion(&self) -> Expansion {
        self.firsts.last().map_or_else(Expansion::default, |(_, expansion)| *expansion)
    }

    fn position(&mut self, states: &mut dyn Access, mover: &mut Mover) -> Result<(usize, usize), Halt> {
        if self.firsts.is_empty() {
            self.expand(states, mover)?;
        }
        let first = self.firsts.last().map_or(0, |(first, _)| *first as usize);
        Ok((first, self.done[self.len - 1] as usize))
    }

    /// Explores the events that were left out at the end of the path too, if any were.
    pub fn expand_fully(&mut self, states: &mut dyn Access, mover: &mut Mover) -> Result<(), Halt> {
        if let Some(&(first, Expansion { left_out: true, .. })) = self.firsts.last() {
            states.make_full(self.keys[self.len - 1])?;
            self.firsts.pop();
            self.edges.truncate(first as usize);
            self.expand(states, mover)?;
        }
        Ok(())
    }

    fn expand(&mut self, states: &mut dyn Access, mover: &mut Mover) -> Result<Expansion, Halt> {
        if self.edges.len() > KEPT {
            self.edges.clear();
            self.firsts.clear();
        }
        let key = self.keys[self.len - 1];
        self.state.clear();
        self.successors.clear();
        self.marks.clear();
        self.found.clear();
        states.load(key, &mut self.state);
        let full = states.is_full(key);
        let expansion =
            mover.expand(self.state.state(0), full, &mut self.successors, &mut self.marks).map_err(Halt::Fault)?;
        states.keys(&self.successors, Some(key), &mut self.found)?;
        let first = self.edges.len();
        self.firsts.push((first as u32, expansion));
        self.edges.extend(self.found.drain(..).zip(self.marks.drain(..)));
        let count = self.edges.len() - first;
        if self.turn > 0 && count > 1 {
            let by = (key ^ self.turn).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            self.edges[first..].rotate_left(by as usize % count);
        }
        Ok(expansion)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.keys.bytes() + self.done.bytes() + self.edges.capacity() * size_of::<Edge>()
    }
}
