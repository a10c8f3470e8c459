//! Multi-valued decision diagrams: sets of vectors of one length, and relations that say how vectors change.
//!
//! A set is *quasi-reduced*: every path visits every level, and a node lists the values that occur there with what may
//! follow; it does not know its level, so that sets of all lengths live together. A relation names only the levels it
//! touches: the others stay as they are. Equal things are the same node, so equality is equality of numbers.
//!
//! Operations recurse as deep as a vector is long; call them on a thread with room for that (see [`STACK_PER_LEVEL`]).

mod cache;
mod dont_care;
mod images;
mod inspect;
mod level_wise;
mod project;
mod relations;
mod saturate;
mod sets;
mod sift;
mod store;
mod within;

use cache::Cache;
use scrimp_core::{Budget, Limit};
use scrimp_system::Stop;
use std::io;
use std::sync::Arc;
use store::Store;

/// Stack that an operation may need for each level of a diagram, in bytes, with room to spare.
pub const STACK_PER_LEVEL: usize = 2048;

/// Why a computation ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// The budget does not allow more nodes. After a [collection](Diagrams::collect) there may be room again.
    Full,
    /// A limit was reached.
    Limit(Limit),
}

/// A set of vectors of the same length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set(u32);

impl Set {
    /// The set without vectors, of any length.
    pub const EMPTY: Set = Set(store::EMPTY);
    /// The set with the empty vector.
    pub const UNIT: Set = Set(store::UNIT);

    /// Has it no vector at all?
    pub fn is_empty(self) -> bool {
        self == Set::EMPTY
    }
}

/// Pairs of vectors that differ at a few levels only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Relation(u32);

impl Relation {
    /// The relation without pairs.
    pub const EMPTY: Relation = Relation(store::EMPTY);
    /// Every vector with itself.
    pub const IDENTITY: Relation = Relation(store::UNIT);

    /// Has it no pair at all?
    pub fn is_empty(self) -> bool {
        self == Relation::EMPTY
    }
}

/// What a collection inside a long computation must leave alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kept<'a> {
    /// Sets that are used afterwards.
    pub sets: &'a [Set],
    /// Relations that are used afterwards.
    pub relations: &'a [Relation],
}

/// An edge of a set's node: a value, and what may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Edge {
    value: u32,
    child: u32,
}

/// The nodes of all sets and relations, and the operations on them.
pub struct Diagrams {
    store: Store,
    cache: Cache,
    /// Edges of nodes in the making.
    edges: Vec<Edge>,
    /// What the last saturation worked with: its results hold for the same relations only.
    saturation: Option<saturate::Plan>,
    /// Children of nodes in the making that must survive a collection.
    items: Vec<saturate::Item>,
    /// Other nodes that must survive a collection.
    guards: Vec<u32>,
    /// The length of the vectors that preimages were last computed for.
    preimage_length: usize,
    /// The same for saturation within a set.
    within_length: usize,
    collections: u64,
}

impl Diagrams {
    /// Works until this says stop; gives what said so before.
    pub fn stop_at(&mut self, stop: Stop) -> Stop {
        self.store.stop_at(stop)
    }

    /// No sets yet. All memory is asked of the budget, and every operation ends where it is time to stop.
    pub fn new(budget: &Arc<Budget>, stop: &Stop) -> io::Result<Diagrams> {
        let full =
            |_| io::Error::new(io::ErrorKind::OutOfMemory, "the memory budget is too small for decision diagrams");
        Ok(Diagrams {
            store: Store::new(budget, stop).map_err(full)?,
            cache: Cache::new(budget).map_err(full)?,
            edges: Vec::new(),
            saturation: None,
            items: Vec::new(),
            guards: Vec::new(),
            preimage_length: 0,
            within_length: 0,
            collections: 0,
        })
    }

    /// Frees the nodes that none of these needs. The numbers of what is kept stay, all else must not be used again.
    pub fn collect(&mut self, sets: &[Set], relations: &[Relation]) {
        self.saturation = None;
        self.collect_beside(Kept { sets, relations });
    }

    /// As [`collect`](Diagrams::collect), within a computation: what it has in hand stays too.
    fn collect_beside(&mut self, kept: Kept<'_>) {
        self.collections += 1;
        let roots = kept.sets.iter().map(|s| s.0).chain(kept.relations.iter().map(|r| r.0));
        let plan = self.saturation.iter().flat_map(|plan| plan.roots());
        let hand = self.items.iter().map(|item| item.child);
        self.store.mark(roots.chain(plan).chain(hand).chain(self.guards.iter().copied()));
        self.cache.keep(|node| self.store.is_marked(node));
        self.store.sweep();
    }

    /// Is there so much that may be waste that a collection is worth its time?
    pub fn is_littered(&self) -> bool {
        self.store.is_littered()
    }

    /// Bytes held by nodes, tables and caches.
    pub fn bytes(&self) -> usize {
        self.store.bytes() + self.cache.bytes() + self.edges.capacity() * 8 + self.items.capacity() * 12
    }

    /// What all memory is asked of.
    pub fn budget(&self) -> &Budget {
        self.store.budget()
    }

    /// Nodes stored now, those included that nobody needs any more.
    pub fn live(&self) -> usize {
        self.store.live()
    }

    /// The most nodes that were stored at a time.
    pub fn peak_nodes(&self) -> usize {
        self.store.peak()
    }

    /// How many collections there were.
    pub fn collections(&self) -> u64 {
        self.collections
    }

    /// Runs an operation from outside: whatever it leaves in the making when it fails is dropped.
    fn enter<T>(&mut self, work: impl FnOnce(&mut Diagrams) -> Result<T, Halt>) -> Result<T, Halt> {
        let base = self.edges.len();
        let answer = work(self);
        self.edges.truncate(base);
        answer
    }

    /// The node with the edges from `base` on, which are taken off.
    #[inline]
    fn make(&mut self, base: usize) -> Result<u32, Halt> {
        let edges = &self.edges[base..];
        let node = if edges.is_empty() { store::EMPTY } else { self.store.set_node(edges)? };
        self.edges.truncate(base);
        Ok(node)
    }

    #[inline]
    fn push(&mut self, value: u32, child: u32) {
        self.edges.push(Edge { value, child });
    }
}

#[cfg(test)]
mod tests;
