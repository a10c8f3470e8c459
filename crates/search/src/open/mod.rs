//! The open list of searches whose store gives no numbers: keys of states, packed, in blocks of one size.
//!
//! Keys that are states are written as what differs from the one before ([`codec`]); others, which are short and have little
//! in common, as they are.
//!
//! A thread packs keys into a buffer of its own and hands it over when it is full, and takes a whole block when it needs
//! keys, so the list is touched once for hundreds of states. Blocks that were emptied are filled again; memory for more is
//! asked of the budget before the states are stored that it is for ([`Pool::promise`]), so that no key is ever lost.

pub(crate) mod codec;
mod stack;

pub use stack::KeyStack;

use crate::column::Column;
use crate::store::Full;
use crate::sync::size;
use scrimp_core::Budget;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Bytes of a block, unless keys are very long.
const BLOCK: usize = size(1 << 12, 1);
/// Keys that a block has room for, however long they are.
const LEAST_KEYS: usize = size(4, 2);

/// Keys packed one after the other: what one thread fills or empties.
#[derive(Debug)]
pub struct Packed {
    key_bytes: usize,
    form: KeyForm,
    keys: u32,
    bytes: Vec<u8>,
    last: Vec<u8>,
}

/// What keys are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyForm {
    /// States.
    State,
    /// Numbers that say where a state is, or what it is, in a few bytes.
    Number,
}

impl Packed {
    /// For keys that are states.
    pub fn new(key_bytes: usize) -> Packed {
        Packed::of(key_bytes, KeyForm::State)
    }

    fn of(key_bytes: usize, form: KeyForm) -> Packed {
        let (bytes, last) = (Vec::with_capacity(block_bytes(key_bytes)), vec![0; key_bytes]);
        Packed { key_bytes, form, keys: 0, bytes, last }
    }

    pub fn clear(&mut self) {
        self.keys = 0;
        self.bytes.clear();
        if self.form == KeyForm::State {
            self.last.fill(0);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    pub fn keys(&self) -> usize {
        self.keys as usize
    }

    /// Is there perhaps no room for one more key?
    pub fn is_full(&self) -> bool {
        let longest = match self.form {
            KeyForm::State => codec::longest(self.key_bytes),
            KeyForm::Number => self.key_bytes,
        };
        self.bytes.len() + longest > block_bytes(self.key_bytes)
    }

    pub fn push(&mut self, key: &[u8]) {
        match self.form {
            KeyForm::State => {
                codec::pack(key, &self.last, &mut self.bytes);
                self.last.copy_from_slice(key);
            }
            KeyForm::Number => self.bytes.extend_from_slice(key),
        }
        self.keys += 1;
    }

    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&self.keys.to_le_bytes())?;
        to.write_all(&(self.bytes.len() as u32).to_le_bytes())?;
        to.write_all(&self.bytes)
    }

    /// Becomes what was saved; `false` where that was empty. Keys may not be added then.
    pub fn restore(&mut self, from: &mut dyn Read) -> io::Result<bool> {
        let mut sizes = [0; 8];
        from.read_exact(&mut sizes)?;
        let size = |at| u32::from_le_bytes([sizes[at], sizes[at + 1], sizes[at + 2], sizes[at + 3]]);
        self.keys = size(0);
        let bytes = size(4) as usize;
        if bytes > block_bytes(self.key_bytes) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a block of states is too long"));
        }
        self.bytes.resize(bytes, 0);
        from.read_exact(&mut self.bytes)?;
        if !self.is_sound() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a block of states cannot be unpacked"));
        }
        Ok(self.keys > 0)
    }

    /// Can it be unpacked, and is there nothing behind the keys?
    fn is_sound(&self) -> bool {
        let (mut rest, mut key) = (&self.bytes[..], vec![0; self.key_bytes]);
        match self.form {
            KeyForm::Number => rest.len() == self.keys as usize * self.key_bytes,
            KeyForm::State => (0..self.keys).all(|_| codec::unpack(&mut rest, &mut key).is_some()) && rest.is_empty(),
        }
    }

    /// Appends all keys to `out` as they were.
    pub fn unpack(&self, out: &mut Vec<u8>) {
        if self.form == KeyForm::Number {
            return out.extend_from_slice(&self.bytes);
        }
        let start = out.len();
        out.resize(start + self.keys as usize * self.key_bytes, 0);
        let (mut rest, mut before) = (&self.bytes[..], vec![0; self.key_bytes]);
        for key in out[start..].chunks_exact_mut(self.key_bytes) {
            codec::unpack(&mut rest, &mut before).expect("what was packed can be unpacked");
            key.copy_from_slice(&before);
        }
    }
}

