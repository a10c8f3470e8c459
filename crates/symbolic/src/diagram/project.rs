//! Sets seen at some of their levels only: projection onto them, and selection by what stands there.

use super::cache::{PROJECT, TEST, at};
use super::store::{EMPTY, UNIT};
use super::{Diagrams, Halt, Set};

impl Diagrams {
    /// What the vectors of the set have at these levels (ascending). The result has that length.
    pub fn project(&mut self, set: Set, levels: &[usize]) -> Result<Set, Halt> {
        self.enter(|d| {
            // The levels as a chain of nodes: what is cached for it holds for these levels, whoever asks.
            let mut chain = UNIT;
            for &level in levels.iter().rev() {
                chain = d.store.relation_node(level, &[(0, 0, chain)])?;
            }
            d.project_nodes(set.0, chain, 0).map(Set)
        })
    }

    fn project_nodes(&mut self, set: u32, chain: u32, level: usize) -> Result<u32, Halt> {
        if set == EMPTY || chain == UNIT {
            return Ok(set.min(UNIT));
        }
        if set == UNIT {
            return Ok(EMPTY);
        }
        if let Some(known) = self.cache.get(at(PROJECT, level), set, chain) {
            return Ok(known);
        }
        let mut edges = self.store.span(set);
        let result = if self.store.level(chain) > level {
            let mut all = EMPTY;
            while edges.at < edges.end {
                let child = self.project_nodes(self.store.word(edges.at + 1), chain, level + 1)?;
                all = self.union_nodes(all, child)?;
                edges.at += 2;
            }
            all
        } else {
            let (base, rest) = (self.edges.len(), self.store.word(self.store.triples(chain).at + 2));
            while edges.at < edges.end {
                let child = self.project_nodes(self.store.word(edges.at + 1), rest, level + 1)?;
                if child != EMPTY {
                    self.push(self.store.word(edges.at), child);
                }
                edges.at += 2;
            }
            self.make(base)?
        };
        self.cache.put(at(PROJECT, level), set, chain, result);
        Ok(result)
    }

    /// The vectors of the set whose projection onto these levels (ascending) is in `part`.
    pub fn meet(&mut self, set: Set, part: Set, levels: &[usize]) -> Result<Set, Halt> {
        let test = self.enter(|d| {
            let mut chain = UNIT;
            for &level in levels.iter().rev() {
                chain = d.store.relation_node(level, &[(0, 0, chain)])?;
            }
            d.test_nodes(part.0, chain)
        })?;
        self.image(set, super::Relation(test))
    }

    /// The relation of each vector with itself whose entries at the levels of the chain are in `part`.
    fn test_nodes(&mut self, part: u32, chain: u32) -> Result<u32, Halt> {
        if part <= UNIT || chain == UNIT {
            return Ok(part);
        }
        if let Some(known) = self.cache.get(TEST, part, chain) {
            return Ok(known);
        }
        let rest = self.store.word(self.store.triples(chain).at + 2);
        let mut triples: Vec<_> = self.store.edges(part).map(|edge| (edge.value, edge.value, edge.child)).collect();
        for triple in &mut triples {
            triple.2 = self.test_nodes(triple.2, rest)?;
        }
        let result = self.store.relation_node(self.store.level(chain), &triples)?;
        self.cache.put(TEST, part, chain, result);
        Ok(result)
    }
}
