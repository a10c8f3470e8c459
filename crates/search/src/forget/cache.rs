//! State caching in any search order: closed states that led to no open state may go when memory is short.
//!
//! The termination-detection tree holds every open state and its ancestors, each with its predecessor and a count of the
//! references to it: one from every successor in the tree and one from itself while it is open. It must stay; without it a
//! cycle could be gone round for ever. A closed state to which nothing refers has left it and is a candidate.
//!
//! Under the sweep-line the tree is a forest: the line deletes states of the tree too, and a link is followed only among
//! states found since the line last moved.

use super::strategy::{Strategy, Traits};
use super::{Forget, ForgetFacts, Link, NONE};
use crate::budget::Budget;
use crate::column::{Column, Stack};
use crate::order::draw_below;
use crate::store::{Full, StateId, Store};
use scrimp_system::Unsuited;
use std::io;
use std::sync::Arc;

/// Candidates compared before one goes.
const LOOKED_AT: usize = 24;
/// A state with this count is never let go: its count can no longer be told.
const SATURATED: u16 = u16::MAX;

const CLOSED: u8 = 1;
/// Persistent under the sweep-line: never a candidate.
const PERSISTENT: u8 = 2;
/// Has a single successor, and leads from one branching state to the next.
const CHAIN: u8 = 4;
const CANDIDATE: u8 = 8;

pub struct Cache {
    most: usize,
    chains: bool,
    pred: Column<StateId>,
    refs: Column<u16>,
    flags: Column<u8>,
    /// When the state was found, in moves of the sweep-line.
    epochs: Option<Column<u32>>,
    epoch: u32,
    /// States that may go. A state deleted otherwise leaves its entry behind.
    candidates: Stack,
    candidate_count: u64,
    traits: Traits,
    seed: u64,
    tree: u64,
    facts: ForgetFacts,
}

impl Cache {
    pub fn new(most: usize, strategy: Strategy, chains: bool, seed: u64, budget: &Arc<Budget>) -> io::Result<Cache> {
        Ok(Cache {
            most,
            chains,
            pred: Column::new(budget)?,
            refs: Column::new(budget)?,
            flags: Column::new(budget)?,
            epochs: None,
            epoch: 0,
            candidates: Stack::new(budget)?,
            candidate_count: 0,
            traits: Traits::new(strategy, budget)?,
            seed,
            tree: 0,
            facts: ForgetFacts::default(),
        })
    }

    /// The cache under a sweep-line, which deletes states by itself.
    pub fn swept(self, budget: &Arc<Budget>) -> io::Result<Cache> {
        Ok(Cache { epochs: Some(Column::new(budget)?), ..self })
    }

    /// The sweep-line moves.
    pub fn new_epoch(&mut self) {
        self.epoch += 1;
    }

    /// A state was deleted by another's decision.
    pub fn deleted(&mut self, id: StateId) {
        self.leave_candidates(id);
        if self.refs[id] > 0 {
            self.tree -= 1;
        }
        self.flags[id] = 0;
        self.refs[id] = 0;
    }

    /// Takes over a stored state of which only this is known: it is open, and a root, or closed.
    pub fn adopt(&mut self, id: StateId, closed: bool) {
        self.pred[id] = NONE;
        self.refs[id] = !closed as u16;
        self.flags[id] = if closed { CLOSED } else { 0 };
        self.tree += !closed as u64;
        self.traits.opened(id, 0);
        if closed {
            self.add_candidate(id);
        }
    }

    fn leave_candidates(&mut self, id: StateId) {
        if self.flags[id] & CANDIDATE != 0 {
            self.flags[id] &= !CANDIDATE;
            self.candidate_count -= 1;
        }
    }

    fn add_candidate(&mut self, id: StateId) {
        if self.candidates.len() as u64 > 2 * self.candidate_count + 64 {
            self.compact();
        }
        self.flags[id] |= CANDIDATE;
        self.candidates.push(id);
        self.candidate_count += 1;
        self.facts.candidates_peak = self.facts.candidates_peak.max(self.candidate_count);
    }

    /// Drops the entries of states that are no candidates any more, and all but one of those with several.
    fn compact(&mut self) {
        let mut at = 0;
        while at < self.candidates.len() {
            let id = self.candidates.get(at);
            if self.flags[id] & CANDIDATE != 0 {
                self.flags[id] &= !CANDIDATE;
                at += 1;
            } else {
                self.candidates.swap_remove(at);
            }
        }
        for at in 0..self.candidates.len() {
            self.flags[self.candidates.get(at)] |= CANDIDATE;
        }
    }

    /// Takes a reference away, and goes on upwards as long as states leave the tree.
    fn unref(&mut self, mut id: StateId) {
        loop {
            if self.refs[id] == SATURATED {
                return;
            }
            self.refs[id] -= 1;
            if self.refs[id] > 0 {
                return;
            }
            self.tree -= 1;
            if self.flags[id] & PERSISTENT == 0 {
                self.add_candidate(id);
            }
            match self.predecessor(id) {
                Some(pred) => id = pred,
                None => return,
            }
        }
    }

