//! The nodes of an automaton: where they lie, who refers to them, and how the one with given edges is found.
//!
//! A node is four-byte words in an arena, and its reference is the number of its first word:
//!
//! ```text
//! references << 8 | ranges - 1
//! next node of the same bucket, or next free place
//! first byte of every range, last byte of every range, zeros up to a whole word
//! destination of every range
//! ```
//!
//! Ranges are ascending, do not meet, and two that touch have different destinations, so that equal nodes have equal words
//! and one hash. No two nodes are equal: [`intern`](Nodes::intern) finds the one there is. Nodes of different layers differ
//! by themselves, for their destinations do. A node goes when the last reference to it does, and its place is taken by the
//! next node with as many ranges.
//!
//! The buckets grow one at a time (linear hashing), so that there is never a second copy nor a long pause.

use super::arena::Arena;
use super::labels::{hash, not_above, same};
use crate::store::Full;
use scrimp_core::Budget;
use std::sync::Arc;

/// The reference of a node.
pub(super) type Ref = u32;

/// Leads nowhere: its only edge leads back to itself.
pub(super) const SINK: Ref = 0;
/// The accepting end. Neither of the two has its references counted.
pub(super) const ACCEPT: Ref = 4;
/// Where real nodes begin.
pub(super) const FIRST: Ref = 8;

/// All bytes from `low` to `high` lead to one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge {
    pub low: u8,
    pub high: u8,
    /// Whether the edge is itself one of the references that the node counts. If not, it is a copy of one that is.
    pub counted: bool,
    pub to: Ref,
}

/// The most ranges a node can have, and the most words of its edges.
const MOST: usize = 256;
const MOST_WORDS: usize = label_words(MOST) + MOST;
/// The most bytes that nodes, or buckets, can take: references are numbers of words.
pub(super) const MOST_BYTES: usize = 4 << 32;
/// One reference, in the first word of a node.
pub(super) const ONE: u32 = 1 << 8;
/// From here on references are not counted any more, and the node stays for ever.
pub(super) const MANY: u32 = 0xffff_ff00;

/// Words of the labels of so many ranges.
#[inline(always)]
pub(super) const fn label_words(ranges: usize) -> usize {
    (2 * ranges).div_ceil(4)
}

/// Words of the edges of so many ranges.
#[inline(always)]
pub(super) const fn edge_words(ranges: usize) -> usize {
    label_words(ranges) + ranges
}

/// Bytes of a node with so many ranges.
pub(super) const fn node_bytes(ranges: usize) -> usize {
    4 * (2 + edge_words(if ranges > MOST { MOST } else { ranges }))
}

pub(super) struct Nodes {
    pub(super) arena: Arena,
    /// For every bucket its first node.
    pub(super) buckets: Arena,
    pub(super) count: usize,
    /// Ranges of all nodes.
    pub(super) edges: usize,
    /// For every number of ranges, less one, the free place given back last.
    pub(super) free: Box<[Ref; MOST]>,
    pub(super) free_words: usize,
    /// The edges of the node that is sought.
    sought: Box<[u32; MOST_WORDS]>,
    /// Nodes without references, whose destinations lose one.
    dying: Vec<Ref>,
}

impl Nodes {
    pub fn new(budget: &Arc<Budget>) -> Result<Nodes, Full> {
        let arena = |most| Arena::new(most, budget).map_err(|_| Full);
        let mut nodes = Nodes {
            arena: arena(MOST_BYTES)?,
            buckets: arena(MOST_BYTES)?,
            count: 0,
            edges: 0,
            free: Box::new([SINK; MOST]),
            free_words: 0,
            sought: Box::new([0; MOST_WORDS]),
            dying: Vec::new(),
        };
        nodes.promise(budget, 1 << 10, 1)?;
        nodes.arena.extend(4 * FIRST as usize);
        for end in [SINK, ACCEPT] {
            nodes.set(end, MANY);
            nodes.set(end + 2, u32::from_ne_bytes([0, 0xff, 0, 0]));
            nodes.set(end + 3, SINK);
        }
        nodes.buckets.extend(4);
        nodes.settle(0, 0);
        Ok(nodes)
    }

    /// Makes sure that nodes of so many bytes can be made. Nothing is taken yet: see [`settle`](Nodes::settle).
    pub fn promise(&mut self, budget: &Budget, bytes: usize, count: usize) -> Result<(), Full> {
        if self.arena.lacking(bytes) + self.buckets.lacking(4 * count) > 0
            && !budget.may_take(self.arena.lacking(bytes) + self.buckets.lacking(4 * count))
        {
            return Err(Full);
        }
        self.arena.promise(bytes)?;
        self.buckets.promise(4 * count)
    }

