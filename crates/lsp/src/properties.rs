//! Files of properties, a property a line: their names are those of the model that they are about.

use crate::features::{View, completion_kind, three_lenses};
use crate::names::{Declared, Kind};
use crate::text::Text;
use crate::values::Values;
use crate::words::{Kind as WordKind, Word, words};
use serde_json::{Value, json};
use std::ops::Range;

/// Words that begin a property or stand in one.
const WORDS: [&str; 9] = ["invariant:", "reach:", "ltl:", "ctl:", "bound:", "deadlock", "assertions", "true", "false"];

/// A file of properties, and the model.
pub struct Properties<'d> {
    pub uri: &'d str,
    pub text: &'d Text,
    pub model: View<'d>,
}

impl Properties<'_> {
    pub fn definition(&self, params: &Value) -> Value {
        self.meant(params)
            .map_or(Value::Null, |(meant, _)| self.model.location(&self.model.names.declared[meant].place))
    }

    /// The places of the model, and those of this file.
    pub fn references(&self, params: &Value) -> Value {
        let Some((meant, _)) = self.meant(params) else { return json!([]) };
        let own = &self.model.names.declared[meant].place;
        let with_own = params["context"]["includeDeclaration"] != false;
        let uses = self.model.names.uses_of(meant).filter(|place| with_own || place != own);
        let of_model = uses.map(|place| self.model.location(&place));
        let here = self.uses(meant).map(|range| json!({ "uri": self.uri, "range": range }));
        of_model.chain(here.collect::<Vec<_>>()).collect()
    }

    pub fn highlight(&self, params: &Value) -> Value {
        let Some((meant, _)) = self.meant(params) else { return json!([]) };
        self.uses(meant).map(|range| json!({ "range": range })).collect()
    }

    pub fn hover(&self, params: &Value, values: Option<&Values>) -> Value {
        let Some((meant, place)) = self.meant(params) else { return Value::Null };
        json!({ "contents": self.model.told(meant, values), "range": self.text.range(&place) })
    }

    pub fn completion(&self, params: &Value) -> Value {
        let byte = self.text.byte(&params["position"]);
        let line = self.line_at(byte);
        let known: Vec<Word<'_>> = words(&self.text.text[line.start..byte]);
        // The word that is being written is not looked at.
        let written = known.last().filter(|word| word.kind == WordKind::Name && line.start + word.end() == byte);
        let before = &known[..known.len() - usize::from(written.is_some())];
        let names = &self.model.names.declared;
        let found: Vec<&Declared> = match self.owner(before) {
            Some((owner, places)) => {
                let is_place = |declared: &Declared| declared.kind == Kind::Place;
                names.iter().filter(|d| d.owner == Some(owner) && is_place(d) == places).collect()
            }
            None => names.iter().filter(|d| d.owner.is_none() && d.kind != Kind::Inline).collect(),
        };
        let mut said = std::collections::HashSet::new();
        let mut items: Vec<Value> = (found.iter().filter(|declared| said.insert(declared.name.as_str())))
            .map(|d| json!({ "label": d.name, "kind": completion_kind(d.kind), "detail": d.text }))
            .collect();
        if before.is_empty() {
            items.extend(WORDS.iter().map(|word| json!({ "label": word, "kind": 14 })));
        }
        json!({ "isIncomplete": false, "items": items })
    }

    fn line_at(&self, byte: usize) -> Range<usize> {
        let text = &self.text.text;
        let start = text[..byte].rfind('\n').map_or(0, |end| end + 1);
        start..text[byte..].find('\n').map_or(text.len(), |end| byte + end)
    }

    /// What is meant at the position of a request, and the word there.
    fn meant(&self, params: &Value) -> Option<(usize, Range<usize>)> {
        let byte = self.text.byte(&params["position"]);
        self.names_of(self.line_at(byte)).into_iter().find(|(_, place)| place.start <= byte && byte <= place.end)
    }

    /// The places of this file that mean a declaration.
    fn uses(&self, meant: usize) -> impl Iterator<Item = Value> {
        let all = self.names_of(0..self.text.text.len());
        all.into_iter().filter(move |(other, _)| *other == meant).map(|(_, place)| self.text.range(&place))
    }

    /// The names of a stretch of whole lines, and what they mean.
    fn names_of(&self, stretch: Range<usize>) -> Vec<(usize, Range<usize>)> {
        let (mut found, mut from) = (Vec::new(), stretch.start);
        for line in self.text.text[stretch].split_inclusive('\n') {
            let comment = line.find('#').unwrap_or(line.len());
            let known = words(&line[..comment]);
            for (at, word) in known.iter().enumerate().filter(|(_, word)| word.kind == WordKind::Name) {
                let meant = match self.owner(&known[..at]) {
                    Some((owner, places)) => self.declared(|d| {
                        d.owner == Some(owner) && d.name == word.text && (d.kind == Kind::Place) == places
                    }),
                    // A field of a record, or a place of nobody.
                    None if at > 0 && matches!(known[at - 1].text, "." | "@") => continue,
                    None => self.declared(|d| d.owner.is_none() && d.name == word.text && d.kind != Kind::Inline),
                };
                // A process may be called by its type and its number.
                let meant = meant.or_else(|| {
                    let (of_type, number) = word.text.rsplit_once('_')?;
                    number.parse::<u32>().ok()?;
                    self.declared(|d| d.kind == Kind::Process && d.name == of_type)
                });
                found.extend(meant.map(|meant| (meant, from + word.start..from + word.end())));
            }
            from += line.len();
        }
        found
    }

    fn declared(&self, is: impl Fn(&Declared) -> bool) -> Option<usize> {
        self.model.names.declared.iter().position(is)
    }

    /// The process that the words before a name speak of, and whether its states are meant.
    fn owner(&self, before: &[Word<'_>]) -> Option<(usize, bool)> {
        let (sign, rest) = before.split_last()?;
        // In DVE, `P.q` is a state and `P->x` a variable; in Promela `P@q` is a label, and `P:x` or `P.x` a variable.
        let dve = self.model.language == crate::names::Language::Dve;
        let places = match sign.text {
            "@" => true,
            "." => dve,
            "->" if dve => false,
            ":" if !dve => false,
            _ => return None,
        };
        let rest = match rest.last()?.text {
            "]" => &rest[..rest.iter().rposition(|word| word.text == "[")?],
            _ => rest,
        };
        let name = rest.last()?.text;
        let is = |name: &str| self.declared(|d| d.kind == Kind::Process && d.name == name);
        let numbered = || name.rsplit_once('_').filter(|(_, number)| number.parse::<u32>().is_ok());
        Some((is(name).or_else(|| is(numbered()?.0))?, places))
    }
}

