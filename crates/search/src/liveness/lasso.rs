//! Infinite runs as people read them: a stem, and a loop that repeats for ever; both as short as can be found soon.

use super::nearby::{Nearby, Scope};
use super::product::{INSIDE, Mover, Product, STUTTER, WEAK};
use scrimp_core::{Budget, Trace};
use scrimp_system::{Batch, EventCode, Model, Stop};
use scrimp_temporal::Marks;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// States that are looked at for a shorter run, and what that may take.
const EFFORT: usize = 300_000;
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes that may be kept of them.
const ROOM: usize = 256 << 20;
/// Bytes that a state takes beside what it is, its edges included.
const BESIDE: usize = 400;
/// Ways to the loop that are tried.
const ENTRIES: usize = 12;
/// Sets of marks up to which all ways of meeting them are tried.
const FEW_SETS: u32 = 3;
/// States that are looked at each time that some events are left out.
const ATTEMPT: usize = 40_000;

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

/// The same of a product, with its events: where it begins, the way to the loop, and once round.
pub(super) struct Run {
    pub first: Vec<u8>,
    pub stem: Steps,
    pub cycle: Steps,
}

impl Run {
    fn len(&self) -> usize {
        self.stem.len() + self.cycle.len()
    }

    /// The events that it takes, in order.
    fn events(&self) -> Vec<EventCode> {
        let mut events: Vec<EventCode> = self.stem.iter().chain(&self.cycle).map(|(event, _)| *event).collect();
        events.sort_unstable();
        events.dedup();
        events
    }
}

impl Rough {
    /// The run as one of the model, shortened if that is quickly done, within what is left of memory and time.
    pub fn finish(self, product: &Product, budget: &Budget, stop: &Stop) -> Option<Lasso> {
        let patience =
            stop.deadline().map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()).min(PATIENCE));
        let deadline = Instant::now() + patience;
        // A state is kept twice, and has a place in a list and in a table.
        let room = (ROOM.min(budget.left() / 2) / (2 * product.state_bytes() + BESIDE)).min(EFFORT);
        let mut mover = Mover::new(product, None);
        let rough = self.run(&mut mover, room, deadline - patience * 5 / 6);
        let rough = rough.map(|run| shortened(run, &mut mover, room, deadline - patience / 2));
        let depth = rough.as_ref().map_or(usize::MAX, |run| run.len().saturating_sub(1));
        let scope = Scope { room, depth, deadline: deadline - patience / 6, end: deadline, events: None };
        let near = Nearby::new(&mut mover, &scope).shortest_run(ENTRIES, deadline);
        let run = near.into_iter().chain(rough).min_by_key(Run::len)?;
        Some(without_automaton(product, run))
    }

    /// The run with its events, its loop shortened.
    fn run(&self, mover: &mut Mover, room: usize, deadline: Instant) -> Option<Run> {
        let stem = retrace(mover, &self.stem, &[])?;
        let cycle = self.loop_at(mover, self.stem.last()?, room, deadline)?;
        Some(Run { first: self.stem.first()?.clone(), stem, cycle })
    }

    /// A loop from a state of the cycle back to it, which meets all marks.
    fn loop_at(&self, mover: &mut Mover, entry: &[u8], room: usize, deadline: Instant) -> Option<Steps> {
        let acceptance = mover.product.acceptance();
        let few = acceptance.kept().count_ones() <= FEW_SETS;
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

/// A run that takes fewer of the events, if there is one that is shorter. Where many processes go round, breadth-first search does
/// not come far, but most often few of them suffice: halves of the events are left out, then quarters, and so on (after Zeller's
/// delta debugging), and with what is left all is searched that can be reached soon. Events of a process stand together.
fn shortened(mut best: Run, mover: &mut Mover, room: usize, deadline: Instant) -> Run {
    let mut events = best.events();
    let mut pieces = 1;
    while pieces <= events.len() && Instant::now() < deadline {
        let size = events.len().div_ceil(pieces);
        let attempt = events.chunks(size).find_map(|left_out| {
            // All of them, first: what the run never does is not needed.
            let kept = events.iter().filter(|event| pieces == 1 || left_out.binary_search(event).is_err());
            let kept: HashSet<EventCode> = kept.copied().collect();
            if Instant::now() > deadline {
                return None;
            }
            let scope = Scope {
                room: room.min(ATTEMPT),
                depth: best.len().saturating_sub(1),
                deadline,
                end: deadline,
                events: Some(&kept),
            };
            let run = Nearby::new(mover, &scope).shortest_run(ENTRIES, deadline)?;
            (run.len() < best.len()).then_some(run)
        });
        match attempt {
            Some(run) => {
                events = run.events();
                best = run;
                pieces = 2;
            }
            None => pieces *= 2,
        }
    }
    best
}

/// The shortest loop from a state back to it along edges that can be on cycles, which meets all marks.
fn shortest_loop(mover: &mut Mover, entry: &[u8], room: usize, deadline: Instant) -> Option<Steps> {
    let acceptance = mover.product.acceptance();
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
            let met = met | given & (acceptance.kept() | WEAK);
            let state = successors.state(i);
            if state == entry && (acceptance.accepts(met) || met & WEAK != 0) {
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
fn without_automaton(product: &Product, run: Run) -> Lasso {
    let Run { first, stem, cycle } = run;
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
