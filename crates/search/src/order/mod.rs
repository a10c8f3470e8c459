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

/// The lowest ranks that wait: the first, and up to where there are enough states for a line to stand at them all.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Lowest {
    pub ahead: Option<(u128, u128)>,
    pub behind: Option<(u128, u128)>,
}

impl Lowest {
    /// The lowest ranks of two shares.
    pub fn and(self, other: Lowest) -> Lowest {
        let lower = |a: Option<(u128, u128)>, b: Option<(u128, u128)>| match (a, b) {
            (Some((a, a_end)), Some((b, b_end))) => Some((a.min(b), a_end.min(b_end).max(a.min(b)))),
            (a, b) => a.or(b),
        };
        Lowest { ahead: lower(self.ahead, other.ahead), behind: lower(self.behind, other.behind) }
    }
}

pub trait Order {
    /// Takes a newly found state. `false` when it lies behind the sweep-line.
    fn push(&mut self, state: Opening) -> bool;

    /// Says what to do next, handing out at most `most` states for [`Next::Expand`].
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

    /// Depth of one of the states that were handed out last, by its place among them.
    fn depth(&self, place: usize) -> u32;

    /// A state that waits promises so much more than it did.
    fn promote(&mut self, _: StateId, _promise: u32) {}

    /// Where the sweep-line stands.
    fn line(&self) -> Option<u128> {
        None
    }

    /// The lowest ranks that wait ahead of the line, and behind it: where a search in several shares finds out together where
    /// its line stands next.
    fn lowest(&self) -> Lowest {
        Lowest::default()
    }

    /// Hands out at most `most` states with ranks up to `end`.
    fn next_within(&mut self, _end: u128, _most: usize, _out: &mut Vec<StateId>) {}

    /// The line of all shares stands here from now on, having moved on or back, to sweep `again`.
    fn stand_at(&mut self, _line: u128, _again: bool) {}

    /// Shows all that waits, with its depth: each state, and nothing where a source was left unfinished. What is shown first is to
    /// be [opened again](Order::reopen) first.
    fn each(&self, show: &mut dyn FnMut(Option<StateId>, u32));

    /// Takes back what another order of this kind has shown; `false` when it cannot have.
    fn reopen(&mut self, state: Option<Opening>, _depth: u32) -> bool {
        state.map(|state| self.push(state)).is_some()
    }

    /// How many sources it knows to be unfinished.
    fn unfinished(&self) -> usize {
        0
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
