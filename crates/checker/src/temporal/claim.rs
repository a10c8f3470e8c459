//! A claim as an automaton by itself, and the system without it.

use super::Automaton;
use scrimp_core::{Never, Property, PropertyKind};
use scrimp_system::{Domain, Expr, System};
use scrimp_temporal::{Cube, Edge, Guard, MOST_ATOMS};
use std::sync::Arc;

/// A claim taken out of its system.
#[derive(Debug, Clone)]
pub struct ExtractedClaim {
    /// The system alone. Of the claim's process a place is left that never changes and takes no memory.
    pub system: Arc<System>,
    pub name: String,
    pub never: Never<Expr>,
}

impl ExtractedClaim {
    /// That the claim accepts no run.
    pub fn property(&self, name: &str) -> Property<Expr> {
        Property::new(name, PropertyKind::Never(Box::new(self.never.clone())))
    }
}

/// Takes the claim out of a system that has one. Fails where it has more guards than an automaton may have atoms.
pub fn extract_claim(system: &Arc<System>) -> Option<Result<ExtractedClaim, String>> {
    let claim = system.claim.as_ref()?;
    let process = &system.processes[claim.process.index()];
    let mut atoms: Vec<Expr> = Vec::new();
    let mut states: Vec<Vec<Edge>> = vec![Vec::new(); process.locations.len()];
    for step in &claim.moves {
        // A guard and its negation are about one atom.
        let (atom, holds) = match &step.guard {
            Expr::Unary(scrimp_system::UnaryOp::Not, inner) => (&**inner, false),
            guard => (guard, true),
        };
        let guard = if step.guard == Expr::TRUE {
            Guard::always()
        } else {
            let number = atoms.iter().position(|known| known == atom).unwrap_or_else(|| {
                atoms.push(atom.clone());
                atoms.len() - 1
            });
            if number >= MOST_ATOMS {
                let message = format!("property process {} has more than {MOST_ATOMS} different guards", process.name);
                return Some(Err(message));
            }
            let bit = 1 << number;
            let (positive, negative) = if holds { (bit, 0) } else { (0, bit) };
            Guard { cubes: vec![Cube { positive, negative }] }
        };
        let marks = process.accepting.contains(&step.from) as u64;
        states[step.from as usize].push(Edge { guard, to: step.to, marks });
    }
    let mut alone = System::clone(system);
    alone.claim = None;
    alone.assertions.retain(|assertion| assertion.name != scrimp_core::NEVER);
    let control = process.control;
    let first: usize = system.variables[..control.index()].iter().map(|variable| variable.cells()).sum();
    let initial = system.initial.first().map_or(0, |values| values[first]);
    alone.variables[control.index()].domain = Domain::range(initial, initial);
    let automaton = Automaton { atoms: atoms.len(), states, initial: initial as u32, sets: 1 };
    let never = Never { automaton, atoms, stutters: false, repeats: true };
    Some(Ok(ExtractedClaim { system: Arc::new(alone), name: process.name.clone(), never }))
}
