//! Level by level, each as wide as it may be: breadth-first, depth-first and what lies between.
//!
//! The search works on the states of one level. As soon as the next level has as many states as it may, the search goes on
//! there, and comes back when everything below is done. With no bound that is breadth-first search, with a bound of one it
//! is depth-first search; BBFS(w) has the bound w everywhere, and Alt(b, d) takes turns: b levels without a bound, then d
//! levels with a bound of one.

use super::{Next, Opening, Order};
use crate::store::StateId;
use std::collections::VecDeque;

/// How many states the level below one at a given depth may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    Bounded(usize),
    Alternating { breadth: u32, depth: u32 },
}

impl Width {
    pub const BREADTH_FIRST: Width = Width::Bounded(usize::MAX);
    pub const DEPTH_FIRST: Width = Width::Bounded(1);

    fn below(self, depth: u32) -> usize {
        match self {
            Width::Bounded(width) => width,
            Width::Alternating { breadth, depth: deep } => {
                let period = breadth.saturating_add(deep).max(1);
                if depth % period < breadth { usize::MAX } else { 1 }
            }
        }
    }
}

/// A level that was begun: which of its states wait, as positions in the pool.
#[derive(Debug, Clone, Copy)]
struct Level {
    head: usize,
    end: usize,
    depth: u32,
    /// A source of this level is unfinished.
    active: bool,
}

#[derive(Debug)]
pub struct Levels {
    width: Width,
    /// The waiting states of all levels begun, and behind them those of the level that is being filled.
    pool: VecDeque<StateId>,
    /// Position of the pool's first state.
    start: usize,
    stack: Vec<Level>,
    /// Position where the level that is being filled begins.
    filling: usize,
    waiting: usize,
}

impl Levels {
    pub fn new(width: Width) -> Levels {
        Levels { width, pool: VecDeque::new(), start: 0, stack: Vec::new(), filling: 0, waiting: 0 }
    }

    fn end(&self) -> usize {
        self.start + self.pool.len()
    }

    /// Depth of the level that is being filled.
    fn next_depth(&self) -> u32 {
        self.stack.last().map_or(0, |top| top.depth + 1)
    }

    /// Begins the level that was being filled. One that is done with is not come back to.
    fn descend(&mut self) {
        let depth = self.next_depth();
        if self.stack.last().is_some_and(|top| top.head == top.end && !top.active) {
            self.stack.pop();
        }
        self.stack.push(Level { head: self.filling, end: self.end(), depth, active: false });
        self.filling = self.end();
        let first = self.stack[0].head;
        self.pool.drain(..first - self.start);
        self.start = first;
    }
}

impl Order for Levels {
    fn push(&mut self, state: Opening) -> bool {
        self.pool.push_back(state.id);
        self.waiting += 1;
        true
    }

    fn next(&mut self, most: usize, out: &mut Vec<StateId>) -> Next {
        loop {
            let filled = self.end() - self.filling;
            let Some(top) = self.stack.last_mut() else {
                if filled == 0 {
                    return Next::Done;
                }
                self.descend();
                continue;
            };
            let width = self.width.below(top.depth);
            if filled >= width {
                self.descend();
            } else if top.active {
                return Next::Resume;
            } else if top.head < top.end {
                let taken = if width == usize::MAX { most.min(top.end - top.head) } else { 1 };
                let at = top.head - self.start;
                top.head += taken;
                top.active = width != usize::MAX;
                self.waiting -= taken;
                out.extend(self.pool.range(at..at + taken));
                return Next::Expand;
            } else if filled > 0 {
                self.descend();
            } else {
                self.stack.pop();
                if let Some(top) = self.stack.last() {
                    self.filling = top.end;
                    self.pool.truncate(top.end - self.start);
                } else {
                    self.start = self.end();
                    self.filling = self.start;
                    self.pool.clear();
                }
            }
        }
    }

    fn lets_wait(&self) -> bool {
        self.width != Width::BREADTH_FIRST
    }

    fn width(&self) -> usize {
        let width = self.stack.last().map_or(usize::MAX, |top| self.width.below(top.depth));
        if width == usize::MAX { width } else { width - (self.end() - self.filling).min(width) }
    }

    fn finished(&mut self) {
        if let Some(top) = self.stack.last_mut() {
            top.active = false;
        }
    }

    fn depth(&self, _: usize) -> u32 {
        self.stack.last().map_or(0, |top| top.depth)
    }

