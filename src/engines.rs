//! One way in for every engine: searches state by state, with sets of states, or with formulas.

use crate::{Control, Guides, NativeModel, Plan, Property, PropertyKind, Report, run_guided};
use scrimp_bounded::{Goal, GoalKind};
use scrimp_search::FormulaFacts;
use scrimp_search::plan::{BoundChoice, EngineChoice};
use std::io;
use std::time::Instant;

/// Decides `properties` of a model file by the engine of a plan; without properties, counts.
pub fn run_engine(
    model: &NativeModel,
    properties: &[Property],
    plan: &Plan,
    control: &Control,
    guides: Guides,
) -> io::Result<Report> {
    match plan.options.engine {
        EngineChoice::Explicit => run_guided(model, properties, plan, control, guides),
        EngineChoice::Symbolic(_) => Err(invalid("not yet")),
        EngineChoice::Bounded(BoundChoice(bound)) => with_formulas(model, properties, plan, control, bound),
    }
}

fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason.into())
}

/// Runs of growing length, as formulas.
fn with_formulas(
    model: &NativeModel,
    properties: &[Property],
    plan: &Plan,
    control: &Control,
    bound: Option<u32>,
) -> io::Result<Report> {
    let begun = Instant::now();
    if properties.is_empty() {
        return Err(invalid("bounded model checking looks for runs and cannot count states; use `scrimp check`"));
    }
    let goals = properties.iter().map(goal).collect::<io::Result<Vec<Goal>>>()?;
    let options =
        scrimp_bounded::Options { bound, induction: true, memory: plan.memory, keep_going: plan.options.keep_going };
    let found = scrimp_bounded::run(model, model.system(), model.layout(), &goals, &options, control)?;
    control.finish();
    let mut report = Report::of_nothing(model, plan, begun.elapsed());
    report.properties = found.properties;
    report.limit = found.limit;
    report.remarks = found.remarks;
    report.store_bytes = found.bytes;
    report.formulas = Some(FormulaFacts {
        steps: found.depth,
        clauses: found.clauses,
        variables: found.variables,
        conflicts: found.conflicts,
    });
    Ok(report)
}

fn goal(property: &Property) -> io::Result<Goal> {
    let expression = || {
        property.expression.clone().ok_or_else(|| {
            invalid(format!("property {}: its condition is no expression that could become a formula", property.name))
        })
    };
    let kind = match &property.kind {
        PropertyKind::Deadlock => GoalKind::Deadlock,
        PropertyKind::Faults => GoalKind::Faults,
        PropertyKind::Assertions => GoalKind::Assertions,
        PropertyKind::Invariant(_) => GoalKind::Invariant(expression()?),
        PropertyKind::Reach(_) => GoalKind::Reach(expression()?),
    };
    Ok(Goal { name: property.name.clone(), kind })
}
