//! From characters to tokens, for models and for properties alike.
//!
//! Tokens are produced on demand and own nothing: a word or number is a stretch of the text. The lexer is small enough to
//! copy, which is how the parser looks ahead. Columns count characters, so bytes that continue one are subtracted.

use crate::diagnostic::{Place, Problem};
use scrimp_system::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a keyword; which of the two depends on where it stands.
    Word,
    Number,
    /// A text in double quotes.
    Text,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    LeftBracket,
    RightBracket,
    Comma,
    Semicolon,
    Colon,
    Dot,
    DotDot,
    Arrow,
    At,
    Question,
    Bang,
    Tilde,
    Assign,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Ampersand,
    AndAnd,
    Bar,
    OrOr,
    Caret,
    End,
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexeme {
    pub token: Token,
    pub start: u32,
    pub end: u32,
    pub line: u32,
    pub column: u32,
}

impl Lexeme {
    pub fn place(self) -> Place {
        Place { start: self.start, end: self.end }
    }

    /// From the start of this token to the byte `end`.
    pub fn span_to(self, end: u32) -> Span {
        Span { start: self.start, end, line: self.line, column: self.column }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    /// Start of the line, plus the bytes of it that begin no character.
    line_origin: usize,
}

impl<'t> Lexer<'t> {
    /// Reads `text[start..end]`, whose first character stands in line `line`, at its beginning.
    pub fn new(text: &'t str, start: usize, end: usize, line: u32) -> Lexer<'t> {
        Lexer { text: &text.as_bytes()[..end], at: start, line, line_origin: start }
    }

    pub fn next(&mut self) -> Result<Lexeme, Problem> {
        self.skip_blanks()?;
        let start = self.at;
        let (line, column) = (self.line, (start - self.line_origin) as u32 + 1);
        let token = self.token()?;
        Ok(Lexeme { token, start: start as u32, end: self.at as u32, line, column })
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Passes one byte, keeping count of lines and columns.
    fn pass(&mut self) {
        match self.text[self.at] {
            b'\n' => {
                self.line += 1;
                self.line_origin = self.at + 1;
            }
            0x80..=0xbf => self.line_origin += 1,
            _ => {}
        }
        self.at += 1;
    }

    fn skip_blanks(&mut self) -> Result<(), Problem> {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => self.pass(),
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.peek(1) == b'/' => {
                    while self.at < self.text.len() && self.text[self.at] != b'\n' {
                        self.pass();
                    }
                }
                b'/' if self.peek(1) == b'*' => {
                    let start = self.at;
                    self.at += 2;
                    while !(self.peek(0) == b'*' && self.peek(1) == b'/') {
                        if self.at >= self.text.len() {
                            let place = Place { start: start as u32, end: start as u32 + 2 };
                            return Err(Problem::new(place, "this comment never ends").help("close it with `*/`"));
                        }
                        self.pass();
                    }
                    self.at += 2;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn token(&mut self) -> Result<Token, Problem> {
        let Some(&byte) = self.text.get(self.at) else { return Ok(Token::End) };
        if byte.is_ascii_alphabetic() || byte == b'_' {
            self.skip_word();
            return Ok(Token::Word);
        }
        if byte.is_ascii_digit() {
            return self.number();
        }
        if byte == b'"' {
            return self.quoted();
        }
        let (token, length) = match (byte, self.peek(1)) {
            (b'-', b'>') => (Token::Arrow, 2),
            (b'&', b'&') => (Token::AndAnd, 2),
            (b'|', b'|') => (Token::OrOr, 2),
            (b'=', b'=') => (Token::Equal, 2),
            (b'!', b'=') => (Token::NotEqual, 2),
            (b'<', b'=') => (Token::LessEqual, 2),
            (b'>', b'=') => (Token::GreaterEqual, 2),
            (b'<', b'<') => (Token::ShiftLeft, 2),
            (b'>', b'>') => (Token::ShiftRight, 2),
            (b'.', b'.') => (Token::DotDot, 2),
            (b'(', _) => (Token::LeftParen, 1),
            (b')', _) => (Token::RightParen, 1),
            (b'{', _) => (Token::LeftBrace, 1),
            (b'}', _) => (Token::RightBrace, 1),
            (b'[', _) => (Token::LeftBracket, 1),
            (b']', _) => (Token::RightBracket, 1),
            (b',', _) => (Token::Comma, 1),
            (b';', _) => (Token::Semicolon, 1),
            (b':', _) => (Token::Colon, 1),
            (b'.', _) => (Token::Dot, 1),
            (b'@', _) => (Token::At, 1),
            (b'?', _) => (Token::Question, 1),
            (b'!', _) => (Token::Bang, 1),
            (b'~', _) => (Token::Tilde, 1),
            (b'=', _) => (Token::Assign, 1),
            (b'<', _) => (Token::Less, 1),
            (b'>', _) => (Token::Greater, 1),
            (b'+', _) => (Token::Plus, 1),
            (b'-', _) => (Token::Minus, 1),
            (b'*', _) => (Token::Star, 1),
            (b'/', _) => (Token::Slash, 1),
            (b'%', _) => (Token::Percent, 1),
            (b'&', _) => (Token::Ampersand, 1),
            (b'|', _) => (Token::Bar, 1),
            (b'^', _) => (Token::Caret, 1),
            _ => return Err(self.stray()),
        };
        self.at += length;
        Ok(token)
    }

    fn skip_word(&mut self) {
        while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == b'_' {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Result<Token, Problem> {
        let start = self.at;
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
        if self.peek(0).is_ascii_alphabetic() || self.peek(0) == b'_' {
            self.skip_word();
            let place = Place { start: start as u32, end: self.at as u32 };
            return Err(Problem::new(place, "a name cannot begin with a digit, and numbers are decimal"));
        }
        Ok(Token::Number)
    }

    fn quoted(&mut self) -> Result<Token, Problem> {
        let start = self.at;
        self.at += 1;
        while self.peek(0) != b'"' {
            if self.at >= self.text.len() || self.text[self.at] == b'\n' {
                let place = Place { start: start as u32, end: start as u32 + 1 };
                return Err(Problem::new(place, "this text never ends").help("close it with `\"` on the same line"));
            }
            self.pass();
        }
        self.at += 1;
        Ok(Token::Text)
    }

    fn stray(&self) -> Problem {
        let rest = &self.text[self.at..];
        // The text is UTF-8, so a character's bytes are all there unless the range to read ends within it.
        let length = (1..=rest.len().min(4)).find(|&n| std::str::from_utf8(&rest[..n]).is_ok()).unwrap_or(1);
        let character = String::from_utf8_lossy(&rest[..length]).chars().next().unwrap_or(' ');
        let place = Place { start: self.at as u32, end: (self.at + length) as u32 };
        Problem::new(place, format!("unexpected character `{}`", character.escape_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(Token, u32, u32)> {
        let mut lexer = Lexer::new(text, 0, text.len(), 1);
        let mut out = Vec::new();
        loop {
            let lexeme = lexer.next().unwrap();
            if lexeme.token == Token::End {
                return out;
            }
            out.push((lexeme.token, lexeme.line, lexeme.column));
        }
    }

    #[test]
    fn the_longest_token_wins() {
        let kinds: Vec<Token> = tokens("a->b<<=1..3").into_iter().map(|t| t.0).collect();
        use Token::*;
        assert_eq!(kinds, [Word, Arrow, Word, ShiftLeft, Assign, Number, DotDot, Number]);
    }

    #[test]
    fn lines_and_columns() {
        let text = "/* é\n é */ x // end\n\ty";
        assert_eq!(tokens(text), [(Token::Word, 2, 7), (Token::Word, 3, 2)]);
    }

    #[test]
    fn what_does_not_end_is_an_error() {
        for text in ["/* x", "/*/", "\"x", "\"x\ny\""] {
            let mut lexer = Lexer::new(text, 0, text.len(), 1);
            assert!(lexer.next().is_err(), "{text}");
        }
    }

    #[test]
    fn strange_characters_are_errors() {
        for text in ["é", "$", "12ab", "\u{7}", "#"] {
            let mut lexer = Lexer::new(text, 0, text.len(), 1);
            assert!(lexer.next().is_err(), "{text}");
        }
    }
}
