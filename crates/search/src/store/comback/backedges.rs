//! The backedge table: for each state the number of a predecessor and which of its successors the state is.
//!
//! Numbers stand in groups of 64. Once a group is full it is packed: the lowest predecessor of the group, and for each state
//! the distance from there and the place among the successors, each in as many bits as the largest of the group needs. In
//! breadth-first order the predecessors of 64 states in a row lie close together, so an entry takes ten to twelve bits; it
//! never takes more than the number and the place do.

use crate::column::Column;
use crate::store::index::prefetch;
use crate::store::{Full, StateId};
use scrimp_core::Budget;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// States in a group.
const GROUP: usize = 64;
/// Bytes before the bits of a group: the lowest predecessor and the two widths.
const HEAD: usize = 8;
/// The most bytes that a group takes.
const LARGEST: usize = HEAD + 8 * (32 + 32);
/// Bits are read in whole words, which may reach beyond the last group.
const SLACK: usize = 8;

/// How a state was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backedge {
    /// The state itself where it is initial.
    pub predecessor: StateId,
    /// Which of the predecessor's successors; of an initial state, which of the initial ones.
    pub place: u32,
}

pub struct Backedges {
    /// Where each packed group starts, in words.
    starts: Column<u32>,
    packed: Column<u8>,
    used: usize,
    /// The group that is not full yet.
    last: [Backedge; GROUP],
    len: usize,
}

impl Backedges {
    pub fn new(budget: &Arc<Budget>) -> io::Result<Backedges> {
        let (starts, packed) = (Column::new(budget)?, Column::new(budget)?);
        Ok(Backedges { starts, packed, used: 0, last: [Backedge::default(); GROUP], len: 0 })
    }

    /// Makes room for so many more.
    pub fn ensure(&mut self, more: usize) -> Result<(), Full> {
        self.starts.ensure((self.len + more) / GROUP + 1)?;
        self.packed.ensure(self.used + (more / GROUP + 1) * LARGEST + SLACK)
    }

    /// Appends a backedge, for which room was made.
    #[inline(always)]
    pub fn push(&mut self, backedge: Backedge) {
        self.last[self.len % GROUP] = backedge;
        self.len += 1;
        if self.len.is_multiple_of(GROUP) {
            self.pack();
        }
    }

    fn pack(&mut self) {
        let lowest = self.last.iter().map(|b| b.predecessor).min().unwrap_or(0);
        let bits = |most: u32| 32 - most.leading_zeros() as usize;
        let distance_bits = bits(self.last.iter().map(|b| b.predecessor - lowest).max().unwrap_or(0));
        let place_bits = bits(self.last.iter().map(|b| b.place).max().unwrap_or(0));
        self.starts[(self.len / GROUP - 1) as u32] = (self.used / 8) as u32;
        let size = HEAD + 8 * (distance_bits + place_bits);
        let out = self.packed.stretch_mut(self.used, size);
        out[..4].copy_from_slice(&lowest.to_le_bytes());
        out[4..HEAD].copy_from_slice(&[distance_bits as u8, place_bits as u8, 0, 0]);
        let (distances, places) = out[HEAD..].split_at_mut(8 * distance_bits);
        put_all(distances, distance_bits, self.last.iter().map(|b| b.predecessor - lowest));
        put_all(places, place_bits, self.last.iter().map(|b| b.place));
        self.used += size;
    }

    #[inline(always)]
    pub fn get(&self, id: StateId) -> Backedge {
        let (group, i) = (id as usize / GROUP, id as usize % GROUP);
        if group == self.len / GROUP {
            return self.last[i];
        }
        let start = self.starts[group as u32] as usize * 8;
        let head = self.packed.stretch(start, HEAD);
        let lowest = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let (distance_bits, place_bits) = (head[4] as usize, head[5] as usize);
        let distance = self.bits(start + HEAD, i, distance_bits);
        let place = self.bits(start + HEAD + 8 * distance_bits, i, place_bits);
        Backedge { predecessor: lowest + distance, place }
    }

