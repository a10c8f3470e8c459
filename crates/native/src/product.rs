//! A system in step with its claim.
//!
//! Every successor of the system is paired with every claim move that is enabled in the state that is left; a system
//! without successors stands still while the claim moves. An event code names both [partners](Pair).

use crate::engine::Engine;
use crate::pair::Pair;
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
