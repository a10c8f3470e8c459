//! Properties of runs: what is asked, and which search decides it.

pub(crate) mod branching;
mod claim;
mod liveness;
pub mod never;
mod vacuity;

pub use branching::Numbered;
pub use claim::{Apart, apart};
pub use liveness::run_liveness;
pub use scrimp_temporal::{Automaton, Formula};

use crate::engines::sets;
use never::broken_by;
use scrimp_core::{Control, Property, PropertyKind, Report};
use scrimp_native::NativeModel;
use scrimp_search::Guide;
use scrimp_search::Plan;
use scrimp_search::plan::{EngineChoice, ReduceChoice};
use scrimp_system::Expr;
use std::io;
use std::time::Duration;

/// What a property of runs is decided with.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    pub plan: &'a Plan,
    pub control: &'a Control,
    /// Only runs count on which each of these holds again and again.
    pub fair: &'a [Expr],
    /// The progress measure, where the plan sweeps.
    pub progress: Option<&'a Guide<'a>>,
}

/// Decides a property of runs, and says if it holds because a condition never happens.
pub fn decide(model: &NativeModel, property: &Property<Expr>, means: &Means) -> io::Result<Report> {
    let mut report = decide_alone(model, property, means)?;
    vacuity::look(model, property, means, &mut report);
    Ok(report)
}

fn decide_alone(model: &NativeModel, property: &Property<Expr>, means: &Means) -> io::Result<Report> {
    let Means { plan, fair, .. } = *means;
    let invalid = |reason: &str| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let weak = "weak fairness of processes is decided state by state, of formulas in LTL and of claims";
    let symbolic = match plan.options.engine {
        EngineChoice::Explicit => None,
        EngineChoice::Symbolic(_) if plan.options.fair => return Err(invalid(weak)),
        EngineChoice::Symbolic(strategy) => Some(strategy),
        EngineChoice::Bounded(_) => {
            return Err(invalid("runs that go on for ever are not looked for with formulas; use another --engine"));
        }
    };
    if plan.options.checkpoint.is_some() || plan.options.resume.is_some() {
        means.control.say("a search for runs is neither saved nor taken up");
    }
    match &property.kind {
        PropertyKind::Ctl(_) if plan.options.fair => return Err(invalid(weak)),
        PropertyKind::Ctl(formula) if symbolic.is_some() => {
            return with_sets(model, &property.name, PropertyKind::Ctl(formula.clone()), means);
        }
        PropertyKind::Ctl(formula) => return branching::decide(model, &property.name, formula, means),
        PropertyKind::Never(_) if !fair.is_empty() => {
            return Err(invalid("an automaton says by itself which runs it is about; leave out conditions of --fair"));
        }
        PropertyKind::Progress(_) if symbolic.is_some() => {
            return Err(invalid("cycles without progress are looked for state by state; use --engine explicit"));
        }
        _ => {}
    }
    let patience = plan.options.time.map_or(Duration::MAX, |time| time.saturating_sub(means.control.elapsed()));
    let never = broken_by(property, fair, patience).map_err(|reason| invalid(&reason))?;
    if symbolic.is_some() {
        return with_sets(model, &property.name, PropertyKind::Never(Box::new(never)), means);
    }
    run_liveness(model, &property.name, &never, means)
}

/// Decides it with sets of states.
fn with_sets(model: &NativeModel, name: &str, kind: PropertyKind<Expr>, means: &Means) -> io::Result<Report> {
    let question = Property::new(name, kind);
    let Means { plan, control, fair, .. } = *means;
    let mut plan = plan.clone();
    if plan.options.reduce.leaves_out_states() {
        control.say("sets of states are not reduced for properties of runs");
        plan.options.reduce = ReduceChoice::Nothing;
    }
    let mut conditions: Vec<&Expr> = fair.iter().collect();
    match &question.kind {
        PropertyKind::Ctl(formula) => formula.atoms(&mut |e| conditions.push(e)),
        PropertyKind::Never(never) => conditions.extend(&never.atoms),
        _ => {}
    }
    if conditions.into_iter().any(|e| e.may_fault(&model.system().variables)) {
        let reason = "evaluating a condition of the formula may end in a fault: that is decided state by state";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let (mut report, results) = sets(model, &[question], fair, &plan, control)?;
    report.properties = results;
    report.reduced = false;
    Ok(report)
}
