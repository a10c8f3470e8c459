//! What is recent: the words that wait to go into the automaton, and the states that were asked for last.
//!
//! [`Pending`] is exact: a small hash table of words. [`Seen`] is a cache: one place for every hash, holding the last state
//! that was asked for there, so that asking again soon, as a search does, is answered without a walk.

use crate::column::Column;
use crate::store::Full;
use scrimp_core::Budget;
use std::io;
use std::sync::Arc;

/// The place that a hash has among so many.
#[inline(always)]
fn home(hash: u64, places: usize) -> usize {
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
    len: usize,
}

impl Pending {
    pub fn new(word_bytes: usize, budget: &Arc<Budget>) -> io::Result<Pending> {
        Ok(Pending {
            word_bytes,
            words: Column::new(budget)?,
            slots: Column::new(budget)?,
            sorted: Column::new(budget)?,
            capacity: 0,
            len: 0,
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

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn free(&self) -> usize {
        self.capacity - self.len
    }

    /// Makes room for so many words; there must be none.
    pub fn grow(&mut self, capacity: usize) -> Result<(), Full> {
        debug_assert!(self.len == 0);
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
            let number = self.slots[at as u32];
            if number == 0 || self.word(number as usize - 1) == word {
                return (number, at as u32);
            }
            at = if at + 1 == places { 0 } else { at + 1 };
        }
    }

    #[inline(always)]
    pub fn contains(&self, word: &[u8], hash: u64) -> bool {
        self.len > 0 && self.find(word, hash).0 != 0
    }

    /// Adds a word, for which there is room; was it new?
    #[inline(always)]
    pub fn insert(&mut self, word: &[u8], hash: u64) -> bool {
        debug_assert!(self.free() > 0);
        let (known, slot) = self.find(word, hash);
        if known != 0 {
            return false;
        }
        self.words.stretch_mut(self.len * self.word_bytes, self.word_bytes).copy_from_slice(word);
        self.len += 1;
        self.slots[slot] = self.len as u32;
        true
    }

    /// Sorts the words: [`sorted`](Pending::sorted) tells the order.
    pub fn sort(&mut self) {
        let (words, width) = (self.words.stretch(0, self.len * self.word_bytes), self.word_bytes);
        let word = |i: u32| &words[i as usize * width..][..width];
        let sorted = self.sorted.first_mut(self.len);
        sorted.iter_mut().enumerate().for_each(|(i, number)| *number = i as u32);
        // What all begin with need not be compared.
        let first = word(0);
        let mut common = width;
        for i in 1..self.len as u32 {
            common = first[..common].iter().zip(word(i)).take_while(|(a, b)| a == b).count();
        }
        let rest = |i: u32| &words[i as usize * width + common..(i as usize + 1) * width];
        if width - common >= 8 {
            let head = |i: u32| u64::from_be_bytes(*rest(i).first_chunk().expect("at least eight bytes"));
            sorted.sort_unstable_by(|&a, &b| head(a).cmp(&head(b)).then_with(|| rest(a).cmp(rest(b))));
        } else {
            sorted.sort_unstable_by(|&a, &b| rest(a).cmp(rest(b)));
        }
    }

    #[inline(always)]
    pub fn sorted(&self, i: usize) -> &[u8] {
        self.word(self.sorted[i as u32] as usize)
    }

    /// Forgets the first so many in sorted order. `hash` is what words were inserted with.
    pub fn forget(&mut self, count: usize, hash: impl FnMut(&[u8]) -> u64) {
        let len = self.len;
        // Those that stay close ranks, in the order of their arrival.
        let stay = &mut self.sorted.first_mut(len)[count..];
        stay.sort_unstable();
        let bytes = self.words.first_mut(len * self.word_bytes);
        for (to, &from) in stay.iter().enumerate() {
            let from = from as usize * self.word_bytes;
            bytes.copy_within(from..from + self.word_bytes, to * self.word_bytes);
        }
        self.len = stay.len();
        self.enter_all(hash);
    }

    /// Forgets all words.
    pub fn clear(&mut self) {
        self.len = 0;
        self.slots.first_mut(self.places()).fill(0);
    }

    /// Removes a word; was it there?
    pub fn remove(&mut self, word: &[u8], mut hash: impl FnMut(&[u8]) -> u64) -> bool {
        let (number, mut gap) = if self.len > 0 { self.find(word, hash(word)) } else { (0, 0) };
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
        let (last, to) = (self.len - 1, number as usize - 1);
        if to < last {
            let (_, slot) = self.find(self.word(last), hash(self.word(last)));
            self.slots[slot] = number;
            let from = last * self.word_bytes;
            self.words.first_mut(from + self.word_bytes).copy_within(from.., to * self.word_bytes);
        }
        self.len = last;
        true
    }

    /// Fills the slots anew.
    fn enter_all(&mut self, mut hash: impl FnMut(&[u8]) -> u64) {
        let places = self.places();
        self.slots.first_mut(places).fill(0);
        for i in 0..self.len {
            let (_, slot) = self.find(self.word(i), hash(self.word(i)));
            self.slots[slot] = i as u32 + 1;
        }
    }

    pub fn bytes(&self) -> usize {
        self.words.bytes() + self.slots.bytes() + self.sorted.bytes()
    }
}

/// The states that were asked for last.
pub(super) struct Seen {
    state_bytes: usize,
    states: Column<u8>,
    /// For every place a part of the hash; 0 where there is no state.
    tags: Column<u8>,
    places: usize,
}

impl Seen {
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> io::Result<Seen> {
        Ok(Seen { state_bytes, states: Column::new(budget)?, tags: Column::new(budget)?, places: 0 })
    }

    pub fn places(&self) -> usize {
        self.places
    }

    /// Empties the cache and gives it so many places, where the budget allows it.
    pub fn grow(&mut self, places: usize) {
        if places > self.places
            && self.states.ensure(places * self.state_bytes).is_ok()
            && self.tags.ensure(places).is_ok()
        {
            self.tags.first_mut(self.places).fill(0);
            self.places = places;
        }
    }

    /// Has this state been asked for lately? From now on it has.
    #[inline(always)]
    pub fn ask(&mut self, state: &[u8], hash: u64) -> bool {
        if self.places == 0 {
            return false;
        }
        let (at, tag) = (home(hash, self.places), hash as u8 | 1);
        let place = self.states.stretch_mut(at * self.state_bytes, self.state_bytes);
        if self.tags[at as u32] == tag && *place == *state {
            return true;
        }
        place.copy_from_slice(state);
        self.tags[at as u32] = tag;
        false
    }

    /// This state is to be unknown.
    pub fn forget(&mut self, hash: u64) {
        if self.places > 0 {
            self.tags[home(hash, self.places) as u32] = 0;
        }
    }

    pub fn bytes(&self) -> usize {
        self.states.bytes() + self.tags.bytes()
    }
}
