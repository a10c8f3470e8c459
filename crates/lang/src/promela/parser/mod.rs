//! From tokens to the syntax tree, by recursive descent: the units of a model.
//!
//! What SPIN's grammar accepts is accepted, and a few things more that can have only one meaning.

mod declarations;
mod expressions;
mod inlines;
mod references;
mod statements;

use super::stream::Stream;
use super::syntax::*;
use super::tokens::{Token, TokenKind};
use crate::diagnostic::{Place, Problem};
use std::collections::VecDeque;

/// How deep statements and expressions may be nested.
const MAX_NESTING: u32 = 200;

#[derive(Debug)]
pub(crate) struct Parser {
    stream: Stream,
    /// Tokens that were looked at but not taken.
    ahead: VecDeque<Token>,
    /// The last token that was taken.
    last: Place,
    nesting: u32,
    /// The height of the highest expression within the operand being read.
    height: u32,
}

type Parsed<T> = Result<T, Problem>;

/// The model that the tokens make.
pub(crate) fn parse(tokens: Vec<Token>) -> Parsed<Specification> {
    let mut p =
        Parser { stream: Stream::new(tokens), ahead: VecDeque::new(), last: Place::default(), nesting: 0, height: 0 };
    let mut specification = Specification::default();
    loop {
        p.separators()?;
        if p.peek()?.kind == TokenKind::End {
            break;
        }
        p.unit(&mut specification.items)?;
    }
    for (_, formula) in p.stream.deferred() {
        p.ahead.clear();
        p.stream.push(formula);
        specification.items.push(Item::Ltl(p.formula()?));
    }
    Ok(specification)
}

impl Parser {
    fn peek(&mut self) -> Parsed<&Token> {
        self.peek_at(0)
    }

    fn peek_at(&mut self, distance: usize) -> Parsed<&Token> {
        while self.ahead.len() <= distance {
            let token = self.stream.next()?;
            self.ahead.push_back(token);
        }
        Ok(&self.ahead[distance])
    }

    fn next(&mut self) -> Parsed<Token> {
        let token = match self.ahead.pop_front() {
            Some(token) => token,
            None => self.stream.next()?,
        };
        self.last = token.place;
        Ok(token)
    }

    fn at(&mut self, text: &str) -> Parsed<bool> {
        Ok(self.peek()?.is(text))
    }

    fn take(&mut self, text: &str) -> Parsed<bool> {
        let there = self.at(text)?;
        if there {
            self.next()?;
        }
        Ok(there)
    }

    fn expect(&mut self, text: &str) -> Parsed<Place> {
        let token = self.next()?;
        match token.is(text) {
            true => Ok(token.place),
            false => Err(unexpected(&token, &format!("`{text}`"))),
        }
    }

    fn name(&mut self, what: &str) -> Parsed<Ident> {
        let token = self.next()?;
        match token.kind {
            TokenKind::Name => Ok(Ident { name: token.text, place: token.place }),
            TokenKind::Keyword => {
                Err(Problem::new(token.place, format!("expected {what}, found the keyword `{}`", token.text)))
            }
            _ => Err(unexpected(&token, what)),
        }
    }

    /// Moves over separators; whether there were any.
    fn separators(&mut self) -> Parsed<bool> {
        let mut any = false;
        while self.at(";")? || self.at("->")? {
            self.next()?;
            any = true;
        }
        Ok(any)
    }

