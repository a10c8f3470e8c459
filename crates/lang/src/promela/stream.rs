//! The tokens as the grammar wants them: separators added where SPIN adds them, inlines replaced by their bodies.
//!
//! SPIN lets a line's end separate statements, and repairs a missing separator after `}` and `else`. Which statement a token
//! belongs to depends on that (`c?x`, then `!b` on the next line), so the rules here are exactly SPIN's.

use super::preprocess::{embedded_code, embeds_code, parameters_word};
use super::syntax::Reference;
use super::temporal;
use super::tokens::{Token, TokenKind};
use crate::diagnostic::{Place, Problem};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// How deep inlines may call inlines.
const MAX_INLINES: usize = 100;
/// Tokens that all calls of inlines may become.
const MAX_TOKENS: usize = 1 << 22;
/// Values up to which `select` between numbers is a choice among assignments.
const SMALL_SELECT: i64 = 32;

/// What the names that were declared so far are: the grammar depends on it.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub inlines: HashMap<Arc<str>, Rc<Inline>>,
    pub processes: HashSet<Arc<str>>,
    pub records: HashSet<Arc<str>>,
    /// The values of all mtypes.
    pub values: HashSet<Arc<str>>,
}

#[derive(Debug)]
pub(crate) struct Inline {
    pub parameters: Vec<Arc<str>>,
    /// With its braces.
    pub body: Vec<Token>,
}

#[derive(Debug)]
struct Frame {
    tokens: Vec<Token>,
    at: usize,
    inline: Option<Call>,
}

#[derive(Debug)]
struct Call {
    name: Arc<str>,
    /// Where the value of a `return` goes.
    result: Option<Reference>,
}

#[derive(Debug)]
pub(crate) struct Stream {
    pub known: Known,
    /// The model, and above it the bodies of inlines being read.
    frames: Vec<Frame>,
    /// Formulas, which are read after everything else.
    deferred: Vec<(Place, Vec<Token>)>,
    /// Between the braces of a process, claim or typedef: line ends may separate.
    pub in_sequence: bool,
    parentheses: u32,
    /// A line's end after the last token is a separator.
    separable: bool,
    /// The last token before separators were added was a `}`.
    brace: bool,
    /// The last token that was handed out was a `}` or an `else`.
    repair_brace: bool,
    repair_else: bool,
    held: Option<Token>,
    last_place: Place,
    expanded: usize,
}

impl Stream {
    pub fn new(tokens: Vec<Token>) -> Stream {
        Stream {
            known: Known::default(),
            frames: vec![Frame { tokens, at: 0, inline: None }],
            deferred: Vec::new(),
            in_sequence: false,
            parentheses: 0,
            separable: false,
            brace: false,
            repair_brace: false,
            repair_else: false,
            held: None,
            last_place: Place::default(),
            expanded: 0,
        }
    }

    /// The next token, separators added.
    pub fn next(&mut self) -> Result<Token, Problem> {
        let token = match self.held.take() {
            Some(held) => {
                self.remember(&held);
                held
            }
            None => {
                let token = self.lex()?;
                let separates = token.is(";") || token.is("->");
                let repair = (self.repair_else && !separates && !token.is("fi"))
                    || (self.repair_brace && !separates && !follows_brace(&token));
                if repair {
                    let separator = self.separator();
                    self.held = Some(token);
                    (self.repair_brace, self.repair_else) = (false, false);
                    return Ok(separator);
                }
                if separates {
                    let after = self.lex()?;
                    match after.is("}") || after.is("->") || after.is(";") {
                        true => after,
                        false => {
                            self.held = Some(after);
                            token
                        }
                    }
                } else {
                    token
                }
            }
        };
        self.repair_brace = token.is("}");
        self.repair_else = token.is("else");
        Ok(token)
    }

