//! The words and signs of a network's text.

use crate::diagnostic::{Place, Problem};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Word,
    /// Within quotation marks.
    Text,
    /// `_`: does not take part.
    Nobody,
    Star,
    Arrow,
    Comma,
    Equals,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    /// `|||`
    Interleave,
    /// `||`
    Together,
    /// `|[` and `]|`
    LeftBar,
    RightBar,
    End,
}

const SIGNS: [(&str, Token); 12] = [
    ("|||", Token::Interleave),
    ("||", Token::Together),
    ("|[", Token::LeftBar),
    ("]|", Token::RightBar),
    ("->", Token::Arrow),
    ("*", Token::Star),
    (",", Token::Comma),
    ("=", Token::Equals),
    ("{", Token::LeftBrace),
    ("}", Token::RightBrace),
    ("(", Token::LeftParen),
    (")", Token::RightParen),
];

/// All tokens with their places, ended by [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Place)>, Problem> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at = skip(text, at)?;
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { break };
        let (token, length) = if first == '"' {
            (Token::Text, quoted(rest).ok_or_else(|| open_quote(at, rest))?)
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (if &rest[..end] == "_" { Token::Nobody } else { Token::Word }, end)
        } else if let Some((sign, token)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            (*token, sign.len())
        } else {
            let place = place(at, at + first.len_utf8());
            return Err(Problem::new(place, format!("unexpected character `{}`", first.escape_debug()))
                .help("put labels that are not plain words in double quotes"));
        };
        tokens.push((token, place(at, at + length)));
        at += length;
    }
    tokens.push((Token::End, place(text.len(), text.len())));
    Ok(tokens)
}

fn place(start: usize, end: usize) -> Place {
    Place { start: start as u32, end: end as u32 }
}

fn open_quote(at: usize, rest: &str) -> Problem {
    let line = rest.lines().next().map_or(1, str::len);
    Problem::new(place(at, at + line), "this text has no closing `\"` on its line")
}

/// Bytes up to and with the closing quotation mark, on the same line.
fn quoted(rest: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            b'\n' => return None,
            b'"' if !escaped => return Some(at + 1),
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    None
}

/// The end of the blanks and comments that begin at `at`: `// …`, `-- …` and `(* … *)`.
fn skip(text: &str, mut at: usize) -> Result<usize, Problem> {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            at += blank;
        } else if rest.starts_with("//") || rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("(*") {
            let end =
                rest.find("*)").ok_or_else(|| Problem::new(place(at, at + 2), "this comment is not closed by `*)`"))?;
            at += end + 2;
        } else {
            return Ok(at);
        }
    }
}
