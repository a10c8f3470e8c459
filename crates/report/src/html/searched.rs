//! How it was searched: figures, the plan and why it was so, what was decided on the way, statements never executed.

use super::{Kind, escape, figures, table};
use crate::counted::{counted, visited_in_brief};
use crate::coverage::{Coverage, Item, Kind as Covered, Part, Scope};
use crate::number::{bytes, count_of, grouped, rate};
use crate::{Style, Subject, text};

/// What is said of a search that did not come to its end, or that may have missed states; empty for others.
pub fn caveats(subject: &Subject) -> String {
    let told = text::omission(subject) + &text::limits(subject, Style::PLAIN);
    if told.is_empty() {
        return String::new();
    }
    let lines: String = told.lines().map(|line| format!("<p>{}</p>", escape(line))).collect();
    format!("<div class=\"caveat\">{lines}</div>\n")
}

/// The figures of a search.
pub fn measured(subject: &Subject, kind: Kind) -> String {
    let report = subject.report;
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| pairs.push((name.to_string(), value));
    let by_states = report.sets.is_none() && report.formulas.is_none();
    if let Some(formulas) = &report.formulas {
        let steps = formulas.steps.map_or("none".to_string(), |steps| format!("up to {}", grouped(steps as u64)));
        add("lengths of runs looked at", steps);
        add("clauses", grouped(formulas.clauses));
        add("conflicts", grouped(formulas.conflicts));
    } else if report.visits > 0 || report.limit.is_some() || report.sets.is_some() {
        let rows = if kind == Kind::Count { counted(subject) } else { visited_in_brief(subject) };
        rows.into_iter().for_each(|(name, value)| add(name, value));
    }
    add("time", format!("{:.2} s", report.elapsed.as_secs_f64()));
    if by_states && report.visits > 0 {
        add("rate", rate(if report.once { report.facts.states } else { report.visits }, report.elapsed));
        add("bytes a stored state", format!("{:.1} ({} in full)", report.bytes_per_state(), report.state_bytes));
    }
    if let Some(peak) = report.peak_resident {
        add("memory at most", format!("{} of {}", bytes(peak), bytes(subject.plan.memory())));
    }
    if let Some(disk) = &report.disk {
        add("on disk at most", bytes(disk.peak_bytes as usize));
    }
    if let Some(card) = &report.card {
        add("kernels ran on", card.name.clone());
        add("their time", format!("{:.2} s", card.searched.as_secs_f64()));
        add("time to make them", format!("{:.2} s", card.made.as_secs_f64()));
        add("memory there at most", bytes(card.peak_bytes));
        add("bits a state there", card.state_bits.to_string());
    }
    if let Some(cluster) = &report.cluster {
        add("processes, with threads each", format!("{}, {}", cluster.processes, cluster.threads));
        let each = cluster.sent_bytes as f64 / cluster.sent_states.max(1) as f64;
        add("states sent", format!("{} of {each:.1} bytes", grouped(cluster.sent_states)));
        add("memory of a process at most", bytes(cluster.peak_bytes as usize));
    }
    let early = kind == Kind::Check && by_states && !report.exhaustive && report.visits > 0;
    let note =
        "<p class=\"note\">The search ended before it had seen everything; the figures are of what it saw.</p>\n";
    figures(&pairs) + if early { note } else { "" }
}

/// The plan part by part, each with its reason.
pub fn plan(subject: &Subject) -> String {
    let plan = subject.plan;
    let mut rows = vec![["part", "choice", "why"].map(str::to_string).to_vec()];
    for (part, value) in plan.parts() {
        let value = if part == "memory" { bytes(plan.memory()) } else { value };
        rows.push(vec![escape(part), format!("<code>{}</code>", escape(&value)), escape(plan.reason(part))]);
    }
    let report = subject.report;
    let visited = report.sets.is_none() && report.formulas.is_none() && report.visits > 0;
    if let Some(store) = report.store.as_ref().filter(|store| visited && **store != plan.store().to_string()) {
        let store = format!("<code>{}</code>", escape(store));
        rows.push(vec!["ended in".into(), store, "what the search moved on to".into()]);
    }
    table(&[false, false, false], &rows)
}

/// What was decided on the way.
pub fn remarks(subject: &Subject) -> String {
    let remarks: String = subject.report.remarks.iter().map(|remark| format!("<li>{}</li>", escape(remark))).collect();
    if remarks.is_empty() { remarks } else { format!("<h3>On the way</h3>\n<ul>{remarks}</ul>\n") }
}

/// What no run executes, by kind and process; after statements, which are listed by type, nothing where all is executed.
pub fn unreached(coverage: &Coverage) -> String {
    let told =
        |part: &&Part| matches!(part.kind, Covered::Statement | Covered::Action) || part.reached() < part.items.len();
    coverage.parts.iter().filter(told).map(unreached_part).collect()
}

fn unreached_part(part: &Part) -> String {
    if part.kind == Covered::Action {
        let row = |item: &Item| vec![format!("<code>{}</code>", escape(&item.text)), item.taken()];
        let head = ["action", "taken"].map(str::to_string).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(part.items.iter().map(row)).collect();
        return format!("<h3>Actions</h3>\n{}", table(&[false, true], &rows));
    }
    let title = part.title(Scope::AllStates);
    let (first, rest) = title.split_at(1);
    let mut out = format!("<h3>{}{}</h3>\n", first.to_uppercase(), escape(rest));
    for of_one in part.by_owner() {
        let never: Vec<&Item> = of_one.iter().filter(|item| !item.reached).collect();
        let owner = if of_one[0].owner.is_empty() { String::new() } else { format!("{}: ", of_one[0].owner) };
        let title = format!("{owner}{} of {}", never.len(), count_of(of_one.len() as u64, part.kind.word()));
        if never.is_empty() {
            out.push_str(&format!("<p>{}</p>\n", escape(&title)));
            continue;
        }
        let mut rows = vec![["line", part.kind.word()].map(str::to_string).to_vec()];
        for Item { file, line, text, .. } in never {
            let place = if *line == 0 { String::new() } else { format!("{}:{line}", escape(file)) };
            rows.push(vec![place, format!("<code>{}</code>", escape(text))]);
        }
        let list = table(&[false, false], &rows);
        out.push_str(&format!("<details open=\"\"><summary>{}</summary>{list}</details>\n", escape(&title)));
    }
    out
}
