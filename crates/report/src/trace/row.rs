//! What one step of a run has to say, in columns: its number, who acts, where in the model's text, what happens, and what that
//! changes. An atomic sequence or a `d_step` is one step; its statements stand below each other.

use super::changes;
use scrimp_core::Step;
use scrimp_system::{Describe, EventCode, EventText, FaultRecord, Passed, Standing, StepText};

/// One line of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// `None` on the further lines of a step.
    pub number: Option<usize>,
    pub process: String,
    pub place: String,
    pub event: String,
    /// What the step changes, sends or prints: each is a unit that is not broken where that can be avoided.
    pub details: Vec<String>,
    /// What is wrong here.
    pub wrong: Option<String>,
}

/// Names of processes beyond these are only counted.
const NAMED: usize = 3;
/// Characters of what a process prints that one line shows.
const PRINTED: usize = 200;

/// The lines of a step with this number, which leads from a state through these single steps.
pub fn rows(model: &dyn Describe, number: usize, before: &[u8], steps: &[Step]) -> Vec<Row> {
    let mut all = Vec::new();
    let mut before = before;
    for step in steps {
        all.extend(event_rows(model, step.event, before, &step.state));
        before = &step.state;
    }
    if let Some(first) = all.first_mut() {
        first.number = Some(number);
    }
    all
}

/// The lines of the event in which a run ends by a run-time error.
pub fn fault_rows(model: &dyn Describe, number: Option<usize>, record: FaultRecord) -> Vec<Row> {
    let text = model.event(record.event);
    let mut all: Vec<Row> = match text.steps.is_empty() {
        true => vec![Row {
            process: actors(&text),
            place: place(&text.file, text.line),
            event: bare(&text),
            ..Row::default()
        }],
        false => text.steps.iter().map(statement).collect(),
    };
    if let Some(first) = all.first_mut() {
        first.number = number;
    }
    if let Some(last) = all.last_mut() {
        last.wrong = Some(model.fault(record));
    }
    all
}

/// Where the processes stand, the youngest first; nothing where the model does not say.
pub fn standing_rows(model: &dyn Describe, state: &[u8]) -> Vec<Row> {
    let row = |standing: &Standing| Row {
        process: process(standing.process, &standing.name),
        place: format!("{} (state {})", place(&standing.file, standing.line), standing.number),
        event: match standing.statements.as_slice() {
            [] => String::new(),
            some => format!("[{}]", some.join(" | ")),
        },
        details: standing.end.then(|| "<valid end state>".to_string()).into_iter().collect(),
        ..Row::default()
    };
    model.standing(state).iter().rev().map(row).collect()
}

fn event_rows(model: &dyn Describe, code: EventCode, before: &[u8], after: &[u8]) -> Vec<Row> {
    let text = model.event(code);
    let passed = model.passed(before, code);
    match text.steps.is_empty() {
        true => vec![plain(model, &text, passed, before, after)],
        false => statements(model, (code, &text), passed, before, after),
    }
}

/// A step of a language whose events have names.
fn plain(model: &dyn Describe, text: &EventText, passed: Option<Passed>, before: &[u8], after: &[u8]) -> Row {
    let mut row =
        Row { process: actors(text), place: place(&text.file, text.line), event: bare(text), ..Row::default() };
    if let (Some(passed), true) = (&passed, text.line > 0) {
        let names = model.processes();
        let name = |number: Option<usize>| names.get(number?);
        if let (Some(from), Some(to)) = (name(passed.from), name(passed.to)) {
            row.process = format!("{from} -> {to}");
        }
        row.event = match passed.values.is_empty() {
            // An event without values is called what the model calls it.
            true => text.label.split(": ").next().unwrap_or(&text.label).to_string(),
            false => message(passed).unwrap_or(row.event),
        };
    }
    // Where a process goes is said by the event already, as a rule.
    let told = |name: &str, old: &str, new: &str| {
        text.processes.iter().any(|process| process == name) && row.event.contains(&format!("{old} -> {new}"))
    };
    let changed = changes(model, before, after);
    let changed = changed.into_iter().filter(|(name, old, new)| !told(name, old, new));
    let tokens = model.leaves_out_zeros();
    row.details = changed
        .map(|(name, old, new)| match tokens.then(|| moved(&old, &new)).flatten() {
            Some(moved) => format!("{name} {moved:+}"),
            None => format!("{name} = {new}"),
        })
        .collect();
    row
}

/// How many tokens a place has more.
fn moved(old: &str, new: &str) -> Option<i128> {
    Some(new.parse::<i128>().ok()? - old.parse::<i128>().ok()?)
}

/// A step of processes that execute statements, as SPIN shows it.
fn statements(
    model: &dyn Describe,
    (code, text): (EventCode, &EventText),
    passed: Option<Passed>,
    before: &[u8],
    after: &[u8],
) -> Vec<Row> {
    let mut all: Vec<Row> = text.steps.iter().map(statement).collect();
    let changed = changes(model, before, after);
    if let (Some(passed), Some(first)) = (passed, all.first_mut()) {
        let contents = format!("[{}]", passed.values.join(","));
        let sign = if passed.from.is_some() { "sends" } else { "receives" };
        let said = message(&passed).is_some_and(|message| first.event == format!("[{message}]"))
            || changed.iter().any(|(_, old, new)| *if passed.from.is_some() { new } else { old } == contents);
        if !said && !passed.values.is_empty() {
            first.details.push(format!("{sign} {}", passed.values.join(",")));
        }
    }
    let starts = text.started.iter().map(|(number, name)| format!("starts {}", process(*number, name)));
    if let Some(first) = all.first_mut() {
        first.details.extend(starts);
    }
    if let Some(last) = all.last_mut() {
        // What a process leaves behind when it ends says nothing.
        if text.steps.iter().any(|step| !step.last) {
            last.details.extend(changed.into_iter().map(|(name, _, new)| format!("{name} = {new}")));
        }
        if let Some((_, printed)) = model.printed(before, code) {
            let printed: String = printed.trim_end().chars().take(PRINTED).collect();
            last.details.push(format!("prints {printed:?}"));
        }
    }
    all
}

/// A statement that a process executes, or would.
fn statement(step: &StepText) -> Row {
    Row {
        process: process(step.process, &step.name),
        place: format!("{} (state {})", place(&step.file, step.line), step.number),
        event: if step.last { "terminates".into() } else { format!("[{}]", step.statement) },
        ..Row::default()
    }
}

fn process(number: u32, name: &str) -> String {
    format!("proc {number} ({name})")
}

/// A message with what is in it; nothing where the model does not say.
fn message(passed: &Passed) -> Option<String> {
    let sign = if passed.from.is_some() { '!' } else { '?' };
    (!passed.channel.is_empty()).then(|| format!("{}{sign}{}", passed.channel, passed.values.join(",")))
}

/// Who takes part.
fn actors(text: &EventText) -> String {
    match text.processes.len() {
        many if many > NAMED => format!("{}, +{}", text.processes[..NAMED].join(", "), many - NAMED),
        _ => text.processes.join(", "),
    }
}

/// What an event is called, without the name of the process that does it.
fn bare(text: &EventText) -> String {
    let own = text.processes.first().and_then(|name| text.label.strip_prefix(name.as_str())?.strip_prefix(": "));
    own.unwrap_or(&text.label).to_string()
}

/// A line of a file, which is called by its name: where it lies is known.
fn place(file: &str, line: u32) -> String {
    match line {
        0 => String::new(),
        _ => format!("{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file)),
    }
}
