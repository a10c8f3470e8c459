//! Giving a table up for another store: its states come out in the order of their numbers, and its memory goes as they do.

use super::Table;
use crate::store::StateId;
use crate::sync::atomic::Ordering;
use std::sync::Arc;

impl Table {
    /// Shows every state, lowest number first, until `show` answers `false`; what was shown no longer takes memory, nor does
    /// the index. `true` when all were shown. The table must have no other handle.
    pub(crate) fn drain(self, show: &mut dyn FnMut(StateId, &[u8]) -> bool) -> bool {
        let Ok(shared) = Arc::try_unwrap(self.shared) else {
            unreachable!("a table of a single owner");
        };
        let (states, bytes, budget) = (shared.numbered.load(Ordering::Relaxed), shared.state_bytes(), shared.budget);
        let mut inner = shared.inner.into_inner();
        let index = inner.index.bytes();
        drop(inner.index);
        budget.give_back(index);
        let (step, mut released) = (inner.arena.release_step(), 0);
        for id in 0..states {
            let start = id as usize * bytes;
            if start - released >= 2 * step {
                let end = start / step * step;
                inner.arena.release(released, end);
                budget.give_back(end - released);
                released = end;
            }
            // SAFETY: the state was written to the arena, which is this function's alone; what was released lies before it.
            if !show(id, unsafe { std::slice::from_raw_parts(inner.arena.base().add(start), bytes) }) {
                budget.give_back(inner.arena.committed() - released);
                return false;
            }
        }
        budget.give_back(inner.arena.committed() - released);
        true
    }
}
