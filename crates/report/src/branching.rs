//! Why a formula about branching time holds or does not: a tree of runs, for people as indented text, for scripts as JSON.

use crate::number::count_of;
use crate::trace::Columns;
use crate::{Style, trace};
use scrimp_core::{Evidence, PropertyResult, Step, Trace};
use scrimp_system::{Describe, EventCode};
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
    let mut columns = Columns::within(style, &margin);
    if place.level == 0 && !told.universal {
        out.push_str(&trace::beginning(model, &told.initial, &columns));
    }
    let steps = of_run(model, told);
    steps.iter().enumerate().for_each(|(i, (before, singles))| {
        columns.expect(&trace::rows(model, place.step + i + 1, before, singles));
    });
    for at in 0..=told.steps.len() {
        for (_, part) in told.parts.iter().filter(|(position, _)| *position == at) {
            write_text(out, model, part, Place { level: place.level + 1, step: place.step + at }, style);
        }
        let Some((before, singles)) = steps.get(at) else { break };
        out.push_str(&columns.lines(&trace::rows(model, place.step + at + 1, before, singles)));
    }
    if let Some(cycle) = told.cycle {
        out.push_str(&columns.remark(&format!("and so on for ever, as after step {}", place.step + cycle)));
    }
    if told.ends {
        out.push_str(&columns.remark("there the run ends: nothing more can happen"));
    }
}

/// Each step of the run: the state before it, and its single steps.
fn of_run<'a>(model: &dyn Describe, told: &'a Evidence) -> Vec<(&'a [u8], Vec<Step>)> {
    let states = std::iter::once(&told.initial).chain(told.steps.iter().map(|(_, state)| state));
    let step = |(before, (code, after)): (&'a Vec<u8>, &'a (EventCode, Vec<u8>))| {
        let single = |(event, state)| Step { event, state, edge: None };
        (before.as_slice(), model.steps(before, *code, after).into_iter().map(single).collect())
    };
    states.zip(&told.steps).map(step).collect()
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
        (_, Some(_), _) => ", as an infinite run shows:",
        (0, None, true) => ", because the run ends here:",
        (_, None, true) => ", as a finite run shows:",
        (0, None, false) if told.parts.is_empty() => "",
        (0, None, false) => ", because:",
        (count, None, false) => return format!("{at}, as a run of {} shows:", count_of(count as u64, "step")),
    };
    format!("{at}{how}")
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
