//! Sets of states that reach each other, which several threads unite: who is at work in each, the marks of the edges within, and which
//! of its states are still to be explored.
//!
//! A union-find, whose sets are trees of links to a root. The states of a set also stand in a ring; one that was explored stays in it
//! until somebody comes by, and is then skipped. A set of which all are explored is dead: nothing leads out of it but to other dead
//! ones. Two sets are united while their roots are locked and an unexplored state of each is held in its place, at which the rings are joined.
//! After Bloemen, Laarman and van de Pol, "Multi-core on-the-fly SCC decomposition" (2016).

use crate::column::Column;
use crate::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::SeqCst};
use crate::sync::spin_loop;
use scrimp_temporal::Marks;

/// Room for what is kept of a state, which begins with zeros: it is alone in its set, unexplored, and nobody is at work there.
pub(super) type Room = [u64; 4];

/// States explored by nobody, held in their place, and done.
const OPEN: u8 = 0;
const HELD: u8 = 1;
const DONE: u8 = 2;

const LOCKED: u8 = 1;
const DEAD: u8 = 2;

/// States and links are kept with one added; zero is the state itself, or nothing.
#[repr(C)]
struct Node {
    /// Of roots: a bit for each thread at work in the set, and the marks met within.
    workers: AtomicU64,
    marks: AtomicU64,
    link: AtomicU32,
    /// The next one in the ring.
    next: AtomicU32,
    /// The state by which this one was reached first.
    via: AtomicU32,
    explored: AtomicU8,
    /// Of roots.
    status: AtomicU8,
}

const _: () = assert!(size_of::<Node>() <= size_of::<Room>() && align_of::<Node>() <= align_of::<Room>());

/// What a thread learns of a state that it comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// It was not at work in its set before.
    New,
    /// It is at work there.
    Known,
    /// All there is explored.
    Dead,
}

#[derive(Clone, Copy)]
pub(super) struct Forest<'k>(pub &'k Column<Room>);

