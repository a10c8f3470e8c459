//! Sequences and statements.

use super::references::number;
use super::{Parsed, Parser, unexpected};
use crate::diagnostic::{Place, Problem};
use crate::promela::syntax::*;
use crate::promela::tokens::{Token, TokenKind};
use std::sync::Arc;

impl Parser {
    /// Statements and declarations up to what can only end them: `}`, `::`, `fi` or `od`.
    pub(super) fn sequence(&mut self) -> Parsed<Sequence> {
        self.nested(|p| {
            let mut out = vec![p.step()?];
            loop {
                let separated = p.separators()?;
                let token = p.peek()?;
                if ends_sequence(token) {
                    return Ok(out);
                }
                if !separated {
                    return Err(unexpected(token, "`;`").help("statements have `;` or `->` between them"));
                }
                out.push(p.step()?);
            }
        })
    }

    fn braced(&mut self) -> Parsed<Sequence> {
        self.expect("{")?;
        let sequence = self.sequence()?;
        self.expect("}")?;
        Ok(sequence)
    }

    fn step(&mut self) -> Parsed<Step> {
        let start = self.peek()?.place;
        if self.at_declaration()? {
            let kind = StepKind::Declaration(self.declaration()?);
            return Ok(Step { labels: Vec::new(), kind, place: start.to(self.last) });
        }
        if self.at("xr")? || self.at("xs")? {
            let receive = self.next()?.is("xr");
            let mut channels = vec![self.reference()?];
            while self.take(",")? {
                channels.push(self.reference()?);
            }
            let kind = StepKind::Exclusive { receive, channels };
            return Ok(Step { labels: Vec::new(), kind, place: start.to(self.last) });
        }
        let main = self.statement()?;
        if !self.take("unless")? {
            return Ok(main);
        }
        let escape = self.statement()?;
        let place = start.to(self.last);
        Ok(unless(main, escape, place))
    }

    /// A statement with its labels.
    fn statement(&mut self) -> Parsed<Step> {
        let mut labels = Vec::new();
        let start = self.peek()?.place;
        while self.at_label()? {
            labels.push(self.name("the name of a label")?);
            self.expect(":")?;
        }
        let token = self.peek()?;
        let (after, end) = (token.place, ends_sequence(token) || token.is(";") || token.is("->") || token.is("unless"));
        if !labels.is_empty() && end {
            // A label before nothing stands before `skip`.
            let kind = StepKind::Condition(number(1, self.last));
            return Ok(Step { labels, kind, place: start.to(self.last) });
        }
        if !labels.is_empty() && (self.at_declaration()? || self.at("xr")? || self.at("xs")?) {
            return Err(Problem::new(after, "a label cannot stand before a declaration").help("put it behind"));
        }
        if self.at_inline()? {
            self.call(None)?;
        }
        // Where an inline is called, this is its body's place.
        let start = self.peek()?.place;
        let kind = self.nested(Parser::statement_here)?;
        Ok(Step { labels, kind, place: start.to(self.last) })
    }

    fn at_label(&mut self) -> Parsed<bool> {
        let token = self.peek()?.clone();
        let known = &self.stream.known;
        if !token.is_name() || known.processes.contains(&token.text) || known.inlines.contains_key(&token.text) {
            return Ok(false);
        }
        Ok(self.peek_at(1)?.is(":"))
    }

