//! What the command answers, made small: verdicts and figures, runs by their number, and nothing that is null.

use serde_json::{Map, Value};

/// Parts of a model that are never executed, and values of an initial state, that are told; the rest is counted.
const MOST_TOLD: usize = 12;
/// Bytes of a field, and of a text in one, that are told as they are; and of all fields together.
const LONGEST_FIELD: usize = 8 << 10;
const LONGEST_TEXT: usize = 500;
const LONGEST_REST: usize = 24 << 10;

/// What is not null of an object, by these names.
fn some(object: &Value, names: &[&str]) -> Map<String, Value> {
    let found = names.iter().filter(|name| !object[**name].is_null());
    found.map(|name| (name.to_string(), object[*name].clone())).collect()
}

/// The answer of `check` and `count`. The number of a property's run is `run`, where it was kept. Of what the command advises, what
/// no agent could ask for is left out.
pub fn report(report: &Value, takes: impl Fn(&str, &str) -> bool) -> Value {
    let figures = ["verdict", "guarantee", "states", "transitions", "deadlocks", "faults", "levels", "seconds"];
    let mut answer = some(report, &figures);
    answer.extend(some(report, &["memory_peak_bytes", "omission_probability", "expected_coverage", "reduced"]));
    let plan = some(&report["plan"], &["search", "ended_in", "reduce", "forget", "engine"]);
    answer.extend((!plan.is_empty()).then(|| ("how".into(), plan.into())));
    if let Some(properties) = report["properties"].as_array().filter(|all| !all.is_empty()) {
        let mut told: Vec<Value> = properties
            .iter()
            .map(|property| {
                let mut told = some(property, &["name", "verdict", "answer", "fault", "condition_fault"]);
                if property["trace"].is_object() {
                    told.extend(some(property, &["run", "run_lost"]));
                    told.insert("steps".into(), property["trace"]["length"].clone());
                    told.insert("goes_round".into(), (!property["trace"]["loop"].is_null()).into());
                }
                Value::Object(told)
            })
            .collect();
        // Where they are cut, what is wrong stays.
        if told.len() > MOST_TOLD {
            told.sort_by_key(|property| property["verdict"] != "violated");
        }
        answer.insert("properties".into(), told.into());
    }
    let limits = &report["limits"];
    if !limits["reached"].is_null() {
        let told = some(limits, &["reached", "memory_needed_bytes", "memory_expected_bytes", "expected_states"]);
        answer.insert("limit".into(), told.into());
        let all = limits["advice"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let fit = all.filter_map(advised).filter(|(name, value, _)| takes(name, value));
        let mut advice: Vec<Value> = fit.map(|(name, value, why)| format!("{name}: {value} ({why})").into()).collect();
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

/// The answer to `next`, from a plan with the same arguments, and what was found to be accepted.
pub fn next(plan: &Value, advice: Vec<String>) -> Value {
    let mut answer = some(plan, &["states_at_least", "complete", "growth_slows", "bytes_in_table", "bytes_in_tree"]);
    answer.insert("advice".into(), advice.into());
    answer.into()
}

/// What the command advises, as `--flag value: reason`: the argument of a tool, its value, and the reason.
pub fn advised(advice: &str) -> Option<(&str, &str, &str)> {
    let (flag, reason) = advice.strip_prefix("--")?.split_once(": ")?;
    let (name, value) = flag.split_once(' ')?;
    Some((name, value, reason))
}

/// Cuts whatever is long. `text` has its own bounds.
pub fn fit(answer: &mut Value) {
    let bytes = |value: &Value| value.to_string().len();
    let Some(fields) = answer.as_object_mut() else { return };
    for (_, value) in fields.iter_mut().filter(|(name, value)| *name != "text" && bytes(value) > LONGEST_FIELD) {
        cut(value);
    }
    while fields.iter().filter(|(name, _)| *name != "text").map(|(_, value)| bytes(value)).sum::<usize>() > LONGEST_REST
        && let Some(name) = longest(fields)
    {
        fields[&name] = "left out: too long".into();
    }
}

/// The longest field of an object, but for its text.
fn longest(fields: &Map<String, Value>) -> Option<String> {
    let lengths =
        fields.iter().filter(|(name, _)| *name != "text").map(|(name, value)| (value.to_string().len(), name));
    lengths.max().filter(|(length, _)| *length > 100).map(|(_, name)| name.clone())
}

fn cut(value: &mut Value) {
    match value {
        Value::String(text) => shorten(text, LONGEST_TEXT),
        Value::Array(all) => {
            let more = all.len().saturating_sub(MOST_TOLD);
            all.truncate(MOST_TOLD);
            all.iter_mut().for_each(cut);
            all.extend((more > 0).then(|| format!("and {more} more").into()));
        }
        Value::Object(all) => {
            let more = all.len().saturating_sub(MOST_TOLD);
            *all = std::mem::take(all).into_iter().take(MOST_TOLD).collect();
            all.values_mut().for_each(cut);
            if more > 0 {
                all.insert("…".into(), format!("and {more} more").into());
            }
        }
        _ => {}
    }
}

/// Cuts a text, and says so.
pub fn shorten(text: &mut String, most: usize) {
    if text.len() > most {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let more = text.len() - end;
        text.truncate(end);
        text.push_str(&format!(" … ({more} bytes more)"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_long_is_cut() {
        let state: Map<String, Value> = (0..3000).map(|i| (format!("a[{i}]"), "0".into())).collect();
        let mut answer = json!({ "text": "x", "state": state, "list": vec!["y".repeat(900); 40], "few": [1, 2] });
        fit(&mut answer);
        assert_eq!((&answer["state"]["…"], &answer["list"][12]), (&json!("and 2988 more"), &json!("and 28 more")));
        assert!(answer["list"][0].as_str().unwrap().ends_with("(400 bytes more)"));
        assert_eq!(answer["few"], json!([1, 2]));
        assert!(answer.to_string().len() < 16 << 10);
        let mut text = "ä".repeat(9);
        shorten(&mut text, 3);
        assert_eq!(text, "ä … (16 bytes more)");
    }

    #[test]
    fn advice_is_read() {
        assert_eq!(advised("--reduce por: of 5 states: 3"), Some(("reduce", "por", "of 5 states: 3")));
        assert_eq!(advised("more memory"), None);
    }

    #[test]
    fn answers_tell_what_is_known() {
        let given = json!({
            "verdict": "incomplete", "states": 5, "levels": null, "level_sizes": [1, 4],
            "plan": { "search": "breadth-first", "decisions": [] },
            "properties": [{ "name": "deadlock", "verdict": "violated", "answer": null, "run": 7, "trace": { "length": 2, "loop": null } }],
            "limits": { "reached": "time", "advice": ["--disk DIR: files", "--reduce por: less"], "memory_needed_bytes": null },
            "coverage": { "parts": [{ "unreached": [{ "process": "P", "file": "m.pml", "line": 3, "text": "else" }] }] },
        });
        let told = report(&given, |name, _| name == "reduce");
        assert_eq!(told["advice"][0], "reduce: por (less)");
        assert_eq!(told["advice"].as_array().unwrap().len(), 2);
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