    /// The predecessor of a state of the tree.
    fn predecessor(&self, id: StateId) -> Option<StateId> {
        let followed = self.epochs.as_ref().is_none_or(|epochs| epochs[id] == self.epoch);
        Some(self.pred[id]).filter(|&pred| pred != NONE && followed)
    }

    /// Where a state found from `from` is tied to the tree: there, or, when it ends a chain, where the chain began.
    fn tie(&self, from: StateId, single: bool) -> StateId {
        let mut tie = from;
        if self.chains && !single {
            while self.flags[tie] & CHAIN != 0
                && let Some(pred) = self.predecessor(tie)
            {
                tie = pred;
            }
        }
        tie
    }

    /// Drops a candidate.
    pub fn evict(&mut self, store: &mut dyn Store) -> Option<StateId> {
        let at = self.choose()?;
        let id = self.candidates.swap_remove(at);
        self.leave_candidates(id);
        self.flags[id] = 0;
        self.facts.evictions += 1;
        store.remove(id);
        Some(id)
    }

    /// The candidate that goes next.
    fn choose(&mut self) -> Option<usize> {
        while self.candidates.len() > 0 {
            let looked_at = if self.traits.by_chance() { 1 } else { LOOKED_AT };
            let all = self.candidates.len() <= looked_at;
            let mut best: Option<usize> = None;
            let mut stale = None;
            for i in 0..looked_at.min(self.candidates.len()) {
                let at = if all { i } else { draw_below(&mut self.seed, self.candidates.len()) };
                let id = self.candidates.get(at);
                if self.flags[id] & CANDIDATE == 0 {
                    stale = Some(at);
                } else if best.is_none_or(|b| self.traits.goes_first(id, self.candidates.get(b))) {
                    best = Some(at);
                }
            }
            if best.is_some() {
                return best;
            }
            if let Some(at) = stale {
                self.candidates.swap_remove(at);
            }
        }
        None
    }
}

impl Forget for Cache {
    fn prepare(&mut self, numbers: usize) -> Result<(), Full> {
        self.pred.ensure(numbers)?;
        self.refs.ensure(numbers)?;
        self.flags.ensure(numbers)?;
        if let Some(epochs) = &mut self.epochs {
            epochs.ensure(numbers)?;
        }
        // Entries left behind may be as many again.
        self.candidates.ensure(2 * numbers + 128)?;
        self.traits.prepare(numbers)
    }

    fn most(&self) -> usize {
        self.most
    }

    fn opened(&mut self, link: Link) -> Result<(), Unsuited> {
        let id = link.id;
        let tie = link.from.map(|from| self.tie(from, link.single));
        self.pred[id] = tie.unwrap_or(NONE);
        self.refs[id] = 1;
        self.flags[id] =
            if link.single && tie.is_some() { CHAIN } else { 0 } | if link.behind { PERSISTENT } else { 0 };
        if let Some(epochs) = &mut self.epochs {
            epochs[id] = self.epoch;
        }
        self.tree += 1;
        if let Some(tie) = tie {
            self.refs[tie] = self.refs[tie].saturating_add(1);
        }
        self.facts.tree_peak = self.facts.tree_peak.max(self.tree);
        self.traits.opened(id, link.depth);
        Ok(())
    }

    fn reached(&mut self, id: StateId, _: &mut dyn Store) {
        self.traits.reached(id, self.flags[id] & CLOSED != 0);
    }

    fn expanding(&mut self, id: StateId, successors: usize, _: bool, _: &mut dyn Store) -> bool {
        self.traits.expanded(id, successors);
        false
    }

    fn closed(&mut self, id: StateId, _: &mut dyn Store) {
        self.flags[id] |= CLOSED;
        self.unref(id);
    }

    fn reclaim(&mut self, store: &mut dyn Store) -> bool {
        self.evict(store).is_some()
    }

    fn wants_chains(&self) -> bool {
        self.chains
    }

    fn ancestors(&self, id: StateId) -> Option<Vec<StateId>> {
        if self.epochs.is_some() {
            return None;
        }
        let mut ancestors = Vec::new();
        let mut id = id;
        while let Some(pred) = self.predecessor(id) {
            ancestors.push(pred);
            id = pred;
        }
        Some(ancestors)
    }

    fn once(&self) -> bool {
        self.facts.evictions == 0
    }

    fn facts(&self) -> ForgetFacts {
        self.facts.clone()
    }

    fn bytes(&self) -> usize {
        let columns = self.pred.bytes() + self.refs.bytes() + self.flags.bytes();
        columns + self.candidates.bytes() + self.epochs.as_ref().map_or(0, Column::bytes) + self.traits.bytes()
    }
}
