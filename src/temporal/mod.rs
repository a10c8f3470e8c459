//! Properties of runs: what is asked, and which search decides it.

mod bad;
mod branching;
mod claim;
mod liveness;

pub use bad::Bad;
pub use claim::{Apart, apart};
pub use liveness::run_liveness;
pub use scrimp_temporal::{Automaton, Formula};

use crate::{Control, NativeModel, Plan, Report};
use scrimp_search::plan::EngineChoice;
use scrimp_system::Expr;
use std::io;

/// A property of runs.
#[derive(Debug, Clone)]
pub struct RunProperty {
    pub name: String,
    pub kind: RunKind,
}

#[derive(Debug, Clone)]
pub enum RunKind {
    /// The formula holds on every run.
    Ltl(Formula<Expr>),
    /// The formula holds in every initial state.
    Ctl(Formula<Expr>),
    /// No run is infinitely often where this holds.
    Accepting(Expr),
    /// No run stays for ever where this holds.
    Progress(Expr),
    /// The claim accepts no run.
    Claim(Box<Apart>),
}

impl RunProperty {
    pub fn new(name: impl Into<String>, kind: RunKind) -> RunProperty {
        RunProperty { name: name.into(), kind }
    }
}

/// Decides a property of runs. Only those count on which each condition of `fair` holds again and again.
pub fn decide(
    model: &NativeModel,
    property: &RunProperty,
    fair: &[Expr],
    plan: &Plan,
    control: &Control,
) -> io::Result<Report> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    if let EngineChoice::Bounded(_) = plan.options.engine {
        return Err(invalid("runs that go on for ever are not looked for with formulas; use another --engine".into()));
    }
    let bad = match &property.kind {
        RunKind::Ctl(formula) => return branching::decide(model, (&property.name, formula), fair, plan, control),
        RunKind::Claim(claim) => Ok(Bad::of_claim(claim)),
        RunKind::Ltl(formula) => Bad::against(&property.name, &under(fair, formula)),
        RunKind::Accepting(e) => {
            let often = Formula::Globally(Box::new(Formula::Finally(Box::new(Formula::Atom(e.clone())))));
            Bad::against(&property.name, &under(fair, &Formula::Not(Box::new(often))))
        }
        RunKind::Progress(e) => {
            let ever = Formula::Finally(Box::new(Formula::Globally(Box::new(Formula::Atom(e.clone())))));
            Bad::against(&property.name, &under(fair, &Formula::Not(Box::new(ever))))
        }
    };
    if matches!(property.kind, RunKind::Claim(_)) && !fair.is_empty() {
        return Err(invalid("a claim says by itself which runs it is about; leave out conditions of --fair".into()));
    }
    run_liveness(model, &bad.map_err(invalid)?, plan, control)
}

/// The formula, where conditions hold again and again.
fn under(fair: &[Expr], formula: &Formula<Expr>) -> Formula<Expr> {
    if fair.is_empty() {
        return formula.clone();
    }
    let often = |e: &Expr| Formula::Globally(Box::new(Formula::Finally(Box::new(Formula::Atom(e.clone())))));
    Formula::Implies(Box::new(Formula::And(fair.iter().map(often).collect())), Box::new(formula.clone()))
}
