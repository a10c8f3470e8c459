//! Which state next. An order holds the open states, by number, and hands them out in its own sequence.

mod breadth_first;

pub use breadth_first::BreadthFirst;

use crate::store::StateId;

pub trait Order {
    /// Takes a newly found state.
    fn push(&mut self, id: StateId);

    /// Hands out at least one state and at most `most`, all of one depth; none when nothing is open.
    fn pop(&mut self, most: usize, out: &mut Vec<StateId>);

    /// Number of open states.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Depth of the states handed out last.
    fn depth(&self) -> u32;

    /// Bytes held.
    fn bytes(&self) -> usize;
}
