//! A task that tries every combination of its settings: which of them run, which need least memory and least time, and a map of
//! all of them.

use crate::case::Case;
use crate::document::{Node, Read};
use crate::record::Outcome;
use crate::runner::Row;
use crate::table::configuration;
use scrimp_report::html::{escape, table};
use scrimp_report::number::bytes;
use std::fmt::Write;

/// How many of the best are named.
const BEST: usize = 5;

/// The settings that go down and across a map.
#[derive(Debug, Clone)]
pub struct Matrix {
    pub rows: Vec<String>,
    pub columns: Vec<String>,
}

impl Matrix {
    pub fn read(node: &Node) -> Read<Matrix> {
        let table = node.table(&["rows", "columns"])?;
        let names = |key: &str| -> Read<Vec<String>> {
            table.need(key)?.list()?.iter().map(|node| node.text().map(str::to_string)).collect()
        };
        Ok(Matrix { rows: names("rows")?, columns: names("columns")? })
    }
}

/// A run that came to its end.
struct Ran<'r> {
    configuration: String,
    memory: f64,
    time: f64,
    row: &'r Row,
}

fn ran<'r>(rows: &[(&Case, &'r Row)]) -> Vec<Ran<'r>> {
    let done = rows.iter().filter(|(_, row)| row.record.outcome == Outcome::Done);
    let of = |(case, row): &(&Case, &'r Row)| {
        let memory = row.record.peak_rss_bytes? as f64;
        Some(Ran { configuration: configuration(case, row), memory, time: row.record.wall_seconds, row })
    };
    done.filter_map(of).collect()
}

/// The rows of each model, in the order in which models come.
fn by_model<'c, 'r>(rows: &[(&'c Case, &'r Row)]) -> Vec<(&'c str, Vec<(&'c Case, &'r Row)>)> {
    let mut models: Vec<(&str, Vec<(&Case, &Row)>)> = Vec::new();
    for (case, row) in rows {
        match models.iter_mut().find(|(name, _)| *name == case.model.name) {
            Some((_, of_model)) => of_model.push((case, row)),
            None => models.push((&case.model.name, vec![(case, row)])),
        }
    }
    models
}

fn memory_of(ran: &Ran) -> f64 {
    ran.memory
}

fn time_of(ran: &Ran) -> f64 {
    ran.time
}

