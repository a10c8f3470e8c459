//! Depth-first search for a strongly connected component that has all marks.
//!
//! States that were visited and not given up stand in the order of their discovery; those that are known to reach each other
//! form a component, of which the first is its root, with all marks met inside. An edge back joins all components from its
//! target on. The first one with all marks has a cycle that accepts, whichever and however many the marks are. After Couvreur
//! (1999), Geldenhuys and Valmari (2004). Under strong fairness, a component that is complete and has requests without a grant may
//! still have a part that accepts: it is [taken apart](super::parts) before it is given up.

use super::acceptance::Acceptance;
use super::product::{INSIDE, Mover, WEAK};
use super::states::{Access, Key, Numbered, States};
use super::take_apart::Subgraph;
use super::walk::{Halt, Walk};
use crate::column::{Column, Stack};
use crate::store::Full;
use scrimp_core::{Budget, Control, GraphFacts};
use scrimp_system::{Batch, Model};
use scrimp_temporal::Marks;
use std::io;
use std::sync::Arc;

/// A state that leads to nothing that is still of interest.
const GONE: u32 = u32::MAX;

/// The beginning of a component.
pub(super) struct Root {
    /// The rank of its first state, and where that is on the path.
    pub rank: u32,
    pub place: u32,
    /// The marks within, and those of the edge by which it was entered.
    pub marks: Marks,
    pub entry: Marks,
}

/// The states of a component: those from a rank on that were not given up.
pub(super) struct Inside<'i> {
    first: u32,
    ranks: &'i Column<u32>,
    part: Option<&'i [u32]>,
}

impl Inside<'_> {
    /// Is the state part of the component?
    pub fn has(&self, key: Key) -> bool {
        (key as usize) < self.ranks.len() && (self.first..GONE).contains(&self.ranks[key as u32])
    }

    /// Is it one of those that the cycle stays in?
    pub fn has_in_part(&self, key: Key) -> bool {
        self.has(key) && self.part.is_none_or(|part| part.binary_search(&(key as u32)).is_ok())
    }
}

pub(super) struct Components<'s, 'p, 'a> {
    pub mover: Mover<'p, 'a>,
    pub states: &'s mut Numbered<'p>,
    pub path: Walk,
    /// The rank of each state in the order of discovery, from 1; [`GONE`].
    ranks: Column<u32>,
    /// States that were not given up, by their ranks.
    pub live: Stack,
    pub roots: Vec<Root>,
    pub(super) control: &'s Control,
    pub(super) acceptance: Acceptance,
    pub(super) budget: Arc<Budget>,
    /// Where components are written down that are taken apart.
    pub(super) subgraph: Option<Subgraph>,
    pub facts: GraphFacts,
    ticks: u64,
    /// Where the component that was found begins on the path.
    pub found: Option<u32>,
    /// The states of it that the cycle stays in, in order, where not all will do.
    pub part: Option<Vec<u32>>,
    /// The marks that the cycle must meet.
    pub wanted: Marks,
}

