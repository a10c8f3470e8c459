//! Runs that are too long to be told within the memory budget are left out, and that is said: what they show is known without
//! them.

use crate::number;
use scrimp_core::Report;
use scrimp_core::budget::resident;

/// Bytes that a step takes while it is told, as an object and as text.
const OBJECT: usize = 4096;
const TEXT: usize = 512;
/// What may be taken in any case.
const ALWAYS: usize = 8 << 20;

/// Leaves out the runs that are too long to be told as text, or as objects.
pub fn leave_out_long_runs(report: &mut Report, memory: usize, as_objects: bool) {
    let mut left = memory.saturating_sub(resident().unwrap_or(0)).max(ALWAYS);
    for result in &mut report.properties {
        let Some(run) = &result.trace else { continue };
        let step = if as_objects { OBJECT } else { TEXT } + 3 * run.initial.len();
        let events = run.steps.len();
        match left.checked_sub(step.saturating_mul(events)) {
            Some(rest) => left = rest,
            None => {
                (result.trace, result.cycle) = (None, None);
                report.remarks.push(format!(
                    "the run that decides {}, of {} events, is left out: it does not fit in memory",
                    result.name,
                    number::grouped(events as u64)
                ));
            }
        }
    }
}
