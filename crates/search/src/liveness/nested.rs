//! Nested depth-first search for a cycle that accepts.
//!
//! The outer search visits every state once. When it is done with an accepting edge, an inner search from where that leads
//! looks for a state on the outer path: then the edge is on a cycle. What the inner searches have seen is red, and no later
//! one goes there: it leads to nothing that was still on the path. Where every cycle in a part of the automaton accepts,
//! the outer search sees one when it meets its own path, and no inner search is needed. After Holzmann, Peled and
//! Yannakakis (1996) and Schwoon and Esparza (2005), with marks on edges.

use super::product::{INSIDE, Mover, WEAK};
use super::states::{Key, Known};
use super::walk::{Halt, Walk};
use scrimp_core::{Budget, Control, GraphFacts};
use scrimp_system::{Batch, Model};
use scrimp_temporal::Marks;
use std::io;
use std::sync::Arc;

pub(super) struct Nested<'s, 'p, 'a> {
    pub mover: Mover<'p, 'a>,
    pub states: &'s mut dyn Known,
    pub outer: Walk,
    pub inner: Walk,
    control: &'s Control,
    all: Marks,
    pub facts: GraphFacts,
    ticks: u64,
    /// The cycle: where it begins on the outer path, and how it goes on from the end of that.
    pub cycle: Option<(u32, Vec<Key>)>,
}

impl<'s, 'p, 'a> Nested<'s, 'p, 'a> {
    pub fn new(
        mover: Mover<'p, 'a>,
        states: &'s mut dyn Known,
        control: &'s Control,
        budget: &Arc<Budget>,
    ) -> io::Result<Nested<'s, 'p, 'a>> {
        let bytes = mover.product.state_bytes();
        let all = mover.product.all_marks();
        Ok(Nested {
            mover,
            states,
            outer: Walk::new(bytes, budget)?,
            inner: Walk::new(bytes, budget)?,
            control,
            all,
            facts: GraphFacts::default(),
            ticks: 0,
            cycle: None,
        })
    }

    /// Searches, or goes on, until everything is visited, a cycle is found or a pause is due.
    pub fn search(&mut self) -> Result<(), Halt> {
        self.follow_inner()?;
        self.follow()?;
        let mut initial = Batch::new(self.mover.product.state_bytes());
        self.mover.product.initial(&mut initial);
        let mut roots = Vec::new();
        self.states.keys(&initial, None, &mut roots)?;
        for root in roots {
            if self.states.visit(root)? {
                self.facts.initial_states += 1;
                self.open(root)?;
                self.follow()?;
            }
        }
        Ok(())
    }

    /// A state that was not visited becomes the end of the outer path.
    fn open(&mut self, key: Key) -> Result<(), Halt> {
        self.states.enter_path(key)?;
        let expansion = self.outer.push(key, self.states, &mut self.mover)?;
        self.facts.deadlocks += expansion.deadlock as u64;
        self.facts.faults += expansion.faults;
        Ok(())
    }

    fn accepts(&self, marks: Marks) -> bool {
        marks & INSIDE != 0 && marks & self.all == self.all
    }

    fn follow(&mut self) -> Result<(), Halt> {
        while !self.outer.is_empty() {
            self.tick()?;
            let Some((to, marks)) = self.outer.next(self.states, &mut self.mover)? else {
                let left = self.outer.pop();
                self.states.leave_path(left);
                if !self.outer.is_empty() && !self.mover.product.is_weak() {
                    // The edge that led there is done only now.
                    let last = self.outer.last(self.states, &mut self.mover)?;
                    self.complete(last)?;
                }
                continue;
            };
            self.facts.transitions += 1;
            if self.states.visit(to)? {
                self.open(to)?;
            } else if self.states.is_on_path(to) {
                if self.accepts(marks) || marks & WEAK != 0 {
                    self.cycle = Some((self.place_of(to), Vec::new()));
                    return Err(Halt::Found);
                }
                // Around a cycle nothing may be left out everywhere.
                self.outer.expand_fully(self.states, &mut self.mover)?;
            } else {
                self.complete(Some((to, marks)))?;
            }
        }
        Ok(())
    }

    /// An edge of the state at the end of the outer path is done: if it accepts, it may be on a cycle.
    fn complete(&mut self, edge: Option<(Key, Marks)>) -> Result<(), Halt> {
        let Some((to, _)) = edge.filter(|(_, marks)| self.accepts(*marks) && marks & WEAK == 0) else { return Ok(()) };
        if !self.states.redden(to)? {
            return Ok(());
        }
        self.inner.push(to, self.states, &mut self.mover)?;
        self.follow_inner()
    }

    fn follow_inner(&mut self) -> Result<(), Halt> {
        while !self.inner.is_empty() {
            self.tick()?;
            match self.inner.next(self.states, &mut self.mover)? {
                None => drop(self.inner.pop()),
                Some((_, marks)) if marks & INSIDE == 0 => {}
                Some((next, _)) if self.states.is_on_path(next) => {
                    self.cycle = Some((self.place_of(next), self.inner.keys().collect()));
                    return Err(Halt::Found);
                }
                Some((next, _)) => {
                    if self.states.redden(next)? {
                        self.inner.push(next, self.states, &mut self.mover)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Where a state is on the outer path.
    fn place_of(&self, key: Key) -> u32 {
        (0..self.outer.len()).rev().find(|&place| self.outer.key(place) == key).unwrap_or(0)
    }

    fn tick(&mut self) -> Result<(), Halt> {
        self.ticks += 1;
        if self.ticks.is_multiple_of(64) {
            self.control.show_path(self.states.len(), self.facts.transitions, self.outer.len() as u64);
            if let Some(limit) = self.control.stopped(0) {
                return Err(Halt::Limit(limit));
            }
            if self.control.pause_due(0) {
                return Err(Halt::Paused);
            }
        }
        Ok(())
    }

    /// Bytes held beside the states.
    pub fn bytes(&self) -> usize {
        self.outer.bytes() + self.inner.bytes()
    }
}
