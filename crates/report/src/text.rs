//! The report for people: the verdict first, each property with its trace, then figures, then what would help.

use crate::counted::counted;
use crate::coverage::Scope;
use crate::number::{bytes, count_of, grouped, grouped_digits, rate};
use crate::trace::Run;
use crate::{Overall, Style, Subject, branching, lasso, trace};
use scrimp_core::{CardFacts, ClusterFacts, Limit, Omission, PropertyResult, Verdict};
use scrimp_search::plan::{EngineChoice, ForgetChoice, Options, OrderChoice, ReduceChoice};
use scrimp_search::{ModelFacts, Plan};
use scrimp_system::Describe;
use std::fmt::Write;

/// Of how few states nobody wants to know what each takes.
const FEW: u64 = 10_000;

/// What one search of a check has to tell: part by part, so that several are told as one answer.
pub struct Told {
    /// What it decided, and what is violated of that.
    asked: Vec<String>,
    violated: Vec<String>,
    verdicts: String,
    evidence: String,
    figures: String,
    limits: String,
}

/// The answer of `check`.
pub fn check(subject: &Subject, style: Style) -> String {
    let overall = Overall::of(subject.report);
    together(subject.name, &[leaving(subject, &[], style)], &[], overall, style)
}

/// What there is to tell where a violation ended the work, so that properties of these names were not searched for.
pub fn leaving(subject: &Subject, left: &[String], style: Style) -> Told {
    parts(subject, left, figures(subject), style)
}

/// One answer of all searches: the verdict with what it is about, every property, what shows the answers, then how each
/// search went. Of properties of these names nothing is known.
pub fn together(name: &str, all: &[Told], left: &[String], overall: Overall, style: Style) -> String {
    let word = match overall {
        Overall::Verified => style.good(overall.word()),
        Overall::Violated => style.bad(overall.word()),
        Overall::Incomplete => style.warn(overall.word()),
        Overall::NoErrorFound => style.warn("no error found"),
    };
    let violated: Vec<&str> = all.iter().flat_map(|told| &told.violated).map(String::as_str).collect();
    let what = if violated.is_empty() { String::new() } else { format!(": {}", some_of(&violated)) };
    let mut out = format!("{name}: {word}{what}\n");
    all.iter().for_each(|told| out.push_str(&told.verdicts));
    for name in left {
        let _ = writeln!(out, "  {}  {name}", verdict_word(Verdict::Undecided, style));
    }
    all.iter().for_each(|told| out.push_str(&told.evidence));
    for told in all {
        if all.len() > 1 {
            let asked: Vec<&str> = told.asked.iter().map(String::as_str).collect();
            let _ = write!(out, "\n{}: {}", some_of(&asked), told.figures.trim_start());
        } else {
            out.push_str(&told.figures);
        }
        out.push_str(&told.limits);
    }
    out
}

/// The first of some names, and how many more there are.
fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 3;
    match names.len() {
        many if many > SHOWN + 1 => format!("{} and {} more", names[..SHOWN].join(", "), many - SHOWN),
        _ => names.join(", "),
    }
}

/// What there is to tell of a net, for which these searches were made.
pub fn of_net(subject: &Subject, searches: &[Subject], style: Style) -> Told {
    let all = match searches {
        [] | [_] => figures(searches.first().unwrap_or(subject)),
        _ => {
            let mut all = format!(
                "\n{}, {:.2} s in all\n",
                count_of(searches.len() as u64, "search").replace("searchs", "searches"),
                subject.report.elapsed.as_secs_f64()
            );
            for (number, search) in searches.iter().enumerate() {
                let asked: Vec<&str> = search.report.properties.iter().map(|p| p.name.as_str()).collect();
                let _ = write!(all, "{}. {}: {}", number + 1, asked.join("; "), figures(search).trim_start());
            }
            all
        }
    };
    let told = |remark: &&String| searches.iter().any(|search| search.report.remarks.contains(remark));
    let remarks = subject.report.remarks.iter().filter(|remark| !searches.is_empty() && !told(remark));
    let remarks: String = remarks.map(|remark| format!("- {remark}\n")).collect();
    parts(subject, &[], all + &remarks, style)
}

