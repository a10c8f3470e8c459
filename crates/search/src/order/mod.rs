//! Which state next. An order holds the open states, by number, and hands them out in its own sequence.

mod levels;
mod random;
mod ranked;
mod releasing;

pub use levels::{Levels, Width};
pub use random::Random;
pub(crate) use random::draw_below;
pub use ranked::{Among, Ranked, Sweeping};
pub use releasing::Releasing;

use crate::store::StateId;

/// A newly found state.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    pub id: StateId,
    pub depth: u32,
    /// Where it stands by the measure or the heuristic, where there is one: lowest first.
    pub rank: u128,
}

/// What an order wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Expand the states handed out.
    Expand,
    /// Go on with the source that was left unfinished last.
    Resume,
    /// The sweep-line moves, nothing open standing where it stood: on, or back, to sweep `again`.
    Advance { again: bool },
    /// Nothing is open.
    Done,
}

pub trait Order {
    /// Takes a newly found state. `false` when it lies behind the sweep-line.
    fn push(&mut self, state: Opening) -> bool;

    /// Says what to do next, handing out at most `most` states, all of one depth, for [`Next::Expand`].
    fn next(&mut self, most: usize, out: &mut Vec<StateId>) -> Next;

    /// How many states may be pushed before the present source must wait. When that is not [`usize::MAX`], sources come
    /// one at a time.
    fn width(&self) -> usize {
        usize::MAX
    }

    /// May sources have to wait in the middle of their events?
    fn lets_wait(&self) -> bool {
        false
    }

    /// The present source, which came alone, has no event left.
    fn finished(&mut self) {}

    /// Depth of a state that was handed out last.
    fn depth(&self, id: StateId) -> u32;

    /// A state that waits promises so much more than it did.
    fn promote(&mut self, _: StateId, _promise: u32) {}

    /// Where the sweep-line stands.
    fn line(&self) -> Option<u128> {
        None
    }

    /// Takes back a state that would come late, if there is one to take back.
    fn retract(&mut self) -> Option<StateId>;

    /// Number of states that wait.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    fn bytes(&self) -> usize;
}
