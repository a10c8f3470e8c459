//! Properties of runs: what is asked, and which search decides it.

mod branching;
mod claim;
mod emptiness;
mod liveness;
mod safety;
pub use scrimp_core::never;
mod vacuity;

pub use branching::Numbered;
pub use claim::{ExtractedClaim, extract_claim};
pub use liveness::run_liveness;
pub use safety::follows_formulas;
pub use scrimp_temporal::{Automaton, Formula};

use crate::engines::sets;
use never::broken_by;
use scrimp_cluster::Gathering;
use scrimp_core::{Control, Property, PropertyKind, Report};
use scrimp_native::NativeModel;
use scrimp_search::Guide;
use scrimp_search::Plan;
use scrimp_search::plan::Way;
use scrimp_system::Expr;
use std::io;
use std::time::Duration;

/// What a property of runs is decided with.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub plan: &'a Plan,
    pub control: &'a Control,
    /// Only runs count on which each of these holds again and again.
    pub fair: &'a [Expr],
    /// The progress measure, where the plan sweeps.
    pub progress: Option<&'a Guide<'a>>,
    /// The cluster, where the plan is for one.
    pub cluster: Option<&'a Gathering>,
}

/// Decides a property of runs, and says if it holds because a condition never happens.
pub fn decide(model: &NativeModel, property: &Property<Expr>, means: &Context) -> io::Result<Report> {
    let mut report = decide_alone(model, property, means)?;
    vacuity::look(model, property, means, &mut report);
    Ok(report)
}

fn decide_alone(model: &NativeModel, property: &Property<Expr>, means: &Context) -> io::Result<Report> {
    let Context { plan, fair, .. } = *means;
    let invalid = |reason: &str| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let symbolic = plan.way() == Way::Symbolic;
    if let PropertyKind::Ctl(formula) = &property.kind {
        return match symbolic {
            true => with_sets(model, &property.name, PropertyKind::Ctl(formula.clone()), means),
            false => branching::decide(model, &property.name, formula, means),
        };
    }
    let patience = plan.options().time.map_or(Duration::MAX, |time| time.saturating_sub(means.control.elapsed()));
    let never = broken_by(property, fair, patience).map_err(|reason| invalid(&reason))?;
    if symbolic {
        return with_sets(model, &property.name, PropertyKind::Never(Box::new(never)), means);
    }
    match plan.way() {
        // What is asked beside a formula, to see whether it holds for want of occasion, may be of another kind.
        Way::Cluster if !(safety::decides(model.system(), &never) && follows_formulas(model.system())) => {
            emptiness::decide(model, &property.name, &never, means)
        }
        Way::Gpu | Way::Cluster => safety::decide(model, &property.name, &never, means),
        Way::ClusterCycles => emptiness::decide(model, &property.name, &never, means),
        _ => run_liveness(model, &property.name, &never, means),
    }
}

/// Decides it with sets of states.
fn with_sets(model: &NativeModel, name: &str, kind: PropertyKind<Expr>, means: &Context) -> io::Result<Report> {
    let question = Property::new(name, kind);
    let Context { plan, control, fair, .. } = *means;
    plan.say_decisions(control);
    let (mut report, results) = sets(model, &[question], fair, plan, control, true)?;
    report.properties = results;
    report.reduced = false;
    Ok(report)
}
