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
    pub fn meant(&self, params: &Value) -> Option<usize> {
        self.names.at(self.text.byte(&params["position"]))
    }

    pub fn location(&self, bytes: &std::ops::Range<usize>) -> Value {
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

    /// What a name is, the values that its declaration admits, and those that were seen.
    pub fn hover(&self, params: &Value, values: Option<&Values>) -> Value {
        let Some(meant) = self.meant(params) else { return Value::Null };
        json!({ "contents": self.told(meant, values), "range": self.prepare_rename(params) })
    }

    /// The same of a declaration.
    pub fn told(&self, meant: usize, values: Option<&Values>) -> Value {
        let declared = &self.names.declared[meant];
        let owner = declared.owner.map(|owner| &self.names.declared[owner]);
        let language = match self.language {
            Language::Promela => "promela",
            Language::Dve => "dve",
        };
        let mut told = format!("```{language}\n{}\n```", declared.text);
        let of = owner.map(|owner| format!(" of {} `{}`", owner.kind.word(), owner.name)).unwrap_or_default();
        told += &format!("\n{}{of}", declared.kind.word());
        if matches!(declared.kind, Kind::Variable | Kind::Channel | Kind::Parameter | Kind::Field) {
            told += self.domain(declared).map(|domain| format!(", {domain}")).as_deref().unwrap_or("");
        }
        let process = owner.filter(|owner| owner.kind == Kind::Process).map(|owner| owner.name.as_str());
        if let Some(values) = values.filter(|_| self.is_alone(meant))
            && let Some(seen) = values.told(process, &declared.name)
        {
            told += &format!("  \n{seen} ({})", values.scope());
        }
        json!({ "kind": "markdown", "value": told })
    }

    /// Is this the only variable that states can call so? Variables of blocks and inlines get a number behind their names where
    /// there are several, and nobody says which is which.
    fn is_alone(&self, meant: usize) -> bool {
        let declared = &self.names.declared[meant];
        let is_variable = |kind: Kind| matches!(kind, Kind::Variable | Kind::Channel | Kind::Parameter);
        let of = |owner: Option<usize>| owner.map(|owner| self.names.declared[owner].kind);
        if !is_variable(declared.kind) || !matches!(of(declared.owner), None | Some(Kind::Process)) {
            return false;
        }
        if declared.owner.is_none() {
            return true;
        }
        let stem = declared.name.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = stem.strip_suffix('_').filter(|_| stem != declared.name);
        let same = |other: &Declared| other.name == declared.name || Some(other.name.as_str()) == stem;
        let beside = |other: &Declared| other.owner == declared.owner || of(other.owner) == Some(Kind::Inline);
        self.names.declared.iter().filter(|other| is_variable(other.kind) && same(other) && beside(other)).count() == 1
    }

    /// The values that a declaration admits.
    fn domain(&self, declared: &Declared) -> Option<String> {
        let text = &declared.text;
        Some(match text.split([' ', '[']).find(|word| *word != "const")? {
            "bit" | "bool" => "0 or 1".into(),
            "byte" | "pid" => "0 to 255".into(),
            "short" => "-32768 to 32767".into(),
            "int" => "-2147483648 to 2147483647".into(),
            "unsigned" => {
                let width = text.split_once(':')?.1.trim_start();
                let digits = width.find(|c: char| !c.is_ascii_digit()).unwrap_or(width.len());
                let bits: u32 = width[..digits].parse().ok().filter(|bits| (1..=32).contains(bits))?;
                format!("0 to {}", (1u64 << bits) - 1)
            }
            kind if kind.starts_with("mtype") => {
                let of_kind = format!("one of {kind}");
                let is_one = |other: &&Declared| other.kind == Kind::Symbol && other.text == of_kind;
                let symbols: Vec<&str> =
                    self.names.declared.iter().filter(is_one).map(|symbol| symbol.name.as_str()).collect();
                match symbols.len() {
                    1..=12 => format!("0 or {}", symbols.join(", ")),
                    _ => format!("0 or a symbol of `{kind}`"),
                }
            }
            "chan" => match text.split_once('=').map(|(_, of)| of.trim()) {
                Some(of) => match of.split_once("of").map(|(length, fields)| (length.trim(), fields.trim())) {
                    Some(("[0]", fields)) => format!("hands over messages of {fields}"),
                    Some((length, fields)) => format!("up to {length} messages of {fields}"),
                    None => "another name for a channel".into(),
                },
                None => "0 or the number of a channel".into(),
            },
            _ => return None,
        })
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

    /// What can be done with the model as a whole, at its processes, and with what it asks of itself.
    pub fn lenses(&self) -> Value {
        let processes = self.names.declared.iter().filter(|declared| declared.kind == Kind::Process);
        let processes = processes.map(|declared| (&declared.place, None));
        let asked = self.names.asked.iter().map(|(place, property)| (place, Some(property.as_str())));
        let lenses = processes.chain(asked);
        lenses.flat_map(|(place, property)| three_lenses(&self.text.range(place), self.uri, property)).collect()
    }
}

/// The commands of lenses.
pub const CHECK: &str = "scrimp.check";
pub const SIMULATE: &str = "scrimp.simulate";
pub const EXPLORE: &str = "scrimp.explore";

/// The three lenses of a place, about a model or one property of it.
pub fn three_lenses(range: &Value, model: &str, property: Option<&str>) -> [Value; 3] {
    [("check", CHECK), ("simulate", SIMULATE), ("explore", EXPLORE)].map(|(title, command)| {
        let arguments: Vec<&str> = std::iter::once(model).chain(property).collect();
        json!({ "range": range, "command": { "title": title, "command": command, "arguments": arguments } })
    })
}

pub fn completion_kind(kind: Kind) -> u64 {
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
    fn domains_are_told() {
        let text = "mtype = { red, green }; mtype:k = { a };\nmtype m; mtype:k n;\nunsigned u : 3 = 5;\nchan c = [2] of { byte, int };\nchan d = [0] of { bit };\nbool b[3];\n";
        let (read, names) = (Text::new(text.into()), Names::of(text, Language::Promela));
        let view = View { uri: "file:///m.pml", text: &read, names: &names, language: Language::Promela };
        let told = |line: u64, character: u64| view.hover(&at(line, character), None)["contents"]["value"].to_string();
        assert!(told(1, 6).contains("0 or red, green"), "{}", told(1, 6));
        assert!(told(1, 17).contains("0 or a\""), "{}", told(1, 17));
        assert!(told(2, 9).contains("0 to 7"), "{}", told(2, 9));
        assert!(told(3, 5).contains("up to [2] messages of { byte, int }"), "{}", told(3, 5));
        assert!(told(4, 5).contains("hands over messages of { bit }"), "{}", told(4, 5));
        assert!(told(5, 5).contains("0 or 1"), "{}", told(5, 5));
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
            assert_eq!(commands, [CHECK, SIMULATE, EXPLORE, CHECK, SIMULATE, EXPLORE]);
            assert_eq!(lenses[3]["command"]["arguments"][1], "ltl safe");
            assert_eq!(view.symbols().as_array().unwrap().len(), 3);
        });
    }
}
