//! Which events can be enabled in one reachable state, as far as a look through small windows shows.
//!
//! Two events that never are do not hinder each other, whatever they read and write: a handshake is full of such pairs.

use scrimp_system::invariants::Invariants;
use scrimp_system::values::Values;
use scrimp_system::{Event, System};

/// How often what is known of the two is sharpened by the windows.
const ROUNDS: usize = 2;

/// Could both be enabled in a reachable state? A guard that may be a fault counts as one that may hold.
pub fn together(system: &System, invariants: &Invariants, a: &Event, b: &Event) -> bool {
    if [a, b].into_iter().any(|event| event.guard.may_fault(&system.variables)) {
        return true;
    }
    let Some(mut known) = invariants.enter(system, a) else { return false };
    for m in &b.moves {
        let control = invariants.cells.control(system, m.process);
        if !known.get(control).contains(m.from as i64) {
            return false;
        }
        known.set(control, Values::one(m.from as i64));
    }
    if !known.assume(&b.guard, true) {
        return false;
    }
    for _ in 0..ROUNDS {
        for window in &invariants.windows {
            let touched = known.changed().any(|(cell, _)| window.cells.contains(&cell));
            if touched && !window.narrow(&mut known) {
                return false;
            }
        }
        if !known.assume(&a.guard, true) || !known.assume(&b.guard, true) {
            return false;
        }
    }
    true
}
