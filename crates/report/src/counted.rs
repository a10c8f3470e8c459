//! What was counted, as names and figures: the rows of every report on a state space.

use crate::Subject;
use crate::number::{grouped, grouped_digits};
use scrimp_core::{Report, SetFacts};
use scrimp_search::plan::{ForgetChoice, ReduceChoice};

/// A name and a figure.
pub type Figure = (&'static str, String);

/// All that a search has counted.
pub fn counted(subject: &Subject) -> Vec<Figure> {
    let report = subject.report;
    let mut rows = match &report.sets {
        Some(sets) => in_sets(sets, states(subject)),
        None => visited(subject),
    };
    if let Some((in_place, in_all)) = report.tokens {
        rows.push(("most tokens in a place", grouped(in_place)));
        rows.push(("most tokens in all", grouped(in_all)));
    }
    if report.sets.is_none() {
        rows.extend(forgotten(subject).into_iter().map(|(name, value)| (name, grouped(value))));
        rows.extend(report.audited.map(|audited| ("audited states", grouped(audited))));
    }
    rows
}

/// The same in brief, for a search that was about something else and may have ended early.
pub fn visited_in_brief(subject: &Subject) -> Vec<Figure> {
    let told = |name: &str| match name {
        "deadlocks" | "initial states" | "longest path searched" | "most open states" => false,
        "back-level edges" | "longest of them" => false,
        name => !name.contains("degree"),
    };
    let mut rows = counted(subject);
    rows.retain(|(name, _)| told(name));
    rows
}

/// What the number of states is a number of.
fn states(subject: &Subject) -> &'static str {
    match subject.report.limit {
        Some(_) if subject.report.sets.is_some() => "states so far",
        _ if subject.report.orbits.is_some() => "orbits of states",
        _ if subject.report.reduced => "states, reduced",
        _ => "states",
    }
}

/// How many states the widest level has, where the search went level by level: by the sizes of the levels, so that the two
/// agree. A search may begin level by level and go on otherwise, so that its plan does not tell.
pub fn widest_level(report: &Report) -> Option<u64> {
    let facts = &report.facts;
    let widest = facts.level_sizes.iter().copied().max().filter(|_| report.once)?;
    // Of very many levels, not all sizes are kept.
    let all = facts.level_sizes.iter().sum::<u64>() == facts.states;
    Some(if all { widest } else { widest.max(facts.widest) })
}

/// The most states that were open at a time, where these were not just two levels.
pub fn most_open(subject: &Subject) -> Option<u64> {
    let otherwise = widest_level(subject.report).is_none() || !subject.plan.is_by_level();
    otherwise.then_some(subject.report.facts.widest)
}

/// What was counted state by state.
fn visited(subject: &Subject) -> Vec<Figure> {
    let report = subject.report;
    let facts = &report.facts;
    let mut rows = Vec::new();
    let mut row = |name, value| rows.push((name, value));
    if report.once {
        row(states(subject), grouped(facts.states));
        if let Some(states) = report.orbits.as_ref().and_then(|orbits| orbits.states) {
            row("states in all orbits", grouped_digits(&states.to_string()));
        }
        let reduced = subject.plan.options().reduce != ReduceChoice::Nothing;
        row(if reduced { "transitions explored" } else { "transitions" }, grouped(facts.transitions));
        row("deadlocks", grouped(facts.deadlocks));
    } else {
        row("states", "visited again".into());
        row("visits", grouped(report.visits));
        row("events run", grouped(facts.transitions));
    }
    if facts.faults > 0 {
        row("run-time errors", grouped(facts.faults));
    }
    if facts.initial_states != 1 {
        row("initial states", grouped(facts.initial_states));
    }
    match widest_level(report) {
        Some(widest) => {
            row("levels", grouped(facts.depth as u64));
            row("widest level", grouped(widest));
        }
        None if facts.depth == 0 => {}
        None => row("longest path searched", grouped(facts.depth as u64)),
    }
    if let Some(open) = most_open(subject) {
        row("most open states", grouped(open));
    }
    row("average degree", format!("{:.2}", facts.transitions as f64 / report.visits.max(1) as f64));
    row("largest out-degree", grouped(facts.max_out_degree));
    if let Some(degree) = facts.max_in_degree {
        row("largest in-degree", grouped(degree));
    }
    if let Some(edges) = facts.back_level_edges {
        row("back-level edges", grouped(edges));
    }
    if let Some(longest) = facts.longest_back_level_edge {
        row("longest of them", grouped(longest));
    }
    rows
}

/// What was counted with sets of states.
fn in_sets(sets: &SetFacts, states: &'static str) -> Vec<Figure> {
    let mut rows = vec![(states, grouped_digits(&sets.states))];
    rows.extend(sets.transitions.as_ref().map(|transitions| ("transitions", grouped_digits(transitions))));
    rows.extend(sets.deadlocks.as_ref().map(|deadlocks| ("deadlocks", grouped_digits(deadlocks))));
    rows.extend(sets.levels.map(|levels| ("levels", grouped(levels as u64))));
    rows.push(("variables", grouped(sets.variables as u64)));
    rows.push(("nodes at most", grouped(sets.peak_nodes)));
    rows.push(("nodes in the end", grouped(sets.final_nodes)));
    if sets.reorderings > 0 {
        rows.push(("orders of variables", grouped(1 + sets.reorderings as u64)));
    }
    rows
}

/// What forgetting did, where there is something to say.
fn forgotten(subject: &Subject) -> Vec<(&'static str, u64)> {
    let f = &subject.report.forget;
    let rows = match subject.plan.options().forget {
        ForgetChoice::Nothing => vec![],
        ForgetChoice::PseudoRoot(_) => vec![
            ("released", f.released),
            ("outstanding predecessors", f.never_came),
            ("open states given up", f.retracted),
            ("evictions", f.evictions),
        ],
        ForgetChoice::Cache(_) => {
            let mut rows = vec![("evictions", f.evictions), ("most candidates", f.candidates_peak)];
            rows.extend(f.tree_peak.map(|tree| ("largest tree", tree)));
            rows.extend(subject.plan.options().reconstruct.then_some(("events replayed", f.replays)));
            rows
        }
        ForgetChoice::Sweep(_) => vec![
            ("sweeps", f.sweeps),
            ("persistent states", f.persistent),
            ("largest class", f.largest_class),
            ("evictions", f.evictions),
        ],
    };
    let peak = (!rows.is_empty()).then_some(("most states stored", f.stored_peak));
    peak.into_iter().chain(rows).collect()
}
