//! What is wrong with a text, told as editors want it.

use crate::text::Text;
use scrimp_checker::Loaded;
use scrimp_lang::{LoadError, Opened, open_text, parse_property_file};
use scrimp_system::{Source, Stop, System};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long a text is read; what is not found by then is found by a check.
const PATIENCE: Duration = Duration::from_secs(2);

const ERROR: u64 = 1;
const WARNING: u64 = 2;

pub fn diagnostic(range: Value, severity: u64, message: &str) -> Value {
    json!({ "range": range, "severity": severity, "source": "scrimp", "message": message })
}

/// A stop for reading a text.
pub fn within_patience() -> Stop {
    Stop::never().within(PATIENCE)
}

/// What is wrong with a model's text, and the model, if it can be read. How many processes it may start is not looked for.
pub fn of_model(path: &Path, text: &Text, stop: &Stop) -> (Vec<Value>, Option<Opened>) {
    let mut opened = match open_text(path, &text.text, &[], &stop.within(PATIENCE)) {
        Ok(opened) => opened,
        Err(error) => return (told(&error, text), None),
    };
    let found = match &mut opened {
        Opened::System(system) => Ok(warnings(&system.warnings, text)),
        Opened::Promela(promela) => promela.system(false).map(|system| warnings(&system.warnings, text)),
        Opened::Net(_) => return (Vec::new(), None),
    };
    match found {
        Ok(warnings) => (warnings, Some(opened)),
        Err(error) => (told(&error.into(), text), None),
    }
}

/// The system of a model with room for what it starts at once; or what is found to be wrong then.
pub fn with_room(opened: Opened, text: &Text) -> Result<Arc<System>, Vec<Value>> {
    Loaded::at_once(opened).map(|loaded| loaded.system).map_err(|error| told(&error, text))
}

/// What has a meaning and is odd.
fn warnings(warnings: &[String], text: &Text) -> Vec<Value> {
    warnings.iter().map(|warning| placed_warning(warning, text)).collect()
}

/// `FILE:LINE:COLUMN: warning: …`, taken apart again.
fn placed_warning(shown: &str, text: &Text) -> Value {
    let first = shown.lines().next().unwrap_or("");
    let found = first.split_once(": warning: ").and_then(|(place, message)| {
        let (rest, _) = place.rsplit_once(':')?;
        let (_, line) = rest.rsplit_once(':')?;
        Some((line.parse::<u32>().ok()?, message))
    });
    let (line, message) = found.unwrap_or((1, first));
    diagnostic(text.whole_line(line), WARNING, message)
}

/// The problems of an error. One in another file is told at the line that includes it.
fn told(error: &LoadError, text: &Text) -> Vec<Value> {
    match error {
        LoadError::Stopped(_) => Vec::new(),
        LoadError::File { problem, .. } => vec![diagnostic(text.whole_line(1), ERROR, problem)],
        LoadError::Model(first) => std::iter::once(&**first)
            .chain(&first.more)
            .map(|found| {
                let help = found.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
                let message = format!("{}{help}", found.message);
                if found.span.part == 0 {
                    let (start, end) = (found.span.start as usize, found.span.end as usize);
                    return diagnostic(text.range(&(start..end.max(start + 1))), ERROR, &message);
                }
                let file = found.source.file_name(found.span.part);
                let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
                let line = text.text.lines().position(|line| line.contains("include") && line.contains(&name));
                let place = format!("{file}:{}:{}", found.span.line, found.span.column);
                diagnostic(text.whole_line(line.unwrap_or(0) as u32 + 1), ERROR, &format!("{place}: {message}"))
            })
            .collect(),
    }
}

/// What is wrong with a file of properties: held against the model that it is about.
pub fn of_properties(path: &Path, text: &Text, stop: &Stop) -> Vec<Value> {
    let first = text.whole_line(1);
    let Some(model) = model_of(path, &text.text) else {
        let message = "which model these are about is not known\nhelp: say it in a first line: # model: lock.pml";
        return vec![diagnostic(first, WARNING, message)];
    };
    let shown = model.display();
    let loaded = scrimp_lang::open_within(&model, &[], &stop.within(PATIENCE)).and_then(Loaded::at_once);
    match loaded.map_err(|error| error.to_string()) {
        Err(error) => {
            let error = error.lines().next().unwrap_or("").to_string();
            vec![diagnostic(first, ERROR, &format!("{shown} cannot be read: {error}"))]
        }
        Ok(loaded) => {
            let source = Source::new(path.display().to_string(), text.text.as_str());
            match parse_property_file(&loaded.system, source) {
                Ok(_) => Vec::new(),
                Err(found) => told(&LoadError::Model(Box::new(found)), text),
            }
        }
    }
}

/// The model that a file of properties names in its comments, or that has its name.
pub fn model_of(path: &Path, text: &str) -> Option<PathBuf> {
    let comment =
        |line: &str| Some(line.trim().trim_start_matches(['#', '/']).trim().strip_prefix("model:")?.trim().to_string());
    let home = path.parent().unwrap_or(Path::new(""));
    let named = text.lines().take_while(|line| line.trim_start().starts_with(['#', '/'])).find_map(comment);
    if let Some(named) = named {
        return Some(home.join(named));
    }
    let beside = ["pml", "prom", "promela", "dve", "network", "pnml"].into_iter().map(|end| path.with_extension(end));
    beside.into_iter().find(|model| model.is_file())
}
