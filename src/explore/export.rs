//! A run as a page by itself: its states, its source and its chart in one file that needs no server.
//!
//! Of each state only what differs from the one before is written; long runs repeat themselves.

use super::check::{Program, answer};
use super::session::Session;
use super::{Opening, source};
use crate::walk::Node;
use scrimp_explorer::{Refusal, alone};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::Path;

/// States of a run that a page can have.
const MOST_STATES: usize = 10_000;
/// Bytes of the source that a page has.
const MOST_SOURCE: usize = 2 << 20;

/// A page that was made without a server.
#[derive(Debug)]
pub struct Exported {
    /// The page.
    pub html: String,
    /// What it shows, in words.
    pub says: String,
}

/// The page of a run: of the trace to begin with, or else of the first run that a check of the properties finds; without any, of all
/// that the model asks.
pub fn export(mut opening: Opening) -> Result<Exported, String> {
    let checked = opening.trace.is_none();
    if checked {
        let program = Program { model: opening.model.clone(), define: opening.define.clone() };
        let answer = answer(&program, &opening.properties)?;
        opening.trace = Some((opening.model.display().to_string(), found(&answer)?));
    }
    let (mut both, _) = super::open(&opening)?;
    let (node, again, about) = both.begin();
    let mut about = about.clone();
    if checked {
        about["saved"] = false.into();
    }
    let steps = both.of(node).walk().depth(node);
    let mut page = both.export(node, again, Some(&about)).map_err(|refusal| refusal.message)?;
    let Value::String(html) = page["html"].take() else { return Err("there is no page".into()) };
    let shows = match (about["name"].as_str(), about["verdict"].as_str()) {
        (Some(name), Some("violated")) => format!(" that violates {name}"),
        (Some(name), _) => format!(" that shows {name}"),
        _ => String::new(),
    };
    Ok(Exported { html, says: format!("a run of {steps} step{}{shows}", if steps == 1 { "" } else { "s" }) })
}

/// The part of a check's answer that has a run: what is violated comes first.
fn found(answer: &Value) -> Result<Value, String> {
    let properties = answer["properties"].as_array().map_or(&[][..], Vec::as_slice);
    let runs = || properties.iter().filter(|property| property["trace"]["steps"].is_array());
    let found = runs().find(|property| property["verdict"] == "violated").or_else(|| runs().next());
    if let Some(property) = found {
        return Ok(json!({ "properties": [property] }));
    }
    let told = |property: &Value| {
        let word = |name: &str| property[name].as_str().unwrap_or("?").to_string();
        format!("{}: {}", word("name"), word("verdict"))
    };
    let all: Vec<String> = properties.iter().map(told).collect();
    let all = if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) };
    Err(format!(
        "the check found no run to show{all}\nhelp: --property asks for something else; --trace shows a run that was saved"
    ))
}

/// The page `{name, html}` of the run to a node, with the node at which its loop begins and the property that it is about.
pub fn page(
    session: &mut Session,
    model: &Value,
    texts: &[String],
    node: Node,
    again: Option<Node>,
    property: Option<&Value>,
) -> Result<Value, Refusal> {
    let path = session.walk().path(session.known(node)?);
    if path.len() > MOST_STATES {
        let steps = path.len() - 1;
        return Err(Refusal::conflict(format!("the run has {steps} steps; a page can have {MOST_STATES} states")));
    }
    let again = match again {
        None => None,
        Some(again) => {
            let place = path.iter().position(|on_way| *on_way == again);
            Some(place.ok_or_else(|| Refusal::wrong("the loop does not begin on this run"))?)
        }
    };
    let mut record = Record::default();
    for node in &path {
        record.add(session.node(*node, None, None)?);
    }
    let short = texts.iter().map(String::len).sum::<usize>() <= MOST_SOURCE;
    let lines = |text: &String| text.lines().map(source::cut).collect();
    let texts: Vec<Vec<String>> = if short { texts.iter().map(lines).collect() } else { Vec::new() };
    let files = if texts.is_empty() { json!([]) } else { model["files"].clone() };
    let name = model["name"].as_str().unwrap_or("model");
    let data = json!({
        "scrimp": env!("CARGO_PKG_VERSION"),
        "model": { "name": name, "language": model["language"], "lanes": model["lanes"], "files": files },
        "property": property,
        "loop": again,
        "texts": texts,
        "entries": record.entries,
        "processes": record.processes,
        "states": record.states,
    });
    let stem = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy());
    let about = property.and_then(|property| property["name"].as_str()).map(|name| format!(" · {name}"));
    let title = format!("{stem}{} · Scrimp", about.unwrap_or_default());
    Ok(json!({ "name": format!("{stem}.html"), "html": alone(&title, &data) }))
}

