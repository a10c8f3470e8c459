//! Folding states to keys, and keys to states.
//!
//! A successor differs from its source in a few bytes. So the numbers of all nodes of each source are remembered, and of a
//! successor only the leaves that differ and the pairs above them are looked up. A group of states goes through the tree
//! together, level by level from the leaves up, so that cache misses overlap; a small cache of nodes seen lately answers most
//! questions before.

use super::nodes::{Nodes, Sought, hash};
use super::shape::{Part, Shape};
use scrimp_system::Batch;
use std::ops::Range;
use std::sync::Arc;

/// States that go through the tree together.
const GROUP: usize = 128;
/// The logarithm of the number of nodes in the cache.
const CACHE_BITS: u32 = 12;

/// A node to be looked up: its content, the state of the group, and the position.
#[derive(Debug, Clone, Copy)]
struct Request {
    content: u64,
    state: u32,
    position: u32,
}

/// One thread's way of folding: the sources loaded last, and buffers.
pub struct Folder {
    shape: Arc<Shape>,
    /// Numbers of nodes this thread may still give out.
    block: Range<u32>,
    /// Nodes seen lately; at first all are node 0, whose content is zero.
    cache: Box<[(u64, u32)]>,
    /// For each source, the number of the node at each position, and the content of each leaf.
    source_numbers: Vec<u32>,
    source_leaves: Vec<u64>,
    sources: usize,
    /// For each state of the group, the number of the node at each position, and whether it is to be looked up.
    numbers: Vec<u32>,
    marked: Vec<bool>,
    /// What is to be looked up, by depth.
    levels: Vec<Vec<Request>>,
    missed: Vec<(Sought, u32)>,
}

impl Folder {
    pub fn new(shape: &Arc<Shape>) -> Folder {
        let positions = shape.positions.len();
        Folder {
            shape: shape.clone(),
            block: 0..0,
            cache: vec![(0, 0); 1 << CACHE_BITS].into(),
            source_numbers: Vec::new(),
            source_leaves: Vec::new(),
            sources: 0,
            numbers: vec![0; GROUP * positions],
            marked: vec![false; GROUP * positions],
            levels: vec![Vec::new(); shape.depth as usize + 1],
            missed: Vec::new(),
        }
    }

    /// Unfolds keys and appends the states; they are the sources of what is folded next.
    pub fn load(&mut self, nodes: &Nodes, keys: impl ExactSizeIterator<Item = u64>, sources: &mut Batch) {
        let shape = &*self.shape;
        let (positions, leaves) = (shape.positions.len(), shape.leaves.len());
        self.sources = keys.len();
        self.source_numbers.resize(self.sources * positions, 0);
        self.source_leaves.resize(self.sources * leaves, 0);
        for (key, numbers) in keys.zip(self.source_numbers.chunks_exact_mut(positions)) {
            (numbers[0], numbers[1]) = ((key >> 32) as u32, key as u32);
            for &number in &numbers[..2] {
                assert!(nodes.has(number), "a key of this tree");
                nodes.prefetch_content(number);
            }
        }
        // Position by position, so that what one state needs is fetched while others are served.
        for (at, position) in shape.positions.iter().enumerate() {
            let rows = self.source_numbers.chunks_exact_mut(positions);
            match position.part {
                Part::Pair(a, b) => {
                    for numbers in rows {
                        let pair = nodes.content(numbers[at]);
                        for (child, number) in [(a, (pair >> 32) as u32), (b, pair as u32)] {
                            numbers[child as usize] = number;
                            nodes.prefetch_content(number);
                        }
                    }
                }
                Part::Leaf(leaf) => {
                    for (i, numbers) in rows.enumerate() {
                        self.source_leaves[i * leaves + leaf as usize] = nodes.content(numbers[at]);
                    }
                }
            }
        }
        for contents in self.source_leaves.chunks_exact(leaves) {
            let state = sources.push_with(0);
            shape.leaves.iter().zip(contents).for_each(|(leaf, &content)| leaf.write(content, state));
        }
    }

