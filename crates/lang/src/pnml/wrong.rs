//! What is wrong with a document, and where; the line itself is read again only when it is to be shown.

use super::counted::At;
use crate::{Diagnostic, LoadError, reading};
use scrimp_system::{Cause, Source, Span};
use std::io::{BufRead, Read};
use std::path::Path;

/// A problem at a position. Boxed, because it is part of the result of every small step.
#[derive(Debug, Clone)]
pub(super) struct Wrong(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    kind: Kind,
    at: At,
    message: String,
    help: Option<String>,
}

/// What kind of problem it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Wrong,
    /// More than can be dealt with.
    Large,
    /// None of the document: there was no time or no memory to go on.
    Stopped(Cause),
}

/// Lines of more bytes are not shown.
const LONGEST_LINE: u64 = 1 << 20;

impl Wrong {
    pub fn new(at: At, message: impl Into<String>) -> Wrong {
        Wrong(Box::new(Parts { kind: Kind::Wrong, at, message: message.into(), help: None }))
    }

    /// There is too much of something.
    pub fn large(at: At, message: impl Into<String>) -> Wrong {
        let mut wrong = Wrong::new(at, message);
        wrong.0.kind = Kind::Large;
        wrong
    }

    pub fn is_large(&self) -> bool {
        self.0.kind == Kind::Large
    }

    pub fn help(mut self, help: impl Into<String>) -> Wrong {
        self.0.help = Some(help.into());
        self
    }

    /// The diagnostic without the line's text.
    pub fn locate(self, name: &str) -> Diagnostic {
        self.with_line(name, "")
    }

    /// The diagnostic for a file, with the line.
    pub fn in_file(self, path: &Path) -> LoadError {
        if let Kind::Stopped(cause) = self.0.kind {
            return LoadError::Stopped(cause);
        }
        let line = line_of(path, self.0.at.line).unwrap_or_default();
        LoadError::Model(Box::new(self.with_line(&path.display().to_string(), &line)))
    }

    /// The same for a text that stands for what is in a file.
    pub fn in_text(self, name: &str, text: &str) -> LoadError {
        if let Kind::Stopped(cause) = self.0.kind {
            return LoadError::Stopped(cause);
        }
        let line = text.lines().nth((self.0.at.line as usize).saturating_sub(1)).unwrap_or_default();
        LoadError::Model(Box::new(self.with_line(name, line)))
    }

    /// A source that has nothing but this line, in its place.
    fn with_line(self, name: &str, line: &str) -> Diagnostic {
        let Parts { at, message, help, .. } = *self.0;
        let before = if line.is_empty() { 0 } else { at.line.saturating_sub(1) as usize };
        let text = "\n".repeat(before) + line;
        let column = at.column.saturating_sub(1) as usize;
        let from = line.char_indices().nth(column).map_or(line.len(), |(i, _)| i);
        let tag = &line[from..];
        let length = tag.find('>').filter(|_| tag.starts_with('<')).map_or(tag.len().min(1), |i| i + 1);
        let (start, end) = ((before + from) as u32, (before + from + length) as u32);
        let span = Span { start, end, line: at.line, column: at.column, part: 0 };
        Diagnostic { source: Source::new(name, text), span, message, help, more: Vec::new() }
    }
}

impl From<Cause> for Wrong {
    fn from(cause: Cause) -> Wrong {
        let mut wrong = Wrong::new(At::default(), cause.to_string());
        wrong.0.kind = Kind::Stopped(cause);
        wrong
    }
}

/// A line of a file, if it can be read and is not too long.
fn line_of(path: &Path, line: u32) -> Option<String> {
    let mut reader = reading::stream(path).ok()?;
    let mut bytes = Vec::new();
    for _ in 1..line {
        reader.skip_until(b'\n').ok()?;
    }
    reader.take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes).ok()?;
    if bytes.len() as u64 > LONGEST_LINE {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_end_matches(['\n', '\r']).to_string())
}
