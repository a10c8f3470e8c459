//! The shape of the tree: how a state is halved, again and again, down to leaves of at most sixteen bytes.
//!
//! All leaves have the same length; where a state cannot be divided evenly, they overlap by a byte here and there. Halves are
//! of the same length too: that keeps the number of different halves low, and with it the number of nodes.

use std::ops::Range;

/// Bytes of a leaf at most.
const LEAF: usize = 16;

/// What a node holds: a leaf's first and last eight bytes, or a leaf of at most eight bytes and zero, or a pair and zero.
pub type Content = [u64; 2];

/// What a node of the tree stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The leaf with this number.
    Leaf(u32),
    /// The pair of the nodes at these positions.
    Pair(u32, u32),
}

/// A position in the tree: a node that is not the root.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    pub part: Part,
    /// Steps down from the root.
    depth: u32,
}

/// Where a leaf stands in a state. A short one is read as a whole word, of which some bits belong to it.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    start: usize,
    bytes: usize,
    word: usize,
    shift: u32,
    mask: u64,
    pub position: u32,
}

impl Leaf {
    /// What a state has here.
    ///
    /// # Safety
    /// A state of the shape's length is at this address.
    #[inline(always)]
    pub unsafe fn read(&self, state: *const u8) -> Content {
        // SAFETY: as the caller promises; words end within the state.
        let word = |at: usize| u64::from_le(unsafe { state.add(at).cast::<u64>().read_unaligned() });
        if self.bytes > 8 {
            [word(self.start), word(self.start + self.bytes - 8)]
        } else {
            [word(self.word) >> self.shift & self.mask, 0]
        }
    }

    #[inline(always)]
    pub fn write(&self, content: Content, state: &mut [u8]) {
        let first = self.bytes.min(8);
        state[self.start..self.start + first].copy_from_slice(&content[0].to_le_bytes()[..first]);
        if self.bytes > 8 {
            let end = self.start + self.bytes;
            state[end - 8..end].copy_from_slice(&content[1].to_le_bytes());
        }
    }
}

/// The tree of states of some length, more than eight. Positions are in order from the root down; the first two are the
/// halves of the state, and the two halves of a pair follow each other.
#[derive(Debug)]
pub struct Shape {
    pub state_bytes: usize,
    pub leaf_bytes: usize,
    pub leaves: Vec<Leaf>,
    pub positions: Vec<Position>,
    /// The positions of each depth.
    pub levels: Vec<Range<usize>>,
}

impl Shape {
    pub fn new(state_bytes: usize) -> Shape {
        assert!(state_bytes > 8);
        let count = state_bytes.div_ceil(LEAF).next_power_of_two().max(2);
        let leaf_bytes = state_bytes.div_ceil(count);
        let mut shape =
            Shape { state_bytes, leaf_bytes, leaves: Vec::new(), positions: Vec::new(), levels: Vec::new() };
        // The leaves below each position.
        let mut below = Vec::new();
        shape.halve(0..count, 0, &mut below);
        let mut next = 0;
        while next < below.len() {
            let range: Range<usize> = below[next].clone();
            if range.len() > 1 {
                let first = shape.halve(range, shape.positions[next].depth + 1, &mut below);
                shape.positions[next].part = Part::Pair(first, first + 1);
            } else {
                shape.positions[next].part = Part::Leaf(shape.leaves.len() as u32);
                let start = range.start * (state_bytes - leaf_bytes) / (count - 1);
                let word = start.min(state_bytes - 8);
                shape.leaves.push(Leaf {
                    start,
                    bytes: leaf_bytes,
                    word,
                    shift: 8 * (start - word) as u32,
                    mask: u64::MAX >> (64 - 8 * leaf_bytes.min(8)),
                    position: next as u32,
                });
            }
            next += 1;
        }
        let deepest = shape.positions.last().map_or(0, |position| position.depth);
        let begin = |depth| shape.positions.partition_point(|position| position.depth < depth);
        shape.levels = (0..=deepest).map(|depth| begin(depth)..begin(depth + 1)).collect();
        shape
    }

    /// Adds positions for the halves of a range of leaves, and answers the first.
    fn halve(&mut self, leaves: Range<usize>, depth: u32, below: &mut Vec<Range<usize>>) -> u32 {
        let first = self.positions.len() as u32;
        let middle = leaves.start + leaves.len().div_ceil(2);
        for half in [leaves.start..middle, middle..leaves.end] {
            below.push(half);
            self.positions.push(Position { part: Part::Leaf(0), depth });
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_cover_a_state() {
        for bytes in 9..400 {
            let shape = Shape::new(bytes);
            assert_eq!(shape.positions.len(), 2 * shape.leaves.len() - 2);
            let state: Vec<u8> = (0..bytes).map(|i| i as u8 ^ 0x55).collect();
            let mut copy = vec![0; bytes];
            for leaf in &shape.leaves {
                // SAFETY: a state of that length.
                leaf.write(unsafe { leaf.read(state.as_ptr()) }, &mut copy);
            }
            assert_eq!(copy, state);
            assert!(shape.levels.iter().flat_map(|level| level.clone()).eq(0..shape.positions.len()));
            for (at, position) in shape.positions.iter().enumerate() {
                if let Part::Pair(a, b) = position.part {
                    assert!(a as usize > at);
                    assert_eq!(b, a + 1);
                    [a, b]
                        .iter()
                        .for_each(|&child| assert_eq!(shape.positions[child as usize].depth, position.depth + 1));
                }
            }
        }
    }
}
