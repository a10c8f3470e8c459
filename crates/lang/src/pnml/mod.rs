//! Petri nets in PNML, and the contest's questions about them in XML.
//!
//! Documents are read as a stream; what is kept is the net, and the terms of coloured nets until these are unfolded.

mod build;
mod colour;
mod counted;
mod document;
mod draft;
mod element;
mod formula;
mod names;
mod number;
mod nupn;
mod position;
mod wiring;
mod wrong;
mod xml;

use crate::{Diagnostic, LoadError, reading};
use scrimp_net::{NamedQuestion, Net};
use scrimp_system::Stop;
use std::io::BufRead;
use std::path::Path;
use wrong::Wrong;
use xml::Xml;

/// Reads a net from a file, plain or compressed.
pub fn read_net(path: &Path) -> Result<Net, LoadError> {
    read_net_within(path, &Stop::never())
}

/// The same, as long as there is time and memory.
pub fn read_net_within(path: &Path, stop: &Stop) -> Result<Net, LoadError> {
    net(reading::stream(path)?, stop).map_err(|wrong| wrong.in_file(path))
}

/// Reads a net from a stream; `name` is what messages call it.
pub fn read_net_from(name: &str, reader: impl BufRead) -> Result<Net, Diagnostic> {
    net(reader, &Stop::never()).map_err(|wrong| wrong.locate(name))
}

/// Reads a net from a text, as long as there is time and memory.
pub(crate) fn read_net_text(name: &str, text: &str, stop: &Stop) -> Result<Net, LoadError> {
    net(text.as_bytes(), stop).map_err(|wrong| wrong.in_text(name, text))
}

fn net(reader: impl BufRead, stop: &Stop) -> Result<Net, Wrong> {
    let draft = document::read(&mut Xml::new(reader), stop)?;
    if draft.coloured { colour::unfold(draft, stop) } else { build::build(draft, stop) }
}

/// Reads the questions of a file of the contest's properties, plain or compressed.
pub fn read_formulas(path: &Path, net: &Net) -> Result<Vec<NamedQuestion>, LoadError> {
    formula::read(&mut Xml::new(reading::stream(path)?), net).map_err(|wrong| wrong.in_file(path))
}

/// Reads questions from a stream; `name` is what messages call it.
pub fn read_formulas_from(name: &str, reader: impl BufRead, net: &Net) -> Result<Vec<NamedQuestion>, Diagnostic> {
    formula::read(&mut Xml::new(reader), net).map_err(|wrong| wrong.locate(name))
}
