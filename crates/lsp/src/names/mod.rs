//! Which names a text declares, and what each name that is used means.

mod dve;
mod promela;
mod structure;

use crate::words::words;
use std::collections::HashMap;
use std::ops::Range;

/// What a name is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Process,
    Variable,
    Channel,
    /// One of the symbols of an `mtype`.
    Symbol,
    /// A macro, or a constant.
    Macro,
    Inline,
    Type,
    Field,
    Parameter,
    /// A label, or a state of a process.
    Place,
    /// A formula that the model asks of itself.
    Formula,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Process => "process",
            Kind::Variable => "variable",
            Kind::Channel => "channel",
            Kind::Symbol => "symbol",
            Kind::Macro => "macro",
            Kind::Inline => "inline",
            Kind::Type => "type",
            Kind::Field => "field",
            Kind::Parameter => "parameter",
            Kind::Place => "state",
            Kind::Formula => "formula",
        }
    }
}

/// A place where a name is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    pub kind: Kind,
    pub name: String,
    /// The bytes of the name.
    pub place: Range<usize>,
    /// The bytes in which it is known; of a process, those of its body.
    pub body: Range<usize>,
    /// The process, inline or type that it belongs to.
    pub owner: Option<usize>,
    /// What is said of it, on one line.
    pub text: String,
}

/// All names of a text.
#[derive(Debug, Default)]
pub struct Names {
    pub declared: Vec<Declared>,
    /// Bytes of names, in the order of the text, each with the declaration that it means; declarations are among them.
    pub uses: Vec<(Range<usize>, usize)>,
    /// What the model asks of itself: where that stands, and what the command calls it.
    pub asked: Vec<(Range<usize>, String)>,
    /// The lines of the preprocessor.
    pub directives: Vec<Range<usize>>,
    /// Inlines, with the bytes of their bodies.
    pub inlines: Vec<(usize, Range<usize>)>,
}

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Promela,
    Dve,
}

/// Words of a language, which are no names.
pub fn keywords(language: Language) -> &'static [&'static str] {
    match language {
        Language::Promela => &promela::KEYWORDS,
        Language::Dve => &dve::KEYWORDS,
    }
}

impl Names {
    pub fn of(text: &str, language: Language) -> Names {
        let words = words(text);
        let mut names = match language {
            Language::Promela => promela::names(text, &words),
            Language::Dve => dve::names(text, &words),
        };
        names.uses.sort_by_key(|(place, _)| place.start);
        names.asked.sort_by_key(|(place, _)| place.start);
        names.uses.dedup();
        names
    }

    /// The declaration that the name at this byte means.
    pub fn at(&self, byte: usize) -> Option<usize> {
        let found = self.uses.partition_point(|(place, _)| place.end < byte);
        let (place, meant) = self.uses.get(found)?;
        (place.start <= byte && byte <= place.end).then_some(*meant)
    }

    /// What the name that begins at this byte means.
    pub fn meant_at(&self, start: usize) -> Option<usize> {
        let found = self.uses.partition_point(|(place, _)| place.start < start);
        self.uses.get(found).filter(|(place, _)| place.start == start).map(|(_, meant)| *meant)
    }

    /// Is this byte in a line of the preprocessor?
    pub fn in_directive(&self, byte: usize) -> bool {
        let next = self.directives.partition_point(|line| line.start <= byte);
        next > 0 && self.directives[next - 1].contains(&byte)
    }

    /// The inline whose parameters or body this byte is in.
    pub fn inline_at(&self, byte: usize) -> Option<usize> {
        let next = self.inlines.partition_point(|(_, body)| body.start <= byte);
        let (inline, body) = self.inlines.get(next.checked_sub(1)?)?;
        body.contains(&byte).then_some(*inline)
    }

    /// Where this declaration is meant.
    pub fn uses_of(&self, meant: usize) -> impl Iterator<Item = Range<usize>> {
        self.uses.iter().filter(move |(_, other)| *other == meant).map(|(place, _)| place.clone())
    }

