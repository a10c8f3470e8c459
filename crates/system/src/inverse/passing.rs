//! Places that a process only passes through: whenever it is there it is going on by itself, and can.
//!
//! It comes there only by events that leave it in charge, and where it must not get stuck, or cannot, it goes on. Until it
//! has moved nobody else does, so that no state of the model has it there.

use crate::bounds::Knowledge;
use crate::event::{Event, Move, Then};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::invariants::Invariants;
use crate::system::{ProcessId, System};
use crate::values::Values;

/// For each process and each of its places, whether it only passes through.
pub fn passing(system: &System, invariants: &Invariants) -> Vec<Vec<bool>> {
    if system.events.iter().all(|event| event.then == Then::Free) {
        return Vec::new();
    }
    let happens: Vec<&Event> = system.events.iter().filter(|event| invariants.enter(system, event).is_some()).collect();
    let of_process = |number: usize| {
        let process = ProcessId(number as u32);
        let control = system.processes[number].control;
        let cell = invariants.cells.first(control) as usize;
        let mut passed = vec![true; system.processes[number].locations.len()];
        let mut leave = |place: i64| {
            if let Some(passed) = usize::try_from(place).ok().and_then(|place| passed.get_mut(place)) {
                *passed = false;
            }
        };
        system.initial.iter().for_each(|values| leave(values[cell]));
        for event in &happens {
            let moved = event.moves.iter().rfind(|m| m.process == process).map(|m| Expr::Const(m.to as i64));
            let set = event.effects.iter().filter(|a| a.target == control).map(|a| a.value.clone());
            for to in moved.into_iter().chain(set) {
                let places: Vec<i64> = match to.as_const() {
                    Some(place) => vec![place],
                    None => (0..system.processes[number].locations.len() as i64).collect(),
                };
                places
                    .into_iter()
                    .filter(|place| !stays(system, invariants, event.then, process, *place))
                    .for_each(&mut leave);
            }
        }
        passed
    };
    (0..system.processes.len()).map(of_process).collect()
}

/// Is the process certain to go on by itself when it comes there by an event that leaves these to move?
fn stays(system: &System, invariants: &Invariants, then: Then, process: ProcessId, place: i64) -> bool {
    match then {
        Then::DStep(holder) => holder == process,
        Then::Atomic(holder) => holder == process && never_blocks(system, invariants, process, place),
        Then::Free => false,
    }
}

/// Can the process always move there? An event that ends in a fault is a move too.
fn never_blocks(system: &System, invariants: &Invariants, process: ProcessId, place: i64) -> bool {
    let here = |m: &Move| m.process == process && m.from as i64 == place;
    let there = |event: &&Event| !event.late && event.moves.len() == 1 && event.moves.iter().all(here);
    let guards: Vec<&Expr> = system.events.iter().filter(there).map(|event| &event.guard).collect();
    let mut known = Knowledge::new(system, &invariants.cells, &invariants.base);
    known.set(invariants.cells.control(system, process), Values::one(place));
    let mut refuted = Vec::new();
    guards.iter().for_each(|guard| split(guard, &mut refuted));
    // That all of them are false contradicts one of them, or what is known.
    guards.iter().any(|guard| follows(guard, true, &refuted)) || !guards.iter().all(|guard| known.assume(guard, false))
}

/// What is false if a condition is.
fn split<'e>(e: &'e Expr, into: &mut Vec<&'e Expr>) {
    into.push(e);
    if let Expr::Binary(BinaryOp::Or, a, b) = e {
        split(a, into);
        split(b, into);
    }
}

/// Is a condition true, or false, because others are false?
fn follows(e: &Expr, truth: bool, refuted: &[&Expr]) -> bool {
    let part = |e: &Expr| follows(e, truth, refuted);
    let by_parts = match e {
        Expr::Const(value) => (*value != 0) == truth,
        Expr::Unary(UnaryOp::Not, a) => follows(a, !truth, refuted),
        Expr::Binary(BinaryOp::And, a, b) if truth => part(a) && part(b),
        Expr::Binary(BinaryOp::Or, a, b) if !truth => part(a) && part(b),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b) => part(a) || part(b),
        _ => false,
    };
    by_parts || !truth && refuted.contains(&e)
}
