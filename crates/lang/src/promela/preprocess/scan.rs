//! From bytes to the pieces that the preprocessor works on: names, numbers, strings and marks, without comments.

use crate::diagnostic::{Place, Problem};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Name,
    /// As C's preprocessor sees numbers: it begins with a digit, and letters and dots may follow, as in `0..N`.
    Number,
    /// With its quotes.
    String,
    /// With its quotes.
    Character,
    Mark,
    LineEnd,
    End,
}

#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub kind: PieceKind,
    pub text: Arc<str>,
    pub place: Place,
    /// White space stands before it.
    pub space: bool,
    /// It is the first on its line.
    pub breaks: bool,
    /// The name of a macro that must not be expanded again.
    pub painted: bool,
}

impl Piece {
    pub fn is(&self, mark: &str) -> bool {
        self.kind == PieceKind::Mark && &*self.text == mark
    }
}

/// One `Arc` for each spelling.
#[derive(Debug, Default)]
pub(crate) struct Spellings(HashSet<Arc<str>>);

impl Spellings {
    pub fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.0.insert(new.clone());
        new
    }
}

/// Marks of two characters that are one token in C or in Promela.
const PAIRS: [&[u8; 2]; 16] =
    [b"::", b"->", b"--", b"++", b"<<", b">>", b"<=", b">=", b"==", b"!=", b"!!", b"??", b"&&", b"||", b"..", b"##"];

/// The piece at byte `at`, which moves behind it.
pub(crate) fn scan(text: &str, at: &mut usize, end: usize, spellings: &mut Spellings) -> Result<Piece, Problem> {
    let bytes = &text.as_bytes()[..end];
    let blank = *at;
    skip_blanks(bytes, at)?;
    let start = *at;
    // A line end in a comment or after a backslash ends no directive, but what follows stands on a new line.
    let (space, breaks) = (start > blank, bytes[blank..start].contains(&b'\n'));
    let kind = match bytes.get(start) {
        None => PieceKind::End,
        Some(b'\n') => {
            *at += 1;
            PieceKind::LineEnd
        }
        Some(b) if is_name_start(*b) => {
            skip_word(bytes, at, |_, b| is_name_part(b));
            PieceKind::Name
        }
        Some(b) if b.is_ascii_digit() || (*b == b'.' && begins_fraction(bytes, start)) => {
            skip_word(bytes, at, |before, b| {
                is_name_part(b)
                    || b == b'.'
                    || (matches!(b, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P'))
            });
            PieceKind::Number
        }
        Some(quote @ (b'"' | b'\'')) => match quoted(bytes, start, *quote) {
            Some(after) => {
                *at = after;
                if *quote == b'"' { PieceKind::String } else { PieceKind::Character }
            }
            // As with gcc, a quote without its partner is a mark; it is an error only where it matters.
            None => {
                *at += 1;
                PieceKind::Mark
            }
        },
        Some(_) => {
            let pair = bytes[start..].first_chunk::<2>().is_some_and(|pair| PAIRS.contains(&pair));
            *at += if pair { 2 } else { text[start..].chars().next().map_or(1, char::len_utf8) };
            PieceKind::Mark
        }
    };
    let written = &text[start..*at];
    let spliced = kind != PieceKind::LineEnd && written.contains('\n');
    let word = if spliced { spellings.get(&without_splices(written)) } else { spellings.get(written) };
    let place = Place { start: start as u32, end: *at as u32 };
    Ok(Piece { kind, text: word, place, space, breaks, painted: false })
}

fn is_name_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

fn is_name_part(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// Whether the dot at `at` begins a number; the second of two dots does not, as in `0 ..5`.
fn begins_fraction(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + 1).is_some_and(u8::is_ascii_digit) && !(at > 0 && bytes[at - 1] == b'.')
}

/// The byte behind a backslash and the line end after it, which C takes out of the text.
fn splice(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'\\') {
        return None;
    }
    let blanks = bytes[at + 1..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    (bytes.get(at + 1 + blanks) == Some(&b'\n')).then_some(at + 2 + blanks)
}

fn without_splices(written: &str) -> String {
    let bytes = written.as_bytes();
    let mut out = String::new();
    let (mut at, mut from) = (0, 0);
    while at < bytes.len() {
        match splice(bytes, at) {
            Some(after) => {
                out.push_str(&written[from..at]);
                (at, from) = (after, after);
            }
            None => at += 1,
        }
    }
    out.push_str(&written[from..]);
    out
}

/// Moves over a word; `part` tells whether a byte, with the one before it, belongs to it.
fn skip_word(bytes: &[u8], at: &mut usize, part: impl Fn(u8, u8) -> bool) {
    let mut before = b' ';
    loop {
        let next = splice(bytes, *at).unwrap_or(*at);
        match bytes.get(next) {
            Some(b) if part(before, *b) => {
                before = *b;
                *at = next + 1;
            }
            _ => return,
        }
    }
}

/// The byte behind a string or character constant that begins at `start`, if it ends on its line.
fn quoted(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    loop {
        if let Some(after) = splice(bytes, at) {
            at = after;
            continue;
        }
        match *bytes.get(at)? {
            b'\n' => return None,
            b'\\' => at += 2,
            b if b == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Moves over blanks, comments and spliced line ends, but not over a line's end.
fn skip_blanks(bytes: &[u8], at: &mut usize) -> Result<(), Problem> {
    loop {
        if let Some(after) = splice(bytes, *at) {
            *at = after;
            continue;
        }
        match bytes.get(*at) {
            Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => *at += 1,
            Some(b'/') if bytes.get(*at + 1) == Some(&b'*') => {
                let inside = &bytes[*at + 2..];
                match inside.windows(2).position(|pair| pair == b"*/") {
                    Some(length) => *at += length + 4,
                    None => {
                        let place = Place { start: *at as u32, end: *at as u32 + 2 };
                        return Err(Problem::new(place, "this comment is not closed").help("end it with `*/`"));
                    }
                }
            }
            Some(b'/') if bytes.get(*at + 1) == Some(&b'/') => {
                while *at < bytes.len() && bytes[*at] != b'\n' {
                    *at = splice(bytes, *at).unwrap_or(*at + 1);
                }
            }
            _ => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let (mut at, mut spellings, mut out) = (0, Spellings::default(), Vec::new());
        loop {
            let piece = scan(text, &mut at, text.len(), &mut spellings).unwrap();
            match piece.kind {
                PieceKind::End => return out,
                PieceKind::LineEnd => out.push("$".into()),
                _ => out.push(piece.text.to_string()),
            }
        }
    }

    #[test]
    fn pieces() {
        assert_eq!(words("a/* ' */b//\"\nc"), ["a", "b", "$", "c"]);
        assert_eq!(words("0..N 0 ..5 x->y!!1"), ["0..N", "0", "..", "5", "x", "->", "y", "!!", "1"]);
        assert_eq!(words("\"a\\\"/*b\" '\\'' it's"), ["\"a\\\"/*b\"", "'\\''", "it", "'", "s"]);
        assert_eq!(words("ab\\\ncd \\\r\n e\r\n"), ["abcd", "e", "$"]);
        assert_eq!(words("[]<>é"), ["[", "]", "<", ">", "é"]);
    }

    #[test]
    fn a_comment_without_end() {
        assert!(scan("x /* y", &mut 1, 6, &mut Spellings::default()).is_err());
    }
}
