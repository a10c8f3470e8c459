//! A stack of keys, each with a counter: the path of a depth-first search. The top lies open, what is deep below is packed.

use super::{KeyForm, Packed, Pool, Queue};
use crate::store::Full;
use scrimp_core::Budget;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Bytes of keys that lie open before the deeper half is packed.
const TOP: usize = 1 << 16;
const COUNT: usize = 4;

pub struct KeyStack {
    record: usize,
    top: Vec<u8>,
    deep: Queue,
    pool: Pool,
    packed: Packed,
    promise: usize,
}

impl KeyStack {
    pub fn new(key_bytes: usize, budget: &Arc<Budget>) -> io::Result<KeyStack> {
        let record = key_bytes + COUNT;
        let pool = Pool::new(record, KeyForm::State, budget)?;
        let packed = pool.buffer();
        Ok(KeyStack { record, top: Vec::new(), deep: Queue::default(), pool, packed, promise: 0 })
    }

    pub fn len(&self) -> u64 {
        self.deep.len() + (self.top.len() / self.record) as u64
    }

    pub fn is_empty(&self) -> bool {
        self.top.is_empty()
    }

    /// Makes sure that one more key finds room.
    pub fn prepare(&mut self) -> Result<(), Full> {
        let most = (TOP / self.record).max(8) * self.record;
        if self.top.len() < most {
            return Ok(());
        }
        let half = most / self.record / 2 * self.record;
        self.pool.promise(half / self.record, usize::MAX, &mut self.promise)?;
        for record in self.top[..half].chunks_exact(self.record) {
            if self.packed.is_full() {
                self.pool.put(&mut self.deep, &mut self.packed, false);
            }
            self.packed.push(record);
        }
        self.pool.put(&mut self.deep, &mut self.packed, false);
        self.top.drain(..half);
        Ok(())
    }

    /// Room must have been [prepared](KeyStack::prepare).
    pub fn push(&mut self, key: &[u8]) {
        self.top.extend_from_slice(key);
        self.top.extend_from_slice(&[0; COUNT]);
    }

    pub fn pop(&mut self) {
        self.top.truncate(self.top.len() - self.record);
        if self.top.is_empty() && self.pool.take(&mut self.deep, true, &mut self.packed) {
            self.packed.unpack(&mut self.top);
            self.packed.clear();
        }
    }

    /// The key on top.
    pub fn key(&self) -> &[u8] {
        let start = self.top.len() - self.record;
        &self.top[start..self.top.len() - COUNT]
    }

    /// The counter of the key on top.
    pub fn count(&self) -> u32 {
        self.top.last_chunk().map_or(0, |count| u32::from_le_bytes(*count))
    }

    pub fn set_count(&mut self, count: u32) {
        if let Some(place) = self.top.last_chunk_mut() {
            *place = count.to_le_bytes();
        }
    }

    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.pool.save(&self.deep, to)?;
        to.write_all(&(self.top.len() as u64).to_le_bytes())?;
        to.write_all(&self.top)
    }

    pub fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.pool.restore(&mut self.deep, from)?;
        let mut length = [0; 8];
        from.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length) as usize;
        if !length.is_multiple_of(self.record) || length > TOP.max(8 * self.record) + self.record {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a path of open states has a wrong length"));
        }
        if length == 0 && !self.deep.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a path of open states has no end"));
        }
        self.top.resize(length, 0);
        from.read_exact(&mut self.top)
    }

    /// Shows all keys until `show` answers `false`; were all shown?
    pub fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let mut show = |record: &[u8]| show(&record[..self.record - COUNT]);
        self.pool.each(&self.deep, &mut show) && self.top.chunks_exact(self.record).all(show)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.pool.bytes() + self.top.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    #[test]
    fn behaves_like_a_vector() {
        let mut random = Random(5);
        for key_bytes in [1, 8, 50, 20_000] {
            let budget = Arc::new(Budget::new(usize::MAX / 4));
            let mut stack = KeyStack::new(key_bytes, &budget).unwrap();
            let mut expected: Vec<(Vec<u8>, u32)> = Vec::new();
            let steps = if key_bytes > 1000 { 300 } else { 60_000 };
            for step in 0..steps {
                let up = if step < steps / 2 { 6 } else { 4 };
                if expected.is_empty() || random.below(10) < up {
                    let key = vec![random.below(256) as u8; key_bytes];
                    stack.prepare().unwrap();
                    stack.push(&key);
                    expected.push((key, 0));
                } else if random.below(2) == 0 {
                    stack.pop();
                    expected.pop();
                } else {
                    let count = random.below(1000) as u32;
                    stack.set_count(count);
                    expected.last_mut().unwrap().1 = count;
                }
                assert_eq!(stack.len(), expected.len() as u64);
                if let Some((key, count)) = expected.last() {
                    assert_eq!((stack.key(), stack.count()), (&key[..], *count));
                }
                if step == steps / 2 {
                    let mut saved = Vec::new();
                    stack.save(&mut saved).unwrap();
                    stack = KeyStack::new(key_bytes, &budget).unwrap();
                    stack.restore(&mut &saved[..]).unwrap();
                    let mut keys = Vec::new();
                    stack.each(&mut |key| {
                        keys.push(key.to_vec());
                        true
                    });
                    assert!(keys.iter().eq(expected.iter().map(|(key, _)| key)));
                }
            }
        }
    }
}
