//! The keys on a path: a set that grows and shrinks with it, by linear probing. What is taken out leaves no gap: entries
//! behind it move up.

use crate::column::Column;
use crate::store::Full;
use scrimp_core::Budget;
use std::io;
use std::sync::Arc;

const EMPTY: u64 = 0;
const FIRST: u32 = 1 << 9;

pub(super) struct PathSet {
    /// Keys plus one.
    table: Column<u64>,
    mask: u32,
    len: u32,
    /// Is the one key there that has no successor?
    last: bool,
    budget: Arc<Budget>,
}

impl PathSet {
    pub fn new(budget: &Arc<Budget>) -> io::Result<PathSet> {
        let mut table = Column::new(budget)?;
        table.ensure(FIRST as usize).map_err(|_| io::ErrorKind::OutOfMemory)?;
        Ok(PathSet { table, mask: FIRST - 1, len: 0, last: false, budget: budget.clone() })
    }

    fn home(&self, entry: u64) -> u32 {
        (entry.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 & self.mask
    }

    /// Where the entry is, or the free place where it would be.
    fn find(&self, entry: u64) -> u32 {
        let mut at = self.home(entry);
        while self.table[at] != EMPTY && self.table[at] != entry {
            at = (at + 1) & self.mask;
        }
        at
    }

    pub fn contains(&self, key: u64) -> bool {
        match key.wrapping_add(1) {
            EMPTY => self.last,
            entry => self.table[self.find(entry)] == entry,
        }
    }

    pub fn insert(&mut self, key: u64) -> Result<(), Full> {
        let entry = key.wrapping_add(1);
        if entry == EMPTY {
            self.last = true;
            return Ok(());
        }
        if self.len >= self.mask / 4 * 3 {
            self.grow()?;
        }
        let at = self.find(entry);
        self.len += (self.table[at] == EMPTY) as u32;
        self.table[at] = entry;
        Ok(())
    }

    pub fn remove(&mut self, key: u64) {
        let entry = key.wrapping_add(1);
        if entry == EMPTY {
            self.last = false;
            return;
        }
        let mut hole = self.find(entry);
        if self.table[hole] == EMPTY {
            return;
        }
        self.len -= 1;
        let mut at = hole;
        loop {
            at = (at + 1) & self.mask;
            let entry = self.table[at];
            if entry == EMPTY {
                break;
            }
            // It may move to the hole if that lies between its home and where it is.
            let home = self.home(entry);
            if at.wrapping_sub(home) & self.mask >= at.wrapping_sub(hole) & self.mask {
                self.table[hole] = entry;
                hole = at;
            }
        }
        self.table[hole] = EMPTY;
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let places = (self.mask as usize + 1) * 2;
        let mut larger = Column::new(&self.budget).map_err(|_| Full)?;
        larger.ensure(places)?;
        let smaller = std::mem::replace(&mut self.table, larger);
        let before = self.mask;
        self.mask = places as u32 - 1;
        for entry in (0..=before).map(|at| smaller[at]).filter(|entry| *entry != EMPTY) {
            let at = self.find(entry);
            self.table[at] = entry;
        }
        Ok(())
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;
    use std::collections::HashSet;

    #[test]
    fn behaves_like_a_set() {
        let budget = Arc::new(Budget::new(usize::MAX / 4));
        let mut set = PathSet::new(&budget).unwrap();
        let mut reference = HashSet::new();
        let mut random = Random(3);
        for round in 0..200_000u64 {
            let key = match random.below(50) {
                0 => u64::MAX,
                _ => random.below(1 + round as usize / 40) as u64,
            };
            if random.below(2) == 0 {
                set.insert(key).unwrap();
                reference.insert(key);
            } else {
                set.remove(key);
                reference.remove(&key);
            }
            let other = random.below(1 + round as usize / 40) as u64;
            assert_eq!(set.contains(other), reference.contains(&other));
            assert_eq!(set.contains(key), reference.contains(&key));
        }
    }
}
