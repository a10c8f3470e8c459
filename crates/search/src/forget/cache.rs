//! State caching in any search order: closed states that led to no open state may go when memory is short.
//!
//! The termination-detection tree holds every open state and its ancestors, each with its predecessor and a count of the
//! references to it: one from every successor in the tree and one from itself while it is open. It must stay; without it a
//! cycle could be gone round for ever. A closed state to which nothing refers has left it and is a candidate.
//!
//! The tree is smaller here than in the paper, by two steps that leave its argument as it is. Not every ancestor is needed:
//! of a path that goes on for ever it is enough to keep infinitely many, such as every n-th, and infinitely many stored
//! states there are not. They are counted along the path, ends of chains left out: by depth alone, they might all fall on
//! states that chains leave out. And a waiting state that is reached again may be tied to the new predecessor instead of the
//! old one, as if that had found it, where the old one can then go.
//!
//! References are counted only once half the room is taken: until then the predecessor is all that is noted.
//!
//! States of the tree need no vector where the store can replay them: a closed one is stripped, but for every
//! [`WHOLE`]-th on each path, so that replays stay short. Before it leaves the tree it is restored, for its predecessor may
//! then go. The cache's size counts the states with vectors. All this needs every ancestor in the tree, and references
//! counted from the start.
//!
//! Where the store archives states, those that leave the tree go there, and many of them go together when room is needed.
//!
//! Under the sweep-line the tree is a forest: the line deletes states of the tree too, and a link is followed only among
//! states found since the line last moved.

use super::strategy::{Strategy, Traits};
use super::{Forget, Link, NONE, Tie, Ties};
use crate::column::{Column, Pod, Stack};
use crate::order::draw_below;
use crate::store::{Dropped, Full, Shelf, StateId, Store};
use scrimp_core::{Budget, ForgetFacts};
use scrimp_system::{EventCode, Unsuited};
use std::io;
use std::sync::Arc;

/// Candidates compared before one goes.
const LOOKED_AT: usize = 24;
/// On a path of a tree that is stripped, one of so many states keeps its vector.
const WHOLE: u16 = 8;
/// A state with this count is never let go: its count can no longer be told.
const SATURATED: u16 = u16::MAX;

const CLOSED: u8 = 1;
/// Persistent under the sweep-line: never a candidate.
const PERSISTENT: u8 = 2;
/// Has a single successor, and leads from one branching state to the next.
const CHAIN: u8 = 4;
const CANDIDATE: u8 = 8;
/// Some of its events have been run.
const BEGUN: u8 = 16;
/// No ancestor for the tree to keep: what it leads to is tied further up.
const SKIPPED: u8 = 32;

/// Which ancestors of open states the tree keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tree {
    /// Only the ends of chains of states with a single successor.
    pub chains: bool,
    /// Only every n-th of those that chains do not leave out; at most 255.
    pub stride: u32,
}

/// What the tree knows of a state.
#[derive(Debug, Clone, Copy)]
struct Node {
    pred: StateId,
    refs: u16,
    flags: u8,
    /// Steps from the last ancestor that is kept, or, where states are stripped, from the last one that keeps its vector.
    /// None means that it is this state itself.
    steps: u8,
}

impl Pod for Node {}

/// What a share of the state space knows of the others.
struct Share {
    number: u8,
    /// In which share the predecessor of each state is.
    homes: Column<u8>,
    sent_back: Vec<Tie>,
}

pub struct Cache {
    most: usize,
    chains: bool,
    /// Every n-th ancestor is kept.
    stride: u16,
    nodes: Column<Node>,
    /// When the state was found, in moves of the sweep-line.
    epochs: Option<Column<u32>>,
    epoch: u32,
    /// States that may go. A state deleted otherwise leaves its entry behind.
    candidates: Stack,
    candidate_count: u64,
    traits: Traits,
    seed: u64,
    tree: u64,
    /// Whether references are counted: not before room gets scarce.
    counting: bool,
    /// Whether closed states of the tree are stripped.
    strips: bool,
    /// Whether the store archives what may go.
    archives: bool,
    /// Some were taken over from a saved search, and what led to them is not known.
    adopted: bool,
    /// States found so far; while nothing has gone, all their numbers.
    found: u32,
    /// Where this is one share of the state space among others.
    share: Option<Share>,
    facts: ForgetFacts,
}

