//! From the text of a model to a [`System`], and from the text of a property to a [`Property`].
//!
//! [`load`] reads a file in whatever language its name says. Wrong texts are refused with a [`Diagnostic`] that points at
//! the place; no text makes these functions panic, hang or exhaust the stack.

mod diagnostic;
mod dve;
mod expression;
mod lexer;
mod lines;
mod measure;
mod promela;
mod property;
mod reading;
mod symbols;

pub use diagnostic::Diagnostic;
pub use dve::parse_dve;
pub use measure::{MeasurePart, parse_measure, refuse_part};
pub use property::{Property, PropertyKind, parse_property, parse_property_file};

use scrimp_system::{Source, System};
use std::fmt;
use std::path::{Path, PathBuf};

/// Bytes that the text of a model may have, decompressed.
const MAX_TEXT: u64 = 64 << 20;

/// Why there is no system: the file cannot be used, or what it says is wrong.
#[derive(Debug, Clone)]
pub enum LoadError {
    File { path: PathBuf, problem: String },
    Model(Diagnostic),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::File { path, problem } => write!(f, "{}: error: {problem}", path.display()),
            LoadError::Model(diagnostic) => diagnostic.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<Diagnostic> for LoadError {
    fn from(diagnostic: Diagnostic) -> LoadError {
        LoadError::Model(diagnostic)
    }
}

/// Reads a model from a file; the language is known by the file's extension.
pub fn load(path: &Path) -> Result<System, LoadError> {
    let format = reading::format_of(path)?;
    let text = reading::read_text(path, format.compressed)?;
    let source = Source::new(path.display().to_string(), text);
    match format.language {
        reading::Language::Dve => Ok(parse_dve(source)?),
    }
}
