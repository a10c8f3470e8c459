//! Properties of runs: one search for each.

use super::Failure;
use super::args::SearchArgs;
use super::progress::{Patience, Progress, stop_on_interrupt};
use super::search::{begun, tell_nothing};
use scrimp::temporal::{Bad, run_liveness};
use scrimp::{Control, NativeModel, Plan, Report};
use std::sync::Arc;

/// Looks for a run that is bad.
pub fn search(model: &NativeModel, bad: &Bad, plan: &Plan, args: &SearchArgs) -> Result<Report, Failure> {
    let control = Arc::new(Control::new(plan.options.time.map(|time| time.saturating_sub(begun().elapsed()))));
    stop_on_interrupt(&control);
    let end = args.time.and_then(|time| begun().checked_add(time));
    let (json, quiet) = (args.json, args.quiet);
    let _patience = Patience::with(&control, end, move |limit| tell_nothing(limit, json, quiet));
    let _progress = Progress::watch(&control, args.quiet, args.show_progress);
    run_liveness(model, bad, plan, &control).map_err(|e| Failure(format!("error: {e}")))
}
