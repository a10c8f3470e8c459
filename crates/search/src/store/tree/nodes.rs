//! The nodes of all trees: pairs of numbers, and leaves of eight bytes, each kept once and numbered.
//!
//! A node is eight bytes in an arena, found by its content through the [`Index`]. Its number never changes. Threads take
//! numbers in blocks; what a block has left stays unused until its owner goes on with it. Node 0 is the content zero, so that
//! a zero elsewhere in the arena is a number that was not given out.

use crate::budget::Budget;
use crate::region::{HUGE, Region};
use crate::store::Full;
use crate::store::index::{Index, SLOTS, prefetch};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Numbers that a thread takes at once.
const BLOCK: u32 = 256;
const FIRST_INDEX: usize = 1 << 12;
/// The index is enlarged when this share of its slots is taken, by this factor.
const FULLEST: f64 = 0.93;
const GROWTH: f64 = 1.38;
/// Numbers have 32 bits; the last ones are left out, so that threads can count a little beyond the end.
const MOST: usize = u32::MAX as usize - (1 << 24);

pub struct Nodes {
    arena: Region,
    index: Index,
    /// Numbers given out, those in blocks included.
    numbered: AtomicU32,
    /// Nodes that there is memory for.
    room: usize,
    /// Numbers that threads now at work may still take.
    pending: AtomicUsize,
    budget: Arc<Budget>,
}

/// A content that is looked up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sought {
    pub hash: u64,
    pub content: u64,
    /// The number that it likely has, plus one; 0 for none.
    guess: u32,
}

#[inline(always)]
pub fn hash(content: u64) -> u64 {
    let product = (content ^ 0x2d35_8dcc_aa6c_78a5) as u128 * 0x8bb8_4b93_962e_acc9;
    let h = product as u64 ^ (product >> 64) as u64;
    h.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ h >> 32
}

impl Nodes {
    pub fn new(budget: &Arc<Budget>) -> io::Result<Nodes> {
        let reserve = budget.memory().saturating_add(budget.memory() / 16);
        let index = Index::new(reserve, FIRST_INDEX)?;
        let mut arena = Region::reserve(reserve)?;
        arena.commit(8)?;
        budget.take(index.bytes() + arena.committed());
        let mut nodes = Nodes {
            arena,
            index,
            numbered: AtomicU32::new(1),
            room: 0,
            pending: AtomicUsize::new(0),
            budget: budget.clone(),
        };
        nodes.measure_room();
        nodes.index.enter::<true>(hash(0), 0);
        Ok(nodes)
    }

    /// Numbers given out, whether used or not.
    pub fn len(&self) -> usize {
        self.numbered.load(Ordering::Relaxed) as usize
    }

    /// Bytes that were touched.
    pub fn bytes(&self) -> usize {
        self.len() * 8 + self.index.bytes()
    }

    fn measure_room(&mut self) {
        let slots = (self.index.slots() as f64 * FULLEST) as usize;
        self.room = (self.arena.committed() / 8).min(slots).min(MOST);
    }

    /// Numbers that adding so many nodes may take.
    pub fn need(nodes: usize) -> usize {
        nodes + BLOCK as usize
    }

    /// Can so many more numbers be given out, all of them below `limit`?
    #[inline]
    pub fn has_room(&self, more: usize, limit: usize) -> bool {
        self.len() + more <= self.room.min(limit)
    }

    /// Secures so many numbers for one thread, however many others do the same; [`keep`](Nodes::keep) ends it.
    pub fn promise(&self, more: usize, limit: usize) -> Result<(), Full> {
        let pending = self.pending.fetch_add(more, Ordering::AcqRel) + more;
        if self.has_room(pending, limit) {
            return Ok(());
        }
        self.keep(more);
        Err(Full)
    }

    pub fn keep(&self, more: usize) {
        self.pending.fetch_sub(more, Ordering::Release);
    }

    #[inline(always)]
    fn cell(&self, number: u32) -> &AtomicU64 {
        debug_assert!((number as usize) < self.arena.committed() / 8);
        // SAFETY: numbers are given out only where memory was committed, and only such reach this place; zero is valid.
        unsafe { &*(self.arena.base() as *const AtomicU64).add(number as usize) }
    }

    /// What the node with this number holds. The number must have been given out.
    #[inline(always)]
    pub fn content(&self, number: u32) -> u64 {
        self.cell(number).load(Ordering::Relaxed)
    }

    /// Was this number given out?
    pub fn has(&self, number: u32) -> bool {
        (number as usize) < self.len()
    }

    #[inline(always)]
    pub fn prefetch_content(&self, number: u32) {
        prefetch((self.cell(number) as *const AtomicU64).cast());
    }

    /// The first of three passes over what is sought: asks for the bucket.
    #[inline(always)]
    pub fn seek(&self, hash: u64, content: u64) -> Sought {
        self.index.prefetch(hash);
        Sought { hash, content, guess: 0 }
    }

