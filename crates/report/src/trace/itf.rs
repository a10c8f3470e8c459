//! A run in the Informal Trace Format of Apalache (ADR 015), which Apalache, Quint and their tools read: the values of all
//! variables in each state.
//!
//! An array `a[0]`, `a[1]`, … is one variable, a map; a channel is a list of tuples. Integers are written as `#bigint`. After the
//! last state of a run that goes on for ever comes the state that `loop` names.

use super::Run;
use super::row::rows;
use scrimp_system::Describe;
use serde_json::{Map, Value, json};

const SPECIFICATION: &str = "https://apalache-mc.org/docs/adr/015adr-trace.html";

/// What a variable of the trace is made of.
enum Shape {
    Value(usize),
    /// The entries of its elements, from index 0 on.
    Array(Vec<usize>),
    Channel(usize),
}

struct Variable {
    name: String,
    shape: Shape,
    /// Is everything in it an integer in every state? Otherwise all is written as strings: a variable has one type.
    integers: bool,
}

/// The run as an object. `source` is the model's name, `about` says of which property it is.
pub fn itf(run: &Run, source: &str, about: &str) -> Value {
    let model = run.model;
    let mut states = vec![run.initial];
    let mut events = vec![Value::Null];
    for (i, edge) in run.edges().iter().enumerate().filter(|(_, edge)| edge.whole) {
        states.push(edge.after());
        let told = rows(model, i + 1, edge.before, edge.steps);
        events.push(
            told.iter().map(|row| json!({ "process": row.process, "place": row.place, "event": row.event })).collect(),
        );
    }
    // The loop goes back to its first state, which is not told twice.
    let again = run.cycle().filter(|again| *again < states.len());
    if again.is_some_and(|again| {
        again + 1 < states.len() && model.changes(states[again], states[states.len() - 1]).is_empty()
    }) {
        // How the run comes back there is noted with the state.
        let (last, _) = (events.pop(), states.pop());
        events.push(last.unwrap_or_default());
    }
    let closing = (events.len() > states.len()).then(|| events.pop().unwrap_or_default());
    let variables = variables(model, &states);
    let mut object = json!({
        "#meta": {
            "format": "ITF",
            "format-description": SPECIFICATION,
            "description": about,
            "source": source,
            "varTypes": variables.iter().map(|v| (v.name.clone(), Value::from(v.type_of(model, &states)))).collect::<Map<_, _>>(),
        },
        "params": [],
        "vars": variables.iter().map(|variable| variable.name.as_str()).collect::<Vec<_>>(),
        "states": [],
    });
    let told = states.iter().zip(events).enumerate().map(|(index, (state, event))| {
        let mut told = Map::from_iter([("#meta".to_string(), json!({ "index": index, "step": event }))]);
        let values: Vec<String> = model.values(state).into_iter().map(|(_, value)| value).collect();
        told.extend(variables.iter().map(|v| (v.name.clone(), v.value(model, state, &values))));
        Value::Object(told)
    });
    object["states"] = told.collect();
    if let Some(again) = again {
        object["loop"] = again.into();
        object["#meta"]["back"] = closing.unwrap_or_default();
    }
    object
}

/// The variables of the trace, in the order of the model's values.
fn variables(model: &dyn Describe, states: &[&[u8]]) -> Vec<Variable> {
    let entries = model.values(states[0]);
    let mut all: Vec<Variable> = Vec::new();
    for (entry, (name, _)) in entries.iter().enumerate() {
        let element = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
        let element = element.and_then(|(array, index)| Some((array, index.parse::<usize>().ok()?)));
        if model.messages(states[0], entry).is_some() {
            all.push(Variable { name: name.clone(), shape: Shape::Channel(entry), integers: true });
        } else if let Some((array, index)) = element {
            match all.last_mut() {
                Some(Variable { name, shape: Shape::Array(cells), .. }) if name == array && cells.len() == index => {
                    cells.push(entry)
                }
                _ if index == 0 => {
                    all.push(Variable { name: array.into(), shape: Shape::Array(vec![entry]), integers: true })
                }
                _ => all.push(Variable { name: name.clone(), shape: Shape::Value(entry), integers: true }),
            }
        } else {
            all.push(Variable { name: name.clone(), shape: Shape::Value(entry), integers: true });
        }
    }
    for state in states {
        let values = model.values(state);
        for variable in &mut all {
            let is_integer = |entry: &usize| integer(&values[*entry].1).is_some();
            variable.integers &= match &variable.shape {
                Shape::Value(entry) => is_integer(entry),
                Shape::Array(cells) => cells.iter().all(is_integer),
                Shape::Channel(_) => true,
            };
        }
    }
    all
}

impl Variable {
    fn value(&self, model: &dyn Describe, state: &[u8], values: &[String]) -> Value {
        let one = |entry: usize| expression(&values[entry], self.integers);
        match &self.shape {
            Shape::Value(entry) => one(*entry),
            Shape::Array(cells) => {
                let pair = |(index, entry): (usize, &usize)| json!([{ "#bigint": index.to_string() }, one(*entry)]);
                json!({ "#map": cells.iter().enumerate().map(pair).collect::<Vec<_>>() })
            }
            Shape::Channel(entry) => {
                let field = |value: &String| expression(value, true);
                let message = |message: &Vec<String>| json!({ "#tup": message.iter().map(field).collect::<Vec<_>>() });
                model.messages(state, *entry).unwrap_or_default().iter().map(message).collect()
            }
        }
    }

    /// Its type as Apalache writes it.
    fn type_of(&self, model: &dyn Describe, states: &[&[u8]]) -> String {
        let one = if self.integers { "Int" } else { "Str" };
        match &self.shape {
            Shape::Value(_) => one.to_string(),
            Shape::Array(_) => format!("Int -> {one}"),
            Shape::Channel(entry) => {
                let messages: Vec<Vec<String>> =
                    states.iter().flat_map(|state| model.messages(state, *entry).unwrap_or_default()).collect();
                let fields = messages.first().map_or(0, Vec::len);
                let of = |i: usize| {
                    if messages.iter().all(|m| m.get(i).is_some_and(|v| integer(v).is_some())) { "Int" } else { "Str" }
                };
                format!("Seq(<<{}>>)", (0..fields).map(of).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn integer(text: &str) -> Option<i128> {
    text.parse().ok().filter(|number: &i128| number.to_string() == text)
}

fn expression(text: &str, integers: bool) -> Value {
    match integer(text).filter(|_| integers) {
        Some(number) => json!({ "#bigint": number.to_string() }),
        None => text.into(),
    }
}