fn block_bytes(key_bytes: usize) -> usize {
    BLOCK.max((LEAST_KEYS * codec::longest(key_bytes)).next_multiple_of(BLOCK))
}

/// Some of the open states: those of a level, say.
#[derive(Debug, Default)]
pub struct Queue {
    /// Each block with the number of its keys and bytes.
    blocks: VecDeque<(u32, u32, u32)>,
    keys: u64,
}

impl Queue {
    pub fn len(&self) -> u64 {
        self.keys
    }

    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }
}

/// The memory of all queues.
pub struct Pool {
    key_bytes: usize,
    form: KeyForm,
    bytes: Column<u8>,
    /// Blocks that were ever used, and those of them that are free.
    touched: u32,
    free: Vec<u32>,
    /// Blocks that were promised and not yet taken.
    promised: usize,
}

impl Pool {
    pub fn new(key_bytes: usize, form: KeyForm, budget: &Arc<Budget>) -> io::Result<Pool> {
        Ok(Pool { key_bytes, form, bytes: Column::new(budget)?, touched: 0, free: Vec::new(), promised: 0 })
    }

    /// A buffer for keys on their way in or out.
    pub fn buffer(&self) -> Packed {
        Packed::of(self.key_bytes, self.form)
    }

    pub fn key_bytes(&self) -> usize {
        self.key_bytes
    }

    /// Makes sure that `keys` more keys, in blocks of `most_keys` or as many as fit, and a buffer that was begun, will find room,
    /// in place of what was promised with `promise` before.
    pub fn promise(&mut self, keys: usize, most_keys: usize, promise: &mut usize) -> Result<(), Full> {
        let longest = codec::longest(self.key_bytes);
        let by_length = (keys * longest).div_ceil(block_bytes(self.key_bytes) - longest);
        let blocks = by_length.max(keys.div_ceil(most_keys)) + 2;
        let all = self.promised - *promise + blocks;
        let untouched = all.saturating_sub(self.free.len());
        self.bytes.ensure((self.touched as usize + untouched) * block_bytes(self.key_bytes))?;
        (self.promised, *promise) = (all, blocks);
        Ok(())
    }

    /// Puts keys into a queue, at the end or, when they come `back`, in front; the buffer is empty afterwards. Room must
    /// have been promised.
    pub fn put(&mut self, queue: &mut Queue, packed: &mut Packed, back: bool) {
        if packed.keys > 0 {
            let block = self.free.pop().unwrap_or_else(|| {
                self.touched += 1;
                self.touched - 1
            });
            let start = block as usize * block_bytes(self.key_bytes);
            self.bytes.stretch_mut(start, packed.bytes.len()).copy_from_slice(&packed.bytes);
            let entry = (block, packed.keys, packed.bytes.len() as u32);
            if back {
                queue.blocks.push_front(entry)
            } else {
                queue.blocks.push_back(entry)
            }
            queue.keys += packed.keys as u64;
            packed.clear();
        }
    }

    /// Takes the first block of a queue, or the last; `false` when it is empty.
    pub fn take(&mut self, queue: &mut Queue, last: bool, packed: &mut Packed) -> bool {
        packed.clear();
        let entry = if last { queue.blocks.pop_back() } else { queue.blocks.pop_front() };
        let Some((block, keys, bytes)) = entry else {
            return false;
        };
        packed.bytes.extend_from_slice(self.stretch(block, bytes));
        packed.keys = keys;
        queue.keys -= keys as u64;
        self.free.push(block);
        true
    }

    /// What is in a block.
    fn stretch(&self, block: u32, bytes: u32) -> &[u8] {
        self.bytes.stretch(block as usize * block_bytes(self.key_bytes), bytes as usize)
    }

    /// Shows all keys of a queue, first to last, until `show` answers `false`.
    pub fn each(&self, queue: &Queue, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let (mut packed, mut all) = (self.buffer(), Vec::new());
        queue.blocks.iter().all(|&(block, keys, bytes)| {
            packed.bytes.clear();
            all.clear();
            packed.bytes.extend_from_slice(self.stretch(block, bytes));
            packed.keys = keys;
            packed.unpack(&mut all);
            all.chunks_exact(self.key_bytes).all(&mut *show)
        })
    }

