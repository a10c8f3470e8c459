//! The shape of the tree: how a state is halved, again and again, down to leaves of at most eight bytes.

/// Bytes of a leaf at most: what a node holds.
const LEAF: usize = 8;

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
    /// The position above, if that is not the root.
    pub parent: Option<u32>,
    /// Steps down from the root.
    pub depth: u32,
}

/// Where a leaf stands in a state: it is read as a whole word, of which some bits belong to it.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    pub start: usize,
    pub bytes: usize,
    word: usize,
    shift: u32,
    mask: u64,
    pub position: u32,
    pub depth: u32,
}

impl Leaf {
    /// What a state has here.
    #[inline(always)]
    pub fn read(&self, state: &[u8]) -> u64 {
        let mut word = [0; 8];
        word.copy_from_slice(&state[self.word..self.word + 8]);
        u64::from_le_bytes(word) >> self.shift & self.mask
    }

    #[inline(always)]
    pub fn write(&self, content: u64, state: &mut [u8]) {
        state[self.start..self.start + self.bytes].copy_from_slice(&content.to_le_bytes()[..self.bytes]);
    }
}

/// The tree of states of some length, more than a leaf. Positions are in order from the root down; the first two are the
/// halves of the state.
#[derive(Debug)]
pub struct Shape {
    pub leaves: Vec<Leaf>,
    pub positions: Vec<Position>,
    pub depth: u32,
}

impl Shape {
    pub fn new(state_bytes: usize) -> Shape {
        assert!(state_bytes > LEAF);
        let mut shape = Shape { leaves: Vec::new(), positions: Vec::new(), depth: 1 };
        // Parts that have a position but not their halves yet.
        let mut ranges = Vec::new();
        shape.halve(0..state_bytes, None, 1, &mut ranges);
        let mut next = 0;
        while next < ranges.len() {
            let range: std::ops::Range<usize> = ranges[next].clone();
            let depth = shape.positions[next].depth;
            if range.len() > LEAF {
                let first = shape.halve(range, Some(next as u32), depth + 1, &mut ranges);
                shape.positions[next].part = Part::Pair(first, first + 1);
            } else {
                shape.positions[next].part = Part::Leaf(shape.leaves.len() as u32);
                let word = range.start.min(state_bytes - 8);
                shape.leaves.push(Leaf {
                    start: range.start,
                    bytes: range.len(),
                    word,
                    shift: 8 * (range.start - word) as u32,
                    mask: u64::MAX >> (64 - 8 * range.len()),
                    position: next as u32,
                    depth,
                });
            }
            next += 1;
        }
        shape
    }

    /// Adds the positions of the halves of a range, and answers the first.
    fn halve(
        &mut self,
        range: std::ops::Range<usize>,
        parent: Option<u32>,
        depth: u32,
        ranges: &mut Vec<std::ops::Range<usize>>,
    ) -> u32 {
        let first = self.positions.len() as u32;
        let middle = range.start + range.len().div_ceil(2);
        for half in [range.start..middle, middle..range.end] {
            ranges.push(half);
            self.positions.push(Position { part: Part::Leaf(0), parent, depth });
        }
        self.depth = self.depth.max(depth);
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
            shape.leaves.iter().for_each(|leaf| leaf.write(leaf.read(&state), &mut copy));
            assert_eq!(copy, state);
            for (at, position) in shape.positions.iter().enumerate() {
                if let Part::Pair(a, b) = position.part {
                    assert!(a as usize > at);
                    for child in [a, b] {
                        assert_eq!(shape.positions[child as usize].parent, Some(at as u32));
                        assert_eq!(shape.positions[child as usize].depth, position.depth + 1);
                    }
                }
            }
        }
    }
}
