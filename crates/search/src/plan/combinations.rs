//! The combinations as tables for people, printed from what the searches declare.

use super::abilities::{ABILITIES, NEEDS, able, why_apart};
use super::feature::{Axis, FEATURES, Feature, Features};
use std::fmt::Write;

/// Kinds of questions, with the word for a column.
const QUESTIONS: [(&[Feature], &str); 10] = [
    (&[Feature::Count], "count"),
    (&[Feature::States], "states"),
    (&[Feature::Claim], "never claim"),
    (&[Feature::Ltl], "LTL"),
    (&[Feature::Automaton], "automata"),
    (&[Feature::AcceptingCycles], "accepting"),
    (&[Feature::NonProgress], "progress"),
    (&[Feature::Ctl], "CTL"),
    (&[Feature::EveryMarking, Feature::OfNet], "net: bounds"),
    (&[Feature::Liveness, Feature::OfNet], "net: live"),
];

/// Pairs of flags that are held against each other.
const PAIRS: [(Axis, Axis); 10] = [
    (Axis::Store, Axis::Order),
    (Axis::Store, Axis::Forget),
    (Axis::Store, Axis::Reduce),
    (Axis::Forget, Axis::Order),
    (Axis::Forget, Axis::Reduce),
    (Axis::Order, Axis::Reduce),
    (Axis::Alone, Axis::Store),
    (Axis::Alone, Axis::Order),
    (Axis::Alone, Axis::Forget),
    (Axis::Alone, Axis::Reduce),
];

/// Can this be asked for together, with whatever else it needs?
fn works(asked: Features) -> bool {
    let missing = |(feature, needs, _): &&(Feature, &[Feature], &str)| {
        asked.has(*feature) && !needs.iter().any(|need| asked.has(*need))
    };
    match NEEDS.iter().find(missing) {
        None => able(asked).is_some(),
        Some((_, needs, _)) => needs.iter().any(|need| works(asked.with(*need))),
    }
}

fn of_axis(axis: Axis) -> impl Iterator<Item = (Feature, &'static str)> {
    FEATURES.iter().filter(move |(.., of, _)| *of == axis).map(|(feature, _, name)| (*feature, *name))
}

/// All of it, as Markdown.
pub fn combinations() -> String {
    let mut out = String::from(
        "# What combines with what\n\n\
         Printed by `scrimp plan --combinations` from what the searches declare; a test holds this page to it. `yes`: there \
         is a search that does both, with whatever else they need. Three flags may exclude each other where every two of \
         them go together; `scrimp plan MODEL …` answers for all that is asked at once.\n\n## Questions and flags\n\n",
    );
    let columns: Vec<&str> = QUESTIONS.iter().map(|(_, name)| *name).collect();
    header(&mut out, "", &columns);
    for (feature, _, name) in FEATURES.iter().filter(|(feature, ..)| feature.is_flag()) {
        let cells = QUESTIONS.map(|(question, _)| works(Features::of(question).with(*feature)));
        row(&mut out, name, &cells.map(mark));
    }
    for (rows, columns) in PAIRS {
        pair(&mut out, rows, columns);
    }
    out.push_str("\n## Why not\n\n");
    for (i, (a, _, name)) in FEATURES.iter().enumerate() {
        for (b, _, other) in &FEATURES[i + 1..] {
            if let Some(why) = why_apart(*a, *b) {
                let _ = writeln!(out, "- {}, {}: {why}.", quoted(*a, name), quoted(*b, other));
            }
        }
    }
    out.push_str("\n## What needs what\n\n");
    for (feature, needs, why) in NEEDS {
        let needs: Vec<String> = needs.iter().map(|need| format!("`{need}`")).collect();
        let _ = writeln!(out, "- `{feature}` needs {}: {why}.", super::refusal::listed(&needs, "or"));
    }
    out.push_str("\n## The searches\n\n");
    for ability in ABILITIES {
        let flags: Vec<String> =
            ability.offers.iter().filter(|f| f.is_flag()).map(|feature| format!("`{feature}`")).collect();
        let _ = writeln!(out, "- {}: {}.", ability.name, flags.join(", "));
    }
    out.lines().map(wrapped).collect()
}

/// A line that is no row of a table, in lines of at most so many characters.
fn wrapped(line: &str) -> String {
    const WIDE: usize = 100;
    let indent = if line.starts_with("- ") { "  " } else { "" };
    let (mut out, mut at) = (String::with_capacity(line.len() + 1), 0);
    for (number, word) in line.split(' ').enumerate() {
        let length = word.chars().count();
        if number > 0 && at + 1 + length > WIDE && !line.starts_with('|') {
            out.push_str(&format!("\n{indent}"));
            at = indent.len();
        } else if number > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out.push('\n');
    out
}

fn quoted(feature: Feature, name: &str) -> String {
    if feature.is_flag() { format!("`{name}`") } else { name.to_string() }
}

/// Two flags held against each other, for questions about states.
fn pair(out: &mut String, rows: Axis, columns: Axis) {
    let title = |axis: Axis| match axis {
        Axis::Order => "--order",
        Axis::Store => "--store",
        Axis::Forget => "--forget",
        Axis::Reduce => "--reduce",
        _ => "other flags",
    };
    let _ = write!(out, "\n## `{}` and `{}`, for properties of states\n\n", title(rows), title(columns));
    let value = |name: &'static str| name.rsplit(' ').next().unwrap_or(name);
    let names: Vec<&str> = of_axis(columns).map(|(_, name)| value(name)).collect();
    header(out, "", &names);
    for (feature, name) in of_axis(rows).filter(|(feature, _)| works(Features::of(&[Feature::States, *feature]))) {
        let cells: Vec<&str> =
            of_axis(columns).map(|(other, _)| mark(works(Features::of(&[Feature::States, feature, other])))).collect();
        row(out, if rows == Axis::Alone { name } else { value(name) }, &cells);
    }
}

fn mark(works: bool) -> &'static str {
    if works { "yes" } else { "" }
}

fn header(out: &mut String, first: &str, columns: &[&str]) {
    let _ = writeln!(out, "| {first} | {} |", columns.join(" | "));
    let _ = writeln!(out, "|---{}|", "|---".repeat(columns.len()));
}

fn row(out: &mut String, name: &str, cells: &[&str]) {
    let _ = writeln!(out, "| `{name}` | {} |", cells.join(" | "));
}
