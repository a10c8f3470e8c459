//! The words of the text, with their places.

use std::fmt;

/// What is wrong with a text, and where: lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoaError {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl fmt::Display for HoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for HoaError {}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// `HOA:` and the like, without the colon.
    Header(String),
    Name(String),
    /// `@name`.
    Alias(String),
    Number(usize),
    Text(String),
    Sign(char),
    /// `--BODY--` and the like, without the lines.
    Mark(String),
    End,
}

pub(crate) struct Placed {
    pub word: Word,
    pub line: usize,
    pub column: usize,
}

impl Placed {
    pub fn error(&self, message: impl Into<String>) -> HoaError {
        HoaError { line: self.line, column: self.column, message: message.into() }
    }
}

struct Lexer<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    line: usize,
    column: usize,
}

/// The words of a text, of which the last says that it ends.
pub(crate) fn words(text: &str) -> Result<Vec<Placed>, HoaError> {
    let mut lexer = Lexer { rest: text.chars().peekable(), line: 1, column: 1 };
    let mut words = Vec::new();
    loop {
        lexer.skip()?;
        let (line, column) = (lexer.line, lexer.column);
        let word = lexer.word()?;
        let last = word == Word::End;
        words.push(Placed { word, line, column });
        if last {
            return Ok(words);
        }
    }
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        if next == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(next)
    }

    fn error(&self, message: impl Into<String>) -> HoaError {
        HoaError { line: self.line, column: self.column, message: message.into() }
    }

    fn while_is(&mut self, is: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(&next) = self.rest.peek()
            && is(next)
        {
            text.push(next);
            self.next();
        }
        text
    }

    /// Passes over spaces and comments, which may be nested.
    fn skip(&mut self) -> Result<(), HoaError> {
        loop {
            self.while_is(char::is_whitespace);
            let mut ahead = self.rest.clone();
            if (ahead.next(), ahead.next()) != (Some('/'), Some('*')) {
                return Ok(());
            }
            let begin = self.error("this comment is not closed");
            let mut depth = 0usize;
            let mut before = ' ';
            loop {
                let now = self.next().ok_or_else(|| begin.clone())?;
                match (before, now) {
                    ('/', '*') => depth += 1,
                    ('*', '/') => depth -= 1,
                    _ => {
                        before = now;
                        continue;
                    }
                }
                before = ' ';
                if depth == 0 {
                    break;
                }
            }
        }
    }

    fn word(&mut self) -> Result<Word, HoaError> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let Some(&first) = self.rest.peek() else { return Ok(Word::End) };
        Ok(match first {
            '"' => Word::Text(self.text()?),
            '0'..='9' => {
                let digits = self.while_is(|c| c.is_ascii_digit());
                Word::Number(digits.parse().map_err(|_| self.error(format!("{digits} is too large a number")))?)
            }
            '@' => {
                self.next();
                Word::Alias(self.while_is(is_name))
            }
            '-' => {
                let wrong = self.error("unexpected '-'");
                let line = |lexer: &mut Self| lexer.next() == Some('-') && lexer.next() == Some('-');
                let begun = line(self);
                let mark = self.while_is(|c| c.is_ascii_alphabetic());
                if !begun || !line(self) {
                    return Err(wrong);
                }
                Word::Mark(mark)
            }
            _ if first.is_ascii_alphabetic() || first == '_' => {
                let name = self.while_is(is_name);
                if self.rest.peek() == Some(&':') {
                    self.next();
                    Word::Header(name)
                } else {
                    Word::Name(name)
                }
            }
            '[' | ']' | '{' | '}' | '(' | ')' | '!' | '&' | '|' => {
                self.next();
                Word::Sign(first)
            }
            _ => return Err(self.error(format!("unexpected '{first}'"))),
        })
    }

    fn text(&mut self) -> Result<String, HoaError> {
        let begin = self.error("this text is not closed");
        self.next();
        let mut text = String::new();
        loop {
            match self.next().ok_or_else(|| begin.clone())? {
                '"' => return Ok(text),
                '\\' => text.push(self.next().ok_or_else(|| begin.clone())?),
                other => text.push(other),
            }
        }
    }
}
