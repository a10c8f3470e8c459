//! States seen lately. Most events that lead to a known state lead to one found a short while ago, so a memory of some of
//! them, each in full, spares most of the sorting.
//!
//! A bucket holds four states. When it is full one of them goes, by chance.

use super::share::{Part, Pool};
use crate::store::prefetch;
use crate::words::hash;
use scrimp_system::Batch;

const WAYS: usize = 4;
const FEWEST: usize = 1 << 10;

pub struct Recent {
    state_bytes: usize,
    /// Sixteen bits of the hash of each state in a bucket; 0 where there is none.
    tags: Vec<[u16; WAYS]>,
    states: Vec<u8>,
    most_buckets: usize,
    /// States put in since the memory grew.
    added: usize,
    hashes: Vec<u64>,
    part: Part,
}

impl Recent {
    pub fn new(state_bytes: usize, bytes: usize, pool: &Pool) -> Recent {
        let most_buckets = bytes / (WAYS * (state_bytes + 2));
        let mut recent = Recent {
            state_bytes,
            tags: Vec::new(),
            states: Vec::new(),
            most_buckets,
            added: 0,
            hashes: Vec::new(),
            part: pool.take(0),
        };
        recent.allot(FEWEST.min(most_buckets));
        recent
    }

    fn allot(&mut self, buckets: usize) {
        self.tags = vec![[0; WAYS]; buckets];
        self.states = vec![0; buckets * WAYS * self.state_bytes];
        self.part.resize(buckets * WAYS * (self.state_bytes + 2));
        self.added = 0;
    }

    /// A larger memory, once it is full. What is known moves over.
    fn grow(&mut self) {
        let buckets = (self.tags.len() * 4).min(self.most_buckets);
        // Both stand side by side for a moment; close to the end the old one goes first.
        if buckets + self.tags.len() > self.most_buckets {
            self.tags = Vec::new();
            self.states = Vec::new();
        }
        let (tags, states) = (std::mem::take(&mut self.tags), std::mem::take(&mut self.states));
        self.allot(buckets);
        for (tag, state) in tags.as_flattened().iter().zip(states.chunks_exact(self.state_bytes)) {
            if *tag != 0 {
                self.note(state, hash(state));
            }
        }
    }

    #[inline]
    fn bucket(&self, hash: u64) -> usize {
        ((hash as u128 * self.tags.len() as u128) >> 64) as usize
    }

    /// Notes a state; `false` when it was known.
    #[inline]
    fn note(&mut self, state: &[u8], hash: u64) -> bool {
        let (n, bucket, tag) = (self.state_bytes, self.bucket(hash), hash as u16 | 1);
        let tags = &mut self.tags[bucket];
        let place = |way: usize| (bucket * WAYS + way) * n;
        let mut free = (hash >> 16) as usize % WAYS;
        for (way, &other) in tags.iter().enumerate() {
            if other == tag && self.states[place(way)..][..n] == *state {
                return false;
            }
            if other == 0 {
                free = way;
                break;
            }
        }
        tags[free] = tag;
        self.states[place(free)..][..n].copy_from_slice(state);
        self.added += 1;
        true
    }

    /// Shows the states of a batch that are not known to have been here before.
    pub fn sift(&mut self, batch: &Batch, mut show: impl FnMut(&[u8])) {
        if self.tags.is_empty() {
            return (0..batch.len()).for_each(|i| show(batch.state(i)));
        }
        if self.added > self.tags.len() * WAYS && self.tags.len() < self.most_buckets {
            self.grow();
        }
        const GROUP: usize = 32;
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        for first in (0..batch.len()).step_by(GROUP) {
            let group = first..(first + GROUP).min(batch.len());
            for i in group.clone() {
                let hash = hash(batch.state(i));
                prefetch(&self.tags[self.bucket(hash)] as *const [u16; WAYS] as *const u8);
                hashes.push(hash);
            }
            for i in group.clone() {
                let (bucket, tag) = (self.bucket(hashes[i]), hashes[i] as u16 | 1);
                if let Some(way) = self.tags[bucket].iter().position(|&other| other == tag) {
                    prefetch(&self.states[(bucket * WAYS + way) * self.state_bytes]);
                }
            }
            for i in group {
                if self.note(batch.state(i), hashes[i]) {
                    show(batch.state(i));
                }
            }
        }
        self.hashes = hashes;
    }
}