    /// The second pass: asks for the node that is likely the one.
    #[inline(always)]
    pub fn guess(&self, sought: &mut Sought) {
        let (guess, _) = self.index.guess(sought.hash, 0);
        sought.guess = guess;
        if guess != 0 {
            self.prefetch_content(guess - 1);
        }
    }

    /// The third pass: the node's number, a new one if it was not there. Room must have been secured. A thread that is `ALONE`
    /// need not compete.
    #[inline(always)]
    pub fn number<const ALONE: bool>(&self, sought: Sought, block: &mut Range<u32>) -> u32 {
        if sought.guess != 0 && self.content(sought.guess - 1) == sought.content {
            return sought.guess - 1;
        }
        loop {
            match self.index.find(sought.hash, |number| self.content(number) == sought.content) {
                Ok(number) => return number,
                Err(free) => {
                    if let Some(claim) = self.index.claim::<ALONE>(sought.hash, free) {
                        let number = self.next_number::<ALONE>(block);
                        self.cell(number).store(sought.content, Ordering::Relaxed);
                        claim.publish(number);
                        return number;
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn next_number<const ALONE: bool>(&self, block: &mut Range<u32>) -> u32 {
        if block.start == block.end {
            let count = if ALONE { 1 } else { BLOCK };
            let start = if ALONE {
                let start = self.numbered.load(Ordering::Relaxed);
                self.numbered.store(start + 1, Ordering::Relaxed);
                start
            } else {
                self.numbered.fetch_add(count, Ordering::Relaxed)
            };
            *block = start..start + count;
        }
        block.start += 1;
        block.start - 1
    }

    /// Makes room for so many more numbers. Beyond what it must have, the index takes at most this `share` of what the
    /// budget has left.
    pub fn make_room(&mut self, more: usize, share: f64) -> Result<(), Full> {
        let wanted = self.len() + more;
        if wanted > MOST {
            return Err(Full);
        }
        if wanted * 8 > self.arena.committed() {
            self.grow_arena(wanted * 8)?;
        }
        if wanted as f64 > self.index.slots() as f64 * FULLEST {
            self.grow_index(wanted, share)?;
            self.fill_index();
        }
        self.measure_room();
        Ok(())
    }

    /// Commits a little more than needed, in steps that stay small beside what is there.
    fn grow_arena(&mut self, needed: usize) -> Result<(), Full> {
        let now = self.arena.committed();
        let step = (now / 32).clamp(1 << 14, 16 * HUGE);
        for bytes in [needed.max(now + step), needed] {
            let bytes = Region::rounded(bytes).min(self.arena.reserved());
            if bytes >= needed && self.budget.may_take(bytes - now) {
                self.arena.commit(bytes).map_err(|_| Full)?;
                self.budget.take(self.arena.committed() - now);
                return Ok(());
            }
        }
        Err(Full)
    }

    fn grow_index(&mut self, wanted: usize, share: f64) -> Result<(), Full> {
        let now = self.index.bytes();
        let needed = ((wanted + SLOTS) as f64 / FULLEST * Index::SLOT_BYTES) as usize;
        let left = self.budget.left();
        let at_most = now + (left as f64 * share / 2.0) as usize;
        let larger = ((now as f64 * GROWTH) as usize).min(at_most);
        // Whole pages, all of them used: rounding up would waste part of one.
        let whole = larger / Region::page(larger) * Region::page(larger);
        let bytes = if whole >= needed && whole > now { whole } else { Region::rounded(needed.max(now + 1)) };
        if bytes > self.index.most_bytes() || bytes.saturating_sub(now) > left {
            return Err(Full);
        }
        self.index.reset(bytes).map_err(|_| Full)?;
        self.budget.take(self.index.bytes() - now);
        Ok(())
    }

    /// Enters all nodes into an empty index.
    fn fill_index(&mut self) {
        /// How many nodes lie between asking for a bucket and using it.
        const AHEAD: usize = 64;
        let mut waiting = [(0u64, 0u32); AHEAD];
        let mut count = 0;
        for number in 0..self.len() as u32 {
            let content = self.content(number);
            if content == 0 && number > 0 {
                continue;
            }
            let (h, earlier) = waiting[count % AHEAD];
            if count >= AHEAD {
                self.index.enter::<true>(h, earlier);
            }
            let h = hash(content);
            self.index.prefetch(h);
            waiting[count % AHEAD] = (h, number);
            count += 1;
        }
        waiting[..count.min(AHEAD)].iter().for_each(|&(h, number)| self.index.enter::<true>(h, number));
    }

    /// Fills an empty store of nodes with these contents, from number 0 on.
    pub fn restore(&mut self, count: usize, mut next: impl FnMut() -> io::Result<u64>) -> io::Result<()> {
        let full = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        if count == 0 || self.len() != 1 || next()? != 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.make_room(count, 1.0).map_err(full)?;
        for number in 1..count as u32 {
            let content = next()?;
            self.cell(number).store(content, Ordering::Relaxed);
            if content != 0 {
                self.index.enter::<true>(hash(content), number);
            }
        }
        self.numbered.store(count as u32, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.budget.give_back(self.arena.committed() + self.index.bytes());
    }
}