    fn statement_here(&mut self) -> Parsed<StepKind> {
        let token = self.peek()?.clone();
        if token.is_name() && !self.stream.known.processes.contains(&token.text) && !self.at_inline()? {
            return self.variable_statement(token.place);
        }
        if !matches!(token.kind, TokenKind::Keyword | TokenKind::Mark) {
            return Ok(StepKind::Condition(self.expression()?));
        }
        match &*token.text {
            "{" => Ok(StepKind::Block(self.braced()?)),
            "atomic" => {
                self.next()?;
                Ok(StepKind::Atomic(self.braced()?))
            }
            "d_step" => {
                self.next()?;
                Ok(StepKind::DStep(self.braced()?))
            }
            "if" => Ok(StepKind::If(self.options("fi")?)),
            "do" => Ok(StepKind::Do(self.options("od")?)),
            "for" => self.repeat(),
            "select" => self.select(),
            "else" => {
                self.next()?;
                Ok(StepKind::Else)
            }
            "break" => {
                self.next()?;
                Ok(StepKind::Break)
            }
            "goto" => {
                self.next()?;
                Ok(StepKind::Goto(self.name("the name of a label")?))
            }
            "assert" => {
                self.next()?;
                Ok(StepKind::Assert(self.expression()?))
            }
            "printf" => self.print(),
            "printm" => {
                self.next()?;
                self.expect("(")?;
                let value = self.expression()?;
                self.expect(")")?;
                Ok(StepKind::PrintName(value))
            }
            "set_priority" => {
                self.next()?;
                self.expect("(")?;
                let process = self.expression()?;
                self.expect(",")?;
                let priority = self.expression()?;
                self.expect(")")?;
                Ok(StepKind::SetPriority { process, priority })
            }
            "return" => self.result(),
            _ if statement_cannot_begin(&token) => Err(unexpected(&token, "a statement")),
            _ => Ok(StepKind::Condition(self.expression()?)),
        }
    }

    fn result(&mut self) -> Parsed<StepKind> {
        let keyword = self.next()?;
        let Some(target) = self.stream.result() else {
            return Err(Problem::new(keyword.place, "expected a variable on the left of `=`")
                .help("`return` is only allowed in an inline that is called as `x = name()`"));
        };
        Ok(StepKind::Assign { target, value: self.expression()? })
    }

    /// An assignment, a send or a receive; or else the variable begins an expression.
    fn variable_statement(&mut self, start: Place) -> Parsed<StepKind> {
        self.height = 0;
        let target = self.reference()?;
        let token = self.peek()?.clone();
        if token.kind == TokenKind::Mark {
            match &*token.text {
                "=" => {
                    self.next()?;
                    if self.at_inline()? {
                        self.call(Some(target))?;
                        return self.nested(Parser::statement_here);
                    }
                    return Ok(StepKind::Assign { target, value: self.expression()? });
                }
                "++" | "--" => {
                    self.next()?;
                    let operator = if token.is("++") { Binary::Add } else { Binary::Subtract };
                    let place = start.to(token.place);
                    let variable = Expression { kind: Box::new(ExpressionKind::Name(target.clone())), place };
                    let kind = Box::new(ExpressionKind::Binary(operator, variable, number(1, token.place)));
                    return Ok(StepKind::Assign { target, value: Expression { kind, place } });
                }
                "!" | "!!" => return self.send(target),
                "?" | "??" if !self.peek_at(1)?.is("[") => return self.receive(target),
                _ => {}
            }
        }
        let first = self.poll_or_name(target, start)?;
        Ok(StepKind::Condition(self.expression_after(first)?))
    }

    fn send(&mut self, channel: Reference) -> Parsed<StepKind> {
        let sorted = self.next()?.is("!!");
        let mut arguments = vec![self.expression()?];
        if self.take("(")? {
            arguments.extend(self.arguments()?);
            self.expect(")")?;
        } else {
            while self.take(",")? {
                arguments.push(self.expression()?);
            }
        }
        Ok(StepKind::Send { channel, sorted, arguments })
    }

    fn receive(&mut self, channel: Reference) -> Parsed<StepKind> {
        let random = self.next()?.is("??");
        if &*channel.name.name == "STDIN" {
            return Err(Problem::new(channel.name.place, "a model that reads from `STDIN` cannot be checked"));
        }
        let keep = self.take("<")?;
        let arguments = self.receive_arguments()?;
        if keep {
            self.expect(">")?;
        }
        Ok(StepKind::Receive { channel, random, keep, arguments })
    }

