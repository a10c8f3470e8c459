//! Sets from vectors, and union, intersection and difference: edge lists are merged, children combined the same way.

use super::cache::{INTERSECT, MINUS, UNION};
use super::store::{EMPTY, UNIT};
use super::{Diagrams, Halt, Set};

impl Diagrams {
    /// The set with this vector alone.
    pub fn single(&mut self, vector: &[u32]) -> Result<Set, Halt> {
        self.enter(|d| {
            let mut node = UNIT;
            for &value in vector.iter().rev() {
                let base = d.edges.len();
                d.push(value, node);
                node = d.make(base)?;
            }
            Ok(Set(node))
        })
    }

    /// The set with these vectors, all of the same length. They are sorted on the way.
    pub fn of_vectors(&mut self, vectors: &mut Vec<Vec<u32>>) -> Result<Set, Halt> {
        vectors.sort_unstable();
        vectors.dedup();
        debug_assert!(vectors.windows(2).all(|pair| pair[0].len() == pair[1].len()));
        self.enter(|d| d.build(vectors, 0)).map(Set)
    }

    /// The node of what follows the first `depth` values in these sorted vectors, which agree in those.
    fn build(&mut self, vectors: &[Vec<u32>], depth: usize) -> Result<u32, Halt> {
        match vectors.first() {
            None => return Ok(EMPTY),
            Some(first) if first.len() <= depth => return Ok(UNIT),
            Some(_) => {}
        }
        let base = self.edges.len();
        for group in vectors.chunk_by(|a, b| a.get(depth) == b.get(depth)) {
            let child = self.build(group, depth + 1)?;
            self.push(group[0][depth], child);
        }
        self.make(base)
    }

    /// The vectors of either.
    pub fn union(&mut self, a: Set, b: Set) -> Result<Set, Halt> {
        self.enter(|d| d.union_nodes(a.0, b.0)).map(Set)
    }

    /// The vectors of any of these.
    pub fn union_all(&mut self, mut sets: Vec<Set>) -> Result<Set, Halt> {
        sets.sort_unstable();
        sets.dedup();
        while sets.len() > 1 {
            let mut half = Vec::with_capacity(sets.len().div_ceil(2));
            for pair in sets.chunks(2) {
                half.push(if let [a, b] = *pair { self.union(a, b)? } else { pair[0] });
            }
            sets = half;
        }
        Ok(sets.pop().unwrap_or(Set::EMPTY))
    }

    /// The vectors of both.
    pub fn intersect(&mut self, a: Set, b: Set) -> Result<Set, Halt> {
        self.enter(|d| d.intersect_nodes(a.0, b.0)).map(Set)
    }

    /// The vectors of `a` that are not in `b`.
    pub fn minus(&mut self, a: Set, b: Set) -> Result<Set, Halt> {
        self.enter(|d| d.minus_nodes(a.0, b.0)).map(Set)
    }

    pub(super) fn union_nodes(&mut self, a: u32, b: u32) -> Result<u32, Halt> {
        if a == b || b == EMPTY {
            return Ok(a);
        }
        if a == EMPTY {
            return Ok(b);
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        if let Some(known) = self.cache.get(UNION, a, b) {
            return Ok(known);
        }
        let base = self.edges.len();
        let (mut left, mut right) = (self.store.span(a), self.store.span(b));
        // Often one holds the other: then there is nothing to make.
        let (mut is_a, mut is_b) = (true, true);
        while left.at < left.end && right.at < right.end {
            let (x, y) = (self.store.word(left.at), self.store.word(right.at));
            if x < y {
                let child = self.store.word(left.at + 1);
                self.push(x, child);
                is_b = false;
                left.at += 2;
            } else if y < x {
                let child = self.store.word(right.at + 1);
                self.push(y, child);
                is_a = false;
                right.at += 2;
            } else {
                let (c, d) = (self.store.word(left.at + 1), self.store.word(right.at + 1));
                let child = self.union_nodes(c, d)?;
                is_a &= child == c;
                is_b &= child == d;
                self.push(x, child);
                left.at += 2;
                right.at += 2;
            }
        }
        is_b &= left.at == left.end;
        is_a &= right.at == right.end;
        let result = if is_a || is_b {
            self.edges.truncate(base);
            if is_a { a } else { b }
        } else {
            self.copy_edges(left.at, left.end);
            self.copy_edges(right.at, right.end);
            self.make(base)?
        };
        self.cache.put(UNION, a, b, result);
        Ok(result)
    }

    /// Pushes the edges at these places as they are.
    fn copy_edges(&mut self, from: usize, to: usize) {
        for place in (from..to).step_by(2) {
            self.push(self.store.word(place), self.store.word(place + 1));
        }
    }

    pub(super) fn intersect_nodes(&mut self, a: u32, b: u32) -> Result<u32, Halt> {
        if a == b {
            return Ok(a);
        }
        if a == EMPTY || b == EMPTY {
            return Ok(EMPTY);
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        if let Some(known) = self.cache.get(INTERSECT, a, b) {
            return Ok(known);
        }
        let base = self.edges.len();
        let (mut left, mut right) = (self.store.span(a), self.store.span(b));
        while left.at < left.end && right.at < right.end {
            let (x, y) = (self.store.word(left.at), self.store.word(right.at));
            if x < y {
                left.at += 2;
            } else if y < x {
                right.at += 2;
            } else {
                let child = self.intersect_nodes(self.store.word(left.at + 1), self.store.word(right.at + 1))?;
                if child != EMPTY {
                    self.push(x, child);
                }
                left.at += 2;
                right.at += 2;
            }
        }
        let result = self.make(base)?;
        self.cache.put(INTERSECT, a, b, result);
        Ok(result)
    }

    pub(super) fn minus_nodes(&mut self, a: u32, b: u32) -> Result<u32, Halt> {
        if a == b || a == EMPTY {
            return Ok(EMPTY);
        }
        if b == EMPTY {
            return Ok(a);
        }
        if let Some(known) = self.cache.get(MINUS, a, b) {
            return Ok(known);
        }
        let base = self.edges.len();
        let (mut left, mut right) = (self.store.span(a), self.store.span(b));
        let mut is_a = true;
        while left.at < left.end {
            let (x, child) = (self.store.word(left.at), self.store.word(left.at + 1));
            while right.at < right.end && self.store.word(right.at) < x {
                right.at += 2;
            }
            let mut rest = child;
            if right.at < right.end && self.store.word(right.at) == x {
                rest = self.minus_nodes(child, self.store.word(right.at + 1))?;
            }
            is_a &= rest == child;
            if rest != EMPTY {
                self.push(x, rest);
            }
            left.at += 2;
        }
        let result = if is_a {
            self.edges.truncate(base);
            a
        } else {
            self.make(base)?
        };
        self.cache.put(MINUS, a, b, result);
        Ok(result)
    }
}
