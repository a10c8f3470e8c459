//! For pseudo-root states: the state whose expansion releases most comes first.
//!
//! A closed state that waits for only one more predecessor will be released when that one is expanded. The forgetter finds
//! out which it is and promotes it; among states of equal promise, the one found last comes first, so that the search
//! stays near to what it has in memory.

use super::{Next, Opening, Order};
use crate::store::StateId;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    open: bool,
    /// States that are released when this one is expanded.
    releases: u32,
    depth: u32,
}

#[derive(Debug, Default)]
pub struct Releasing {
    states: Vec<Waiting>,
    /// Stacks by promise. A state promoted since is also in a higher one; the lower entry is skipped.
    stacks: BTreeMap<u32, Vec<StateId>>,
    waiting: usize,
    depth: u32,
}

impl Order for Releasing {
    fn push(&mut self, state: Opening) -> bool {
        let at = state.id as usize;
        if at >= self.states.len() {
            self.states.resize(at + 1, Waiting::default());
        }
        self.states[at] = Waiting { open: true, releases: 0, depth: state.depth };
        self.stacks.entry(0).or_default().push(state.id);
        self.waiting += 1;
        true
    }

    fn next(&mut self, _: usize, out: &mut Vec<StateId>) -> Next {
        while let Some(mut stack) = self.stacks.last_entry() {
            let Some(id) = stack.get_mut().pop() else {
                stack.remove();
                continue;
            };
            let releases = *stack.key();
            let state = &mut self.states[id as usize];
            if state.open && state.releases == releases {
                state.open = false;
                self.depth = state.depth;
                self.waiting -= 1;
                out.push(id);
                return Next::Expand;
            }
        }
        Next::Done
    }

    fn depth(&self, _: StateId) -> u32 {
        self.depth
    }

    fn promote(&mut self, id: StateId) {
        let state = &mut self.states[id as usize];
        if state.open {
            state.releases += 1;
            self.stacks.entry(state.releases).or_default().push(id);
        }
    }

    fn retract(&mut self) -> Option<StateId> {
        None
    }

    fn len(&self) -> usize {
        self.waiting
    }

    fn bytes(&self) -> usize {
        let stacks: usize = self.stacks.values().map(|s| s.capacity() * size_of::<StateId>()).sum();
        stacks + self.states.capacity() * size_of::<Waiting>()
    }
}
