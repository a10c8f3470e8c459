//! Infinite runs as people read them: a stem, and a loop that repeats for ever; both as short as can be found soon.

use super::product::{INSIDE, Mover, Product, STUTTER, WEAK};
use crate::trace::Trace;
use scrimp_system::{Batch, EventCode, Model};
use scrimp_temporal::Marks;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// States that are looked at for a shorter run, and what that may take.
const EFFORT: usize = 300_000;
const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes that may be kept of them.
const ROOM: usize = 256 << 20;
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
    /// Other states that are on cycles that accept.
    pub others: Vec<Vec<u8>>,
}

/// A run of the model: its trace, and after how many of its steps the loop begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasso {
    pub trace: Trace,
    pub cycle: usize,
}

type Steps = Vec<(EventCode, Vec<u8>)>;

impl Rough {
    /// The run as one of the model, shortened if that is quickly done.
    pub fn finish(self, product: &Product) -> Option<Lasso> {
        let deadline = Instant::now() + PATIENCE;
        let room = (ROOM / product.state_bytes().max(1)).min(EFFORT);
        let mut mover = Mover::new(product, None);
        let on_cycle: HashSet<&[u8]> = self.cycle.iter().chain(&self.others).take(room).map(Vec::as_slice).collect();
        let mut initial = Batch::new(product.state_bytes());
        product.initial(&mut initial);
        let starts: Vec<Vec<u8>> = (0..initial.len()).map(|i| initial.state(i).to_vec()).collect();
        let mut search = Search { mover: &mut mover, inside: false, all: 0, room, deadline };
        let nearest = search.shortest(&starts, &|state, _| on_cycle.contains(state), false, ENTRIES);
        let mut best: Option<(Vec<u8>, Steps, Steps)> = None;
        for (first, stem) in nearest {
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
                let stem = retrace(&mut mover, &self.stem, &mut 0)?;
                let entry = self.stem.last()?;
                (self.stem.first()?.clone(), stem, self.loop_at(&mut mover, entry, room, deadline)?)
            }
        };
        Some(without_automaton(product, first, stem, cycle))
    }

    /// A loop from a state of the cycle back to it, which meets all marks.
    fn loop_at(&self, mover: &mut Mover, entry: &Vec<u8>, room: usize, deadline: Instant) -> Option<Steps> {
        let product = mover.product;
        let all = product.all_marks();
        if all.count_ones() <= FEW_SETS {
            let starts = std::slice::from_ref(entry);
            let mut search = Search { mover, inside: true, all, room, deadline };
            let back = |state: &[u8], marks: Marks| state == &entry[..] && (marks & all == all || marks & WEAK != 0);
            if let Some((_, steps)) = search.shortest(starts, &back, true, 1).pop() {
                return Some(steps);
            }
        }
        let at = self.cycle.iter().position(|state| state == entry)?;
        let turned: Vec<Vec<u8>> = self.cycle[at..].iter().chain(&self.cycle[..=at]).cloned().collect();
        rounds(mover, &turned)
    }
}

/// A breadth-first search among the states of a product.
struct Search<'m, 'p, 'a> {
    mover: &'m mut Mover<'p, 'a>,
    /// Only along edges that can be on a cycle.
    inside: bool,
    /// The marks to collect on the way.
    all: Marks,
    room: usize,
    deadline: Instant,
}

impl Search<'_, '_, '_> {
    /// The shortest ways from one of the states to where `wanted` says so of a state and the marks met, with where they begin:
    /// `most` of them, nearest first. `moving`: they must have a step.
    fn shortest(
        &mut self,
        starts: &[Vec<u8>],
        wanted: &dyn Fn(&[u8], Marks) -> bool,
        moving: bool,
        most: usize,
    ) -> Vec<(Vec<u8>, Steps)> {
        // Each state with the marks met, where it was found from, and the event.
        let mut found: Vec<(Vec<u8>, Marks, usize, EventCode)> = Vec::new();
        let mut known: HashMap<Marks, HashSet<Vec<u8>>> = HashMap::new();
        let mut ways = Vec::new();
        for start in starts {
            if known.entry(0).or_default().insert(start.clone()) {
                found.push((start.clone(), 0, usize::MAX, 0));
                if !moving && wanted(start, 0) {
                    ways.push((start.clone(), Vec::new()));
                }
            }
        }
        let mut successors = Batch::new(self.mover.product.state_bytes());
        let mut marks = Vec::new();
        let mut next = 0;
        while ways.len() < most && next < found.len() && found.len() < self.room {
            if next % 256 == 0 && Instant::now() > self.deadline {
                break;
            }
            successors.clear();
            marks.clear();
            let met = found[next].1;
            if self.mover.expand(&found[next].0, true, &mut successors, &mut marks).is_err() {
                break;
            }
            for (i, &given) in marks.iter().enumerate() {
                if self.inside && given & INSIDE == 0 {
                    continue;
                }
                let met = met | given & (self.all | if self.inside { WEAK } else { 0 });
                let hit = wanted(successors.state(i), met);
                // What is moved back to may be known from the beginning.
                let new = known.entry(met).or_default().insert(successors.state(i).to_vec());
                if hit && (new || moving) && ways.len() < most {
                    let mut steps = vec![(successors.event(i), successors.state(i).to_vec())];
                    let mut at = next;
                    while found[at].2 != usize::MAX {
                        steps.push((found[at].3, found[at].0.clone()));
                        at = found[at].2;
                    }
                    steps.reverse();
                    ways.push((found[at].0.clone(), steps));
                }
                if new {
                    found.push((successors.state(i).to_vec(), met, next, successors.event(i)));
                }
            }
            next += 1;
        }
        ways
    }
}

/// The events between states that follow each other, each with the state that it leads to. Of several that lead there, the one
/// that meets most of the marks that are missing.
fn retrace(mover: &mut Mover, states: &[Vec<u8>], missing: &mut Marks) -> Option<Steps> {
    let mut steps = Vec::with_capacity(states.len());
    let mut successors = Batch::new(mover.product.state_bytes());
    let mut marks = Vec::new();
    for ends in states.windows(2) {
        successors.clear();
        marks.clear();
        mover.expand(&ends[0], true, &mut successors, &mut marks).ok()?;
        let fits = (0..successors.len()).filter(|i| successors.state(*i) == &ends[1][..]);
        let best = fits.max_by_key(|i| (marks[*i] & *missing).count_ones())?;
        *missing &= !marks[best];
        steps.push((successors.event(best), ends[1].clone()));
    }
    Some(steps)
}

/// The events of a loop through these states. Where several processes have events between the same two, it takes as many
/// rounds as it takes until each of them has moved.
fn rounds(mover: &mut Mover, states: &[Vec<u8>]) -> Option<Steps> {
    let mut missing = mover.product.all_marks();
    let mut steps = retrace(mover, states, &mut missing)?;
    while missing != 0 {
        let before = missing;
        let round = retrace(mover, states, &mut missing)?;
        if missing == before {
            break;
        }
        steps.extend(round);
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
