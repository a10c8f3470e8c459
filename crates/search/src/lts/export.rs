//! Writing a graph for others to read: Aldebaran's AUT, and Scrimp's own form.

use super::Lts;
use scrimp_core::Trace;
use scrimp_system::{Describe, EventCode};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Aut,
    Dot,
    Lts,
}

impl Form {
    /// The form that a file's ending names.
    pub fn of(path: &Path) -> Option<Form> {
        match path.extension()?.to_str()? {
            "aut" => Some(Form::Aut),
            "dot" => Some(Form::Dot),
            "scg" => Some(Form::Lts),
            _ => None,
        }
    }

    /// How many states' vectors are worth keeping for it.
    pub fn vectors(self) -> usize {
        if self == Form::Dot { 10_000 } else { 0 }
    }
}

/// The labels of events, each made once.
pub(super) struct Labels<'a> {
    model: &'a dyn Describe,
    known: HashMap<EventCode, String>,
}

impl<'a> Labels<'a> {
    pub fn new(model: &'a dyn Describe) -> Labels<'a> {
        Labels { model, known: HashMap::new() }
    }

    /// The label within quotation marks.
    pub fn of(&mut self, event: EventCode) -> &str {
        self.known.entry(event).or_insert_with(|| quoted(&self.model.event(event).label))
    }
}

pub(super) fn quoted(text: &str) -> String {
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

impl Lts {
    /// Writes the graph in a form; a picture shows a run in it.
    pub fn export(&self, form: Form, model: &dyn Describe, run: Option<&Trace>, out: &mut dyn Write) -> io::Result<()> {
        match form {
            Form::Aut => self.write_aut(model, out),
            Form::Dot => self.write_dot(model, run, out),
            Form::Lts => self.write(out),
        }
    }

    /// AUT has one initial state. Where there are several, one more state leads to them, the last one, by events `initial`.
    fn write_aut(&self, model: &dyn Describe, out: &mut dyn Write) -> io::Result<()> {
        let mut labels = Labels::new(model);
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
}
