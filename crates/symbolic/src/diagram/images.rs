//! What relations make of sets: successors, predecessors, and where there is a successor at all.
//!
//! Levels above the next one that the relation touches are passed through; below the last one the set is taken as it is.

use super::cache::{DOMAIN, IMAGE, at};
use super::store::{EMPTY, UNIT};
use super::{Diagrams, Edge, Halt, Relation, Set};

impl Diagrams {
    /// The successors of the set's vectors.
    pub fn image(&mut self, set: Set, relation: Relation) -> Result<Set, Halt> {
        self.enter(|d| d.image_nodes(set.0, relation.0, 0)).map(Set)
    }

    fn image_nodes(&mut self, set: u32, relation: u32, level: usize) -> Result<u32, Halt> {
        if relation == UNIT {
            return Ok(set);
        }
        if set <= UNIT || relation == EMPTY {
            return Ok(EMPTY);
        }
        if let Some(known) = self.cache.get(at(IMAGE, level), set, relation) {
            return Ok(known);
        }
        let base = self.edges.len();
        let mut edges = self.store.span(set);
        if self.store.level(relation) > level {
            while edges.at < edges.end {
                let child = self.image_nodes(self.store.word(edges.at + 1), relation, level + 1)?;
                if child != EMPTY {
                    self.push(self.store.word(edges.at), child);
                }
                edges.at += 2;
            }
        } else {
            let mut triples = self.store.triples(relation);
            while edges.at < edges.end && triples.at < triples.end {
                let (value, from) = (self.store.word(edges.at), self.store.word(triples.at));
                if value < from {
                    edges.at += 2;
                    continue;
                }
                if value == from {
                    let child = self.store.word(edges.at + 1);
                    let after = self.image_nodes(child, self.store.word(triples.at + 2), level + 1)?;
                    self.add(base, self.store.word(triples.at + 1), after)?;
                }
                triples.at += 3;
            }
        }
        let result = self.make(base)?;
        self.cache.put(at(IMAGE, level), set, relation, result);
        Ok(result)
    }

    /// Adds vectors at a value to the node in the making from `base` on.
    pub(super) fn add(&mut self, base: usize, value: u32, child: u32) -> Result<(), Halt> {
        if child == EMPTY {
            return Ok(());
        }
        let place = base + self.edges[base..].partition_point(|edge| edge.value <= value);
        if place > base && self.edges[place - 1].value == value {
            let both = self.union_nodes(self.edges[place - 1].child, child)?;
            self.edges[place - 1].child = both;
        } else {
            self.edges.insert(place, Edge { value, child });
        }
        Ok(())
    }

    /// The vectors of `within` that have a successor in the set.
    pub fn preimage(&mut self, set: Set, relation: Relation, within: Set) -> Result<Set, Halt> {
        // The cache does not know at which level a node is for this: it serves one length at a time.
        let length = self.length(set);
        if length != self.preimage_length {
            self.cache.drop_triples();
            self.preimage_length = length;
        }
        self.enter(|d| d.preimage_nodes(set.0, relation.0, within.0, 0)).map(Set)
    }

    fn preimage_nodes(&mut self, set: u32, relation: u32, within: u32, level: usize) -> Result<u32, Halt> {
        if relation == UNIT {
            return self.intersect_nodes(set, within);
        }
        if set <= UNIT || within <= UNIT || relation == EMPTY {
            return Ok(EMPTY);
        }
        if let Some(known) = self.cache.get_triple(set, relation, within) {
            return Ok(known);
        }
        let base = self.edges.len();
        let mut before = self.store.span(within);
        if self.store.level(relation) > level {
            let mut after = self.store.span(set);
            while before.at < before.end && after.at < after.end {
                let (x, y) = (self.store.word(before.at), self.store.word(after.at));
                if x == y {
                    let (within, set) = (self.store.word(before.at + 1), self.store.word(after.at + 1));
                    let child = self.preimage_nodes(set, relation, within, level + 1)?;
                    if child != EMPTY {
                        self.push(x, child);
                    }
                }
                before.at += if x <= y { 2 } else { 0 };
                after.at += if y <= x { 2 } else { 0 };
            }
        } else {
            let mut triples = self.store.triples(relation);
            while before.at < before.end && triples.at < triples.end {
                let (value, from) = (self.store.word(before.at), self.store.word(triples.at));
                if value < from {
                    before.at += 2;
                    continue;
                }
                if value == from {
                    let after = self.store.child(set, self.store.word(triples.at + 1));
                    let (within, rest) = (self.store.word(before.at + 1), self.store.word(triples.at + 2));
                    let child = self.preimage_nodes(after, rest, within, level + 1)?;
                    self.add(base, value, child)?;
                }
                triples.at += 3;
            }
        }
        let result = self.make(base)?;
        self.cache.put_triple(set, relation, within, result);
        Ok(result)
    }

    /// The vectors of the set that have a successor, wherever it is.
    pub fn domain(&mut self, set: Set, relation: Relation) -> Result<Set, Halt> {
        self.enter(|d| d.domain_nodes(set.0, relation.0, 0)).map(Set)
    }

    fn domain_nodes(&mut self, set: u32, relation: u32, level: usize) -> Result<u32, Halt> {
        if relation == UNIT {
            return Ok(set);
        }
        if set <= UNIT || relation == EMPTY {
            return Ok(EMPTY);
        }
        if let Some(known) = self.cache.get(at(DOMAIN, level), set, relation) {
            return Ok(known);
        }
        let base = self.edges.len();
        let mut edges = self.store.span(set);
        if self.store.level(relation) > level {
            while edges.at < edges.end {
                let child = self.domain_nodes(self.store.word(edges.at + 1), relation, level + 1)?;
                if child != EMPTY {
                    self.push(self.store.word(edges.at), child);
                }
                edges.at += 2;
            }
        } else {
            let mut triples = self.store.triples(relation);
            while edges.at < edges.end && triples.at < triples.end {
                let (value, from) = (self.store.word(edges.at), self.store.word(triples.at));
                if value < from {
                    edges.at += 2;
                    continue;
                }
                if value == from {
                    let child = self.store.word(edges.at + 1);
                    let part = self.domain_nodes(child, self.store.word(triples.at + 2), level + 1)?;
                    self.add(base, value, part)?;
                }
                triples.at += 3;
            }
        }
        let result = self.make(base)?;
        self.cache.put(at(DOMAIN, level), set, relation, result);
        Ok(result)
    }
}