/// The lenses of a file of properties, a line each, about this model.
pub fn lenses(text: &Text, model: &str) -> Value {
    let lines = text.text.lines().enumerate().filter_map(|(number, line)| {
        let end = ["#", "//"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
        let property = line[..end].trim();
        (!property.is_empty()).then(|| three_lenses(&text.whole_line(number as u32 + 1), model, Some(property)))
    });
    lines.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{Language, Names};

    #[test]
    fn names_are_those_of_the_model() {
        let model = "byte x;\nactive [2] proctype P() {\n  byte y;\nwork: y = x\n}\n";
        let text = Text::new("# x\ninvariant: x < 2 && P[0]:y == 0\nltl: [] !P_1@work\n".into());
        let (read, names) = (Text::new(model.into()), Names::of(model, Language::Promela));
        let model = View { uri: "file:///m.pml", text: &read, names: &names, language: Language::Promela };
        let properties = Properties { uri: "file:///m.props", text: &text, model };
        let at = |line: u64, character: u64| json!({ "position": { "line": line, "character": character } });
        let line =
            |line: u64, character: u64| properties.definition(&at(line, character))["range"]["start"]["line"].clone();
        assert_eq!(line(1, 11), 0);
        assert_eq!(line(1, 20), 1);
        assert_eq!(line(1, 25), 2);
        assert_eq!(line(2, 16), 3);
        assert_eq!(line(2, 10), 1);
        assert!(properties.definition(&at(0, 2)).is_null() && properties.definition(&at(1, 2)).is_null());
        assert_eq!(properties.references(&at(1, 11)).as_array().unwrap().len(), 3);
        assert!(properties.hover(&at(1, 11), None)["contents"]["value"].to_string().contains("byte x"));
        let labels = |params: &Value| properties.completion(params)["items"].to_string();
        assert!(labels(&at(1, 25)).contains("\"y\"") && !labels(&at(1, 25)).contains("\"x\""));
        assert!(labels(&at(2, 15)).contains("work"));
        assert!(labels(&at(3, 0)).contains("invariant:"));
    }
}
