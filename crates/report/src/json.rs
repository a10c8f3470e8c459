//! One JSON object for scripts. Its fields are kept stable, and `docs/schema` describes them; new ones may be added.

use crate::counted::{most_open, widest_level};
use crate::coverage::Scope;
use crate::{Overall, Subject, branching, schema, trace};
use scrimp_core::{CardFacts, ClusterFacts, Limit, Omission, PropertyResult, Report, Verdict};
use scrimp_search::plan::ReduceChoice;
use scrimp_system::Describe;
use serde_json::{Map, Value, json};

/// The answers of several searches of one model as one object: that of the first, with the properties and the figures of all.
pub fn together(answers: Vec<Value>, overall: Overall) -> Value {
    // What the verdict rests on is known to the search that gave it.
    let decisive = answers.iter().find(|answer| answer["verdict"] == overall.word());
    let guarantee = decisive.map_or("none".into(), |answer| answer["guarantee"].clone());
    let mut answers = answers.into_iter();
    let Some(mut all) = answers.next() else { return Value::Null };
    for mut answer in answers {
        for name in ["properties", "searches"] {
            if let (Value::Array(list), Value::Array(more)) = (&mut all[name], answer[name].take()) {
                list.extend(more);
            }
        }
        if all["limits"]["reached"].is_null() {
            all["limits"]["reached"] = answer["limits"]["reached"].take();
        }
    }
    all["verdict"] = overall.word().into();
    all["guarantee"] = guarantee;
    all
}

/// The answer of a check that a violation ended, with the properties of these names, which were not searched for.
pub fn leaving(subject: &Subject, left: &[String]) -> Value {
    let mut answer = report(subject);
    leave(&mut answer, subject.model, left, Overall::Violated);
    answer
}

/// Adds properties that were not searched for to an answer.
pub fn leave(answer: &mut Value, model: &dyn Describe, left: &[String], overall: Overall) {
    if let Value::Array(list) = &mut answer["properties"] {
        list.extend(left.iter().map(|name| property(model, &PropertyResult::undecided(name), overall)));
    }
}

/// The answer about a net, for which these searches were made.
pub fn of_net(subject: &Subject, searches: &[Subject]) -> Value {
    let mut answer = report(subject);
    answer["searches"] = searches.iter().map(search).collect();
    answer
}

/// One search: what it was to decide, what it counted, and how it was done.
pub fn search(subject: &Subject) -> Value {
    let Subject { name, plan, report, .. } = subject;
    let ran = if report.ran.is_empty() { plan.parts() } else { report.ran.clone() };
    let mut parts: Map<String, Value> = ran.into_iter().map(|(k, v)| (k.to_string(), v.into())).collect();
    parts.extend(report.store.iter().map(|store| ("ended_in".to_string(), store.as_str().into())));
    parts.insert("decisions".into(), report.remarks.clone().into());
    let (states, transitions) = match (&report.sets, &report.formulas) {
        (Some(sets), _) => (integer(&sets.states), sets.transitions.as_deref().map_or(Value::Null, integer)),
        (_, Some(_)) => (Value::Null, Value::Null),
        _ => {
            // Where states were visited again, or events left out, the totals are not those of the state space.
            let of_space = |total: u64| report.once.then_some(total);
            let all_events = plan.options().reduce == ReduceChoice::Nothing;
            (of_space(report.facts.states).into(), of_space(report.facts.transitions).filter(|_| all_events).into())
        }
    };
    if is_without_visits(report) {
        parts.insert("ended_in".into(), Value::Null);
    }
    json!({
        "model": name,
        "properties": report.properties.iter().map(|p| &p.name).collect::<Vec<_>>(),
        "states": states,
        "transitions": transitions,
        "visits": (!is_without_visits(report)).then_some(report.visits),
        "seconds": report.elapsed.as_secs_f64(),
        "memory_peak_bytes": report.peak_resident,
        "limit": report.limit.map(limit_word),
        "plan": parts,
    })
}

/// Was no state visited by itself, so that what is counted on the way is not known?
fn is_without_visits(report: &Report) -> bool {
    report.sets.is_some() || report.formulas.is_some()
}

