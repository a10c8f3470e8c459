//! What an editor asks about a name or a text, answered from the names that the text declares.

use crate::names::{Declared, Kind, Language, Names, keywords};
use crate::text::Text;
use crate::values::Values;
use serde_json::{Value, json};

/// A text with its names, as answers are made of them.
pub struct View<'d> {
    pub uri: &'d str,
    pub text: &'d Text,
    pub names: &'d Names,
    pub language: Language,
}

impl View<'_> {
    /// The declaration that is meant at the position of a request.
    fn meant(&self, params: &Value) -> Option<usize> {
        self.names.at(self.text.byte(&params["position"]))
    }

    fn location(&self, bytes: &std::ops::Range<usize>) -> Value {
        json!({ "uri": self.uri, "range": self.text.range(bytes) })
    }

    pub fn definition(&self, params: &Value) -> Value {
        self.meant(params).map_or(Value::Null, |meant| self.location(&self.names.declared[meant].place))
    }

    pub fn references(&self, params: &Value) -> Value {
        let Some(meant) = self.meant(params) else { return json!([]) };
        let own = &self.names.declared[meant].place;
        let with_own = params["context"]["includeDeclaration"] != false;
        let uses = self.names.uses_of(meant).filter(|place| with_own || place != own);
        uses.map(|place| self.location(&place)).collect()
    }

    pub fn highlight(&self, params: &Value) -> Value {
        let Some(meant) = self.meant(params) else { return json!([]) };
        self.names.uses_of(meant).map(|place| json!({ "range": self.text.range(&place) })).collect()
    }

    pub fn prepare_rename(&self, params: &Value) -> Value {
        let byte = self.text.byte(&params["position"]);
        let found = self.names.uses.iter().find(|(place, _)| place.start <= byte && byte <= place.end);
        // What is called by a word of the language has no name of its own.
        let named = found.filter(|(place, _)| !keywords(self.language).contains(&&self.text.text[place.clone()]));
        named.map_or(Value::Null, |(place, _)| self.text.range(place))
    }

    /// The edits that give a name another one, or why that would not do.
    pub fn rename(&self, params: &Value) -> Result<Value, String> {
        let new = params["newName"].as_str().unwrap_or("");
        let first = new.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !first || !new.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("`{new}` is no name: letters, digits and _ make one"));
        }
        if keywords(self.language).contains(&new) {
            return Err(format!("`{new}` is a word of the language"));
        }
        let meant = self.meant(params).filter(|_| !self.prepare_rename(params).is_null());
        let Some(meant) = meant else { return Err("nothing that was declared in this file is named here".into()) };
        let own = &self.names.declared[meant];
        let beside = |other: &&Declared| {
            other.name == new && other.place != own.place && (other.owner == own.owner) && other.kind != Kind::Place
        };
        if let Some(other) = self.names.declared.iter().find(beside) {
            return Err(format!("there is a {} `{new}` already", other.kind.word()));
        }
        let edits: Value = self
            .names
            .uses_of(meant)
            .map(|place| json!({ "range": self.text.range(&place), "newText": new }))
            .collect();
        Ok(json!({ "changes": { self.uri: edits } }))
    }

    /// What a name is, the values that its declaration admits, and those that were seen.
    pub fn hover(&self, params: &Value, values: Option<&Values>) -> Value {
        let Some(meant) = self.meant(params) else { return Value::Null };
        let declared = &self.names.declared[meant];
        let owner = declared.owner.map(|owner| &self.names.declared[owner]);
        let language = match self.language {
            Language::Promela => "promela",
            Language::Dve => "dve",
        };
        let mut told = format!("```{language}\n{}\n```", declared.text);
        let of = owner.map(|owner| format!(" of {} `{}`", owner.kind.word(), owner.name)).unwrap_or_default();
        told += &format!("\n{}{of}", declared.kind.word());
        if matches!(declared.kind, Kind::Variable | Kind::Parameter | Kind::Field) {
            told += domain(&declared.text).map(|domain| format!(", {domain}")).as_deref().unwrap_or("");
        }
        let process = owner.filter(|owner| owner.kind == Kind::Process).map(|owner| owner.name.as_str());
        let is_value = matches!(declared.kind, Kind::Variable | Kind::Channel | Kind::Parameter);
        if let Some(values) = values.filter(|_| is_value && (process.is_some() || owner.is_none()))
            && let Some(seen) = values.told(process, &declared.name)
        {
            told += &format!("  \n{seen} ({})", values.scope());
        }
        json!({ "contents": { "kind": "markdown", "value": told }, "range": self.prepare_rename(params) })
    }

    pub fn completion(&self, params: &Value) -> Value {
        let byte = self.text.byte(&params["position"]);
        let start =
            byte - self.text.text[..byte].chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').count();
        let before = self.text.text[..start].trim_end();
        // Behind a process, its states; behind a variable and a dot, fields.
        let known: Vec<&Declared> = match before.chars().last() {
            Some('@') => self.places(before.trim_end_matches('@')),
            Some('.') => {
                let places = self.places(before.trim_end_matches('.'));
                match places.is_empty() {
                    true => self.names.declared.iter().filter(|declared| declared.kind == Kind::Field).collect(),
                    false => places,
                }
            }
            _ => self.names.known_at(byte).collect(),
        };
        let mut said = std::collections::HashSet::new();
        let mut items: Vec<Value> = (known.iter().filter(|declared| said.insert(declared.name.as_str())))
            .map(|declared| {
                json!({ "label": declared.name, "kind": completion_kind(declared.kind), "detail": declared.text })
            })
            .collect();
        if !matches!(before.chars().last(), Some('@' | '.')) {
            items.extend(keywords(self.language).iter().map(|word| json!({ "label": word, "kind": 14 })));
        }
        json!({ "isIncomplete": false, "items": items })
    }

    /// The states of the process whose name, and perhaps number in brackets, ends a text.
    fn places(&self, before: &str) -> Vec<&Declared> {
        let before = match before.strip_suffix(']').and_then(|rest| rest.rfind('[')) {
            Some(open) => &before[..open],
            None => before,
        };
        let start = before.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
        let process = self.names.declared.iter().position(|d| d.kind == Kind::Process && d.name == before[start..]);
        let of = |declared: &&Declared| declared.kind == Kind::Place && process.is_some() && declared.owner == process;
        self.names.declared.iter().filter(of).collect()
    }

    /// The outline of the text.
    pub fn symbols(&self) -> Value {
        let shown = |declared: &Declared| !matches!(declared.kind, Kind::Parameter);
        let symbol = |declared: &Declared, children: Value| {
            let range = self.text.range(&declared.place);
            json!({ "name": declared.name, "kind": symbol_kind(declared.kind), "detail": declared.text,
                    "range": range, "selectionRange": range, "children": children })
        };
        let outer = self.names.declared.iter().enumerate().filter(|(_, d)| d.owner.is_none() && shown(d));
        outer
            .map(|(number, declared)| {
                let inner = self.names.declared.iter().filter(|d| d.owner == Some(number) && shown(d));
                symbol(declared, inner.map(|d| symbol(d, json!([]))).collect())
            })
            .collect()
    }

    /// What can be done with the model as a whole, at its processes, and with its formulas.
    pub fn lenses(&self) -> Value {
        let lens = |declared: &Declared, title: &str, command: &str, property: Option<String>| {
            let arguments = match property {
                Some(property) => json!([self.uri, property]),
                None => json!([self.uri]),
            };
            json!({ "range": self.text.range(&declared.place),
                    "command": { "title": title, "command": command, "arguments": arguments } })
        };
        let lenses = self.names.declared.iter().flat_map(|declared| match declared.kind {
            Kind::Process => vec![
                lens(declared, "check", CHECK, None),
                lens(declared, "simulate", SIMULATE, None),
                lens(declared, "explore", EXPLORE, None),
            ],
            Kind::Formula => vec![lens(declared, "check", CHECK, Some(format!("ltl {}", declared.name)))],
            _ => Vec::new(),
        });
        lenses.collect()
    }
}