    /// Unfolds one key.
    pub fn unfold(shape: &Shape, nodes: &Nodes, key: u64, numbers: &mut Vec<u32>, out: &mut [u8]) {
        numbers.resize(shape.positions.len(), 0);
        (numbers[0], numbers[1]) = ((key >> 32) as u32, key as u32);
        for (at, position) in shape.positions.iter().enumerate() {
            let content = nodes.content(numbers[at]);
            match position.part {
                Part::Pair(a, b) => {
                    (numbers[a as usize], numbers[b as usize]) = ((content >> 32) as u32, content as u32)
                }
                Part::Leaf(leaf) => shape.leaves[leaf as usize].write(content, out),
            }
        }
    }

    /// Appends the keys of all states of a batch. Room must have been secured for [`need`](Folder::need).
    pub fn fold<const ALONE: bool>(&mut self, nodes: &Nodes, batch: &Batch, origins: &[u32], keys: &mut Vec<u64>) {
        for start in (0..batch.len()).step_by(GROUP) {
            let end = batch.len().min(start + GROUP);
            self.compare(batch, start..end, origins);
            for depth in (1..self.levels.len()).rev() {
                self.look_up::<ALONE>(nodes, depth);
            }
            let rows = self.numbers.chunks_exact(self.shape.positions.len()).take(end - start);
            keys.extend(rows.map(|numbers| (numbers[0] as u64) << 32 | numbers[1] as u64));
        }
    }

    /// Nodes that so many states may add.
    pub fn need(shape: &Shape, states: usize) -> usize {
        Nodes::need(states * shape.positions.len())
    }

    /// Takes over from its source what a state has in common with it, and asks for all other leaves.
    fn compare(&mut self, batch: &Batch, which: Range<usize>, origins: &[u32]) {
        let shape = &*self.shape;
        let (positions, leaves) = (shape.positions.len(), shape.leaves.len());
        self.marked[..which.len() * positions].fill(false);
        for (i, which) in which.enumerate() {
            let state = batch.state(which);
            let numbers = &mut self.numbers[i * positions..][..positions];
            let origin = origins[which] as usize;
            let mut request = |content: u64, leaf: &super::shape::Leaf| {
                self.levels[leaf.depth as usize].push(Request { content, state: i as u32, position: leaf.position });
            };
            if origin < self.sources {
                numbers.copy_from_slice(&self.source_numbers[origin * positions..][..positions]);
                let contents = &self.source_leaves[origin * leaves..][..leaves];
                for (leaf, &before) in shape.leaves.iter().zip(contents) {
                    let content = leaf.read(state);
                    if content != before {
                        request(content, leaf);
                    }
                }
            } else {
                shape.leaves.iter().for_each(|leaf| request(leaf.read(state), leaf));
            }
        }
    }

    /// Looks up all nodes that were asked for at this depth, and asks for those above.
    #[inline(always)]
    fn look_up<const ALONE: bool>(&mut self, nodes: &Nodes, depth: usize) {
        let shape = &*self.shape;
        let positions = shape.positions.len();
        let (above, here) = self.levels.split_at_mut(depth);
        let here = &mut here[0];
        self.missed.clear();
        for (i, request) in here.iter_mut().enumerate() {
            let row = request.state as usize * positions;
            if let Part::Pair(a, b) = shape.positions[request.position as usize].part {
                let [a, b] = [a, b].map(|child| self.numbers[row + child as usize] as u64);
                request.content = a << 32 | b;
            }
            let h = hash(request.content);
            let (content, number) = self.cache[(h >> (64 - CACHE_BITS)) as usize];
            if content == request.content {
                self.numbers[row + request.position as usize] = number;
            } else {
                self.missed.push((nodes.seek(h, request.content), i as u32));
            }
        }
        self.missed.iter_mut().for_each(|(sought, _)| nodes.guess(sought));
        for &(sought, i) in &self.missed {
            let number = nodes.number::<ALONE>(sought, &mut self.block);
            let request = here[i as usize];
            self.numbers[request.state as usize * positions + request.position as usize] = number;
            self.cache[(sought.hash >> (64 - CACHE_BITS)) as usize] = (sought.content, number);
        }
        if let Some(above) = above.last_mut().filter(|_| depth > 1) {
            for request in here.iter() {
                let Some(parent) = shape.positions[request.position as usize].parent else { continue };
                let marked = &mut self.marked[request.state as usize * positions + parent as usize];
                if !std::mem::replace(marked, true) {
                    above.push(Request { content: 0, state: request.state, position: parent });
                }
            }
        }
        here.clear();
    }
}
