//! Why a formula about branching time holds or does not: a tree of runs, for people as indented text, for scripts as JSON.

use crate::number::count_of;
use crate::{Style, trace};
use scrimp_core::{Evidence, PropertyResult, Trace};
use scrimp_system::Describe;
use serde_json::{Value, json};
use std::fmt::Write;

/// The tree as lines: each formula with the run that shows it, and below it what is explained along that run.
pub fn text(model: &dyn Describe, told: &Evidence, style: Style) -> String {
    let mut out = String::new();
    write_text(&mut out, model, told, Place { level: 0, step: 0 }, style);
    out
}

/// How far in the tree an explanation stands, and after how many steps of the run above it.
#[derive(Clone, Copy)]
struct Place {
    level: usize,
    step: usize,
}

fn write_text(out: &mut String, model: &dyn Describe, told: &Evidence, place: Place, style: Style) {
    let margin = "    ".repeat(place.level);
    let holds = if told.holds { style.good("holds") } else { style.bad("does not hold") };
    let _ = writeln!(out, "{margin}{} {holds}{}", style.bold(&told.formula), because(told, place.step));
    if place.level == 0 && !told.universal {
        indent(out, &margin, &trace::beginning(model, &told.initial, style));
    }
    let mut number = place.step;
    let mut before = &told.initial;
    for at in 0..=told.steps.len() {
        for (_, part) in told.parts.iter().filter(|(position, _)| *position == at) {
            write_text(out, model, part, Place { level: place.level + 1, step: number }, style);
        }
        let Some((code, after)) = told.steps.get(at) else { break };
        for (event, state) in model.steps(before, *code, after) {
            number += 1;
            indent(out, &margin, &trace::step_lines(model, number, event, before, &state, style));
        }
        before = after;
    }
    if let Some(cycle) = told.cycle {
        let single: usize = edges(model, told).take(cycle).sum();
        let _ = writeln!(out, "{margin}       and so on for ever, as after step {}", place.step + single);
    }
    if told.ends {
        let _ = writeln!(out, "{margin}       there the run ends: nothing more can happen");
    }
}

/// How many single steps each edge of the run stands for.
pub(crate) fn edges<'a>(model: &'a dyn Describe, told: &'a Evidence) -> impl Iterator<Item = usize> + 'a {
    let states = std::iter::once(&told.initial).chain(told.steps.iter().map(|(_, state)| state));
    states.zip(&told.steps).map(|(before, (code, after))| model.steps(before, *code, after).len())
}

/// What shows it, in a few words.
pub(crate) fn because(told: &Evidence, step: usize) -> String {
    let at = if step > 0 { format!(" after step {step}") } else { String::new() };
    let how = match (told.steps.len(), told.cycle, told.ends) {
        _ if told.universal && told.holds => ": every run does it",
        _ if told.universal => ": no run does it",
        (_, Some(_), _) => ", as a run shows that goes on for ever:",
        (0, None, true) => ", for here the run ends:",
        (_, None, true) => ", as a run shows that ends:",
        (0, None, false) if told.parts.is_empty() => "",
        (0, None, false) => ", because:",
        (count, None, false) => return format!("{at}, as a run of {} shows:", count_of(count as u64, "event")),
    };
    format!("{at}{how}")
}

fn indent(out: &mut String, margin: &str, lines: &str) {
    lines.lines().for_each(|line| {
        let _ = writeln!(out, "{margin}{line}");
    });
}

/// The same for scripts. `at` counts the events of the run that the part belongs to, those of its `trace` that are not null.
pub fn json(model: &dyn Describe, told: &Evidence) -> Value {
    let trace = Trace { initial: told.initial.clone(), steps: told.steps.clone() };
    let run = PropertyResult { trace: Some(trace), cycle: told.cycle, ..PropertyResult::undecided(&told.formula) };
    let part = |(at, part): &(usize, Evidence)| {
        let mut object = json(model, part);
        object["at"] = (*at).into();
        object
    };
    json!({
        "formula": told.formula,
        "holds": told.holds,
        "every_run": told.universal,
        "state": trace::state_json(model, &told.initial),
        "trace": (!told.steps.is_empty()).then(|| trace::json(model, &run)),
        "cycle": told.cycle,
        "ends": told.ends,
        "parts": told.parts.iter().map(part).collect::<Vec<_>>(),
    })
}