    /// Tells the budget what was used of what was promised, and what of it is kept for a later change.
    pub fn settle(&mut self, bytes: usize, count: usize) {
        self.arena.settle(bytes);
        self.buckets.settle(4 * count);
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn edges(&self) -> usize {
        self.edges
    }

    /// Bytes of free places.
    pub fn free_bytes(&self) -> usize {
        4 * self.free_words
    }

    pub fn bytes(&self) -> usize {
        self.arena.used() + self.buckets.used()
    }

    #[inline(always)]
    pub(super) fn get(&self, word: u32) -> u32 {
        debug_assert!((word as usize) * 4 < self.arena.used());
        // SAFETY: references are given out for words that were extended, and nodes end within them.
        unsafe { *(self.arena.base() as *const u32).add(word as usize) }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, word: u32, value: u32) {
        debug_assert!((word as usize) * 4 < self.arena.used());
        // SAFETY: as above, and `&mut self` says that nobody else looks.
        unsafe { *(self.arena.base() as *mut u32).add(word as usize) = value }
    }

    #[inline(always)]
    pub(super) fn ranges(&self, node: Ref) -> usize {
        (self.get(node) & 0xff) as usize + 1
    }

    pub fn references(&self, node: Ref) -> u32 {
        self.get(node) >> 8
    }

    /// The words that say what the edges are.
    #[inline(always)]
    pub(super) fn edges_of(&self, node: Ref) -> &[u32] {
        let count = edge_words(self.ranges(node));
        debug_assert!((node as usize + 2 + count) * 4 <= self.arena.used());
        // SAFETY: a node ends within what was extended.
        unsafe { std::slice::from_raw_parts((self.arena.base() as *const u32).add(node as usize + 2), count) }
    }

    #[inline(always)]
    pub fn edge(&self, node: Ref, i: usize) -> Edge {
        let ranges = self.ranges(node);
        debug_assert!(i < ranges);
        // SAFETY: the labels follow the first two words of the node.
        let label = |at: usize| unsafe { *self.arena.base().add(4 * (node as usize + 2) + at) };
        let to = self.get(node + (2 + label_words(ranges) + i) as u32);
        Edge { low: label(i), high: label(ranges + i), counted: true, to }
    }

    pub fn each_edge(&self, node: Ref) -> impl Iterator<Item = Edge> + '_ {
        (0..self.ranges(node)).map(move |i| self.edge(node, i))
    }

    /// Where a byte leads from a node.
    #[inline(always)]
    pub fn step(&self, node: Ref, byte: u8) -> Ref {
        let ranges = self.ranges(node);
        // SAFETY: labels and destinations follow the first two words of the node, and `i` is less than `ranges`.
        unsafe {
            let labels = self.arena.base().add(4 * (node as usize + 2));
            // The first bytes are ascending: those not above `byte` come first.
            let below = not_above(labels, ranges, byte);
            let i = below.saturating_sub(1);
            let to = *(labels as *const u32).add(label_words(ranges) + i);
            let within = (below > 0) & (byte <= *labels.add(ranges + i));
            if within { to } else { SINK }
        }
    }

    #[inline(always)]
    pub(super) fn bucket_of(&self, hash: u32) -> usize {
        let count = self.buckets.used() / 4;
        let half = 1usize << count.ilog2();
        let at = hash as usize & (2 * half - 1);
        if at < count { at } else { at - half }
    }

    #[inline(always)]
    pub(super) fn head(&self, bucket: usize) -> Ref {
        debug_assert!(bucket * 4 < self.buckets.used());
        // SAFETY: there is such a bucket.
        unsafe { *(self.buckets.base() as *const u32).add(bucket) }
    }

    #[inline(always)]
    pub(super) fn set_head(&mut self, bucket: usize, node: Ref) {
        debug_assert!(bucket * 4 < self.buckets.used());
        // SAFETY: as above, and `&mut self` says that nobody else looks.
        unsafe { *(self.buckets.base() as *mut u32).add(bucket) = node }
    }

    /// Adds a bucket, which shares the nodes of another one.
    fn split(&mut self) {
        let new = self.buckets.extend(4) / 4;
        let old = new - (1 << new.ilog2());
        let bit = 1u32 << new.ilog2();
        let (mut stay, mut go) = (SINK, SINK);
        let mut node = self.head(old);
        while node != SINK {
            let next = self.get(node + 1);
            let chain = if hash(self.edges_of(node)) & bit == 0 { &mut stay } else { &mut go };
            let behind = std::mem::replace(chain, node);
            self.set(node + 1, behind);
            node = next;
        }
        self.set_head(old, stay);
        self.set_head(new, go);
    }

