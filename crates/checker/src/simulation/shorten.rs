//! Shorter runs to what a walk has found.
//!
//! Loops are cut out already when the walk is made again. Then a breadth-first search looks for a shortest run, as far as a
//! bounded number of states goes. Where that does not come far enough, events are left out as long as the rest can still
//! happen (delta debugging, after Zeller and Hildebrandt, 2002), and bounded searches around the run look for shortcuts.
//! All bounds count work and not time, so that the result is the same every time.

use super::sought::{Decided, decides};
use scrimp_core::{Condition, Property, Trace};
use scrimp_native::NativeModel;
use scrimp_system::{Batch, EventCode, Model, Stop};
use std::collections::{HashMap, HashSet};

/// States of the breadth-first search, and the bytes that they may take.
const MOST_STATES: usize = 50_000;
const MOST_BYTES: usize = 64 << 20;
/// States that are expanded in search of a shorter run, in all.
const WORK: usize = 300_000;
/// States around each state of the run that are looked at for shortcuts.
const AROUND: usize = 200;
/// How often leaving out and shortcuts take turns.
const ROUNDS: usize = 4;

/// Events, each with the state that it leads to.
type Steps = Vec<(EventCode, Vec<u8>)>;

/// A run to a state that decides a property.
pub(super) struct Shortened {
    pub trace: Trace,
    /// There is no shorter one.
    pub shortest: bool,
    pub decided: Decided,
}

/// Makes a run to a state that decides a property shorter. `None` where its last state does not decide the property.
pub(super) fn shorten(
    model: &NativeModel,
    property: &Property<Condition>,
    trace: Trace,
    stop: &Stop,
) -> Option<Shortened> {
    let mut search = Shortener { model, property, batch: Batch::new(model.state_bytes()), left: WORK, stop };
    let last = trace.last().to_vec();
    let decided = match search.expand(&last) {
        Some(deadlock) => search.decides(&last, deadlock),
        None => None,
    };
    decided?;
    let (mut trace, shortest) = match search.shortest(trace.steps.len()) {
        Shortest::Found(shorter) => (shorter, true),
        Shortest::NoneShorter => (trace, true),
        Shortest::TooFar => (trace, false),
    };
    for _ in 0..if shortest { 0 } else { ROUNDS } {
        let before = trace.steps.len();
        trace = search.leave_out(trace);
        trace = search.take_shortcuts(trace);
        if trace.steps.len() == before || search.left == 0 {
            break;
        }
    }
    let last = trace.last().to_vec();
    // What was found before the work was used up is what is told.
    search.left = 1;
    let deadlock = search.expand_always(&last);
    Some(Shortened { decided: search.decides(&last, deadlock)?, trace, shortest })
}

/// A run without the parts that lead back to where it was.
pub(super) fn without_loops(trace: Trace) -> Trace {
    let mut last: HashMap<&[u8], usize> = HashMap::from([(&trace.initial[..], 0)]);
    last.extend(trace.steps.iter().enumerate().map(|(i, (_, state))| (&state[..], i + 1)));
    let mut kept = Vec::new();
    let mut at = last[&trace.initial[..]];
    while let Some((_, state)) = trace.steps.get(at) {
        kept.push(at);
        at = last[&state[..]];
    }
    drop(last);
    let Trace { initial, mut steps } = trace;
    let steps = kept.into_iter().map(|i| std::mem::take(&mut steps[i])).collect();
    Trace { initial, steps }
}

enum Shortest {
    Found(Trace),
    NoneShorter,
    /// It takes more states to find out.
    TooFar,
}

struct Shortener<'a> {
    model: &'a NativeModel,
    property: &'a Property<Condition<'a>>,
    /// The successors of the state that was expanded last.
    batch: Batch,
    /// States that may still be expanded.
    left: usize,
    stop: &'a Stop,
}

/// States found from a state on, each with the number of the one before it and the event that led to it.
struct Tree {
    states: Vec<(usize, EventCode, Vec<u8>)>,
    known: HashSet<Vec<u8>>,
}

impl Tree {
    fn new() -> Tree {
        Tree { states: Vec::new(), known: HashSet::new() }
    }

    fn add(&mut self, from: usize, event: EventCode, state: &[u8]) {
        if self.known.insert(state.to_vec()) {
            self.states.push((from, event, state.to_vec()));
        }
    }

    /// The steps that lead to a state from the root of its tree, which is its own predecessor; and the root.
    fn way(&self, mut at: usize) -> (usize, Steps) {
        let mut way = Vec::new();
        while self.states[at].0 != at {
            let (from, event, state) = &self.states[at];
            way.push((*event, state.clone()));
            at = *from;
        }
        way.reverse();
        (at, way)
    }
}