    pub fn save(&self, queue: &Queue, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&(queue.blocks.len() as u64).to_le_bytes())?;
        for &(block, keys, bytes) in &queue.blocks {
            to.write_all(&keys.to_le_bytes())?;
            to.write_all(&bytes.to_le_bytes())?;
            to.write_all(self.stretch(block, bytes))?;
        }
        Ok(())
    }

    /// Appends what was saved to a queue.
    pub fn restore(&mut self, queue: &mut Queue, from: &mut dyn Read) -> io::Result<()> {
        let mut count = [0; 8];
        from.read_exact(&mut count)?;
        let mut packed = self.buffer();
        let mut promise = 0;
        for _ in 0..u64::from_le_bytes(count) {
            packed.restore(from)?;
            self.promise(0, usize::MAX, &mut promise).map_err(|_| io::ErrorKind::OutOfMemory)?;
            self.put(queue, &mut packed, false);
        }
        self.keep(&mut promise);
        Ok(())
    }

    /// Takes a promise back: nothing more will be put.
    pub fn keep(&mut self, promise: &mut usize) {
        self.promised -= std::mem::take(promise);
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    const FORMS: [KeyForm; 2] = [KeyForm::State, KeyForm::Number];

    /// A block that says too much or too little is no reason to panic.
    #[test]
    fn damaged_blocks_are_refused() {
        let budget = Arc::new(Budget::new(usize::MAX / 4));
        let (mut pool, mut queue) = (Pool::new(5, KeyForm::State, &budget).unwrap(), Queue::default());
        let (mut packed, mut promise) = (pool.buffer(), 0);
        (0..9u8).for_each(|i| packed.push(&[i, 0, 7, i / 2, 1]));
        pool.promise(0, usize::MAX, &mut promise).unwrap();
        pool.put(&mut queue, &mut packed, false);
        let mut saved = Vec::new();
        pool.save(&queue, &mut saved).unwrap();
        let refused = |bytes: &[u8]| {
            let mut pool = Pool::new(5, KeyForm::State, &budget).unwrap();
            pool.restore(&mut Queue::default(), &mut &bytes[..]).is_err()
        };
        assert!(!refused(&saved));
        for (at, value) in [(8, 8), (8, 10), (8, 200), (16, 0xff), (17, 0xff)] {
            let mut damaged = saved.clone();
            damaged[at] = value;
            assert!(refused(&damaged), "{value} at {at}");
        }
    }

    #[test]
    fn queues_give_back_what_was_put_and_blocks_are_used_again() {
        let mut random = Random(7);
        for (key_bytes, form) in [1, 8, 21, 3000].into_iter().flat_map(|bytes| FORMS.map(|form| (bytes, form))) {
            let mut pool = Pool::new(key_bytes, form, &Arc::new(Budget::new(usize::MAX / 4))).unwrap();
            let (mut queue, mut packed, mut promise) = (Queue::default(), pool.buffer(), 0);
            let mut expected = VecDeque::new();
            for round in 0..50 {
                pool.promise(200, usize::MAX, &mut promise).unwrap();
                for _ in 0..200 {
                    if packed.is_full() {
                        pool.put(&mut queue, &mut packed, false);
                    }
                    let key: Vec<u8> = (0..key_bytes).map(|_| random.below(256) as u8).collect();
                    packed.push(&key);
                    expected.push_back(key);
                }
                pool.put(&mut queue, &mut packed, false);
                if round % 2 == 1 {
                    let mut saved = Vec::new();
                    pool.save(&queue, &mut saved).unwrap();
                    let mut other = Queue::default();
                    pool.restore(&mut other, &mut &saved[..]).unwrap();
                    assert_eq!(other.len(), queue.len());
                    for (queue, checked) in [(&mut queue, true), (&mut other, false)] {
                        let mut out = Vec::new();
                        while pool.take(queue, false, &mut packed) {
                            packed.unpack(&mut out);
                        }
                        packed.clear();
                        let all: Vec<u8> = expected.iter().flatten().copied().collect();
                        assert!(out == all, "checked {checked}");
                    }
                    expected.clear();
                }
            }
            assert!(queue.is_empty() && pool.bytes() <= 8 * 400 * codec::longest(key_bytes).max(100) + (1 << 20));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_beforehand() {
        let mut pool = Pool::new(100, KeyForm::State, &Arc::new(Budget::apart(32 << 20))).unwrap();
        let mut promise = 0;
        assert_eq!(pool.promise(1 << 24, usize::MAX, &mut promise), Err(Full));
        assert_eq!((promise, pool.promise(1000, usize::MAX, &mut promise)), (0, Ok(())));
    }
}
