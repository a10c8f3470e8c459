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

/// What [`expand`] needs for a moment, kept so that it need not be allocated for every state.
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

/// Appends the product's successors of `state`.
pub fn expand(engine: &Engine, program: &Program, claim: &Claim, state: &[u8], out: &mut Batch) {
    let first = out.len();
    engine.expand(state, out);
    SCRATCH.with_borrow_mut(|Scratch { enabled, faults, successor }| {
        enabled.clear();
        faults.clear();
        engine.claim_moves(state, enabled, faults);
        let code = |system, number| Pair { system, claim: Some(number) }.code(program.system.events.len());
        for &(number, fault) in &*faults {
            out.push_fault(code(None, number), fault);
        }
        let control = program.system.processes[claim.process.index()].control;
        let follow = |state: &mut [u8], number: u32| {
            program.layout.write(state, control, 0, claim.moves[number as usize].to as i64);
        };
        let count = out.len() - first;
        out.declare_deadlock(count == 0);
        if count == 0 {
            for &number in &*enabled {
                let alone = out.push_with(code(None, number));
                alone.copy_from_slice(state);
                follow(alone, number);
            }
        } else if enabled.is_empty() {
            out.truncate(first);
        } else {
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
                    follow(pair, number);
                    out.set_event(place, code(Some(system), number));
                }
            }
        }
    });
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
