//! Names of a Promela text.

use super::structure::Structure;
use super::{Class, Declared, Kind, Names, Scopes, one_line};
use crate::words::{self, Word};
use std::collections::HashSet;
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
    structure: Structure,
    at: usize,
    scopes: Scopes<'t>,
    /// The types of variables and fields, where they have a name.
    types: Vec<Option<&'t str>>,
    /// Formulas so far: those without a name are called by their number.
    formulas: usize,
}

pub fn names<'t>(text: &'t str, words: &[Word<'t>]) -> Names {
    let (words, lines) = directives(text, words);
    let mut reader = Reader {
        text,
        structure: Structure::of(&words),
        words: &words,
        at: 0,
        scopes: Scopes::default(),
        types: Vec::new(),
        formulas: 0,
    };
    lines.iter().for_each(|line| reader.macros(line));
    reader.declarations(words.len(), None, 0..text.len(), Kind::Variable);
    reader.uses(&lines);
    reader.scopes.names
}

/// A line of the preprocessor, with those that continue it.
struct Line<'t> {
    words: Vec<Word<'t>>,
    bytes: Range<usize>,
}

/// Words of the model itself, and those of lines for the preprocessor, by the line.
fn directives<'t>(text: &'t str, words: &[Word<'t>]) -> (Vec<Word<'t>>, Vec<Line<'t>>) {
    let (mut own, mut lines): (Vec<Word<'t>>, Vec<Line<'t>>) = (Vec::new(), Vec::new());
    for word in words {
        match lines.last_mut().filter(|line| line.bytes.contains(&word.start)) {
            Some(line) => line.words.push(*word),
            None if word.kind == words::Kind::Directive => {
                let mut end = word.start;
                for line in text[word.start..].split_inclusive('\n') {
                    end += line.len();
                    if !line.trim_end_matches(['\r', '\n']).ends_with('\\') {
                        break;
                    }
                }
                lines.push(Line { words: vec![*word], bytes: word.start..end.max(word.start + 1) });
            }
            None => own.push(*word),
        }
    }
    (own, lines)
}

fn is_name(word: &Word<'_>) -> bool {
    word.kind == words::Kind::Name && !KEYWORDS.contains(&word.text)
}

