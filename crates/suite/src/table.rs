//! The end of a suite: a table for each task, what was published beside what came out, and what is wrong.

use crate::case::{Case, Kind};
use crate::document::plain;
use crate::expect::{EXACT, Test};
use crate::measure::fields;
use crate::record::Outcome;
use crate::runner::Row;
use crate::template::command_line;
use scrimp_report::number::{bytes, count_of, grouped};
use std::fmt::Write;

/// What is wrong with a row; nothing when all expectations hold.
pub fn complaints(case: &Case, row: &Row) -> Vec<String> {
    let record = &row.record;
    let about_outcome = case.expect.iter().any(|e| e.field == "outcome");
    match record.outcome {
        Outcome::Skipped => return Vec::new(),
        Outcome::Refused | Outcome::TimedOut | Outcome::OutOfMemory | Outcome::Limit if case.in_matrix => {
            return Vec::new();
        }
        _ if about_outcome => {}
        Outcome::Refused | Outcome::Crashed => {
            let message = record.message.as_deref().unwrap_or("without an answer");
            return vec![format!("{}: {}", record.outcome, message.lines().next().unwrap_or(""))];
        }
        Outcome::Done => {}
        _ if case.expect.is_empty() || row.search.is_some() => {}
        outcome => return vec![format!("{outcome}: nothing is confirmed")],
    }
    let mut out = Vec::new();
    if let Some(search) = row.search {
        if search.crashed > 0 {
            out.push(format!("{} crashed", count_of(search.crashed as u64, "run")));
        }
        if !search.found {
            let none = format!("none of {} was accepted", count_of(search.runs as u64, "run"));
            out.extend((!case.expect.is_empty()).then_some(none));
            return out;
        }
    }
    out.extend(case.expect.iter().filter_map(|e| e.complaint(record)));
    out
}

/// A task's rows as cells.
pub struct Table {
    /// A heading, and whether its cells are numbers.
    pub(crate) columns: Vec<(String, bool)>,
    pub(crate) rows: Vec<Vec<String>>,
    /// The command of each row.
    pub(crate) commands: Vec<String>,
}

impl Table {
    pub fn new(rows: &[(&Case, &Row)]) -> Table {
        let measures = measures(rows);
        let visits = !measures.iter().any(|m| m == "visits");
        Table::of(rows, measures, visits)
    }

    /// A table as narrow as a paper needs it: what must be an exact value is left out.
    pub fn for_print(rows: &[(&Case, &Row)]) -> Table {
        let mut measures = fields(&rows.to_vec());
        if !measures.iter().any(|m| m == "states") {
            measures.insert(0, "states".into());
        }
        Table::of(rows, measures, false)
    }

    fn of(rows: &[(&Case, &Row)], measures: Vec<String>, visits: bool) -> Table {
        let any_label = rows.iter().any(|(case, row)| !configuration(case, row).is_empty());
        let any_paper = |field: &str| rows.iter().any(|(case, _)| case.paper.iter().any(|(f, _)| f == field));
        let mut columns = vec![("model".to_string(), false)];
        if any_label {
            columns.push(("configuration".into(), false));
        }
        for field in &measures {
            if any_paper(field) {
                columns.push((format!("{field}, paper"), true));
                columns.push((format!("{field}, ours"), true));
                columns.push(("ratio".into(), true));
            } else {
                columns.push((field.clone(), true));
            }
        }
        if visits {
            columns.push(("visits".into(), true));
        }
        columns.extend([("time".into(), true), ("memory".into(), true), ("outcome".into(), false)]);
        let mut table = Table { columns, rows: Vec::new(), commands: Vec::new() };
        for (case, row) in rows {
            let record = &row.record;
            let value = |field: &str| record.number(field).filter(|_| row.found());
            let mut cells = vec![case.model.name.clone()];
            if any_label {
                cells.push(configuration(case, row));
            }
            for field in &measures {
                let (paper, ours) = (published(case, field), value(field));
                if any_paper(field) {
                    cells.push(figure(case, paper));
                    cells.push(figure(case, ours));
                    cells.push(
                        paper.zip(ours).filter(|(paper, _)| *paper != 0.0).map_or("".into(), |(p, o)| ratio(o / p)),
                    );
                } else {
                    cells.push(figure(case, ours));
                }
            }
            if visits {
                cells.push(figure(case, value("visits")));
            }
            let ran = record.outcome != Outcome::Skipped;
            cells.push(if ran { format!("{:.2} s", record.wall_seconds) } else { String::new() });
            cells.push(record.peak_rss_bytes.map_or(String::new(), |n| bytes(n as usize)));
            cells.push(outcome(case, row));
            table.rows.push(cells);
            table.commands.push(format!("scrimp {}", command_line(&record.command)));
        }
        table.mean(&measures, rows, &any_paper, any_label);
        table
    }

