//! What came of a suite: what is wrong first, then how much was solved, then each task with ours beside what was published.

use super::curves::{Cost, cactus, scatter};
use crate::case::Case;
use crate::matrix;
use crate::record::Outcome;
use crate::runner::Row;
use crate::scaling;
use crate::suite::Suite;
use crate::summary::{Rows, by_task, summary};
use crate::table::{Table, complaints, configuration};
use crate::template::command_line;
use scrimp_report::html::{Page, Pictures, Tone, escape, marked_table, page, table};
use scrimp_report::plot::Plot;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines that one plot can have and still be read.
const LINES: usize = 8;

/// The text of the file.
pub fn results(suite: &Suite, rows: &[(&Case, &Row)], command: &str) -> String {
    let tasks = by_task(suite, rows);
    let mut pictures = Pictures::default();
    let mut body = suite.about.as_deref().map(about).unwrap_or_default();
    body.push_str(&wrong(rows));
    if tasks.len() > 1 {
        let lines: Vec<(String, Rows)> = tasks.iter().map(|(task, rows)| (task.name.clone(), rows.clone())).collect();
        let plots = solved(&lines);
        if !plots.is_empty() {
            let _ = writeln!(body, "<section>\n<h2>All tasks</h2>\n{}</section>", pictures.plots(&plots));
        }
    }
    for (task, rows) in &tasks {
        let _ = writeln!(body, "<section>\n<h2>{}</h2>", escape(&task.name));
        body.push_str(&task.about.as_deref().map(about).unwrap_or_default());
        if let Some(matrix) = &task.matrix {
            let _ = writeln!(body, "{}</section>", matrix::html(matrix, rows));
            continue;
        }
        body.push_str(&task_table(rows));
        body.push_str(&pictures.plots(&of_configurations(rows)));
        body.push_str(&pictures.plots(&scaling::plots(&scaling::curves(rows))));
        body.push_str("</section>\n");
    }
    let failed = rows.iter().any(|(case, row)| !complaints(case, row).is_empty());
    let open = rows.iter().any(|(case, row)| row.record.outcome != Outcome::Done && !case.in_matrix);
    let (tone, verdict) = match (failed, open) {
        (true, _) => (Tone::Bad, "wrong"),
        (false, true) => (Tone::Warn, "nothing wrong"),
        (false, false) => (Tone::Good, "all done"),
    };
    page(&Page {
        kind: "scrimp bench".into(),
        title: suite.title.clone(),
        tone,
        verdict: verdict.into(),
        summary: format!("{}.", summary(rows)),
        command: command.into(),
        body,
    })
}

/// A text of the suite, with its paragraphs.
fn about(text: &str) -> String {
    text.trim().split("\n\n").map(|part| format!("<p>{}</p>\n", escape(part))).collect()
}

/// Expectations that failed, each with the command that shows it.
fn wrong(rows: &[(&Case, &Row)]) -> String {
    let heads = ["task", "model", "configuration", "what is wrong", "command"];
    let mut lines = vec![heads.map(str::to_string).to_vec()];
    for (case, row) in rows {
        let complaints = complaints(case, row);
        if !complaints.is_empty() {
            let command = command_line(&row.record.command);
            lines.push(vec![
                escape(&case.task),
                escape(&case.model.name),
                escape(&configuration(case, row)),
                escape(&complaints.join("; ")),
                format!("<code>scrimp {}</code>", escape(&command)),
            ]);
        }
    }
    match lines.len() {
        1 => String::new(),
        _ => format!("<section>\n<h2>What is wrong</h2>\n{}</section>\n", table(&[false; 5], &lines)),
    }
}

/// The rows of a task, and the commands behind them.
fn task_table(rows: &Rows) -> String {
    let cells = Table::new(rows);
    let numbers: Vec<bool> = cells.columns.iter().map(|(_, number)| *number).collect();
    let mut lines = vec![cells.columns.iter().map(|(heading, _)| escape(heading)).collect::<Vec<_>>()];
    lines.extend(cells.rows.iter().map(|row| row.iter().map(|cell| escape(cell)).collect::<Vec<_>>()));
    let tone = |line: usize| match line.checked_sub(1).and_then(|i| rows.get(i)) {
        Some((case, row)) if !complaints(case, row).is_empty() => Tone::Bad,
        _ => Tone::Plain,
    };
    let mut out = marked_table(&numbers, &lines, &tone);
    out.push_str("<details class=\"commands\"><summary>The commands</summary>\n");
    for command in &cells.commands {
        let _ = writeln!(out, "<pre><code>{}</code></pre>", escape(command));
    }
    out + "</details>\n"
}

/// The run of a row that was solved: it came to its end, and nothing is wrong with it.
fn is_solved((case, row): &(&Case, &Row)) -> bool {
    row.record.outcome == Outcome::Done && row.found() && complaints(case, row).is_empty()
}

/// Cactus plots with a line for each group of rows.
fn solved(lines: &[(String, Rows)]) -> Vec<Plot> {
    let of = |cost: Cost| -> Vec<(String, Vec<f64>)> {
        let costs =
            |rows: &Rows| rows.iter().filter(|row| is_solved(row)).filter_map(|(_, row)| price(cost, row)).collect();
        lines.iter().map(|(name, rows)| (name.clone(), costs(rows))).collect()
    };
    if lines.len() > LINES {
        return Vec::new();
    }
    [Cost::Time, Cost::Memory].into_iter().filter_map(|cost| cactus(cost, &of(cost))).collect()
}

fn price(cost: Cost, row: &Row) -> Option<f64> {
    match cost {
        Cost::Time => Some(row.record.wall_seconds),
        Cost::Memory => row.record.peak_rss_bytes.map(|bytes| bytes as f64),
    }
}

/// What a task says about its configurations: how much each solved, and where there are two, one against the other.
fn of_configurations(rows: &Rows) -> Vec<Plot> {
    let mut lines: Vec<(String, Rows)> = Vec::new();
    for (case, row) in rows {
        let name = if case.label.is_empty() { "all" } else { &case.label };
        match lines.iter_mut().find(|(known, _)| known == name) {
            Some((_, rows)) => rows.push((case, row)),
            None => lines.push((name.to_string(), vec![(case, row)])),
        }
    }
    let mut plots = solved(&lines);
    if let [(first, a), (second, b)] = lines.as_slice() {
        let times = |rows: &Rows| -> BTreeMap<String, f64> {
            let done = rows.iter().filter(|row| is_solved(row));
            done.map(|(case, row)| (case.model.name.clone(), row.record.wall_seconds)).collect()
        };
        let (a, b) = (times(a), times(b));
        let pairs: Vec<(f64, f64)> = a.iter().filter_map(|(model, time)| Some((*time, *b.get(model)?))).collect();
        plots.extend(scatter(Cost::Time, [first, second], &pairs));
    }
    plots
}