fn parts(subject: &Subject, left: &[String], figures: String, style: Style) -> Told {
    let mut out = String::new();
    for p in &subject.report.properties {
        let answer = p.answer.as_ref().map_or(String::new(), |answer| format!("  {answer}"));
        let how = p.how.as_ref().map_or(String::new(), |how| format!("  ({how})"));
        let _ = writeln!(out, "  {}  {}{answer}{how}", verdict_word(p.verdict, style), p.name);
        for condition in &p.vacuous {
            let _ = writeln!(out, "             (vacuously: it would hold with anything after {condition})");
        }
    }
    for name in left {
        let _ = writeln!(out, "  {}  {name}", verdict_word(Verdict::Undecided, style));
    }
    let properties = &subject.report.properties;
    let mut shown: String = properties.iter().map(|p| evidence(subject.model, p, style)).collect();
    let unreached = subject.coverage.as_ref().map_or(String::new(), |coverage| coverage.text(Scope::AllStates));
    if !unreached.is_empty() {
        shown.push('\n');
        shown.push_str(&unreached);
    }
    let violated = properties.iter().filter(|p| p.verdict == Verdict::Violated);
    Told {
        asked: properties.iter().map(|p| p.name.clone()).collect(),
        violated: violated.map(|p| named(subject, p)).collect(),
        verdicts: out,
        evidence: shown,
        figures,
        limits: omission(subject) + &limits(subject, style),
    }
}

/// A violated property, with the run-time error that it is about.
fn named(subject: &Subject, p: &PropertyResult) -> String {
    match p.fault_record() {
        Some(record) => format!("{} ({})", p.name, subject.model.fault(record)),
        None => p.name.clone(),
    }
}

/// The answer of `count`.
pub fn count(subject: &Subject, style: Style) -> String {
    let mut out = match subject.report.limit {
        None if subject.report.omission.is_some() => {
            format!("{}: {}\n", subject.name, style.warn("counted, at least"))
        }
        None => format!("{}: {}\n", subject.name, style.good("counted")),
        Some(_) => format!("{}: {}\n", subject.name, style.warn("incomplete")),
    };
    for (name, value) in counted(subject) {
        let _ = writeln!(out, "  {name:<24}{value:>16}");
    }
    out.push_str(&figures(subject));
    out.push_str(&omission(subject));
    out.push_str(&limits(subject, style));
    out
}

pub(crate) fn verdict_word(verdict: Verdict, style: Style) -> String {
    match verdict {
        Verdict::Verified => style.good("verified "),
        Verdict::Violated => style.bad("violated "),
        Verdict::Undecided => style.warn("undecided"),
    }
}

/// The run, or the state, that shows the answer to a property.
pub fn evidence(model: &dyn Describe, p: &PropertyResult, style: Style) -> String {
    if let Some(told) = &p.evidence {
        return format!("\n{}", branching::text(model, told, style));
    }
    let what = if p.verdict == Verdict::Violated { "violated by" } else { "shown by" };
    let Some(run) = &p.trace else {
        return match (&p.state, p.verdict) {
            (Some(state), _) => format!(
                "\n{}, {what} this state; there was not enough memory or time to find a run to it:\n{}",
                style.bold(&p.name),
                trace::state_lines(model, state, style),
            ),
            (None, Verdict::Violated) if p.answer.is_none() && p.how.is_none() => {
                format!("\n{}: no reachable state satisfies it\n", p.name)
            }
            _ => String::new(),
        };
    };
    let steps = run.single_steps(model, p.fault_record());
    let told = Run { model, initial: &run.initial, steps: &steps, again: p.loop_among(&steps) };
    let length = lasso::run(p.shortest, run.steps.len(), told.cycle());
    let mut out = format!("\n{}, {what} {length}:\n", style.bold(&p.name));
    if style.tables {
        out.push_str(&trace::table(&told, style));
        if let Some(record) = p.fault_record() {
            let what = style.bad(&model.fault(record));
            let _ = writeln!(out, "then {}: {what}", model.event(record.event).label);
        }
    } else {
        out.push_str(&trace::run(&told, p.fault_record(), style));
    }
    let last = steps.last().map_or(&run.initial, |step| &step.state);
    out.push_str(&trace::ending(model, last, style));
    if let Some(fault) = p.condition_fault {
        let _ = writeln!(out, "     evaluating the property ended in a run-time error there: {fault}");
    }
    out
}

