//! Lines and columns, found from one place to the next.
//!
//! The places of transitions come in the order of the text, so each part of it is counted once, many bytes at a time.

use crate::diagnostic::Place;
use scrimp_system::{Source, Span};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    /// Of a model in several files, to tell which file a place is in.
    source: Option<&'t Source>,
    part: u32,
    at: usize,
    line: u32,
    column: u32,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Lines<'t> {
        Lines { text: text.as_bytes(), source: None, part: 0, at: 0, line: 1, column: 1 }
    }

    /// For a source that may consist of several files: lines count from the beginning of each.
    pub fn of(source: &'t Source) -> Lines<'t> {
        Lines { source: Some(source).filter(|source| !source.included.is_empty()), ..Lines::new(&source.text) }
    }

    /// Line and column of a place; one that stands before the last is found from the start again.
    pub fn span(&mut self, place: Place) -> Span {
        let start = place.start as usize;
        let part = self.source.map_or(0, |source| source.part_at(place.start));
        if start < self.at || part != self.part {
            let from = self.source.map_or(0, |source| source.part(part).start);
            (self.part, self.at, self.line, self.column) = (part, from, 1, 1);
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
        Span { start: place.start, end: place.end.max(place.start), line: self.line, column: self.column, part }
    }
}

/// How many bytes are of a kind. Pieces whose count fits a byte let the compiler count many bytes at a time.
fn count(bytes: &[u8], kind: impl Fn(u8) -> bool) -> u32 {
    bytes.chunks(255).map(|piece| piece.iter().map(|b| kind(*b) as u8).sum::<u8>() as u32).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Included;

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

    #[test]
    fn each_file_has_its_own_lines() {
        let included = vec![Included { name: "b".into(), start: 4 }, Included { name: "c".into(), start: 8 }];
        let source = Source::with_included("a", "1\n2\n3 4\n5", included);
        let mut lines = Lines::of(&source);
        let mut at = |start: u32| {
            let span = lines.span(Place { start, end: start + 1 });
            (span.part, span.line, span.column)
        };
        assert_eq!([at(2), at(6), at(8), at(4), at(0)], [(0, 2, 1), (1, 1, 3), (2, 1, 1), (1, 1, 1), (0, 1, 1)]);
    }
}
