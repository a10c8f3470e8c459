//! Going a way that a trace describes, each event of which must be enabled and change what the trace says.

use super::{Node, Walk};
use crate::Explorable;
use scrimp_core::PropertyResult;
use scrimp_system::{Batch, Describe};
use serde_json::Value;

/// A trace that was read: the steps, and where among them its loop begins if it goes on for ever.
#[derive(Debug)]
pub struct Run<'a> {
    trace: &'a Value,
    steps: &'a [Value],
    /// Its states, where it has them: see [`exact_json`].
    states: &'a [Value],
    again: Option<usize>,
}

/// Where a trace has led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    pub node: Node,
    /// The state at which its loop begins; `node` itself where nothing more happens, for ever.
    pub again: Option<Node>,
}

/// Where a trace and the model part ways.
#[derive(Debug)]
pub struct Mismatch {
    pub message: String,
    /// How far it went.
    pub node: Option<Node>,
}

/// The trace itself, the one of a file that has one alone, or the first one in the answer of a check.
pub fn find_trace(value: &Value) -> Option<&Value> {
    if value["steps"].is_array() {
        return Some(value);
    }
    if value["trace"]["steps"].is_array() {
        return Some(&value["trace"]);
    }
    value["properties"].as_array()?.iter().map(|p| &p["trace"]).find(|t| t["steps"].is_array())
}

impl<'a> Run<'a> {
    pub fn of(trace: &'a Value) -> Result<Run<'a>, String> {
        let list = |name: &str| trace[name].as_array().map_or(&[][..], Vec::as_slice);
        let (steps, states) = (list("steps"), list("states"));
        if trace["loop"].is_null() {
            return Ok(Run { trace, steps, states, again: None });
        }
        let again =
            trace["loop"].as_u64().and_then(|again| usize::try_from(again).ok()).filter(|again| *again <= steps.len());
        let again = again.ok_or_else(|| format!("there is no step {} at which a loop could begin", trace["loop"]))?;
        match again.checked_sub(1).is_some_and(|last| steps[last]["event"].is_null()) {
            true => Err(format!("the loop begins after step {again}, which leads to no state")),
            false => Ok(Run { trace, steps, states, again: Some(again) }),
        }
    }
}

impl Run<'_> {
    /// Does it say that the state after so many edges is this one?
    fn is_at(&self, edges: usize, state: &[u8]) -> bool {
        self.states.get(edges).and_then(Value::as_str).is_some_and(|noted| noted == written(state))
    }
}

/// The run of a result as a trace with its states, byte by byte. What a model in Rust tells of its states need not tell all
/// of them apart; by this, the trace still names one run.
pub fn exact_json(model: &dyn Describe, result: &PropertyResult) -> Option<Value> {
    let (mut trace, run) = (scrimp_report::trace::json(model, result)?, result.trace.as_ref()?);
    let states = std::iter::once(&run.initial).chain(run.steps.iter().map(|(_, state)| state));
    trace["states"] = states.map(|state| written(state)).collect();
    Some(trace)
}

