//! Lowest rank first: by a progress measure, by a heuristic, and as the sweep-line wants it.

use super::random::draw_below;
use super::{Lowest, Next, Opening, Order};
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
    /// Any, by chance, at most so many at a time.
    Random { seed: u64, most: usize },
}

/// Open states by rank.
#[derive(Debug, Default)]
pub struct Ranked {
    classes: BTreeMap<u128, Class>,
    among: Among,
    waiting: usize,
    /// The depths of the states handed out last.
    depths: Vec<u32>,
}

/// Of so many waiting states one is drawn at a time, where several may be.
const DRAWN: usize = 8;
/// A line stands at no more than this part of what waits.
const PART: usize = 8;

impl Ranked {
    fn lowest(&self) -> Option<u128> {
        self.classes.first_key_value().map(|(&rank, _)| rank)
    }

    /// Hands out states of the lowest rank.
    fn take(&mut self, most: usize, out: &mut Vec<StateId>) -> bool {
        let Some(mut class) = self.classes.first_entry() else {
            return false;
        };
        let states = class.get_mut();
        let count = match self.among {
            Among::Oldest => most,
            Among::Newest => 1,
            Among::Random { most: drawn, .. } => (states.len() / DRAWN + 1).min(most).min(drawn),
        };
        let mut pick = || match &mut self.among {
            Among::Oldest => states.pop_front(),
            Among::Newest => states.pop_back(),
            Among::Random { seed, .. } => states.swap_remove_back(draw_below(seed, states.len())),
        };
        let before = out.len();
        for (id, depth) in (0..count).map_while(|_| pick()) {
            out.push(id);
            self.depths.push(depth);
        }
        if states.is_empty() {
            class.remove();
        }
        self.waiting -= out.len() - before;
        true
    }

    /// The rank up to which so many states wait, or all of them.
    fn reach(&self, count: usize) -> Option<u128> {
        let mut waiting = 0;
        for (&rank, class) in &self.classes {
            waiting += class.len();
            if waiting >= count {
                return Some(rank);
            }
        }
        self.classes.last_key_value().map(|(&rank, _)| rank)
    }

    fn depth_at(&self, place: usize) -> u32 {
        self.depths.get(place).copied().unwrap_or(0)
    }

    fn add(&mut self, state: Opening) {
        self.classes.entry(state.rank).or_default().push_back((state.id, state.depth));
        self.waiting += 1;
    }

    fn show(&self, show: &mut dyn FnMut(Option<StateId>, u32)) {
        self.classes.values().flatten().for_each(|&(id, depth)| show(Some(id), depth));
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
        self.depths.clear();
        if self.take(1, out) { Next::Expand } else { Next::Done }
    }

    fn depth(&self, place: usize) -> u32 {
        self.depth_at(place)
    }

    fn each(&self, show: &mut dyn FnMut(Option<StateId>, u32)) {
        self.show(show);
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
    /// It stands at a band of values, wide enough for so many states to wait there.
    wide: usize,
}

impl Sweeping {
    pub fn new(among: Among) -> Sweeping {
        let ranked = || Ranked { among, ..Ranked::default() };
        Sweeping { ahead: ranked(), behind: ranked(), line: 0, fresh: true, returns: false, wide: 1 }
    }

    /// Stands at a band of values, wide enough for so many states to wait there, where shares of the states are searched
    /// together. What lies in the band is neither behind the line nor ahead of it.
    pub fn wide(self, states: usize) -> Sweeping {
        Sweeping { wide: states, ..self }
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
        ahead || self.returns
    }

    fn next(&mut self, most: usize, out: &mut Vec<StateId>) -> Next {
        self.ahead.depths.clear();
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

    fn lowest(&self) -> Lowest {
        let wide = |ranked: &Ranked| self.wide.min(ranked.len() / PART).max(1);
        let reach = |ranked: &Ranked| ranked.lowest().zip(ranked.reach(wide(ranked)));
        Lowest { ahead: reach(&self.ahead), behind: reach(&self.behind) }
    }

    fn next_within(&mut self, end: u128, most: usize, out: &mut Vec<StateId>) {
        self.ahead.depths.clear();
        while out.len() < most && self.ahead.lowest().is_some_and(|lowest| lowest <= end) {
            self.ahead.take(most - out.len(), out);
        }
    }

    fn stand_at(&mut self, line: u128, again: bool) {
        if again {
            std::mem::swap(&mut self.ahead, &mut self.behind);
        }
        self.line = line;
        self.fresh = false;
    }

    fn depth(&self, place: usize) -> u32 {
        self.ahead.depth_at(place)
    }

    fn each(&self, show: &mut dyn FnMut(Option<StateId>, u32)) {
        self.ahead.show(show);
        self.behind.show(show);
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
