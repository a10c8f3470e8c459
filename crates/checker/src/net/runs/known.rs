//! Conditions that hold in every marking or in none, as structure tells.

use crate::net::PetriNet;
use scrimp_net::linear::Refuter;
use scrimp_net::{Condition, Formula};
use std::time::{Duration, Instant};

/// Cases that a condition may fall into before it is left to others, and what one may take.
const CASES: usize = 2_000;
const EACH: Duration = Duration::from_millis(200);

/// What the conditions of these formulas come to in all reachable markings, as far as that is found in time.
pub fn learn(net: &PetriNet, formulas: &[Formula], deadline: Instant) -> Vec<(Condition, Condition)> {
    let Some(mut refuter) = Refuter::new(&net.net, &net.bounds) else { return Vec::new() };
    let mut found: Vec<(Condition, Condition)> = Vec::new();
    let mut wanted: Vec<&Condition> = Vec::new();
    for formula in formulas {
        formula.atoms(&mut |condition| collect(condition, &mut wanted));
    }
    for (i, condition) in wanted.iter().enumerate() {
        if Instant::now() >= deadline {
            break;
        }
        if wanted[..i].contains(condition) {
            continue;
        }
        let share = deadline.min(Instant::now() + EACH);
        if refuter.never_holds(condition, CASES, share) {
            found.push(((*condition).clone(), Condition::False));
        } else if refuter.never_holds(&(*condition).clone().negated(), CASES, share) {
            found.push(((*condition).clone(), Condition::True));
        }
    }
    found
}

/// A condition, and its parts.
fn collect<'f>(condition: &'f Condition, into: &mut Vec<&'f Condition>) {
    match condition {
        Condition::True | Condition::False | Condition::Deadlock => {}
        Condition::Not(inner) => collect(inner, into),
        Condition::All(parts) | Condition::Any(parts) => {
            into.push(condition);
            parts.iter().for_each(|part| collect(part, into));
        }
        Condition::AtMostZero(_) | Condition::Fireable(_) => into.push(condition),
    }
}

/// A condition with what is known in the place of its parts.
pub fn replaced(condition: &Condition, known: &[(Condition, Condition)]) -> Condition {
    if let Some((_, is)) = known.iter().find(|(which, _)| which == condition) {
        return is.clone();
    }
    let inner = |part: &Condition| replaced(part, known);
    match condition {
        Condition::Not(part) => inner(part).negated(),
        Condition::All(parts) => Condition::all(parts.iter().map(inner)),
        Condition::Any(parts) => Condition::any(parts.iter().map(inner)),
        part => part.clone(),
    }
}
