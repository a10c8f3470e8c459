//! Folding states to keys, and keys to states.
//!
//! A successor differs from its source in a few bytes. So the numbers of all nodes of each source are remembered, and of a
//! successor only the leaves that differ and the pairs above them are looked up. A group of states goes through the tree
//! together, level by level from the leaves up, so that cache misses overlap; a small cache of nodes seen lately answers most
//! questions before. All is kept position by position, not state by state: loops then do the same thing to all states.

use super::nodes::{Nodes, Sought, hash};
use super::shape::{Content, Part, Shape};
use scrimp_core::Budget;
use scrimp_system::Batch;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// States that go through the tree together: as many as a byte can tell apart.
const GROUP: usize = 256;
/// The logarithm of the number of nodes in the cache.
const CACHE_BITS: u32 = 14;

/// States of a group, in ascending order.
struct Members {
    states: [u8; GROUP],
    count: usize,
}

impl Members {
    fn as_slice(&self) -> &[u8] {
        &self.states[..self.count.min(GROUP)]
    }
}

/// What a group has at one position of the tree.
struct Column {
    /// Each state's number of the node here.
    numbers: [u32; GROUP],
    /// The states that differ from their source here.
    changed: Members,
}

/// A node that is not in the cache: what is sought, the position and the state.
struct Missed {
    sought: Sought,
    position: u32,
    state: u8,
}

/// The nodes of a tree.
pub struct Forest {
    pub leaves: Nodes,
    pub pairs: Nodes,
}

impl Forest {
    pub fn new(leaf_bytes: usize, budget: &Arc<Budget>) -> io::Result<Forest> {
        Ok(Forest { leaves: Nodes::new(leaf_bytes, budget)?, pairs: Nodes::new(8, budget)? })
    }

    /// The nodes that a part of a tree is one of.
    #[inline(always)]
    fn of(&self, part: Part) -> &Nodes {
        if let Part::Leaf(_) = part { &self.leaves } else { &self.pairs }
    }
}

/// Nodes seen lately, by their hashes; at first all are node 0, whose content is zero.
type Cache = [(Content, u32); 1 << CACHE_BITS];

/// One thread's ways of giving out numbers of leaves or of pairs.
struct Giver {
    cache: Box<Cache>,
    /// Numbers of nodes this thread may still give out.
    block: Range<u32>,
}

impl Giver {
    fn new() -> Giver {
        let cache = vec![([0; 2], 0); 1 << CACHE_BITS].into_boxed_slice();
        Giver { cache: cache.try_into().expect("of that length"), block: 0..0 }
    }
}

/// One thread's way of folding: the sources loaded last, and buffers.
pub struct Folder {
    shape: Arc<Shape>,
    leaves: Giver,
    pairs: Giver,
    sources: usize,
    /// For each position, the number of each source's node there.
    source_numbers: Vec<u32>,
    /// For each leaf, what each source has there.
    source_leaves: Vec<Content>,
    columns: Vec<Column>,
    /// For each leaf, what each state of the group has there.
    contents: Vec<[Content; GROUP]>,
    missed: Vec<Missed>,
}

impl Folder {
    pub fn new(shape: &Arc<Shape>) -> Folder {
        let column = |_| Column { numbers: [0; GROUP], changed: Members { states: [0; GROUP], count: 0 } };
        Folder {
            shape: shape.clone(),
            leaves: Giver::new(),
            pairs: Giver::new(),
            sources: 0,
            source_numbers: Vec::new(),
            source_leaves: Vec::new(),
            columns: (0..shape.positions.len()).map(column).collect(),
            contents: vec![[[0; 2]; GROUP]; shape.leaves.len()],
            missed: Vec::new(),
        }
    }