impl Cache {
    /// A cache of at most `most` states, whose tree keeps every `stride`-th ancestor, and of `chains` only the ends.
    pub fn new(most: usize, strategy: Strategy, tree: Tree, seed: u64, budget: &Arc<Budget>) -> io::Result<Cache> {
        Ok(Cache {
            most,
            chains: tree.chains,
            stride: tree.stride.clamp(1, u8::MAX as u32) as u16,
            nodes: Column::new(budget)?,
            epochs: None,
            epoch: 0,
            candidates: Stack::new(budget)?,
            candidate_count: 0,
            traits: Traits::new(strategy, budget)?,
            seed,
            tree: 0,
            counting: false,
            strips: false,
            archives: false,
            adopted: false,
            found: 0,
            share: None,
            facts: ForgetFacts::default(),
        })
    }

    /// The cache of one share of the state space among others.
    pub fn shared(self, number: u8, budget: &Arc<Budget>) -> io::Result<Cache> {
        let share = Share { number, homes: Column::new(budget)?, sent_back: Vec::new() };
        Ok(Cache { share: Some(share), counting: true, ..self })
    }

    /// The cache under a sweep-line, which deletes states by itself.
    pub fn swept(self, budget: &Arc<Budget>) -> io::Result<Cache> {
        Ok(Cache { epochs: Some(Column::new(budget)?), counting: true, ..self })
    }

    /// The cache over a store that archives what may go, and drops many of that at a time.
    pub fn archiving(self) -> Cache {
        Cache { archives: true, counting: true, ..self }
    }

    /// The cache over a store that replays states: closed ones of the tree are stripped. The tree must be whole.
    pub fn stripping(self) -> Cache {
        assert!(!self.chains && self.stride == 1);
        Cache { counting: true, strips: true, ..self }
    }

    /// The sweep-line moves.
    pub fn new_epoch(&mut self) {
        self.epoch += 1;
    }

    /// A state was deleted by another's decision.
    pub fn deleted(&mut self, id: StateId) {
        self.leave_candidates(id);
        if self.nodes[id].refs > 0 {
            self.tree -= 1;
        }
        self.nodes[id].flags = 0;
        self.nodes[id].refs = 0;
    }

    /// Takes over a stored state of which only this is known: it is open, and a root, or closed.
    pub fn take_over(&mut self, id: StateId, closed: bool) {
        self.counting = true;
        self.nodes[id] = Node { pred: NONE, refs: !closed as u16, flags: if closed { CLOSED } else { 0 }, steps: 0 };
        if let Some(share) = &mut self.share {
            share.homes[id] = share.number;
        }
        self.tree += !closed as u64;
        self.traits.opened(id, 0);
        if closed {
            self.add_candidate(id);
        }
    }

    /// A state has left the tree: it is a candidate, or archived where the store does that.
    fn let_go(&mut self, id: StateId, store: &mut dyn Store) {
        if !self.archives {
            return self.add_candidate(id);
        }
        let mut archived = store.archive(id, Shelf::Passing);
        if !archived {
            self.facts.evictions += store.drop_passing(Dropped::Many);
            archived = store.archive(id, Shelf::Passing);
        }
        if archived {
            self.nodes[id].flags = 0;
            self.facts.candidates_peak = self.facts.candidates_peak.max((store.stored() - store.len()) as u64);
        } else {
            self.drop_state(id, store);
        }
    }

    fn leave_candidates(&mut self, id: StateId) {
        if self.nodes[id].flags & CANDIDATE != 0 {
            self.nodes[id].flags &= !CANDIDATE;
            self.candidate_count -= 1;
        }
    }