pub fn report(subject: &Subject) -> Value {
    let Subject { name, model, report, coverage, .. } = subject;
    let facts = &report.facts;
    let overall = Overall::of(report);
    let search = search(subject);
    let detail = |figure: u64| report.detailed.then_some(figure);
    let mut object = json!({
        "schema": schema::REPORT,
        "model": name,
        "verdict": overall.word(),
        "guarantee": guarantee(subject),
        "states": search["states"],
        "transitions": search["transitions"],
        "deadlocks": detail(facts.deadlocks).filter(|_| report.once),
        "faults": detail(facts.faults).filter(|_| report.once),
        "visits": search["visits"],
        "events_run": facts.transitions,
        "open": detail(facts.open),
        "levels": Some(facts.depth).filter(|depth| *depth > 0),
        "widest_level": widest_level(report),
        "level_sizes": level_sizes(report),
        "initial_states": facts.initial_states,
        "max_out_degree": detail(facts.max_out_degree),
        "average_degree": facts.transitions as f64 / report.visits.max(1) as f64,
        "max_in_degree": facts.max_in_degree,
        "back_level_edges": facts.back_level_edges,
        "longest_back_level_edge": facts.longest_back_level_edge,
        "stored_peak": report.forget.stored_peak,
        "forget": forgotten(report),
        "audited_states": report.audited,
        "state_bytes": report.state_bytes,
        "bytes_per_state": (report.bytes_per_state() * 1000.0).round() / 1000.0,
        "memory_peak_bytes": search["memory_peak_bytes"],
        "disk_peak_bytes": report.disk.as_ref().map(|disk| disk.peak_bytes),
        "seconds": search["seconds"],
        "plan": search["plan"],
        "omission_probability": report.omission.and_then(|o| if let Omission::Probability(p) = o { Some(p) } else { None }),
        "expected_coverage": report.omission.and_then(|o| if let Omission::Coverage(c) = o { Some(c) } else { None }),
        "properties": report.properties.iter().map(|p| property(*model, p, overall)).collect::<Vec<_>>(),
        "unreached": coverage.as_ref().and_then(|coverage| coverage.statements_json()),
        "coverage": coverage.as_ref().map(|coverage| coverage.json(Scope::AllStates)),
        "limits": limits(subject, &search["limit"]),
    });
    object["most_open_states"] = most_open(subject).filter(|open| *open > 0).into();
    if let Some((in_place, in_all)) = report.tokens {
        object["max_token_in_place"] = in_place.into();
        object["max_token_per_marking"] = in_all.into();
    }
    if is_without_visits(report) {
        for name in OF_VISITS {
            object[name] = Value::Null;
        }
    }
    if let Some(sets) = &report.sets {
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
    if let Some(CardFacts { name, state_bits, peak_bytes, searched, made }) = &report.card {
        object["card"] = json!({
            "name": name,
            "state_bits": state_bits,
            "peak_bytes": peak_bytes,
            "seconds": searched.as_secs_f64(),
            "kernel_seconds": made.as_secs_f64(),
        });
    }
    if let Some(ClusterFacts { processes, threads, sent_states, sent_bytes, peak_bytes, in_trees }) = &report.cluster {
        object["cluster"] = json!({
            "processes": processes,
            "threads": threads,
            "sent_states": sent_states,
            "sent_bytes": sent_bytes,
            "process_peak_bytes": peak_bytes,
            "processes_in_trees": in_trees,
        });
    }
    if subject.report.reduced {
        object["reduced"] = true.into();
    }
    if let Some(orbits) = &report.orbits {
        object["symmetries"] = orbits.symmetries.map_or(Value::Null, |number| integer(&number.to_string()));
        object["states_in_orbits"] = orbits.states.map_or(Value::Null, |number| integer(&number.to_string()));
    }
    object["searches"] = json!([search]);
    object
}

/// What there was, which of it was used up, and what would have been needed.
fn limits(subject: &Subject, reached: &Value) -> Value {
    let Subject { plan, report, .. } = subject;
    json!({
        "memory_bytes": plan.memory(),
        "memory_given": plan.options().memory.is_some(),
        "time_seconds": plan.options().time.map(|t| t.as_secs_f64()),
        "reached": reached,
        "memory_needed_bytes": report.memory_needed().map(|(at_least, _)| at_least),
        "memory_expected_bytes": report.memory_needed().and_then(|(_, all)| all),
        "expected_states": report.expected.map(f64::round),
        "advice": report.advice,
        "disk_failure": report.disk.as_ref().and_then(|disk| disk.failure.as_deref()),
    })
}

/// How many states each level has, where these are known and not too many to be told.
fn level_sizes(report: &Report) -> Option<&[u64]> {
    const MOST: usize = 10_000;
    Some(&report.facts.level_sizes[..]).filter(|sizes| report.once && !sizes.is_empty() && sizes.len() <= MOST)
}

/// Figures of a search that visits states.
const OF_VISITS: [&str; 14] = [
    "deadlocks",
    "faults",
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
        Limit::Gone => "gone",
    }
}

/// The answer to a property.
pub(crate) fn property(model: &dyn Describe, p: &PropertyResult, overall: Overall) -> Value {
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

/// The answer of a run that ended without a search: why, and the limit that was reached, if one was.
pub fn without_search(model: Option<&str>, reason: &str, reached: Option<&str>) -> Value {
    json!({
        "schema": schema::REPORT,
        "model": model,
        "verdict": Overall::Incomplete.word(),
        "guarantee": "none",
        "states": null,
        "transitions": null,
        "reason": reason,
        "properties": [],
        "limits": { "reached": reached },
        "searches": [],
    })
}

/// The object for a run that could not begin.
pub fn error(message: &str) -> Value {
    json!({ "schema": schema::ERROR, "verdict": "error", "message": message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(verdict: &str, guarantee: &str, limit: Option<&str>) -> Value {
        json!({
            "verdict": verdict, "guarantee": guarantee, "states": 5, "properties": [{ "name": verdict }],
            "limits": { "reached": limit }, "searches": [{ "limit": limit }],
        })
    }

    #[test]
    fn the_whole_is_told_by_who_decided_it() {
        let good = answer("verified", "exhaustive", None);
        let cut = answer("incomplete", "none", Some("time"));
        let bad = answer("violated", "counterexample", None);
        let all = together(vec![good.clone(), cut.clone()], Overall::Incomplete);
        assert_eq!((&all["verdict"], &all["guarantee"]), (&json!("incomplete"), &json!("none")));
        assert_eq!(all["limits"]["reached"], "time", "the limit of the second search");
        assert_eq!(all["properties"].as_array().map(Vec::len), Some(2));
        assert_eq!(all["searches"], json!([{ "limit": null }, { "limit": "time" }]));
        let all = together(vec![good.clone(), cut, bad], Overall::Violated);
        assert_eq!((&all["guarantee"], &all["limits"]["reached"]), (&json!("counterexample"), &json!("time")));
        // A run that was ended between two searches.
        let all = together(vec![good], Overall::Incomplete);
        assert_eq!((&all["verdict"], &all["guarantee"]), (&json!("incomplete"), &json!("none")));
    }
}
