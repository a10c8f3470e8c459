//! One small value for every stored state, beside the store: a predecessor, a counter, a depth.
//!
//! Columns grow in place and ask the budget first, like the store itself; see [`Region`].

use crate::region::Region;
use crate::store::Full;
use crate::sync::atomic::AtomicU32;
use scrimp_core::Budget;
use std::io;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// Values that are valid when all their bytes are zero.
pub trait Pod: Copy + 'static {}
impl Pod for u8 {}
impl Pod for u16 {}
impl Pod for u32 {}
impl Pod for u64 {}
impl Pod for [u64; 4] {}

pub struct Column<T: Pod> {
    region: Region,
    len: usize,
    budget: Arc<Budget>,
    values: std::marker::PhantomData<T>,
}

impl<T: Pod> Column<T> {
    pub fn new(budget: &Arc<Budget>) -> io::Result<Column<T>> {
        let reserve = budget.memory().saturating_add(budget.memory() / 16);
        let region = Region::reserve(reserve)?;
        Ok(Column { region, len: 0, budget: budget.clone(), values: std::marker::PhantomData })
    }

    /// Makes room for `len` values; new ones are zero.
    pub fn ensure(&mut self, len: usize) -> Result<(), Full> {
        if len > self.len { self.grow(len) } else { Ok(()) }
    }

    #[cold]
    fn grow(&mut self, len: usize) -> Result<(), Full> {
        let now = self.region.committed();
        let (needed, step) = (len * size_of::<T>(), (now / 32).max(1 << 12));
        for bytes in [needed.max(now + step), needed] {
            let bytes = Region::rounded(bytes).min(self.region.reserved());
            if bytes >= needed && (bytes <= now || self.budget.may_take(bytes - now)) {
                self.region.commit(bytes).map_err(|_| Full)?;
                self.budget.take(self.region.committed() - now);
                self.len = self.region.committed() / size_of::<T>();
                return Ok(());
            }
        }
        Err(Full)
    }

    /// Where a value is, or would be.
    #[inline(always)]
    pub fn address(&self, id: u32) -> *const u8 {
        self.region.base().wrapping_add(id as usize * size_of::<T>())
    }

    /// Values there is room for.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.region.committed()
    }

    /// The first `count` values.
    pub fn first_mut(&mut self, count: usize) -> &mut [T] {
        assert!(count <= self.len);
        // SAFETY: within committed memory, aligned by the region's pages, and zero or values that were written.
        unsafe { std::slice::from_raw_parts_mut(self.region.base() as *mut T, count) }
    }
}

impl Column<u8> {
    /// So many bytes from `start` on.
    #[inline(always)]
    pub fn stretch(&self, start: usize, count: usize) -> &[u8] {
        assert!(start <= self.len && count <= self.len - start);
        // SAFETY: within committed memory, which is zero or was written.
        unsafe { std::slice::from_raw_parts(self.region.base().add(start), count) }
    }

    #[inline(always)]
    pub fn stretch_mut(&mut self, start: usize, count: usize) -> &mut [u8] {
        assert!(start <= self.len && count <= self.len - start);
        // SAFETY: as above, and `&mut self` says that nobody else looks.
        unsafe { std::slice::from_raw_parts_mut(self.region.base().add(start), count) }
    }

    /// Where so many bytes from `start` on are.
    #[inline(always)]
    pub fn place(&self, start: usize, count: usize) -> *mut u8 {
        assert!(start <= self.len && count <= self.len - start);
        self.region.base().wrapping_add(start)
    }
}

impl Column<u32> {
    /// A value that several threads use. None of them may look at it in another way meanwhile.
    #[inline(always)]
    pub fn atomic(&self, id: u32) -> &AtomicU32 {
        assert!((id as usize) < self.len);
        // SAFETY: within committed memory, and aligned as an atomic number is, which has the layout of a plain one.
        unsafe { &*(self.region.base() as *const AtomicU32).add(id as usize) }
    }
}

impl<T: Pod> Drop for Column<T> {
    fn drop(&mut self) {
        self.budget.give_back(self.region.committed());
    }
}

impl<T: Pod> Index<u32> for Column<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: u32) -> &T {
        assert!((id as usize) < self.len);
        // SAFETY: within committed memory, aligned by the region's pages, and zero or a value that was written.
        unsafe { &*(self.region.base() as *const T).add(id as usize) }
    }
}

impl<T: Pod> IndexMut<u32> for Column<T> {
    #[inline(always)]
    fn index_mut(&mut self, id: u32) -> &mut T {
        assert!((id as usize) < self.len);
        // SAFETY: as above, and `&mut self` says that nobody else looks.
        unsafe { &mut *(self.region.base() as *mut T).add(id as usize) }
    }
}

/// A stack of numbers in a column, for what must never allocate at a bad moment.
pub(crate) struct Stack {
    column: Column<u32>,
    len: u32,
}

impl Stack {
    pub fn new(budget: &Arc<Budget>) -> io::Result<Stack> {
        Ok(Stack { column: Column::new(budget)?, len: 0 })
    }

    /// Makes room for `len` numbers in all.
    pub fn ensure(&mut self, len: usize) -> Result<(), Full> {
        self.column.ensure(len)
    }

    /// Room must have been made.
    #[inline(always)]
    pub fn push(&mut self, id: u32) {
        self.column[self.len] = id;
        self.len += 1;
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        Some(self.column[self.len])
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    pub fn get(&self, at: usize) -> u32 {
        assert!(at < self.len());
        self.column[at as u32]
    }

    /// Takes out the number at `at`, putting the last one in its place.
    pub fn swap_remove(&mut self, at: usize) -> u32 {
        let taken = self.get(at);
        self.len -= 1;
        self.column[at as u32] = self.column[self.len];
        taken
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len).map(|at| self.column[at])
    }

    pub fn bytes(&self) -> usize {
        self.column.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_within_the_budget_and_is_zero() {
        let budget = Arc::new(Budget::apart(32 << 20));
        let mut column: Column<u32> = Column::new(&budget).unwrap();
        column.ensure(1000).unwrap();
        column[999] = 7;
        column.ensure(100_000).unwrap();
        assert_eq!((column[999], column[99_999]), (7, 0));
        assert_eq!(column.ensure(1 << 30), Err(Full));
        let before = budget.left();
        drop(column);
        assert!(budget.left() >= before);
    }

    #[test]
    fn a_stack_gives_back_what_it_took() {
        let mut stack = Stack::new(&Arc::new(Budget::new(usize::MAX / 4))).unwrap();
        stack.ensure(10).unwrap();
        (0..10).for_each(|i| stack.push(i));
        assert_eq!((stack.swap_remove(2), stack.get(2), stack.pop()), (2, 9, Some(8)));
        assert_eq!(stack.iter().collect::<Vec<_>>(), [0, 1, 9, 3, 4, 5, 6, 7]);
    }
}
