//! Lines and columns, found from one place to the next.
//!
//! The places of transitions come in the order of the text, so each part of it is counted once, many bytes at a time.

use crate::diagnostic::Place;
use scrimp_system::Span;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    column: u32,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Lines<'t> {
        Lines { text: text.as_bytes(), at: 0, line: 1, column: 1 }
    }

    /// Line and column of a place; one that stands before the last is found from the start again.
    pub fn span(&mut self, place: Place) -> Span {
        let start = place.start as usize;
        if start < self.at {
            (self.at, self.line, self.column) = (0, 1, 1);
        }
        let mut passed = &self.text[self.at..start];
        if let Some(last) = passed.iter().rposition(|b| *b == b'\n') {
            self.line += count(passed, |b| b == b'\n');
            self.column = 1;
            passed = &passed[last + 1..];
        }
        // Columns count characters, so bytes that continue one do not count.
        self.column += count(passed, |b| !matches!(b, 0x80..=0xbf));
        self.at = start;
        Span { start: place.start, end: place.end.max(place.start), line: self.line, column: self.column }
    }
}

/// How many bytes are of a kind. Pieces whose count fits a byte let the compiler count many bytes at a time.
fn count(bytes: &[u8], kind: impl Fn(u8) -> bool) -> u32 {
    bytes.chunks(255).map(|piece| piece.iter().map(|b| kind(*b) as u8).sum::<u8>() as u32).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_any_order() {
        let text = "/* é\n é */ x\n\n\ty";
        let mut lines = Lines::new(text);
        let mut at = |word: char| {
            let start = text.find(word).unwrap() as u32;
            let span = lines.span(Place { start, end: start + 1 });
            (span.line, span.column)
        };
        assert_eq!([at('x'), at('y'), at('/'), at('y')], [(2, 7), (4, 2), (1, 1), (4, 2)]);
    }
}
