//! The words that wait to go into the automaton: a small hash table, in the order of their arrival.
//!
//! Threads may ask for words while one of them [adds](Adding) some: a word is complete before its number is in a slot, and
//! neither changes until words are forgotten, which needs a thread that is alone.

use crate::column::Column;
use crate::store::Full;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Apart, Mutex, MutexGuard, start, thread};
use scrimp_core::Budget;
use std::cmp;
use std::io;
use std::sync::{Arc, PoisonError};

/// Fewer words than this for each thread are not sorted by several.
const LEAST_SORTED: usize = 1 << 12;

/// The place that a hash has among so many.
#[inline(always)]
pub(super) fn home(hash: u64, places: usize) -> usize {
    (((hash >> 32) * places as u64) >> 32) as usize
}

/// New words, in the order of their arrival.
pub(super) struct Pending {
    word_bytes: usize,
    words: Column<u8>,
    /// Numbers of words plus one, by hash; a place is sought from its home on.
    slots: Column<u32>,
    sorted: Column<u32>,
    capacity: usize,
    len: Apart<AtomicUsize>,
    /// Held by the thread that adds words.
    adding: Apart<Mutex<()>>,
}

/// Who has it adds words.
pub(super) struct Adding<'a> {
    pending: &'a Pending,
    _alone: MutexGuard<'a, ()>,
}

impl Adding<'_> {
    /// Words for which there is room.
    pub fn free(&self) -> usize {
        self.pending.capacity - self.pending.len()
    }

    /// Adds a word; was it new?
    #[inline(always)]
    pub fn insert(&mut self, word: &[u8], hash: u64) -> bool {
        let pending = self.pending;
        let (known, slot) = pending.find(word, hash);
        if known != 0 {
            return false;
        }
        let len = pending.len();
        assert!(len < pending.capacity && word.len() == pending.word_bytes);
        // SAFETY: there is room, only this thread adds words, and nobody reads one before its number is in a slot.
        unsafe {
            let to = pending.words.place(len * pending.word_bytes, pending.word_bytes);
            std::ptr::copy_nonoverlapping(word.as_ptr(), to, pending.word_bytes);
        }
        pending.len.store(len + 1, Ordering::Relaxed);
        pending.slots.atomic(slot).store(len as u32 + 1, Ordering::Release);
        true
    }
}

impl Pending {
    pub fn new(word_bytes: usize, budget: &Arc<Budget>) -> io::Result<Pending> {
        Ok(Pending {
            word_bytes,
            words: Column::new(budget)?,
            slots: Column::new(budget)?,
            sorted: Column::new(budget)?,
            capacity: 0,
            len: Apart(AtomicUsize::new(0)),
            adding: Apart(Mutex::new(())),
        })
    }

    /// Bytes for each word.
    pub fn word_cost(&self) -> usize {
        self.word_bytes + 4 + 6
    }

