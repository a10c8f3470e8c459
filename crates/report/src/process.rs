//! Steps of processes in the form that users of SPIN know: number, process, place, statement, then what changed.

use crate::trace::changes;
use scrimp_system::{Describe, EventCode, EventText, Standing, StepText};
use std::fmt::Write;

/// The beginning of a run: the processes that exist, and what is not zero.
pub fn beginning(model: &dyn Describe, state: &[u8]) -> String {
    let mut out = String::new();
    for process in model.standing(state) {
        let _ = writeln!(out, "  0:\tproc  - (:root:) creates proc {:>2} ({})", process.process, process.name);
    }
    let values = model.values(state).into_iter().enumerate().filter(|(i, _)| !model.is_place(*i));
    for (_, (name, value)) in values.filter(|(_, (_, value))| value != "0" && value != "[]") {
        let _ = writeln!(out, "\t\t{name} = {value}");
    }
    out
}

/// One step: what it prints, who does what, and the values that it changes.
pub fn step(
    model: &dyn Describe,
    number: usize,
    event: (EventCode, &EventText),
    before: &[u8],
    after: &[u8],
) -> String {
    let (code, text) = event;
    let mut out = model.printed(before, code).map(|printed| indented(&printed)).unwrap_or_default();
    if let (Some(step), started) = (text.steps.first(), &text.started) {
        for (process, name) in started {
            let _ = writeln!(
                out,
                "{number:>3}:\tproc {:>2} ({}:1) creates proc {process:>2} ({name})",
                step.process, step.name
            );
        }
    }
    let mut over = true;
    for step in &text.steps {
        if step.last {
            let _ = writeln!(out, "{number:>3}:\tproc {:>2} ({}:1) terminates", step.process, step.name);
        } else {
            let _ = writeln!(out, "{}", statement(number, step));
            over = false;
        }
    }
    // What a process leaves behind when it ends says nothing.
    if !over {
        for (name, _, new) in changes(model, before, after) {
            let _ = writeln!(out, "\t\t{name} = {new}");
        }
    }
    out
}

/// A statement that a process executes, or would.
pub fn statement(number: usize, step: &StepText) -> String {
    let StepText { process, name, file, line, number: state, statement, .. } = step;
    format!("{number:>3}:\tproc {process:>2} ({name}:1) {file}:{line} (state {state})\t[{statement}]")
}

/// Text that a process prints, behind as many columns as SPIN leaves.
pub fn indented((process, text): &(u32, String)) -> String {
    let mut out = format!("      {}{text}", "    ".repeat(*process as usize));
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// Where the processes stand at the end of a run, the youngest first.
pub fn standing(model: &dyn Describe, number: usize, state: &[u8]) -> String {
    let all = model.standing(state);
    let mut out = format!("#processes: {}\n", all.len());
    for Standing { process, name, file, line, number: place, end, statements } in all.iter().rev() {
        let end = if *end { " <valid end state>" } else { "" };
        let waits = match statements.as_slice() {
            [] => String::new(),
            some => format!("\t[{}]", some.join(" | ")),
        };
        let _ = writeln!(out, "{number:>3}:\tproc {process:>2} ({name}:1) {file}:{line} (state {place}){end}{waits}");
    }
    out
}
