//! The expression grammar, shared by models and properties, and the means to read tokens one by one.
//!
//! Precedences are those of DVE, all binary operators grouping to the left. An expression is read in a loop, with a stack
//! of what is still open; only indices and arguments recurse. Both are counted, so that no text can exhaust the stack, while
//! chains of binary operators may be as long as they like.

use super::syntax::{ExprId, Expressions, Member, Name, Operator, Separator};
use super::temporal::{TemporalOperator, Vocabulary};
use crate::diagnostic::{Place, Problem};
use crate::lexer::{Lexeme, Lexer, Token};
use crate::lines::Lines;
use crate::symbols::Symbols;
use scrimp_system::{BinaryOp, Span, UnaryOp};

/// How deep parentheses, indices and operators of rising precedence may nest.
const MAX_NESTING: usize = 1000;

#[derive(Debug)]
pub(crate) struct Parser<'t> {
    pub(super) text: &'t str,
    lexer: Lexer<'t>,
    lines: Lines<'t>,
    pub current: Lexeme,
    /// Where the token before the current one ends.
    pub last_end: u32,
    pub expressions: Expressions,
    pub symbols: Symbols<'t>,
    /// What waits for its operand, of all expressions that are being read, the innermost last.
    pending: Vec<Pending>,
    nesting: usize,
    /// Whether rankings may stand in expressions: in progress measures they may.
    pub rankings: bool,
    /// In formulas, temporal operators are read, and this tells what their words can mean besides.
    pub temporal: Option<&'t dyn Vocabulary>,
}

/// The beginning of an operand or operation whose end is not read yet.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pending {
    /// The beginning of an expression that is part of no other, or is an index or an argument.
    Start,
    Parenthesis,
    /// As in `A[p U q]`.
    Bracket,
    /// With the place where it begins.
    Unary(UnaryOp, u32),
    /// With its precedence and its left operand.
    Binary(Operator, u8, ExprId),
    /// A temporal operator before its operand, with its place.
    Prefix(TemporalOperator, Place),
    /// A temporal operator between its operands, with its place, its precedence and its left operand.
    Infix(TemporalOperator, Place, u8, ExprId),
}

impl<'t> Parser<'t> {
    /// Begins to read `text[start..end]`.
    pub fn new(text: &'t str, start: usize, end: usize) -> Result<Parser<'t>, Problem> {
        let mut parser = Parser {
            text,
            lexer: Lexer::new(text, start, end),
            lines: Lines::new(text),
            current: Lexeme::nothing(start),
            last_end: start as u32,
            expressions: Expressions::default(),
            symbols: Symbols::default(),
            pending: Vec::new(),
            nesting: 0,
            rankings: false,
            temporal: None,
        };
        parser.advance()?;
        Ok(parser)
    }

    /// The text of the current token.
    pub fn word(&self) -> &'t str {
        &self.text[self.current.start as usize..self.current.end as usize]
    }

    /// From the byte `start` to the end of the last token.
    pub fn span_from(&mut self, start: u32) -> Span {
        self.lines.span(Place { start, end: self.last_end })
    }