    /// The next token that is written or that a line's end makes.
    fn lex(&mut self) -> Result<Token, Problem> {
        loop {
            let Some(next) = self.raw() else { return Ok(self.end()) };
            if next.breaks && self.in_sequence && self.parentheses == 0 && self.separable {
                // After a brace, SPIN looks at one letter to see an `unless` coming.
                if !(self.brace && next.text.starts_with('u')) {
                    self.back();
                    (self.separable, self.brace) = (false, false);
                    return Ok(self.separator());
                }
            }
            if next.kind == TokenKind::Keyword {
                let written = !self.in_inline();
                if embeds_code(&next.text) {
                    return Err(embedded_code(next.place));
                } else if next.is("ltl") && written {
                    self.defer(next)?;
                    continue;
                } else if next.is("select") && written && self.replace_select(&next)? {
                    continue;
                }
            }
            self.parentheses = match &*next.text {
                "(" if next.kind == TokenKind::Mark => self.parentheses + 1,
                ")" if next.kind == TokenKind::Mark => self.parentheses.saturating_sub(1),
                _ => self.parentheses,
            };
            self.remember(&next);
            self.last_place = next.place;
            return Ok(next);
        }
    }

    fn remember(&mut self, token: &Token) {
        let known = &self.known;
        self.brace = token.is("}");
        self.separable = match token.kind {
            TokenKind::Number(_) => true,
            TokenKind::Name => {
                let name = &token.text;
                !known.inlines.contains_key(name) && !known.processes.contains(name) && !known.records.contains(name)
            }
            TokenKind::Keyword => matches!(&*token.text, "od" | "fi" | "else" | "break" | "timeout"),
            TokenKind::Mark => matches!(&*token.text, "}" | ")" | "]" | "++" | "--"),
            TokenKind::String | TokenKind::End => false,
        };
    }

    /// A separator that is not written, at the end of the last token.
    fn separator(&self) -> Token {
        let place = Place { start: self.last_place.end, end: self.last_place.end };
        Token { kind: TokenKind::Mark, text: ";".into(), place, breaks: false, joined: true }
    }

    fn end(&self) -> Token {
        let place = Place { start: self.last_place.end, end: self.last_place.end };
        Token { kind: TokenKind::End, text: "".into(), place, breaks: false, joined: false }
    }

    /// The next written token of the model or of the body being read.
    fn raw(&mut self) -> Option<Token> {
        loop {
            let outermost = self.frames.len() == 1;
            let frame = self.frames.last_mut()?;
            match frame.tokens.get(frame.at) {
                Some(token) if token.kind == TokenKind::End => return None,
                Some(token) => {
                    frame.at += 1;
                    return Some(token.clone());
                }
                None if outermost => return None,
                None => drop(self.frames.pop()),
            }
        }
    }

