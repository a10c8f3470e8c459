//! From characters to tokens, for models and for properties alike.
//!
//! Tokens are produced on demand and own nothing: a word or number is a stretch of the text. The lexer is small enough to
//! copy, which is how the parser looks ahead. It does not count lines: few places are ever shown, see [`crate::lines`].

use crate::diagnostic::{Place, Problem};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a keyword; which of the two depends on where it stands.
    Word,
    /// Words that mean something inside an expression and so can never be names. `and` and `or` are `AndAnd` and `OrOr`.
    Not,
    Imply,
    True,
    False,
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
    /// No token begins here; [`Lexer::problem`] says why.
    Wrong,
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub token: Token,
    pub start: u32,
    pub end: u32,
}

impl Lexeme {
    /// No token yet, at the byte `start`.
    pub fn nothing(start: usize) -> Lexeme {
        Lexeme { token: Token::End, start: start as u32, end: start as u32 }
    }

    pub fn place(self) -> Place {
        Place { start: self.start, end: self.end }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
}

/// What a token that begins with a certain byte can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Letter,
    Digit,
    /// A token of its own, whatever follows.
    Mark,
    /// A token of its own or, with one certain byte after it, another.
    Pair,
    Other,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => Class::Blank,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            byte if !matches!(single(byte), Token::Wrong) => Class::Mark,
            byte if !matches!(double(byte).0, Token::Wrong) => Class::Pair,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// The tokens of class `Mark`.
static MARKS: [Token; 256] = {
    let mut marks = [Token::Wrong; 256];
    let mut byte = 0;
    while byte < 256 {
        marks[byte] = single(byte as u8);
        byte += 1;
    }
    marks
};

/// The tokens of class `Pair`.
static PAIRS: [(Token, u8, Token); 256] = {
    let mut pairs = [double(0); 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = double(byte as u8);
        byte += 1;
    }
    pairs
};

impl<'t> Lexer<'t> {
    /// Reads `text[start..end]`.
    pub fn new(text: &'t str, start: usize, end: usize) -> Lexer<'t> {
        Lexer { text: &text.as_bytes()[..end], at: start }
    }

    /// Finds the next token. It is written where it is wanted, field by field, because there are very many.
    pub fn next(&mut self, out: &mut Lexeme) {
        let text = self.text;
        let mut at = self.at;
        let (token, start) = loop {
            let start = at;
            let Some(&byte) = text.get(at) else { break (Token::End, start) };
            at += 1;
            // Tests in the order of how often they succeed are quicker than a jump.
            let class = CLASSES[byte as usize];
            if class == Class::Blank {
                continue;
            }
            if class == Class::Mark {
                break (MARKS[byte as usize], start);
            }
            if class == Class::Letter {
                at = skip(text, at, |class| matches!(class, Class::Letter | Class::Digit));
                break (word(&text[start..at]), start);
            }
            if class == Class::Digit {
                at = skip(text, at, |class| class == Class::Digit);
                let end = skip(text, at, |class| matches!(class, Class::Letter | Class::Digit));
                let token = if end == at { Token::Number } else { Token::Wrong };
                at = end;
                break (token, start);
            }
            let next = text.get(at).copied().unwrap_or(0);
            if class == Class::Pair {
                let (single, second, double) = PAIRS[byte as usize];
                let is_double = next == second;
                at += is_double as usize;
                break (if is_double { double } else { single }, start);
            }
            if byte == b'"' || byte == b'/' && matches!(next, b'/' | b'*') {
                let (token, end) = long(text, start);
                at = end;
                match token {
                    Some(token) => break (token, start),
                    None => continue,
                }
            }
            let (token, length) = other(byte, next);
            at = start + length;
            break (token, start);
        };
        self.at = at;
        out.token = token;
        out.start = start as u32;
        out.end = at as u32;
    }

    /// What is wrong where a [`Token::Wrong`] stands.
    #[cold]
    pub fn problem(&self, wrong: Lexeme) -> Problem {
        let place = wrong.place();
        let rest = &self.text[wrong.start as usize..];
        match rest {
            [b'/', ..] => Problem::new(place, "this comment is not closed").help("close it with `*/`"),
            [b'"', ..] => Problem::new(place, "this text is not closed").help("close it with `\"` on the same line"),
            [b'0'..=b'9', ..] => Problem::new(place, "expected a name or a decimal number"),
            _ => {
                // The text is UTF-8, so a character's bytes are all there unless the range to read ends within it.
                let length = (1..=rest.len().min(4)).find(|&n| std::str::from_utf8(&rest[..n]).is_ok()).unwrap_or(1);
                let character = String::from_utf8_lossy(&rest[..length]).chars().next().unwrap_or(' ');
                let shown = match character.is_control() {
                    true => character.escape_default().to_string(),
                    false => character.to_string(),
                };
                let place = Place { end: wrong.start + length as u32, ..place };
                let problem = Problem::new(place, format!("unexpected character `{shown}`"));
                match character {
                    '#' => problem.help("there is no preprocessor; declare constants: `const int N = 2;`"),
                    '\\' => problem.help("write `&&` for and, `||` for or, `!` for not"),
                    _ => problem,
                }
            }
        }
    }
}

/// The first byte from `at` on that is not of a wanted class.
fn skip(text: &[u8], at: usize, wanted: impl Fn(Class) -> bool) -> usize {
    let mut at = at;
    while text.get(at).is_some_and(|b| wanted(CLASSES[*b as usize])) {
        at += 1;
    }
    at
}

/// The comment or quoted text that begins at `start`, and where it ends; comments are no token.
#[inline(never)]
fn long(text: &[u8], start: usize) -> (Option<Token>, usize) {
    let rest = &text[start..];
    let length = match rest {
        [b'/', b'/', ..] => return (None, start + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())),
        [b'/', ..] => match rest[2..].windows(2).position(|pair| pair == b"*/") {
            Some(length) => return (None, start + length + 4),
            None => return (Some(Token::Wrong), start + 2),
        },
        _ => rest[1..].iter().position(|b| matches!(b, b'"' | b'\n')).unwrap_or(rest.len()) + 1,
    };
    match rest.get(length) {
        Some(b'"') => (Some(Token::Text), start + length + 1),
        _ => (Some(Token::Wrong), start + 1),
    }
}

fn word(spelling: &[u8]) -> Token {
    match spelling {
        b"and" => Token::AndAnd,
        b"or" => Token::OrOr,
        b"not" => Token::Not,
        b"imply" => Token::Imply,
        b"true" => Token::True,
        b"false" => Token::False,
        _ => Token::Word,
    }
}

/// The token that `byte` is whatever follows, or else `Wrong`.
const fn single(byte: u8) -> Token {
    match byte {
        b'(' => Token::LeftParen,
        b')' => Token::RightParen,
        b'{' => Token::LeftBrace,
        b'}' => Token::RightBrace,
        b'[' => Token::LeftBracket,
        b']' => Token::RightBracket,
        b',' => Token::Comma,
        b';' => Token::Semicolon,
        b':' => Token::Colon,
        b'@' => Token::At,
        b'?' => Token::Question,
        b'~' => Token::Tilde,
        b'+' => Token::Plus,
        b'*' => Token::Star,
        b'%' => Token::Percent,
        b'^' => Token::Caret,
        _ => Token::Wrong,
    }
}

/// The token that `byte` is unless a certain other byte follows, that byte, and the token that the two are then.
const fn double(byte: u8) -> (Token, u8, Token) {
    match byte {
        b'.' => (Token::Dot, b'.', Token::DotDot),
        b'-' => (Token::Minus, b'>', Token::Arrow),
        b'!' => (Token::Bang, b'=', Token::NotEqual),
        b'=' => (Token::Assign, b'=', Token::Equal),
        b'&' => (Token::Ampersand, b'&', Token::AndAnd),
        b'|' => (Token::Bar, b'|', Token::OrOr),
        _ => (Token::Wrong, 0, Token::Wrong),
    }
}

/// What begins like nothing else: the token and its length.
fn other(byte: u8, next: u8) -> (Token, usize) {
    match (byte, next) {
        (b'<', b'<') => (Token::ShiftLeft, 2),
        (b'>', b'>') => (Token::ShiftRight, 2),
        (b'<', b'=') => (Token::LessEqual, 2),
        (b'>', b'=') => (Token::GreaterEqual, 2),
        (b'<', _) => (Token::Less, 1),
        (b'>', _) => (Token::Greater, 1),
        (b'/', _) => (Token::Slash, 1),
        _ => (Token::Wrong, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(Token, &str)> {
        let mut lexer = Lexer::new(text, 0, text.len());
        let mut out = Vec::new();
        loop {
            let mut found = Lexeme::nothing(0);
            lexer.next(&mut found);
            if found.token == Token::End {
                return out;
            }
            out.push((found.token, text.get(found.start as usize..found.end as usize).unwrap_or_default()));
        }
    }

    #[test]
    fn the_longest_token_wins() {
        let kinds: Vec<Token> = tokens("a->b<<=1..3").into_iter().map(|t| t.0).collect();
        use Token::*;
        assert_eq!(kinds, [Word, Arrow, Word, ShiftLeft, Assign, Number, DotDot, Number]);
    }

    #[test]
    fn comments_and_blanks_are_no_tokens() {
        assert_eq!(tokens("/* é\n é **/ x // end\n\ty/**/z//"), ["x", "y", "z"].map(|word| (Token::Word, word)));
    }

    #[test]
    fn operators_can_be_words() {
        let kinds: Vec<Token> = tokens("and or not imply true false ands").into_iter().map(|t| t.0).collect();
        use Token::*;
        assert_eq!(kinds, [AndAnd, OrOr, Not, Imply, True, False, Word]);
    }

    #[test]
    fn what_does_not_end_is_wrong() {
        for text in ["/* x", "/*/", "\"x", "\"x\ny\"", "/*", "\""] {
            assert_eq!(tokens(text)[0].0, Token::Wrong, "{text}");
        }
    }

    #[test]
    fn strange_characters_are_wrong() {
        for text in ["é", "$", "12ab", "\u{7}", "#", "\0"] {
            assert_eq!(tokens(text)[0].0, Token::Wrong, "{text}");
        }
    }
}
