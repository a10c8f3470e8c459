//! Variables with their indices and fields, and what stands between the parentheses of a receive.

use super::{MAX_NESTING, Parsed, Parser, unexpected};
use crate::diagnostic::Problem;
use crate::promela::syntax::*;
use crate::promela::tokens::TokenKind;

impl Parser {
    /// `x`, `x[i]`, `x.f[j].g`.
    pub(super) fn reference(&mut self) -> Parsed<Reference> {
        let mut parts = vec![self.element()?];
        while self.take(".")? {
            if parts.len() >= MAX_NESTING as usize {
                return Err(Problem::new(self.last, format!("fields are nested more than {MAX_NESTING} deep")));
            }
            parts.push(self.element()?);
        }
        let join = |field: Option<Reference>, part: Reference| Some(Reference { field: field.map(Box::new), ..part });
        match parts.into_iter().rev().fold(None, join) {
            Some(reference) => Ok(reference),
            None => Err(Problem::new(self.last, "expected the name of a variable")),
        }
    }

    /// A name, with its index if it has one.
    pub(super) fn element(&mut self) -> Parsed<Reference> {
        let name = self.name("the name of a variable")?;
        let index = match self.take("[")? {
            true => {
                let index = self.nested(Parser::expression_within)?;
                self.expect("]")?;
                Some(Box::new(index))
            }
            false => None,
        };
        Ok(Reference { name, index, field: None })
    }

    /// The arguments of a receive: `a, b`, `a(b, c)`, `(a, b)`.
    pub(super) fn receive_arguments(&mut self) -> Parsed<Vec<Argument>> {
        let mut out = Vec::new();
        let mut open = 0;
        loop {
            while self.take("(")? {
                open += 1;
            }
            out.push(self.receive_argument()?);
            if self.take(",")? {
                continue;
            }
            if self.at("(")? {
                continue;
            }
            for _ in 0..open {
                self.expect(")")?;
            }
            return Ok(out);
        }
    }

    fn receive_argument(&mut self) -> Parsed<Argument> {
        let token = self.peek()?.clone();
        match token.kind {
            TokenKind::Name => {
                let reference = self.reference()?;
                let place = token.place.to(self.last);
                Ok(Argument::Plain(Expression { kind: Box::new(ExpressionKind::Name(reference)), place }))
            }
            TokenKind::Keyword if token.is("eval") => {
                self.next()?;
                self.expect("(")?;
                let value = self.nested(Parser::expression_within)?;
                self.expect(")")?;
                Ok(Argument::Eval(value))
            }
            TokenKind::Number(value) => {
                self.next()?;
                Ok(Argument::Plain(number(value, token.place)))
            }
            TokenKind::Mark if token.is("-") => {
                self.next()?;
                let digits = self.next()?;
                match digits.kind {
                    TokenKind::Number(value) => Ok(Argument::Plain(number(-value, token.place.to(digits.place)))),
                    _ => Err(unexpected(&digits, "a number")),
                }
            }
            _ => Err(unexpected(&token, "a variable or a constant")),
        }
    }
}

pub(super) fn number(value: i64, place: crate::diagnostic::Place) -> Expression {
    Expression { kind: Box::new(ExpressionKind::Number(value)), place }
}
