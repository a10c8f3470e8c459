//! Questions about a set that make no nodes: members, counts, values, sizes.
//!
//! Where every node counts once, the nodes are listed layer by layer, and the answers for a layer need only those of the
//! layer below.

use super::store::{EMPTY, UNIT};
use super::{Diagrams, Set};
use num_bigint::BigUint;

impl Diagrams {
    /// Is this vector in the set?
    pub fn contains(&self, set: Set, vector: &[u32]) -> bool {
        vector.iter().fold(set.0, |node, &value| self.store.child(node, value)) == UNIT
    }

    /// The least vector.
    pub fn first(&self, set: Set) -> Option<Vec<u32>> {
        if set.is_empty() {
            return None;
        }
        let (mut vector, mut node) = (Vec::new(), set.0);
        while let Some(edge) = self.store.edges(node).next() {
            vector.push(edge.value);
            node = edge.child;
        }
        Some(vector)
    }

    /// The length of the vectors; 0 for the empty set.
    pub fn length(&self, set: Set) -> usize {
        let (mut length, mut node) = (0, set.0);
        while node > UNIT {
            length += 1;
            node = self.store.word(self.store.span(node).at + 1);
        }
        length
    }

    /// The nodes of a set, those of each level together and sorted. The terminal is left out.
    pub(super) fn layers(&self, roots: &[u32]) -> Vec<Vec<u32>> {
        let mut layers = Vec::new();
        let mut layer: Vec<u32> = roots.iter().copied().filter(|&root| root > UNIT).collect();
        loop {
            layer.sort_unstable();
            layer.dedup();
            if layer.is_empty() {
                return layers;
            }
            let below = layer.iter().flat_map(|&node| self.store.edges(node)).map(|edge| edge.child);
            let below = below.filter(|&child| child > UNIT).collect();
            layers.push(std::mem::replace(&mut layer, below));
        }
    }

    /// Computes something for every node from the same of its children, bottom up, and gives it for the root.
    fn fold<T: Clone>(&self, set: Set, unit: T, of: impl Fn(usize, u32, &dyn Fn(u32) -> T) -> T) -> T {
        let layers = self.layers(&[set.0]);
        let (mut nodes, mut known) = (vec![UNIT], vec![unit.clone()]);
        for (level, layer) in layers.into_iter().enumerate().rev() {
            let child = |node: u32| nodes.binary_search(&node).map_or_else(|_| unit.clone(), |at| known[at].clone());
            let here: Vec<T> = layer.iter().map(|&node| of(level, node, &child)).collect();
            (nodes, known) = (layer, here);
        }
        known.pop().unwrap_or(unit)
    }

    /// How many vectors there are.
    pub fn count(&self, set: Set) -> BigUint {
        if set.is_empty() {
            return BigUint::ZERO;
        }
        let small = self.fold(set, Some(1u128), |_, node, count| {
            self.store.edges(node).try_fold(0u128, |sum, edge| sum.checked_add(count(edge.child)?))
        });
        small.map(BigUint::from).unwrap_or_else(|| {
            self.fold(set, BigUint::from(1u8), |_, node, count| {
                self.store.edges(node).map(|edge| count(edge.child)).sum()
            })
        })
    }

    /// The largest sum of weights, of level and value, that a vector has; 0 for the empty set.
    pub fn most_sum(&self, set: Set, weight: &dyn Fn(usize, u32) -> u64) -> u64 {
        self.fold(set, 0u64, |level, node, below| {
            let sums = self.store.edges(node).map(|edge| weight(level, edge.value).saturating_add(below(edge.child)));
            sums.max().unwrap_or(0)
        })
    }

    /// How many different nodes these sets have together, the terminals left out.
    pub fn nodes(&self, sets: &[Set]) -> usize {
        let mut seen = vec![0u64; self.store.extent().div_ceil(64)];
        let mut open = Vec::new();
        let mut count = 0;
        let mut see = |node: u32, open: &mut Vec<u32>| {
            let (word, bit) = (node as usize / 64, 1u64 << (node % 64));
            if node > UNIT && seen[word] & bit == 0 {
                seen[word] |= bit;
                count += 1;
                open.push(node);
            }
        };
        for set in sets {
            see(set.0, &mut open);
            while let Some(node) = open.pop() {
                for edge in self.store.edges(node) {
                    see(edge.child, &mut open);
                }
            }
        }
        count
    }

    /// The values that occur at a level, sorted.
    pub fn values(&self, set: Set, level: usize) -> Vec<u32> {
        let mut layer = vec![set.0];
        for _ in 0..level {
            layer = layer.iter().flat_map(|&node| self.store.edges(node)).map(|edge| edge.child).collect();
            layer.sort_unstable();
            layer.dedup();
        }
        let mut values: Vec<u32> =
            layer.iter().flat_map(|&node| self.store.edges(node)).map(|edge| edge.value).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Shows every vector in ascending order, until `visit` says false.
    pub fn vectors(&self, set: Set, visit: &mut dyn FnMut(&[u32]) -> bool) {
        if set.0 <= UNIT {
            if set.0 != EMPTY {
                visit(&[]);
            }
            return;
        }
        let mut vector = Vec::new();
        let mut path = vec![self.store.span(set.0)];
        while let Some(span) = path.last_mut() {
            if span.at == span.end {
                path.pop();
                vector.pop();
                continue;
            }
            let (value, child) = (self.store.word(span.at), self.store.word(span.at + 1));
            span.at += 2;
            vector.push(value);
            if child == UNIT {
                if !visit(&vector) {
                    return;
                }
                vector.pop();
            } else {
                path.push(self.store.span(child));
            }
        }
    }
}

impl Diagrams {
    /// The values that occur at each level, sorted.
    pub fn values_by_level(&self, set: Set) -> Vec<Vec<u32>> {
        let mut levels = Vec::new();
        let mut layer = vec![set.0];
        while layer.iter().any(|node| *node > UNIT) {
            let mut values: Vec<u32> =
                layer.iter().flat_map(|&node| self.store.edges(node)).map(|edge| edge.value).collect();
            values.sort_unstable();
            values.dedup();
            levels.push(values);
            layer = layer.iter().flat_map(|&node| self.store.edges(node)).map(|edge| edge.child).collect();
            layer.sort_unstable();
            layer.dedup();
        }
        levels
    }
}
