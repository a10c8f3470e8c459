//! One JSON object for scripts. Its fields are kept stable; new ones may be added.

use crate::counted::{most_open, widest_level};
use crate::{Overall, Subject, branching, trace, unreached};
use scrimp_core::{Limit, Omission, PropertyResult, Report, Verdict};
use scrimp_search::plan::ReduceChoice;
use scrimp_system::Model;
use serde_json::{Map, Value, json};

/// The answers of several searches of one model as one object: that of the first, with all properties.
pub fn together(answers: Vec<Value>, overall: Overall) -> Value {
    let mut answers = answers.into_iter();
    let mut all = answers.next().unwrap_or(Value::Null);
    for mut answer in answers {
        let more = answer.get_mut("properties").map(Value::take);
        if let (Some(Value::Array(list)), Some(Value::Array(more))) = (all.get_mut("properties"), more) {
            list.extend(more);
        }
        let keep = ["states", "transitions", "seconds", "memory_peak_bytes"];
        let figures = keep.into_iter().map(|name| (name.to_string(), answer[name].clone()));
        all["with_claim"] = Value::Object(figures.collect());
        all["verdict"] = overall.word().into();
    }
    all
}

/// The answer of a check that a violation ended, with the properties of these names, which were not searched for.
pub fn leaving(subject: &Subject, left: &[String]) -> Value {
    let mut answer = report(subject);
    if let Value::Array(list) = &mut answer["properties"] {
        let undecided = |name: &String| property(subject.model, &PropertyResult::undecided(name), Overall::Violated);
        list.extend(left.iter().map(undecided));
    }
    answer
}

pub fn report(subject: &Subject) -> Value {
    let Subject { name, model, plan, report, statements, .. } = subject;
    let facts = &report.facts;
    let overall = Overall::of(report);
    let ran = if report.ran.is_empty() { plan.parts() } else { report.ran.clone() };
    let mut plan_parts: Map<String, Value> = ran.into_iter().map(|(k, v)| (k.to_string(), v.into())).collect();
    plan_parts.extend(report.store.iter().map(|store| ("ended_in".to_string(), store.as_str().into())));
    plan_parts.insert("decisions".into(), report.remarks.clone().into());
    // Where states were visited again, or events left out, the totals are not those of the state space.
    let of_space = |total: u64| report.once.then_some(total);
    let all_events = plan.options().reduce == ReduceChoice::Nothing;
    let mut object = json!({
        "model": name,
        "verdict": overall.word(),
        "guarantee": guarantee(subject),
        "states": of_space(facts.states),
        "transitions": of_space(facts.transitions).filter(|_| all_events),
        "deadlocks": of_space(facts.deadlocks),
        "faults": of_space(facts.faults),
        "visits": report.visits,
        "events_run": facts.transitions,
        "open": facts.open,
        "levels": facts.depth,
        "widest_level": widest_level(report),
        "level_sizes": level_sizes(report),
        "initial_states": facts.initial_states,
        "max_out_degree": facts.max_out_degree,
        "average_degree": facts.transitions as f64 / report.visits.max(1) as f64,
        "max_in_degree": facts.max_in_degree,
        "back_level_edges": facts.back_level_edges,
        "longest_back_level_edge": facts.longest_back_level_edge,
        "stored_peak": report.forget.stored_peak,
        "forget": forgotten(report),
        "audited_states": report.audited,
        "state_bytes": report.state_bytes,
        "bytes_per_state": (report.bytes_per_state() * 1000.0).round() / 1000.0,
        "memory_peak_bytes": report.peak_resident,
        "disk_peak_bytes": report.disk.as_ref().map(|disk| disk.peak_bytes),
        "seconds": report.elapsed.as_secs_f64(),
        "plan": plan_parts,
        "omission_probability": report.omission.and_then(|o| if let Omission::Probability(p) = o { Some(p) } else { None }),
        "expected_coverage": report.omission.and_then(|o| if let Omission::Coverage(c) = o { Some(c) } else { None }),
        "properties": report.properties.iter().map(|p| property(*model, p, overall)).collect::<Vec<_>>(),
        "unreached": statements.as_deref().map(unreached::json),
        "limits": {
            "memory_bytes": plan.memory(),
            "memory_given": plan.options().memory.is_some(),
            "time_seconds": plan.options().time.map(|t| t.as_secs_f64()),
            "reached": report.limit.map(limit_word),
            "memory_needed_bytes": report.memory_needed().map(|(at_least, _)| at_least),
            "memory_expected_bytes": report.memory_needed().and_then(|(_, all)| all),
            "expected_states": report.expected.map(f64::round),
            "disk_failure": report.disk.as_ref().and_then(|disk| disk.failure.as_deref()),
        },
    });
    object["most_open_states"] = most_open(subject).into();
    if let Some((in_place, in_all)) = report.tokens {
        object["max_token_in_place"] = in_place.into();
        object["max_token_per_marking"] = in_all.into();
    }
    if report.sets.is_some() || report.formulas.is_some() {
        // No state was visited by itself: what is counted on the way is not known.
        for name in OF_VISITS {
            object[name] = Value::Null;
        }
        object["plan"]["ended_in"] = Value::Null;
    }
    if let Some(sets) = &report.sets {
        object["states"] = integer(&sets.states);
        object["transitions"] = sets.transitions.as_deref().map_or(Value::Null, integer);
        object["deadlocks"] = sets.deadlocks.as_deref().map_or(Value::Null, integer);
        object["levels"] = sets.levels.into();
        object["peak_nodes"] = sets.peak_nodes.into();
        object["final_nodes"] = sets.final_nodes.into();
        object["variables"] = sets.variables.into();
        object["reorderings"] = sets.reorderings.into();
    }
    if let Some(formulas) = &report.formulas {
        object["steps"] = formulas.steps.into();
        object["clauses"] = formulas.clauses.into();
        object["variables"] = formulas.variables.into();
        object["conflicts"] = formulas.conflicts.into();
    }
    if subject.report.reduced {
        object["reduced"] = true.into();
    }
    object
}