/// The commands of lenses.
pub const CHECK: &str = "scrimp.check";
pub const SIMULATE: &str = "scrimp.simulate";
pub const EXPLORE: &str = "scrimp.explore";

/// The lenses of a file of properties, a line each, about this model.
pub fn property_lenses(text: &Text, model: &str) -> Value {
    let lines = text.text.lines().enumerate().filter_map(|(number, line)| {
        let end = ["#", "//"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
        let property = line[..end].trim();
        let range = text.whole_line(number as u32 + 1);
        (!property.is_empty()).then(|| {
            json!({ "range": range,
                    "command": { "title": "check", "command": CHECK, "arguments": [model, property] } })
        })
    });
    lines.collect()
}

/// The values that a type admits.
fn domain(text: &str) -> Option<&'static str> {
    Some(match text.split([' ', '[']).find(|word| *word != "const")? {
        "bit" | "bool" => "0 or 1",
        "byte" | "pid" => "0 to 255",
        "short" => "-32768 to 32767",
        "int" => "-2147483648 to 2147483647",
        _ => return None,
    })
}

fn completion_kind(kind: Kind) -> u64 {
    match kind {
        Kind::Process => 7,
        Kind::Variable | Kind::Parameter => 6,
        Kind::Channel => 23,
        Kind::Symbol => 20,
        Kind::Macro => 21,
        Kind::Inline => 3,
        Kind::Type => 22,
        Kind::Field => 5,
        Kind::Place => 18,
        Kind::Formula => 10,
    }
}