impl Shortener<'_> {
    fn expand_always(&mut self, state: &[u8]) -> bool {
        self.batch.clear();
        self.model.expand(state, &mut self.batch);
        self.batch.take_deadlock(self.batch.len())
    }

    /// Expands a state and says whether it is a deadlock, as long as work is left.
    fn expand(&mut self, state: &[u8]) -> Option<bool> {
        if self.left == 0 || (self.left.is_multiple_of(256) && self.stop.due().is_some()) || self.model.is_outgrown() {
            self.left = 0;
            return None;
        }
        self.left -= 1;
        Some(self.expand_always(state))
    }

    fn decides(&self, state: &[u8], deadlock: bool) -> Option<Decided> {
        decides(self.property, state, deadlock, self.batch.faults())
    }

    /// A shortest run that is shorter than so many events.
    fn shortest(&mut self, length: usize) -> Shortest {
        let most = MOST_STATES.min(MOST_BYTES / (2 * self.model.state_bytes() + 64));
        let mut tree = Tree::new();
        self.batch.clear();
        self.model.initial(&mut self.batch);
        for i in 0..self.batch.len() {
            tree.add(tree.states.len(), 0, self.batch.state(i));
        }
        // The first number of the level after that of the states that are expanded.
        let (mut next, mut depth, mut end) = (0, 0, tree.states.len());
        while next < tree.states.len() {
            if next == end {
                (depth, end) = (depth + 1, tree.states.len());
            }
            if depth >= length {
                return Shortest::NoneShorter;
            }
            let state = tree.states[next].2.clone();
            let Some(deadlock) = self.expand(&state) else { return Shortest::TooFar };
            if self.decides(&state, deadlock).is_some() {
                let (root, steps) = tree.way(next);
                return Shortest::Found(Trace { initial: tree.states[root].2.clone(), steps });
            }
            if tree.states.len() > most {
                return Shortest::TooFar;
            }
            for i in 0..self.batch.len() {
                tree.add(next, self.batch.event(i), self.batch.state(i));
            }
            next += 1;
        }
        Shortest::NoneShorter
    }

    /// Leaves out events, many at once first, as long as the rest still leads to a state that decides the property.
    fn leave_out(&mut self, mut trace: Trace) -> Trace {
        let mut many = trace.steps.len() / 2;
        while many > 0 && self.left > 0 {
            let mut at = 0;
            while at < trace.steps.len() && self.left > 0 {
                match self.without(&trace, at, (at + many).min(trace.steps.len())) {
                    Some(rest) => {
                        trace.steps.truncate(at);
                        trace.steps.extend(rest);
                        trace = without_loops(trace);
                    }
                    None => at += many,
                }
            }
            many /= 2;
        }
        trace
    }

    /// What is left of a run from `at` on without the events from there to `end`.
    fn without(&mut self, trace: &Trace, at: usize, end: usize) -> Option<Steps> {
        let mut state = at.checked_sub(1).map_or(&trace.initial, |before| &trace.steps[before].1).clone();
        let mut rest = Vec::new();
        let mut events = trace.steps[end..].iter().map(|(event, _)| *event);
        loop {
            let deadlock = self.expand(&state)?;
            if self.decides(&state, deadlock).is_some() {
                return Some(rest);
            }
            let event = events.next()?;
            let choice = self.batch.events().iter().position(|other| *other == event)?;
            state = self.batch.state(choice).to_vec();
            rest.push((event, state.clone()));
        }
    }

    /// Replaces parts of a run by shorter ways between their ends.
    fn take_shortcuts(&mut self, trace: Trace) -> Trace {
        let mut place: HashMap<Vec<u8>, usize> = HashMap::from([(trace.initial.clone(), 0)]);
        place.extend(trace.steps.iter().enumerate().map(|(i, (_, state))| (state.clone(), i + 1)));
        let mut steps: Steps = Vec::new();
        let mut at = 0;
        while at < trace.steps.len() {
            let from = at.checked_sub(1).map_or(&trace.initial, |before| &trace.steps[before].1);
            match self.shortcut(from, at, &place) {
                Some((to, way)) => {
                    steps.extend(way);
                    at = to;
                }
                None => {
                    steps.push(trace.steps[at].clone());
                    at += 1;
                }
            }
        }
        Trace { initial: trace.initial, steps }
    }

    /// The shortcut from a place of a run that saves most of it: where it leads, and how.
    fn shortcut(&mut self, from: &[u8], at: usize, place: &HashMap<Vec<u8>, usize>) -> Option<(usize, Steps)> {
        let mut tree = Tree::new();
        tree.add(0, 0, from);
        let mut depths = vec![0];
        // How much is saved, where that leads, and the number of the state in the tree.
        let mut best: Option<(usize, usize, usize)> = None;
        let mut next = 0;
        while next < tree.states.len().min(AROUND) {
            let state = tree.states[next].2.clone();
            if self.expand(&state).is_none() {
                break;
            }
            for i in 0..self.batch.len() {
                let found = tree.states.len();
                tree.add(next, self.batch.event(i), self.batch.state(i));
                if tree.states.len() == found {
                    continue;
                }
                let depth = depths[next] + 1;
                depths.push(depth);
                let Some(&to) = place.get(self.batch.state(i)) else { continue };
                let saved = to.saturating_sub(at + depth);
                if saved > best.map_or(0, |(most, ..)| most) {
                    best = Some((saved, to, found));
                }
            }
            next += 1;
        }
        best.map(|(_, to, number)| (to, tree.way(number).1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_cut_out() {
        let trace = |states: &[u8]| Trace {
            initial: vec![states[0]],
            steps: states[1..].iter().map(|state| (u32::from(*state), vec![*state])).collect(),
        };
        assert_eq!(without_loops(trace(&[1, 2, 3, 2, 4, 1, 5])), trace(&[1, 5]));
        assert_eq!(without_loops(trace(&[1, 2, 3, 2, 4])), trace(&[1, 2, 4]));
        assert_eq!(without_loops(trace(&[1, 1, 1])), trace(&[1]));
        assert_eq!(without_loops(trace(&[7])), trace(&[7]));
    }
}