    /// What is known at this byte, inner names first.
    pub fn known_at(&self, byte: usize) -> impl Iterator<Item = &Declared> {
        let known = |declared: &&Declared| {
            let inside = declared.body.contains(&byte) || declared.owner.is_none();
            inside && declared.kind != Kind::Field
        };
        let (inner, outer): (Vec<&Declared>, Vec<&Declared>) =
            self.declared.iter().filter(known).partition(|declared| declared.owner.is_some());
        inner.into_iter().chain(outer)
    }
}

/// Names of one kind are looked for apart from those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    Alone,
    Field,
    Place,
}

impl Class {
    fn of(kind: Kind) -> Class {
        match kind {
            Kind::Field => Class::Field,
            Kind::Place => Class::Place,
            _ => Class::Alone,
        }
    }
}

/// Declarations of one name: those of the whole text, and those of processes and blocks, in the order of the text.
#[derive(Debug, Default)]
struct Named {
    outer: Vec<usize>,
    inner: Vec<usize>,
}

/// Declarations by name, for looking up while a text is gone through.
#[derive(Debug, Default)]
struct Scopes<'t> {
    names: Names,
    by_name: HashMap<(Class, &'t str), Named>,
    /// Declarations by the name and the declaration that they belong to, the first of each.
    by_owner: HashMap<(Class, &'t str, usize), usize>,
}

impl<'t> Scopes<'t> {
    fn declare(&mut self, name: &'t str, declared: Declared) -> usize {
        let number = self.names.declared.len();
        self.names.uses.push((declared.place.clone(), number));
        let class = Class::of(declared.kind);
        let named = self.by_name.entry((class, name)).or_default();
        match declared.owner {
            None => named.outer.push(number),
            Some(owner) => {
                named.inner.push(number);
                self.by_owner.entry((class, name, owner)).or_insert(number);
            }
        }
        self.names.declared.push(declared);
        number
    }

    /// Once all is declared: names are looked up in the order of the text, which lines of the preprocessor do not follow.
    fn settle(&mut self) {
        let declared = &self.names.declared;
        for named in self.by_name.values_mut() {
            named.inner.sort_by_key(|&number| declared[number].body.start);
        }
    }

    /// What is declared in the whole text by this name.
    fn outer(&self, name: &'t str, admits: impl Fn(Kind) -> bool) -> Option<usize> {
        let all = self.by_name.get(&(Class::Alone, name)).map_or(&[][..], |named| &named.outer);
        all.iter().copied().find(|&number| admits(self.names.declared[number].kind))
    }

    /// What is declared by this name in a process, an inline or a type.
    fn of_owner(&self, class: Class, name: &'t str, owner: usize) -> Option<usize> {
        self.by_owner.get(&(class, name, owner)).copied()
    }

    /// What a name of a class means at this byte: stretches in which names are known lie in each other, so that the one that
    /// begins last is the innermost.
    fn inner(&self, class: Class, name: &'t str, byte: usize) -> Option<usize> {
        let inner = &self.by_name.get(&(class, name))?.inner;
        let bodies = |&number: &usize| &self.names.declared[number].body;
        let before = inner.partition_point(|number| bodies(number).start <= byte);
        inner[..before].iter().rev().copied().find(|number| bodies(number).contains(&byte))
    }

    /// What a name means at this byte, where it stands alone.
    fn meant(&self, name: &'t str, byte: usize) -> Option<usize> {
        self.inner(Class::Alone, name, byte).or_else(|| self.outer(name, |_| true))
    }
}

/// A stretch of text on one line, at most so long.
fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(100) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Texts that nobody means to be models are gone through in time in their length.
    #[test]
    fn no_text_takes_long() {
        let labels = format!("active proctype P() {{ {} }}", "a: goto a; ".repeat(20_000));
        for (text, language) in [
            ("byte ".repeat(100_000), Language::Dve),
            ("process P ".repeat(60_000), Language::Dve),
            ("proctype P ".repeat(60_000), Language::Promela),
            ("mtype = ".repeat(60_000), Language::Promela),
            ("{ byte x; ".repeat(60_000), Language::Promela),
            ("#define N ".repeat(60_000), Language::Promela),
            ("#define N 1\n".repeat(60_000), Language::Promela),
            (labels, Language::Promela),
        ] {
            let start = Instant::now();
            Names::of(&text, language);
            assert!(start.elapsed() < Duration::from_secs(10), "{}: {:?}", &text[..10], start.elapsed());
        }
    }
}
