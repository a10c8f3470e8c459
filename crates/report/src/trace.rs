//! A run of the model, step by step: the event, its line in the model, and only the values that it changed.

use crate::style::Style;
use crate::{lasso, process};
use scrimp_core::{PropertyResult, Step, Trace};
use scrimp_system::{Describe, EventCode, Standing, StepText};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The values that differ between two states, as name, before, after; without those that the event tells anyway.
pub fn changes(model: &dyn Describe, before: &[u8], after: &[u8]) -> Vec<(String, String, String)> {
    let told = model.changes(before, after).into_iter().filter(|change| !model.is_place(change.entry));
    told.map(|change| (change.name, change.before, change.after)).collect()
}

/// `name = value` for a whole state, several to a line.
pub fn state_lines(model: &dyn Describe, state: &[u8]) -> String {
    let mut out = String::new();
    let mut width = 0;
    let zeros = model.leaves_out_zeros();
    for (name, value) in model.values(state).into_iter().filter(|(_, value)| !zeros || value != "0") {
        let entry = format!("{name} = {value}");
        if width > 0 && width + entry.len() + 2 > 92 {
            out.push('\n');
            width = 0;
        }
        out.push_str(if width == 0 { "       " } else { ", " });
        width += entry.len() + 2;
        out.push_str(&entry);
    }
    if width > 0 {
        out.push('\n');
    }
    out
}

/// One step as lines: number, event, place in the model, changed values.
pub fn step_lines(
    model: &dyn Describe,
    number: usize,
    event: EventCode,
    before: &[u8],
    after: &[u8],
    style: Style,
) -> String {
    let text = model.event(event);
    if !text.steps.is_empty() {
        return process::step(model, number, (event, &text), before, after);
    }
    let mut out = format!("{number:>5}  {}", style.bold(&text.label));
    if text.line > 0 {
        let source: String = text.source.trim().chars().take(100).collect();
        let _ = write!(out, "  {}", style.faint(&format!("[line {}: {source}]", text.line)));
    }
    out.push('\n');
    let changed = changes(model, before, after);
    let words: Vec<String> = changed.iter().map(|(name, old, new)| format!("{name}: {old} -> {new}")).collect();
    if !words.is_empty() {
        let _ = writeln!(out, "       {}", words.join(", "));
    }
    out
}

/// A run as lines.
pub fn text(model: &dyn Describe, trace: &Trace, style: Style) -> String {
    steps_text(model, &trace.initial, (&trace.single_steps(model, None), None), style)
}

/// The same from its steps, and where among them its loop begins if it goes on for ever.
pub fn steps_text(
    model: &dyn Describe,
    initial: &[u8],
    (steps, again): (&[Step], Option<usize>),
    style: Style,
) -> String {
    let mut out = beginning(model, initial, style);
    let mut before = initial;
    for (i, step) in steps.iter().enumerate() {
        if again == Some(i) {
            out.push_str(&lasso::beginning(model, before, style));
        }
        out.push_str(&step_lines(model, i + 1, step.event, before, &step.state, style));
        before = &step.state;
    }
    if let Some(again) = again {
        out.push_str(&lasso::end(model, initial, steps, again));
    }
    out
}

/// The state that a run begins in.
pub fn beginning(model: &dyn Describe, initial: &[u8], style: Style) -> String {
    match model.standing(initial).is_empty() {
        true => format!("{:>5}  {}\n{}", 0, style.bold("initial state"), state_lines(model, initial)),
        false => process::beginning(model, initial),
    }
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
        if !text.steps.is_empty() {
            step["file"] = text.file.clone().into();
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