    fn add_candidate(&mut self, id: StateId) {
        if self.candidates.len() as u64 > 2 * self.candidate_count + 64 {
            self.compact();
        }
        self.nodes[id].flags |= CANDIDATE;
        self.candidates.push(id);
        self.candidate_count += 1;
        self.facts.candidates_peak = self.facts.candidates_peak.max(self.candidate_count);
    }

    /// Drops the entries of states that are no candidates any more, and all but one of those with several.
    fn compact(&mut self) {
        let mut at = 0;
        while at < self.candidates.len() {
            let id = self.candidates.get(at);
            if self.nodes[id].flags & CANDIDATE != 0 {
                self.nodes[id].flags &= !CANDIDATE;
                at += 1;
            } else {
                self.candidates.swap_remove(at);
            }
        }
        for at in 0..self.candidates.len() {
            self.nodes[self.candidates.get(at)].flags |= CANDIDATE;
        }
    }

    /// Begins to count references. Until now no state has gone, so that predecessors have lower numbers than what they led
    /// to, and one pass backwards knows all counts.
    fn count_references(&mut self) {
        if std::mem::replace(&mut self.counting, true) {
            return;
        }
        for id in (0..self.found).rev() {
            let Node { pred, refs, flags, .. } = self.nodes[id];
            let refs = refs.saturating_add((flags & CLOSED == 0) as u16);
            self.nodes[id].refs = refs;
            if refs == 0 {
                self.add_candidate(id);
            } else {
                self.tree += 1;
                if pred != NONE {
                    self.nodes[pred].refs = self.nodes[pred].refs.saturating_add(1);
                }
            }
        }
        self.facts.tree_peak = Some(self.tree);
    }

    /// Takes a reference away, and goes on upwards as long as states leave the tree.
    fn unref(&mut self, mut id: StateId, store: &mut dyn Store) {
        loop {
            if self.nodes[id].refs == SATURATED {
                return;
            }
            self.nodes[id].refs -= 1;
            if self.nodes[id].refs > 0 {
                return;
            }
            self.tree -= 1;
            if self.nodes[id].flags & PERSISTENT == 0 && self.make_whole(id, store) {
                self.let_go(id, store);
            }
            if let Some(tie) = self.tie_of(id) {
                return self.send_back(tie);
            }
            match self.predecessor(id) {
                Some(pred) => id = pred,
                None => return,
            }
        }
    }

    /// Restores a state that leaves the tree, in place of a candidate where room is scarce. It goes itself where there is
    /// none: then the answer is `false`.
    fn make_whole(&mut self, id: StateId, store: &mut dyn Store) -> bool {
        if self.nodes[id].steps == 0 || store.is_whole(id) {
            return true;
        }
        while store.whole() >= self.most || store.restore(id).is_err() {
            if self.evict(store).is_none() {
                self.drop_state(id, store);
                return false;
            }
        }
        true
    }

    /// The predecessor of a state of the tree, in this share of the state space or another.
    fn link(&self, id: StateId) -> Option<StateId> {
        let followed = self.epochs.as_ref().is_none_or(|epochs| epochs[id] == self.epoch);
        Some(self.nodes[id].pred).filter(|&pred| pred != NONE && followed)
    }

    /// The predecessor of a state of the tree, where it is in this share.
    fn predecessor(&self, id: StateId) -> Option<StateId> {
        self.link(id).filter(|_| self.share.as_ref().is_none_or(|share| share.homes[id] == share.number))
    }

    /// The predecessor of a state of the tree, where it is in another share.
    fn tie_of(&self, id: StateId) -> Option<Tie> {
        let share = self.share.as_ref()?;
        let home = Some(share.homes[id]).filter(|&home| home != share.number)?;
        Some(Tie { share: home, id: self.link(id)?, epoch: self.epoch })
    }