    /// Asks for the memory of an entry.
    #[inline(always)]
    pub fn prefetch(&self, id: StateId) {
        let group = id as usize / GROUP;
        if group < self.len / GROUP {
            let start = self.packed.address(0).wrapping_add(self.starts[group as u32] as usize * 8);
            prefetch(start);
            prefetch(start.wrapping_add(64));
        }
    }

    #[inline(always)]
    fn bits(&self, start: usize, i: usize, width: usize) -> u32 {
        let bit = i * width;
        let bytes = self.packed.stretch(start + bit / 8, 8);
        let word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        (word >> (bit % 8) & ((1 << width) - 1)) as u32
    }

    pub fn bytes(&self) -> usize {
        self.used + self.len / GROUP * 4
    }

    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        for id in 0..self.len {
            let Backedge { predecessor, place } = self.get(id as StateId);
            to.write_all(&predecessor.to_le_bytes())?;
            to.write_all(&place.to_le_bytes())?;
        }
        Ok(())
    }

    /// Appends so many that were saved.
    pub fn restore(&mut self, count: usize, from: &mut dyn Read) -> io::Result<()> {
        let mut word = [0; 4];
        let mut number = || from.read_exact(&mut word).map(|()| u32::from_le_bytes(word));
        for _ in 0..count {
            let backedge = Backedge { predecessor: number()?, place: number()? };
            self.ensure(1).map_err(|Full| io::Error::from(io::ErrorKind::OutOfMemory))?;
            self.push(backedge);
        }
        Ok(())
    }
}

/// Writes 64 values of so many bits each.
fn put_all(out: &mut [u8], width: usize, values: impl Iterator<Item = u32>) {
    let mut words = out.chunks_exact_mut(8);
    let (mut word, mut filled) = (0u64, 0);
    for value in values {
        word |= (value as u64) << filled;
        filled += width;
        if filled >= 64 {
            words.next().expect("a word for each bit of the width").copy_from_slice(&word.to_le_bytes());
            filled -= 64;
            // What of the value did not fit; a shift by all 64 bits leaves nothing.
            word = (value as u64).checked_shr((width - filled) as u32).unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    #[test]
    fn what_was_put_in_comes_out() {
        let budget = Arc::new(Budget::new(usize::MAX / 4));
        let mut random = Random(7);
        for shape in 0..6 {
            let mut table = Backedges::new(&budget).unwrap();
            let mut reference = Vec::new();
            for id in 0..1000u32 {
                let backedge = match shape {
                    0 => Backedge { predecessor: id / 2, place: id % 7 },
                    1 => Backedge { predecessor: random.below(id as usize + 1) as u32, place: 0 },
                    2 => Backedge { predecessor: id.saturating_sub(1), place: random.below(300) as u32 },
                    3 => Backedge { predecessor: u32::MAX - random.below(2) as u32, place: u32::MAX },
                    4 => Backedge { predecessor: 5, place: 0 },
                    _ => Backedge { predecessor: random.below(1 << 32) as u32, place: random.below(1 << 32) as u32 },
                };
                table.ensure(1).unwrap();
                table.push(backedge);
                reference.push(backedge);
            }
            let all = |table: &Backedges| (0..1000).map(|id| table.get(id)).collect::<Vec<_>>();
            assert_eq!(all(&table), reference, "shape {shape}");
            let mut saved = Vec::new();
            table.save(&mut saved).unwrap();
            let mut again = Backedges::new(&budget).unwrap();
            again.restore(1000, &mut &saved[..]).unwrap();
            assert_eq!((all(&again), again.bytes()), (reference, table.bytes()));
        }
    }

    #[test]
    fn neighbours_with_near_predecessors_take_little() {
        let mut table = Backedges::new(&Arc::new(Budget::new(usize::MAX / 4))).unwrap();
        for id in 0..64_000u32 {
            table.ensure(1).unwrap();
            table.push(Backedge { predecessor: id * 2 / 3, place: id % 8 });
        }
        assert!(table.bytes() * 8 < 64_000 * 11, "{} bytes", table.bytes());
    }
}
