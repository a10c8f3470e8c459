//! Expressions, and the formulas of LTL, which are expressions with more operators.

use super::references::number;
use super::{Parsed, Parser, unexpected};
use crate::diagnostic::{Place, Problem};
use crate::promela::syntax::*;
use crate::promela::tokens::{Token, TokenKind};

/// How high the tree of an expression may be: all that walk it do so by recursion.
const MAX_HEIGHT: u32 = 1000;

enum Operator {
    Plain(Binary),
    Temporal(Temporal),
}

/// What a binary operator does, and how tightly it binds; all of them bind to the left.
fn operator(token: &Token) -> Option<(Operator, u8)> {
    // SPIN has no `R`, but where an operator is expected a name has no other meaning.
    if token.kind == TokenKind::Name && &*token.text == "R" {
        return Some((Operator::Temporal(Temporal::Release), 4));
    }
    if token.kind != TokenKind::Mark {
        return None;
    }
    let plain = |binary, level| Some((Operator::Plain(binary), level));
    let temporal = |temporal, level| Some((Operator::Temporal(temporal), level));
    match &*token.text {
        "=>" => temporal(Temporal::Implies, 1),
        "<->" => temporal(Temporal::Equivalent, 1),
        "||" => plain(Binary::Or, 2),
        "&&" => plain(Binary::And, 3),
        "U" => temporal(Temporal::Until, 4),
        "W" => temporal(Temporal::WeakUntil, 4),
        "V" => temporal(Temporal::Release, 4),
        "|" => plain(Binary::BitOr, 5),
        "^" => plain(Binary::BitXor, 6),
        "&" => plain(Binary::BitAnd, 7),
        "==" => plain(Binary::Equal, 8),
        "!=" => plain(Binary::NotEqual, 8),
        "<" => plain(Binary::Less, 9),
        "<=" => plain(Binary::LessEqual, 9),
        ">" => plain(Binary::Greater, 9),
        ">=" => plain(Binary::GreaterEqual, 9),
        "<<" => plain(Binary::ShiftLeft, 10),
        ">>" => plain(Binary::ShiftRight, 10),
        "+" => plain(Binary::Add, 11),
        "-" => plain(Binary::Subtract, 11),
        "*" => plain(Binary::Multiply, 12),
        "/" => plain(Binary::Divide, 12),
        "%" => plain(Binary::Remainder, 12),
        _ => None,
    }
}

fn expression(kind: ExpressionKind, place: Place) -> Expression {
    Expression { kind: Box::new(kind), place }
}