    /// The node with these edges, which there are, made if it does not exist, and whether it was made. References that were
    /// counted go over to it, and the caller has one to the node. A node that is `surely_new` is not sought.
    pub fn intern(&mut self, edges: &[Edge], surely_new: bool) -> (Ref, bool) {
        let ranges = edges.len();
        debug_assert!((1..=MOST).contains(&ranges));
        let (labels, words) = (label_words(ranges), edge_words(ranges));
        self.sought[labels - 1] = 0;
        for (i, edge) in edges.iter().enumerate() {
            // SAFETY: twice as many bytes as there are ranges lie within the words of the labels.
            unsafe {
                let label = self.sought.as_mut_ptr() as *mut u8;
                *label.add(i) = edge.low;
                *label.add(ranges + i) = edge.high;
            }
            self.sought[labels + i] = edge.to;
        }
        let hash = hash(&self.sought[..words]);
        let mut bucket = self.bucket_of(hash);
        let mut node = if surely_new { SINK } else { self.head(bucket) };
        while node != SINK {
            if self.ranges(node) == ranges && same(self.edges_of(node), &self.sought[..words]) {
                edges.iter().filter(|edge| edge.counted).for_each(|edge| self.release(edge.to));
                self.share(node);
                return (node, false);
            }
            node = self.get(node + 1);
        }
        self.count += 1;
        self.edges += ranges;
        if self.count > self.buckets.used() / 4 {
            self.split();
            bucket = self.bucket_of(hash);
        }
        edges.iter().filter(|edge| !edge.counted).for_each(|edge| self.share(edge.to));
        let node = self.place(ranges);
        self.set(node, ONE | (ranges - 1) as u32);
        self.set(node + 1, self.head(bucket));
        self.set_head(bucket, node);
        // SAFETY: the place has room for the edges.
        unsafe {
            let to = (self.arena.base() as *mut u32).add(node as usize + 2);
            std::ptr::copy_nonoverlapping(self.sought.as_ptr(), to, words);
        }
        (node, true)
    }

    fn place(&mut self, ranges: usize) -> Ref {
        let words = 2 + edge_words(ranges);
        match self.free[ranges - 1] {
            SINK => (self.arena.extend(4 * words) / 4) as Ref,
            place => {
                self.free[ranges - 1] = self.get(place + 1);
                self.free_words -= words;
                place
            }
        }
    }

    /// One more reference to a node.
    #[inline(always)]
    pub fn share(&mut self, node: Ref) {
        let first = self.get(node);
        if first < MANY {
            self.set(node, first + ONE);
        }
    }

    /// One reference to a node less. Nodes that nobody refers to any more go.
    #[inline(always)]
    pub fn release(&mut self, node: Ref) {
        let first = self.get(node);
        if first < MANY {
            self.set(node, first - ONE);
            if first < 2 * ONE {
                self.bury(node);
            }
        }
    }

    fn bury(&mut self, node: Ref) {
        self.dying.push(node);
        while let Some(node) = self.dying.pop() {
            for i in 0..self.ranges(node) {
                let to = self.edge(node, i).to;
                let first = self.get(to);
                if first < MANY {
                    self.set(to, first - ONE);
                    if first < 2 * ONE {
                        self.dying.push(to);
                    }
                }
            }
            self.remove(node);
        }
    }

    /// Takes a node out of its bucket and gives its place back.
    fn remove(&mut self, node: Ref) {
        let ranges = self.ranges(node);
        let bucket = self.bucket_of(hash(self.edges_of(node)));
        let next = self.get(node + 1);
        let mut at = self.head(bucket);
        if at == node {
            self.set_head(bucket, next);
        } else {
            while self.get(at + 1) != node {
                at = self.get(at + 1);
            }
            self.set(at + 1, next);
        }
        self.count -= 1;
        self.edges -= ranges;
        self.free_words += 2 + edge_words(ranges);
        self.set(node + 1, self.free[ranges - 1]);
        self.free[ranges - 1] = node;
    }

    /// Takes a node apart, whose only reference is the caller's: its edges are now counted for the list.
    fn take_apart(&mut self, node: Ref, edges: &mut Vec<Edge>) {
        edges.extend((0..self.ranges(node)).map(|i| self.edge(node, i)));
        self.remove(node);
    }

    /// Fills the list with the edges of a node, to which the caller has a reference if it is `counted`. Where that is the
    /// only one, the node is taken apart. Elsewhere the edges are copied and not counted, and the node must stay as long as
    /// the list: the answer is the reference to be released after that.
    #[inline(always)]
    pub fn open(&mut self, node: Ref, counted: bool, edges: &mut Vec<Edge>) -> Ref {
        edges.clear();
        if node == SINK {
            return SINK;
        }
        if counted && self.get(node) < 2 * ONE {
            self.take_apart(node, edges);
            return SINK;
        }
        edges.extend((0..self.ranges(node)).map(|i| Edge { counted: false, ..self.edge(node, i) }));
        if counted { node } else { SINK }
    }
}
