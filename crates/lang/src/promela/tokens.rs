//! From the pieces that the preprocessor leaves to the tokens of Promela.

use super::preprocess::{Piece, PieceKind};
use crate::diagnostic::{Place, Problem};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Name,
    Keyword,
    /// Also `true`, `false`, `skip` and a character: they are numbers in every way.
    Number(i64),
    /// With its quotes.
    String,
    Mark,
    End,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub text: Arc<str>,
    pub place: Place,
    /// It is the first on its line.
    pub breaks: bool,
    /// Nothing stands between it and the token before it.
    pub joined: bool,
}

impl Token {
    /// Whether it is this keyword or mark.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, TokenKind::Keyword | TokenKind::Mark) && &*self.text == text
    }

    pub fn is_name(&self) -> bool {
        self.kind == TokenKind::Name
    }

    /// How a message speaks of it.
    pub fn described(&self) -> String {
        match self.kind {
            TokenKind::End => "the end of the model".into(),
            _ => format!("`{}`", self.text),
        }
    }
}

const KEYWORDS: &[&str] = &[
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "D_proctype",
    "do",
    "chan",
    "else",
    "empty",
    "enabled",
    "eval",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "return",
    "run",
    "d_step",
    "select",
    "set_priority",
    "short",
    "timeout",
    "trace",
    "show",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
];

/// The tokens; the last one is the end.
pub(crate) fn tokens(pieces: Vec<Piece>) -> Result<Vec<Token>, Problem> {
    let mut out = Vec::with_capacity(pieces.len());
    let mut pieces = pieces.into_iter().peekable();
    // A line began before what was left out.
    let mut breaks = false;
    while let Some(mut piece) = pieces.next() {
        // As in SPIN, the end of a comment that is none is nothing: comments may seem to be nested.
        if piece.is("*") && pieces.next_if(|next| next.is("/") && !next.space && !next.breaks).is_some() {
            breaks |= piece.breaks;
            continue;
        }
        piece.breaks |= std::mem::take(&mut breaks);
        let piece = &piece;
        let kind = match piece.kind {
            PieceKind::Name => word(&piece.text),
            PieceKind::Number => {
                number(piece, &mut out);
                continue;
            }
            PieceKind::String => TokenKind::String,
            PieceKind::Character => TokenKind::Number(character(piece)?),
            PieceKind::Mark => mark(piece)?,
            PieceKind::LineEnd => continue,
            PieceKind::End => TokenKind::End,
        };
        let joined = !piece.space && !piece.breaks;
        out.push(Token { kind, text: piece.text.clone(), place: piece.place, breaks: piece.breaks, joined });
    }
    Ok(out)
}

fn word(text: &str) -> TokenKind {
    match text {
        "true" | "skip" => TokenKind::Number(1),
        "false" => TokenKind::Number(0),
        _ if KEYWORDS.contains(&text) => TokenKind::Keyword,
        _ => TokenKind::Name,
    }
}

/// What C's preprocessor takes for one number may be several tokens: `0..N`.
fn number(piece: &Piece, out: &mut Vec<Token>) {
    let text = &*piece.text;
    // Places within the piece are right only where it was written as it is read.
    let exact = (piece.place.end - piece.place.start) as usize == text.len();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let run = |part: fn(&u8) -> bool| rest.bytes().take_while(&part).count();
        let digits = run(u8::is_ascii_digit);
        let letters = run(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let (length, kind) = match (digits, letters) {
            // As SPIN does, a number that is too large loses its upper bits.
            (1.., _) => (digits, TokenKind::Number(rest[..digits].parse().unwrap_or(i64::MAX) as i32 as i64)),
            (0, 1..) => (letters, word(&rest[..letters])),
            _ if rest.starts_with("..") => (2, TokenKind::Mark),
            _ => (1, TokenKind::Mark),
        };
        let start = piece.place.start + at as u32;
        let place = if exact { Place { start, end: start + length as u32 } } else { piece.place };
        let text = if length == text.len() { piece.text.clone() } else { rest[..length].into() };
        let first = at == 0;
        let joined = !first || !(piece.space || piece.breaks);
        out.push(Token { kind, text, place, breaks: first && piece.breaks, joined });
        at += length;
    }
}

fn character(piece: &Piece) -> Result<i64, Problem> {
    let inside: Vec<char> = piece.text.chars().collect();
    let value = match inside[..] {
        ['\'', '\\', c, '\''] => match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\x0c',
            c => c,
        },
        ['\'', c, '\''] if c != '\\' => c,
        _ => return Err(Problem::new(piece.place, "expected one character between single quotes")),
    };
    Ok(value as i64)
}

fn mark(piece: &Piece) -> Result<TokenKind, Problem> {
    match &*piece.text {
        "\"" => Err(Problem::new(piece.place, "this string does not end on its line")),
        "'" => Err(Problem::new(piece.place, "this character has no second quote")),
        "#" | "##" => Err(Problem::new(piece.place, "a `#` may only stand at the beginning of a line")),
        "\\" => Err(Problem::new(piece.place, "unexpected `\\`").help("write `&&` for and, `||` for or, `!` for not")),
        "$" | "`" => Err(Problem::new(piece.place, format!("unexpected `{}`", piece.text))),
        text if text.is_ascii() => Ok(TokenKind::Mark),
        text => Err(Problem::new(piece.place, format!("unexpected `{text}`"))),
    }
}
