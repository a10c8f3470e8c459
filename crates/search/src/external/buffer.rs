//! States collected in memory, to be sorted.
//!
//! Most bits of a state are the same in all of them, or nearly all. The others, put together in order, are a short key that
//! sorts the states as they would sort themselves: a few machine words stand for long vectors.

use super::share::{Part, Pool};
use crate::store::prefetch;

pub struct Buffer {
    state_bytes: usize,
    most: usize,
    states: Vec<u8>,
    /// After sorting: the states' keys and places, in ascending order, each state once.
    order: Vec<(u64, u32)>,
    _part: Part,
}

impl Buffer {
    /// Room for as many states as fit in so many bytes, at least one.
    pub fn new(state_bytes: usize, bytes: usize, pool: &Pool) -> Buffer {
        let most = Buffer::room(state_bytes, bytes);
        let part = pool.take(most * (state_bytes + size_of::<(u64, u32)>()));
        Buffer { state_bytes, most, states: Vec::new(), order: Vec::new(), _part: part }
    }

    fn room(state_bytes: usize, bytes: usize) -> usize {
        (bytes / (state_bytes + size_of::<(u64, u32)>())).clamp(1, u32::MAX as usize)
    }

    pub fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    pub fn is_full(&self) -> bool {
        self.states.len() >= self.most * self.state_bytes
    }

    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    pub fn push(&mut self, state: &[u8]) {
        if self.states.capacity() == 0 {
            // Address space: pages become memory when they are written.
            self.states.reserve_exact(self.most * self.state_bytes);
        }
        self.states.extend_from_slice(state);
    }

    pub fn clear(&mut self) {
        self.states.clear();
        self.order.clear();
    }

    /// Puts the states in ascending order, and one of each.
    pub fn sort(&mut self) {
        let Buffer { state_bytes, states, order, most, .. } = self;
        let n = *state_bytes;
        if order.capacity() == 0 {
            order.reserve_exact(*most);
        }
        order.clear();
        let key = Key::of(states, n);
        order.extend(states.chunks_exact(n).zip(0..).map(|(state, i)| (key.value(state), i)));
        order.sort_unstable_by_key(|&(key, _)| key);
        if key.whole {
            order.dedup_by_key(|&mut (key, _)| key);
            return;
        }
        let state = |i: u32| &states[i as usize * n..][..n];
        for same in order.chunk_by_mut(|a, b| a.0 == b.0) {
            if same.len() > 1 {
                same.sort_unstable_by(|a, b| state(a.1).cmp(state(b.1)));
            }
        }
        order.dedup_by(|a, b| a.0 == b.0 && state(a.1) == state(b.1));
    }

    /// How many states there are, each counted once, after sorting.
    pub fn sorted(&self) -> usize {
        self.order.len()
    }

    /// The place of the first state from `low` on, after sorting.
    pub fn place(&self, low: &[u8]) -> usize {
        self.order.partition_point(|&(_, i)| &self.states[i as usize * self.state_bytes..][..self.state_bytes] < low)
    }

    /// Soon the state at this place of the order is wanted, if there is one.
    #[inline]
    pub fn prefetch(&self, place: usize) {
        if let Some(&(_, i)) = self.order.get(place) {
            prefetch(&self.states[i as usize * self.state_bytes]);
        }
    }

    /// The state at this place of the order.
    #[inline]
    pub fn state(&self, place: usize) -> &[u8] {
        &self.states[self.order[place].1 as usize * self.state_bytes..][..self.state_bytes]
    }
}

/// The first 64 of the bits that differ between states.
struct Key {
    /// Bytes that differ, with how many low bits of each hold all that differs, and how many of these go into the key.
    parts: Vec<(u32, u8, u8)>,
    /// Do they tell all states apart?
    whole: bool,
}

impl Key {
    fn of(states: &[u8], n: usize) -> Key {
        let mut differ = vec![0u8; n];
        let first = states.get(..n).unwrap_or_default();
        for state in states.chunks_exact(n) {
            for ((d, a), b) in differ.iter_mut().zip(state).zip(first) {
                *d |= a ^ b;
            }
        }
        let mut key = Key { parts: Vec::new(), whole: true };
        let mut left = 64;
        for (at, &d) in differ.iter().enumerate().filter(|&(_, &d)| d != 0) {
            let bits = 8 - d.leading_zeros();
            let taken = bits.min(left);
            key.whole &= taken == bits;
            if taken == 0 {
                break;
            }
            left -= taken;
            key.parts.push((at as u32, (1u16 << bits).wrapping_sub(1) as u8, (bits - taken) as u8));
        }
        key
    }

    #[inline]
    fn value(&self, state: &[u8]) -> u64 {
        let mut value = 0;
        for &(at, mask, cut) in &self.parts {
            let bits = mask.count_ones() - cut as u32;
            value = value << bits | ((state[at as usize] & mask) >> cut) as u64;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_core::Budget;
    use scrimp_system::Random;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    #[test]
    fn sorts_as_bytes_do() {
        let pool = Pool::new(0, &Arc::new(Budget::new(1 << 30)));
        let mut random = Random(7);
        for n in [1, 2, 8, 9, 16, 17, 40, 300] {
            for spread in [1, 2, 5, 200] {
                let mut buffer = Buffer::new(n, 1 << 20, &pool);
                let mut expected = BTreeSet::new();
                for _ in 0..1000 {
                    let state: Vec<u8> = (0..n)
                        .map(|i| if i % 3 == 1 { 7 } else { random.below(spread) as u8 * (i as u8 | 1) })
                        .collect();
                    buffer.push(&state);
                    expected.insert(state);
                }
                buffer.sort();
                assert_eq!(buffer.sorted(), expected.len(), "{n} bytes, {spread}");
                assert!(expected.iter().enumerate().all(|(i, state)| buffer.state(i) == state), "{n} bytes, {spread}");
            }
        }
    }
}
