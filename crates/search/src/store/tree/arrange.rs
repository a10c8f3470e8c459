//! Which bytes of a state should be in the same half: those that change together.
//!
//! The fewer different halves there are, the fewer nodes. Where one event changes a byte in each half, the halves depend on
//! each other and nearly every state has halves of its own. So a sample of the state space tells which bytes change together,
//! and each part of the tree is divided in two with few such pairs between the halves. The order found is used only if states
//! of the sample have clearly fewer different halves with it.

use scrimp_system::{Batch, Model};
use std::collections::HashSet;
use std::ops::Range;

/// States of the sample.
const SAMPLE: usize = 6000;
/// Bytes of states that are looked at, about.
const SAMPLE_BYTES: usize = 1 << 19;
/// Longer states stay as they are: finding the order would take long.
const LONGEST: usize = 256;

/// How often two bytes changed together.
struct Together {
    bytes: usize,
    counts: Vec<u32>,
}

impl Together {
    fn count(&self, a: usize, b: usize) -> i64 {
        self.counts[a * self.bytes + b] as i64
    }

    /// How much more a byte has to do with `these` than with `those`.
    fn pull(&self, byte: usize, these: &[usize], those: &[usize]) -> i64 {
        let sum = |bytes: &[usize]| bytes.iter().map(|&other| self.count(byte, other)).sum::<i64>();
        sum(these) - sum(those)
    }
}

/// The order in which the tree should have a state's bytes, if not as they are: for each place, which byte.
pub fn order(model: &dyn Model) -> Option<Vec<usize>> {
    let bytes = model.state_bytes();
    if bytes <= 8 || bytes > LONGEST {
        return None;
    }
    let (states, together) = sample(model);
    let plain: Vec<usize> = (0..bytes).collect();
    let mut order = plain.clone();
    divide(&mut order, &together);
    let cost = |order: &[usize]| {
        let halves = [0..bytes.div_ceil(2), bytes / 2..bytes];
        halves.map(|half| different(&states, &order[half])).iter().sum::<usize>()
    };
    (cost(&order) * 5 < cost(&plain) * 4).then_some(order)
}

/// How many different values these bytes have together.
fn different(states: &Batch, bytes: &[usize]) -> usize {
    let values = (0..states.len()).map(|i| bytes.iter().map(|&byte| states.state(i)[byte]).collect::<Vec<u8>>());
    values.collect::<HashSet<_>>().len()
}

/// The first states of the state space, breadth-first, and what their events change.
fn sample(model: &dyn Model) -> (Batch, Together) {
    // Long states take memory that is hardly there when a full table moves to a tree.
    let most = (SAMPLE_BYTES / model.state_bytes()).clamp(100, SAMPLE);
    let bytes = model.state_bytes();
    let mut together = Together { bytes, counts: vec![0; bytes * bytes] };
    let (mut states, mut successors) = (Batch::new(bytes), Batch::new(bytes));
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    model.initial(&mut successors);
    let mut next = 0;
    loop {
        for i in 0..successors.len() {
            if seen.len() < most && seen.insert(successors.state(i).to_vec()) {
                states.push(successors.state(i), 0);
            }
        }
        if next == states.len() {
            return (states, together);
        }
        successors.clear();
        let source = states.state(next);
        model.expand(source, &mut successors);
        for i in 0..successors.len() {
            let successor = successors.state(i);
            let changed: Vec<usize> = (0..bytes).filter(|&byte| source[byte] != successor[byte]).collect();
            for &a in &changed {
                changed.iter().for_each(|&b| together.counts[a * bytes + b] += 1);
            }
        }
        next += 1;
    }
}

/// Orders bytes so that both halves, and the halves of the halves, have little to do with each other.
fn divide(bytes: &mut [usize], together: &Together) {
    if bytes.len() <= 8 {
        return bytes.sort_unstable();
    }
    let half = bytes.len().div_ceil(2);
    // One half grows from its first byte by what belongs to it most.
    for grown in 1..half {
        let (these, those) = bytes.split_at(grown);
        let pulls = those.iter().map(|&byte| together.pull(byte, these, &[]) * 2 - together.pull(byte, those, &[]));
        let best = pulls.enumerate().max_by_key(|&(at, pull)| (pull, std::cmp::Reverse(at))).map_or(0, |(at, _)| at);
        bytes.swap(grown, grown + best);
    }
    // Then bytes change sides as long as that is better.
    for _ in 0..bytes.len() {
        let (left, right) = bytes.split_at(half);
        let gain = |(i, j): (usize, usize)| {
            let (a, b) = (left[i], right[j]);
            let own = together.count(a, a) + together.count(b, b);
            together.pull(a, right, left) + together.pull(b, left, right) - 2 * together.count(a, b) + own
        };
        let pairs = (0..left.len()).flat_map(|i| (0..right.len()).map(move |j| (i, j)));
        let Some((gain, (i, j))) = pairs.map(|pair| (gain(pair), pair)).max() else { break };
        if gain <= 0 {
            break;
        }
        bytes.swap(i, half + j);
    }
    let (left, right) = bytes.split_at_mut(half);
    divide(left, together);
    divide(right, together);
}

/// Bytes of a leaf that stand one after the other in a state too.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    word: usize,
    shift: u32,
    mask: u64,
    /// Where they stand in the leaf.
    target: u32,
}

impl Piece {
    /// # Safety
    /// A state of the right length is at this address.
    #[inline(always)]
    pub unsafe fn read(&self, state: *const u8) -> u128 {
        // SAFETY: as the caller promises; the word ends within the state.
        let word = u64::from_le(unsafe { state.add(self.word).cast::<u64>().read_unaligned() });
        ((word >> self.shift & self.mask) as u128) << self.target
    }
}

/// The pieces of a leaf that has these bytes of a state of `state_bytes`.
pub fn pieces(bytes: &[usize], state_bytes: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let mut run: Range<usize> = start..start + 1;
        while run.end < bytes.len() && run.len() < 8 && bytes[run.end] == bytes[run.end - 1] + 1 {
            run.end += 1;
        }
        let word = bytes[start].min(state_bytes - 8);
        pieces.push(Piece {
            word,
            shift: 8 * (bytes[start] - word) as u32,
            mask: u64::MAX >> (64 - 8 * run.len()),
            target: 8 * start as u32,
        });
        start = run.end;
    }
    pieces
}
