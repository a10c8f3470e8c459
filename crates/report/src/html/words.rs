//! Verdicts in plain words: what was found out about a property, and what that rests on.

use super::Tone;
use crate::number::{count_of, grouped_digits};
use crate::trace::Run;
use crate::{Overall, Subject, json, lasso};
use scrimp_core::{PropertyResult, Verdict};

/// The word for what is not known.
pub const UNDECIDED: (Tone, &str) = (Tone::Warn, "undecided");

/// A verdict as a word.
pub fn verdict(p: &PropertyResult) -> (Tone, &'static str) {
    match p.verdict {
        Verdict::Verified => (Tone::Good, "verified"),
        Verdict::Violated => (Tone::Bad, "violated"),
        Verdict::Undecided => UNDECIDED,
    }
}

/// The verdict on a whole run as a word.
pub fn overall(overall: Overall) -> (Tone, &'static str) {
    match overall {
        Overall::Verified => (Tone::Good, "verified"),
        Overall::Violated => (Tone::Bad, "violated"),
        Overall::Incomplete => (Tone::Warn, "incomplete"),
        Overall::NoErrorFound => (Tone::Warn, "no error found"),
    }
}

/// What the verdict on a property means.
pub fn meaning(subject: &Subject, p: &PropertyResult) -> String {
    let kind = p.name.split(':').next().unwrap_or(&p.name).trim();
    let holds = p.verdict == Verdict::Verified;
    let known = match (kind, holds) {
        ("deadlock", true) => "no reachable state is stuck",
        ("deadlock", false) => "a reachable state has no successor",
        ("faults", true) => "no run-time error: division by zero, index or value out of range",
        ("faults", false) => "a run ends in a run-time error",
        ("assertions", true) => "no assertion of the model fails on any run",
        ("assertions", false) => "an assertion of the model fails on some run",
        ("invariant", true) => "true in every reachable state",
        ("invariant", false) => "false in some reachable state",
        ("reach", true) => "true in some reachable state",
        ("reach", false) => "true in no reachable state",
        ("ltl", true) => "true on every run",
        ("ltl", false) => "violated by some run",
        ("ctl", true) => "true in every initial state",
        ("ctl", false) => "false in an initial state",
        (_, true) => "it holds",
        (_, false) if p.cycle.is_some() => "an infinite run violates it",
        (_, false) => "it does not hold",
    };
    let mut out = match p.verdict {
        Verdict::Undecided => undecided(subject).to_string(),
        _ => known.to_string(),
    };
    if let Some(answer) = &p.answer {
        out = format!("the answer is {answer}");
    }
    if let Some(how) = &p.how {
        out = format!("{out} ({how})");
    }
    for condition in &p.vacuous {
        out.push_str(&format!("; it would hold with anything after {condition} (vacuously true)"));
    }
    out
}

fn undecided(subject: &Subject) -> &'static str {
    match (Overall::of(subject.report), subject.report.limit) {
        (Overall::NoErrorFound, _) => "no error was found, but states may have been missed",
        (_, Some(_)) => "a limit ended the search before this was known",
        _ => "not decided: another property was violated first; --keep-going goes on",
    }
}

/// What a verdict on the whole rests on.
pub fn guarantee(subject: &Subject) -> &'static str {
    match (json::guarantee(subject), subject.report.reduced) {
        ("exhaustive", _) if subject.report.orbits.is_some() => {
            "Of the reachable states that differ only in what is interchangeable, one each was visited."
        }
        ("exhaustive", false) => "Every reachable state was visited.",
        ("exhaustive", true) => "Every state that can matter to what was asked was visited; others were left out.",
        ("proof", _) if subject.report.properties.iter().all(|p| p.how.is_some()) => {
            "All of it was proven without visiting states."
        }
        ("proof", _) => "Some of it was proven without visiting states.",
        ("witness", _) => "The states that were visited decide it; not every state had to be.",
        ("counterexample", _) => "A run that decides it was found, and the search ended there.",
        ("probabilistic", _) => "States may have been missed.",
        _ => "The search did not come to its end: states that were not visited may decide otherwise.",
    }
}

/// How many states were met, in words.
pub fn size(subject: &Subject) -> String {
    let report = subject.report;
    let left_out = if report.reduced { " (reduced)" } else { "" };
    if let Some(sets) = &report.sets {
        let states = grouped_digits(&sets.states);
        return format!("{states} {}{left_out}", if states == "1" { "state" } else { "states" });
    }
    if let Some(formulas) = &report.formulas {
        return match formulas.steps {
            Some(steps) => format!("all runs of up to {}", count_of(steps as u64, "step")),
            None => "no run".to_string(),
        };
    }
    match report.once {
        true if report.orbits.is_some() => format!("{}{left_out}", count_of(report.facts.states, "orbit")),
        true => format!("{}{left_out}", count_of(report.facts.states, "state")),
        false => format!("{}{left_out}", count_of(report.visits, "visit")),
    }
}

/// What shows a property: `Violated by a shortest run of 7 steps.`
pub fn shown(p: &PropertyResult, run: &Run) -> String {
    let steps = p.trace.as_ref().map_or(0, |trace| trace.steps.len());
    // What is atomic is one step, as in text.
    let single = match run.steps.len() {
        single if single <= steps => String::new(),
        single => {
            let statements = run.steps.iter().any(|step| !run.model.event(step.event).steps.is_empty());
            format!(" ({})", count_of(single as u64, if statements { "statement" } else { "event" }))
        }
    };
    format!("{} {}{single}.", by(p), lasso::run(p.shortest, steps, run.cycle()))
}

/// What evidence does for a property.
pub fn by(p: &PropertyResult) -> &'static str {
    if p.verdict == Verdict::Violated { "Violated by" } else { "Shown by" }
}