impl<'t> Reader<'t, '_> {
    /// What a line of the preprocessor declares.
    fn macros(&mut self, line: &Line<'t>) {
        self.scopes.names.directives.push(line.bytes.clone());
        let [first, name, rest @ ..] = &line.words[..] else { return };
        if first.text != "define" || name.kind != words::Kind::Name {
            return;
        }
        let told = self.text[first.start..line.bytes.end].lines().next().unwrap_or("");
        let text = format!("#{}", one_line(told));
        let owner = self.declare_word(*name, Kind::Macro, None, 0..self.text.len(), text);
        // Parameters follow the name at once.
        let open = rest.first().filter(|open| open.text == "(" && open.start == name.end());
        if open.is_some() {
            let parameters = rest.iter().take_while(|word| word.text != ")").filter(|word| is_name(word));
            for word in parameters {
                self.declare_word(*word, Kind::Parameter, Some(owner), line.bytes.clone(), "parameter".into());
            }
        }
    }

    fn word(&self, at: usize) -> &'t str {
        self.words.get(at).map_or("", |word| word.text)
    }

    fn is_name(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(is_name)
    }

    fn byte(&self, at: usize) -> usize {
        self.words.get(at).map_or(self.text.len(), |word| word.start)
    }

    fn declare(&mut self, at: usize, kind: Kind, owner: Option<usize>, body: Range<usize>, text: String) -> usize {
        self.declare_word(self.words[at], kind, owner, body, text)
    }

    fn declare_word(
        &mut self,
        word: Word<'t>,
        kind: Kind,
        owner: Option<usize>,
        body: Range<usize>,
        text: String,
    ) -> usize {
        let place = word.start..word.end();
        self.types.push(None);
        self.scopes.declare(word.text, Declared { kind, name: word.text.into(), place, body, owner, text })
    }

    /// Declarations up to a word, of this owner. In a type, they are fields. What a block declares is known in it alone.
    fn declarations(&mut self, end: usize, owner: Option<usize>, body: Range<usize>, kind: Kind) {
        let mut blocks: Vec<usize> = Vec::new();
        while self.at < end {
            let before = self.at;
            while blocks.last().is_some_and(|close| *close <= before) {
                blocks.pop();
            }
            if self.word(before) == "{" {
                blocks.push(self.structure.behind(before).min(end));
            }
            let known = blocks.last().map_or(body.end, |close| self.byte(close.saturating_sub(1)).min(body.end));
            self.declaration(end, owner, &body, known, kind);
            self.at = self.at.max(before + 1);
        }
    }

    /// What begins at this word; `known` is the byte up to which a variable would be known.
    fn declaration(&mut self, end: usize, owner: Option<usize>, body: &Range<usize>, known: usize, kind: Kind) {
        let at = self.at;
        let word = self.words[at];
        match word.text {
            "proctype" | "inline" | "typedef" if self.is_name(at + 1) => self.block(at, end),
            "init" | "never" | "trace" | "notrace" => self.block(at, end),
            "ltl" if self.is_name(at + 1) => {
                let close = self.structure.behind(at + 2);
                let text = one_line(&self.text[word.start..self.byte(close.min(self.words.len()))]);
                self.declare(at + 1, Kind::Formula, None, 0..self.text.len(), text);
                let asked = format!("ltl {}", self.word(at + 1));
                self.formulas += 1;
                self.scopes.names.asked.push((word.start..self.words[at + 1].end(), asked));
                self.at = close;
            }
            "ltl" if self.word(at + 1) == "{" => {
                let asked = format!("ltl ltl_{}", self.formulas);
                self.formulas += 1;
                self.scopes.names.asked.push((word.start..word.end(), asked));
                self.at = self.structure.behind(at + 1);
            }
            "mtype" if self.opens_symbols(at) => {
                let open = self.structure.brace(at, end).unwrap_or(end);
                let text = match self.word(at + 1) {
                    ":" => format!("one of mtype:{}", self.word(at + 2)),
                    _ => "one of mtype".to_string(),
                };
                let close = self.structure.behind(open).min(end);
                for number in (open + 1..close).filter(|&n| self.is_name(n)).collect::<Vec<_>>() {
                    self.declare(number, Kind::Symbol, None, 0..self.text.len(), text.clone());
                }
                self.at = close;
            }
            "hidden" | "show" | "local" => {}
            _ if TYPES.contains(&word.text) || self.is_type(at) => self.variables(end, owner, body, known, kind),
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
            && self.scopes.outer(self.word(at), |kind| kind == Kind::Type).is_some()
    }

    /// A name and a colon at the beginning of a statement.
    fn is_label(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        // A statement may end with its line.
        let new_line = at > 0
            && self.ends_value(at - 1)
            && self.text[self.words[at - 1].end()..self.words[at].start].contains('\n');
        let begins = new_line
            || matches!(before, "{" | "}" | ";" | "->" | "::" | ":" | "do" | "if" | "else" | "od" | "fi" | ")");
        // `(a -> b : c)` is a value.
        begins && self.is_name(at) && self.word(at + 1) == ":" && !self.structure.is_in_round(at)
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
        let behind = parameters.map_or(named + 1, |open| self.structure.behind(open));
        let Some(open) = self.structure.brace(behind, end) else {
            self.at = behind;
            return;
        };
        let close = self.structure.behind(open).min(end);
        let body = self.byte(named + 1)..self.byte(close.saturating_sub(1)).max(self.byte(open));
        let text = one_line(self.text[self.words[at].start..self.byte(open)].trim());
        let owner = self.declare(named, kind, None, body.clone(), text);
        self.scopes.names.declared[owner].body = 0..self.text.len();
        if kind == Kind::Inline {
            self.scopes.names.inlines.push((owner, body.clone()));
        }
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
    fn variables(&mut self, end: usize, owner: Option<usize>, body: &Range<usize>, known: usize, kind: Kind) {
        let first = self.at;
        let of_type = self.word(first);
        let mut at = first + 1;
        // `mtype : subtype name`
        let mut shown = of_type.to_string();
        if of_type == "mtype" && self.word(at) == ":" {
            shown = format!("mtype:{}", self.word(at + 1));
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
                let next =
                    if matches!(self.word(at), "(" | "[" | "{") { self.structure.behind(at).min(end) } else { at + 1 };
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
            let text = format!("{shown} {}{array}{space}{value}", self.word(name));
            // A local variable is known behind its declaration, up to the end of its block.
            let body = match (owner, kind) {
                (None, _) | (_, Kind::Parameter | Kind::Field) => body.clone(),
                _ => last..known.max(last),
            };
            let number = self.declare(name, kind, owner, body, text);
            self.types[number] = Some(of_type);
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
    fn uses(&mut self, lines: &[Line<'t>]) {
        self.scopes.settle();
        let declared: HashSet<usize> = self.scopes.names.declared.iter().map(|declared| declared.place.start).collect();
        // What words mean, as far as the text was gone through.
        let mut known: Vec<Option<usize>> = vec![None; self.words.len()];
        for at in 0..self.words.len() {
            let word = self.words[at];
            if !self.is_name(at) || declared.contains(&word.start) {
                continue;
            }
            let before = at.checked_sub(1).map_or("", |before| self.word(before));
            let meant = match before {
                "." => self.field(at, word.text, &known),
                "@" => self.place_of(at, word.text),
                "goto" => self.scopes.inner(Class::Place, word.text, word.start),
                ":" => self.remote(at, word.text).or_else(|| self.scopes.meant(word.text, word.start)),
                _ => self.scopes.meant(word.text, word.start),
            };
            known[at] = meant;
            if let Some(meant) = meant {
                self.scopes.names.uses.push((word.start..word.end(), meant));
            }
        }
        for line in lines {
            for pair in line.words.windows(2) {
                let (before, word) = (pair[0], pair[1]);
                // Whose field or label it is, is not known of a text that stands for another.
                if !is_name(&word) || declared.contains(&word.start) || matches!(before.text, "." | "@" | "goto") {
                    continue;
                }
                if let Some(meant) = self.scopes.meant(word.text, word.start) {
                    self.scopes.names.uses.push((word.start..word.end(), meant));
                }
            }
        }
    }

    /// The word before a sign, behind which there may be something in brackets.
    fn before(&self, sign: usize) -> Option<usize> {
        let at = sign.checked_sub(1)?;
        match self.word(at) {
            "]" => self.structure.opens(at)?.checked_sub(1),
            _ => Some(at),
        }
    }

    /// A field after `a.` or `a[0].b.`.
    fn field(&self, at: usize, name: &'t str, known: &[Option<usize>]) -> Option<usize> {
        let variable = known[self.before(at - 1)?]?;
        let of_type = self.types[variable]?;
        let owner = self.scopes.outer(of_type, |kind| kind == Kind::Type)?;
        self.scopes.of_owner(Class::Field, name, owner)
    }

    /// The process before `@` or `:`, behind which may be a number in brackets.
    fn process_before(&self, sign: usize) -> Option<usize> {
        self.scopes.outer(self.word(self.before(sign)?), |kind| kind == Kind::Process)
    }

    /// A label after `P@` or `P[0]@`.
    fn place_of(&self, at: usize, name: &'t str) -> Option<usize> {
        self.scopes.of_owner(Class::Place, name, self.process_before(at - 1)?)
    }

    /// A variable after `P:` or `P[0]:`.
    fn remote(&self, at: usize, name: &'t str) -> Option<usize> {
        self.scopes.of_owner(Class::Alone, name, self.process_before(at - 1)?)
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
    fn blocks_macros_and_fields_have_names_of_their_own() {
        let text = "typedef A { byte f }\ntypedef B { byte f }\nA a; B b[2];\nactive proctype P() {\n  { byte x = 1; x = 2 }\n  { byte x = 3; x = 4 }\n  b[1].f = (a.f > 0 -> a.f : 5)\n}\n#define F(x) (x + 1)\n";
        let names = Names::of(text, Language::Promela);
        let line = |place: &str, offset: usize| {
            let meant = names.at(text.find(place).expect("it is there") + offset).expect("it means something");
            text[..names.declared[meant].place.start].matches('\n').count() + 1
        };
        assert_eq!((line("x = 2", 0), line("x = 4", 0), line("x + 1", 0)), (5, 6, 9));
        assert_eq!((line("[1].f", 4), line("a.f > 0", 2), line("a.f : 5", 2)), (2, 1, 1));
        assert!(!names.declared.iter().any(|declared| declared.kind == Kind::Place));
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
