//! A small validator of JSON Schema: the keywords that `docs/schema` uses, and no other.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Keywords that say nothing about a value.
const NOTES: [&str; 4] = ["$schema", "$defs", "title", "description"];

pub struct Schema(Value);

/// What came of holding a value against a schema.
#[derive(Debug, Default)]
pub struct Checked {
    /// What is wrong, and where.
    pub errors: Vec<String>,
    /// The fields of definitions that the value has, as `definition.field`.
    pub met: BTreeSet<String>,
}

impl Checked {
    fn and(&mut self, other: Checked) {
        self.errors.extend(other.errors);
        self.met.extend(other.met);
    }
}

/// Where a value stands, and in which definition what is said about it.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    definition: &'a str,
}

impl Schema {
    pub fn new(text: &str) -> Schema {
        Schema(serde_json::from_str(text).expect("the schema is JSON"))
    }

    pub fn check(&self, value: &Value) -> Checked {
        self.against(&self.0, value, Place { path: "", definition: "" })
    }

    /// All definitions by name.
    pub fn definitions(&self) -> &Map<String, Value> {
        self.0["$defs"].as_object().expect("definitions")
    }

    fn against(&self, schema: &Value, value: &Value, place: Place) -> Checked {
        let mut out = Checked::default();
        for (keyword, said) in schema.as_object().expect("a schema is an object") {
            let fits = match keyword.as_str() {
                "$ref" => {
                    let name = said.as_str().and_then(|said| said.strip_prefix("#/$defs/")).expect("a definition");
                    let definition = self.definitions().get(name).unwrap_or_else(|| panic!("no definition {name}"));
                    out.and(self.against(definition, value, Place { definition: name, ..place }));
                    true
                }
                "anyOf" | "oneOf" => {
                    out.and(self.one_of(said, value, keyword == "oneOf", place));
                    true
                }
                "properties" | "additionalProperties" => true,
                "required" => {
                    let missing = |name: &&Value| value.is_object() && value.get(name.as_str().unwrap()).is_none();
                    let missing = said.as_array().unwrap().iter().filter(missing);
                    out.errors.extend(missing.map(|name| format!("{}: there is no {name}", place.path)));
                    true
                }
                "items" => {
                    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                        out.and(self.against(said, item, Place { path: &format!("{}[{i}]", place.path), ..place }));
                    }
                    true
                }
                "type" => said.as_array().map_or(&[said.clone()][..], Vec::as_slice).iter().any(|t| is_a(value, t)),
                "const" => value == said,
                "enum" => said.as_array().unwrap().contains(value),
                "minimum" => value.as_f64().is_none_or(|value| value >= said.as_f64().unwrap()),
                "maximum" => value.as_f64().is_none_or(|value| value <= said.as_f64().unwrap()),
                "maxItems" => value.as_array().is_none_or(|list| list.len() as u64 <= said.as_u64().unwrap()),
                note if NOTES.contains(&note) => true,
                other => panic!("the validator does not know {other}"),
            };
            if !fits {
                out.errors.push(format!("{}: {value} does not fit {keyword} {said}", place.path));
            }
        }
        out.and(self.fields(schema, value, place));
        out
    }

    fn fields(&self, schema: &Value, value: &Value, place: Place) -> Checked {
        let mut out = Checked::default();
        for (name, value) in value.as_object().into_iter().flatten() {
            let path = format!("{}.{name}", place.path);
            let inner = Place { path: &path, ..place };
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(said), _) => {
                    out.met.insert(format!("{}.{name}", place.definition));
                    out.and(self.against(said, value, inner));
                }
                (None, Some(Value::Bool(false))) => out.errors.push(format!("{path}: there is no such field")),
                (None, Some(said)) if said.is_object() => out.and(self.against(said, value, inner)),
                _ => {}
            }
        }
        out
    }

    /// Against some of several schemas, or exactly one; where none fits, what the nearest has to say.
    fn one_of(&self, schemas: &Value, value: &Value, exactly: bool, place: Place) -> Checked {
        let all = schemas.as_array().unwrap().iter().map(|schema| self.against(schema, value, place));
        let (fitting, wrong): (Vec<_>, Vec<_>) = all.partition(|checked| checked.errors.is_empty());
        if exactly && fitting.len() > 1 {
            return Checked { errors: vec![format!("{}: it fits several schemas", place.path)], ..Checked::default() };
        }
        let nearest = wrong.into_iter().min_by_key(|checked| checked.errors.len());
        fitting.into_iter().next().or(nearest).unwrap_or_default()
    }
}

fn is_a(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // Of any size.
        "integer" => value.is_number() && value.to_string().trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()),
        other => panic!("there is no type {other}"),
    }
}
