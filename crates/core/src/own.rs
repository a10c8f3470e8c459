//! What a system asks of itself.

use crate::property::{Property, PropertyKind};
use scrimp_system::{Assertion, Expr, NamedFormula, System};

/// The assertion that a `never` claim does not come to its end.
pub const NEVER: &str = "never claim";

impl Property<Expr> {
    /// Everything a model can do wrong by itself: deadlocks, run-time errors, violated assertions.
    pub fn all(system: &System) -> Vec<Property<Expr>> {
        [Property::deadlock(), Property::faults()].into_iter().chain(Property::all_assertions(system)).collect()
    }

    /// The assertions in a model: those that must hold in every state each by itself, those that events make as one.
    pub fn all_assertions(system: &System) -> Vec<Property<Expr>> {
        let made = system.events.iter().any(|event| event.assertion.is_some());
        Property::invariants(system).into_iter().chain(made.then(Property::assertions)).collect()
    }

    /// The assertions that must hold in every state.
    pub fn invariants(system: &System) -> Vec<Property<Expr>> {
        let name = |a: &Assertion| match a.name == NEVER {
            true => NEVER.into(),
            false => format!("assertion: {}", a.name),
        };
        let property = |a: &Assertion| Property::new(name(a), PropertyKind::Invariant(a.condition.clone()));
        system.assertions.iter().map(property).collect()
    }

    /// What a system demands of its runs, but what a claim does.
    pub fn of_runs(system: &System) -> Vec<Property<Expr>> {
        let formula = |f: &NamedFormula| Property::new(format!("ltl {}", f.name), PropertyKind::Ltl(f.formula.clone()));
        let accepting = system.accepting.clone().map(|e| Property::new("accepting", PropertyKind::Accepting(e)));
        system.formulas.iter().map(formula).chain(accepting).collect()
    }
}
