//! Runs of a model: told for people as lines, a line a step, and for programs.

mod columns;
mod itf;
mod row;
mod table;
mod text;

pub use columns::Columns;
pub use itf::itf;
pub use row::{Row, fault_rows, rows};
pub use table::table;
pub use text::{beginning, cycle_begins, ending, run, state_lines, text};

use crate::schema;
use scrimp_core::{PropertyResult, Step};
use scrimp_system::{Describe, Standing, StepText};
use serde_json::{Map, Value, json};

/// A run, and where among its single steps its cycle begins if it goes on for ever.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub model: &'a dyn Describe,
    pub initial: &'a [u8],
    pub steps: &'a [Step],
    pub again: Option<usize>,
}

/// One step between states of the model; an atomic sequence has several single steps.
#[derive(Debug, Clone, Copy)]
pub struct Edge<'a> {
    pub before: &'a [u8],
    pub steps: &'a [Step],
    /// Does it come to a state of the model, and not only on the way there to a run-time error?
    pub whole: bool,
}

impl<'a> Edge<'a> {
    pub fn after(&self) -> &'a [u8] {
        self.steps.last().map_or(self.before, |step| &step.state)
    }
}

impl<'a> Run<'a> {
    /// Its steps.
    pub fn edges(&self) -> Vec<Edge<'a>> {
        let mut before = self.initial;
        let edge = |steps: &'a [Step]| {
            let edge = Edge { before, steps, whole: steps.last().is_some_and(|step| step.edge.is_some()) };
            before = edge.after();
            edge
        };
        self.steps.split_inclusive(|step| step.edge.is_some()).map(edge).collect()
    }

    /// How many steps come before the cycle, if there is one.
    pub fn cycle(&self) -> Option<usize> {
        let edges = |singles: usize| self.steps.iter().take(singles).filter(|step| step.edge.is_some()).count();
        self.again.map(edges)
    }
}

/// The values that differ between two states, as name, before, after; without those that the event tells anyway.
pub fn changes(model: &dyn Describe, before: &[u8], after: &[u8]) -> Vec<(String, String, String)> {
    let told = model.changes(before, after).into_iter().filter(|change| !model.is_place(change.entry));
    told.map(|change| (change.name, change.before, change.after)).collect()
}

/// The run of a result as an object of its own, with the name of the model and of what it shows.
pub fn document(model: &dyn Describe, result: &PropertyResult, source: &str, property: Option<&str>) -> Option<Value> {
    let trace = json(model, result)?;
    Some(json!({ "schema": schema::TRACE, "model": source, "property": property, "trace": trace }))
}

fn object(pairs: impl IntoIterator<Item = (String, String)>) -> Value {
    Value::Object(pairs.into_iter().map(|(name, value)| (name, value.into())).collect::<Map<_, _>>())
}

/// A state's names and values.
pub fn state_json(model: &dyn Describe, state: &[u8]) -> Value {
    object(model.values(state))
}

/// The run of a result, for scripts. `event` is what a replay runs, or null for steps on the way to the next such event, or
/// to the fault; everything else explains it. `loop` is how many steps are before those that go round for ever, or null.
pub fn json(model: &dyn Describe, result: &PropertyResult) -> Option<Value> {
    let initial = &result.trace.as_ref()?.initial;
    let mut before = initial;
    let single = result.single_steps(model)?;
    let mut steps = Vec::with_capacity(single.len());
    for Step { event, state: after, edge } in &single {
        let text = model.event(*event);
        let mut step = json!({
            "event": edge,
            "label": text.label,
            "processes": text.processes,
            "line": text.line,
            "source": text.source.trim(),
            "changes": object(changes(model, before, after).into_iter().map(|(name, _, new)| (name, new))),
        });
        if !text.file.is_empty() {
            step["file"] = text.file.clone().into();
        }
        if !text.steps.is_empty() {
            step["statements"] = text.steps.iter().map(statement_json).collect();
            step["prints"] = model.printed(before, *event).map(|(_, text)| text).into();
        }
        steps.push(step);
        before = after;
    }
    let again = result.loop_among(&single);
    Some(json!({ "length": single.len(), "initial": state_json(model, initial), "steps": steps, "loop": again }))
}

fn statement_json(step: &StepText) -> Value {
    let StepText { process, name, file, line, number, statement, .. } = step;
    json!({ "process": process, "name": name, "file": file, "line": line, "state": number, "statement": statement })
}

/// Where the processes are in a state; null where the model does not say.
pub fn standing_json(model: &dyn Describe, state: &[u8]) -> Value {
    let all = model.standing(state);
    if all.is_empty() {
        return Value::Null;
    }
    let one = |s: &Standing| {
        json!({
            "process": s.process, "name": s.name, "file": s.file, "line": s.line, "state": s.number,
            "valid_end": s.end, "statements": s.statements,
        })
    };
    all.iter().map(one).collect()
}
