//! Memory that grows in place, in two steps: room is promised before a change and used during it.
//!
//! How much a change of the automaton will need is known beforehand only as a bound, often a generous one. So the budget
//! is asked for the bound, and told afterwards what was really used; a change that has begun never runs out of memory.

use crate::region::Region;
use crate::store::Full;
use scrimp_core::Budget;
use std::io;
use std::sync::Arc;

pub(super) struct Arena {
    region: Region,
    /// Bytes in use, and how many of them the budget knows of.
    used: usize,
    taken: usize,
    budget: Arc<Budget>,
}

/// Kept committed behind what is in use: whoever reads a node by whole vectors may read beyond it.
const SLACK: usize = 64;

impl Arena {
    /// At most `most` bytes.
    pub fn new(most: usize, budget: &Arc<Budget>) -> io::Result<Arena> {
        let reserve = budget.memory().saturating_add(budget.memory() / 16).min(most);
        let mut region = Region::reserve(reserve)?;
        region.commit(SLACK)?;
        Ok(Arena { region, used: 0, taken: 0, budget: budget.clone() })
    }

    #[inline(always)]
    pub fn base(&self) -> *mut u8 {
        self.region.base()
    }

    pub fn used(&self) -> usize {
        self.used
    }

    /// What more the budget must allow for so many more bytes.
    pub fn lacking(&self, more: usize) -> usize {
        Region::rounded(self.used + more + SLACK).saturating_sub(self.taken)
    }

    /// Makes so many more bytes usable; the budget was asked for what is [lacking](Arena::lacking).
    pub fn promise(&mut self, more: usize) -> Result<(), Full> {
        let end = self.used + more + SLACK;
        self.region.commit(end).map_err(|_| Full)?;
        if self.region.committed() < end { Err(Full) } else { Ok(()) }
    }

    /// Uses so many of the promised bytes; they are zero. Answers where they start.
    #[inline(always)]
    pub fn extend(&mut self, bytes: usize) -> usize {
        let start = self.used;
        self.used += bytes;
        assert!(self.used + SLACK <= self.region.committed());
        start
    }

    /// Tells the budget what was used, and that so many bytes are kept for later: they were promised too.
    pub fn settle(&mut self, kept: usize) {
        let taken = Region::rounded(self.used + kept + SLACK);
        if taken > self.taken {
            self.budget.take(taken - self.taken);
            self.taken = taken;
        }
    }

    /// All bytes in use.
    pub fn content(&self) -> &[u8] {
        // SAFETY: within committed memory, which is zero or was written.
        unsafe { std::slice::from_raw_parts(self.base(), self.used) }
    }

    pub fn content_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` says that nobody else looks.
        unsafe { std::slice::from_raw_parts_mut(self.base(), self.used) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.budget.give_back(self.taken);
    }
}
