//! Conditions on letters, and on sets of edges, as text.

use super::lexer::{HoaError, Placed, Word};
use super::reader::Parser;
use crate::diagram::{ALWAYS, Diagram, NEVER, Node};
use crate::limits::TooLarge;

/// How deep conditions may be nested.
const DEPTH: usize = 200;

/// A set of edges, or all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Infinitely {
    pub set: usize,
    pub others: bool,
}

fn too_large(place: &Placed) -> impl Fn(TooLarge) -> HoaError {
    let (line, column) = (place.line, place.column);
    move |_| HoaError { line, column, message: "this condition is too large".to_string() }
}

impl Parser {
    /// A condition on letters.
    pub fn label(&mut self, diagram: &mut Diagram, depth: usize) -> Result<Node, HoaError> {
        let mut any = self.label_conjunction(diagram, depth)?;
        while self.sign('|') {
            let next = self.label_conjunction(diagram, depth)?;
            any = diagram.or(any, next).map_err(too_large(self.here()))?;
        }
        Ok(any)
    }

    fn label_conjunction(&mut self, diagram: &mut Diagram, depth: usize) -> Result<Node, HoaError> {
        let mut all = self.label_literal(diagram, depth)?;
        while self.sign('&') {
            let next = self.label_literal(diagram, depth)?;
            all = diagram.and(all, next).map_err(too_large(self.here()))?;
        }
        Ok(all)
    }

    fn label_literal(&mut self, diagram: &mut Diagram, depth: usize) -> Result<Node, HoaError> {
        if depth > DEPTH {
            return Err(self.here().error("this condition is nested too deep"));
        }
        if self.sign('!') {
            let inner = self.label_literal(diagram, depth + 1)?;
            return diagram.minus(ALWAYS, inner).map_err(too_large(self.here()));
        }
        if self.sign('(') {
            let inner = self.label(diagram, depth + 1)?;
            self.expect(')')?;
            return Ok(inner);
        }
        let place = self.take();
        match &place.word {
            Word::Name(name) if name == "t" => Ok(ALWAYS),
            Word::Name(name) if name == "f" => Ok(NEVER),
            Word::Number(atom) if *atom < self.atoms() => {
                diagram.literal(*atom as u32, true).map_err(too_large(&place))
            }
            Word::Number(atom) => Err(place.error(format!("there is no atom {atom}"))),
            Word::Alias(name) => self.alias(name).ok_or_else(|| place.error(format!("the alias @{name} is not known"))),
            _ => Err(place.error("expected a condition")),
        }
    }

    /// Sets all of which have to be met infinitely often; other conditions are refused.
    pub fn acceptance(&mut self, found: &mut Vec<Infinitely>, depth: usize) -> Result<(), HoaError> {
        loop {
            let place = self.take();
            match &place.word {
                _ if depth > DEPTH => return Err(place.error("this condition is nested too deep")),
                Word::Name(name) if name == "t" => {}
                Word::Name(name) if name == "Inf" => {
                    self.expect('(')?;
                    let others = self.sign('!');
                    let set = self.number("the number of a set")?;
                    self.expect(')')?;
                    found.push(Infinitely { set, others });
                }
                Word::Name(name) if name == "Fin" => {
                    return Err(place.error("Fin is not supported: only Büchi conditions, Inf(0)&Inf(1)…, are"));
                }
                Word::Name(name) if name == "f" => {
                    return Err(place.error("an acceptance condition that never holds is not supported"));
                }
                Word::Sign('(') => {
                    self.acceptance(found, depth + 1)?;
                    self.expect(')')?;
                }
                _ => return Err(place.error("expected an acceptance condition")),
            }
            if *self.here_word() == Word::Sign('|') {
                let message = "alternatives are not supported: only Büchi conditions, Inf(0)&Inf(1)…, are";
                return Err(self.here().error(message));
            }
            if !self.sign('&') {
                return Ok(());
            }
        }
    }
}