fn figures(subject: &Subject) -> String {
    let report = subject.report;
    let state = if report.orbits.is_some() { "orbit" } else { "state" };
    let visited = if report.once { count_of(report.facts.states, state) } else { count_of(report.visits, "visit") };
    let reduced = if subject.report.reduced { " (reduced)" } else { "" };
    let nothing = format!("\nno state had to be visited, {:.2} s", report.elapsed.as_secs_f64());
    let each = match report.forget.stored_peak < FEW {
        true => String::new(),
        false => format!(", {:.1} bytes a stored state ({} in full)", report.bytes_per_state(), report.state_bytes),
    };
    let searched = format!(
        "\n{visited}{reduced}, {} in {:.2} s ({}){each}",
        count_of(report.facts.transitions, "transition"),
        report.elapsed.as_secs_f64(),
        // What was visited before the search was saved took no time of this run.
        rate(report.visits.saturating_sub(report.visits_before), report.elapsed),
    );
    let seconds = report.elapsed.as_secs_f64();
    let mut out = match (&report.sets, &report.formulas) {
        (Some(sets), _) => {
            let states = grouped_digits(&sets.states);
            let states = if states == "1" { "1 state".to_string() } else { format!("{states} states") };
            let nodes = count_of(sets.peak_nodes, "node");
            format!("\n{states}{reduced} as decision diagrams of {nodes} at most, in {seconds:.2} s")
        }
        (_, Some(formulas)) => {
            let runs = match formulas.steps {
                Some(steps) => format!("all runs of up to {}", count_of(steps as u64, "step")),
                None => "no run".to_string(),
            };
            let clauses = count_of(formulas.clauses, "clause");
            let conflicts = count_of(formulas.conflicts, "conflict");
            format!("\n{runs} looked at, with {clauses} and {conflicts}, in {seconds:.2} s")
        }
        _ if report.visits == 0 && report.limit.is_none() => nothing,
        _ => searched,
    };
    if let Some(peak) = report.peak_resident {
        let _ = write!(out, ", {} at most", bytes(peak));
    }
    if let Some(disk) = &report.disk {
        let _ = write!(out, ", {} on disk", bytes(disk.peak_bytes as usize));
    }
    if let Some(card) = &report.card {
        let CardFacts { name, state_bits, peak_bytes, searched, made } = card;
        let (seconds, made) = (searched.as_secs_f64(), made.as_secs_f64());
        let peak = bytes(*peak_bytes);
        let _ = write!(
            out,
            "\n{name}: {seconds:.2} s, after {made:.2} s for the kernels, {peak} at most, {state_bits} bits a state"
        );
        if seconds > 0.0 && report.facts.states >= FEW {
            let _ = write!(out, ", {}", rate(report.facts.states, *searched));
        }
    }
    if let Some(cluster) = &report.cluster {
        out.push_str(&of_cluster(cluster));
    }
    out.push('\n');
    for remark in &report.remarks {
        let _ = writeln!(out, "- {remark}");
    }
    out
}

/// What the processes of a cluster did for each other.
fn of_cluster(cluster: &ClusterFacts) -> String {
    let ClusterFacts { processes, threads, sent_states, sent_bytes, peak_bytes, in_trees } = cluster;
    let many = if *processes == 1 { "process" } else { "processes" };
    let each = count_of(*threads as u64, "thread");
    let mut out = format!("\n{processes} {many} of {each}: {} sent", count_of(*sent_states, "state"));
    if *sent_states > 0 {
        let _ = write!(out, " in {:.1} bytes each", *sent_bytes as f64 / *sent_states as f64);
    }
    if *peak_bytes > 0 {
        let _ = write!(out, ", {} at most in a process", bytes(*peak_bytes as usize));
    }
    if *in_trees > 0 {
        let _ = write!(out, "; {in_trees} moved to a tree");
    }
    out
}

/// What a lossy store may have missed.
pub(crate) fn omission(subject: &Subject) -> String {
    let store = &subject.plan.store();
    match subject.report.omission {
        None => String::new(),
        Some(Omission::Probability(p)) => format!(
            "Store {store} may take two states for one: counts are lower bounds. Probability that any state was missed: {p:.2e}.\n"
        ),
        Some(Omission::Coverage(share)) => format!(
            "Store {store} may take two states for one: counts are lower bounds. Expected coverage: {:.4} % of the states met.\n",
            share * 100.0
        ),
    }
}

