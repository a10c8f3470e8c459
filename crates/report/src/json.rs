//! One JSON object for scripts. Its fields are kept stable; new ones may be added.

use crate::{Overall, Subject, trace};
use scrimp_search::{Limit, PropertyResult, Verdict};
use scrimp_system::Model;
use serde_json::{Map, Value, json};

pub fn report(subject: &Subject) -> Value {
    let Subject { name, model, plan, report } = subject;
    let facts = &report.facts;
    let overall = Overall::of(report);
    let plan_parts: Map<String, Value> = plan.parts().into_iter().map(|(k, v)| (k.to_string(), v.into())).collect();
    json!({
        "model": name,
        "verdict": overall.word(),
        "guarantee": guarantee(subject),
        "states": facts.states,
        "transitions": facts.transitions,
        "deadlocks": facts.deadlocks,
        "faults": facts.faults,
        "visits": facts.states - facts.open,
        "open": facts.open,
        "levels": facts.depth,
        "widest_level": facts.widest,
        "initial_states": facts.initial_states,
        "max_out_degree": facts.max_out_degree,
        "average_degree": facts.transitions as f64 / facts.states.max(1) as f64,
        "max_in_degree": facts.max_in_degree,
        "back_level_edges": facts.back_level_edges,
        "longest_back_level_edge": facts.longest_back_level_edge,
        "stored_peak": facts.states,
        "state_bytes": report.state_bytes,
        "bytes_per_state": (report.bytes_per_state() * 1000.0).round() / 1000.0,
        "memory_peak_bytes": report.peak_resident,
        "seconds": report.elapsed.as_secs_f64(),
        "plan": plan_parts,
        "properties": report.properties.iter().map(|p| property(*model, p)).collect::<Vec<_>>(),
        "limits": {
            "memory_bytes": plan.memory,
            "memory_given": plan.memory_given,
            "time_seconds": plan.time.map(|t| t.as_secs_f64()),
            "reached": report.limit.map(limit_word),
        },
    })
}

/// What the verdict rests on.
pub fn guarantee(subject: &Subject) -> &'static str {
    match Overall::of(subject.report) {
        Overall::Violated if !subject.report.exhaustive => "counterexample",
        Overall::Incomplete => "none",
        _ if subject.report.exhaustive => "exhaustive",
        _ => "witness",
    }
}

pub fn limit_word(limit: Limit) -> &'static str {
    match limit {
        Limit::Memory => "memory",
        Limit::Time => "time",
        Limit::Interrupt => "interrupt",
    }
}

fn property(model: &dyn Model, p: &PropertyResult) -> Value {
    let verdict = match p.verdict {
        Verdict::Verified => "verified",
        Verdict::Violated => "violated",
        Verdict::Undecided => "incomplete",
    };
    let fault = p.fault.map(|(event, fault)| {
        let text = model.event(event);
        json!({ "event": event, "label": text.label, "line": text.line, "fault": fault.to_string() })
    });
    json!({
        "name": p.name,
        "verdict": verdict,
        "trace": p.trace.as_ref().map(|t| trace::json(model, t)),
        "fault": fault,
        "condition_fault": p.condition_fault.map(|f| f.to_string()),
    })
}

/// The object for a run that could not begin.
pub fn error(message: &str) -> Value {
    json!({ "verdict": "error", "message": message })
}