    /// Takes back the last call of `raw`.
    fn back(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at -= 1;
        }
    }

    pub fn in_inline(&self) -> bool {
        self.frames.iter().any(|frame| frame.inline.is_some())
    }

    /// Where a `return` puts its value.
    pub fn result(&self) -> Option<Reference> {
        self.frames.iter().rev().find_map(|frame| frame.inline.as_ref()).and_then(|call| call.result.clone())
    }

    /// Everything from the next `{` to its `}`, as it is written: the body of an inline.
    pub fn braced(&mut self) -> Result<Vec<Token>, Problem> {
        let mut out = Vec::new();
        let mut depth = 0;
        loop {
            let Some(token) = self.raw() else {
                return Err(Problem::new(self.last_place, "expected `}` after this"));
            };
            depth += token.is("{") as usize;
            if depth == 0 {
                return Err(Problem::new(token.place, format!("expected `{{`, found {}", token.described())));
            }
            depth -= token.is("}") as usize;
            self.last_place = token.place;
            out.push(token);
            if depth == 0 {
                return Ok(out);
            }
        }
    }

    fn defer(&mut self, keyword: Token) -> Result<(), Problem> {
        self.last_place = keyword.place;
        let mut tokens = Vec::new();
        // The name, if there is one.
        if let Some(name) = self.raw() {
            match name.is_name() {
                true => tokens.push(name),
                false => self.back(),
            }
        }
        tokens.extend(temporal::tokens(self.braced()?));
        self.deferred.push((keyword.place, tokens));
        Ok(())
    }

    /// The formulas of the model, each with the place of its keyword.
    pub fn deferred(&mut self) -> Vec<(Place, Vec<Token>)> {
        std::mem::take(&mut self.deferred)
    }

    /// Reads these tokens next.
    pub fn push(&mut self, tokens: Vec<Token>) {
        self.frames.push(Frame { tokens, at: 0, inline: None });
        (self.repair_brace, self.repair_else) = (false, false);
    }

    /// Reads the body of an inline next.
    pub fn call(
        &mut self,
        name: &Token,
        inline: &Inline,
        arguments: &[Vec<Token>],
        result: Option<Reference>,
    ) -> Result<(), Problem> {
        let calls = self.frames.iter().filter_map(|frame| frame.inline.as_ref());
        if calls.clone().any(|call| call.name == name.text) {
            return Err(Problem::new(name.place, format!("the inline `{}` calls itself", name.text)));
        }
        if calls.count() >= MAX_INLINES {
            return Err(Problem::new(name.place, format!("inlines are called more than {MAX_INLINES} deep")));
        }
        if inline.parameters.len() != arguments.len() {
            let (wanted, given) = (inline.parameters.len(), arguments.len());
            let message = format!("the inline `{}` has {wanted} {}, not {given}", name.text, parameters_word(wanted));
            return Err(Problem::new(name.place, message));
        }
        let mut tokens = Vec::with_capacity(inline.body.len());
        for token in &inline.body {
            let parameter = match token.is_name() && !self.known.values.contains(&token.text) {
                true => inline.parameters.iter().position(|parameter| *parameter == token.text),
                false => None,
            };
            match parameter {
                Some(index) => {
                    // The argument stands where the parameter is written, so that places within a statement agree.
                    let argument = arguments[index].iter().enumerate();
                    tokens.extend(argument.map(|(number, argument)| Token {
                        place: token.place,
                        breaks: number == 0 && token.breaks,
                        ..argument.clone()
                    }));
                }
                None => tokens.push(token.clone()),
            }
            if self.expanded + tokens.len() > MAX_TOKENS {
                let message = format!("the inlines of the model become more than {MAX_TOKENS} words and marks");
                return Err(Problem::new(name.place, message));
            }
        }
        self.expanded += tokens.len();
        self.frames.push(Frame { tokens, at: 0, inline: Some(Call { name: name.text.clone(), result }) });
        self.separable = false;
        Ok(())
    }

    /// `select` between two numbers, outside of inlines, is other statements; whether this is such a one.
    fn replace_select(&mut self, select: &Token) -> Result<bool, Problem> {
        let Some(frame) = self.frames.last_mut() else { return Ok(false) };
        let [open, name, colon, from, dots, to, close] = match frame.tokens.get(frame.at..frame.at + 7) {
            Some(tokens) => [0, 1, 2, 3, 4, 5, 6].map(|number| &tokens[number]),
            None => return Ok(false),
        };
        let marks = open.is("(") && colon.is(":") && dots.is("..") && close.is(")");
        let (TokenKind::Number(low), TokenKind::Number(high)) = (from.kind, to.kind) else { return Ok(false) };
        let digits = |token: &Token| token.text.bytes().all(|b| b.is_ascii_digit());
        if !marks || !name.is_name() || name.text.contains('_') || !digits(from) || !digits(to) {
            return Ok(false);
        }
        if low > high {
            return Err(Problem::new(select.place, "there is nothing to select between"));
        }
        let place = select.place.to(close.place);
        let words = match high - low <= SMALL_SELECT {
            true => {
                let options = (low..=high).map(|value| format!(":: {} = {value}", name.text));
                format!("if {} fi", options.collect::<Vec<_>>().join(" "))
            }
            false => format!("{0} = {low} ; do :: ( {0} < {high} ) -> {0} ++ :: break od ;", name.text),
        };
        let token = |word: &str| {
            let kind = match word.parse() {
                Ok(value) => TokenKind::Number(value),
                Err(_) if word == &*name.text => TokenKind::Name,
                Err(_) if word.starts_with(char::is_alphabetic) => TokenKind::Keyword,
                Err(_) => TokenKind::Mark,
            };
            Token { kind, text: word.into(), place, breaks: false, joined: false }
        };
        let tokens = words.split(' ').map(token).collect();
        frame.at += 7;
        self.frames.push(Frame { tokens, at: 0, inline: None });
        Ok(true)
    }
}

/// Tokens before which no separator is added after a `}`.
fn follows_brace(token: &Token) -> bool {
    let text = &*token.text;
    match token.kind {
        TokenKind::End => true,
        TokenKind::Keyword => matches!(text, "proctype" | "init" | "never" | "fi" | "od" | "unless"),
        TokenKind::Mark => matches!(text, "::" | "}" | "," | ")"),
        _ => false,
    }
}
