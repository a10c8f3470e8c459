//! A system in step with its claim.
//!
//! Every successor of the system is paired with every claim move that is enabled in the state that is left; a system
//! without successors stands still while the claim moves. An event code names both partners: with `n` system events,
//! `code = claim * (n + 1) + system`, where `system` is `n` for "none", and `claim` is 0 for "none" or one more than the
//! number of the move. So the system's own codes, as its faults carry them, are product codes as they stand.

use crate::engine::Engine;
use crate::program::Program;
use scrimp_system::{Batch, Claim, EventCode, Fault};
use std::cell::RefCell;

/// What is needed for a moment, kept so that it need not be allocated for every state.
#[derive(Default)]
struct Scratch {
    enabled: Vec<u32>,
    faults: Vec<(u32, Fault)>,
    successor: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// The partners that an event code names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub system: Option<u32>,
    pub claim: Option<u32>,
}

impl Pair {
    pub fn code(self, events: usize) -> EventCode {
        let events = events as u32;
        self.claim.map_or(0, |m| m + 1) * (events + 1) + self.system.unwrap_or(events)
    }

    pub fn of(code: EventCode, events: usize) -> Pair {
        let events = events as u32;
        let (claim, system) = (code / (events + 1), code % (events + 1));
        Pair { system: (system < events).then_some(system), claim: claim.checked_sub(1) }
    }
}

/// Pairs the system's successors of `state`, which stand in `out` from `first` on, with the claim's moves. A claim that
/// cannot move leaves nothing; a system without claim stays as it is.
pub fn follow(engine: &Engine, program: &Program, state: &[u8], out: &mut Batch, first: usize) {
    let Some(claim) = &program.system.claim else { return };
    SCRATCH.with_borrow_mut(|Scratch { enabled, faults, successor }| {
        moves(engine, program, state, enabled, faults, out);
        let count = out.len() - first;
        if enabled.is_empty() {
            out.truncate(first);
            return;
        }
        // The pairs are made from the back, where they do not overwrite successors that are not yet paired.
        for _ in count..count * enabled.len() {
            out.push_with(0);
        }
        for i in (0..count).rev() {
            let system = out.event(first + i);
            successor.clear();
            successor.extend_from_slice(out.state(first + i));
            for (j, &number) in enabled.iter().enumerate().rev() {
                let place = first + i * enabled.len() + j;
                let pair = out.state_mut(place);
                pair.copy_from_slice(successor);
                enter(program, claim, pair, number);
                out.set_event(place, code(program, Some(system), number));
            }
        }
    });
}

/// Appends what the claim does by itself in a state that the system does not leave.
pub fn alone(engine: &Engine, program: &Program, state: &[u8], out: &mut Batch) {
    let Some(claim) = &program.system.claim else { return };
    SCRATCH.with_borrow_mut(|Scratch { enabled, faults, .. }| {
        moves(engine, program, state, enabled, faults, out);
        for &number in &*enabled {
            let successor = out.push_with(code(program, None, number));
            successor.copy_from_slice(state);
            enter(program, claim, successor, number);
        }
    });
}

/// The claim's moves from `state`; faults go to `out`.
fn moves(
    engine: &Engine,
    program: &Program,
    state: &[u8],
    enabled: &mut Vec<u32>,
    faults: &mut Vec<(u32, Fault)>,
    out: &mut Batch,
) {
    enabled.clear();
    faults.clear();
    engine.claim_moves(state, enabled, faults);
    for &(number, fault) in &*faults {
        out.push_fault(code(program, None, number), fault);
    }
}

fn enter(program: &Program, claim: &Claim, state: &mut [u8], number: u32) {
    let control = program.system.processes[claim.process.index()].control;
    program.layout.write(state, control, 0, claim.moves[number as usize].to as i64);
}

fn code(program: &Program, system: Option<u32>, number: u32) -> EventCode {
    Pair { system, claim: Some(number) }.code(program.system.events.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_name_both_partners() {
        for events in [0usize, 1, 7] {
            for system in (0..events as u32).map(Some).chain([None]) {
                for claim in [None, Some(0), Some(1), Some(5)] {
                    let pair = Pair { system, claim };
                    assert_eq!(Pair::of(pair.code(events), events), pair);
                }
            }
        }
        assert_eq!(Pair { system: Some(3), claim: None }.code(7), 3);
    }
}
