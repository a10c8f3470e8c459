//! A run as a table: a row for each state, a column for each value that ever changes. Unchanged values are left blank, so that
//! what changes is seen. Columns that do not fit beside each other stand in tables below.

use super::Run;
use super::columns::{filled, length, wrapped};
use super::row::rows;
use crate::style::Style;
use std::collections::VecDeque;

/// Columns are at most this wide; longer values go on below.
const MOST: usize = 32;
const GAP: &str = "  ";

/// The run as a table.
pub fn table(run: &Run, style: Style) -> String {
    let Run { model, initial, .. } = *run;
    let edges: Vec<_> = run.edges().into_iter().filter(|edge| edge.whole).collect();
    let names: Vec<String> = model.values(initial).into_iter().map(|(name, _)| name).collect();
    // What is known of each entry after each step, where it has changed.
    let mut cells: Vec<Vec<Option<String>>> = vec![model.values(initial).into_iter().map(|(_, v)| Some(v)).collect()];
    let mut changes = vec![false; names.len()];
    for edge in &edges {
        let mut row = vec![None; names.len()];
        for change in model.changes(edge.before, edge.after()) {
            changes[change.entry] = true;
            row[change.entry] = Some(change.after);
        }
        cells.push(row);
    }
    let mut head = vec![vec!["0".to_string(), String::new(), "initial state".into()]];
    for (i, edge) in edges.iter().enumerate() {
        let told = rows(model, i + 1, edge.before, edge.steps);
        let process = told.first().map_or(String::new(), |row| row.process.clone());
        let first = told.first().map_or(String::new(), |row| row.event.clone());
        let more = edge.steps.len().saturating_sub(1);
        let event = if more > 0 { format!("{first} +{more}") } else { first };
        head.push(vec![(i + 1).to_string(), process, event]);
    }
    let lead = ["step", "process", "event"].iter().enumerate();
    let lead: Vec<Column> = lead.map(|(i, title)| Column::new(title, head.iter().map(|row| row[i].as_str()))).collect();
    let lead: Vec<Column> =
        lead.into_iter().filter(|column| column.lines.iter().any(|cell| cell.concat() != "")).collect();
    let shown = (0..names.len()).filter(|entry| changes[*entry]);
    let of_entry =
        |entry: usize| Column::new(&names[entry], cells.iter().map(|row| row[entry].as_deref().unwrap_or("")));
    let mut rest: VecDeque<Column> = shown.map(of_entry).collect();
    let (cycle, mut out) = (run.cycle(), String::new());
    let unchanged: Vec<String> = names
        .iter()
        .zip(&cells[0])
        .zip(&changes)
        .filter(|(_, changes)| !**changes)
        .map(|((name, value), _)| format!("{name} = {}", value.as_deref().unwrap_or("")))
        .collect();
    loop {
        let mut part: Vec<&Column> = lead.iter().collect();
        let mut taken: usize = part.iter().map(|column| column.width + GAP.len()).sum();
        let fits = rest.iter().take_while(|column| {
            taken += column.width + GAP.len();
            taken <= style.width + GAP.len()
        });
        let count = fits.count().max(1).min(rest.len());
        let columns: Vec<Column> = rest.drain(..count).collect();
        part.extend(&columns);
        out.push_str(&lines(&part, cycle, style));
        if rest.is_empty() {
            break;
        }
        out.push('\n');
    }
    match cycle {
        Some(begins) if begins == edges.len() => out.push_str("nothing more can happen, for ever\n"),
        Some(begins) => out.push_str(&format!("and so on for ever, from step {} again\n", begins + 1)),
        None => {}
    }
    if !unchanged.is_empty() && !model.leaves_out_zeros() {
        out.push_str("unchanged: ");
        out.push_str(&filled(&unchanged, style.width.saturating_sub(11)).join("\n           "));
        out.push('\n');
    }
    out
}

struct Column {
    title: String,
    width: usize,
    /// Of each row, the lines of its cell.
    lines: Vec<Vec<String>>,
}

impl Column {
    fn new<'a>(title: &str, cells: impl Iterator<Item = &'a str>) -> Column {
        let lines: Vec<Vec<String>> = cells.map(|cell| wrapped(cell, MOST)).collect();
        let widest = lines.iter().flatten().map(|line| length(line)).max().unwrap_or(0);
        Column { title: title.to_string(), width: widest.max(length(title)), lines }
    }
}

fn lines(columns: &[&Column], cycle: Option<usize>, style: Style) -> String {
    let line = |cells: Vec<&str>| -> String {
        let cells = cells.iter().zip(columns).map(|(cell, column)| format!("{cell:<width$}", width = column.width));
        format!("{}\n", cells.collect::<Vec<_>>().join(GAP).trim_end())
    };
    let mut out = style.bold(line(columns.iter().map(|column| column.title.as_str()).collect()).trim_end());
    out.push('\n');
    let rule: Vec<String> = columns.iter().map(|column| "-".repeat(column.width)).collect();
    out.push_str(&line(rule.iter().map(String::as_str).collect()));
    let rows = columns.first().map_or(0, |column| column.lines.len());
    for row in 0..rows {
        if row > 0 && cycle == Some(row - 1) {
            out.push_str(&format!("{}\n", style.warn("---- the cycle begins: these steps repeat for ever ----")));
        }
        let height = columns.iter().map(|column| column.lines[row].len()).max().unwrap_or(1);
        for at in 0..height {
            out.push_str(&line(
                columns.iter().map(|column| column.lines[row].get(at).map_or("", String::as_str)).collect(),
            ));
        }
    }
    out
}
