//! Names of a DVE text.

use super::structure::Structure;
use super::{Class, Declared, Kind, Names, Scopes, one_line};
use crate::words::{self, Word};
use std::ops::Range;

/// Words that are no names.
pub const KEYWORDS: [&str; 24] = [
    "accept", "and", "assert", "async", "bool", "byte", "channel", "commit", "const", "effect", "false", "guard",
    "imply", "init", "int", "not", "or", "process", "property", "state", "sync", "system", "trans", "true",
];

struct Reader<'t, 'w> {
    text: &'t str,
    words: &'w [Word<'t>],
    structure: Structure,
    scopes: Scopes<'t>,
}

pub fn names<'t>(text: &'t str, words: &[Word<'t>]) -> Names {
    let mut reader = Reader { text, words, structure: Structure::of(words), scopes: Scopes::default() };
    reader.declarations();
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

    fn declare(&mut self, at: usize, kind: Kind, owner: Option<usize>, body: &Range<usize>, text: String) -> usize {
        let word = self.words[at];
        let (place, body) = (word.start..word.end(), body.clone());
        self.scopes.declare(word.text, Declared { kind, name: word.text.into(), place, body, owner, text })
    }

    fn declarations(&mut self) {
        let whole = 0..self.text.len();
        let mut process: Option<(usize, Range<usize>, usize)> = None;
        let mut at = 0;
        while at < self.words.len() {
            if process.as_ref().is_some_and(|(_, _, close)| at >= *close) {
                process = None;
            }
            let (owner, body) = match &process {
                Some((owner, body, _)) => (Some(*owner), body.clone()),
                None => (None, whole.clone()),
            };
            let end = self.structure.semicolon(at);
            at = match self.word(at) {
                "process" if self.is_name(at + 1) => {
                    let (body, close) = self.body(at + 1);
                    let text = format!("process {}", self.word(at + 1));
                    let owner = self.declare(at + 1, Kind::Process, None, &whole, text);
                    process = Some((owner, body, close));
                    at + 2
                }
                "const" | "byte" | "int" | "bool" => self.variables(at, end, owner, &body),
                "channel" => self.channels(at, end, &whole),
                "assert" => {
                    let word = self.words[at];
                    self.scopes.names.asked.push((word.start..word.end(), "assertions".into()));
                    at + 1
                }
                "state" => {
                    let process = owner.map_or("", |owner| self.scopes.names.declared[owner].name.as_str());
                    let text = format!("state of {process}");
                    for name in (at + 1..end).filter(|&n| self.is_name(n)).collect::<Vec<_>>() {
                        self.declare(name, Kind::Place, owner, &body, text.clone());
                    }
                    end + 1
                }
                _ => at + 1,
            };
        }
    }

    /// The bytes between the braces of a process, and the word behind them.
    fn body(&self, name: usize) -> (Range<usize>, usize) {
        let close = self
            .structure
            .brace(name, self.words.len())
            .map_or(self.words.len(), |open| self.structure.behind(open) - 1);
        let end = self.words.get(close).filter(|word| word.text == "}").map_or(self.text.len(), |word| word.start);
        (self.words[name].end()..end, close)
    }

    /// `const? type name[N] = value, name, …;`
    fn variables(&mut self, first: usize, end: usize, owner: Option<usize>, body: &Range<usize>) -> usize {
        let constant = self.word(first) == "const";
        let of_type = if constant { first + 1 } else { first };
        let mut at = of_type + 1;
        let mut depth = 0;
        let mut begins = true;
        while at < end {
            match self.word(at) {
                "[" | "{" | "(" => depth += 1,
                "]" | "}" | ")" => depth -= 1,
                "," if depth == 0 => begins = true,
                _ if begins && depth == 0 && self.is_name(at) => {
                    let last = self.item_end(at, end);
                    let stretch = one_line(&self.text[self.words[at].start..last]);
                    let kind = if constant { Kind::Macro } else { Kind::Variable };
                    let prefix = if constant { "const " } else { "" };
                    let text = format!("{prefix}{} {stretch}", self.word(of_type));
                    self.declare(at, kind, owner, body, text);
                    begins = false;
                }
                _ => {}
            }
            at += 1;
        }
        end + 1
    }

    /// The byte at which an item of a list ends.
    fn item_end(&self, at: usize, end: usize) -> usize {
        let mut depth = 0;
        for number in at..end {
            match self.word(number) {
                "[" | "{" | "(" => depth += 1,
                "]" | "}" | ")" => depth -= 1,
                "," if depth == 0 => return self.words[number - 1].end(),
                _ => {}
            }
        }
        self.words[end.saturating_sub(1).max(at).min(self.words.len() - 1)].end()
    }

    /// `channel c, {byte, int} d[4];`
    fn channels(&mut self, first: usize, end: usize, whole: &Range<usize>) -> usize {
        let mut depth = 0;
        for at in first + 1..end {
            match self.word(at) {
                "{" | "[" => depth += 1,
                "}" | "]" => depth -= 1,
                _ if depth == 0 && self.is_name(at) => {
                    let text =
                        format!("channel {}", one_line(&self.text[self.words[at].start..self.item_end(at, end)]));
                    self.declare(at, Kind::Channel, None, whole, text);
                }
                _ => {}
            }
        }
        end + 1
    }

    /// What every name means that is no declaration.
    fn uses(&mut self) {
        self.scopes.settle();
        let declared: std::collections::HashSet<usize> =
            self.scopes.names.declared.iter().map(|declared| declared.place.start).collect();
        // Between `trans` and a brace, after `init`, `accept`, `commit` and `assert`, names are states.
        let mut states = false;
        for at in 0..self.words.len() {
            let word = self.words[at];
            match word.text {
                "trans" | "init" | "accept" | "commit" => states = true,
                "{" | ";" | "process" => states = false,
                "}" => states = self.word(at + 1) == ",",
                _ => {}
            }
            if !self.is_name(at) || declared.contains(&word.start) {
                continue;
            }
            let before = at.checked_sub(1).map_or("", |before| self.word(before));
            let of_process = |reader: &Self, class: Class| {
                let process = at.checked_sub(2).map(|process| reader.word(process))?;
                let owner = reader.scopes.outer(process, |kind| kind == Kind::Process)?;
                reader.scopes.of_owner(class, word.text, owner)
            };
            let meant = match before {
                "." | "@" => of_process(self, Class::Place),
                "->" if !states => of_process(self, Class::Alone),
                _ if states || before == "assert" => self
                    .scopes
                    .inner(Class::Place, word.text, word.start)
                    .or_else(|| self.scopes.meant(word.text, word.start)),
                _ => self.scopes.meant(word.text, word.start),
            };
            if let Some(meant) = meant {
                self.scopes.names.uses.push((word.start..word.end(), meant));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Language, Names};

    const TEXT: &str = "\
const byte MAX = 5;
byte turn = 0, table[2] = {1, 2};
channel go, {byte, int} mail[4];
process P {
  byte turn, x = MAX;
  state idle, done;
  init idle;
  assert done: turn == 1;
  trans
    idle -> done { guard turn < MAX && Q.idle; sync mail!{x, table[1]}; effect turn = Q->y; },
    done -> idle { sync go?; };
}
process Q {
  int y;
  state idle;
  init idle;
  trans idle -> idle { guard turn == 1; };
}
system async;
";

    fn line_of(names: &Names, place: &str, offset: usize) -> usize {
        let start = TEXT.find(place).expect("it is there") + offset;
        let meant = names.at(start).unwrap_or_else(|| panic!("{place} means nothing"));
        TEXT[..names.declared[meant].place.start].matches('\n').count() + 1
    }

    #[test]
    fn names_mean_what_is_declared_nearest() {
        let names = Names::of(TEXT, Language::Dve);
        let found: Vec<(&str, Kind)> = names.declared.iter().map(|d| (d.name.as_str(), d.kind)).collect();
        let expected = [
            ("MAX", Kind::Macro),
            ("turn", Kind::Variable),
            ("table", Kind::Variable),
            ("go", Kind::Channel),
            ("mail", Kind::Channel),
            ("P", Kind::Process),
            ("turn", Kind::Variable),
            ("x", Kind::Variable),
            ("idle", Kind::Place),
            ("done", Kind::Place),
            ("Q", Kind::Process),
            ("y", Kind::Variable),
            ("idle", Kind::Place),
        ];
        assert_eq!(found, expected);
        assert_eq!(names.declared[2].text, "byte table[2] = {1, 2}");
        assert_eq!(line_of(&names, "turn < MAX", 0), 5);
        assert_eq!(line_of(&names, "turn < MAX", 7), 1);
        assert_eq!(line_of(&names, "Q.idle", 2), 15);
        assert_eq!(line_of(&names, "Q->y", 3), 14);
        assert_eq!(line_of(&names, "done -> idle { sync go", 8), 6);
        assert_eq!(line_of(&names, "done -> idle { sync go", 20), 3);
        assert_eq!(line_of(&names, "turn == 1; };", 0), 2);
        assert_eq!(line_of(&names, "assert done", 7), 6);
        assert_eq!(line_of(&names, "idle -> done", 8), 6);
        assert_eq!(line_of(&names, "mail!", 0), 3);
        for end in 0..TEXT.len() {
            Names::of(&TEXT[..end], Language::Dve);
        }
    }
}
