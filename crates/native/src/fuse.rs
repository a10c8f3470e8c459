//! Steps that always follow one another, run as one.
//!
//! A process that goes on by itself often has only one thing to do next, and can always do it: assignments in a row. What
//! lies between is no state, so such steps run together, as one event with all their effects. Only running knows of this:
//! events keep their numbers, and traces show the single steps.

use scrimp_system::{Assign, Event, Moment, Overflow, ProcessId, System, Then};
use std::sync::Arc;

/// Steps that become one at most.
const LONGEST: usize = 256;

pub struct Fused {
    /// As many as the system has events: each with what always follows it.
    pub events: Arc<[Event]>,
    /// The numbers of the events that follow each.
    pub followers: Vec<Vec<u32>>,
}

/// The system's events, each with those that follow it as a matter of course; `None` if there are no such events.
pub fn fuse(system: &System) -> Option<Fused> {
    system.events.iter().any(|event| event.then.exclusive().is_some()).then_some(())?;
    let mut by_location: Vec<Vec<Vec<u32>>> =
        system.processes.iter().map(|p| vec![vec![]; p.locations.len()]).collect();
    for (number, event) in system.events.iter().enumerate().filter(|(_, event)| !event.late) {
        if let Some(m) = event.moves.first() {
            by_location[m.process.index()][m.from as usize].push(number as u32);
        }
    }
    let mut events = Vec::with_capacity(system.events.len());
    let mut followers = Vec::with_capacity(system.events.len());
    for (number, event) in system.events.iter().enumerate() {
        let mut whole = event.clone();
        let mut after: Vec<u32> = Vec::new();
        while let Some(process) = waits_for(system, &whole) {
            let Some(place) = whole.moves.iter().rposition(|m| m.process == process) else { break };
            let [only] = by_location[process.index()][whole.moves[place].to as usize][..] else { break };
            let next = &system.events[only as usize];
            let again = only as usize == number || after.contains(&only);
            if again || after.len() + 1 >= LONGEST || !is_certain(system, next) {
                break;
            }
            whole.moves[place].to = next.moves[0].to;
            whole.effects.extend(next.effects.iter().map(|a| Assign { moment: Moment::Current, ..a.clone() }));
            whole.then = next.then;
            after.push(only);
        }
        events.push(whole);
        followers.push(after);
    }
    Some(Fused { events: events.into(), followers })
}

/// The process that goes on by itself after an event.
fn waits_for(system: &System, event: &Event) -> Option<ProcessId> {
    let touches_control = |process: ProcessId| {
        let control = system.processes[process.index()].control;
        event.effects.iter().any(|a| a.target == control)
    };
    let process = match event.then {
        Then::Atomic(process) | Then::DStep(process) => process,
        Then::Free => return None,
    };
    (event.fault.is_none() && !touches_control(process)).then_some(process)
}

/// Does this event always happen where control is, and without any fault?
fn is_certain(system: &System, event: &Event) -> bool {
    let harmless = |a: &Assign| {
        let variable = &system.variables[a.target.index()];
        let inside = match &a.index {
            None => true,
            Some(index) => index.as_const().is_some_and(|i| (0..variable.cells() as i64).contains(&i)),
        };
        let fits = variable.domain.overflow == Overflow::Wrap
            || a.value.as_const().is_some_and(|value| variable.domain.contains(value));
        // What is read in the state that the event leaves would be read too early.
        let in_order = a.moment == Moment::Current || event.effects.len() == 1 || a.value.as_const().is_some();
        inside && fits && in_order && !a.value.may_fault(&system.variables)
    };
    event.moves.len() == 1
        && event.guard.as_const().is_some_and(|guard| guard != 0)
        && event.assertion.is_none()
        && event.fault.is_none()
        && event.effects.iter().all(harmless)
}
