//! The tokens of an LTL formula: in one, `[]`, `<>` and `->` are operators, and some words are too.

use super::tokens::{Token, TokenKind};
use crate::diagnostic::Place;

/// Rewrites the tokens so that each operator is one mark: `[]`, `<>`, `X`, `U`, `W`, `V`, `=>` and `<->`.
pub(crate) fn tokens(written: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(written.len());
    for token in written {
        let before = out.last().filter(|before| before.kind == TokenKind::Mark && token.joined);
        let joined = match (before.map(|before| &*before.text), &*token.text) {
            (Some("["), "]") => Some("[]"),
            (Some("<"), ">") => Some("<>"),
            (Some("<"), "->") => Some("<->"),
            (Some("/"), "\\") => Some("&&"),
            (Some("\\"), "/") => Some("||"),
            _ => None,
        };
        let (mark, place) = match joined {
            Some(mark) => match out.pop() {
                Some(first) => (Some(mark), Place { start: first.place.start, end: token.place.end }),
                None => (Some(mark), token.place),
            },
            None => (operator(&token), token.place),
        };
        out.push(match mark {
            Some(mark) => Token { kind: TokenKind::Mark, text: mark.into(), place, ..token },
            None => token,
        });
    }
    out
}

fn operator(token: &Token) -> Option<&'static str> {
    if token.is("->") {
        return Some("=>");
    }
    if !token.is_name() {
        return None;
    }
    Some(match &*token.text {
        "X" | "next" => "X",
        "U" | "until" | "stronguntil" => "U",
        "W" | "weakuntil" => "W",
        "V" | "release" => "V",
        "always" => "[]",
        "eventually" => "<>",
        "implies" => "=>",
        "equivalent" => "<->",
        _ => return None,
    })
}