/// States, each as what differs from the one before.
#[derive(Default)]
struct Record {
    entries: Vec<Value>,
    numbers: HashMap<String, usize>,
    processes: Vec<Value>,
    process_numbers: HashMap<String, usize>,
    states: Vec<Value>,
    /// The values of the last state, by entry.
    last: HashMap<usize, Value>,
}

impl Record {
    fn add(&mut self, mut view: Value) {
        let (mut now, mut told) = (HashMap::new(), Vec::new());
        for mut value in take(&mut view, "values") {
            let (text, before) = (value["value"].take(), value["before"].take());
            if let Some(entry) = value.as_object_mut() {
                entry.retain(|_, value| !value.is_null());
            }
            let entry = number(&mut self.entries, &mut self.numbers, value);
            if self.last.get(&entry) != Some(&text) {
                told.push(if before.is_null() { json!([entry, text]) } else { json!([entry, text, before]) });
            }
            now.insert(entry, text);
        }
        let mut gone: Vec<usize> = self.last.keys().filter(|entry| !now.contains_key(entry)).copied().collect();
        gone.sort_unstable();
        told.extend(gone.into_iter().map(|entry| json!([entry, null])));
        self.last = now;
        let processes = take(&mut view, "processes");
        let processes: Vec<usize> =
            processes.into_iter().map(|p| number(&mut self.processes, &mut self.process_numbers, p)).collect();
        let mut state = Map::new();
        state.insert("values".into(), told.into());
        state.insert("total".into(), view["values_total"].take());
        state.insert("processes".into(), processes.into());
        state.insert("enabled".into(), view["enabled_total"].take());
        for name in ["steps", "end", "bad", "faults", "violations"] {
            let value = view[name].take();
            let says = match &value {
                Value::Array(list) => !list.is_empty(),
                other => !other.is_null() && *other != json!(false),
            };
            if says {
                state.insert(name.into(), value);
            }
        }
        self.states.push(state.into());
    }
}

fn take(view: &mut Value, name: &str) -> Vec<Value> {
    match view[name].take() {
        Value::Array(list) => list,
        _ => Vec::new(),
    }
}

/// The number of a value among those that were met.
fn number(all: &mut Vec<Value>, numbers: &mut HashMap<String, usize>, value: Value) -> usize {
    *numbers.entry(value.to_string()).or_insert_with(|| {
        all.push(value);
        all.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_what_differs_from_the_one_before() {
        let mut record = Record::default();
        let view = |x: &str, y: Option<&str>| {
            let mut values = vec![json!({ "name": "x", "lane": null, "value": x, "before": null })];
            values.extend(y.map(|y| json!({ "name": "y", "lane": 1, "value": y, "before": "0" })));
            json!({ "values": values, "processes": [{ "lane": 1, "at": "a" }], "faults": [], "bad": false })
        };
        for (x, y) in [("1", None), ("1", Some("2")), ("3", None)] {
            record.add(view(x, y));
        }
        assert_eq!(record.entries, [json!({ "name": "x" }), json!({ "name": "y", "lane": 1 })]);
        let values: Vec<&Value> = record.states.iter().map(|state| &state["values"]).collect();
        assert_eq!(values, [&json!([[0, "1"]]), &json!([[1, "2", "0"]]), &json!([[0, "3"], [1, null]])]);
        assert!(record.processes.len() == 1 && record.states[2].get("faults").is_none());
    }
}
