//! The expression grammar, shared by models and properties, and the means to read tokens one by one.
//!
//! Precedences are those of DVE, all binary operators grouping to the left. Recursion is counted, so that no text can
//! exhaust the stack; chains of binary operators are read in a loop and may be as long as they like.

use super::syntax::{ExprId, Expressions, Member, Name, Node, Operator, Separator};
use crate::diagnostic::{Place, Problem};
use crate::lexer::{Lexeme, Lexer, Token};
use crate::symbols::Symbols;
use scrimp_system::{BinaryOp, UnaryOp};

/// How deep parentheses, indices and operators of rising precedence may nest.
const MAX_NESTING: u32 = 1000;

/// Words that mean something inside an expression and so can never be names.
const OPERATOR_WORDS: [&str; 6] = ["and", "or", "not", "imply", "true", "false"];

#[derive(Debug)]
pub(crate) struct Parser<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    pub current: Lexeme,
    /// Where the token before the current one ends.
    pub last_end: u32,
    pub expressions: Expressions,
    pub symbols: Symbols<'t>,
    nesting: u32,
}

impl<'t> Parser<'t> {
    /// Begins to read `text[start..end]`, which starts a line with the number `line`.
    pub fn new(text: &'t str, start: usize, end: usize, line: u32) -> Result<Parser<'t>, Problem> {
        let mut lexer = Lexer::new(text, start, end, line);
        let current = lexer.next()?;
        Ok(Parser {
            text,
            lexer,
            current,
            last_end: start as u32,
            expressions: Expressions::default(),
            symbols: Symbols::default(),
            nesting: 0,
        })
    }

    /// The text of the current token.
    pub fn word(&self) -> &'t str {
        &self.text[self.current.start as usize..self.current.end as usize]
    }

    pub fn advance(&mut self) -> Result<Lexeme, Problem> {
        let passed = self.current;
        self.last_end = passed.end;
        self.current = self.lexer.next()?;
        Ok(passed)
    }

    pub fn at(&self, token: Token) -> bool {
        self.current.token == token
    }

    pub fn at_word(&self, word: &str) -> bool {
        self.current.token == Token::Word && self.word() == word
    }