    /// Unfolds keys and appends the states; they are the sources of what is folded next.
    pub fn load(&mut self, forest: &Forest, keys: impl ExactSizeIterator<Item = u64>, sources: &mut Batch) {
        let shape = &*self.shape;
        let count = keys.len();
        self.sources = count;
        self.source_numbers.resize(count * shape.positions.len(), 0);
        self.source_leaves.resize(count * shape.leaves.len(), [0; 2]);
        let numbers = &mut self.source_numbers[..];
        let halves = forest.of(shape.positions[0].part);
        for (i, key) in keys.enumerate() {
            for (half, number) in [(key >> 32) as u32, key as u32].into_iter().enumerate() {
                assert!(halves.has(number), "a key of this tree");
                halves.prefetch_content(number);
                numbers[half * count + i] = number;
            }
        }
        // Position by position, so that what one state needs is fetched while others are served.
        for (at, position) in shape.positions.iter().enumerate() {
            let (before, below) = numbers.split_at_mut((at + 1) * count);
            let here = &before[at * count..];
            match position.part {
                Part::Pair(a, _) => {
                    let children = forest.of(shape.positions[a as usize].part);
                    let (left, right) = below[(a as usize - at - 1) * count..][..2 * count].split_at_mut(count);
                    for ((&number, left), right) in here.iter().zip(left).zip(right) {
                        // SAFETY: the number comes from a key or a pair.
                        let [pair, _] = unsafe { forest.pairs.content(number) };
                        (*left, *right) = ((pair >> 32) as u32, pair as u32);
                        children.prefetch_content(*left);
                        children.prefetch_content(*right);
                    }
                }
                Part::Leaf(leaf) => {
                    let contents = &mut self.source_leaves[leaf as usize * count..][..count];
                    for (&number, content) in here.iter().zip(contents) {
                        // SAFETY: as above.
                        *content = unsafe { forest.leaves.content(number) };
                    }
                }
            }
        }
        for i in 0..count {
            let state = sources.push_with(0);
            for (leaf, contents) in shape.leaves.iter().zip(self.source_leaves.chunks_exact(count)) {
                leaf.write(contents[i], state);
            }
        }
    }

    /// Unfolds one key, of a state that was folded.
    pub fn unfold(shape: &Shape, forest: &Forest, key: u64, numbers: &mut Vec<u32>, out: &mut [u8]) {
        numbers.resize(shape.positions.len(), 0);
        (numbers[0], numbers[1]) = ((key >> 32) as u32, key as u32);
        for (at, position) in shape.positions.iter().enumerate() {
            let nodes = forest.of(position.part);
            assert!(nodes.has(numbers[at]), "a key of this tree");
            // SAFETY: the number comes from a key or a pair.
            let content = unsafe { nodes.content(numbers[at]) };
            match position.part {
                Part::Pair(a, b) => {
                    (numbers[a as usize], numbers[b as usize]) = ((content[0] >> 32) as u32, content[0] as u32)
                }
                Part::Leaf(leaf) => shape.leaves[leaf as usize].write(content, out),
            }
        }
    }

    /// Appends the keys of some states of a batch. Room must have been secured for so many leaves and pairs as [`need`] says.
    pub fn fold<const ALONE: bool>(
        &mut self,
        forest: &Forest,
        batch: &Batch,
        which: Range<usize>,
        origins: &[u32],
        keys: &mut Vec<u64>,
    ) {
        for start in which.clone().step_by(GROUP) {
            let end = which.end.min(start + GROUP);
            self.compare(batch, start, &origins[start - which.start..end - which.start]);
            for level in (0..self.shape.levels.len()).rev() {
                self.look_up::<ALONE>(forest, self.shape.levels[level].clone());
            }
            let halves = self.columns[0].numbers.iter().zip(&self.columns[1].numbers).take(end - start);
            keys.extend(halves.map(|(&left, &right)| (left as u64) << 32 | right as u64));
        }
    }

