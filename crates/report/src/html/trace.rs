//! Runs within a page: numbered steps with their lines in the model and the values that they changed.
//!
//! Long runs are folded, and very long ones shown by their beginning and their end: a report must stay a file that opens.

use super::{escape, shortened};
use crate::number::grouped;
use crate::trace::changes;
use scrimp_core::Step;
use scrimp_system::{Describe, EventCode, EventText, Standing, StepText};
use std::collections::VecDeque;
use std::fmt::Write;

/// Steps that are shown without a click, at the beginning and at the end of a run that is folded; how many a run has that is
/// not folded; and how many are behind one click.
const FIRST: usize = 5;
const LAST: usize = 15;
const FEW: usize = 30;
const FOLD: usize = 500;

/// Values of one step, and characters of a text, that are shown.
const VALUES: usize = 60;
const TEXT: usize = 200;

/// One item of a list of steps: its markup, and whether the loop begins with it.
struct Item {
    /// Which one of the run it is, from 1, and the number of its step: what is atomic is one step.
    index: usize,
    number: usize,
    markup: String,
    begins_loop: bool,
}

/// The steps of a run, with where its loop begins; `room` is how many bytes they may take.
pub fn steps(model: &dyn Describe, initial: &[u8], (steps, again): (&[Step], Option<usize>), room: usize) -> String {
    let mut before = initial;
    let (mut over, mut within) = (0, false);
    let items = steps.iter().enumerate().map(|(i, step)| {
        let number = over + 1;
        let markup = item(model, (!within).then_some(number), step.event, before, &step.state);
        before = &step.state;
        within = step.edge.is_none();
        over += usize::from(!within);
        Item { index: i + 1, number, markup, begins_loop: again == Some(i) }
    });
    let (head, tail) = fitting(items, room);
    let mut out = String::new();
    match (head.last(), tail.first()) {
        (Some(last), Some(first)) if first.index > last.index + 1 => {
            out.push_str(&folded(&head, FIRST, 0));
            let _ = writeln!(
                out,
                "<p class=\"remark\">Steps {} to {} are left out here; <code>--json</code> has them all.</p>",
                grouped(last.number as u64 + 1),
                grouped(first.number as u64 - 1)
            );
            out.push_str(&folded(&tail, 0, LAST));
        }
        _ => {
            let all: Vec<Item> = head.into_iter().chain(tail).collect();
            out.push_str(&whole(&all));
        }
    }
    if let Some(again) = again {
        let before = steps[..again.min(steps.len())].iter().filter(|step| step.edge.is_some()).count();
        out.push_str(&end_of_loop(again < steps.len(), before + 1));
    }
    out
}

/// As many items of the beginning and of the end as there is room for, a quarter of it for the beginning.
fn fitting(items: impl Iterator<Item = Item>, room: usize) -> (Vec<Item>, Vec<Item>) {
    let (mut head, mut tail) = (Vec::new(), VecDeque::new());
    let (mut head_bytes, mut tail_bytes) = (0, 0);
    for item in items {
        let bytes = item.markup.len();
        if tail.is_empty() && head_bytes + bytes <= room / 4 {
            head_bytes += bytes;
            head.push(item);
            continue;
        }
        tail_bytes += bytes;
        tail.push_back(item);
        while tail_bytes > room - room / 4 && tail.len() > 1 {
            tail_bytes -= tail.pop_front().map_or(0, |item: Item| item.markup.len());
        }
    }
    (head, tail.into())
}

/// All steps of a run: a list that is folded where it is long.
fn whole(items: &[Item]) -> String {
    if items.len() <= FEW { list(items) } else { folded(items, FIRST, LAST) }
}

/// A list of which only the first and the last so many items are open.
fn folded(items: &[Item], first: usize, last: usize) -> String {
    let (open, rest) = items.split_at(first.min(items.len()));
    let (hidden, last) = rest.split_at(rest.len().saturating_sub(last));
    let mut out = list(open);
    for part in hidden.chunks(FOLD) {
        let (begin, end) = (part[0].number as u64, part[part.len() - 1].number as u64);
        let steps = match begin == end {
            true => format!("step {}", grouped(begin)),
            false => format!("steps {} to {}", grouped(begin), grouped(end)),
        };
        let has_loop = if part.iter().any(|item| item.begins_loop) { ", where the loop begins" } else { "" };
        let _ = writeln!(out, "<details class=\"fold\"><summary>{steps}{has_loop}</summary>\n{}</details>", list(part));
    }
    out + &list(last)
}

fn list(items: &[Item]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let mut out = String::from("<ol class=\"steps\">\n");
    for item in items {
        if item.begins_loop {
            out.push_str("<li class=\"loop\">the loop begins here</li>\n");
        }
        out.push_str(&item.markup);
    }
    out + "</ol>\n"
}

fn end_of_loop(goes_on: bool, step: usize) -> String {
    match goes_on {
        true => format!("<p class=\"loop\">and so on for ever, from step {} again</p>\n", grouped(step as u64)),
        false => "<p class=\"loop\">nothing more can happen, for ever</p>\n".to_string(),
    }
}

/// Steps without a fold, numbered from `number` on: for explanations, which are short.
pub fn plain_steps(
    model: &dyn Describe,
    number: usize,
    before: &[u8],
    edges: &[(EventCode, Vec<u8>)],
) -> (String, usize) {
    let (mut items, mut number, mut before) = (Vec::new(), number, before.to_vec());
    for (code, after) in edges {
        for (event, state) in model.steps(&before, *code, after) {
            number += 1;
            let markup = item(model, Some(number), event, &before, &state);
            items.push(Item { index: number, number, markup, begins_loop: false });
            before = state;
        }
        before.clone_from(after);
    }
    (whole(&items), number)
}