    /// A last row with the means over all rows that have both a published value and ours.
    fn mean(&mut self, measures: &[String], rows: &[(&Case, &Row)], any_paper: &dyn Fn(&str) -> bool, any_label: bool) {
        let mut cells = vec!["mean".to_string()];
        cells.resize(if any_label { 2 } else { 1 }, String::new());
        let mut any = false;
        for field in measures {
            if !any_paper(field) {
                cells.push(String::new());
                continue;
            }
            let both = |(case, row): &(&Case, &Row)| {
                let ours = row.record.number(field).filter(|_| row.found());
                let scale = case.percent_of.map_or(1.0, |whole| 100.0 / whole);
                let done = row.record.outcome == Outcome::Done;
                published(case, field).zip(ours).filter(|(p, _)| done && *p > 0.0).map(|(p, o)| (p * scale, o * scale))
            };
            let pairs: Vec<(f64, f64)> = rows.iter().filter_map(both).collect();
            if pairs.len() < 2 {
                cells.resize(cells.len() + 3, String::new());
                continue;
            }
            any = true;
            let n = pairs.len() as f64;
            let percent = rows.iter().all(|(case, _)| case.percent_of.is_some());
            for value in [pairs.iter().map(|p| p.0).sum::<f64>() / n, pairs.iter().map(|p| p.1).sum::<f64>() / n] {
                cells.push(if percent { format!("{value:.1} %") } else { String::new() });
            }
            cells.push(ratio((pairs.iter().map(|(p, o)| (o.max(1e-9) / p).ln()).sum::<f64>() / n).exp()));
        }
        if any {
            cells.resize(self.columns.len(), String::new());
            self.rows.push(cells);
        }
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let width = |i: usize| {
            let cells = self.rows.iter().map(|row| row[i].chars().count());
            cells.chain([self.columns[i].0.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let headings: Vec<String> = self.columns.iter().map(|(heading, _)| heading.clone()).collect();
        let mut out = String::new();
        for cells in std::iter::once(&headings).chain(&self.rows) {
            let mut line = String::new();
            for (i, cell) in cells.iter().enumerate() {
                let space = " ".repeat(widths[i] - cell.chars().count());
                line += &if self.columns[i].1 { format!("  {space}{cell}") } else { format!("  {cell}{space}") };
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }

    /// For documents, with the command of each row where there is one.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let headings: Vec<&str> = self.columns.iter().map(|(heading, _)| heading.as_str()).collect();
        let command = |cell: &str| if self.commands.is_empty() { String::new() } else { format!(" {cell} |") };
        let _ = writeln!(out, "| {} |{}", headings.join(" | "), command("command"));
        let rules: Vec<&str> = self.columns.iter().map(|(_, number)| if *number { "---:" } else { "---" }).collect();
        let _ = writeln!(out, "| {} |{}", rules.join(" | "), command("---"));
        for (i, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            let shown = self.commands.get(i).map_or(String::new(), |c| format!("`{}`", c.replace('|', "\\|")));
            let _ = writeln!(out, "| {} |{}", cells.join(" | "), command(&shown));
        }
        out
    }
}

/// The fields that a task is about: those with published values, those with expected numbers, or what one asks first.
fn measures(rows: &[(&Case, &Row)]) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    let mut add = |field: &str| {
        if !fields.iter().any(|f| f == field) {
            fields.push(field.to_string());
        }
    };
    for (case, _) in rows {
        case.measures.iter().for_each(|field| add(field));
        case.paper.iter().for_each(|(field, _)| add(field));
        if let Kind::Search(search) = &case.kind {
            add(&search.parameter);
        }
    }
    let numbers = rows.iter().flat_map(|(case, _)| &case.expect).filter(|e| !matches!(e.test, Test::Text(_)));
    numbers.for_each(|e| add(&e.field));
    if fields.is_empty() {
        fields = vec!["states".into(), "stored_peak".into()];
    }
    fields
}

fn published(case: &Case, field: &str) -> Option<f64> {
    case.paper.iter().find(|(f, _)| f == field).map(|(_, value)| *value)
}

/// The settings that differ within the task, and those that a search has settled on.
pub(crate) fn configuration(case: &Case, row: &Row) -> String {
    let mut words = vec![case.label.clone()];
    if let (true, Some(tried)) = (row.found(), &row.record.tried) {
        words.extend(tried.variant.values().filter_map(|v| v.as_str()).map(str::to_string));
    }
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

fn outcome(case: &Case, row: &Row) -> String {
    let complaints = complaints(case, row);
    let searched = row.search.map(|search| {
        let runs = count_of(search.runs as u64, "run");
        match search.found {
            true => format!("best of {runs}"),
            false => format!("none of {runs} accepted ({})", row.record.outcome),
        }
    });
    match row.record.outcome {
        _ if !complaints.is_empty() => format!("WRONG: {}", complaints.join("; ")),
        Outcome::Skipped => Outcome::Skipped.to_string(),
        _ if searched.is_some() => searched.unwrap_or_default(),
        Outcome::Done if !case.expect.is_empty() => "as expected".into(),
        Outcome::Limit => format!("limit of {}", row.record.result["limits"]["reached"].as_str().unwrap_or("?")),
        outcome => outcome.to_string(),
    }
}

fn figure(case: &Case, value: Option<f64>) -> String {
    match (value, case.percent_of) {
        (None, _) => String::new(),
        (Some(value), Some(whole)) => format!("{:.1} %", value / whole * 100.0),
        (Some(value), None) if value >= EXACT => format!("{value:.3e}"),
        (Some(value), None) if value >= 0.0 && value.fract() == 0.0 => grouped(value as u64),
        (Some(value), None) if value.abs() >= 10.0 => format!("{value:.1}"),
        (Some(value), None) => plain((value * 1e4).round() / 1e4),
    }
}

fn ratio(value: f64) -> String {
    format!("{value:.2}")
}
