//! Where a piece of a model stands in its text.

use std::sync::Arc;

/// The text of a model and the name by which the user knows it.
///
/// A model may be written in several files: the texts of the files that it includes stand behind its own, each a part.
#[derive(Debug, Clone)]
pub struct Source {
    pub name: String,
    pub text: Arc<str>,
    /// The included files, in the order of the text; empty for a model in one file.
    pub included: Arc<Vec<Included>>,
}

/// A file that the model includes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Included {
    pub name: String,
    /// The byte of the whole text at which the file's text begins.
    pub start: u32,
}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Source {
        Source::with_included(name, text, Vec::new())
    }

    /// A text with the texts of other files behind it; these are in the order of the text.
    pub fn with_included(name: impl Into<String>, text: impl Into<Arc<str>>, included: Vec<Included>) -> Source {
        Source { name: name.into(), text: text.into(), included: Arc::new(included) }
    }

    /// Which part a byte stands in: 0 is the main file.
    pub fn part_at(&self, byte: u32) -> u32 {
        self.included.partition_point(|included| included.start <= byte) as u32
    }

    /// The bytes of a part.
    pub fn part(&self, part: u32) -> std::ops::Range<usize> {
        let bound = |index: usize| self.included.get(index).map(|included| included.start as usize);
        let start = (part as usize).checked_sub(1).and_then(bound).unwrap_or(0);
        start..bound(part as usize).unwrap_or(self.text.len())
    }

    /// The name of the file that a part is the text of.
    pub fn file_name(&self, part: u32) -> &str {
        match (part as usize).checked_sub(1).and_then(|index| self.included.get(index)) {
            Some(included) => &included.name,
            None => &self.name,
        }
    }

    /// The line in which a stretch begins, without its line end; empty when there is no such line.
    pub fn line(&self, span: Span) -> &str {
        let part = self.part(span.part);
        let text = self.text.get(part.clone()).unwrap_or("");
        // Where the stretch says its byte, the line is around it: texts may be long.
        let at = (span.start as usize).checked_sub(part.start).filter(|at| *at > 0 && text.is_char_boundary(*at));
        match at {
            Some(at) => {
                let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
                text[start..].lines().next().unwrap_or("")
            }
            None => text.lines().nth((span.line as usize).saturating_sub(1)).unwrap_or(""),
        }
    }
}

/// A stretch of a source: byte range, and line and column (counted from one, in characters) of its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span {
    pub start: u32,
    pub end: u32,
    /// Counted from the beginning of the part.
    pub line: u32,
    pub column: u32,
    /// The part of the source: 0 for its main file, or else the included file with this number, counted from one.
    pub part: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_included_files_count_from_their_beginning() {
        let included = vec![Included { name: "b".into(), start: 4 }, Included { name: "c".into(), start: 6 }];
        let source = Source::with_included("a", "x\ny\nz\nu\nv", included);
        let at = |byte: u32, line: u32| {
            let part = source.part_at(byte);
            (source.file_name(part), source.line(Span { part, line, ..Span::default() }))
        };
        assert_eq!([at(0, 1), at(2, 2), at(4, 1), at(8, 2)], [("a", "x"), ("a", "y"), ("b", "z"), ("c", "v")]);
        assert_eq!(at(4, 2), ("b", ""));
    }
}
