//! Two results files side by side: each case with what it cost before and after, what is wrong and what got worse first.

use super::curves::{cactus, of_cost, scatter};
use crate::compare::{Change, Comparison, INSTANT, Pair, compare, figure, pairs};
use crate::document::plain;
use crate::measure::{MEMORY, TIME};
use crate::record::{Outcome, Record};
use scrimp_report::html::{Page, Pictures, Tone, escape, marked_table, page, pill, table};
use scrimp_report::number::count_of;
use scrimp_report::plot::Plot;
use std::fmt::Write;

/// What the files are called, and what is in them.
pub struct Files<'a> {
    pub names: [String; 2],
    pub before: &'a [Record],
    pub after: &'a [Record],
}

/// Figures that are shown of each case, with their headings.
const SHOWN: [(&str, &str); 3] =
    [("wall_seconds", "time"), ("peak_rss_bytes", "memory"), ("stored_peak", "states stored")];

/// The text of the file; `threshold` is the relative change that matters.
pub fn comparison(files: &Files, threshold: f64, command: &str) -> String {
    let found = compare(files.before, files.after, threshold);
    let cases = pairs(files.before, files.after);
    let mut body = changes(&found);
    let plots = plots(files, &cases);
    if !plots.is_empty() {
        let _ = writeln!(body, "<section>\n<h2>Before and after</h2>\n{}</section>", Pictures::default().plots(&plots));
    }
    body.push_str(&side_by_side(&cases, &found));
    for (title, names) in [("Only after", &found.new), ("Only before", &found.gone)] {
        if !names.is_empty() {
            let items: String = names.iter().map(|name| format!("<li>{}</li>", escape(name))).collect();
            let _ = writeln!(body, "<section>\n<h2>{title}</h2>\n<ul>{items}</ul>\n</section>");
        }
    }
    let (tone, verdict) = match (found.wrong.len(), found.worse.len(), found.gone.len()) {
        (0, 0, 0) => (Tone::Good, "nothing worse".to_string()),
        (0, _, 0) => (Tone::Warn, "worse in places".to_string()),
        (_, _, 0) => (Tone::Bad, "wrong".to_string()),
        (0, _, gone) => (Tone::Bad, format!("{} gone", count_of(gone as u64, "case"))),
        (_, _, gone) => (Tone::Bad, format!("wrong, and {} gone", count_of(gone as u64, "case"))),
    };
    let summary = format!(
        "{} in both: {} wrong, {} worse, {} better by more than {} %; {} new, {} gone.",
        count_of(found.common as u64, "case"),
        found.wrong.len(),
        found.worse.len(),
        found.better.len(),
        plain(threshold * 100.0),
        found.new.len(),
        found.gone.len(),
    );
    page(&Page {
        kind: "scrimp compare".into(),
        title: files.names.join(" → "),
        tone,
        verdict,
        summary,
        command: command.into(),
        body,
    })
}

/// What changed, the worst first.
fn changes(found: &Comparison) -> String {
    let mut lines = vec![["", "case", "field", "before", "after", "change"].map(str::to_string).to_vec()];
    let kinds = [
        (Tone::Bad, "wrong", &found.wrong),
        (Tone::Warn, "worse", &found.worse),
        (Tone::Good, "better", &found.better),
    ];
    for (tone, word, changes) in kinds {
        for Change { name, field, before, after } in changes {
            let change = match (before.as_f64(), after.as_f64()) {
                (Some(a), Some(b)) if word != "wrong" && a > 0.0 => format!("{:+.0} %", (b / a - 1.0) * 100.0),
                _ => String::new(),
            };
            let (before, after) = (escape(&figure(field, before)), escape(&figure(field, after)));
            lines.push(vec![pill(tone, word), escape(name), escape(field), before, after, change]);
        }
    }
    match lines.len() {
        1 => {
            let of_both = if found.gone.is_empty() { "" } else { " of what both have" };
            format!("<section>\n<h2>What changed</h2>\n<p>Nothing that matters{of_both}.</p>\n</section>\n")
        }
        _ => format!(
            "<section>\n<h2>What changed</h2>\n{}</section>\n",
            table(&[false, false, false, true, true, true], &lines)
        ),
    }
}

