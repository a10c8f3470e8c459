//! What came of a suite: what is wrong first, then how much was solved, then each task with ours beside what was published.

use crate::case::Case;
use crate::figures::{Figure, of_task, of_tasks};
use crate::matrix;
use crate::means::{Means, by_model, by_model_and_label};
use crate::measure::by_configuration;
use crate::record::Outcome;
use crate::runner::Row;
use crate::suite::Suite;
use crate::summary::{Rows, by_task, summary};
use crate::table::{Table, complaints, configuration};
use crate::template::command_line;
use scrimp_report::html::{Page, Pictures, Tone, escape, marked_table, page, table};
use scrimp_report::plot::Plot;
use std::fmt::Write;

/// The text of the file.
pub fn results(suite: &Suite, rows: &[(&Case, &Row)], command: &str) -> String {
    let tasks = by_task(suite, rows);
    let mut pictures = Pictures::default();
    let mut body = suite.about.as_deref().map(about).unwrap_or_default();
    body.push_str(&wrong(rows));
    if tasks.len() > 1 {
        let groups: Vec<(String, Rows)> = tasks.iter().map(|(task, rows)| (task.name.clone(), rows.clone())).collect();
        let mut all = String::new();
        if suite.base.is_some() {
            all = means(Means::new(&groups, suite.base.as_deref(), by_model_and_label));
        }
        all.push_str(&pictures.plots(&plots(of_tasks(suite, &groups))));
        if !all.is_empty() {
            let _ = writeln!(body, "<section>\n<h2>All tasks</h2>\n{all}</section>");
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
        body.push_str(&means(Means::new(&by_configuration(rows), task.base.as_deref(), by_model)));
        body.push_str(&pictures.plots(&plots(of_task(&task.name, task.base.as_deref(), rows))));
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

/// Configurations against one of them.
fn means(means: Option<Means>) -> String {
    let Some(means) = means else { return String::new() };
    let cells = means.table();
    let numbers: Vec<bool> = cells.columns.iter().map(|(_, number)| *number).collect();
    let mut lines = vec![cells.columns.iter().map(|(heading, _)| escape(heading)).collect::<Vec<_>>()];
    lines.extend(cells.rows.iter().map(|row| row.iter().map(|cell| escape(cell)).collect::<Vec<_>>()));
    format!("<p>{}</p>\n{}", escape(&means.caption()), table(&numbers, &lines))
}

fn plots(figures: Vec<Figure>) -> Vec<Plot> {
    figures.into_iter().map(|figure| figure.plot).collect()
}
