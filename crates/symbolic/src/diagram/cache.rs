//! What operations gave before: a table without chains, where a new result takes the place of an old one.
//!
//! Nothing depends on a result being there, so the table grows when many are lost, as far as the budget allows.

use super::Halt;
use scrimp_core::Budget;
use std::sync::Arc;

/// Which operation: the low bits of the third part of a key; the level is above them where the result depends on it.
pub const UNION: u32 = 0;
pub const INTERSECT: u32 = 1;
pub const MINUS: u32 = 2;
pub const IMAGE: u32 = 3;
pub const DOMAIN: u32 = 4;
pub const PROJECT: u32 = 5;
pub const JOIN: u32 = 6;
pub const UNITE: u32 = 7;
pub const SATURATE: u32 = 8;
pub const FIRE: u32 = 9;
pub const BETWEEN: u32 = 10;
pub const TEST: u32 = 11;
pub const SATURATE_WITHIN: u32 = 12;
pub const INVERSE: u32 = 13;

/// Set in the second part of a key whose third part is a node too.
const TRIPLE: u32 = 1 << 31;
/// Set in the first part of such a key where the operation is firing within a set, and not where it is the preimage.
const FIRING: u32 = 1 << 31;

const LEAST: usize = 1 << 14;
/// Of the memory that is left when it grows, the cache takes at most one part in so many.
const SHARE: usize = 4;

#[derive(Clone, Copy, Default)]
#[repr(align(16))]
struct Entry {
    /// The first operand; 0, the empty set, for no entry.
    first: u32,
    second: u32,
    third: u32,
    result: u32,
}

pub struct Cache {
    entries: Vec<Entry>,
    shift: u32,
    budget: Arc<Budget>,
    /// How many results may still lose their place before the cache grows.
    patience: usize,
}

/// Operation and level in one number.
#[inline]
pub fn at(operation: u32, level: usize) -> u32 {
    operation | (level as u32) << 4
}

impl Cache {
    pub fn new(budget: &Arc<Budget>) -> Result<Cache, Halt> {
        let bytes = LEAST * size_of::<Entry>();
        if !budget.may_take(bytes) {
            return Err(Halt::Full);
        }
        budget.take(bytes);
        let entries = vec![Entry::default(); LEAST];
        Ok(Cache { entries, shift: 64 - LEAST.ilog2(), budget: budget.clone(), patience: LEAST })
    }

    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>()
    }

    #[inline(always)]
    fn place(&self, first: u32, second: u32, third: u32) -> usize {
        let key = (u64::from(first) << 32 | u64::from(second)) ^ u64::from(third).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let wide = u128::from(key) * 0xD6E8_FEB8_6659_FD93;
        (((wide >> 64) as u64 ^ wide as u64).wrapping_mul(0x2545_F491_4F6C_DD1D) >> self.shift) as usize
    }

    #[inline(always)]
    pub fn get(&self, operation: u32, first: u32, second: u32) -> Option<u32> {
        let entry = self.entries[self.place(first, second, operation)];
        (entry.first == first && entry.second == second && entry.third == operation).then_some(entry.result)
    }

    #[inline]
    pub fn put(&mut self, operation: u32, first: u32, second: u32, result: u32) {
        let mut place = self.place(first, second, operation);
        if self.entries[place].first != 0 {
            self.patience -= 1;
            if self.patience == 0 {
                self.grow();
                place = self.place(first, second, operation);
            }
        }
        self.entries[place] = Entry { first, second, third: operation, result };
    }

    /// A result that hangs on three nodes.
    #[inline]
    pub fn get_triple(&self, first: u32, second: u32, third: u32) -> Option<u32> {
        self.get(third, first, second | TRIPLE)
    }

    #[inline]
    pub fn put_triple(&mut self, first: u32, second: u32, third: u32, result: u32) {
        self.put(third, first, second | TRIPLE, result);
    }

    /// What firing a relation from a node within another gave.
    #[inline]
    pub fn get_firing(&self, node: u32, rest: u32, within: u32) -> Option<u32> {
        self.get(within, node | FIRING, rest | TRIPLE)
    }

    #[inline]
    pub fn put_firing(&mut self, node: u32, rest: u32, within: u32, result: u32) {
        self.put(within, node | FIRING, rest | TRIPLE, result);
    }

    /// Drops the results with a node that is not `alive`.
    pub fn keep(&mut self, alive: impl Fn(u32) -> bool) {
        for entry in &mut self.entries {
            let stays = entry.first == 0
                || (alive(entry.first & !FIRING)
                    && alive(entry.second & !TRIPLE)
                    && alive(entry.result)
                    && (entry.second & TRIPLE == 0 || alive(entry.third)));
            if !stays {
                *entry = Entry::default();
            }
        }
    }

    /// Drops what saturation gave, within a set or not.
    pub fn drop_saturation(&mut self) {
        let kinds = [FIRE, SATURATE, SATURATE_WITHIN];
        self.drop_where(|entry| match entry.second & TRIPLE {
            0 => kinds.contains(&(entry.third & 15)),
            _ => entry.first & FIRING != 0,
        });
    }

    /// Drops the preimages.
    pub fn drop_triples(&mut self) {
        self.drop_where(|entry| entry.second & TRIPLE != 0 && entry.first & FIRING == 0);
    }

    /// Drops what firing within a set gave.
    pub fn drop_firings(&mut self) {
        self.drop_where(|entry| entry.first & FIRING != 0);
    }

    fn drop_where(&mut self, goes: impl Fn(&Entry) -> bool) {
        self.entries.iter_mut().filter(|entry| goes(entry)).for_each(|entry| *entry = Entry::default());
    }

    /// Grows, if the budget allows: too many results were lost.
    #[cold]
    fn grow(&mut self) {
        let bytes = self.bytes() * 2;
        self.patience = self.entries.len() * 2;
        if bytes > self.budget.left() / SHARE {
            return;
        }
        self.budget.take(bytes);
        let larger = vec![Entry::default(); self.entries.len() * 2];
        let smaller = std::mem::replace(&mut self.entries, larger);
        self.shift -= 1;
        for entry in smaller.iter().filter(|entry| entry.first != 0) {
            let place = self.place(entry.first, entry.second, entry.third);
            self.entries[place] = *entry;
        }
        drop(smaller);
        self.budget.give_back(bytes / 2);
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes());
    }
}