    /// Level by level, and of each level first what waits there.
    fn each(&self, show: &mut dyn FnMut(Option<StateId>, u32)) {
        for level in &self.stack {
            self.pool
                .range(level.head - self.start..level.end - self.start)
                .for_each(|&id| show(Some(id), level.depth));
            if level.active {
                show(None, level.depth);
            }
        }
        let next = self.next_depth();
        self.pool.range(self.filling - self.start..).for_each(|&id| show(Some(id), next));
    }

    fn reopen(&mut self, state: Option<Opening>, depth: u32) -> bool {
        if depth < self.next_depth() || state.is_none() && self.width.below(depth) == usize::MAX {
            return false;
        }
        if depth > self.next_depth() {
            // A level that has nothing left is as good as one that was done with.
            let (head, end) = (self.filling, self.end());
            if end > head {
                self.stack.push(Level { head, end, depth: self.next_depth(), active: false });
            }
            if depth > self.next_depth() {
                self.stack.push(Level { head: end, end, depth: depth - 1, active: false });
            }
            self.filling = end;
        }
        match state {
            Some(state) => self.push(state),
            None => {
                let (head, end) = (self.filling, self.end());
                self.stack.push(Level { head, end, depth, active: true });
                self.filling = end;
                true
            }
        }
    }

    fn unfinished(&self) -> usize {
        self.stack.iter().filter(|level| level.active).count()
    }

    fn retract(&mut self) -> Option<StateId> {
        if self.end() == self.filling {
            return None;
        }
        self.waiting -= 1;
        self.pool.pop_back()
    }

    fn len(&self) -> usize {
        self.waiting
    }

    fn bytes(&self) -> usize {
        self.pool.len() * size_of::<StateId>() + self.stack.len() * size_of::<Level>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which a search visits the infinite binary tree, cut off at `deepest`; node n has children 2n and 2n+1.
    fn visits(width: Width, deepest: u32) -> Vec<StateId> {
        let mut order = Levels::new(width);
        order.push(Opening { id: 1, depth: 0, rank: 0 });
        let (mut seen, mut open, mut out) = (vec![], vec![], vec![]);
        loop {
            out.clear();
            match order.next(3, &mut out) {
                Next::Done => break,
                Next::Expand => {
                    seen.extend(&out);
                    for &id in &out {
                        let depth = order.depth(0);
                        open.push(if depth < deepest { vec![2 * id + 1, 2 * id] } else { vec![] });
                    }
                }
                Next::Resume => {}
                Next::Advance { .. } => unreachable!(),
            }
            if order.width() == usize::MAX {
                let children: Vec<Vec<StateId>> = open.split_off(open.len() - out.len());
                for id in children.into_iter().flat_map(|c| c.into_iter().rev()) {
                    order.push(Opening { id, depth: 0, rank: 0 });
                }
                continue;
            }
            let mut children: Vec<StateId> = open.pop().unwrap();
            while order.width() > 0 {
                let Some(id) = children.pop() else { break };
                order.push(Opening { id, depth: 0, rank: 0 });
            }
            if children.is_empty() {
                order.finished();
            } else {
                open.push(children);
            }
        }
        assert!(order.is_empty());
        seen
    }

    #[test]
    fn the_four_identities() {
        let breadth_first: Vec<StateId> = (1..32).collect();
        let mut depth_first = vec![];
        fn walk(id: StateId, seen: &mut Vec<StateId>) {
            seen.push(id);
            if id < 16 {
                walk(2 * id, seen);
                walk(2 * id + 1, seen);
            }
        }
        walk(1, &mut depth_first);
        let alternating = |breadth, depth| visits(Width::Alternating { breadth, depth }, 4);
        assert_eq!(visits(Width::Bounded(1), 4), depth_first);
        assert_eq!(alternating(0, u32::MAX), depth_first);
        assert_eq!(visits(Width::Bounded(usize::MAX), 4), breadth_first);
        assert_eq!(alternating(u32::MAX, 0), breadth_first);
    }

    #[test]
    fn bounded_levels_come_back_for_the_rest() {
        assert_eq!(visits(Width::Bounded(3), 3), [1, 2, 3, 4, 5, 8, 9, 10, 6, 11, 12, 13, 7, 14, 15]);
        let alternating = visits(Width::Alternating { breadth: 1, depth: 1 }, 3);
        assert_eq!(alternating, [1, 2, 4, 8, 9, 5, 10, 11, 3, 6, 12, 13, 7, 14, 15]);
    }
}
