//! The temporal operators of formulas, and when a word is one.
//!
//! `X`, `U` or `until` are words like any other, and a model may have a variable of that name. Between two operands only an
//! operator can stand, so there a word is one. Before an operand it is an operator unless the model knows it as a name and
//! it cannot be an operator there: because what follows continues a name (`X == 1`, `X U q`, `X[0]`) or ends the formula.
//! A name in quotes is never an operator.

use super::parser::{EQUIVALENCE, Parser, Pending, UNTIL};
use super::syntax::Name;
use crate::diagnostic::{Place, Problem};
use crate::lexer::Token;
use std::fmt::Debug;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemporalOperator {
    Next,
    Finally,
    Globally,
    AllPaths,
    ExistsPath,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
    Equivalent,
}

impl TemporalOperator {
    pub fn operands(self) -> usize {
        use TemporalOperator::{AllPaths, ExistsPath, Finally, Globally, Next};
        if matches!(self, Next | Finally | Globally | AllPaths | ExistsPath) { 1 } else { 2 }
    }

    pub fn is_quantifier(self) -> bool {
        matches!(self, TemporalOperator::AllPaths | TemporalOperator::ExistsPath)
    }
}

/// The words of a model, as far as they decide what is an operator.
pub(crate) trait Vocabulary: Debug {
    /// Does the model have anything of this name?
    fn has(&self, word: &str) -> bool;

    /// Is this a process, and nothing else?
    fn is_process(&self, word: &str) -> bool;
}

/// The operators that a word before an operand stands for.
fn prefix_word(word: &str) -> &'static [TemporalOperator] {
    use TemporalOperator::*;
    match word {
        "X" | "next" => &[Next],
        "F" | "eventually" => &[Finally],
        "G" | "always" => &[Globally],
        "A" => &[AllPaths],
        "E" => &[ExistsPath],
        "AX" => &[AllPaths, Next],
        "AF" => &[AllPaths, Finally],
        "AG" => &[AllPaths, Globally],
        "EX" => &[ExistsPath, Next],
        "EF" => &[ExistsPath, Finally],
        "EG" => &[ExistsPath, Globally],
        _ => &[],
    }
}

/// The operator that a word between operands is.
fn infix_word(word: &str) -> Option<TemporalOperator> {
    Some(match word {
        "U" | "until" | "stronguntil" => TemporalOperator::Until,
        "W" | "weakuntil" => TemporalOperator::WeakUntil,
        "R" | "V" | "release" => TemporalOperator::Release,
        "M" => TemporalOperator::StrongRelease,
        "equivalent" => TemporalOperator::Equivalent,
        _ => return None,
    })
}

impl Parser<'_> {
    /// The temporal operator that stands here after an operand, its precedence, and of how many tokens it is.
    pub(super) fn infix(&self) -> Option<(TemporalOperator, u8, usize)> {
        self.temporal?;
        match self.current.token {
            Token::Word => match infix_word(self.word())? {
                TemporalOperator::Equivalent => Some((TemporalOperator::Equivalent, EQUIVALENCE, 1)),
                operator => Some((operator, UNTIL, 1)),
            },
            Token::Less if self.next_token() == Token::Arrow => Some((TemporalOperator::Equivalent, EQUIVALENCE, 2)),
            _ => None,
        }
    }

    /// In a formula, is what stands after an operand an implication?
    pub(super) fn is_implication(&self) -> bool {
        self.temporal.is_some() && (self.at(Token::Arrow) || self.at_word("implies"))
    }

    /// Would `->` after this name be an implication, and not lead to a variable of a process?
    pub(super) fn is_implication_after(&self, name: Name) -> bool {
        self.temporal.is_some_and(|vocabulary| !vocabulary.is_process(self.symbols.name(name.symbol)))
    }

    /// Passes an operator of so many tokens; gives its place.
    pub(super) fn skip(&mut self, tokens: usize) -> Result<Place, Problem> {
        let start = self.current.start;
        for _ in 0..tokens {
            self.advance()?;
        }
        Ok(Place { start, end: self.last_end })
    }

    /// Takes the temporal operator before an operand, if there is one.
    pub(super) fn temporal_prefix(&mut self) -> Result<bool, Problem> {
        let Some(vocabulary) = self.temporal else { return Ok(false) };
        let (operators, tokens): (&[TemporalOperator], usize) = match (self.current.token, self.next_token()) {
            (Token::LeftBracket, Token::RightBracket) => (&[TemporalOperator::Globally], 2),
            (Token::Less, Token::Greater) => (&[TemporalOperator::Finally], 2),
            (Token::Word, _) => {
                let word = self.word();
                (if vocabulary.has(word) && self.continues_a_name() { &[] } else { prefix_word(word) }, 1)
            }
            _ => (&[], 0),
        };
        if operators.is_empty() {
            return Ok(false);
        }
        let place = self.skip(tokens)?;
        for operator in operators {
            self.push(Pending::Prefix(*operator, place))?;
        }
        // `A[p U q]`: the brackets are parentheses.
        let quantified = operators.last().is_some_and(|operator| operator.is_quantifier());
        if quantified && self.at(Token::LeftBracket) && self.next_token() != Token::RightBracket {
            self.push(Pending::Bracket)?;
            self.advance()?;
        }
        Ok(true)
    }

    /// Does what follows the current word show that it is a name, and no operator before an operand?
    fn continues_a_name(&self) -> bool {
        let ((first, word), (second, _)) = (self.ahead(1), self.ahead(2));
        match first {
            Token::LeftBracket => second != Token::RightBracket,
            Token::Less => second != Token::Greater,
            Token::Word if word == "implies" || infix_word(word).is_some() => begins_operand(second),
            first => !begins_operand(first) || first == Token::Minus,
        }
    }
}

/// Can an operand begin like this?
fn begins_operand(token: Token) -> bool {
    matches!(
        token,
        Token::Word
            | Token::Not
            | Token::True
            | Token::False
            | Token::Number
            | Token::Text
            | Token::LeftParen
            | Token::LeftBracket
            | Token::Less
            | Token::Bang
            | Token::Tilde
            | Token::Minus
    )
}
