//! One component of all states: its values, each kept once and numbered.
//!
//! A batch is numbered component by component. Where the component is as in the state before, as it mostly is among the
//! successors of one state, the number is too. Otherwise a small cache of recent values is asked, by the words of the state in
//! which the component lies, masked. What it does not know is gathered and offered to the table of values together.

use super::changes::mask;
use crate::store::table::Concurrent;
use crate::store::{Found, Full, Store, Table};
use scrimp_core::Budget;
use scrimp_system::Batch;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Values in the cache, as a power of two.
const CACHE_BITS: u32 = 9;
/// Marks a number that is the place of a value among those that are looked up, until it is known.
const PENDING: u32 = 1 << 31;

/// Up to eight bytes of a state, some of which belong to the component.
#[derive(Debug, Clone, Copy)]
struct Part {
    offset: usize,
    mask: u64,
}

impl Part {
    #[inline(always)]
    fn of(self, state: &[u8]) -> u64 {
        let word = match state.get(self.offset..self.offset + 8) {
            Some(word) => u64::from_le_bytes(word.try_into().unwrap()),
            // Only a state that is shorter than a word.
            None => state.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64),
        };
        word & self.mask
    }
}

/// One thread's way to the values of a component.
pub struct Component {
    parts: Vec<Part>,
    ranges: Vec<Range<usize>>,
    /// Where it lies, in the bits of [`changes`](super::changes).
    mask: u64,
    values: Table,
    /// Recent values: the number plus one, and the masked words.
    cache: Vec<u64>,
    missed: Batch,
    found: Vec<Found>,
}

impl Component {
    pub fn new(ranges: &[Range<usize>], state_bytes: usize, budget: &Arc<Budget>) -> io::Result<Component> {
        let bytes = ranges.iter().map(|range| range.len()).sum();
        let values = Table::new(bytes, budget.clone())?.without_gaps();
        Ok(Component::with(values, ranges.to_vec(), parts(ranges, state_bytes), mask(ranges, state_bytes)))
    }

    fn with(values: Table, ranges: Vec<Range<usize>>, parts: Vec<Part>, mask: u64) -> Component {
        let cache = vec![0; (1 + parts.len()) << CACHE_BITS];
        let missed = Batch::new(values.shared().state_bytes());
        Component { parts, ranges, mask, values, cache, missed, found: Vec::new() }
    }

    /// For each of several threads a way to the same values.
    pub fn share(self, threads: usize) -> Vec<Component> {
        let Component { parts, ranges, mask, values, .. } = self;
        let with = |values| Component::with(values, ranges.clone(), parts.clone(), mask);
        values.share(threads).into_iter().map(with).collect()
    }

    pub fn values(&self) -> &Table {
        &self.values
    }

    pub fn values_mut(&mut self) -> &mut Table {
        &mut self.values
    }

    /// Number of different values so far.
    pub fn len(&self) -> usize {
        self.values.numbers()
    }

    pub fn bytes(&self) -> usize {
        self.values.bytes() + self.cache.len() * size_of::<u64>()
    }

    /// Writes to `numbers` the numbers of the component in the states of a batch from number `first` on, and answers which
    /// bits occur in them; `changed` says where each state differs from the one before. When it fails, answers how many values
    /// may be new.
    pub fn number_all(
        &mut self,
        batch: &Batch,
        first: usize,
        changed: &[u64],
        numbers: &mut [u32],
    ) -> Result<u32, usize> {
        match self.parts.len() {
            1 => self.number_states::<1>(batch, first, changed, numbers),
            2 => self.number_states::<2>(batch, first, changed, numbers),
            3 => self.number_states::<3>(batch, first, changed, numbers),
            _ => self.number_states::<0>(batch, first, changed, numbers),
        }
    }

    #[inline(always)]
    fn number_states<const P: usize>(
        &mut self,
        batch: &Batch,
        first: usize,
        changed: &[u64],
        numbers: &mut [u32],
    ) -> Result<u32, usize> {
        let Component { parts, ranges, mask, cache, missed, .. } = self;
        let parts = if P == 0 { &parts[..] } else { &parts[..P] };
        missed.clear();
        let (mut seen, mut last) = (0, 0);
        for (i, (number, changed)) in numbers.iter_mut().zip(changed).enumerate() {
            if changed & *mask != 0 {
                let state = batch.state(first + i);
                let slot = slot_of(parts, state) * (1 + parts.len());
                let known = &mut cache[slot..slot + 1 + parts.len()];
                if known[0] == 0 || parts.iter().zip(&known[1..]).any(|(part, &word)| part.of(state) != word) {
                    known[0] = (PENDING | missed.len() as u32) as u64 + 1;
                    parts.iter().zip(&mut known[1..]).for_each(|(part, word)| *word = part.of(state));
                    gather(state, ranges, missed.push_with(slot as u32));
                }
                last = (known[0] - 1) as u32;
                seen |= last;
            }
            *number = last;
        }
        if seen & PENDING != 0 {
            seen = self.look_up(numbers)?;
        }
        Ok(seen)
    }

    /// Finds the values that the cache did not know, and puts their numbers where their places stand.
    fn look_up(&mut self, numbers: &mut [u32]) -> Result<u32, usize> {
        let Component { values, missed, found, cache, .. } = self;
        found.clear();
        let stored = values.offer(missed, 0..missed.len(), found);
        for place in 0..missed.len() {
            let known = &mut cache[missed.event(place) as usize];
            if *known == (PENDING | place as u32) as u64 + 1 {
                *known = found.get(place).map_or(0, |found| found.id as u64 + 1);
            }
        }
        stored.map_err(|Full| missed.len())?;
        let mut seen = 0;
        for number in numbers {
            if *number & PENDING != 0 {
                *number = found[(*number & !PENDING) as usize].id;
            }
            seen |= *number;
        }
        // So many values leave no room for the mark.
        if seen & PENDING != 0 { Err(missed.len()) } else { Ok(seen) }
    }

    /// The number of the component in a state, if it has one.
    pub fn find(&self, state: &[u8]) -> Option<u32> {
        let mut value = Batch::new(self.missed.state_bytes());
        gather(state, &self.ranges, value.push_with(0));
        self.values.find(&value, 0)
    }

    /// Puts the value with this number into a state.
    #[inline(always)]
    pub fn put(&self, number: u32, state: &mut [u8]) {
        let mut value = self.values.shared().state(number);
        for range in &self.ranges {
            let (these, rest) = value.split_at(range.len());
            state[range.clone()].copy_from_slice(these);
            value = rest;
        }
    }
}

#[inline(always)]
fn slot_of(parts: &[Part], state: &[u8]) -> usize {
    let mix = |hash: u64, part: &Part| (hash.rotate_left(29) ^ part.of(state)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (parts.iter().fold(0, mix) >> (64 - CACHE_BITS)) as usize
}

fn gather(state: &[u8], ranges: &[Range<usize>], mut value: &mut [u8]) {
    for range in ranges {
        let (these, rest) = value.split_at_mut(range.len());
        these.copy_from_slice(&state[range.clone()]);
        value = rest;
    }
}

/// As few words as cover these bytes.
fn parts(ranges: &[Range<usize>], state_bytes: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for byte in ranges.iter().cloned().flatten() {
        let covers = |part: &&mut Part| byte < part.offset + 8;
        match parts.last_mut().filter(covers) {
            Some(part) => part.mask |= 0xff << (8 * (byte - part.offset)),
            None => {
                let offset = byte.min(state_bytes.saturating_sub(8));
                parts.push(Part { offset, mask: 0xff << (8 * (byte - offset)) });
            }
        }
    }
    parts
}