impl Parser {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.height = 0;
        self.expression_within()
    }

    /// An expression that is a part of another one.
    pub(super) fn expression_within(&mut self) -> Parsed<Expression> {
        let (first, height) = self.operand()?;
        let (whole, height) = self.expression_from(first, height, 1)?;
        self.height = self.height.max(height);
        Ok(whole)
    }

    /// An expression whose first operand was read already.
    pub(super) fn expression_after(&mut self, first: Expression) -> Parsed<Expression> {
        Ok(self.expression_from(first, self.height + 1, 1)?.0)
    }

    /// Takes operators that bind at least as tightly as `lowest`, and gives the height too.
    fn expression_from(&mut self, first: Expression, height: u32, lowest: u8) -> Parsed<(Expression, u32)> {
        let (mut left, mut height) = (first, height);
        loop {
            let token = self.peek()?;
            let place = token.place;
            let Some((operator, level)) = operator(token).filter(|(_, level)| *level >= lowest) else {
                return Ok((left, height));
            };
            self.next()?;
            let (right, right_height) = self.operand()?;
            // At most as many calls within each other as there are levels.
            let (right, right_height) = self.expression_from(right, right_height, level + 1)?;
            height = height.max(right_height) + 1;
            if height > MAX_HEIGHT {
                let message = format!("an expression has at most {MAX_HEIGHT} operators after or within each other");
                return Err(Problem::new(place, message));
            }
            let place = left.place.to(right.place);
            left = match operator {
                Operator::Plain(binary) => expression(ExpressionKind::Binary(binary, left, right), place),
                Operator::Temporal(temporal) => {
                    expression(ExpressionKind::Temporal(temporal, left, Some(right)), place)
                }
            };
        }
    }

    /// An operand and its height.
    pub(super) fn operand(&mut self) -> Parsed<(Expression, u32)> {
        let around = std::mem::replace(&mut self.height, 0);
        let operand = self.nested(Parser::operand_here)?;
        let height = std::mem::replace(&mut self.height, around) + 1;
        Ok((operand, height))
    }

    fn operand_here(&mut self) -> Parsed<Expression> {
        let token = self.peek()?.clone();
        match token.kind {
            TokenKind::Name if self.stream.known.processes.contains(&token.text) => self.remote(),
            TokenKind::Name => {
                if self.stream.known.inlines.contains_key(&token.text) {
                    return Err(Problem::new(token.place, format!("the inline `{}` has no value here", token.text))
                        .help("an inline is a statement, or all that is to the right of `=`"));
                }
                let reference = self.reference()?;
                self.poll_or_name(reference, token.place)
            }
            TokenKind::Number(value) => {
                self.next()?;
                Ok(number(value, token.place))
            }
            TokenKind::Keyword => self.function(token),
            TokenKind::Mark => self.prefixed(token),
            TokenKind::String | TokenKind::End => Err(unexpected(&token, "an expression")),
        }
    }

    /// `c?[x]`, or else the variable itself.
    pub(super) fn poll_or_name(&mut self, reference: Reference, start: Place) -> Parsed<Expression> {
        let random = self.at("??")?;
        if !((random || self.at("?")?) && self.peek_at(1)?.is("[")) {
            return Ok(expression(ExpressionKind::Name(reference), start.to(self.last)));
        }
        self.next()?;
        self.next()?;
        let arguments = self.receive_arguments()?;
        self.expect("]")?;
        let kind = ExpressionKind::Poll { channel: reference, random, arguments };
        Ok(expression(kind, start.to(self.last)))
    }

    /// `P[e]@l`, `P@l`, `P[e]:x` and `P:x`.
    fn remote(&mut self) -> Parsed<Expression> {
        let process = self.name("the name of a process")?;
        let start = process.place;
        let pid = match self.take("[")? {
            true => {
                let pid = self.expression_within()?;
                self.expect("]")?;
                Some(pid)
            }
            false => None,
        };
        let mark = self.next()?;
        let kind = match &*mark.text {
            "@" => ExpressionKind::RemoteLabel { process, pid, label: self.name("the name of a label")? },
            ":" => ExpressionKind::RemoteVariable { process, pid, variable: self.element()? },
            _ => {
                let message = format!("`{}` is a process: `@` and a label, or `:` and a variable follow", process.name);
                return Err(Problem::new(mark.place, message));
            }
        };
        Ok(expression(kind, start.to(self.last)))
    }

    fn prefixed(&mut self, token: Token) -> Parsed<Expression> {
        let unary = match &*token.text {
            "(" => return self.parenthesized(),
            "!" => Ok(Unary::Not),
            "-" => Ok(Unary::Negate),
            "~" => Ok(Unary::Complement),
            "[]" => Err(Temporal::Always),
            "<>" => Err(Temporal::Eventually),
            "X" => Err(Temporal::Next),
            _ => return Err(unexpected(&token, "an expression")),
        };
        self.next()?;
        let (operand, height) = self.operand()?;
        self.height = self.height.max(height);
        let place = token.place.to(operand.place);
        Ok(match unary {
            Ok(unary) => expression(ExpressionKind::Unary(unary, operand), place),
            Err(temporal) => expression(ExpressionKind::Temporal(temporal, operand, None), place),
        })
    }

    /// An expression in parentheses, or `(c -> a : b)`. The place includes the parentheses.
    fn parenthesized(&mut self) -> Parsed<Expression> {
        let start = self.expect("(")?;
        let first = self.expression_within()?;
        let kind = match self.take("->")? {
            true => {
                let second = self.expression_within()?;
                self.expect(":")?;
                let third = self.expression_within()?;
                ExpressionKind::Conditional(first, second, third)
            }
            false => *first.kind,
        };
        let end = self.expect(")")?;
        Ok(expression(kind, start.to(end)))
    }

    /// Operands that begin with a word of the language.
    fn function(&mut self, token: Token) -> Parsed<Expression> {
        let test = match &*token.text {
            "len" => ChannelTest::Length,
            "empty" => ChannelTest::Empty,
            "nempty" => ChannelTest::NotEmpty,
            "full" => ChannelTest::Full,
            "nfull" => ChannelTest::NotFull,
            "timeout" | "np_" => {
                self.next()?;
                let timeout = token.is("timeout");
                let kind = if timeout { ExpressionKind::Timeout } else { ExpressionKind::NonProgress };
                return Ok(expression(kind, token.place));
            }
            "run" => return self.run(),
            "enabled" => return self.of_process(ExpressionKind::Enabled),
            "pc_value" => return self.of_process(ExpressionKind::PcValue),
            "get_priority" => return self.of_process(ExpressionKind::GetPriority),
            _ => return Err(unexpected(&token, "an expression")),
        };
        self.next()?;
        self.expect("(")?;
        let channel = self.reference()?;
        self.expect(")")?;
        Ok(expression(ExpressionKind::Channel(test, channel), token.place.to(self.last)))
    }

    fn of_process(&mut self, kind: fn(Expression) -> ExpressionKind) -> Parsed<Expression> {
        let start = self.next()?.place;
        self.expect("(")?;
        let process = self.expression_within()?;
        self.expect(")")?;
        Ok(expression(kind(process), start.to(self.last)))
    }

    fn run(&mut self) -> Parsed<Expression> {
        let start = self.expect("run")?;
        let process = self.name("the name of a process")?;
        self.expect("(")?;
        let arguments = match self.at(")")? {
            true => Vec::new(),
            false => self.arguments()?,
        };
        self.expect(")")?;
        let priority = self.priority()?;
        Ok(expression(ExpressionKind::Run { process, arguments, priority }, start.to(self.last)))
    }

    /// Expressions with commas between.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expression>> {
        let mut out = vec![self.expression_within()?];
        while self.take(",")? {
            out.push(self.expression_within()?);
        }
        Ok(out)
    }
}
