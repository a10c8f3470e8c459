//! Relations: made from pairs, joined over different levels, united over the same ones.
//!
//! A relation's node tells its level and lists `from, to` and what holds for the levels below; a level that is not named
//! stays as it is.

use super::cache::{INVERSE, JOIN, UNITE};
use super::store::{EMPTY, UNIT};
use super::{Diagrams, Halt, Relation};
use std::collections::BTreeMap;

type Pair<'a> = (&'a [u32], &'a [u32]);

impl Diagrams {
    /// The relation that changes these levels (ascending) from the first of a pair to the second, for each of the pairs.
    pub fn relation(&mut self, levels: &[usize], pairs: &[(Vec<u32>, Vec<u32>)]) -> Result<Relation, Halt> {
        debug_assert!(levels.windows(2).all(|two| two[0] < two[1]));
        debug_assert!(pairs.iter().all(|(from, to)| from.len() == levels.len() && to.len() == levels.len()));
        let mut sorted: Vec<Pair> = pairs.iter().map(|(from, to)| (from.as_slice(), to.as_slice())).collect();
        sorted.sort_unstable_by(|a, b| a.0.iter().zip(a.1).cmp(b.0.iter().zip(b.1)));
        sorted.dedup();
        self.enter(|d| d.relate(levels, 0, &sorted)).map(Relation)
    }

    fn relate(&mut self, levels: &[usize], depth: usize, pairs: &[Pair<'_>]) -> Result<u32, Halt> {
        if pairs.is_empty() {
            return Ok(EMPTY);
        }
        let Some(&level) = levels.get(depth) else { return Ok(UNIT) };
        let mut triples = Vec::new();
        for group in pairs.chunk_by(|a, b| a.0[depth] == b.0[depth] && a.1[depth] == b.1[depth]) {
            let child = self.relate(levels, depth + 1, group)?;
            triples.push((group[0].0[depth], group[0].1[depth], child));
        }
        self.store.relation_node(level, &triples)
    }

    /// The levels that a relation touches.
    pub fn support(&self, relation: Relation) -> Vec<usize> {
        let (mut levels, mut node) = (Vec::new(), relation.0);
        while node != EMPTY && node != UNIT {
            levels.push(self.store.level(node));
            node = self.store.word(self.store.triples(node).at + 2);
        }
        levels
    }

    /// The changes of both at once. They must not touch the same level.
    pub fn join(&mut self, a: Relation, b: Relation) -> Result<Relation, Halt> {
        self.enter(|d| d.join_nodes(a.0, b.0)).map(Relation)
    }

    fn join_nodes(&mut self, a: u32, b: u32) -> Result<u32, Halt> {
        if a == EMPTY || b == EMPTY {
            return Ok(EMPTY);
        }
        if a == UNIT {
            return Ok(b);
        }
        if b == UNIT {
            return Ok(a);
        }
        let (a, b) = if self.store.level(a) <= self.store.level(b) { (a, b) } else { (b, a) };
        debug_assert!(self.store.level(a) < self.store.level(b));
        if let Some(known) = self.cache.get(JOIN, a, b) {
            return Ok(known);
        }
        let mut triples = self.triples_of(a);
        for triple in &mut triples {
            triple.2 = self.join_nodes(triple.2, b)?;
        }
        let result = self.store.relation_node(self.store.level(a), &triples)?;
        self.cache.put(JOIN, a, b, result);
        Ok(result)
    }

    fn triples_of(&self, node: u32) -> Vec<(u32, u32, u32)> {
        let span = self.store.triples(node);
        let word = |place| self.store.word(place);
        (span.at..span.end).step_by(3).map(|place| (word(place), word(place + 1), word(place + 2))).collect()
    }

    /// The changes of either. They must touch the same levels.
    pub fn unite(&mut self, a: Relation, b: Relation) -> Result<Relation, Halt> {
        debug_assert!(a.is_empty() || b.is_empty() || self.support(a) == self.support(b));
        self.enter(|d| d.unite_nodes(a.0, b.0)).map(Relation)
    }

    pub(super) fn unite_nodes(&mut self, a: u32, b: u32) -> Result<u32, Halt> {
        if a == b || b == EMPTY {
            return Ok(a);
        }
        if a == EMPTY {
            return Ok(b);
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        if a == UNIT {
            // Not over the same levels.
            debug_assert!(false);
            return Ok(b);
        }
        if let Some(known) = self.cache.get(UNITE, a, b) {
            return Ok(known);
        }
        let (left, right) = (self.triples_of(a), self.triples_of(b));
        let mut triples = Vec::with_capacity(left.len() + right.len());
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            match (left.get(i), right.get(j)) {
                (Some(&l), Some(&r)) if (l.0, l.1) == (r.0, r.1) => {
                    triples.push((l.0, l.1, self.unite_nodes(l.2, r.2)?));
                    i += 1;
                    j += 1;
                }
                (Some(&l), r) if r.is_none_or(|r| (l.0, l.1) < (r.0, r.1)) => {
                    triples.push(l);
                    i += 1;
                }
                (_, Some(&r)) => {
                    triples.push(r);
                    j += 1;
                }
                _ => break,
            }
        }
        let result = self.store.relation_node(self.store.level(a), &triples)?;
        self.cache.put(UNITE, a, b, result);
        Ok(result)
    }

    /// The changes the other way round.
    pub fn inverse(&mut self, relation: Relation) -> Result<Relation, Halt> {
        self.enter(|d| d.inverse_nodes(relation.0)).map(Relation)
    }

    fn inverse_nodes(&mut self, node: u32) -> Result<u32, Halt> {
        if node <= UNIT {
            return Ok(node);
        }
        if let Some(known) = self.cache.get(INVERSE, node, EMPTY) {
            return Ok(known);
        }
        let mut triples = self.triples_of(node);
        for (from, to, rest) in &mut triples {
            std::mem::swap(from, to);
            *rest = self.inverse_nodes(*rest)?;
        }
        triples.sort_unstable();
        let result = self.store.relation_node(self.store.level(node), &triples)?;
        self.cache.put(INVERSE, node, EMPTY, result);
        Ok(result)
    }

    /// Fewer relations with the same changes: those that touch the same levels become one.
    pub fn gather(&mut self, relations: &[Relation]) -> Result<Vec<Relation>, Halt> {
        let mut groups: BTreeMap<Vec<usize>, Relation> = BTreeMap::new();
        for &relation in relations.iter().filter(|relation| !relation.is_empty()) {
            let support = self.support(relation);
            let united = match groups.get(&support) {
                Some(&other) => self.unite(other, relation)?,
                None => relation,
            };
            groups.insert(support, united);
        }
        Ok(groups.into_values().collect())
    }
}

impl Diagrams {
    /// The relation that changes one level from the first of two values to the second, where what comes with them applies to
    /// the levels below. The edges are sorted, and what comes with them touches the same levels, all below this one.
    pub fn relation_node(&mut self, level: usize, edges: &[(u32, u32, Relation)]) -> Result<Relation, Halt> {
        let triples: Vec<(u32, u32, u32)> = edges.iter().map(|&(from, to, below)| (from, to, below.0)).collect();
        self.store.relation_node(level, &triples).map(Relation)
    }
}
