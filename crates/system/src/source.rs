//! Where a piece of a model stands in its text.

use std::sync::Arc;

/// The text of a model and the name by which the user knows it.
#[derive(Debug, Clone)]
pub struct Source {
    pub name: String,
    pub text: Arc<str>,
}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Source {
        Source { name: name.into(), text: text.into() }
    }

    /// Line `number` (counted from one) without its line end; empty when there is no such line.
    pub fn line(&self, number: u32) -> &str {
        self.text.lines().nth((number as usize).saturating_sub(1)).unwrap_or("")
    }
}

/// A stretch of a source: byte range, and line and column (counted from one, in characters) of its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
    pub line: u32,
    pub column: u32,
}
