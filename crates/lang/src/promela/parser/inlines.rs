//! Inlines: their definitions, and their calls, which are replaced by the body.

use super::{Parsed, Parser, unexpected};
use crate::diagnostic::Problem;
use crate::promela::stream::Inline;
use crate::promela::syntax::Reference;
use crate::promela::tokens::{Token, TokenKind};
use std::rc::Rc;

impl Parser {
    pub(super) fn inline(&mut self) -> Parsed<()> {
        self.expect("inline")?;
        let name = self.name("the name of an inline")?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        if !self.at(")")? {
            loop {
                parameters.push(self.name("the name of a parameter")?.name);
                if !self.take(",")? {
                    break;
                }
            }
        }
        self.expect(")")?;
        // Nothing is ahead now: the body is taken as it is written.
        let body = self.stream.braced()?;
        if let Some(end) = body.last() {
            self.last = end.place;
        }
        self.stream.known.inlines.insert(name.name, Rc::new(Inline { parameters, body }));
        Ok(())
    }

    /// Whether the next token is the name of an inline.
    pub(super) fn at_inline(&mut self) -> Parsed<bool> {
        let token = self.peek()?.clone();
        Ok(token.is_name() && self.stream.known.inlines.contains_key(&token.text))
    }

    /// A call: the body comes next then.
    pub(super) fn call(&mut self, result: Option<Reference>) -> Parsed<()> {
        let name = self.next()?;
        let Some(inline) = self.stream.known.inlines.get(&name.text).cloned() else {
            return Err(unexpected(&name, "the name of an inline"));
        };
        self.expect("(")?;
        let arguments = self.call_arguments(&name)?;
        self.stream.call(&name, &inline, &arguments, result)
    }

    /// The tokens of each argument, up to the closing parenthesis.
    fn call_arguments(&mut self, name: &Token) -> Parsed<Vec<Vec<Token>>> {
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let token = self.next()?;
            match &*token.text {
                _ if token.kind == TokenKind::End => {
                    return Err(Problem::new(name.place, format!("the call of `{}` has no `)`", name.text)));
                }
                "," if depth == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                ")" if depth == 0 && token.is(")") => break,
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
        }
        if arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if arguments.iter().any(Vec::is_empty) {
            return Err(Problem::new(name.place, format!("an argument of `{}` is empty", name.text)));
        }
        Ok(arguments)
    }
}