pub(crate) fn limits(subject: &Subject, style: Style) -> String {
    let (plan, report) = (subject.plan, subject.report);
    let Some(limit) = report.limit else {
        return String::new();
    };
    let explicit = plan.options().engine == EngineChoice::Explicit;
    let (why, help) = match limit {
        Limit::Memory => (
            match report.peak_resident {
                _ if let Some(card) = &report.card => format!("{} has no more memory", card.name),
                Some(peak) if peak < plan.memory() / 10 * 8 => {
                    format!("the system refuses more memory than {}", bytes(peak))
                }
                _ => format!("the memory budget of {} is used up", bytes(plan.memory())),
            },
            match (explicit, &plan.options().forget, plan.options().memory) {
                (false, ..) => "a larger --memory, or another engine (--engine)".to_string(),
                // This has tried to forget by itself.
                (_, ForgetChoice::Nothing, Some(_)) if plan.is_automatic() => "a larger --memory".into(),
                (_, ForgetChoice::Nothing, Some(_)) => "a larger --memory, or a method that forgets (--forget)".into(),
                (_, ForgetChoice::Nothing, None) => {
                    "a machine with more memory, or a smaller instance of the model".into()
                }
                (.., Some(_)) => listed("a larger --memory", to_keep_less(plan)),
                (.., None) => listed("a machine with more memory", to_keep_less(plan)),
            },
        ),
        Limit::Time => (
            format!("the time limit of {:.1} s is over", plan.options().time.unwrap_or_default().as_secs_f64()),
            match explicit {
                true if may(plan, |options| options.threads += 1) => "a larger --time, or more --threads".to_string(),
                true => "a larger --time".into(),
                false => "a larger --time, or another engine (--engine)".into(),
            },
        ),
        Limit::Interrupt => ("it was interrupted".to_string(), "letting it run".into()),
        Limit::Cache => (
            format!(
                "open states and their ancestors must stay, and do not fit in {} states",
                grouped(report.forget.stored_peak)
            ),
            match plan.options().forget {
                ForgetChoice::Cache(_) | ForgetChoice::Sweep(_) => listed("a larger cache", to_keep_less(plan)),
                _ => listed("allowing more states", to_keep_less(plan)),
            },
        ),
        Limit::Visits => ("the limit on visits (--max-visits) is reached".to_string(), "a larger --max-visits".into()),
        Limit::Tokens => {
            ("a place has more tokens than can be counted".to_string(), "a net with smaller numbers".into())
        }
        Limit::Gone => {
            ("a process of the cluster has ended or cannot be reached".to_string(), "starting it again".into())
        }
        Limit::Disk => (
            report.disk.as_ref().and_then(|disk| disk.failure.clone()).unwrap_or_else(|| "the disk failed".to_string()),
            "a directory with more room (--store disk:DIR)".into(),
        ),
    };
    let help = [&[help], &report.advice[..]].concat().join("; ");
    if report.sets.is_some() || report.formulas.is_some() {
        return format!("{} {why}.\nWhat would help: {help}.\n", style.warn("Stopped:"));
    }
    let needed = report.memory_needed().map_or(String::new(), |(at_least, all)| {
        let rest = match (report.expected, all) {
            (Some(states), Some(all)) => {
                let states = grouped(states as u64);
                format!("the levels shrink; at this rate there are about {states} states, which take {}", bytes(all))
            }
            (Some(_), None) => "all of them take more; how much cannot be predicted for an automaton".into(),
            (None, _) => "all of them take more; how much cannot be predicted while the levels grow".into(),
        };
        format!("The states found so far took {}; {rest}.\n", bytes(at_least))
    });
    // A cluster's sweep-line does not know how deep it is.
    let depth = match report.facts.depth {
        0 => String::new(),
        depth => format!(", at depth {}", depth - 1),
    };
    format!(
        "{} {why}: {} found so far, {} of them not yet expanded{depth}.\n{needed}What would help: {help}.\n",
        style.warn("Stopped:"),
        count_of(report.facts.states, "state"),
        grouped(report.facts.open),
    )
}

/// What would let a search that forgets keep less, of what it was not told yet.
fn to_keep_less(plan: &Plan) -> Vec<&'static str> {
    let Options { forget, chains, reduce, .. } = &plan.options();
    let mut ways = Vec::new();
    match forget {
        ForgetChoice::Nothing => {}
        ForgetChoice::PseudoRoot(_) => ways.push("--forget cache with --reduce edge-lean"),
        ForgetChoice::Cache(_) => {
            let few = matches!(plan.order(), OrderChoice::DepthFirst | OrderChoice::Bounded(_));
            if !few && may(plan, |options| options.order = Some(OrderChoice::DepthFirst)) {
                ways.push("an order with fewer open states (--order dfs or bbfs:16)");
            }
        }
        ForgetChoice::Sweep(cache) => {
            ways.push("a finer --progress measure");
            ways.extend(cache.is_none().then_some("--forget sweep+cache"));
        }
    }
    if !chains && may(plan, |options| options.chains = true) {
        ways.push("--chains");
    }
    let caches = matches!(forget, ForgetChoice::Cache(_));
    if caches && *reduce == ReduceChoice::Nothing && may(plan, |options| options.reduce = ReduceChoice::EdgeLean) {
        ways.push("--reduce edge-lean");
    }
    ways
}

/// Could the search also be told this? What would be refused is no advice.
fn may(plan: &Plan, change: impl FnOnce(&mut Options)) -> bool {
    plan.instead("", &ModelFacts::default(), change).is_ok()
}

/// A remedy, and what else there is.
fn listed(first: &str, others: Vec<&str>) -> String {
    [&[first], &others[..]].concat().join(", ")
}