    /// Takes over from its source what a state has in common with it, and finds the leaves that differ.
    fn compare(&mut self, batch: &Batch, start: usize, origins: &[u32]) {
        let shape = &*self.shape;
        let count = origins.len();
        assert!(count <= GROUP && start + count <= batch.len() && batch.state_bytes() == shape.state_bytes);
        let first = batch.state(start).as_ptr();
        let known = |origin: u32| (origin as usize) < self.sources;
        let has_sources = origins.iter().all(|&origin| known(origin));
        for (at, column) in self.columns.iter_mut().enumerate() {
            let before = &self.source_numbers[at * self.sources..][..self.sources];
            for (&origin, number) in origins.iter().zip(&mut column.numbers) {
                // A state without source gets all its numbers later.
                *number = before.get(origin as usize).copied().unwrap_or(0);
            }
        }
        for ((at, leaf), contents) in shape.leaves.iter().enumerate().zip(&mut self.contents) {
            let before = &self.source_leaves[at * self.sources..][..self.sources];
            let changed = &mut self.columns[leaf.position as usize].changed;
            let mut found = 0;
            for (i, &origin) in origins.iter().enumerate() {
                // SAFETY: a state of the batch, which has the shape's length.
                let content = unsafe { leaf.read(first.wrapping_add(i * batch.stride())) };
                contents[i] = content;
                changed.states[found] = i as u8;
                let differs = before.get(origin as usize).copied().unwrap_or([0; 2]) != content;
                found += (differs || !has_sources && !known(origin)) as usize;
            }
            changed.count = found;
        }
    }

    /// Looks up the nodes of a level that differ from those of the sources, and finds which pairs above differ.
    #[inline(always)]
    fn look_up<const ALONE: bool>(&mut self, forest: &Forest, level: Range<usize>) {
        self.missed.clear();
        for at in level.clone() {
            let (before, below) = self.columns.split_at_mut(at + 1);
            let column = &mut before[at];
            match self.shape.positions[at].part {
                Part::Leaf(leaf) => {
                    let contents = &self.contents[leaf as usize];
                    let content = |i: u8| contents[i as usize];
                    seek(&self.leaves.cache, &mut self.missed, &forest.leaves, at, column, content);
                }
                Part::Pair(a, _) => {
                    let [left, right] = &below[a as usize - at - 1..][..2] else { unreachable!("a pair of columns") };
                    column.changed.unite(&left.changed, &right.changed);
                    let number = |half: &Column, i: u8| half.numbers[i as usize] as u64;
                    let content = |i: u8| [number(left, i) << 32 | number(right, i), 0];
                    seek(&self.pairs.cache, &mut self.missed, &forest.pairs, at, column, content);
                }
            }
        }
        // A level has either leaves or pairs.
        let part = self.shape.positions[level.start].part;
        let giver = if let Part::Leaf(_) = part { &mut self.leaves } else { &mut self.pairs };
        let nodes = forest.of(part);
        self.missed.iter_mut().for_each(|missed| nodes.guess(&mut missed.sought));
        for missed in &self.missed {
            let number = nodes.number::<ALONE>(missed.sought, &mut giver.block);
            self.columns[missed.position as usize].numbers[missed.state as usize] = number;
            giver.cache[(missed.sought.hash >> (64 - CACHE_BITS)) as usize] = (missed.sought.content, number);
        }
    }
}

/// Numbers of leaves and of pairs that so many states may take.
pub fn need(shape: &Shape, states: usize) -> [usize; 2] {
    let leaves = shape.leaves.len();
    [leaves, shape.positions.len() - leaves].map(|nodes| Nodes::need(states * nodes))
}

/// Takes from the cache the numbers of the changed nodes at a position, and asks for the others.
#[inline(always)]
fn seek(
    cache: &Cache,
    missed: &mut Vec<Missed>,
    nodes: &Nodes,
    position: usize,
    column: &mut Column,
    content: impl Fn(u8) -> Content,
) {
    for at in 0..column.changed.count {
        let state = column.changed.states[at];
        let content = content(state);
        let h = hash(content);
        let (cached, number) = cache[(h >> (64 - CACHE_BITS)) as usize];
        column.numbers[state as usize] = number;
        if cached != content {
            missed.push(Missed { sought: nodes.seek(h, content), position: position as u32, state });
        }
    }
}

impl Members {
    /// Makes this the union of two.
    #[inline(always)]
    fn unite(&mut self, one: &Members, other: &Members) {
        let (a, b) = (one.as_slice(), other.as_slice());
        let (mut i, mut j, mut count) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            self.states[count] = x.min(y);
            count += 1;
            i += (x <= y) as usize;
            j += (y <= x) as usize;
        }
        for &state in a[i..].iter().chain(&b[j..]) {
            self.states[count] = state;
            count += 1;
        }
        self.count = count;
    }
}
