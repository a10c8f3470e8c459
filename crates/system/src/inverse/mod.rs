//! A system run backwards: its events lead from a state to what can have come before it.
//!
//! The inverse is a system like any other, over the same variables, so whatever runs systems fast runs it as fast. An
//! event becomes one inverse event for each way in which the cells that it overwrites can have been filled. What they
//! held is found out in this order: the guard or an invariant fixes it; an assignment can be solved for it (`x + 1`
//! was stored, or the value moved elsewhere); or it is one of the values that invariants leave, and each gets an inverse
//! event of its own. The guard of an inverse event says that the event forwards is enabled in the state before and leads
//! to exactly the state after, so nothing that is not a predecessor gets through. A fault is a "no".
//!
//! Events that only compare variables with constants and add constants, as those of nets do, are undone by the likes of
//! them.
//!
//! Every reachable predecessor is found. Unreachable ones may be, as far as the invariants do not rule them out.
//!
//! All this is about single events. That some are tried late, and that a process may go on by itself after one, is left to
//! who runs the inverse; the invariants hold of what such a process passes through as well.

mod ask;
mod counters;
mod passing;
mod solve;
mod symbolic;
mod undo;

use crate::event::Event;
use crate::invariants::Invariants;
use crate::model::Unsuited;
use crate::system::{EventId, System};
use crate::values::Values;
use undo::Undo;

/// Inverse events that one event may have.
const FAN_OUT: usize = 1_024;

/// Inverse events that a system may have.
const EVENTS: usize = 100_000;

/// A system's inverse.
#[derive(Debug, Clone)]
pub struct Inverse {
    pub system: System,
    /// For each of its events, the event forwards.
    pub origin: Vec<EventId>,
    /// For each process, the places that it only passes through while it goes on by itself; empty if there are none.
    pub passing: Vec<Vec<bool>>,
}

/// Makes the inverse of a system, unless there is none of a bearable size.
pub fn inverse(system: &System) -> Result<Inverse, Unsuited> {
    if system.claim.is_some() {
        return Err(Unsuited::whole("it has a property process, which moves with every event"));
    }
    let unsuited =
        |event: &Event, reason: String| Unsuited { event: event.label.clone(), line: event.span.line, reason };
    if let Some(inverse) = counters::inverse(system) {
        return inverse;
    }
    let invariants = Invariants::new(system);
    let widest: Vec<Values> = (0..invariants.cells.count() as u32)
        .map(|cell| Values::of(system.variables[invariants.cells.variable(cell).index()].domain))
        .collect();
    let (mut events, mut origin) = (Vec::new(), Vec::new());
    let mut work = 5_000_000;
    for (number, event) in system.events.iter().enumerate().filter(|(_, event)| event.fault.is_none()) {
        let before = Undo::new(system, &invariants, &widest, event, &mut work).run();
        let before = before.map_err(|reason| unsuited(event, reason))?;
        origin.extend(std::iter::repeat_n(EventId(number as u32), before.len()));
        events.extend(before);
        if events.len() > EVENTS {
            let reason = format!("more than {EVENTS} ways back from the events up to this one");
            return Err(unsuited(event, reason));
        }
    }
    let passing = passing::passing(system, &invariants);
    Ok(Inverse { system: System { events, assertions: Vec::new(), ..system.clone() }, origin, passing })
}
