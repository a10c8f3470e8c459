//! Why a formula about branching time holds or does not: the tree of runs as boxes within boxes.

use super::{Tone, escape, pill, trace};
use crate::branching::{because, edges};
use scrimp_core::Evidence;
use scrimp_system::Describe;
use std::fmt::Write;

/// The tree.
pub fn tree(model: &dyn Describe, told: &Evidence) -> String {
    let mut out = String::new();
    write_tree(&mut out, model, told, 0, true);
    out
}

fn write_tree(out: &mut String, model: &dyn Describe, told: &Evidence, step: usize, outermost: bool) {
    let (tone, word) = if told.holds { (Tone::Good, "holds") } else { (Tone::Bad, "does not hold") };
    let why = because(told, step);
    let _ = writeln!(
        out,
        "<div class=\"because\"><p><code>{}</code> {}{}</p>",
        escape(&told.formula),
        pill(tone, word),
        escape(&why)
    );
    if outermost && !told.universal {
        out.push_str(&trace::state(model, "0 · the initial state", &told.initial, true));
    }
    // The run is broken where a part of the formula is explained.
    let mut places: Vec<usize> = told.parts.iter().map(|(at, _)| (*at).min(told.steps.len())).collect();
    places.push(told.steps.len());
    places.sort_unstable();
    places.dedup();
    let (mut number, mut done) = (step, 0usize);
    for place in places {
        let before = done.checked_sub(1).map_or(&told.initial, |last| &told.steps[last].1);
        let (steps, last) = trace::plain_steps(model, number, before, &told.steps[done..place]);
        out.push_str(&steps);
        (number, done) = (last, place);
        for (_, part) in told.parts.iter().filter(|(at, _)| (*at).min(told.steps.len()) == place) {
            write_tree(out, model, part, number, false);
        }
    }
    if let Some(cycle) = told.cycle {
        let single: usize = edges(model, told).take(cycle).sum();
        let _ = writeln!(out, "<p class=\"loop\">and so on for ever, as after step {}</p>", step + single);
    }
    if told.ends {
        out.push_str("<p class=\"loop\">there the run ends: nothing more can happen</p>\n");
    }
    out.push_str("</div>\n");
}
