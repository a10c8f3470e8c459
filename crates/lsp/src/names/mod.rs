//! Which names a text declares, and what each name that is used means.

mod dve;
mod promela;

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
        names.uses.dedup();
        names
    }

    /// The declaration that the name at this byte means.
    pub fn at(&self, byte: usize) -> Option<usize> {
        let found = self.uses.partition_point(|(place, _)| place.end < byte);
        let (place, meant) = self.uses.get(found)?;
        (place.start <= byte && byte <= place.end).then_some(*meant)
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

/// Declarations by name, for looking up while a text is gone through.
#[derive(Debug, Default)]
struct Scopes<'t> {
    names: Names,
    by_name: HashMap<&'t str, Vec<usize>>,
}

impl<'t> Scopes<'t> {
    fn declare(&mut self, name: &'t str, declared: Declared) -> usize {
        let number = self.names.declared.len();
        self.names.uses.push((declared.place.clone(), number));
        self.by_name.entry(name).or_default().push(number);
        self.names.declared.push(declared);
        number
    }

    /// The best declaration of a name that satisfies a condition: the one with the smallest body.
    fn find(&self, name: &str, admits: impl Fn(&Declared) -> bool) -> Option<usize> {
        let all = self.by_name.get(name).into_iter().flatten().copied();
        let admitted = all.filter(|&number| admits(&self.names.declared[number]));
        admitted.min_by_key(|&number| self.names.declared[number].body.len())
    }

    /// What a name means at this byte, where it stands alone.
    fn meant(&self, name: &str, byte: usize) -> Option<usize> {
        let alone = |declared: &Declared| !matches!(declared.kind, Kind::Field | Kind::Place);
        self.find(name, |declared| alone(declared) && declared.body.contains(&byte))
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
