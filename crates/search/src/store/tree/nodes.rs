//! Nodes of all trees, leaves or pairs of numbers: contents of one length, each kept once and numbered.
//!
//! A node is eight to sixteen bytes in an arena, found by its content through the [`Index`]. Its number never changes. Threads take
//! numbers in blocks; what a block has left stays unused until its owner goes on with it. Node 0 is the content zero, so that
//! a zero elsewhere in the arena is a number that was not given out.

use super::shape::Content;
use crate::region::{HUGE, Region};
use crate::store::Full;
use crate::store::index::{Index, SLOTS, prefetch};
use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use crate::sync::{Apart, size};
use scrimp_core::Budget;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// Numbers that a thread takes at once.
const BLOCK: u32 = size(256, 2) as u32;
const FIRST_INDEX: usize = size(1 << 12, 1 << 6);
/// The index is enlarged when this share of its slots is taken, by this factor.
const FULLEST: f64 = 0.93;
const GROWTH: f64 = 1.38;
/// Numbers have 32 bits; the last ones are left out, so that threads can count a little beyond the end.
const MOST: usize = u32::MAX as usize - (1 << 24);

pub struct Nodes {
    /// Bytes of a node, from eight to sixteen.
    bytes: usize,
    arena: Region,
    index: Index,
    /// Numbers given out, those in blocks included.
    numbered: Apart<AtomicU32>,
    /// Nodes that there is memory for.
    room: usize,
    /// Numbers that threads now at work may still take.
    pending: Apart<AtomicUsize>,
    budget: Arc<Budget>,
}

/// A content that is looked up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sought {
    pub hash: u64,
    pub content: Content,
    /// The number that it likely has, plus one; 0 for none.
    guess: u32,
}

#[inline(always)]
pub fn hash(content: Content) -> u64 {
    let fold = |a: u64, b: u64| {
        let product = a as u128 * b as u128;
        product as u64 ^ (product >> 64) as u64
    };
    let h = fold(content[0] ^ 0x2d35_8dcc_aa6c_78a5, content[1] ^ 0x8bb8_4b93_962e_acc9);
    fold(h, 0x9e37_79b9_7f4a_7c15)
}

impl Nodes {
    /// Nodes whose contents have so many bytes, at most sixteen.
    pub fn new(content_bytes: usize, budget: &Arc<Budget>) -> io::Result<Nodes> {
        let bytes = content_bytes.max(8);
        assert!(bytes <= 16);
        let reserve = budget.memory().saturating_add(budget.memory() / 16);
        let index = Index::new(reserve, FIRST_INDEX)?;
        let mut arena = Region::reserve(reserve)?;
        arena.commit(bytes)?;
        budget.take(index.bytes() + arena.committed());
        let mut nodes = Nodes {
            bytes,
            arena,
            index,
            numbered: Apart(AtomicU32::new(1)),
            room: 0,
            pending: Apart(AtomicUsize::new(0)),
            budget: budget.clone(),
        };
        nodes.measure_room();
        nodes.index.enter::<true>(hash([0; 2]), 0);
        Ok(nodes)
    }

    /// Numbers given out, whether used or not.
    pub fn len(&self) -> usize {
        self.numbered.load(Ordering::Relaxed) as usize
    }

    /// Bytes that were touched.
    pub fn bytes(&self) -> usize {
        self.len() * self.bytes + self.index.bytes()
    }