/// One event: the number of its step where that begins with it, event, place in the model, changed values.
fn item(model: &dyn Describe, number: Option<usize>, event: EventCode, before: &[u8], after: &[u8]) -> String {
    let text = model.event(event);
    let number = number.map(|number| grouped(number as u64)).unwrap_or_default();
    let mut out = format!("<li><b>{number}</b><div>");
    what(&mut out, &text);
    if let Some((_, printed)) = model.printed(before, event) {
        let _ = write!(out, "<p class=\"prints\">prints <code>{}</code></p>", shortened(printed.trim_end(), TEXT));
    }
    out.push_str("</div><div>");
    place(&mut out, &text);
    out.push_str("</div><div>");
    // What a process leaves behind when it ends says nothing.
    let over = !text.steps.is_empty() && text.steps.iter().all(|step| step.last);
    if !over {
        let changed = changes(model, before, after);
        for (name, old, new) in changed.iter().take(VALUES) {
            let (name, old, new) = (shortened(name, TEXT), shortened(old, TEXT), shortened(new, TEXT));
            let _ = write!(out, "<span><var>{name}</var> {old} → <b>{new}</b></span> ");
        }
        if let Some(more) = changed.len().checked_sub(VALUES).filter(|more| *more > 0) {
            let _ = write!(out, "<span>and {} more</span>", grouped(more as u64));
        }
    }
    out.push_str("</div></li>\n");
    out
}

/// What happens, by the label or process by process.
fn what(out: &mut String, text: &EventText) {
    if text.steps.is_empty() {
        let _ = write!(out, "<code>{}</code>", shortened(&text.label, TEXT));
    }
    for step in &text.steps {
        let StepText { process, name, statement, .. } = step;
        let did =
            if step.last { "terminates".to_string() } else { format!("<code>{}</code>", shortened(statement, TEXT)) };
        let _ = write!(out, "<p><i>{}:{process}</i> {did}</p>", shortened(name, TEXT));
    }
    for (process, name) in &text.started {
        let _ = write!(out, "<p>starts <i>{}:{process}</i></p>", shortened(name, TEXT));
    }
}

/// The name of a file without its folders: a model has few files, and their names tell them apart.
fn file_name(file: &str) -> String {
    shortened(file.rsplit('/').next().unwrap_or(file), TEXT)
}

/// Where it stands in the model.
fn place(out: &mut String, text: &EventText) {
    if text.steps.is_empty() && text.line > 0 {
        let _ = write!(out, "line {} <code>{}</code>", text.line, shortened(text.source.trim(), TEXT));
    }
    for StepText { file, line, last, .. } in &text.steps {
        if !last {
            let _ = write!(out, "<p>{}:{line}</p>", file_name(file));
        }
    }
}

/// The event in which a run ends, which is a fault.
pub fn fault(model: &dyn Describe, event: EventCode, fault: &str) -> String {
    let text = model.event(event);
    let mut out = String::from("<ol class=\"steps\">\n<li class=\"fault\"><b>!</b><div>");
    what(&mut out, &text);
    out.push_str("</div><div>");
    place(&mut out, &text);
    let _ = writeln!(out, "</div><div><strong>{}</strong></div></li>\n</ol>", escape(fault));
    out
}

/// A state as names and values, open where they are few.
pub fn state(model: &dyn Describe, title: &str, state: &[u8], open: bool) -> String {
    let zeros = model.leaves_out_zeros();
    let values: Vec<_> = model.values(state).into_iter().filter(|(_, value)| !zeros || value != "0").collect();
    const MOST: usize = 2000;
    let one = |(name, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", shortened(name, TEXT), shortened(value, TEXT))
    };
    let mut list: String = values.iter().take(MOST).map(one).collect();
    if let Some(more) = values.len().checked_sub(MOST).filter(|more| *more > 0) {
        let _ = write!(list, "<div><dt>and {} more</dt></div>", grouped(more as u64));
    }
    if values.is_empty() {
        list.push_str("<div><dt>nothing but zeros</dt></div>");
    }
    let open = if open && values.len() <= FEW { " open=\"\"" } else { "" };
    format!("<details{open}><summary>{}</summary><dl class=\"state\">{list}</dl></details>\n", escape(title))
}

/// Where the processes stand in a state, for languages that tell it.
pub fn standing(model: &dyn Describe, state: &[u8]) -> String {
    let all = model.standing(state);
    if all.is_empty() {
        return String::new();
    }
    let mut rows = vec![["process", "at", "can do next"].map(str::to_string).to_vec()];
    for Standing { process, name, file, line, end, statements, .. } in &all {
        let mut next = match (statements.as_slice(), end) {
            ([], true) => "nothing: a valid end".to_string(),
            ([], false) => "nothing".to_string(),
            (some, _) => {
                some.iter().map(|s| format!("<code>{}</code>", shortened(s, TEXT))).collect::<Vec<_>>().join(" or ")
            }
        };
        if *end && !statements.is_empty() {
            next.push_str(" (may stay here)");
        }
        rows.push(vec![
            format!("<i>{}:{process}</i>", shortened(name, TEXT)),
            format!("{}:{line}", file_name(file)),
            next,
        ]);
    }
    format!("<h3>Where the processes stand then</h3>\n{}", super::table(&[false, false, false], &rows))
}