    pub fn accept(&mut self, token: Token) -> Result<bool, Problem> {
        let found = self.at(token);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub fn accept_word(&mut self, word: &str) -> Result<bool, Problem> {
        let found = self.at_word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Passes `token`, or says that `wanted` was expected.
    pub fn expect(&mut self, token: Token, wanted: &str) -> Result<Lexeme, Problem> {
        if self.at(token) { self.advance() } else { Err(self.unexpected(wanted)) }
    }

    pub fn name(&mut self, wanted: &str) -> Result<Name, Problem> {
        if !self.at(Token::Word) {
            return Err(self.unexpected(wanted));
        }
        if OPERATOR_WORDS.contains(&self.word()) {
            return Err(self.unexpected(wanted).help(format!("`{}` is an operator or value, not a name", self.word())));
        }
        let symbol = self.symbols.intern(self.word());
        Ok(Name { symbol, place: self.advance()?.place() })
    }

    /// "expected this, found that", at the current token.
    pub fn unexpected(&self, wanted: &str) -> Problem {
        let problem = Problem::new(self.current.place(), format!("expected {wanted}, found {}", self.found()));
        if self.at(Token::Assign) { problem.help("`==` compares, `=` assigns") } else { problem }
    }

    fn found(&self) -> String {
        match self.current.token {
            Token::End => "the end of the text".into(),
            _ => {
                let word = self.word();
                if word.chars().count() <= 40 {
                    format!("`{word}`")
                } else {
                    format!("`{}...`", word.chars().take(40).collect::<String>())
                }
            }
        }
    }

    /// True when the parenthesis that is the current token is closed and followed by `token`. Only looks ahead.
    pub fn parenthesis_followed_by(&self, token: Token) -> bool {
        let mut lexer = self.lexer;
        let mut open = 1;
        while open > 0 {
            match lexer.next().map(|l| l.token) {
                Ok(Token::LeftParen) => open += 1,
                Ok(Token::RightParen) => open -= 1,
                Ok(Token::End | Token::LeftBrace | Token::RightBrace | Token::Semicolon) | Err(_) => return false,
                Ok(_) => {}
            }
        }
        lexer.next().is_ok_and(|l| l.token == token)
    }

    pub fn expression(&mut self) -> Result<ExprId, Problem> {
        self.binary(0)
    }

    /// Runs `read` one level deeper; also for constructs of a model that nest.
    pub fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R, Problem>) -> Result<R, Problem> {
        if self.nesting >= MAX_NESTING {
            return Err(Problem::new(self.current.place(), "this is nested too deeply"));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Operators of precedence `least` and above.
    fn binary(&mut self, least: u8) -> Result<ExprId, Problem> {
        let mut left = self.unary()?;
        while let Some((operator, precedence)) = self.operator() {
            if precedence < least {
                break;
            }
            self.advance()?;
            let right = self.nested(|p| p.binary(precedence + 1))?;
            let place = self.expressions.place(left).to(self.expressions.place(right));
            left = self.expressions.add(Node::Binary(operator, left, right), place);
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        use BinaryOp::*;
        let (op, precedence) = match self.current.token {
            Token::Word => match self.word() {
                "imply" => return Some((Operator::Imply, 0)),
                "or" => (Or, 1),
                "and" => (And, 2),
                _ => return None,
            },
            Token::OrOr => (Or, 1),
            Token::AndAnd => (And, 2),
            Token::Bar => (BitOr, 3),
            Token::Caret => (BitXor, 4),
            Token::Ampersand => (BitAnd, 5),
            Token::Equal => (Equal, 6),
            Token::NotEqual => (NotEqual, 6),
            Token::Less => (Less, 7),
            Token::LessEqual => (LessEqual, 7),
            Token::Greater => (Greater, 7),
            Token::GreaterEqual => (GreaterEqual, 7),
            Token::ShiftLeft => (ShiftLeft, 8),
            Token::ShiftRight => (ShiftRight, 8),
            Token::Plus => (Add, 9),
            Token::Minus => (Subtract, 9),
            Token::Star => (Multiply, 10),
            Token::Slash => (Divide, 10),
            Token::Percent => (Remainder, 10),
            _ => return None,
        };
        Some((Operator::Plain(op), precedence))
    }

    pub fn unary(&mut self) -> Result<ExprId, Problem> {
        let start = self.current.place();
        let operator = match self.current.token {
            Token::Minus => UnaryOp::Negate,
            Token::Tilde => UnaryOp::Complement,
            Token::Bang => UnaryOp::Not,
            Token::Word if self.word() == "not" => UnaryOp::Not,
            _ => return self.operand(),
        };
        self.advance()?;
        let operand = self.nested(Self::unary)?;
        let place = start.to(self.expressions.place(operand));
        Ok(self.expressions.add(Node::Unary(operator, operand), place))
    }

    fn operand(&mut self) -> Result<ExprId, Problem> {
        let place = self.current.place();
        match self.current.token {
            Token::LeftParen => {
                self.advance()?;
                let inner = self.nested(|p| p.binary(0))?;
                self.expect(Token::RightParen, "`)`")?;
                Ok(inner)
            }
            Token::Number => {
                // Expressions are compared with variables of at most 16 bits; C's `int` is room enough.
                let Ok(value) = self.word().parse::<i32>() else {
                    return Err(Problem::new(place, format!("this number is too large; the largest is {}", i32::MAX)));
                };
                self.advance()?;
                Ok(self.expressions.add(Node::Number(value), place))
            }
            Token::Word => match self.word() {
                "true" | "false" => {
                    let value = (self.word() == "true") as i32;
                    self.advance()?;
                    Ok(self.expressions.add(Node::Number(value), place))
                }
                _ => self.reference(),
            },
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// A variable, or a location or variable of a process.
    fn reference(&mut self) -> Result<ExprId, Problem> {
        let name = self.name("a name")?;
        let arguments = match self.at(Token::LeftParen) {
            true => Some(self.arguments()?),
            false => None,
        };
        let separator = match self.current.token {
            Token::Dot => Separator::Dot,
            Token::Arrow => Separator::Arrow,
            Token::At => Separator::At,
            _ if arguments.is_some() => {
                return Err(self.unexpected("`.` or `->` after the instance of a process"));
            }
            _ => {
                let index = self.index()?;
                let place = Place { start: name.place.start, end: self.last_end };
                return Ok(self.expressions.add(Node::Variable { name: name.symbol, index }, place));
            }
        };
        self.advance()?;
        // A channel's slots have numbers for names: `c.0`.
        let member = match self.at(Token::Number) {
            true => {
                let symbol = self.symbols.intern(self.word());
                Name { symbol, place: self.advance()?.place() }
            }
            false => self.name("the name of a location or variable")?,
        };
        let index = self.index()?;
        let place = Place { start: name.place.start, end: self.last_end };
        let member = Member { process: name, arguments, separator, name: member, index };
        Ok(self.expressions.add_member(member, place))
    }

    fn index(&mut self) -> Result<Option<ExprId>, Problem> {
        if !self.accept(Token::LeftBracket)? {
            return Ok(None);
        }
        let index = self.nested(|p| p.binary(0))?;
        self.expect(Token::RightBracket, "`]`")?;
        Ok(Some(index))
    }

    /// `(a, b, ...)`
    pub fn arguments(&mut self) -> Result<Vec<ExprId>, Problem> {
        self.expect(Token::LeftParen, "`(`")?;
        let mut arguments = vec![self.nested(|p| p.binary(0))?];
        while self.accept(Token::Comma)? {
            arguments.push(self.nested(|p| p.binary(0))?);
        }
        self.expect(Token::RightParen, "`,` or `)`")?;
        Ok(arguments)
    }
}
