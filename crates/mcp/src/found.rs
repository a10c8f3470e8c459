//! What a command has found, read so that runs, which may be very long, stay as they are written: only their length is looked at.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// An object by the names of its fields, none of them read yet.
type Fields<'a> = BTreeMap<&'a str, &'a RawValue>;

/// An object that a command has printed. Of a `trace` there is its beginning, its length and its loop; `keep` gets the text
/// of all of it, and says what to put beside it.
pub fn read(text: &[u8], mut keep: impl FnMut(&str, &Value) -> Map<String, Value>) -> serde_json::Result<Value> {
    let mut all: Fields = serde_json::from_slice(text)?;
    let properties = all.remove("properties");
    let (mut found, run) = without_run(all)?;
    add_kept(&mut found, run, &mut keep);
    if let Some(properties) = properties {
        let list: Vec<&RawValue> = match serde_json::from_str(properties.get()) {
            Ok(list) => list,
            Err(_) => return Ok(found),
        };
        let told = list.iter().map(|property| {
            let Ok(fields) = serde_json::from_str::<Fields>(property.get()) else {
                return serde_json::from_str(property.get());
            };
            let (mut told, run) = without_run(fields)?;
            add_kept(&mut told, run, &mut keep);
            Ok(told)
        });
        found["properties"] = told.collect::<serde_json::Result<Value>>()?;
    }
    Ok(found)
}

fn add_kept(found: &mut Value, run: Option<&str>, keep: &mut impl FnMut(&str, &Value) -> Map<String, Value>) {
    if let Some(run) = run {
        let more = keep(run, found);
        if let Some(found) = found.as_object_mut() {
            found.extend(more);
        }
    }
}

/// The fields, and the text of the run among them.
fn without_run(mut fields: Fields<'_>) -> serde_json::Result<(Value, Option<&str>)> {
    let run = fields.remove("trace").map(RawValue::get).filter(|run| run.starts_with('{'));
    let mut found = Map::new();
    for (name, value) in fields {
        found.insert(name.into(), serde_json::from_str(value.get())?);
    }
    if let Some(run) = run {
        let fields: Fields = serde_json::from_str(run)?;
        let field = |name| fields.get(name).and_then(|value| serde_json::from_str::<Value>(value.get()).ok());
        found.insert(
            "trace".into(),
            json!({ "length": field("length"), "loop": field("loop"), "initial": field("initial") }),
        );
    }
    Ok((found.into(), run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_left_as_they_are() {
        let text = br#"{"verdict":"violated","properties":["deadlock",{"name":"a","trace":{"length":2,"steps":[ 1,2],"loop":1}},
            {"name":"b","trace":null}]}"#;
        let mut kept = Vec::new();
        let found = read(text, |run, property| {
            kept.push((run.to_string(), property["name"].clone()));
            json!({ "run": 7 }).as_object().cloned().unwrap_or_default()
        });
        assert_eq!(
            found.unwrap(),
            json!({ "verdict": "violated", "properties": ["deadlock",
                { "name": "a", "trace": { "length": 2, "loop": 1, "initial": null }, "run": 7 }, { "name": "b" }] })
        );
        assert_eq!(kept, [(r#"{"length":2,"steps":[ 1,2],"loop":1}"#.to_string(), json!("a"))]);
        assert!(read(b"x", |_, _| Map::new()).is_err());
    }
}