    fn measure_room(&mut self) {
        let slots = (self.index.slots() as f64 * FULLEST) as usize;
        self.room = (self.arena.committed() / self.bytes).min(slots).min(MOST);
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
    fn address(&self, number: u32) -> *mut u8 {
        self.arena.base().wrapping_add(number as usize * self.bytes)
    }

    /// What the node with this number holds.
    ///
    /// # Safety
    /// The number was given out, and its node is not being written: it came from the index, or from another node or a key
    /// that did.
    #[inline(always)]
    pub unsafe fn content(&self, number: u32) -> Content {
        debug_assert!(self.has(number));
        let word = |at: usize| {
            // SAFETY: numbers are given out only where memory was committed, and nodes do not change.
            u64::from_le(unsafe { self.address(number).add(at).cast::<u64>().read_unaligned() })
        };
        [word(0), if self.bytes > 8 { word(self.bytes - 8) } else { 0 }]
    }

    /// Writes a node.
    ///
    /// # Safety
    /// There is room for it, and no other thread looks at it.
    #[inline(always)]
    unsafe fn write(&self, number: u32, content: Content) {
        let put = |at: usize, word: u64| {
            // SAFETY: as the caller promises.
            unsafe { self.address(number).add(at).cast::<u64>().write_unaligned(word.to_le()) }
        };
        put(0, content[0]);
        if self.bytes > 8 {
            put(self.bytes - 8, content[1]);
        }
    }

    /// Was this number given out?
    pub fn has(&self, number: u32) -> bool {
        (number as usize) < self.len()
    }

    #[inline(always)]
    pub fn prefetch_content(&self, number: u32) {
        prefetch(self.address(number));
    }

    /// The first of three passes over what is sought: asks for the bucket.
    #[inline(always)]
    pub fn seek(&self, hash: u64, content: Content) -> Sought {
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
        // SAFETY: only for numbers that the index has.
        let same = |number: u32| unsafe { self.content(number) } == sought.content;
        if sought.guess != 0 && same(sought.guess - 1) {
            return sought.guess - 1;
        }
        loop {
            match self.index.find(sought.hash, same) {
                Ok(number) => return number,
                Err(free) => {
                    if let Some(claim) = self.index.claim::<ALONE>(sought.hash, free) {
                        let number = self.next_number::<ALONE>(block);
                        // SAFETY: there is room, and the number is this thread's alone.
                        unsafe { self.write(number, sought.content) };
                        claim.publish(number);
                        return number;
                    }
                }
            }
        }
    }

    /// The number of a content, if it has one.
    pub fn find(&self, hash: u64, content: Content) -> Option<u32> {
        // SAFETY: only for numbers that the index has.
        self.index.find(hash, |number| unsafe { self.content(number) } == content).ok()
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
        if wanted * self.bytes > self.arena.committed() {
            self.grow_arena(wanted * self.bytes)?;
        }
        if wanted as f64 > self.index.slots() as f64 * FULLEST {
            // The index is filled anew, which should not happen for a handful of numbers.
            self.grow_index(wanted + self.len() / 50, share)?;
            self.fill_index();
        }
        self.measure_room();
        Ok(())
    }

    /// Commits a little more than needed, in steps that stay small beside what is there.
    fn grow_arena(&mut self, needed: usize) -> Result<(), Full> {
        let now = self.arena.committed();
        // Large enough that threads need not stop for it often.
        let step = (now / 16).clamp(1 << 17, 16 * HUGE);
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
            // SAFETY: given out, and nobody else is at work.
            let content = unsafe { self.content(number) };
            if content == [0; 2] && number > 0 {
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

    /// Writes all nodes.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&(self.len() as u64).to_le_bytes())?;
        // SAFETY: so many bytes are committed, and nobody writes to them while the tree is saved.
        to.write_all(unsafe { std::slice::from_raw_parts(self.arena.base(), self.len() * self.bytes) })
    }

    /// Fills an empty store of nodes with those that were saved.
    pub fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut count = [0; 8];
        from.read_exact(&mut count)?;
        let count = u64::from_le_bytes(count);
        if count == 0 || count > MOST as u64 || self.len() != 1 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.make_room(count as usize, 1.0).map_err(|_| io::ErrorKind::OutOfMemory)?;
        // SAFETY: so many bytes are committed, and `&mut self` says that nobody else looks.
        let arena = unsafe { std::slice::from_raw_parts_mut(self.arena.base(), count as usize * self.bytes) };
        from.read_exact(arena)?;
        self.numbered.store(count as u32, Ordering::Relaxed);
        let bytes = self.index.bytes();
        self.index.reset(bytes)?;
        self.fill_index();
        Ok(())
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.budget.give_back(self.arena.committed() + self.index.bytes());
    }
}
