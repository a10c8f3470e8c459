//! Edges backwards where they are more than one step, or late.
//!
//! An edge is a first event, in a state of the model, and what the process that it leaves in charge does by itself, until
//! everybody may move or an atomic sequence blocks. So the last step to a state is one after which everybody may move, or
//! one that leaves a process in charge that cannot move there. The step before it left the process in charge that made it,
//! and so on. A state from which a step leads here may be where the edge began, or lie between: it is taken for both, as
//! far as where the processes are allows that.
//!
//! Each step backwards is exact, as the inverse of a system is, who is in charge follows from the events, and
//! whether an atomic sequence blocks, or a late event had to wait, is found out by running the system forwards. So all that
//! is found are edges, and every edge from a state that can be reached is found. What lies between may be taken for a state
//! of the model that it never is. That is the harmless error: it is a predecessor that is waited for in vain.

use crate::engine::Engine;
use crate::program::Program;
use scrimp_system::{Batch, Event, Inverse, Layout, Process, ProcessId, Then, Unsuited, VarId};
use std::collections::HashSet;

/// States between that are looked at for one state.
const MOST_BETWEEN: usize = 1_024;

pub struct Retrace {
    /// For each inverse event, the step that it undoes.
    steps: Vec<Step>,
    processes: Vec<Places>,
    /// The processes with places where they only are while they go on by themselves.
    passing: Vec<ProcessId>,
    layout: Layout,
}

#[derive(Clone, Copy)]
struct Step {
    /// Who makes its first move.
    mover: Option<ProcessId>,
    then: Then,
    late: bool,
}

/// Where a process is while it goes on by itself.
struct Places {
    control: VarId,
    /// It may be at these.
    some: Vec<bool>,
    /// It is at these only then.
    only: Vec<bool>,
}

impl Retrace {
    /// `None` where every edge is a single event, and none is late.
    pub fn new(program: &Program, inverse: &Inverse) -> Option<Retrace> {
        if program.held.is_none() && program.late.is_none() {
            return None;
        }
        let events = program.rules.events(&program.system);
        let step =
            |event: &Event| Step { mover: event.moves.first().map(|m| m.process), then: event.then, late: event.late };
        let held = |number: usize| program.held.as_ref().map(|held| &held.by_location[number][..]).unwrap_or_default();
        let places = |(number, process): (usize, &Process)| Places {
            control: process.control,
            some: held(number).iter().map(|events| !events.is_empty()).collect(),
            only: inverse.passing.get(number).cloned().unwrap_or_default(),
        };
        let passes =
            |process: &ProcessId| inverse.passing.get(process.index()).is_some_and(|only| only.contains(&true));
        Some(Retrace {
            steps: inverse.origin.iter().map(|event| step(&events[event.index()])).collect(),
            processes: program.system.processes.iter().enumerate().map(places).collect(),
            passing: (0..program.system.processes.len() as u32).map(ProcessId).filter(passes).collect(),
            layout: program.layout.clone(),
        })
    }

    /// Appends the states from which an edge leads to `state`, some perhaps twice, each with the inverse of a first event.
    /// `undo` appends the states from which a single event leads to one.
    pub fn run(
        &self,
        forwards: &Engine,
        undo: impl Fn(&[u8], &mut Batch),
        state: &[u8],
        out: &mut Batch,
    ) -> Result<(), Unsuited> {
        let (mut before, mut tried) = (Batch::new(state.len()), Batch::new(state.len()));
        // What lies between, with who goes on there.
        let mut between = Batch::new(state.len());
        let mut known: HashSet<(Vec<u8>, ProcessId)> = HashSet::new();
        let (mut here, mut holder, mut next) = (state.to_vec(), None, 0);
        loop {
            before.clear();
            undo(&here, &mut before);
            for i in 0..before.len() {
                let (source, Step { mover, then, late }) = (before.state(i), self.steps[before.event(i) as usize]);
                let leads_here = match (holder, then) {
                    (None, Then::Atomic(process)) => {
                        comes_to_nothing(&mut tried, |tried| forwards.expand_held(process, state, tried))
                    }
                    (None, then) => then == Then::Free,
                    (holder, then) => then.exclusive() == holder,
                };
                let busy = |process: ProcessId| self.is_at(process, source, |places| &places.only);
                if !leads_here || self.passing.iter().any(|process| Some(*process) != mover && busy(*process)) {
                    continue;
                }
                let mut waited = || comes_to_nothing(&mut tried, |tried| forwards.expand(source, tried));
                if !mover.is_some_and(busy) && (!late || waited()) {
                    out.push(source, before.event(i));
                }
                if let Some(mover) = mover.filter(|mover| !late && self.is_at(*mover, source, |places| &places.some))
                    && known.insert((source.to_vec(), mover))
                {
                    between.push(source, mover.0);
                }
            }
            if between.len() > MOST_BETWEEN {
                return Err(Unsuited::whole("there are too many ways back from a state"));
            }
            if next == between.len() {
                return Ok(());
            }
            here.copy_from_slice(between.state(next));
            holder = Some(ProcessId(between.event(next)));
            next += 1;
        }
    }

    fn is_at(&self, process: ProcessId, state: &[u8], wanted: impl Fn(&Places) -> &[bool]) -> bool {
        let places = &self.processes[process.index()];
        let place = self.layout.read(state, places.control, 0).ok().and_then(|place| usize::try_from(place).ok());
        place.is_some_and(|place| wanted(places).get(place) == Some(&true))
    }
}

/// Does what is tried lead to no state and no fault?
fn comes_to_nothing(tried: &mut Batch, expand: impl FnOnce(&mut Batch)) -> bool {
    tried.clear();
    expand(tried);
    tried.is_empty() && tried.faults().is_empty()
}