/// Every case that both files have.
fn side_by_side(cases: &[Pair], found: &Comparison) -> String {
    let mut heads = vec!["case".to_string(), "outcome".to_string()];
    for (_, heading) in SHOWN {
        heads.extend([format!("{heading}, before"), "after".to_string(), "ratio".to_string()]);
    }
    let mut numbers = vec![false, false];
    numbers.resize(heads.len(), true);
    let (mut lines, mut tones) = (vec![heads], vec![Tone::Plain]);
    for Pair { name, before, after } in cases {
        let (Some(before), Some(after)) = (before, after) else { continue };
        let outcome = match before.outcome == after.outcome {
            true => after.outcome.to_string(),
            false => format!("{} → {}", before.outcome, after.outcome),
        };
        let mut cells = vec![escape(name), escape(&outcome)];
        for (field, _) in SHOWN {
            let shown =
                |record: &Record| record.field(field).map_or(String::new(), |value| escape(&figure(field, &value)));
            let ratio = before.number(field).zip(after.number(field)).filter(|(a, b)| *a > 0.0 && tell(field, *a, *b));
            let ratio = ratio.map_or(String::new(), |(a, b)| marked(b / a, field, name, found));
            cells.extend([shown(before), shown(after), ratio]);
        }
        lines.push(cells);
        let is_wrong = found.wrong.iter().any(|change| change.name == *name);
        tones.push(if is_wrong { Tone::Bad } else { Tone::Plain });
    }
    match lines.len() {
        1 => String::new(),
        _ => format!(
            "<section>\n<h2>Side by side</h2>\n{}</section>\n",
            marked_table(&numbers, &lines, &|line| tones.get(line).copied().unwrap_or(Tone::Plain))
        ),
    }
}

/// Do two figures have a ratio that says something? Times that are shown as a few hundredths of a second have none.
fn tell(field: &str, before: f64, after: f64) -> bool {
    field != "wall_seconds" || before.max(after) > INSTANT
}

/// A ratio, with a word where it counts as a change.
fn marked(ratio: f64, field: &str, name: &str, found: &Comparison) -> String {
    let is_in = |changes: &[Change]| changes.iter().any(|change| change.name == name && change.field == field);
    let (tone, word) = match () {
        () if is_in(&found.worse) => (Tone::Bad, " worse"),
        () if is_in(&found.better) => (Tone::Good, " better"),
        () => (Tone::Plain, ""),
    };
    format!("<span class=\"{}\">{ratio:.2}{word}</span>", tone.class())
}

/// How much was solved within which time and memory, and each time against the other.
fn plots(files: &Files, cases: &[Pair]) -> Vec<Plot> {
    let done = |record: &&Record| record.outcome == Outcome::Done;
    let costs = |field: &str| {
        let of = |runs: &mut dyn Iterator<Item = &Record>| runs.filter(done).filter_map(|r| r.number(field)).collect();
        let before = of(&mut cases.iter().filter_map(|case| case.before));
        let after = of(&mut cases.iter().filter_map(|case| case.after));
        let [first, second] = files.names.clone();
        [(first, before), (second, after)]
    };
    let mut plots: Vec<Plot> = [TIME, MEMORY].into_iter().filter_map(|cost| cactus(cost, &costs(cost))).collect();
    for field in ["stored_peak", TIME, MEMORY] {
        let both =
            |case: &Pair| Some((case.before.filter(done)?.number(field)?, case.after.filter(done)?.number(field)?));
        let pairs: Vec<(f64, f64)> = cases.iter().filter_map(both).filter(|(a, b)| *a > 0.0 && *b > 0.0).collect();
        let differs = pairs.iter().any(|(a, b)| a != b);
        let others = [("after".to_string(), pairs)];
        plots.extend(scatter(field, &|more| of_cost(field, more), "before", &others).filter(|_| differs));
    }
    plots
}
