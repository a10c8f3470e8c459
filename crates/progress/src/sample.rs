//! A part of the state space, with its edges: what measures are judged by.
//!
//! States are numbered in the order of a breadth-first search. When the search ends within its limits the sample is the
//! whole space and every figure that is computed from it is exact.

use scrimp_system::{Batch, Model, Random, Stop};

/// How much of a state space may be looked at.
#[derive(Debug, Clone, Copy)]
pub struct SampleLimits {
    pub states: usize,
    pub bytes: usize,
}

/// States and the edges that were seen.
#[derive(Debug)]
pub struct Sample {
    stride: usize,
    states: Vec<u8>,
    /// Where in `targets` the successors of each state are; nowhere if it was not expanded.
    successors: Vec<(u32, u32)>,
    targets: Vec<u32>,
    /// Distance from the initial states on the way that was taken.
    depths: Vec<u32>,
    initial: usize,
    complete: bool,
}

/// How many states walks may add to those of the search, as a share of them.
const WALKED: f64 = 0.5;
/// Steps of one walk.
const STEPS: usize = 1000;
/// Walks without a new state after which there are hardly any left.
const IDLE: usize = 1000;
/// Edges have numbers of 32 bits.
const MOST_EDGES: usize = 1 << 31;

impl Sample {
    /// Searches breadth-first, and when there is more than the limits allow, goes on by random walks.
    pub fn new(model: &dyn Model, limits: SampleLimits, seed: u64) -> Sample {
        Sample::until(model, limits, seed, &Stop::never())
    }

    /// The same, as long as there is time.
    pub fn until(model: &dyn Model, limits: SampleLimits, seed: u64, stop: &Stop) -> Sample {
        let stride = model.state_bytes();
        let mut growing = Growing {
            model,
            index: Index::new(1 << 12),
            batch: Batch::new(stride),
            sample: Sample {
                stride,
                states: vec![],
                successors: vec![],
                targets: vec![],
                depths: vec![],
                initial: 0,
                complete: false,
            },
            walking: false,
            stop,
        };
        growing.begin();
        let mut next = 0;
        while next < growing.sample.len() && !growing.is_full(limits) {
            growing.expand(next);
            next += 1;
        }
        growing.sample.complete = next == growing.sample.len();
        if !growing.sample.complete {
            let states = (growing.sample.len() as f64 * (1.0 + WALKED)) as usize;
            growing.walk(next, SampleLimits { states, bytes: limits.bytes }, &mut Random(seed));
        }
        growing.sample
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.states.len() / self.stride
    }

    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The whole state space?
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    pub fn state(&self, number: usize) -> &[u8] {
        &self.states[number * self.stride..][..self.stride]
    }

    /// Initial states are the first ones; this is how many.
    pub fn initial(&self) -> usize {
        self.initial
    }

    pub fn successors(&self, number: usize) -> &[u32] {
        let (start, end) = self.successors[number];
        &self.targets[start as usize..end as usize]
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// How far from the initial states a state was found.
    pub fn depth(&self, number: usize) -> u32 {
        self.depths[number]
    }
}

struct Growing<'m> {
    model: &'m dyn Model,
    index: Index,
    batch: Batch,
    sample: Sample,
    walking: bool,
    stop: &'m Stop,
}

impl Growing<'_> {
    fn begin(&mut self) {
        self.model.initial(&mut self.batch);
        self.add_batch(0);
        self.sample.initial = self.sample.len();
        self.sample.targets.clear();
    }

    fn is_full(&self, limits: SampleLimits) -> bool {
        let sample = &self.sample;
        if self.stop.due().is_some() {
            return true;
        }
        // States and edges, with room to grow, index, and what sorting and simulating takes; the last third is for walks.
        let bytes = sample.len() * (2 * sample.stride + 140) + sample.edges() * 8;
        let share = if self.walking { 1.0 } else { 1.0 / (1.0 + WALKED) };
        sample.len() >= limits.states || bytes as f64 >= limits.bytes as f64 * share || sample.edges() >= MOST_EDGES
    }

    fn expand(&mut self, number: usize) {
        self.batch.clear();
        self.model.expand(self.sample.state(number), &mut self.batch);
        let start = self.sample.targets.len() as u32;
        self.add_batch(self.sample.depths[number] + 1);
        self.sample.successors[number] = (start, self.sample.targets.len() as u32);
    }

    /// Appends the states of the batch to the targets, the new ones also to the states.
    fn add_batch(&mut self, depth: u32) {
        let sample = &mut self.sample;
        for i in 0..self.batch.len() {
            let number = self.index.insert(&mut sample.states, sample.stride, self.batch.state(i));
            if number as usize == sample.depths.len() {
                sample.depths.push(depth);
                sample.successors.push((0, 0));
            }
            sample.targets.push(number);
        }
    }

    /// Walks on from states that were found but not expanded, which stand behind the first `searched`. A walk ends where
    /// there is nothing new.
    fn walk(&mut self, searched: usize, limits: SampleLimits, random: &mut Random) {
        self.walking = true;
        let mut idle = 0;
        while idle < IDLE {
            let mut at = searched + random.below(self.sample.len() - searched);
            idle += 1;
            for _ in 0..STEPS {
                if self.is_full(limits) {
                    return;
                }
                if !self.is_expanded(at) {
                    self.expand(at);
                    idle = 0;
                }
                let targets = self.sample.successors(at);
                let fresh = targets.iter().filter(|&&target| !self.is_expanded(target as usize));
                match fresh.clone().count() {
                    0 => break,
                    count => at = fresh.clone().nth(random.below(count)).map_or(at, |&target| target as usize),
                }
            }
        }
    }

    fn is_expanded(&self, number: usize) -> bool {
        self.sample.successors[number].1 != 0
    }
}

/// Finds a state's number: an open table of numbers plus one.
struct Index {
    slots: Vec<u32>,
    len: usize,
}

impl Index {
    fn new(size: usize) -> Index {
        Index { slots: vec![0; size], len: 0 }
    }

    fn insert(&mut self, states: &mut Vec<u8>, stride: usize, state: &[u8]) -> u32 {
        if self.len * 2 >= self.slots.len() {
            self.grow(states, stride);
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(state) as usize & mask;
        loop {
            match self.slots[at] {
                0 => break,
                number if states[(number as usize - 1) * stride..][..stride] == *state => return number - 1,
                _ => at = (at + 1) & mask,
            }
        }
        states.extend_from_slice(state);
        self.len += 1;
        self.slots[at] = self.len as u32;
        self.len as u32 - 1
    }

    fn grow(&mut self, states: &[u8], stride: usize) {
        let size = self.slots.len() * 2;
        self.slots = vec![0; size];
        for (number, state) in states.chunks_exact(stride).enumerate() {
            let mut at = hash(state) as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = number as u32 + 1;
        }
    }
}

fn hash(state: &[u8]) -> u64 {
    let mut h = state.len() as u64;
    for chunk in state.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        h = (h.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^= h >> 29;
    }
    h
}
