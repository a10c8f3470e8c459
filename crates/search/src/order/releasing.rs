//! For pseudo-root states: the state whose expansion releases most comes first.
//!
//! A closed state that waits for only one more predecessor will be released when that one is expanded. The forgetter finds
//! out which it is and promotes it; so it does with a state that will go itself as soon as it is expanded. The search still
//! goes roughly level by level, which is a measured choice: following promises alone stores less of Klotski but twice as
//! much of Milner's schedulers, and depth-first twice as much of everything.

use super::{Next, Opening, Order};
use crate::store::StateId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    open: bool,
    /// What its expansion promises to release.
    promise: u32,
    depth: u32,
}

#[derive(Debug, Default)]
pub struct Releasing {
    states: Vec<Waiting>,
    /// Queues by promise. A state promoted since is also in a later one; the earlier entry is skipped.
    queues: BTreeMap<(Reverse<u32>, u32), VecDeque<StateId>>,
    waiting: usize,
    depth: u32,
}

/// Shallow states first, one that promises much as if it were not as deep; among equals, the one that promises most.
fn key(promise: u32, depth: u32) -> (Reverse<u32>, u32) {
    (Reverse(depth.saturating_sub(promise)), promise)
}

impl Order for Releasing {
    fn push(&mut self, state: Opening) -> bool {
        let at = state.id as usize;
        if at >= self.states.len() {
            self.states.resize(at + 1, Waiting::default());
        }
        self.states[at] = Waiting { open: true, promise: 0, depth: state.depth };
        self.queues.entry(key(0, state.depth)).or_default().push_back(state.id);
        self.waiting += 1;
        true
    }

    fn next(&mut self, _: usize, out: &mut Vec<StateId>) -> Next {
        while let Some(mut queue) = self.queues.last_entry() {
            let Some(id) = queue.get_mut().pop_front() else {
                queue.remove();
                continue;
            };
            let key_of_queue = *queue.key();
            let state = &mut self.states[id as usize];
            if state.open && key(state.promise, state.depth) == key_of_queue {
                state.open = false;
                self.depth = state.depth;
                self.waiting -= 1;
                out.push(id);
                return Next::Expand;
            }
        }
        Next::Done
    }

    fn depth(&self, _: usize) -> u32 {
        self.depth
    }

    fn promote(&mut self, id: StateId, promise: u32) {
        let state = &mut self.states[id as usize];
        if state.open {
            state.promise += promise;
            self.queues.entry(key(state.promise, state.depth)).or_default().push_back(id);
        }
    }

    fn each(&self, show: &mut dyn FnMut(Option<StateId>, u32)) {
        let waiting = (0..).zip(&self.states).filter(|(_, state)| state.open);
        waiting.for_each(|(id, state)| show(Some(id), state.depth));
    }

    fn retract(&mut self) -> Option<StateId> {
        None
    }

    fn len(&self) -> usize {
        self.waiting
    }

    fn bytes(&self) -> usize {
        let queues: usize = self.queues.values().map(|s| s.capacity() * size_of::<StateId>()).sum();
        queues + self.states.len() * size_of::<Waiting>()
    }
}