/// How many states each level has, where these are known and not too many to be told.
fn level_sizes(report: &Report) -> Option<&[u64]> {
    const MOST: usize = 10_000;
    Some(&report.facts.level_sizes[..]).filter(|sizes| report.once && !sizes.is_empty() && sizes.len() <= MOST)
}

/// Figures of a search that visits states.
const OF_VISITS: [&str; 17] = [
    "states",
    "transitions",
    "deadlocks",
    "faults",
    "visits",
    "events_run",
    "open",
    "levels",
    "widest_level",
    "most_open_states",
    "initial_states",
    "max_out_degree",
    "average_degree",
    "stored_peak",
    "forget",
    "state_bytes",
    "bytes_per_state",
];

/// A number of any size.
fn integer(digits: &str) -> Value {
    digits.parse::<serde_json::Number>().map_or(Value::Null, Value::Number)
}

/// What forgetting did: counts that are zero for methods they do not belong to.
fn forgotten(report: &Report) -> Value {
    let f = &report.forget;
    json!({
        "released": f.released,
        "never_came": f.never_came,
        "retracted": f.retracted,
        "evictions": f.evictions,
        "candidates_peak": f.candidates_peak,
        "tree_peak": f.tree_peak,
        "replays": f.replays,
        "sweeps": f.sweeps,
        "persistent": f.persistent,
        "largest_class": f.largest_class,
    })
}

/// What the verdict rests on.
pub fn guarantee(subject: &Subject) -> &'static str {
    match Overall::of(subject.report) {
        Overall::Violated if !subject.report.exhaustive => "counterexample",
        Overall::Incomplete => "none",
        Overall::NoErrorFound => "probabilistic",
        _ if subject.report.exhaustive => "exhaustive",
        // Some was shown without visiting states.
        _ if subject.report.properties.iter().any(|p| p.how.is_some()) => "proof",
        _ => "witness",
    }
}

pub fn limit_word(limit: Limit) -> &'static str {
    match limit {
        Limit::Memory => "memory",
        Limit::Time => "time",
        Limit::Interrupt => "interrupt",
        Limit::Cache => "cache",
        Limit::Visits => "visits",
        Limit::Disk => "disk",
        Limit::Tokens => "tokens",
    }
}

fn property(model: &dyn Model, p: &PropertyResult, overall: Overall) -> Value {
    let verdict = match p.verdict {
        Verdict::Verified => "verified",
        Verdict::Violated => "violated",
        Verdict::Undecided if overall == Overall::NoErrorFound => overall.word(),
        Verdict::Undecided => "incomplete",
    };
    let fault = p.fault_record().map(|record| {
        let text = model.event(record.event);
        let file = Some(text.file).filter(|_| !text.steps.is_empty());
        json!({
            "event": record.event, "label": text.label, "file": file, "line": text.line,
            "fault": model.fault(record),
        })
    });
    json!({
        "name": p.name,
        "verdict": verdict,
        "answer": p.answer,
        "how": p.how,
        "vacuous": p.vacuous,
        "state": p.state.as_ref().map(|s| trace::state_json(model, s)),
        "trace": trace::json(model, p),
        "processes": p.trace.as_ref().map(|t| trace::standing_json(model, t.last())),
        "evidence": p.evidence.as_ref().map(|told| branching::json(model, told)),
        "fault": fault,
        "condition_fault": p.condition_fault.map(|f| f.to_string()),
    })
}

/// The object for a run that could not begin.
pub fn error(message: &str) -> Value {
    json!({ "verdict": "error", "message": message })
}