impl Forest<'_> {
    fn node(&self, id: u32) -> &Node {
        assert!((id as usize) < self.0.len());
        // SAFETY: within the column, which has room for a node, and every pattern of bits is one.
        unsafe { &*(self.0.address(id) as *const Node) }
    }

    fn link(&self, id: u32) -> u32 {
        self.node(id).link.load(SeqCst).checked_sub(1).unwrap_or(id)
    }

    fn next(&self, id: u32) -> u32 {
        self.node(id).next.load(SeqCst).checked_sub(1).unwrap_or(id)
    }

    fn is_root(&self, id: u32) -> bool {
        self.node(id).link.load(SeqCst) == 0
    }

    fn is_done(&self, id: u32) -> bool {
        self.node(id).explored.load(SeqCst) == DONE
    }

    /// The root of a state's set; links on the way become shorter.
    pub fn find(&self, mut id: u32) -> u32 {
        loop {
            let up = self.link(id);
            let above = self.link(up);
            if above == up {
                return up;
            }
            self.node(id).link.store(above + 1, SeqCst);
            id = above;
        }
    }

    pub fn is_same(&self, a: u32, b: u32) -> bool {
        loop {
            let (first, second) = (self.find(a), self.find(b));
            // Two roots are of two sets as long as both are roots.
            if first == second || self.is_root(first) {
                return first == second;
            }
        }
    }

    pub fn is_dead(&self, id: u32) -> bool {
        self.node(self.find(id)).status.load(SeqCst) & DEAD != 0
    }

    /// Is somebody at work in its set?
    pub fn is_open(&self, id: u32) -> bool {
        let root = self.node(self.find(id));
        root.workers.load(SeqCst) != 0 && root.status.load(SeqCst) & DEAD == 0
    }

    /// Is this still a root, to which something was just added? Who links it elsewhere takes along what is there when it is locked.
    fn keeps(&self, root: u32) -> bool {
        while self.node(root).status.load(SeqCst) & LOCKED != 0 {
            spin_loop();
        }
        self.is_root(root)
    }

    /// The thread with this bit comes to a state.
    pub fn claim(&self, id: u32, worker: u64) -> Claim {
        let mut root = self.find(id);
        if self.node(root).status.load(SeqCst) & DEAD != 0 {
            return Claim::Dead;
        }
        if self.node(root).workers.load(SeqCst) & worker != 0 {
            return Claim::Known;
        }
        loop {
            self.node(root).workers.fetch_or(worker, SeqCst);
            if self.keeps(root) {
                return Claim::New;
            }
            root = self.find(root);
        }
    }

    /// Adds marks to the set of a state; answers all that are there now.
    pub fn mark(&self, id: u32, marks: Marks) -> Marks {
        let mut root = self.find(id);
        loop {
            let there = self.node(root).marks.load(SeqCst);
            // Who brought them has seen them all.
            if there & marks == marks {
                return there;
            }
            let all = self.node(root).marks.fetch_or(marks, SeqCst) | marks;
            if self.keeps(root) {
                return all;
            }
            root = self.find(root);
        }
    }

    /// A state of the set that is still to be explored. Where there is none, the set is dead.
    pub fn pick(&self, id: u32) -> Option<u32> {
        let mut at = id;
        loop {
            if !self.is_done(at) {
                return Some(at);
            }
            let next = self.next(at);
            if next == at {
                // Nobody unites what has no unexplored state, so this is its root for ever.
                self.node(self.find(at)).status.fetch_or(DEAD, SeqCst);
                return None;
            }
            if !self.is_done(next) {
                return Some(next);
            }
            // What is done keeps its place, and what follows it.
            let further = self.next(next);
            self.node(at).next.store(further + 1, SeqCst);
            at = further;
        }
    }

    /// A state is explored: was it not?
    pub fn finish(&self, id: u32) -> bool {
        loop {
            match self.node(id).explored.compare_exchange(OPEN, DONE, SeqCst, SeqCst) {
                Ok(_) => return true,
                Err(HELD) => spin_loop(),
                Err(_) => return false,
            }
        }
    }

    /// Holds an unexplored state of a set in its place. The set must be locked.
    fn hold(&self, root: u32) -> Option<u32> {
        loop {
            let open = self.pick(root)?;
            if self.node(open).explored.compare_exchange(OPEN, HELD, SeqCst, SeqCst).is_ok() {
                return Some(open);
            }
        }
    }

    fn release(&self, id: u32) {
        self.node(id).explored.store(OPEN, SeqCst);
    }

    fn lock(&self, root: u32) {
        while self.node(root).status.fetch_or(LOCKED, SeqCst) & LOCKED != 0 {
            spin_loop();
        }
    }

    fn unlock(&self, root: u32) {
        self.node(root).status.fetch_and(!LOCKED, SeqCst);
    }

    /// Makes one set of those of two states, which reach each other.
    pub fn unite(&self, a: u32, b: u32) {
        loop {
            let (first, second) = (self.find(a), self.find(b));
            if first == second {
                return;
            }
            let (low, high) = (first.min(second), first.max(second));
            self.lock(low);
            self.lock(high);
            let both = self.is_root(low) && self.is_root(high);
            if both {
                self.join(low, high);
            }
            self.unlock(high);
            self.unlock(low);
            if both {
                return;
            }
        }
    }

    /// Both are roots and locked.
    fn join(&self, low: u32, high: u32) {
        let Some(one) = self.hold(low) else { return };
        let Some(other) = self.hold(high) else { return self.release(one) };
        let (from, to) = (self.node(high), self.node(low));
        to.workers.fetch_or(from.workers.load(SeqCst), SeqCst);
        to.marks.fetch_or(from.marks.load(SeqCst), SeqCst);
        // Before the states are let go: who finds all of them done finds the root that stays.
        from.link.store(low + 1, SeqCst);
        let (after_one, after_other) = (self.next(one), self.next(other));
        self.node(one).next.store(after_other + 1, SeqCst);
        self.node(other).next.store(after_one + 1, SeqCst);
        self.release(one);
        self.release(other);
    }

    /// A state was reached from another, or is an initial one.
    pub fn reach(&self, id: u32, from: Option<u32>) {
        let via = &self.node(id).via;
        if via.load(SeqCst) == 0 {
            let from = from.map_or(u32::MAX, |from| from + 1);
            let _ = via.compare_exchange(0, from, SeqCst, SeqCst);
        }
    }

    /// The state by which a state was reached first.
    pub fn via(&self, id: u32) -> Option<u32> {
        self.node(id).via.load(SeqCst).checked_add(1).and_then(|via| via.checked_sub(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_core::Budget;
    use std::sync::Arc;

    fn room(states: usize) -> Column<Room> {
        let mut column = Column::new(&Arc::new(Budget::apart(32 << 20))).unwrap();
        column.ensure(states).unwrap();
        column
    }

    #[test]
    fn sets_take_along_what_they_have() {
        let column = room(5);
        let forest = Forest(&column);
        assert_eq!(forest.claim(3, 1), Claim::New);
        assert_eq!((forest.claim(3, 1), forest.claim(3, 2)), (Claim::Known, Claim::New));
        assert_eq!((forest.mark(3, 4), forest.mark(1, 8), forest.claim(1, 4)), (4, 8, Claim::New));
        forest.unite(3, 1);
        assert!(forest.is_same(1, 3) && !forest.is_same(1, 2));
        assert_eq!(forest.mark(3, 0), 12);
        assert_eq!(
            (forest.claim(1, 1), forest.claim(1, 2), forest.claim(3, 4)),
            (Claim::Known, Claim::Known, Claim::Known)
        );
    }

    #[test]
    fn a_set_dies_with_its_last_state() {
        let column = room(6);
        let forest = Forest(&column);
        (0..5).for_each(|id| forest.unite(id, id + 1));
        let mut seen = Vec::new();
        while let Some(id) = forest.pick(2) {
            assert!(!forest.is_dead(0) && forest.finish(id) && !forest.finish(id));
            seen.push(id);
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
        assert!(forest.is_dead(5) && forest.claim(4, 1) == Claim::Dead);
    }

    #[test]
    fn the_first_way_to_a_state_is_kept() {
        let column = room(3);
        let forest = Forest(&column);
        forest.reach(0, None);
        forest.reach(0, Some(2));
        forest.reach(1, Some(0));
        forest.reach(1, Some(2));
        assert_eq!((forest.via(0), forest.via(1)), (None, Some(0)));
    }
}
