//! A set laid out level by level, for changing the order of its levels.
//!
//! Every path visits every level, so a node is pointed at from the level above only. Exchanging two neighbouring levels
//! therefore rewrites the nodes of the upper one, makes those of the lower one anew, and touches nothing else.

use super::store::{EMPTY, UNIT};
use super::{Diagrams, Edge, Halt, Set};
use scrimp_system::Stop;
use std::collections::HashMap;

/// The nodes of a level: their edges one after the other, the children numbered as in the next level.
#[derive(Clone, Default)]
struct Rung {
    /// Where the edges of each node begin, and at last where they end.
    starts: Vec<u32>,
    edges: Vec<Edge>,
}

impl Rung {
    fn new() -> Rung {
        Rung { starts: vec![0], edges: Vec::new() }
    }

    fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, node: usize) -> &[Edge] {
        &self.edges[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    fn end_node(&mut self) {
        self.starts.push(self.edges.len() as u32);
    }

    /// Words that the nodes take in the store.
    fn words(&self) -> usize {
        self.nodes() + 2 * self.edges.len()
    }
}

/// All levels of some sets.
pub(super) struct LevelWise {
    rungs: Vec<Rung>,
    /// What is made anew at an exchange, kept for its memory.
    upper: Rung,
    lower: Rung,
    made: Table,
    triples: Vec<(u32, u32, u32)>,
}

impl LevelWise {
    /// The sets with these nodes at the top; none of them is empty, and all are of the same length, which is not 0.
    pub fn of(d: &Diagrams, roots: &[u32]) -> LevelWise {
        let layers = d.layers(roots);
        let mut rungs = Vec::with_capacity(layers.len());
        for (level, layer) in layers.iter().enumerate() {
            let below = layers.get(level + 1);
            let number = |child: u32| below.and_then(|below| below.binary_search(&child).ok()).unwrap_or(0) as u32;
            let mut rung = Rung::new();
            for &node in layer {
                let edges = d.store.edges(node);
                rung.edges.extend(edges.map(|edge| Edge { value: edge.value, child: number(edge.child) }));
                rung.end_node();
            }
            rungs.push(rung);
        }
        LevelWise { rungs, upper: Rung::new(), lower: Rung::new(), made: Table::default(), triples: Vec::new() }
    }

    pub fn levels(&self) -> usize {
        self.rungs.len()
    }

    pub fn nodes(&self) -> usize {
        self.rungs.iter().map(Rung::nodes).sum()
    }

    /// Words of the largest node.
    fn widest(&self) -> usize {
        let sizes = self.rungs.iter().flat_map(|rung| rung.starts.windows(2)).map(|two| (two[1] - two[0]) as usize);
        sizes.max().map_or(0, |edges| 1 + 2 * edges)
    }

    /// Words that all nodes take in the store.
    pub fn words(&self) -> usize {
        self.rungs.iter().map(Rung::words).sum()
    }

    /// Words that the nodes of a level take in the store.
    pub fn words_at(&self, level: usize) -> usize {
        self.rungs[level].words()
    }

    /// Exchanges this level and the next one.
    pub fn swap(&mut self, level: usize) {
        let [above, below] = &self.rungs[level..level + 2] else { return };
        for rung in [&mut self.upper, &mut self.lower] {
            rung.starts.truncate(1);
            rung.edges.clear();
        }
        self.made.clear(below.nodes());
        for node in 0..above.nodes() {
            self.triples.clear();
            for first in above.of(node) {
                let seconds = below.of(first.child as usize);
                self.triples.extend(seconds.iter().map(|second| (second.value, first.value, second.child)));
            }
            self.triples.sort_unstable();
            for group in self.triples.chunk_by(|a, b| a.0 == b.0) {
                self.lower.edges.extend(group.iter().map(|&(_, value, child)| Edge { value, child }));
                let child = self.made.find(&mut self.lower);
                self.upper.edges.push(Edge { value: group[0].0, child });
            }
            self.upper.end_node();
        }
        std::mem::swap(&mut self.rungs[level], &mut self.upper);
        std::mem::swap(&mut self.rungs[level + 1], &mut self.lower);
    }

    /// Makes the nodes again; gives those of the top in their order.
    pub fn rebuild(&self, d: &mut Diagrams) -> Result<Vec<u32>, Halt> {
        let mut below = vec![UNIT];
        for rung in self.rungs.iter().rev() {
            let mut here = Vec::with_capacity(rung.nodes());
            for node in 0..rung.nodes() {
                let base = d.edges.len();
                for edge in rung.of(node) {
                    d.push(edge.value, below[edge.child as usize]);
                }
                here.push(d.make(base)?);
            }
            below = here;
        }
        Ok(below)
    }
}

/// The nodes of the level being made, by their edges.
#[derive(Default)]
struct Table {
    /// One more than the node's number; 0 for none.
    slots: Vec<u32>,
    hashes: Vec<u32>,
}

impl Table {
    fn clear(&mut self, expected: usize) {
        self.slots.clear();
        self.slots.resize((2 * expected).next_power_of_two().max(16), 0);
        self.hashes.clear();
    }

    /// The number of the node whose edges were put at the end; they are taken off again when it is there already.
    fn find(&mut self, rung: &mut Rung) -> u32 {
        let begin = rung.starts[rung.nodes()] as usize;
        let hash = super::store::hash_of_edges(rung.edges[begin..].iter().copied());
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            let node = self.slots[slot] as usize - 1;
            if self.hashes[node] == hash && rung.of(node) == &rung.edges[begin..] {
                rung.edges.truncate(begin);
                return node as u32;
            }
            slot = (slot + 1) & mask;
        }
        let node = rung.nodes() as u32;
        self.slots[slot] = node + 1;
        self.hashes.push(hash);
        rung.end_node();
        if 2 * rung.nodes() > self.slots.len() {
            self.grow();
        }
        node
    }

    fn grow(&mut self) {
        let length = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(length, 0);
        for (node, &hash) in self.hashes.iter().enumerate() {
            let mut slot = hash as usize & (length - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            self.slots[slot] = node as u32 + 1;
        }
    }
}

impl Diagrams {
    /// Lays the sets out, lets `work` change the order of levels, and makes the sets again. Everything but the roots is
    /// dead afterwards, and so are the relations; the roots get new numbers. Empty sets and the empty vector stay.
    ///
    /// Without room for a copy, or for the result, nothing changes and the answer is `Full`.
    pub(super) fn reorder(&mut self, roots: &mut [Set], work: impl FnOnce(&mut LevelWise)) -> Result<(), Halt> {
        self.collect(roots, &[]);
        let mut tops: Vec<u32> = roots.iter().map(|root| root.0).filter(|&root| root > UNIT).collect();
        tops.sort_unstable();
        tops.dedup();
        if tops.is_empty() {
            return Ok(());
        }
        // The copy, and room for two levels to change.
        let bytes = self.store.used() * 8;
        if !self.store.budget().may_take(bytes) {
            return Err(Halt::Full);
        }
        let budget = self.store.budget().clone();
        budget.take(bytes);
        let mut ladder = LevelWise::of(self, &tops);
        work(&mut ladder);
        // The copy has all there is: the store is emptied and filled again, if that is sure to succeed, whatever the time is.
        let stop = self.store.stop_at(Stop::never());
        let made = self.store.fits(ladder.nodes(), ladder.words(), ladder.widest()).and_then(|()| {
            self.collect(&[], &[]);
            ladder.rebuild(self)
        });
        self.store.stop_at(stop);
        budget.give_back(bytes);
        let numbers: HashMap<u32, u32> = tops.into_iter().zip(made?).collect();
        for root in roots.iter_mut().filter(|root| root.0 != EMPTY && root.0 != UNIT) {
            root.0 = numbers[&root.0];
        }
        Ok(())
    }
}