    /// Where a state found from `from` is tied to the tree: at the nearest ancestor that is kept. While a chain goes on, all
    /// of it is.
    fn anchor(&self, from: StateId, single: bool) -> StateId {
        let mut tie = from;
        loop {
            let flags = self.nodes[tie].flags;
            let stays = if flags & CHAIN != 0 { single || !self.chains } else { flags & SKIPPED == 0 };
            match self.predecessor(tie) {
                Some(pred) if !stays => tie = pred,
                _ => return tie,
            }
        }
    }

    /// The steps of a state found from `from`, and its flag where it is not kept.
    fn step(&self, from: Option<StateId>) -> (u8, u8) {
        let period = if self.strips { WHOLE } else { self.stride };
        let steps = from.map_or(0, |from| (self.nodes[from].steps as u16 + 1) % period) as u8;
        (steps, if steps == 0 || self.strips { 0 } else { SKIPPED })
    }

    /// A waiting state is reached again: where its predecessor stays for its sake alone and the new one stays anyway, it is
    /// tied to the new one, as if that had found it.
    fn retie(&mut self, id: StateId, from: StateId, event: EventCode, store: &mut dyn Store) {
        let node = self.nodes[id];
        if node.flags & (BEGUN | CLOSED | CHAIN) != 0 || node.refs != 1 {
            return;
        }
        let Some(old) = self.predecessor(id).filter(|&old| old != from) else {
            return;
        };
        if self.nodes[old].flags & CLOSED != 0 && self.nodes[from].refs > self.nodes[old].refs {
            let tie = self.anchor(from, false);
            let (steps, skipped) = self.step(Some(from));
            self.nodes[id] = Node { pred: tie, steps, flags: node.flags & !SKIPPED | skipped, ..node };
            store.led_by(id, event);
            self.nodes[tie].refs = self.nodes[tie].refs.saturating_add(1);
            if let Some(epochs) = &mut self.epochs {
                epochs[id] = self.epoch;
            }
            self.unref(old, store);
        }
    }

    /// Drops a candidate.
    pub fn evict(&mut self, store: &mut dyn Store) -> Option<StateId> {
        self.count_references();
        let at = self.choose()?;
        let id = self.candidates.swap_remove(at);
        self.leave_candidates(id);
        self.drop_state(id, store);
        Some(id)
    }