impl<'s, 'p, 'a> Components<'s, 'p, 'a> {
    pub fn new(
        mover: Mover<'p, 'a>,
        states: &'s mut Numbered<'p>,
        control: &'s Control,
        budget: &Arc<Budget>,
    ) -> io::Result<Components<'s, 'p, 'a>> {
        let bytes = mover.product.state_bytes();
        let acceptance = mover.product.acceptance();
        Ok(Components {
            mover,
            states,
            path: Walk::new(bytes, budget)?,
            ranks: Column::new(budget)?,
            live: Stack::new(budget)?,
            roots: Vec::new(),
            control,
            acceptance,
            budget: budget.clone(),
            subgraph: None,
            facts: GraphFacts::default(),
            ticks: 0,
            found: None,
            part: None,
            wanted: 0,
        })
    }

    pub fn rank_of(&self, key: Key) -> u32 {
        self.ranks[key as u32]
    }

    /// Was it visited and not given up? For states that are known.
    pub fn is_alive(&self, key: Key) -> bool {
        (1..GONE).contains(&self.rank_of(key))
    }

    /// Takes all states as given up but those that are then said to be alive.
    pub fn give_all_up(&mut self) -> Result<(), Full> {
        let numbers = self.states.store.numbers();
        self.ranks.ensure(numbers)?;
        (0..numbers as u32).for_each(|id| self.ranks[id] = GONE);
        Ok(())
    }

    /// A state is alive, the next one in the order of discovery: was it not?
    pub fn keep_alive(&mut self, key: Key) -> Result<bool, Full> {
        self.live.ensure(self.live.len() + 1)?;
        let new = self.ranks[key as u32] == GONE;
        self.live.push(key as u32);
        self.ranks[key as u32] = self.live.len() as u32;
        Ok(new)
    }

    /// Searches, or goes on, until everything is visited, a component with all marks is found or a pause is due.
    pub fn search(&mut self) -> Result<(), Halt> {
        self.follow()?;
        let mut initial = Batch::new(self.mover.product.state_bytes());
        self.mover.product.initial(&mut initial);
        let mut roots = Vec::new();
        self.states.keys(&initial, None, &mut roots)?;
        for root in roots {
            if self.states.visit(root)? {
                self.facts.initial_states += 1;
                self.open(root, 0)?;
                self.follow()?;
            }
        }
        Ok(())
    }

    /// The way to states, and which of them are in the component that was found.
    pub fn found_in(&mut self) -> (&mut dyn Access, Inside<'_>) {
        let first = self.roots.last().map_or(0, |root| root.rank);
        (self.states, Inside { first, ranks: &self.ranks, part: self.part.as_deref() })
    }

    fn open(&mut self, key: Key, entry: Marks) -> Result<(), Halt> {
        self.ranks.ensure(key as usize + 1)?;
        self.live.ensure(self.live.len() + 1)?;
        self.live.push(key as u32);
        let rank = self.live.len() as u32;
        self.ranks[key as u32] = rank;
        self.roots.push(Root { rank, place: self.path.len(), marks: 0, entry });
        self.states.enter_path(key)?;
        let expansion = self.path.push(key, self.states, &mut self.mover)?;
        self.facts.deadlocks += expansion.deadlock as u64;
        self.facts.faults += expansion.faults;
        Ok(())
    }

    fn follow(&mut self) -> Result<(), Halt> {
        while !self.path.is_empty() {
            self.tick()?;
            let Some((to, marks)) = self.path.next(self.states, &mut self.mover)? else {
                self.take_apart()?;
                self.leave();
                continue;
            };
            self.facts.transitions += 1;
            if self.states.visit(to)? {
                self.open(to, marks)?;
                continue;
            }
            if self.states.is_on_path(to) {
                // Around a cycle nothing may be left out everywhere.
                self.path.expand_fully(self.states, &mut self.mover)?;
            }
            let rank = self.ranks[to as u32];
            if rank != GONE {
                self.join(rank, marks)?;
            }
        }
        Ok(())
    }

    /// An edge leads back to a state of this rank.
    fn join(&mut self, rank: u32, marks: Marks) -> Result<(), Halt> {
        let kept = self.acceptance.kept();
        let mut all = marks & kept;
        while let Some(root) = self.roots.pop_if(|root| root.rank > rank) {
            all |= (root.marks | root.entry) & kept;
        }
        let Some(root) = self.roots.last_mut() else { return Ok(()) };
        root.marks |= all;
        // Components of the product lie within those of the automaton.
        if marks & INSIDE != 0 && (marks & WEAK != 0 || self.acceptance.accepts(root.marks)) {
            self.found = Some(root.place);
            self.wanted = self.acceptance.wanted(root.marks);
            return Err(Halt::Found);
        }
        Ok(())
    }

    /// All edges of the state at the end of the path are done.
    fn leave(&mut self) {
        let key = self.path.pop();
        self.states.leave_path(key);
        let rank = self.ranks[key as u32];
        if self.roots.pop_if(|root| root.rank == rank).is_some() {
            while self.live.len() as u32 >= rank {
                match self.live.pop() {
                    Some(state) => self.ranks[state] = GONE,
                    None => break,
                }
            }
        }
    }

    fn tick(&mut self) -> Result<(), Halt> {
        self.ticks += 1;
        if self.ticks.is_multiple_of(64) {
            self.control.show_path(self.states.len(), self.facts.transitions, self.path.len() as u64);
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
        let subgraph = self.subgraph.as_ref().map_or(0, Subgraph::bytes);
        let roots = self.roots.capacity() * size_of::<Root>();
        self.path.bytes() + self.ranks.bytes() + self.live.bytes() + roots + subgraph
    }
}