    /// More than words, so that seeking one ends.
    fn places(&self) -> usize {
        self.capacity + self.capacity / 2 + 1
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Waits until nobody else adds words.
    pub fn adding(&self) -> Adding<'_> {
        Adding { pending: self, _alone: self.adding.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Makes room for so many words; there must be none.
    pub fn grow(&mut self, capacity: usize) -> Result<(), Full> {
        debug_assert!(self.len() == 0);
        if capacity > self.capacity {
            self.words.ensure(capacity * self.word_bytes)?;
            self.sorted.ensure(capacity)?;
            self.slots.ensure(capacity + capacity / 2 + 1)?;
            self.capacity = capacity;
        }
        Ok(())
    }

    #[inline(always)]
    pub fn word(&self, i: usize) -> &[u8] {
        self.words.stretch(i * self.word_bytes, self.word_bytes)
    }

    /// The number of a word plus one, or else 0 and the slot where it would be.
    #[inline(always)]
    fn find(&self, word: &[u8], hash: u64) -> (u32, u32) {
        let places = self.places();
        let mut at = home(hash, places);
        loop {
            let number = self.slots.atomic(at as u32).load(Ordering::Acquire);
            if number == 0 || self.word(number as usize - 1) == word {
                return (number, at as u32);
            }
            at = if at + 1 == places { 0 } else { at + 1 };
        }
    }

    #[inline(always)]
    pub fn contains(&self, word: &[u8], hash: u64) -> bool {
        self.capacity > 0 && self.find(word, hash).0 != 0
    }

    /// Sorts the words, by so many threads: [`sorted`](Pending::sorted) tells the order.
    pub fn sort(&mut self, threads: usize) {
        let (len, width) = (self.len(), self.word_bytes);
        let words = self.words.stretch(0, len * width);
        let word = |i: u32| &words[i as usize * width..][..width];
        let sorted = self.sorted.first_mut(len);
        sorted.iter_mut().enumerate().for_each(|(i, number)| *number = i as u32);
        // What all begin with need not be compared.
        let first = word(0);
        let mut common = width;
        for i in 1..len as u32 {
            common = first[..common].iter().zip(word(i)).take_while(|(a, b)| a == b).count();
        }
        let rest = |i: u32| &words[i as usize * width + common..(i as usize + 1) * width];
        if width - common >= 16 {
            let head = |i: u32| u128::from_be_bytes(*rest(i).first_chunk().expect("at least sixteen bytes"));
            sort_by(sorted, threads, &|&a, &b| head(a).cmp(&head(b)).then_with(|| rest(a).cmp(rest(b))));
        } else if width - common >= 8 {
            let head = |i: u32| u64::from_be_bytes(*rest(i).first_chunk().expect("at least eight bytes"));
            sort_by(sorted, threads, &|&a, &b| head(a).cmp(&head(b)).then_with(|| rest(a).cmp(rest(b))));
        } else {
            sort_by(sorted, threads, &|&a, &b| rest(a).cmp(rest(b)));
        }
    }

    #[inline(always)]
    pub fn sorted(&self, i: usize) -> &[u8] {
        self.word(self.sorted[i as u32] as usize)
    }

    /// Forgets the first so many in sorted order. `hash` is what words were inserted with.
    pub fn forget(&mut self, count: usize, hash: impl FnMut(&[u8]) -> u64) {
        let len = self.len();
        // Those that stay close ranks, in the order of their arrival.
        let stay = &mut self.sorted.first_mut(len)[count..];
        stay.sort_unstable();
        let bytes = self.words.first_mut(len * self.word_bytes);
        for (to, &from) in stay.iter().enumerate() {
            let from = from as usize * self.word_bytes;
            bytes.copy_within(from..from + self.word_bytes, to * self.word_bytes);
        }
        self.len.store(stay.len(), Ordering::Relaxed);
        self.enter_all(hash);
    }

    /// Forgets all words.
    pub fn clear(&mut self) {
        self.len.store(0, Ordering::Relaxed);
        self.slots.first_mut(self.places()).fill(0);
    }

    /// Removes a word; was it there?
    pub fn remove(&mut self, word: &[u8], mut hash: impl FnMut(&[u8]) -> u64) -> bool {
        let (number, mut gap) = if self.len() > 0 { self.find(word, hash(word)) } else { (0, 0) };
        if number == 0 {
            return false;
        }
        // Words that passed this slot on the way from their homes move up.
        let places = self.places() as u32;
        let after = |slot: u32| if slot + 1 == places { 0 } else { slot + 1 };
        let mut at = after(gap);
        while self.slots[at] != 0 {
            let home = home(hash(self.word(self.slots[at] as usize - 1)), places as usize) as u32;
            let (way, to_gap) = ((at + places - home) % places, (at + places - gap) % places);
            if way >= to_gap {
                self.slots[gap] = self.slots[at];
                gap = at;
            }
            at = after(at);
        }
        self.slots[gap] = 0;
        // The last word takes the place of the one that goes.
        let (last, to) = (self.len() - 1, number as usize - 1);
        if to < last {
            let (_, slot) = self.find(self.word(last), hash(self.word(last)));
            self.slots[slot] = number;
            let from = last * self.word_bytes;
            self.words.first_mut(from + self.word_bytes).copy_within(from.., to * self.word_bytes);
        }
        self.len.store(last, Ordering::Relaxed);
        true
    }

    /// Fills the slots anew.
    fn enter_all(&mut self, mut hash: impl FnMut(&[u8]) -> u64) {
        let places = self.places();
        self.slots.first_mut(places).fill(0);
        for i in 0..self.len() {
            let (_, slot) = self.find(self.word(i), hash(self.word(i)));
            self.slots[slot] = i as u32 + 1;
        }
    }

    pub fn bytes(&self) -> usize {
        self.words.bytes() + self.slots.bytes() + self.sorted.bytes()
    }
}

/// Sorts numbers: each half by half of the threads.
fn sort_by(numbers: &mut [u32], threads: usize, order: &(impl Fn(&u32, &u32) -> cmp::Ordering + Sync)) {
    if threads < 2 || numbers.len() < threads * LEAST_SORTED {
        return numbers.sort_unstable_by(order);
    }
    let (low, _, high) = numbers.select_nth_unstable_by(numbers.len() / 2, order);
    let both = thread::scope(|scope| {
        let other = start(scope, || sort_by(low, threads / 2, order));
        sort_by(high, threads - threads / 2, order);
        other.is_ok()
    });
    // Where the system has no more threads.
    if !both {
        numbers.sort_unstable_by(order);
    }
}
