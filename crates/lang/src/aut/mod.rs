//! Labelled transition systems: `.aut` files, and networks that compose them.
//!
//! An `.aut` file by itself is a process; each edge is an event with the edge's label. A `.network` file composes several
//! by synchronisation vectors or the operators of process algebra.

mod compose;
mod lower;
mod lts;
mod network;
mod parser;
mod read;
mod syntax;
mod tables;
#[cfg(test)]
mod tests;
mod tokens;

use crate::LoadError;
use crate::diagnostic::{Diagnostic, Place};
use crate::reading;
use compose::Joint;
use flate2::read::MultiGzDecoder;
use lower::{Component, Limits, Network};
use lts::Lts;
use read::Failure;
use scrimp_system::{Source, Span, System};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

/// Bytes that an `.aut` file may have, decompressed.
const MOST_BYTES: u64 = 1 << 36;
/// Up to this many bytes the text is kept, so that traces and complaints can show its lines.
const KEPT: u64 = 1 << 20;

/// The system of an `.aut` file.
pub(crate) fn open_aut(path: &Path) -> Result<System, LoadError> {
    let (source, lts) = read_file(path)?;
    named(path, source, lts)
}

/// The system of a text in the format of such a file.
pub(crate) fn read_aut(path: &Path, text: &str) -> Result<System, LoadError> {
    let source = Source::new(path.display().to_string(), text);
    let lts = read_lts(path, text.as_bytes(), &source, true)?;
    named(path, source, lts)
}

/// The system of a file, which is called after it.
fn named(path: &Path, source: Source, lts: Lts) -> Result<System, LoadError> {
    let stem = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem: String = stem.split('.').next().unwrap_or("").chars().take(40).collect();
    system(source, lts, name_of(&stem), Limits::default()).map_err(|problem| reading::refuse(path, problem))
}

pub(crate) use network::open as open_network;

/// A name that properties can speak of.
fn name_of(stem: &str) -> String {
    let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match name.chars().next() {
        Some('0'..='9') | None => format!("_{name}"),
        _ => name,
    }
}

fn system(source: Source, lts: Lts, name: String, limits: Limits) -> Result<System, String> {
    let joint = |label: u32| Joint { label, parts: vec![(0, label)], place: Place::default(), forbidden: false };
    let joints = (0..lts.labels.len() as u32).map(joint).collect();
    let labels = lts.labels.clone();
    let network = Network { components: vec![Component { name, lts: Rc::new(lts) }], joints, labels };
    lower::lower(&network, source, limits).map_err(|(_, message, help)| format!("{message}\nhelp: {help}"))
}

/// Reads an `.aut` file; the source has its text if it is short.
fn read_file(path: &Path) -> Result<(Source, Lts), LoadError> {
    let compressed = reading::format_of(path)?.compressed;
    let (file, length) = reading::open_file(path)?;
    let name = path.display().to_string();
    match (compressed, length <= KEPT) {
        (false, true) => {
            let text = reading::read_text(path, false)?;
            let source = Source::new(name, text);
            let lts = read_lts(path, source.text.as_bytes(), &source, true)?;
            Ok((source, lts))
        }
        (compressed, _) => {
            let source = Source::new(name, "");
            let input: Box<dyn Read> = if compressed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
            let input = BufReader::with_capacity(1 << 18, input.take(MOST_BYTES));
            let lts = read_lts(path, input, &source, false)?;
            Ok((source, lts))
        }
    }
}

fn read_lts(path: &Path, input: impl BufRead, source: &Source, kept: bool) -> Result<Lts, LoadError> {
    read::read(input, kept).map_err(|failure| match failure {
        Failure::Io(error) => reading::refuse(path, format!("cannot read the file: {error}")),
        Failure::Wrong(wrong) => {
            // Columns count characters.
            let before = wrong.text.get(..wrong.start).map_or(wrong.start, |text| text.chars().count());
            let (line, column) = (wrong.line, before as u32 + 1);
            // The caret is drawn below the stretch as it stands in the text.
            let lines = source.text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum::<usize>();
            let (start, end) = ((lines + wrong.start) as u32, (lines + wrong.end) as u32);
            let span = Span { start, end, line, column, part: 0 };
            Diagnostic { source: source.clone(), span, message: wrong.message, help: wrong.help, more: Vec::new() }
                .into()
        }
    })
}