fn written(state: &[u8]) -> String {
    state.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Walk {
    /// Goes the way of a trace.
    pub fn replay(&mut self, run: &Run) -> Result<Replayed, Mismatch> {
        let begin = |node: Node, i: usize| (run.again == Some(i)).then_some(node);
        let initial = &run.trace["initial"];
        let other = |name: &str| self.is_renumbered() && initial[name].is_null();
        let suits = |i: &usize| {
            let values = self.model().shown_values(self.starts.state(*i));
            let mut values = self.entries.iter().zip(&values);
            values.all(|(entry, value)| initial[&entry.name] == value.as_str() || other(&entry.name))
        };
        let exact = |i: &usize| run.is_at(0, self.starts.state(*i));
        let all = 0..self.starts.len();
        let start = all.clone().find(|i| exact(i) && suits(i)).or_else(|| all.clone().find(suits));
        let lost = |node: Option<Node>, message: String| Mismatch { message, node };
        let start = start.ok_or_else(|| lost(None, "the model has no such initial state".into()))?;
        let mut node = self.start(start).map_err(|e| lost(None, e.to_string()))?;
        let (mut again, mut number, mut edges) = (None, 0, 0);
        for (i, step) in run.steps.iter().enumerate() {
            again = again.or(begin(node, i));
            number += 1;
            if step["event"].is_null() {
                continue; // on the way to the next one
            }
            edges += 1;
            let taken = self.chosen(node, step, |state| run.is_at(edges, state)).map_err(|what| {
                let label = step["label"].as_str().unwrap_or("?");
                lost(Some(node), format!("step {number}, {label}: {what}"))
            });
            node = self.step(node, taken?).map_err(|e| lost(Some(node), e.to_string()))?;
        }
        again = again.or(begin(node, run.steps.len()));
        if let Some(again) = again {
            self.closes(node, again).map_err(|what| lost(Some(node), what))?;
        }
        Ok(Replayed { node, again })
    }

    /// May the trace be of a larger or smaller system of the same model? That has other numbers for the same events, and
    /// partly other names for what belongs to processes.
    fn is_renumbered(&self) -> bool {
        self.loaded().is_some_and(|loaded| loaded.system.outgrown.is_some())
    }

    /// The choice that a step of a trace stands for.
    fn chosen(&mut self, node: Node, step: &Value, exact: impl Fn(&[u8]) -> bool) -> Result<usize, String> {
        self.choices(node).map_err(|e| e.to_string())?;
        let choices = &self.here(node).ok_or("the event is not enabled")?.batch;
        let (model, state) = (self.model(), self.state(node));
        let label = step["label"].as_str().unwrap_or("?");
        let renumbered = self.is_renumbered();
        let statements = |i: &usize| statements_of(model, state, choices, *i);
        let same = |i: &usize| step["event"] == choices.event(*i);
        let named = |i: &usize| label_of(model, state, choices, *i) == label;
        let differs = |i: usize| self.differs(state, choices.state(i), step);
        let suits = |i: &usize| differs(*i).is_none();
        let all = 0..choices.len();
        let choice = (all.clone().find(|i| exact(choices.state(*i)) && same(i) && named(i) && suits(i)))
            .or_else(|| all.clone().find(|i| renumbered && statements(i) == noted(step) && suits(i)))
            .or_else(|| all.clone().find(|i| same(i) && named(i) && suits(i)))
            .or_else(|| all.clone().find(|i| renumbered && named(i) && suits(i)))
            .or_else(|| all.clone().find(same))
            .ok_or("the event is not enabled")?;
        match differs(choice) {
            Some(difference) => Err(difference),
            None => Ok(choice),
        }
    }

    /// What becomes otherwise by going from one state to another than a step of a trace says.
    fn differs(&self, before: &[u8], after: &[u8], step: &Value) -> Option<String> {
        let changed = self.model().changes(before, after);
        for (variable, expected) in step["changes"].as_object().into_iter().flatten() {
            let found = changed.iter().find(|change| change.name == *variable);
            let found = found.map(|change| change.after.clone()).or_else(|| {
                let entry = self.entries.iter().position(|entry| entry.name == *variable)?;
                self.model().shown_values(after).into_iter().nth(entry)
            });
            if found.is_none() && self.is_renumbered() {
                continue;
            }
            if found.as_deref() != expected.as_str() {
                return Some(format!("{variable} becomes {}, not {expected}", found.as_deref().unwrap_or("nothing")));
            }
        }
        None
    }

    /// Is the run where its loop began, or nothing more can happen? Otherwise, what is wrong with it?
    fn closes(&mut self, node: Node, again: Node) -> Result<(), String> {
        if again == node {
            let enabled = self.choices(node).map_err(|e| e.to_string())?.batch.len();
            return match enabled {
                0 => Ok(()),
                _ => Err("it says that nothing more can happen, but something can".into()),
            };
        }
        if self.state(again) == self.state(node) {
            return Ok(());
        }
        let changes = self.model().changes(self.state(again), self.state(node));
        let words = changes.iter().map(|c| format!("{} was {} and is {}", c.name, c.before, c.after));
        Err(format!("the run is not back where its loop began: {}", words.collect::<Vec<_>>().join(", ")))
    }
}

/// Who executes which statement, by their numbers, in the step that a choice ends with.
fn statements_of(model: &dyn Explorable, state: &[u8], choices: &Batch, choice: usize) -> Vec<(u64, u64)> {
    let steps = model.steps(state, choices.event(choice), choices.state(choice));
    let last = steps.last().map_or(choices.event(choice), |(event, _)| *event);
    model.event(last).steps.iter().map(|step| (u64::from(step.process), u64::from(step.number))).collect()
}

/// The same, as a trace says it.
fn noted(step: &Value) -> Vec<(u64, u64)> {
    let statements = step["statements"].as_array().map_or(&[][..], Vec::as_slice);
    statements.iter().filter_map(|one| Some((one["process"].as_u64()?, one["state"].as_u64()?))).collect()
}

/// The label that a trace has for a choice: that of the step that it ends with.
fn label_of(model: &dyn Explorable, state: &[u8], choices: &Batch, choice: usize) -> String {
    let code = choices.event(choice);
    let steps = model.steps(state, code, choices.state(choice));
    model.event(steps.last().map_or(code, |(event, _)| *event)).label
}
