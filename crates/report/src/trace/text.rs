//! A run for people: a line a step where one suffices, and the place where a cycle begins and ends.

use super::columns::Columns;
use super::row::{Row, fault_rows, rows, standing_rows};
use super::{Run, changes};
use crate::style::Style;
use scrimp_core::{Step, Trace};
use scrimp_system::{Describe, FaultRecord};
use std::collections::BTreeSet;

/// A run as lines.
pub fn text(model: &dyn Describe, trace: &Trace, style: Style) -> String {
    let steps = trace.single_steps(model, None);
    run(&Run { model, initial: &trace.initial, steps: &steps, again: None }, None, style)
}

/// A run as lines, with the run-time error that it ends in.
pub fn run(run: &Run, fault: Option<FaultRecord>, style: Style) -> String {
    let Run { model, initial, .. } = *run;
    let edges = run.edges();
    let (begins, whole) = (run.cycle(), edges.iter().filter(|edge| edge.whole).count());
    let mut parts: Vec<Vec<Row>> =
        edges.iter().enumerate().map(|(i, edge)| rows(model, i + 1, edge.before, edge.steps)).collect();
    if let Some(record) = fault {
        // The error is part of the step that leads to it.
        match parts.last_mut().filter(|_| whole < edges.len()) {
            Some(last) => last.extend(fault_rows(model, None, record)),
            None => parts.push(fault_rows(model, Some(edges.len() + 1), record)),
        }
    }
    let mut columns = Columns::new(style);
    parts.iter().for_each(|part| columns.expect(part));
    let mut out = beginning(model, initial, &columns);
    for (i, part) in parts.iter().enumerate() {
        if begins == Some(i) {
            out.push_str(&cycle_begins(model, initial, &columns, style));
        }
        out.push_str(&columns.lines(part));
    }
    if let Some(begins) = begins {
        out.push_str(&cycle_ends(run, begins, &columns));
    }
    out
}

/// The state that a run begins in.
pub fn beginning(model: &dyn Describe, initial: &[u8], columns: &Columns) -> String {
    let mut out = columns.title(Some(0), "initial state");
    let standing = model.standing(initial);
    if standing.is_empty() {
        return out + &columns.values(&state_values(model, initial));
    }
    let processes: Vec<String> = standing.iter().map(|s| format!("proc {} ({})", s.process, s.name)).collect();
    out.push_str(&columns.values(&processes));
    let values = model.values(initial).into_iter().enumerate().filter(|(i, _)| !model.is_place(*i));
    let there = values.map(|(_, value)| value).filter(|(_, value)| value != "0" && value != "[]");
    let mut items: Vec<String> = there.map(|(name, value)| format!("{name} = {value}")).collect();
    items.push(if items.is_empty() { "all values are 0".into() } else { "all others are 0".to_string() });
    out + &columns.values(&items)
}

/// `name = value` for a whole state.
fn state_values(model: &dyn Describe, state: &[u8]) -> Vec<String> {
    let zeros = model.leaves_out_zeros();
    let shown = model.values(state).into_iter().filter(|(_, value)| !zeros || value != "0");
    shown.map(|(name, value)| format!("{name} = {value}")).collect()
}

/// A whole state, several values to a line.
pub fn state_lines(model: &dyn Describe, state: &[u8], style: Style) -> String {
    Columns::new(style).values(&state_values(model, state))
}

/// How a run ends: where the processes stand, or what is marked.
pub fn ending(model: &dyn Describe, state: &[u8], style: Style) -> String {
    let mut columns = Columns::new(style);
    let standing = standing_rows(model, state);
    match (standing.is_empty(), model.leaves_out_zeros()) {
        (false, _) => columns.title(None, "the processes at the end") + &columns.lines(&standing),
        (true, true) => {
            let marked = state_values(model, state);
            let title = if marked.is_empty() { "no place is marked at the end" } else { "the marking at the end" };
            columns.title(None, title) + &columns.values(&marked)
        }
        (true, false) => String::new(),
    }
}

/// The line before the first step of a cycle; users of SPIN know it.
pub fn cycle_begins(model: &dyn Describe, state: &[u8], columns: &Columns, style: Style) -> String {
    columns.remark(&style.warn(match model.standing(state).is_empty() {
        true => "---- the cycle begins: these steps repeat for ever ----",
        false => "<<<<<START OF CYCLE>>>>>",
    }))
}

/// What is said behind the last step of a run whose cycle has all but the first `begins` steps: that it begins again, who takes
/// part in it, and what it changes on its way.
fn cycle_ends(run: &Run, begins: usize, columns: &Columns) -> String {
    let edges = run.edges();
    let cycle = &edges[begins.min(edges.len())..];
    if cycle.is_empty() {
        return columns.remark("nothing more can happen, for ever");
    }
    let mut processes = BTreeSet::new();
    let mut changed = BTreeSet::new();
    for edge in cycle {
        let mut before = edge.before;
        for Step { event, state, .. } in edge.steps {
            processes.extend(run.model.event(*event).processes);
            changed.extend(changes(run.model, before, state).into_iter().map(|(name, _, _)| name));
            before = state;
        }
    }
    let mut out = columns.remark(&format!("---- and so on for ever, from step {} again ----", begins + 1));
    let mut list = |title: &str, names: BTreeSet<String>| {
        let mut names: Vec<String> = names.into_iter().collect();
        if let Some(first) = names.first_mut() {
            *first = format!("{title}: {first}");
            out.push_str(&columns.values(&names));
        }
    };
    list("processes that move in the cycle", processes);
    let unchanged = changed.is_empty();
    list("values that change in the cycle", changed);
    if unchanged {
        out.push_str(&columns.remark("no value changes in the cycle"));
    }
    out
}
