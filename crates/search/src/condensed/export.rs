//! Writing a graph for others to read: Aldebaran's AUT, Graphviz's DOT, and the condensed form.

use super::{Condensed, Number};
use scrimp_system::{EventCode, Model};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Characters of a state's values that a picture shows.
const READABLE: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Aut,
    Dot,
    Condensed,
}

impl Form {
    /// The form that a file's ending names.
    pub fn of(path: &Path) -> Option<Form> {
        match path.extension()?.to_str()? {
            "aut" => Some(Form::Aut),
            "dot" => Some(Form::Dot),
            "scg" => Some(Form::Condensed),
            _ => None,
        }
    }

    /// How many states' vectors are worth keeping for it.
    pub fn vectors(self) -> usize {
        if self == Form::Dot { 10_000 } else { 0 }
    }
}

/// Writes a file by way of another one beside it, so that at any time there is the old one or the new one, complete.
pub fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = File::create(&part).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        write(&mut out)?;
        out.into_inner().map_err(|error| error.into_error())?.sync_all()?;
        std::fs::rename(&part, path)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// The labels of events, each made once.
struct Labels<'a> {
    model: &'a dyn Model,
    known: HashMap<EventCode, String>,
}

impl Labels<'_> {
    /// The label within quotation marks.
    fn of(&mut self, event: EventCode) -> &str {
        self.known.entry(event).or_insert_with(|| quoted(&self.model.event(event).label))
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out + "\""
}

impl Condensed {
    /// Writes the graph in a form.
    pub fn export(&self, form: Form, model: &dyn Model, out: &mut dyn Write) -> io::Result<()> {
        match form {
            Form::Aut => self.write_aut(model, out),
            Form::Dot => self.write_dot(model, out),
            Form::Condensed => self.write(out),
        }
    }

    /// AUT has one initial state. Where there are several, one more state leads to them, the last one, by events `initial`.
    fn write_aut(&self, model: &dyn Model, out: &mut dyn Write) -> io::Result<()> {
        let mut labels = Labels { model, known: HashMap::new() };
        let (first, more) = match self.initial() {
            [] => (0, 0),
            [one] => (*one as u64, 0),
            many => (self.states as u64, many.len() as u64),
        };
        writeln!(out, "des ({first}, {}, {})", self.transitions + more, self.states as u64 + (more > 0) as u64)?;
        if more > 0 {
            for number in self.initial() {
                writeln!(out, "({first}, \"initial\", {number})")?;
            }
        }
        for state in 0..self.states {
            for (next, event) in self.successors(state) {
                writeln!(out, "({state}, {}, {next})", labels.of(event))?;
            }
        }
        Ok(())
    }

    fn write_dot(&self, model: &dyn Model, out: &mut dyn Write) -> io::Result<()> {
        let mut labels = Labels { model, known: HashMap::new() };
        writeln!(out, "digraph states {{\n  node [shape=box];")?;
        for state in 0..self.states {
            let shape = if self.initial.contains(&state) { ", style=bold" } else { "" };
            writeln!(out, "  {state} [label={}{shape}];", quoted(&self.text(model, state)))?;
        }
        for state in 0..self.states {
            for (next, event) in self.successors(state) {
                writeln!(out, "  {state} -> {next} [label={}];", labels.of(event))?;
            }
        }
        writeln!(out, "}}")
    }

    /// A state as a picture shows it: its number, its values as far as they can be read, and the conditions that hold.
    fn text(&self, model: &dyn Model, state: Number) -> String {
        let mut text = state.to_string();
        for (name, value) in self.vector(state).map(|state| model.values(state)).unwrap_or_default() {
            if text.len() + name.len() + value.len() > READABLE {
                text.push_str("\n…");
                break;
            }
            text.push_str(&format!("\n{name} = {value}"));
        }
        for (label, (name, _)) in self.labels.iter().enumerate() {
            if self.holds(label, state) {
                text.push_str(&format!("\n[{name}]"));
            }
        }
        text
    }
}
