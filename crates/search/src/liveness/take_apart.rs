//! A component that is complete, taken apart: strong fairness may hold in a part of it only.

use super::components::Components;
use super::parts::{BYTES_PER_STATE, Edges, accepting_parts};
use super::product::INSIDE;
use super::states::{Access, Key};
use super::walk::Halt;
use crate::column::Column;
use crate::store::Full;
use scrimp_core::Budget;
use scrimp_system::{Batch, Model};
use scrimp_temporal::Marks;
use std::sync::Arc;

/// The edges within a component, by the places of its states in the order of discovery.
pub(super) struct Subgraph {
    states: usize,
    edges: u32,
    /// Where the edges of each state begin, and where those of the last one end.
    firsts: Column<u32>,
    targets: Column<u32>,
    marks: Column<u64>,
}

impl Subgraph {
    fn new(budget: &Arc<Budget>) -> Result<Subgraph, Full> {
        let (firsts, targets, marks) = (Column::new(budget), Column::new(budget), Column::new(budget));
        let full = |_| Full;
        Ok(Subgraph {
            states: 0,
            edges: 0,
            firsts: firsts.map_err(full)?,
            targets: targets.map_err(full)?,
            marks: marks.map_err(full)?,
        })
    }

    fn clear(&mut self, states: usize) -> Result<(), Full> {
        (self.states, self.edges) = (0, 0);
        self.firsts.ensure(states + 1)
    }

    fn begin_state(&mut self) {
        self.firsts[self.states as u32] = self.edges;
        self.states += 1;
    }

    fn push(&mut self, to: u32, marks: Marks) -> Result<(), Full> {
        let next = self.edges.checked_add(1).ok_or(Full)?;
        self.targets.ensure(next as usize)?;
        self.marks.ensure(next as usize)?;
        (self.targets[self.edges], self.marks[self.edges]) = (to, marks);
        self.edges = next;
        Ok(())
    }

    fn end(&mut self) {
        self.firsts[self.states as u32] = self.edges;
    }

    pub fn bytes(&self) -> usize {
        self.firsts.bytes() + self.targets.bytes() + self.marks.bytes()
    }
}

impl Edges for Subgraph {
    fn len(&self) -> usize {
        self.states
    }

    fn edge(&self, state: u32, place: usize) -> Option<(u32, Marks)> {
        let at = self.firsts[state] as usize + place;
        (at < self.firsts[state + 1] as usize).then(|| (self.targets[at as u32], self.marks[at as u32]))
    }
}

impl Components<'_, '_, '_> {
    /// All edges of the state at the end of the path are done. If a component begins there that meets every mark and is not
    /// fair as a whole, looks for a part that is. Nothing is given up yet: a search that ends here can be gone on with.
    pub(super) fn take_apart(&mut self) -> Result<(), Halt> {
        let Some(root) = self.roots.last() else { return Ok(()) };
        let (rank, place, marks) = (root.rank, root.place, root.marks);
        let complete = place + 1 == self.path.len();
        if !complete || marks & self.acceptance.all != self.acceptance.all || self.acceptance.ungranted(marks) == 0 {
            return Ok(());
        }
        let states = self.live.len() + 1 - rank as usize;
        let work = states * BYTES_PER_STATE;
        if !self.budget.may_take(work) {
            return Err(Halt::Full);
        }
        let mut subgraph = match self.subgraph.take() {
            Some(subgraph) => subgraph,
            None => Subgraph::new(&self.budget)?,
        };
        self.write_down(rank, states, &mut subgraph)?;
        self.budget.take(work);
        let mut found = None;
        let control = self.control;
        let mut tick = || control.stopped(0).map_or(Ok(()), |limit| Err(Halt::Limit(limit)));
        let taken = accepting_parts(&subgraph, &self.acceptance, &mut tick, &mut |part, marks| {
            found = Some((part.to_vec(), marks));
            false
        });
        self.budget.give_back(work);
        self.subgraph = Some(subgraph);
        taken?;
        let Some((part, marks)) = found else { return Ok(()) };
        let key = |place: u32| self.live.get(rank as usize - 1 + place as usize);
        let mut part: Vec<u32> = part.into_iter().map(key).collect();
        part.sort_unstable();
        (self.found, self.part, self.wanted) = (Some(place), Some(part), self.acceptance.wanted(marks));
        Err(Halt::Found)
    }

    /// The edges among the states from this rank on.
    fn write_down(&mut self, rank: u32, states: usize, subgraph: &mut Subgraph) -> Result<(), Halt> {
        let bytes = self.mover.product.state_bytes();
        let (mut state, mut successors) = (Batch::new(bytes), Batch::new(bytes));
        let (mut marks, mut keys) = (Vec::new(), Vec::new());
        subgraph.clear(states)?;
        for place in 0..states {
            if place.is_multiple_of(1 << 10)
                && let Some(limit) = self.control.stopped(0)
            {
                return Err(Halt::Limit(limit));
            }
            let source = self.live.get(rank as usize - 1 + place) as Key;
            state.clear();
            successors.clear();
            marks.clear();
            keys.clear();
            self.states.load(source, &mut state);
            self.mover.expand(state.state(0), true, &mut successors, &mut marks).map_err(Halt::Fault)?;
            self.states.keys(&successors, Some(source), &mut keys)?;
            subgraph.begin_state();
            for (&to, &given) in keys.iter().zip(&marks) {
                let alive = self.is_alive(to) && self.rank_of(to) >= rank;
                if given & INSIDE != 0 && alive {
                    subgraph.push(self.rank_of(to) - rank, given)?;
                }
            }
        }
        subgraph.end();
        Ok(())
    }
}
