//! Infinite runs as people read them: a stem, and a loop that repeats for ever; both as short as can be found soon.

use super::nearby::entries;
use super::product::{INSIDE, Mover, Product, STUTTER, WEAK};
use scrimp_core::{Budget, Trace};
use scrimp_system::{Batch, EventCode, Model, Stop};
use scrimp_temporal::Marks;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// States that are looked at for a shorter run, and what that may take.
const EFFORT: usize = 300_000;
const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes that may be kept of them.
const ROOM: usize = 256 << 20;
/// Bytes that a state takes beside what it is, its edges included.
const BESIDE: usize = 400;
/// Ways to the loop that are tried.
const ENTRIES: usize = 12;
/// Sets of marks up to which all ways of meeting them are tried.
const FEW_SETS: u32 = 3;

/// A run of a product: from an initial state to the loop, and once round it. The stem ends where the loop begins, and so does
/// the loop.
#[derive(Debug, Clone)]
pub(super) struct Rough {
    pub stem: Vec<Vec<u8>>,
    pub cycle: Vec<Vec<u8>>,
    /// The marks that each step of the loop is to meet, where events that lead to the same state may have different ones; empty
    /// where the most that one has will do.
    pub marks: Vec<Marks>,
}

/// A run of the model: its trace, and after how many of its steps the loop begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasso {
    pub trace: Trace,
    pub cycle: usize,
}

pub(super) type Steps = Vec<(EventCode, Vec<u8>)>;

impl Rough {
    /// The run as one of the model, shortened if that is quickly done, within what is left of memory and time.
    pub fn finish(self, product: &Product, budget: &Budget, stop: &Stop) -> Option<Lasso> {
        let patience =
            stop.deadline().map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()).min(PATIENCE));
        let deadline = Instant::now() + patience;
        // A state is kept twice, and has a place in a list and in a table.
        let room = (ROOM.min(budget.left() / 2) / (2 * product.state_bytes() + BESIDE)).min(EFFORT);
        let mut mover = Mover::new(product, None);
        let mut best: Option<(Vec<u8>, Steps, Steps)> = None;
        for (first, stem) in entries(&mut mover, room, deadline - patience / 2, ENTRIES) {
            let entry = stem.last().map_or(&first, |(_, state)| state).clone();
            let Some(cycle) = self.loop_at(&mut mover, &entry, room, deadline) else { continue };
            let length = stem.len() + cycle.len();
            if best.as_ref().is_none_or(|(_, stem, cycle)| length < stem.len() + cycle.len()) {
                best = Some((first, stem, cycle));
            }
        }
        let (first, stem, cycle) = match best {
            Some(best) => best,
            None => {
                let stem = retrace(&mut mover, &self.stem, &[])?;
                let entry = self.stem.last()?;
                (self.stem.first()?.clone(), stem, self.loop_at(&mut mover, entry, room, deadline)?)
            }
        };
        Some(without_automaton(product, first, stem, cycle))
    }

    /// A loop from a state of the cycle back to it, which meets all marks.
    fn loop_at(&self, mover: &mut Mover, entry: &[u8], room: usize, deadline: Instant) -> Option<Steps> {
        let few = mover.product.all_marks().count_ones() <= FEW_SETS;
        if let Some(steps) = few.then(|| shortest_loop(mover, entry, room, deadline)).flatten() {
            return Some(steps);
        }
        let at = self.cycle.iter().position(|state| &state[..] == entry)?;
        let turned: Vec<Vec<u8>> = self.cycle[at..].iter().chain(&self.cycle[..=at]).cloned().collect();
        let mut marks = self.marks.clone();
        if !marks.is_empty() {
            marks.rotate_left((at + 1) % self.cycle.len());
        }
        retrace(mover, &turned, &marks)
    }
}

/// The shortest loop from a state back to it along edges that can be on cycles, which meets all marks.
fn shortest_loop(mover: &mut Mover, entry: &[u8], room: usize, deadline: Instant) -> Option<Steps> {
    let all = mover.product.all_marks();
    // Each state with the marks met, where it was found from, and the event.
    let mut found: Vec<(Vec<u8>, Marks, usize, EventCode)> = vec![(entry.to_vec(), 0, usize::MAX, 0)];
    let mut known: HashMap<Marks, HashSet<Vec<u8>>> = HashMap::new();
    let mut successors = Batch::new(mover.product.state_bytes());
    let mut marks = Vec::new();
    let mut next = 0;
    while next < found.len() && found.len() < room {
        if next % 256 == 0 && Instant::now() > deadline {
            return None;
        }
        successors.clear();
        marks.clear();
        let met = found[next].1;
        mover.expand(&found[next].0, true, &mut successors, &mut marks).ok()?;
        for (i, &given) in marks.iter().enumerate().filter(|(_, given)| **given & INSIDE != 0) {
            let met = met | given & (all | WEAK);
            let state = successors.state(i);
            if state == entry && (met & all == all || met & WEAK != 0) {
                let mut steps = vec![(successors.event(i), state.to_vec())];
                let mut at = next;
                while found[at].2 != usize::MAX {
                    steps.push((found[at].3, found[at].0.clone()));
                    at = found[at].2;
                }
                steps.reverse();
                return Some(steps);
            }
            if known.entry(met).or_default().insert(state.to_vec()) {
                found.push((state.to_vec(), met, next, successors.event(i)));
            }
        }
        next += 1;
    }
    None
}

/// The events between states that follow each other, each with the state that it leads to; with the marks that are wanted, or
/// as many as there are.
fn retrace(mover: &mut Mover, states: &[Vec<u8>], wanted: &[Marks]) -> Option<Steps> {
    let mut steps = Vec::with_capacity(states.len());
    let mut successors = Batch::new(mover.product.state_bytes());
    let mut marks = Vec::new();
    for (number, ends) in states.windows(2).enumerate() {
        successors.clear();
        marks.clear();
        mover.expand(&ends[0], true, &mut successors, &mut marks).ok()?;
        let wanted = wanted.get(number).copied().unwrap_or(0);
        let fits = |i: &usize| successors.state(*i) == &ends[1][..] && marks[*i] & wanted == wanted;
        let best = (0..successors.len()).filter(fits).max_by_key(|i| marks[*i].count_ones())?;
        steps.push((successors.event(best), ends[1].clone()));
    }
    Some(steps)
}

/// The model's part of a run. Where it stands still for ever, the loop is empty.
fn without_automaton(product: &Product, first: Vec<u8>, stem: Steps, cycle: Steps) -> Lasso {
    let moves = |(event, _): &(EventCode, Vec<u8>)| *event != STUTTER;
    let mut steps: Steps = stem.into_iter().filter(moves).collect();
    let begin = steps.len();
    steps.extend(cycle.into_iter().filter(moves));
    for (_, state) in &mut steps {
        state.truncate(product.model.state_bytes());
    }
    let mut initial = first;
    initial.truncate(product.model.state_bytes());
    Lasso { trace: Trace { initial, steps }, cycle: begin }
}