    pub fn advance(&mut self) -> Result<(), Problem> {
        self.last_end = self.current.end;
        self.lexer.next(&mut self.current);
        match self.current.token {
            Token::Wrong => Err(self.lexer.problem(self.current)),
            _ => Ok(()),
        }
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
    pub fn expect(&mut self, token: Token, wanted: &str) -> Result<(), Problem> {
        if self.at(token) { self.advance() } else { Err(self.missing(wanted)) }
    }

    /// "expected this, found that", where what was found is no mistake itself: if it stands on a later line, the place is
    /// the end of what stands before it.
    #[cold]
    fn missing(&self, wanted: &str) -> Problem {
        let between = &self.text[self.last_end as usize..self.current.start as usize];
        let problem = self.unexpected(wanted);
        match self.current.token {
            _ if between.contains('\n') => problem.at(self.last_place()),
            Token::Question => problem.help("there is no conditional operator; use two transitions"),
            _ => problem,
        }
    }

    /// Behind the token before the current one.
    pub fn last_place(&self) -> Place {
        Place { start: self.last_end, end: self.last_end }
    }

    pub fn name(&mut self, wanted: &str) -> Result<Name, Problem> {
        if !self.at(Token::Word) {
            let problem = self.unexpected(wanted);
            return Err(match self.word().starts_with(|c: char| c.is_ascii_alphabetic()) {
                true => problem.help(format!("`{}` is an operator or value, not a name", self.word())),
                false => problem,
            });
        }
        let symbol = self.symbols.intern(self.word());
        let place = self.current.place();
        self.advance()?;
        Ok(Name { symbol, place })
    }

    /// "expected this, found that", at the current token.
    #[cold]
    pub fn unexpected(&self, wanted: &str) -> Problem {
        let problem = Problem::new(self.current.place(), format!("expected {wanted}, found {}", self.found()));
        match self.current.token {
            // The end has no line of its own to show.
            Token::End => problem.at(self.last_place()),
            Token::Assign => problem.help("`==` compares, `=` assigns"),
            Token::LeftBracket if self.text[..self.last_end as usize].ends_with(']') => {
                problem.help("arrays have one dimension; compute the index, as in `a[4 * i + j]`")
            }
            _ => problem,
        }
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

    /// The token behind the current one.
    pub fn next_token(&self) -> Token {
        self.ahead(1).0
    }

    /// The token so many places behind the current one, and its text.
    pub fn ahead(&self, places: usize) -> (Token, &'t str) {
        let (mut lexer, mut ahead) = (self.lexer, self.current);
        for _ in 0..places {
            lexer.next(&mut ahead);
        }
        (ahead.token, self.text.get(ahead.start as usize..ahead.end as usize).unwrap_or_default())
    }

    /// True when the parenthesis that is the current token is closed and followed by `token`. Only looks ahead.
    pub fn parenthesis_followed_by(&self, token: Token) -> bool {
        let (mut lexer, mut ahead) = (self.lexer, self.current);
        let mut open = 1;
        while open > 0 {
            lexer.next(&mut ahead);
            match ahead.token {
                Token::LeftParen => open += 1,
                Token::RightParen => open -= 1,
                Token::End | Token::Wrong | Token::LeftBrace | Token::RightBrace | Token::Semicolon => return false,
                _ => {}
            }
        }
        lexer.next(&mut ahead);
        ahead.token == token
    }

    /// Runs `read` one level deeper: for what nests by recursion.
    pub fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R, Problem>) -> Result<R, Problem> {
        self.check_nesting()?;
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    fn check_nesting(&self) -> Result<(), Problem> {
        match self.nesting + self.pending.len() < MAX_NESTING {
            true => Ok(()),
            false => Err(Problem::new(
                self.current.place(),
                format!("this is nested too deeply; at most {MAX_NESTING} levels are supported"),
            )),
        }
    }

    pub fn expression(&mut self) -> Result<ExprId, Problem> {
        self.push(Pending::Start)?;
        loop {
            self.prefixes()?;
            let mut value = self.operand()?;
            loop {
                if let Some((operator, precedence, tokens)) = self.infix() {
                    value = self.complete(value, precedence);
                    let at = self.skip(tokens)?;
                    self.push(Pending::Infix(operator, at, precedence, value))?;
                    break;
                }
                let (operator, precedence) = match self.is_implication() {
                    true => (Operator::Imply, IMPLICATION),
                    false => operator(self.current.token),
                };
                value = self.complete(value, precedence);
                if precedence > 0 {
                    self.advance()?;
                    self.expressions.begin_binary(operator);
                    self.push(Pending::Binary(operator, precedence, value))?;
                    break;
                }
                match self.pending.pop() {
                    Some(Pending::Start) => return Ok(value),
                    Some(Pending::Bracket) => self.expect(Token::RightBracket, "`]`")?,
                    _ => self.expect(Token::RightParen, "`)`")?,
                }
            }
        }
    }

    /// Applies the operators that wait for `value` and bind at least as strongly as the operator that follows it.
    fn complete(&mut self, mut value: ExprId, following: u8) -> ExprId {
        loop {
            value = match self.pending.last() {
                Some(&Pending::Binary(operator, precedence, left)) if self.is_complete(precedence, following) => {
                    self.expressions.add_binary(operator, left, value)
                }
                Some(&Pending::Infix(operator, at, precedence, left)) if self.is_complete(precedence, following) => {
                    self.expressions.add_temporal(operator, at, Some(left), value)
                }
                Some(&Pending::Prefix(operator, at)) if following <= UNTIL => {
                    self.expressions.add_temporal(operator, at, None, value)
                }
                Some(&Pending::Unary(operator, start)) => {
                    let place = Place { start, end: self.expressions.place(value).end };
                    self.expressions.add_unary(operator, value, place)
                }
                _ => return value,
            };
            self.pending.pop();
        }
    }

    /// Of two operators with this precedence, and the same or another one, does the first come first? In formulas `->`, `<->`
    /// and `U` group to the right; `imply` groups to the left there too, as in the conditions of a model.
    fn is_complete(&self, precedence: u8, following: u8) -> bool {
        let right = self.temporal.is_some()
            && self.current.token != Token::Imply
            && matches!(following, EQUIVALENCE | IMPLICATION | UNTIL);
        precedence > following || precedence == following && !right
    }

    /// The unary operators and parentheses before an operand.
    fn prefixes(&mut self) -> Result<(), Problem> {
        loop {
            if self.temporal_prefix()? {
                continue;
            }
            let pending = match self.current.token {
                Token::LeftParen => Pending::Parenthesis,
                Token::Minus => Pending::Unary(UnaryOp::Negate, self.current.start),
                Token::Tilde => Pending::Unary(UnaryOp::Complement, self.current.start),
                Token::Bang | Token::Not => Pending::Unary(UnaryOp::Not, self.current.start),
                _ => return Ok(()),
            };
            self.push(pending)?;
            self.advance()?;
        }
    }

    pub(super) fn push(&mut self, pending: Pending) -> Result<(), Problem> {
        self.check_nesting()?;
        self.pending.push(pending);
        Ok(())
    }

    /// What can stand to the left of `=`; it is up to others to say whether something can be stored there.
    pub fn target(&mut self) -> Result<ExprId, Problem> {
        if !self.accept(Token::LeftParen)? {
            return self.operand();
        }
        let inner = self.nested(Self::target)?;
        self.expect(Token::RightParen, "`)`")?;
        Ok(inner)
    }

    fn operand(&mut self) -> Result<ExprId, Problem> {
        let place = self.current.place();
        let value = match self.current.token {
            Token::Word => {
                let value = self.reference()?;
                if !self.rankings || !self.at(Token::LeftBrace) {
                    return Ok(value);
                }
                let ranking = self.ranking(None)?;
                let place = Place { start: place.start, end: self.last_end };
                return Ok(self.expressions.add_ranking(ranking, Some(value), place));
            }
            // Names that are no words, such as those of a net.
            Token::Text => {
                let symbol = self.symbols.intern(self.word().trim_matches('"'));
                self.advance()?;
                return Ok(self.expressions.add_variable(symbol, None, place));
            }
            Token::True => 1,
            Token::False => 0,
            // Expressions are compared with variables of at most 16 bits; C's `int` is room enough.
            Token::Number => match number(self.word()) {
                Some(value) => value,
                None => {
                    return Err(Problem::new(place, format!("this number is too large; the largest is {}", i32::MAX)));
                }
            },
            _ => return Err(self.unexpected("an expression")),
        };
        self.advance()?;
        Ok(self.expressions.add_number(value, place))
    }

    /// A variable, or a location or variable of a process.
    fn reference(&mut self) -> Result<ExprId, Problem> {
        let name = self.name("a name")?;
        let arguments = match self.at(Token::LeftParen) {
            true => Some(self.arguments()?),
            false => None,
        };
        if self.at_locations() {
            let ranking = self.ranking(Some((name, arguments)))?;
            let place = Place { start: name.place.start, end: self.last_end };
            return Ok(self.expressions.add_ranking(ranking, None, place));
        }
        let separator = match self.current.token {
            Token::Dot => Separator::Dot,
            Token::Arrow if !self.is_implication_after(name) || arguments.is_some() => Separator::Arrow,
            Token::At => Separator::At,
            _ if arguments.is_some() => {
                return Err(self.unexpected("`.` or `->` after the instance of a process"));
            }
            _ => {
                let index = self.index()?;
                let place = Place { start: name.place.start, end: self.last_end };
                return Ok(self.expressions.add_variable(name.symbol, index, place));
            }
        };
        self.advance()?;
        // A channel's slots have numbers for names: `c.0`.
        let member = match self.at(Token::Number) {
            true => {
                let name = Name { symbol: self.symbols.intern(self.word()), place: self.current.place() };
                self.advance()?;
                name
            }
            false => self.name("the name of a location or variable")?,
        };
        let index = self.index()?;
        let place = Place { start: name.place.start, end: self.last_end };
        let member = Member { process: name, arguments, separator, name: member, has_index: index.is_some() };
        Ok(self.expressions.add_member(member, index, place))
    }

    fn index(&mut self) -> Result<Option<ExprId>, Problem> {
        if !self.accept(Token::LeftBracket)? {
            return Ok(None);
        }
        let index = self.plain_expression()?;
        self.expect(Token::RightBracket, "`]`")?;
        Ok(Some(index))
    }

    /// An expression within another one, in which nothing temporal can stand.
    fn plain_expression(&mut self) -> Result<ExprId, Problem> {
        let temporal = self.temporal.take();
        let result = self.nested(Self::expression);
        self.temporal = temporal;
        result
    }

    /// `(a, b, ...)`
    pub fn arguments(&mut self) -> Result<Vec<ExprId>, Problem> {
        self.expect(Token::LeftParen, "`(`")?;
        let mut arguments = vec![self.plain_expression()?];
        while self.accept(Token::Comma)? {
            arguments.push(self.plain_expression()?);
        }
        self.expect(Token::RightParen, "`,` or `)`")?;
        Ok(arguments)
    }
}

/// The value of decimal digits; `None` if it is too large.
pub(super) fn number(digits: &str) -> Option<i32> {
    digits.bytes().try_fold(0i32, |value, digit| value.checked_mul(10)?.checked_add((digit - b'0') as i32))
}

/// How strongly operators bind that formulas have beside expressions, or that formulas call otherwise.
pub(super) const EQUIVALENCE: u8 = 1;
pub(super) const IMPLICATION: u8 = 2;
pub(super) const UNTIL: u8 = 5;

/// The binary operator that a token is, and how strongly it binds; 0 for a token that is none.
fn operator(token: Token) -> (Operator, u8) {
    use BinaryOp::*;
    let (op, precedence) = match token {
        Token::Imply => return (Operator::Imply, IMPLICATION),
        Token::OrOr => (Or, 3),
        Token::AndAnd => (And, 4),
        Token::Bar => (BitOr, 6),
        Token::Caret => (BitXor, 7),
        Token::Ampersand => (BitAnd, 8),
        Token::Equal => (Equal, 9),
        Token::NotEqual => (NotEqual, 9),
        Token::Less => (Less, 10),
        Token::LessEqual => (LessEqual, 10),
        Token::Greater => (Greater, 10),
        Token::GreaterEqual => (GreaterEqual, 10),
        Token::ShiftLeft => (ShiftLeft, 11),
        Token::ShiftRight => (ShiftRight, 11),
        Token::Plus => (Add, 12),
        Token::Minus => (Subtract, 12),
        Token::Star => (Multiply, 13),
        Token::Slash => (Divide, 13),
        Token::Percent => (Remainder, 13),
        _ => return (Operator::Imply, 0),
    };
    (Operator::Plain(op), precedence)
}