    /// Reads something that may contain itself.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_NESTING {
            let place = self.peek()?.place;
            return Err(Problem::new(place, format!("this is nested more than {MAX_NESTING} deep")));
        }
        self.nesting += 1;
        let result = part(self);
        self.nesting -= 1;
        result
    }

    fn unit(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        let token = self.peek()?.clone();
        let item = match &*token.text {
            _ if self.at_declaration()? => self.declaration_or_mtype()?,
            _ if token.kind != TokenKind::Keyword => return Err(unit_expected(&token)),
            "active" | "proctype" | "D_proctype" => Item::Process(self.process()?),
            "init" => Item::Process(self.init()?),
            "never" => Item::Never(self.never()?),
            "trace" | "notrace" => Item::Trace(self.trace()?),
            "typedef" => Item::Typedef(self.typedef()?),
            "inline" => return self.inline(),
            _ => return Err(unit_expected(&token)),
        };
        items.push(item);
        Ok(())
    }

    fn process(&mut self) -> Parsed<Process> {
        let active = match self.take("active")? {
            true if self.take("[")? => {
                let times = self.expression()?;
                self.expect("]")?;
                Some(Active::Times(times))
            }
            true => Some(Active::Once),
            false => None,
        };
        let deterministic = self.take("D_proctype")?;
        if !deterministic {
            self.expect("proctype")?;
        }
        let name = self.name("the name of a process")?;
        self.stream.known.processes.insert(name.name.clone());
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.take(")")? {
            parameters.extend(self.declaration()?);
            if !self.separators()? && !self.at(")")? {
                return Err(unexpected(&self.next()?, "`;` or `)`"));
            }
        }
        if let Some(with) = parameters.iter().find(|parameter| parameter.initial.is_some()) {
            return Err(Problem::new(with.name.place, "a parameter has no initial value"));
        }
        let priority = self.priority()?;
        let provided = match self.take("provided")? {
            true => {
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                Some(condition)
            }
            false => None,
        };
        let (body, end) = self.body()?;
        Ok(Process { name, is_init: false, active, deterministic, parameters, priority, provided, body, end })
    }

    fn init(&mut self) -> Parsed<Process> {
        let place = self.expect("init")?;
        let priority = self.priority()?;
        let (body, end) = self.body()?;
        Ok(Process {
            name: Ident { name: "init".into(), place },
            is_init: true,
            active: Some(Active::Once),
            deterministic: false,
            parameters: Vec::new(),
            priority,
            provided: None,
            body,
            end,
        })
    }

    fn priority(&mut self) -> Parsed<Option<Expression>> {
        Ok(match self.take("priority")? {
            true => Some(self.operand()?.0),
            false => None,
        })
    }

    fn never(&mut self) -> Parsed<Never> {
        let place = self.expect("never")?;
        if !self.at("{")? {
            self.name("the name of a claim")?;
        }
        let (body, end) = self.body()?;
        Ok(Never { body, place, end })
    }

    fn trace(&mut self) -> Parsed<Trace> {
        let keyword = self.next()?;
        let (body, end) = self.body()?;
        Ok(Trace { not: keyword.is("notrace"), body, place: keyword.place, end })
    }

    /// The body of a process or claim, and its closing brace.
    fn body(&mut self) -> Parsed<(Sequence, Place)> {
        self.expect("{")?;
        self.stream.in_sequence = true;
        let body = self.sequence()?;
        let end = self.expect("}")?;
        self.stream.in_sequence = false;
        Ok((body, end))
    }

    /// What follows an `ltl`.
    fn formula(&mut self) -> Parsed<Ltl> {
        let name = match self.at("{")? {
            true => None,
            false => Some(self.name("the name of a formula")?),
        };
        self.expect("{")?;
        let formula = self.expression()?;
        self.separators()?;
        self.expect("}")?;
        Ok(Ltl { name, formula })
    }
}

fn unexpected(token: &Token, wanted: &str) -> Problem {
    let problem = Problem::new(token.place, format!("expected {wanted}, found {}", token.described()));
    match &*token.text {
        "=" => problem.help("`==` compares, `=` assigns; implication is `->`"),
        "=>" => problem.help("implication is `->`"),
        _ => problem,
    }
}

fn unit_expected(token: &Token) -> Problem {
    let message = format!("expected a process, a claim or a declaration, found {}", token.described());
    Problem::new(token.place, message)
}

#[cfg(test)]
mod tests;
