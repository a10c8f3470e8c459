//! A suite in one line, and its rows task by task.

use crate::case::Case;
use crate::record::Outcome;
use crate::runner::Row;
use crate::suite::{Suite, Task};
use crate::table::complaints;
use scrimp_report::number::count_of;

/// Cases with what came of them.
pub type Rows<'r> = Vec<(&'r Case, &'r Row)>;

/// The rows of each task that has any.
pub fn by_task<'s, 'r>(suite: &'s Suite, rows: &[(&'r Case, &'r Row)]) -> Vec<(&'s Task, Rows<'r>)> {
    let of = |task: &'s Task| (task, rows.iter().filter(|(case, _)| case.task == task.name).copied().collect());
    suite.tasks.iter().map(of).filter(|(_, rows): &(_, Rows)| !rows.is_empty()).collect()
}

/// `12 cases: 10 as expected, 1 wrong, 1 skipped`
pub fn summary(rows: &[(&Case, &Row)]) -> String {
    let (mut held, mut wrong, mut skipped, mut incomplete, mut plain, mut refused) = (0, 0, 0, 0, 0, 0);
    for (case, row) in rows {
        match row.record.outcome {
            _ if !complaints(case, row).is_empty() => wrong += 1,
            Outcome::Skipped => skipped += 1,
            Outcome::Refused if case.in_matrix => refused += 1,
            outcome if case.in_matrix && outcome != Outcome::Done => incomplete += 1,
            _ if !case.expect.is_empty() => held += 1,
            Outcome::Done if row.found() => plain += 1,
            _ => incomplete += 1,
        }
    }
    let parts = [
        (held, "as expected"),
        (plain, "done without expectations"),
        (wrong, "wrong"),
        (incomplete, "without an answer"),
        (refused, "refused"),
        (skipped, "skipped"),
    ];
    let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    format!("{}: {}", count_of(rows.len() as u64, "case"), parts.join(", "))
}