fn symbol_kind(kind: Kind) -> u64 {
    match kind {
        Kind::Process => 5,
        Kind::Variable | Kind::Parameter => 13,
        Kind::Channel => 24,
        Kind::Symbol => 22,
        Kind::Macro => 14,
        Kind::Inline => 12,
        Kind::Type => 23,
        Kind::Field => 8,
        Kind::Place => 20,
        Kind::Formula => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "byte x = 1;\nactive [2] proctype P() {\n  byte y;\nagain: y = x; goto again\n}\nltl safe { [] (x < 2) }\n";

    fn with<T>(work: impl FnOnce(&View) -> T) -> T {
        let (text, names) = (Text::new(TEXT.into()), Names::of(TEXT, Language::Promela));
        work(&View { uri: "file:///m.pml", text: &text, names: &names, language: Language::Promela })
    }

    fn at(line: u64, character: u64) -> Value {
        json!({ "position": { "line": line, "character": character } })
    }

    #[test]
    fn names_are_found_where_they_are_declared_and_used() {
        with(|view| {
            assert_eq!(view.definition(&at(3, 11))["range"]["start"], json!({ "line": 0, "character": 5 }));
            assert_eq!(view.references(&at(0, 5)).as_array().unwrap().len(), 3);
            let mut without = at(0, 5);
            without["context"] = json!({ "includeDeclaration": false });
            assert_eq!(view.references(&without).as_array().unwrap().len(), 2);
            assert_eq!(view.definition(&at(3, 3))["range"]["start"]["line"], 3);
            assert!(view.definition(&at(1, 2)).is_null());
            let hover = view.hover(&at(3, 11), None)["contents"]["value"].as_str().unwrap().to_string();
            assert!(hover.contains("byte x = 1") && hover.contains("0 to 255"), "{hover}");
        });
    }

    #[test]
    fn renaming_changes_every_use_or_says_why_not() {
        with(|view| {
            let mut asked = at(3, 11);
            asked["newName"] = "z".into();
            let edits = view.rename(&asked).unwrap();
            assert_eq!(edits["changes"]["file:///m.pml"].as_array().unwrap().len(), 3);
            for (name, why) in [("1z", "no name"), ("byte", "a word of"), ("P", "already")] {
                asked["newName"] = name.into();
                assert!(view.rename(&asked).unwrap_err().contains(why), "{name}");
            }
            let mut nothing = at(1, 2);
            nothing["newName"] = "z".into();
            assert!(view.rename(&nothing).is_err());
        });
    }

    #[test]
    fn what_is_known_is_offered() {
        with(|view| {
            let labels = |params: &Value| -> Vec<String> {
                let items = view.completion(params)["items"].as_array().unwrap().clone();
                items.iter().map(|item| item["label"].as_str().unwrap().to_string()).collect()
            };
            let inside = labels(&at(3, 7));
            assert!(
                ["y", "x", "P", "again", "atomic"].iter().all(|name| inside.contains(&name.to_string())),
                "{inside:?}"
            );
            assert!(!labels(&at(0, 0)).contains(&"y".to_string()));
            let lenses = view.lenses();
            let commands: Vec<&str> =
                lenses.as_array().unwrap().iter().map(|l| l["command"]["command"].as_str().unwrap()).collect();
            assert_eq!(commands, [CHECK, SIMULATE, EXPLORE, CHECK]);
            assert_eq!(lenses[3]["command"]["arguments"][1], "ltl safe");
            assert_eq!(view.symbols().as_array().unwrap().len(), 3);
        });
    }
}
