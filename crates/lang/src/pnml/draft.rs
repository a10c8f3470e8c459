//! What a document says, before names are resolved: nodes, arcs and declarations can come in any order.

use super::counted::At;
use super::element::Element;
use super::position::Placing;
use super::wrong::Wrong;
use std::collections::HashMap;

/// An identifier of the document by its number.
pub(super) type Symbol = u32;

#[derive(Debug, Default)]
pub(super) struct Draft {
    pub name: String,
    pub symbols: Symbols,
    pub places: Vec<DraftPlace>,
    pub transitions: Vec<DraftTransition>,
    pub references: Vec<Reference>,
    pub arcs: Vec<DraftArc>,
    /// The terms of coloured nets, by the numbers that nodes and arcs have.
    pub terms: Vec<Element>,
    pub declarations: Vec<Element>,
    pub units: Option<DraftUnits>,
    pub placing: Placing,
    pub coloured: bool,
    /// The one priority that all transitions have, where documents give one.
    pub priority: Option<Box<str>>,
}

/// Identifiers and what they stand for.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    numbers: HashMap<Box<str>, Symbol>,
    meanings: Vec<Meaning>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Mentioned, and not declared so far.
    Unknown,
    Place(u32),
    Transition(u32),
    /// Stands for another node.
    Reference(u32),
}

#[derive(Debug)]
pub(super) struct DraftPlace {
    pub symbol: Symbol,
    pub name: Option<Box<str>>,
    pub initial: u64,
    /// Numbers of terms.
    pub sort: Option<u32>,
    pub marking: Option<u32>,
    pub at: At,
}

#[derive(Debug)]
pub(super) struct DraftTransition {
    pub symbol: Symbol,
    pub name: Option<Box<str>>,
    pub guard: Option<u32>,
    pub at: At,
}

/// A node that stands for another one.
#[derive(Debug)]
pub(super) struct Reference {
    pub to: Symbol,
    pub is_place: bool,
    pub at: At,
}

#[derive(Debug)]
pub(super) struct DraftArc {
    pub source: Symbol,
    pub target: Symbol,
    pub weight: u64,
    pub kind: ArcKind,
    pub term: Option<u32>,
    pub at: At,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ArcKind {
    Normal,
    /// Tokens are needed and stay.
    Test,
    Inhibitor,
    Reset,
}

#[derive(Debug, Default)]
pub(super) struct DraftUnits {
    pub root: Box<str>,
    pub safe: bool,
    pub units: Vec<DraftUnit>,
    pub at: At,
}

#[derive(Debug)]
pub(super) struct DraftUnit {
    pub id: Box<str>,
    pub places: Vec<Symbol>,
    pub subunits: Vec<Box<str>>,
    pub at: At,
}

impl Symbols {
    pub fn number(&mut self, id: &str) -> Symbol {
        if let Some(&symbol) = self.numbers.get(id) {
            return symbol;
        }
        let symbol = self.meanings.len() as Symbol;
        self.numbers.insert(id.into(), symbol);
        self.meanings.push(Meaning::Unknown);
        symbol
    }

    pub fn meaning(&self, symbol: Symbol) -> Meaning {
        self.meanings[symbol as usize]
    }

    pub fn set(&mut self, symbol: Symbol, meaning: Meaning) {
        self.meanings[symbol as usize] = meaning;
    }

    /// The identifier of a symbol: slow, for messages.
    pub fn id(&self, symbol: Symbol) -> &str {
        self.numbers.iter().find(|(_, number)| **number == symbol).map_or("", |(id, _)| id)
    }

    /// All identifiers, by number.
    pub fn into_ids(self) -> Vec<Box<str>> {
        let mut ids = vec![Box::default(); self.meanings.len()];
        for (id, symbol) in self.numbers {
            ids[symbol as usize] = id;
        }
        ids
    }
}

impl Draft {
    /// Gives an identifier its meaning; a second one is wrong.
    pub fn declare(&mut self, id: &str, meaning: Meaning, at: At) -> Result<Symbol, Wrong> {
        let symbol = self.symbols.number(id);
        let earlier = match self.symbols.meaning(symbol) {
            Meaning::Unknown => None,
            Meaning::Place(i) => Some(self.places[i as usize].at),
            Meaning::Transition(i) => Some(self.transitions[i as usize].at),
            Meaning::Reference(i) => Some(self.references[i as usize].at),
        };
        if let Some(earlier) = earlier {
            return Err(Wrong::new(at, format!("the id \"{id}\" is used already, on line {}", earlier.line)));
        }
        self.symbols.set(symbol, meaning);
        Ok(symbol)
    }

    /// Follows reference nodes, so that every symbol means a place, a transition, or nothing.
    pub fn resolve_references(&mut self) -> Result<(), Wrong> {
        let mut passed = Vec::new();
        for index in 0..self.references.len() {
            passed.clear();
            let mut last = index as u32;
            while let Meaning::Reference(next) = self.symbols.meaning(self.references[last as usize].to) {
                passed.push(last);
                last = next;
                if passed.len() > self.references.len() {
                    return Err(Wrong::new(self.references[index].at, "these references form a cycle"));
                }
            }
            let to = self.references[last as usize].to;
            // Each link of a chain is followed only once.
            for &at in &passed {
                self.references[at as usize].to = to;
            }
            let Reference { is_place, at, .. } = self.references[index];
            match (self.symbols.meaning(to), is_place) {
                (Meaning::Place(_), true) | (Meaning::Transition(_), false) => {}
                (Meaning::Unknown, _) => {
                    let id = self.symbols.id(to);
                    return Err(Wrong::new(at, format!("this refers to \"{id}\", which does not exist")));
                }
                _ => {
                    let wanted = if is_place { "place" } else { "transition" };
                    let id = self.symbols.id(to);
                    return Err(Wrong::new(at, format!("this refers to \"{id}\", which is not a {wanted}")));
                }
            }
        }
        Ok(())
    }

    /// What an arc's end is.
    pub fn end(&self, symbol: Symbol, at: At, what: &str) -> Result<Meaning, Wrong> {
        match self.symbols.meaning(symbol) {
            Meaning::Unknown => {
                let id = self.symbols.id(symbol);
                Err(Wrong::new(at, format!("the arc's {what} \"{id}\" does not exist")))
            }
            Meaning::Reference(i) => Ok(self.symbols.meaning(self.references[i as usize].to)),
            meaning => Ok(meaning),
        }
    }
}
