//! The text of the model, by lines, and where its events and processes are in it.

use crate::{Explorable, NativeModel};
use scrimp_explorer::Refusal;
use scrimp_system::{EventCode, Span};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Lines that are sent at once, and characters of a line.
const MOST_LINES: usize = 2000;
const MOST_CHARACTERS: usize = 2000;

/// A line of a file, both as the page knows them.
pub type Place = (u32, u32);

/// The files of a model, with their numbers of lines.
pub fn files(model: &NativeModel) -> Value {
    let source = &model.system().source;
    if source.text.is_empty() {
        return json!([]);
    }
    let file = |part: u32| {
        let lines = source.text.get(source.part(part)).map_or(0, |text| text.lines().count());
        json!({ "name": source.file_name(part), "lines": lines })
    };
    (0..=source.included.len() as u32).map(file).collect()
}

/// The text of a file of a model.
pub fn text(model: &NativeModel, file: usize) -> Result<&str, Refusal> {
    let source = &model.system().source;
    let part = u32::try_from(file).ok().filter(|part| *part as usize <= source.included.len());
    let part = part.ok_or_else(|| Refusal::unknown("there is no such file"))?;
    Ok(source.text.get(source.part(part)).unwrap_or(""))
}

/// Some lines of a text, counted from one.
pub fn lines(text: &str, file: usize, from: usize, count: usize) -> Value {
    let lines: Vec<String> = text.lines().skip(from.max(1) - 1).take(count.min(MOST_LINES)).map(cut).collect();
    json!({ "file": file, "from": from.max(1), "lines": lines, "total": text.lines().count() })
}

/// A line, no longer than is shown.
pub fn cut(line: &str) -> String {
    line.chars().take(MOST_CHARACTERS).collect()
}

/// Where an event is written: its statement, or what stands for it.
pub fn place_of(model: &dyn Explorable, code: EventCode) -> Option<Place> {
    let model = model.file()?;
    let system = model.system();
    let event = system.events.get(model.parts(code).0? as usize)?;
    let statement = event.statements.first().and_then(|number| system.outline.statements.get(*number as usize));
    place(statement.map_or(event.span, |statement| statement.span))
}

/// That line, without what surrounds it; of a model without text, what it says itself.
pub fn line_of(model: &dyn Explorable, code: EventCode) -> String {
    let short = |line: &str| line.trim().chars().take(200).collect();
    let Some(file) = model.file() else { return short(&model.event(code).source) };
    let system = file.system();
    let event = file.parts(code).0.and_then(|number| system.events.get(number as usize));
    short(event.map_or("", |event| system.source.line(event.span)))
}

pub fn place(span: Span) -> Option<Place> {
    (span.line > 0).then_some((span.part, span.line))
}

/// For each process and each of its locations, the lines of what it can do there.
#[derive(Default)]
pub struct Active(HashMap<(usize, u32), Vec<Place>>);

impl Active {
    pub fn new(model: &NativeModel) -> Active {
        let system = model.system();
        let mut lines: HashMap<(usize, u32), Vec<Place>> = HashMap::new();
        for event in &system.events {
            for (number, step) in event.moves.iter().enumerate() {
                let statement = event.statements.get(number).and_then(|s| system.outline.statements.get(*s as usize));
                let span = match (statement, number) {
                    (Some(statement), _) => statement.span,
                    (None, 1) => event.partner.unwrap_or(event.span),
                    (None, _) => event.span,
                };
                let known = lines.entry((step.process.index(), step.from)).or_default();
                if let Some(place) = place(span).filter(|place| !known.contains(place)) {
                    known.push(place);
                }
            }
        }
        Active(lines)
    }

    /// The lines of what a process can do at a location.
    pub fn at(&self, process: usize, location: u32) -> &[Place] {
        self.0.get(&(process, location)).map_or(&[], Vec::as_slice)
    }
}
