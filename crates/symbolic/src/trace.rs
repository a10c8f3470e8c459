//! A shortest run to a state, backwards through the rings; every step of it is one that the model itself makes.

use crate::diagram::{Halt, Set};
use crate::engine::Engine;
use crate::reach::Reached;
use scrimp_core::Trace;
use scrimp_system::{Batch, EventCode, Model};

/// Why there is no run.
pub enum Lost {
    Halt(Halt),
    /// The model does not make a step that the diagrams show.
    Mismatch,
}

impl From<Halt> for Lost {
    fn from(halt: Halt) -> Lost {
        Lost::Halt(halt)
    }
}

/// A run to this state of the ring with this number.
pub fn trace(
    engine: &mut Engine,
    model: &dyn Model,
    reached: &Reached,
    ring: usize,
    state: &[u8],
) -> Result<Trace, Lost> {
    let mut steps: Vec<(EventCode, Vec<u8>)> = Vec::new();
    let mut at = engine.space.vector_of(state).ok_or(Lost::Mismatch)?;
    let mut successors = Batch::new(model.state_bytes());
    for ring in (0..ring).rev() {
        let here = reached.rings[ring];
        let target = engine.single(&at)?;
        let before = engine.scope(|engine| {
            engine.held.extend([target, here]);
            engine.held.extend(reached.sets());
            predecessors(engine, target, here, reached.between())
        })?;
        let Some(previous) = engine.diagrams.first(before) else { return Err(Lost::Mismatch) };
        let state = engine.space.state(&at);
        successors.clear();
        model.expand(&engine.space.state(&previous), &mut successors);
        let Some(found) = (0..successors.len()).find(|i| successors.state(*i) == state) else {
            return Err(Lost::Mismatch);
        };
        steps.push((successors.event(found), state));
        at = previous;
    }
    steps.reverse();
    let initial = engine.space.state(&at);
    let mut starts = Batch::new(model.state_bytes());
    model.initial(&mut starts);
    match (0..starts.len()).any(|i| starts.state(i) == initial) {
        true => Ok(Trace { initial, steps }),
        false => Err(Lost::Mismatch),
    }
}

/// Those of these states from which one step leads to the target.
fn predecessors(engine: &mut Engine, target: Set, within: Set, between: Set) -> Result<Set, Halt> {
    let system = engine.system;
    let relations = engine.relations(|event| !system.events[event].late);
    let mut found = engine.preimages(target, &relations, within)?;
    engine.held.push(found);
    if engine.has_holders() {
        let first = engine.preimages(target, &relations, between)?;
        engine.held.push(first);
        let released = engine.releasing(target, between)?;
        let last = engine.union(first, released)?;
        engine.held.push(last);
        let before = crate::answers::origins(engine, last, within, between)?;
        found = engine.union(found, before)?;
        engine.held.push(found);
    }
    if system.events.iter().any(|event| event.late) {
        let late = engine.relations(|event| system.events[event].late);
        // Behind a late event there may be a process that goes on alone as well.
        let idle = engine.idle(within, true, |event| !system.events[event].late)?;
        engine.held.push(idle);
        let before = engine.preimages(target, &late, idle)?;
        found = engine.union(found, before)?;
    }
    Ok(found)
}
