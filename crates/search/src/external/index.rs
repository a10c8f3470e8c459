//! Where in a run a state would be: the first state of every n-th stretch of its bytes.

use super::share::{Part, Pool};

/// Bytes of a run between two entries, where there is memory.
const STRETCH: u64 = 1 << 10;

pub struct Index {
    state_bytes: usize,
    firsts: Vec<u8>,
    offsets: Vec<u64>,
    /// Bytes between two entries, at least.
    stretch: u64,
    /// Entries, at most.
    most: usize,
    part: Part,
}

impl Index {
    pub fn new(state_bytes: usize, most: usize, pool: &Pool) -> Index {
        // An entry holds a whole state; it should cover many.
        let stretch = STRETCH.max(16 * state_bytes as u64);
        Index { state_bytes, firsts: Vec::new(), offsets: Vec::new(), stretch, most, part: pool.take(0) }
    }

    /// Does a stretch begin here?
    pub fn is_due(&self, offset: u64) -> bool {
        self.offsets.last().is_none_or(|last| offset >= last + self.stretch)
    }

    /// Appends an entry. Where memory is short every second one goes.
    pub fn push(&mut self, first: &[u8], offset: u64) {
        if self.offsets.len() == self.offsets.capacity() && !self.grow() {
            self.thin();
        }
        self.firsts.extend_from_slice(first);
        self.offsets.push(offset);
    }

    fn grow(&mut self) -> bool {
        let more = (self.offsets.len() / 2).max(16);
        let entry = self.state_bytes + 8;
        let len = self.offsets.len();
        if len >= 16 && (len + more > self.most || !self.part.grow(more * entry)) {
            return false;
        }
        if len < 16 {
            self.part.resize((len + more) * entry);
        }
        self.firsts.reserve_exact(more * self.state_bytes);
        self.offsets.reserve_exact(more);
        true
    }

    fn thin(&mut self) {
        let (n, kept) = (self.state_bytes, self.offsets.len().div_ceil(2));
        for i in 0..kept {
            self.firsts.copy_within(2 * i * n..(2 * i + 1) * n, i * n);
            self.offsets[i] = self.offsets[2 * i];
        }
        self.firsts.truncate(kept * n);
        self.offsets.truncate(kept);
        self.stretch *= 2;
    }

    /// Nothing more comes.
    pub fn finish(&mut self) {
        self.firsts.shrink_to_fit();
        self.offsets.shrink_to_fit();
        self.part.resize(self.offsets.len() * (self.state_bytes + 8));
    }

    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// The state of an entry.
    pub fn first(&self, entry: usize) -> &[u8] {
        &self.firsts[entry * self.state_bytes..][..self.state_bytes]
    }

    /// The offset of an entry.
    pub fn offset(&self, entry: usize) -> u64 {
        self.offsets[entry]
    }

    /// An offset before which there is no state from `low` on.
    pub fn start(&self, low: &[u8]) -> u64 {
        if self.offsets.is_empty() { 0 } else { self.offset(self.find(0, low)) }
    }

    /// The last entry from `from` on whose state is not beyond `target`; `from` where all are. The farther away it is, the
    /// longer that takes.
    pub fn find(&self, from: usize, target: &[u8]) -> usize {
        let (mut low, mut step) = (from, 1);
        let beyond = |entry: usize| entry >= self.offsets.len() || self.first(entry) > target;
        while !beyond(low + step) {
            low += step;
            step *= 2;
        }
        let mut high = low + step;
        while low + 1 < high {
            let middle = low.midpoint(high);
            if beyond(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        low
    }
}