type Measure = (&'static str, fn(&Ran) -> f64);

const MEASURES: [Measure; 2] = [("memory", memory_of), ("time", time_of)];

fn figure(measure: &str, value: f64) -> String {
    if measure == "memory" { bytes(value as usize) } else { format!("{value:.2} s") }
}

/// What ran and what was best, model by model.
pub fn text(rows: &[(&Case, &Row)]) -> String {
    let mut out = String::new();
    for (model, rows) in by_model(rows) {
        let mut done = ran(&rows);
        let refused = rows.iter().filter(|(_, row)| row.record.outcome == Outcome::Refused).count();
        let share = 100.0 * (rows.len() - refused) as f64 / rows.len().max(1) as f64;
        let _ = writeln!(
            out,
            "  {model}: {} combinations, {} accepted ({share:.0} %), {} came to their end",
            rows.len(),
            rows.len() - refused,
            done.len()
        );
        for (name, measure) in MEASURES {
            done.sort_by(|a, b| measure(a).total_cmp(&measure(b)));
            for (place, best) in done.iter().take(BEST).enumerate() {
                let head = if place == 0 { format!("least {name}") } else { String::new() };
                let (memory, time) = (figure("memory", best.memory), figure("time", best.time));
                let _ = writeln!(out, "    {head:<14}{memory:>10}{time:>9}  {}", best.configuration);
            }
        }
    }
    out
}

/// For each model what was best, and maps of all combinations, one of memory and one of time.
pub fn html(matrix: &Matrix, rows: &[(&Case, &Row)]) -> String {
    let mut out = String::new();
    for (model, rows) in by_model(rows) {
        let mut done = ran(&rows);
        let heads = ["", "memory", "time", "combination"];
        let mut lines = vec![heads.map(str::to_string).to_vec()];
        for (name, measure) in MEASURES {
            done.sort_by(|a, b| measure(a).total_cmp(&measure(b)));
            lines.extend(done.iter().take(BEST).map(|best| {
                let (memory, time) = (figure("memory", best.memory), figure("time", best.time));
                vec![format!("least {name}"), memory, time, format!("<code>{}</code>", escape(&best.configuration))]
            }));
        }
        let _ = writeln!(out, "<h3>{}: the best</h3>\n{}", escape(model), table(&[false, true, true, false], &lines));
        for (name, measure) in MEASURES {
            let least = done.iter().map(measure).fold(f64::INFINITY, f64::min);
            let most = done.iter().map(measure).fold(0.0, f64::max);
            let _ = writeln!(out, "<h3>{}: {name}</h3>", escape(model));
            let (down, across) = (headings(&matrix.rows, &rows), headings(&matrix.columns, &rows));
            out.push_str("<div class=\"scroll\"><table class=\"map\"><tr><th></th>");
            across.iter().for_each(|head| {
                let _ = write!(out, "<th>{}</th>", escape(&shown(head)));
            });
            out.push_str("</tr>\n");
            for head in &down {
                let _ = write!(out, "<tr><th>{}</th>", escape(&shown(head)));
                for column in &across {
                    let here = |(case, _): &&(&Case, &Row)| {
                        values(&matrix.rows, case) == *head && values(&matrix.columns, case) == *column
                    };
                    let row = rows.iter().find(here).map(|(_, row)| *row);
                    out.push_str(&cell(row, &done, (name, measure), least, most));
                }
                out.push_str("</tr>\n");
            }
            out.push_str("</table></div>\n");
        }
    }
    out
}

/// One combination: the greener the better, on a scale of ratios; or why there is no figure.
fn cell(row: Option<&Row>, done: &[Ran], (name, measure): Measure, least: f64, most: f64) -> String {
    let Some(row) = row else { return "<td></td>".into() };
    let Some(ran) = done.iter().find(|ran| std::ptr::eq(ran.row, row)) else {
        let why = row.record.message.as_deref().and_then(|message| message.lines().next()).unwrap_or("");
        let (class, word) = if row.record.outcome == Outcome::Refused { ("no", "") } else { ("cut", "limit") };
        return format!("<td class=\"{class}\" title=\"{}\">{word}</td>", escape(why));
    };
    let value = measure(ran);
    let ratio = if most > least { (value / least).ln() / (most / least).ln() } else { 0.0 };
    let hue = 130.0 * (1.0 - ratio);
    let (memory, time) = (figure("memory", ran.memory), figure("time", ran.time));
    let title = escape(&format!("{}: {memory}, {time}", ran.configuration));
    format!(
        "<td style=\"background:hsl({hue:.0} 60% 78%);color:#111\" title=\"{title}\">{}</td>",
        figure(name, value).replace(' ', "\u{a0}")
    )
}

fn values(names: &[String], case: &Case) -> Vec<String> {
    let value = |name: &String| case.settings.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
    names.iter().map(|name| value(name).unwrap_or_default()).collect()
}

fn headings(names: &[String], rows: &[(&Case, &Row)]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for (case, _) in rows {
        let values = values(names, case);
        if !all.contains(&values) {
            all.push(values);
        }
    }
    all
}

/// Values without the flags that say what they are.
fn shown(values: &[String]) -> String {
    let plain = |value: &String| {
        let words: Vec<&str> = value.split_whitespace().filter(|word| !word.starts_with('-')).collect();
        if words.is_empty() { "–".to_string() } else { words.join(" ") }
    };
    values.iter().map(plain).collect::<Vec<_>>().join(" · ")
}