    fn options(&mut self, end: &str) -> Parsed<Vec<Sequence>> {
        let keyword = self.next()?;
        let mut out = Vec::new();
        while self.take("::")? {
            out.push(self.sequence()?);
        }
        let token = self.next()?;
        match token.is(end) {
            true if out.is_empty() => {
                Err(Problem::new(keyword.place, format!("this `{}` has no options", keyword.text)))
            }
            true => Ok(out),
            false => {
                let message = format!("expected `::` or `{end}`, found {}", token.described());
                Err(Problem::new(token.place, message))
            }
        }
    }

    fn repeat(&mut self) -> Parsed<StepKind> {
        self.expect("for")?;
        self.expect("(")?;
        let variable = self.reference()?;
        let token = self.next()?;
        if &*token.text == "in" {
            let container = self.reference()?;
            let body = self.repeated()?;
            return Ok(StepKind::ForIn { variable, container, body });
        }
        if !token.is(":") {
            return Err(unexpected(&token, "`:` or `in`"));
        }
        let from = self.expression()?;
        self.expect("..")?;
        let to = self.expression()?;
        let body = self.repeated()?;
        Ok(StepKind::ForRange { variable, from, to, body })
    }

    fn repeated(&mut self) -> Parsed<Sequence> {
        self.expect(")")?;
        self.separators()?;
        self.braced()
    }

    fn select(&mut self) -> Parsed<StepKind> {
        self.expect("select")?;
        self.expect("(")?;
        let variable = self.reference()?;
        self.expect(":")?;
        let from = self.expression()?;
        self.expect("..")?;
        let to = self.expression()?;
        self.expect(")")?;
        Ok(StepKind::Select { variable, from, to })
    }

    fn print(&mut self) -> Parsed<StepKind> {
        self.expect("printf")?;
        self.expect("(")?;
        let token = self.next()?;
        if token.kind != TokenKind::String {
            return Err(unexpected(&token, "a string"));
        }
        let inside = token.text.get(1..token.text.len().saturating_sub(1));
        let format: Arc<str> = inside.unwrap_or("").into();
        let mut arguments = Vec::new();
        while self.take(",")? {
            arguments.push(self.expression()?);
        }
        self.expect(")")?;
        Ok(StepKind::Print { format, arguments })
    }
}

fn ends_sequence(token: &Token) -> bool {
    token.is("}") || token.is("::") || token.is("fi") || token.is("od") || token.kind == TokenKind::End
}

/// Keywords and marks with which nothing begins, not even an expression.
fn statement_cannot_begin(token: &Token) -> bool {
    match token.kind {
        TokenKind::Mark => !matches!(&*token.text, "(" | "!" | "-" | "~"),
        TokenKind::Keyword => !matches!(
            &*token.text,
            "len"
                | "empty"
                | "nempty"
                | "full"
                | "nfull"
                | "timeout"
                | "np_"
                | "run"
                | "enabled"
                | "pc_value"
                | "get_priority"
        ),
        _ => false,
    }
}

/// `main unless escape`. As in SPIN, the labels of a block stand before the whole, and a labelled `atomic` or `d_step` is
/// around it.
fn unless(main: Step, escape: Step, place: Place) -> Step {
    let contents = |step: Step| match step {
        Step { labels, kind: StepKind::Block(inside), .. } if labels.is_empty() => inside,
        step => vec![step],
    };
    let escape = contents(escape);
    let bare =
        |main: Sequence, escape: Sequence| Step { labels: Vec::new(), kind: StepKind::Unless { main, escape }, place };
    if main.labels.is_empty() {
        return bare(contents(main), escape);
    }
    let labels = main.labels;
    let kind = match main.kind {
        StepKind::Block(inside) => StepKind::Block(vec![bare(inside, escape)]),
        StepKind::Atomic(inside) => StepKind::Atomic(vec![bare(inside, escape)]),
        StepKind::DStep(inside) => StepKind::DStep(vec![bare(inside, escape)]),
        kind => return bare(vec![Step { labels, kind, place: main.place }], escape),
    };
    Step { labels, kind, place }
}
