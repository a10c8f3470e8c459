//! What the command answers, made small: verdicts and figures, runs by their number, and nothing that is null.

use serde_json::{Map, Value, json};

/// Parts of a model that are never executed, and values of an initial state, that are told; the rest is counted.
const MOST_TOLD: usize = 12;

/// What is not null of an object, by these names.
fn some(object: &Value, names: &[&str]) -> Map<String, Value> {
    let found = names.iter().filter(|name| !object[**name].is_null());
    found.map(|name| (name.to_string(), object[*name].clone())).collect()
}

/// The answer of `check` and `count`. A property's run is kept, and told by its number.
pub fn report(report: &Value, mut keep: impl FnMut(&Value) -> Option<u64>) -> Value {
    let figures = ["verdict", "guarantee", "states", "transitions", "deadlocks", "faults", "levels", "seconds"];
    let mut answer = some(report, &figures);
    answer.extend(some(report, &["memory_peak_bytes", "omission_probability", "expected_coverage", "reduced"]));
    let plan = some(&report["plan"], &["search", "ended_in", "reduce", "forget", "engine"]);
    answer.extend((!plan.is_empty()).then(|| ("how".into(), plan.into())));
    if let Some(properties) = report["properties"].as_array().filter(|all| !all.is_empty()) {
        let told = properties.iter().map(|property| {
            let mut told = some(property, &["name", "verdict", "answer", "fault", "condition_fault"]);
            if let Some(number) = keep(property).filter(|_| property["trace"].is_object()) {
                told.insert("run".into(), number.into());
                told.insert("steps".into(), property["trace"]["length"].clone());
                told.insert("goes_round".into(), (!property["trace"]["loop"].is_null()).into());
            }
            Value::Object(told)
        });
        answer.insert("properties".into(), told.collect());
    }
    let limits = &report["limits"];
    if !limits["reached"].is_null() {
        let told = some(limits, &["reached", "memory_needed_bytes", "memory_expected_bytes", "expected_states"]);
        answer.insert("limit".into(), told.into());
        let mut advice: Vec<Value> = limits["advice"].as_array().cloned().unwrap_or_default();
        advice.push("ask `next` with the same arguments for what else would help".into());
        answer.insert("advice".into(), advice.into());
    }
    let unreached = never_executed(&report["coverage"]);
    answer.extend((!unreached.is_empty()).then(|| ("never_executed".into(), unreached.into())));
    answer.into()
}

/// What of a model is never executed, a text each.
fn never_executed(coverage: &Value) -> Vec<Value> {
    let parts = coverage["parts"].as_array().into_iter().flatten();
    let all = parts.flat_map(|part| part["unreached"].as_array().into_iter().flatten());
    let mut told: Vec<Value> = all
        .map(|item| {
            let word = |name: &str| item[name].as_str().unwrap_or("");
            let owner = Some(word("process")).filter(|owner| !owner.is_empty()).map(|owner| format!("{owner}: "));
            format!("{}:{}: {}{}", word("file"), item["line"], owner.unwrap_or_default(), word("text")).into()
        })
        .collect();
    let rest = told.len().saturating_sub(MOST_TOLD);
    told.truncate(MOST_TOLD);
    told.extend((rest > 0).then(|| format!("and {rest} more").into()));
    told
}

/// The answer of `plan`: what there is, and what will be done.
pub fn opened(plan: &Value, initial: Option<&Value>) -> Value {
    let mut answer = some(plan, &["state_bytes", "properties"]);
    let exact = plan["complete"] == true;
    answer.extend(
        plan["states_at_least"].as_u64().map(|n| (if exact { "states" } else { "states_at_least" }.into(), n.into())),
    );
    if let Some(initial) = initial.and_then(Value::as_object) {
        let told: Map<String, Value> = initial.iter().take(MOST_TOLD).map(|(n, v)| (n.clone(), v.clone())).collect();
        answer.extend((initial.len() > told.len()).then(|| ("variables".into(), initial.len().into())));
        answer.insert("initial_state".into(), told.into());
    }
    answer.extend(some(&plan["plan"], &["search"]));
    answer.into()
}

/// The answer to `next`, from a plan with the same arguments.
pub fn next(plan: &Value, limits: (&str, &str)) -> Value {
    let mut advice: Vec<Value> = plan["advice"].as_array().cloned().unwrap_or_default();
    if plan["complete"] == true {
        advice.push("the whole model has few states: check it with more --time if that was the limit".into());
    } else {
        let (memory, time) = limits;
        advice.push(format!("more time or memory, up to the {time} and {memory} that this server allows").into());
        advice
            .push("--order dfs or best, or simulate with other seeds: to look for an error instead of a proof".into());
    }
    let mut answer = some(plan, &["states_at_least", "complete", "growth_slows", "bytes_in_table", "bytes_in_tree"]);
    answer.insert("advice".into(), advice.into());
    answer.into()
}

/// Some lines of a text, and what is left out.
pub fn lines(text: &str, first: usize, most: usize) -> Value {
    let all = text.lines().count();
    let part: Vec<&str> = text.lines().skip(first.saturating_sub(1)).take(most).collect();
    let last = first.saturating_sub(1) + part.len();
    let mut answer = json!({ "text": part.join("\n"), "lines": all });
    if part.len() < all {
        answer["shown"] = json!([first.max(1), last]);
        if last < all {
            answer["advice"] = format!("ask `trace` with first = {} for more", last + 1).into();
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_come_in_parts() {
        let text = "a\nb\nc\n";
        assert_eq!(lines(text, 1, 5), json!({ "text": "a\nb\nc", "lines": 3 }));
        let part = lines(text, 2, 1);
        assert_eq!((&part["text"], &part["shown"]), (&json!("b"), &json!([2, 2])));
        assert!(part["advice"].as_str().unwrap().contains("first = 3"));
        assert_eq!(lines(text, 9, 1)["text"], "");
    }

    #[test]
    fn answers_tell_what_is_known() {
        let given = json!({
            "verdict": "incomplete", "states": 5, "levels": null, "level_sizes": [1, 4],
            "plan": { "search": "breadth-first", "decisions": [] },
            "properties": [{ "name": "deadlock", "verdict": "violated", "answer": null, "trace": { "length": 2, "loop": null } }],
            "limits": { "reached": "time", "advice": [], "memory_needed_bytes": null },
            "coverage": { "parts": [{ "unreached": [{ "process": "P", "file": "m.pml", "line": 3, "text": "else" }] }] },
        });
        let told = report(&given, |_| Some(7));
        assert_eq!(
            told["properties"][0],
            json!({
                "name": "deadlock", "verdict": "violated", "run": 7, "steps": 2, "goes_round": false
            })
        );
        assert_eq!(
            (&told["limit"], &told["how"]),
            (&json!({ "reached": "time" }), &json!({ "search": "breadth-first" }))
        );
        assert_eq!(told["never_executed"], json!(["m.pml:3: P: else"]));
        assert!(told.get("levels").is_none() && told.get("level_sizes").is_none());
    }
}