    fn drop_state(&mut self, id: StateId, store: &mut dyn Store) {
        self.nodes[id].flags = 0;
        self.facts.evictions += 1;
        store.remove(id);
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
                if self.nodes[id].flags & CANDIDATE == 0 {
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
        self.nodes.ensure(numbers)?;
        if let Some(epochs) = &mut self.epochs {
            epochs.ensure(numbers)?;
        }
        if let Some(share) = &mut self.share {
            share.homes.ensure(numbers)?;
        }
        // Entries left behind may be as many again.
        self.candidates.ensure(2 * numbers + 128)?;
        self.traits.prepare(numbers)
    }

    fn most(&self) -> usize {
        self.most
    }

    fn opened(&mut self, link: Link, _: &dyn Store) -> Result<(), Unsuited> {
        let id = link.id;
        let tie = link.from.map(|from| self.anchor(from, link.single));
        let (steps, kind) = match link.from {
            Some(from) if link.single => (self.nodes[from].steps, CHAIN),
            from => self.step(from),
        };
        let persistent = if link.behind { PERSISTENT } else { 0 };
        let counting = self.counting;
        let pred = tie.or(link.tie.map(|tie| tie.id)).unwrap_or(NONE);
        self.nodes[id] = Node { pred, refs: counting as u16, flags: kind | persistent, steps };
        if let Some(share) = &mut self.share {
            share.homes[id] = link.tie.map_or(share.number, |tie| tie.share);
        }
        self.found += 1;
        self.traits.opened(id, link.depth);
        if !counting {
            return Ok(());
        }
        if let Some(epochs) = &mut self.epochs {
            epochs[id] = self.epoch;
        }
        self.tree += 1;
        if let Some(tie) = tie {
            self.nodes[tie].refs = self.nodes[tie].refs.saturating_add(1);
        }
        self.facts.tree_peak = self.facts.tree_peak.max(Some(self.tree));
        Ok(())
    }

    fn adopt(&mut self, link: Link, _: u32, store: &dyn Store) -> Result<(), Unsuited> {
        self.adopted = true;
        self.opened(link, store)
    }

    fn remember(&mut self, facts: &ForgetFacts) {
        self.facts = facts.clone();
    }

    fn heeds_reached(&self) -> bool {
        self.counting || self.traits.asks_who_is_reached()
    }

    fn reached(&mut self, id: StateId, from: Option<StateId>, event: EventCode, store: &mut dyn Store) {
        if let Some(from) = from
            && self.counting
        {
            self.retie(id, from, event, store);
        }
        if self.traits.asks_who_is_reached() {
            self.traits.reached(id, self.nodes[id].flags & CLOSED != 0);
        }
    }

    fn expanding(&mut self, id: StateId, successors: usize, _: bool, _: &mut dyn Store) -> bool {
        if self.counting {
            self.nodes[id].flags |= BEGUN;
        }
        self.traits.expanded(id, successors);
        false
    }

    fn closed(&mut self, id: StateId, store: &mut dyn Store) {
        self.nodes[id].flags |= CLOSED;
        if self.counting {
            self.unref(id, store);
            let Node { pred, refs, steps, .. } = self.nodes[id];
            if steps > 0 && refs > 0 {
                store.strip(id, pred);
            }
        } else if store.len() > self.most / 2 {
            self.count_references();
        }
    }

    fn reclaim(&mut self, store: &mut dyn Store) -> bool {
        if !self.archives {
            return self.evict(store).is_some();
        }
        let crowded = store.whole() >= self.most;
        let dropped = store.drop_passing(if crowded { Dropped::One } else { Dropped::Many });
        self.facts.evictions += dropped;
        dropped > 0
    }

    fn ties(&mut self) -> Option<&mut dyn Ties> {
        self.share.is_some().then_some(self as &mut dyn Ties)
    }

    fn wants_chains(&self) -> bool {
        self.chains
    }

    fn ancestors(&self, id: StateId) -> Option<Vec<StateId>> {
        if self.epochs.is_some() || self.adopted {
            return None;
        }
        let mut ancestors = Vec::new();
        let mut id = id;
        while let Some(pred) = self.predecessor(id) {
            ancestors.push(pred);
            id = pred;
        }
        self.tie_of(id).is_none().then_some(ancestors)
    }

    fn once(&self) -> bool {
        self.facts.evictions == 0
    }

    fn facts(&self) -> ForgetFacts {
        self.facts.clone()
    }

    fn bytes(&self) -> usize {
        self.nodes.bytes()
            + self.candidates.bytes()
            + self.epochs.as_ref().map_or(0, Column::bytes)
            + self.traits.bytes()
            + self.share.as_ref().map_or(0, |share| share.homes.bytes())
    }
}

/// The tree reaches across shares: what is tied counts as a reference.
impl Ties for Cache {
    fn tie(&mut self, id: StateId) -> Tie {
        self.nodes[id].refs = self.nodes[id].refs.saturating_add(1);
        Tie { share: self.share.as_ref().map_or(0, |share| share.number), id, epoch: self.epoch }
    }

    fn send_back(&mut self, tie: Tie) {
        if let Some(share) = &mut self.share {
            share.sent_back.push(tie);
        }
    }

    fn sent_back(&mut self) -> Vec<Tie> {
        self.share.as_mut().map(|share| std::mem::take(&mut share.sent_back)).unwrap_or_default()
    }

    fn untie(&mut self, tie: Tie, store: &mut dyn Store) {
        if tie.epoch == self.epoch {
            self.unref(tie.id, store);
        }
    }
}
