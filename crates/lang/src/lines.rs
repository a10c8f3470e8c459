//! Lines and columns, found for places in any order.
//!
//! Where a line stands is noted every few bytes as far as the text was looked at, so that each part of it is counted once,
//! many bytes at a time, and a place is found from the note before it.

use crate::diagnostic::Place;
use scrimp_system::{Source, Span};

/// Bytes between two notes.
const STRIDE: usize = 128;

#[derive(Debug, Clone)]
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    /// Of a model in several files, to tell which file a place is in.
    source: Option<&'t Source>,
    /// Line and column of the bytes 0, [`STRIDE`], and so on.
    notes: Vec<(u32, u32)>,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Lines<'t> {
        Lines { text: text.as_bytes(), source: None, notes: vec![(1, 1)] }
    }

    /// For a source that may consist of several files: lines count from the beginning of each.
    pub fn of(source: &'t Source) -> Lines<'t> {
        Lines { source: Some(source).filter(|source| !source.included.is_empty()), ..Lines::new(&source.text) }
    }

    pub fn span(&mut self, place: Place) -> Span {
        let (mut line, mut column) = self.locate(place.start as usize);
        let mut part = 0;
        if let Some(source) = self.source {
            part = source.part_at(place.start);
            let (first_line, first_column) = self.locate(source.part(part).start);
            if line == first_line {
                column -= first_column - 1;
            }
            line -= first_line - 1;
        }
        Span { start: place.start, end: place.end.max(place.start), line, column, part }
    }

    /// Line and column of a byte, from the beginning of all files.
    fn locate(&mut self, at: usize) -> (u32, u32) {
        while self.notes.len() <= at / STRIDE {
            let from = self.notes.len() - 1;
            let next = advance(self.notes[from], &self.text[from * STRIDE..(from + 1) * STRIDE]);
            self.notes.push(next);
        }
        let note = at / STRIDE;
        advance(self.notes[note], &self.text[note * STRIDE..at])
    }
}

/// Line and column behind some bytes.
fn advance((mut line, mut column): (u32, u32), mut passed: &[u8]) -> (u32, u32) {
    if let Some(last) = passed.iter().rposition(|b| *b == b'\n') {
        line += count(passed, |b| b == b'\n');
        column = 1;
        passed = &passed[last + 1..];
    }
    // Columns count characters, so bytes that continue one do not count.
    (line, column + count(passed, |b| !matches!(b, 0x80..=0xbf)))
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
    fn long_texts() {
        let text: String = (0..100).map(|i| format!("é{}x\n", "y".repeat(i * 7))).collect();
        let mut lines = Lines::new(&text);
        let places: Vec<usize> = text.match_indices('x').map(|(at, _)| at).collect();
        for (i, at) in places.iter().enumerate().rev() {
            let span = lines.span(Place { start: *at as u32, end: *at as u32 + 1 });
            assert_eq!((span.line, span.column), (i as u32 + 1, i as u32 * 7 + 2));
        }
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
