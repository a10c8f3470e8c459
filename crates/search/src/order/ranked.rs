//! Lowest rank first: by a progress measure, by a heuristic, and as the sweep-line wants it.

use super::random::draw_below;
use super::{Next, Opening, Order};
use crate::store::StateId;
use std::collections::{BTreeMap, VecDeque};

/// States with their depths.
type Class = VecDeque<(StateId, u32)>;

/// Which of the states with equal rank comes first.
#[derive(Debug, Default, Clone, Copy)]
pub enum Among {
    /// The one found first: breadth-first among them.
    #[default]
    Oldest,
    /// The one found last: depth-first among them.
    Newest,
    /// Any, by chance.
    Random { seed: u64 },
}

/// Open states by rank.
#[derive(Debug, Default)]
pub struct Ranked {
    classes: BTreeMap<u128, Class>,
    among: Among,
    waiting: usize,
    /// Depth of the states handed out last.
    depth: u32,
}

impl Ranked {
    fn lowest(&self) -> Option<u128> {
        self.classes.first_key_value().map(|(&rank, _)| rank)
    }

    /// Hands out states of the lowest rank, all of one depth.
    fn take(&mut self, most: usize, out: &mut Vec<StateId>) -> bool {
        let Some(mut class) = self.classes.first_entry() else {
            return false;
        };
        let states = class.get_mut();
        let one = match &mut self.among {
            Among::Oldest => None,
            Among::Newest => states.pop_back(),
            Among::Random { seed } => states.swap_remove_back(draw_below(seed, states.len())),
        };
        self.depth = one.as_ref().or(states.front()).map_or(0, |&(_, depth)| depth);
        match one {
            Some((id, _)) => out.push(id),
            None => {
                while out.len() < most
                    && let Some((id, _)) = states.pop_front_if(|&mut (_, depth)| depth == self.depth)
                {
                    out.push(id);
                }
            }
        }
        if states.is_empty() {
            class.remove();
        }
        self.waiting -= out.len();
        true
    }

    fn add(&mut self, state: Opening) {
        self.classes.entry(state.rank).or_default().push_back((state.id, state.depth));
        self.waiting += 1;
    }

    fn take_last(&mut self) -> Option<StateId> {
        let mut class = self.classes.last_entry()?;
        let taken = class.get_mut().pop_back();
        if class.get().is_empty() {
            class.remove();
        }
        self.waiting -= 1;
        taken.map(|(id, _)| id)
    }

    fn held(&self) -> usize {
        let class = |c: &Class| c.capacity() * size_of::<(StateId, u32)>() + size_of::<(u128, Class)>();
        self.classes.values().map(class).sum()
    }
}

impl Order for Ranked {
    fn push(&mut self, state: Opening) -> bool {
        self.add(state);
        true
    }

    /// One at a time: what the first leads to may come before the second.
    fn next(&mut self, _: usize, out: &mut Vec<StateId>) -> Next {
        if self.take(1, out) { Next::Expand } else { Next::Done }
    }

    fn depth(&self, _: StateId) -> u32 {
        self.depth
    }

    fn retract(&mut self) -> Option<StateId> {
        self.take_last()
    }

    fn len(&self) -> usize {
        self.waiting
    }

    fn bytes(&self) -> usize {
        self.held()
    }
}

/// The order of the sweep-line: it stands at one progress value until nothing open has it, then moves on. States behind it
/// wait for the next sweep, or the line goes back to them.
#[derive(Debug)]
pub struct Sweeping {
    ahead: Ranked,
    behind: Ranked,
    /// Where the line stands.
    line: u128,
    /// Nothing has been expanded where the line stands.
    fresh: bool,
    /// It goes back.
    returns: bool,
}

impl Sweeping {
    pub fn new(among: Among) -> Sweeping {
        let ranked = || Ranked { among, ..Ranked::default() };
        Sweeping { ahead: ranked(), behind: ranked(), line: 0, fresh: true, returns: false }
    }

    /// Makes a single sweep, which goes back to states behind the line.
    pub fn returning(self) -> Sweeping {
        Sweeping { returns: true, ..self }
    }
}

impl Order for Sweeping {
    fn push(&mut self, state: Opening) -> bool {
        let ahead = state.rank >= self.line;
        if ahead || self.returns {
            self.ahead.add(state)
        } else {
            self.behind.add(state)
        }
        ahead
    }

    fn next(&mut self, most: usize, out: &mut Vec<StateId>) -> Next {
        match self.ahead.lowest() {
            Some(lowest) if lowest == self.line || self.fresh => {
                self.line = lowest;
                self.fresh = false;
                self.ahead.take(most, out);
                Next::Expand
            }
            Some(_) => {
                self.fresh = true;
                Next::Advance { again: false }
            }
            None if self.behind.is_empty() => Next::Done,
            None => {
                std::mem::swap(&mut self.ahead, &mut self.behind);
                self.fresh = true;
                Next::Advance { again: true }
            }
        }
    }

    fn line(&self) -> Option<u128> {
        Some(self.line)
    }

    fn depth(&self, _: StateId) -> u32 {
        self.ahead.depth
    }

    fn retract(&mut self) -> Option<StateId> {
        None
    }

    fn len(&self) -> usize {
        self.ahead.len() + self.behind.len()
    }

    fn bytes(&self) -> usize {
        self.ahead.held() + self.behind.held()
    }
}
