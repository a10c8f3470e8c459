//! Properties of runs: one search for each.

use super::Failure;
use super::args::SearchArgs;
use super::guides::Guide;
use super::progress::{Patience, Progress, stop_on_interrupt};
use super::search::{begun, tell_nothing};
use scrimp::parse_property;
use scrimp::temporal::{Means, RunProperty, decide};
use scrimp::{Control, NativeModel, Plan, Report};
use scrimp_lang::PropertyKind;
use scrimp_system::Expr;
use std::sync::Arc;

/// Decides a property of runs.
pub fn search(
    model: &NativeModel,
    property: &RunProperty,
    plan: &mut Plan,
    args: &SearchArgs,
) -> Result<Report, Failure> {
    let control = Arc::new(Control::new(plan.options.time.map(|time| time.saturating_sub(begun().elapsed()))));
    stop_on_interrupt(&control);
    let fair = fair(args, model)?;
    let guide = Guide::new(args, model, plan)?;
    let end = args.time.and_then(|time| begun().checked_add(time));
    let (json, quiet) = (args.json, args.quiet);
    let _patience = Patience::with(&control, end, move |limit| tell_nothing(limit, json, quiet));
    let _progress = Progress::watch(&control, args.quiet, args.show_progress);
    let progress = guide.progress.as_ref().map(|measure| |state: &[u8]| measure.value(state));
    let progress = progress.as_ref().map(|f| f as &dyn Fn(&[u8]) -> u128);
    let means = Means { plan, control: &control, fair: &fair, progress };
    decide(model, property, &means).map_err(|e| Failure(format!("error: {e}")))
}

/// The conditions that hold again and again on the runs that count.
pub fn fair(args: &SearchArgs, model: &NativeModel) -> Result<Vec<Expr>, Failure> {
    let conditions = args.fair.iter().filter(|text| *text != "weak");
    let read = |text: &String| match parse_property(model.system(), &format!("invariant: {text}"))?.kind {
        PropertyKind::Invariant(e) => Ok(e),
        _ => Err(Failure(format!("error: --fair {text}: this is not a condition"))),
    };
    conditions.map(read).collect()
}
