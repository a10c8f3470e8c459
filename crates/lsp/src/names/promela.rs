//! Names of a Promela text.

use super::{Declared, Kind, Names, Scopes, one_line};
use crate::words::{self, Word};
use std::ops::Range;

const TYPES: [&str; 10] = ["bit", "bool", "byte", "short", "int", "unsigned", "pid", "chan", "mtype", "hidden"];
/// Words that are no names.
pub const KEYWORDS: [&str; 62] = [
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "chan",
    "d_step",
    "do",
    "else",
    "empty",
    "enabled",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "in",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "skip",
    "timeout",
    "trace",
    "true",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
    "always",
    "eventually",
    "until",
    "implies",
];

struct Reader<'t, 'w> {
    text: &'t str,
    words: &'w [Word<'t>],
    at: usize,
    scopes: Scopes<'t>,
}

pub fn names<'t>(text: &'t str, words: &[Word<'t>]) -> Names {
    let mut reader = Reader { text, words, at: 0, scopes: Scopes::default() };
    reader.declarations(words.len(), None, 0..text.len(), Kind::Variable);
    reader.uses();
    reader.scopes.names
}

impl<'t> Reader<'t, '_> {
    fn word(&self, at: usize) -> &'t str {
        self.words.get(at).map_or("", |word| word.text)
    }

    fn is_name(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.kind == words::Kind::Name && !KEYWORDS.contains(&word.text))
    }

    /// The word behind the bracket that this one opens.
    fn behind(&self, at: usize) -> usize {
        let mut depth = 0;
        for number in at..self.words.len() {
            match self.words[number].text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth <= 1 => return number + 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
        }
        self.words.len()
    }

    fn byte(&self, at: usize) -> usize {
        self.words.get(at).map_or(self.text.len(), |word| word.start)
    }

    fn declare(&mut self, at: usize, kind: Kind, owner: Option<usize>, body: Range<usize>, text: String) -> usize {
        let word = self.words[at];
        let place = word.start..word.end();
        self.scopes.declare(word.text, Declared { kind, name: word.text.into(), place, body, owner, text })
    }

    /// Declarations up to a word, of this owner. In a type, they are fields.
    fn declarations(&mut self, end: usize, owner: Option<usize>, body: Range<usize>, kind: Kind) {
        while self.at < end {
            let before = self.at;
            self.declaration(end, owner, &body, kind);
            self.at = self.at.max(before + 1);
        }
    }

    fn declaration(&mut self, end: usize, owner: Option<usize>, body: &Range<usize>, kind: Kind) {
        let at = self.at;
        let word = self.words[at];
        match word.text {
            "define" if word.kind == words::Kind::Directive && at + 1 < end => {
                let line = self.text[word.start..].lines().next().unwrap_or("");
                self.declare(at + 1, Kind::Macro, None, 0..self.text.len(), format!("#{}", one_line(line)));
                self.at = at + 2;
            }
            "proctype" | "inline" | "typedef" if self.is_name(at + 1) => self.block(at, end),
            "init" | "never" | "trace" | "notrace" => self.block(at, end),
            "ltl" if self.is_name(at + 1) => {
                let close = self.behind(at + 2);
                let text = one_line(&self.text[word.start..self.byte(close.min(self.words.len()))]);
                self.declare(at + 1, Kind::Formula, None, 0..self.text.len(), text);
                self.at = close;
            }
            "mtype" if self.opens_symbols(at) => {
                let open = (at..end).find(|&n| self.word(n) == "{").unwrap_or(end);
                let close = self.behind(open);
                for number in (open + 1..close).filter(|&n| self.is_name(n)).collect::<Vec<_>>() {
                    self.declare(number, Kind::Symbol, None, 0..self.text.len(), "one of mtype".into());
                }
                self.at = close;
            }
            "hidden" | "show" | "local" => {}
            _ if TYPES.contains(&word.text) || self.is_type(at) => self.variables(end, owner, body, kind),
            _ if self.is_label(at) => {
                if let Some(owner) = owner {
                    let text = format!("label of {}", self.scopes.names.declared[owner].name);
                    self.declare(at, Kind::Place, Some(owner), body.clone(), text);
                }
            }
            _ => {}
        }
    }

    /// `mtype = {`, `mtype {`, `mtype : name = {`.
    fn opens_symbols(&self, at: usize) -> bool {
        let next = if self.word(at + 1) == ":" { at + 3 } else { at + 1 };
        let next = if self.word(next) == "=" { next + 1 } else { next };
        self.word(next) == "{"
    }

    /// The name of a `typedef` in front of a name that is declared by it.
    fn is_type(&self, at: usize) -> bool {
        self.is_name(at)
            && self.is_name(at + 1)
            && self.scopes.find(self.word(at), |declared| declared.kind == Kind::Type).is_some()
    }

    /// A name and a colon at the beginning of a statement.
    fn is_label(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        self.is_name(at)
            && self.word(at + 1) == ":"
            && matches!(before, "{" | "}" | ";" | "->" | "::" | ":" | "do" | "if" | "else" | "od" | "fi" | ")")
    }

    /// A process, an inline or a type, with what is declared in it.
    fn block(&mut self, at: usize, end: usize) {
        let kind = match self.word(at) {
            "inline" => Kind::Inline,
            "typedef" => Kind::Type,
            _ => Kind::Process,
        };
        let named = if self.is_name(at + 1) { at + 1 } else { at };
        let parameters = (self.word(named + 1) == "(").then_some(named + 1);
        let behind = parameters.map_or(named + 1, |open| self.behind(open));
        let Some(open) = (behind..end).find(|&n| self.word(n) == "{") else {
            self.at = behind;
            return;
        };
        let close = self.behind(open);
        let body = self.byte(named + 1)..self.byte(close.saturating_sub(1)).max(self.byte(open));
        let text = one_line(self.text[self.words[at].start..self.byte(open)].trim());
        let owner = self.declare(named, kind, None, body.clone(), text);
        self.scopes.names.declared[owner].body = 0..self.text.len();
        if let Some(first) = parameters {
            self.at = first + 1;
            match kind {
                Kind::Inline => {
                    for number in (first + 1..behind).filter(|&n| self.is_name(n)).collect::<Vec<_>>() {
                        self.declare(number, Kind::Parameter, Some(owner), body.clone(), "parameter".into());
                    }
                }
                _ => self.declarations(behind.saturating_sub(1), Some(owner), body.clone(), Kind::Parameter),
            }
        }
        self.at = open + 1;
        let inner = if kind == Kind::Type { Kind::Field } else { Kind::Variable };
        self.declarations(close.saturating_sub(1), Some(owner), body, inner);
        self.at = close;
    }

    /// `type name = value, name[N], …`.
    fn variables(&mut self, end: usize, owner: Option<usize>, body: &Range<usize>, kind: Kind) {
        let first = self.at;
        let of_type = self.word(first);
        let mut at = first + 1;
        // `mtype : subtype name`
        if of_type == "mtype" && self.word(at) == ":" {
            at += 2;
        }
        while at < end && self.is_name(at) {
            let name = at;
            at += 1;
            let mut array = String::new();
            while at < end && !matches!(self.word(at), ";" | "," | "->" | "}" | ")") {
                // A declaration may end with the line, without a sign.
                let line_ends = self.text[self.words[at - 1].end()..self.words[at].start].contains('\n');
                if line_ends && !matches!(self.word(at), "=" | "[" | "{" | ":") && self.ends_value(at - 1) {
                    break;
                }
                let next = if matches!(self.word(at), "(" | "[" | "{") { self.behind(at) } else { at + 1 };
                if self.word(at) == "[" && at == name + 1 {
                    array = one_line(&self.text[self.words[at].start..self.byte(next).min(self.text.len())]);
                    array.truncate(array.find(']').map_or(array.len(), |end| end + 1));
                }
                at = next;
            }
            let kind = if of_type == "chan" && kind == Kind::Variable { Kind::Channel } else { kind };
            let last = self.words[(at - 1).min(self.words.len() - 1)].end();
            let value = one_line(&self.text[self.words[name].end()..last.max(self.words[name].end())]);
            let value = value.strip_prefix(&array).unwrap_or(&value).trim().to_string();
            let space = if value.is_empty() { "" } else { " " };
            let text = format!("{of_type} {}{array}{space}{value}", self.word(name));
            self.declare(name, kind, owner, body.clone(), text);
            match self.word(at) {
                "," => at += 1,
                _ => break,
            }
            // Parameters: `byte a, b; chan c`, and fields of messages are none.
            if TYPES.contains(&self.word(at)) {
                break;
            }
        }
        self.at = at;
    }

    /// May a value end with this word?
    fn ends_value(&self, at: usize) -> bool {
        let kind = self.words[at].kind;
        matches!(kind, words::Kind::Name | words::Kind::Number) || matches!(self.word(at), ")" | "]" | "}")
    }

    /// What every name means that is no declaration.
    fn uses(&mut self) {
        let declared: std::collections::HashSet<usize> =
            self.scopes.names.declared.iter().map(|declared| declared.place.start).collect();
        for at in 0..self.words.len() {
            let word = self.words[at];
            if !self.is_name(at) || declared.contains(&word.start) {
                continue;
            }
            let before = at.checked_sub(1).map_or("", |before| self.word(before));
            let meant = match before {
                "." => self.scopes.find(word.text, |declared| declared.kind == Kind::Field),
                "@" => self.place_of(at, word.text),
                "goto" => self
                    .scopes
                    .find(word.text, |declared| declared.kind == Kind::Place && declared.body.contains(&word.start)),
                ":" => self.remote(at, word.text).or_else(|| self.scopes.meant(word.text, word.start)),
                _ => self.scopes.meant(word.text, word.start),
            };
            if let Some(meant) = meant {
                self.scopes.names.uses.push((word.start..word.end(), meant));
            }
        }
    }

    /// The process before `@` or `:`, behind which may be a number in brackets.
    fn process_before(&self, sign: usize) -> Option<usize> {
        let mut at = sign.checked_sub(1)?;
        if self.word(at) == "]" {
            at = (0..at).rev().find(|&n| self.word(n) == "[")?.checked_sub(1)?;
        }
        self.scopes.find(self.word(at), |declared| declared.kind == Kind::Process)
    }

    /// A label after `P@` or `P[0]@`.
    fn place_of(&self, at: usize, name: &str) -> Option<usize> {
        let process = self.process_before(at - 1)?;
        self.scopes.find(name, |declared| declared.kind == Kind::Place && declared.owner == Some(process))
    }

    /// A variable after `P:` or `P[0]:`.
    fn remote(&self, at: usize, name: &str) -> Option<usize> {
        let process = self.process_before(at - 1)?;
        self.scopes.find(name, |declared| declared.owner == Some(process) && declared.kind != Kind::Place)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Language, Names};

    const TEXT: &str = "\
#define N 3
mtype = { red, green }
typedef Light { mtype colour; byte count[2] }
chan c = [2] of { mtype, byte };
byte total = 4, other
Light l;
inline add(x, y) { x = x + y }
active [N] proctype P(byte who) {
  byte total; int i = 0
again:
  do
  :: total < N -> add(total, 1); l.colour = red; goto again
  :: c ! green, who
  od
}
ltl live { <> P[0]@again && []P[1]:total < 3 }
init { byte z = 1; total = z; run P(total) }
";

    /// The line of the declaration that the n-th `name` means.
    fn line_of(names: &Names, name: &str, nth: usize) -> usize {
        let start = TEXT.match_indices(name).nth(nth).expect("it is there").0;
        let meant = names.at(start).unwrap_or_else(|| panic!("{name} {nth} means nothing"));
        TEXT[..names.declared[meant].place.start].matches('\n').count() + 1
    }

    #[test]
    fn names_mean_what_is_declared_nearest() {
        let names = Names::of(TEXT, Language::Promela);
        let kinds: Vec<(&str, Kind)> = names.declared.iter().map(|d| (d.name.as_str(), d.kind)).collect();
        for expected in [
            ("N", Kind::Macro),
            ("red", Kind::Symbol),
            ("Light", Kind::Type),
            ("colour", Kind::Field),
            ("count", Kind::Field),
            ("c", Kind::Channel),
            ("other", Kind::Variable),
            ("l", Kind::Variable),
            ("add", Kind::Inline),
            ("x", Kind::Parameter),
            ("P", Kind::Process),
            ("who", Kind::Parameter),
            ("i", Kind::Variable),
            ("again", Kind::Place),
            ("live", Kind::Formula),
            ("init", Kind::Process),
            ("z", Kind::Variable),
        ] {
            assert!(kinds.contains(&expected), "{expected:?} in {kinds:?}");
        }
        assert_eq!(line_of(&names, "total", 2), 9, "the local one");
        assert_eq!(line_of(&names, "total <", 1), 9, "P[1]:total");
        assert_eq!(line_of(&names, "total = z", 0), 5, "the global one");
        assert_eq!(line_of(&names, "again &&", 0), 10);
        assert_eq!(line_of(&names, "colour =", 0), 3);
        assert_eq!(line_of(&names, "green, who", 0), 2);
        assert_eq!(line_of(&names, "P(total)", 0), 8);
        let text = &names.declared.iter().find(|d| d.name == "total" && d.owner.is_none()).unwrap().text;
        assert_eq!(text, "byte total = 4");
    }

    #[test]
    fn what_is_half_written_is_read_all_the_same() {
        for end in 0..TEXT.len() {
            Names::of(&TEXT[..end], Language::Promela);
        }
        for text in ["}", "proctype", "proctype P(", "byte", "byte x[", "mtype = {", "ltl x {", "inline f(", "#define"]
        {
            Names::of(text, Language::Promela);
            Names::of(&format!("{text} "), Language::Dve);
        }
    }
}
