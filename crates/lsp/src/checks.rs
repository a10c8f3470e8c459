//! Commands of lenses, each by a run of the program: verdicts as diagnostics at the lines of the model, random runs, the page.

use crate::problems::diagnostic;
use crate::text::Text;
use crate::uri;
use scrimp_suite::child::{signal, spawn};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Steps of a run that are shown with a diagnostic: its last ones.
const MOST_STEPS: usize = 200;
/// Bytes that a run of the program may say.
const MOST_SAID: u64 = 128 << 20;
/// Limits of a check that was started by a click.
const LIMITS: [&str; 2] = ["--time=60s", "--memory=2G"];

/// A run of the program, which can be ended from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Slot(Arc<Mutex<Process>>);

#[derive(Debug, Default)]
struct Process {
    /// Its number, as long as nobody has waited for its end.
    number: Option<u32>,
    ended: bool,
}

impl Slot {
    fn process(&self) -> std::sync::MutexGuard<'_, Process> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run, also where it has not begun.
    pub fn end(&self) {
        let mut process = self.process();
        process.ended = true;
        if let Some(number) = process.number {
            signal(number, false);
        }
    }

    pub fn was_ended(&self) -> bool {
        self.process().ended
    }

    /// Whether it may go on; from now on it can be ended.
    fn begin(&self, number: u32) {
        let mut process = self.process();
        process.number = Some(number);
        if process.ended {
            signal(number, false);
        }
    }

    fn over(&self) {
        self.process().number = None;
    }
}

/// What a check says: a sentence, and what is marked.
#[derive(Debug)]
pub struct Checked {
    pub message: String,
    pub is_good: bool,
    /// Names of all properties that something is said of.
    pub properties: Vec<String>,
    pub marks: Vec<Mark>,
}

/// A violated property, and where that is shown.
#[derive(Debug, Clone)]
pub struct Mark {
    pub property: String,
    pub uri: String,
    pub diagnostic: Value,
}

/// Runs the program to its end: its code, its answer, its remarks.
fn run(program: &Path, words: &[String], slot: &Slot) -> Result<(Option<i32>, Vec<u8>, String), String> {
    let mut child = spawn(program, words).map_err(|e| e.to_string())?;
    slot.begin(child.id());
    let stderr = child.stderr.take();
    let remarks = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.map(|pipe| pipe.take(MOST_SAID).read_to_end(&mut text));
        String::from_utf8_lossy(&text).trim().to_string()
    });
    let mut output = Vec::new();
    child.stdout.take().map(|pipe| pipe.take(MOST_SAID).read_to_end(&mut output));
    slot.over();
    let code = child.wait().map_err(|e| e.to_string())?.code();
    Ok((code, output, remarks.join().unwrap_or_default()))
}

/// Checks a model, or one property of it.
pub fn check(
    program: &Path,
    model: &Path,
    property: Option<&str>,
    text: &Text,
    slot: &Slot,
) -> Result<Checked, String> {
    let mut words: Vec<String> = ["check", "--json", "--keep-going"].map(String::from).into();
    words.extend(LIMITS.map(String::from));
    words.extend(property.map(|property| format!("--property={property}")));
    words.extend(["--".to_string(), model.display().to_string()]);
    let (_, output, remarks) = run(program, &words, slot)?;
    let report: Value = serde_json::from_slice(&output).map_err(|_| remarks)?;
    if report["verdict"] == "error" {
        return Err(report["message"].as_str().unwrap_or("").to_string());
    }
    let name = model.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let verdict = report["verdict"].as_str().unwrap_or("").to_string();
    let all = report["properties"].as_array().cloned().unwrap_or_default();
    let broken: Vec<&Value> = all.iter().filter(|p| p["verdict"] == "violated").collect();
    let names: Vec<&str> = broken.iter().filter_map(|p| p["name"].as_str()).collect();
    let states = report["states"].as_u64().map(|n| format!(", {n} states")).unwrap_or_default();
    let what = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    let limit =
        report["limits"]["reached"].as_str().map(|limit| format!(" ({limit} was the limit)")).unwrap_or_default();
    Ok(Checked {
        message: format!("{name}: {verdict}{what}{states}{limit}"),
        is_good: verdict == "verified",
        properties: all.iter().filter_map(|p| Some(p["name"].as_str()?.to_string())).collect(),
        marks: broken.into_iter().map(|property| violated(property, model, text)).collect(),
    })
}

/// A line of a file: the model that is known, or another that it includes.
fn place(at: &Value, model: &Path, text: &Text) -> Option<Value> {
    let line = at["line"].as_u64().filter(|line| *line > 0)? as u32;
    let file = at["file"].as_str().unwrap_or("");
    let own = file.is_empty() || Path::new(file) == model;
    let (file, range) = match own {
        true => (model, text.whole_line(line)),
        // A column behind the end of a line is its end.
        false => {
            let side = |character: u32| json!({ "line": line - 1, "character": character });
            (Path::new(file), json!({ "start": side(0), "end": side(1000) }))
        }
    };
    Some(json!({ "uri": uri::of(file), "range": range }))
}

/// A violated property, at the line of its fault or else of the last step of its run, with the steps as places to go to.
fn violated(property: &Value, model: &Path, text: &Text) -> Mark {
    let steps = property["trace"]["steps"].as_array().map_or(&[][..], Vec::as_slice);
    let name = property["name"].as_str().unwrap_or("").to_string();
    let fault = &property["fault"];
    let last = steps.iter().rev().find_map(|step| place(step, model, text));
    let first_line = || json!({ "uri": uri::of(model), "range": text.whole_line(1) });
    let marked = place(fault, model, text).or(last).unwrap_or_else(first_line);
    let count = steps.len();
    let plural = if count == 1 { "" } else { "s" };
    let mut message = format!("{name} is violated by a run of {count} step{plural}");
    let cycle = property["trace"]["loop"].as_u64().map(|after| after as usize);
    match cycle {
        Some(after) if after >= count => message += ", after which nothing changes any more",
        Some(after) => {
            message += &format!(", which goes on for ever with the cycle that begins with step {}", after + 1)
        }
        None => {}
    }
    let why = fault["fault"].as_str().or(property["condition_fault"].as_str());
    message += &why.map(|why| format!(": {why}")).unwrap_or_default();
    let mut related: Vec<Value> = (steps.iter().enumerate().skip(count.saturating_sub(MOST_STEPS)))
        .filter_map(|(number, step)| {
            let begins = if cycle == Some(number) { " (the cycle begins here)" } else { "" };
            let told = format!("{}.{begins} {}", number + 1, told(step));
            Some(json!({ "location": place(step, model, text)?, "message": told }))
        })
        .collect();
    if let Some((location, why)) = place(fault, model, text).zip(why) {
        related.push(json!({ "location": location, "message": format!("{}. {why}", count + 1) }));
    }
    let mut diagnostic = diagnostic(marked["range"].clone(), 1, &message);
    diagnostic["relatedInformation"] = related.into();
    Mark { property: name, uri: marked["uri"].as_str().unwrap_or("").to_string(), diagnostic }
}

/// A step in words, with what it changes.
fn told(step: &Value) -> String {
    let changes = step["changes"].as_object().into_iter().flatten();
    let changes: Vec<String> =
        changes.map(|(name, value)| format!("{name} = {}", value.as_str().unwrap_or(""))).collect();
    let label = step["label"].as_str().unwrap_or("");
    if changes.is_empty() { label.to_string() } else { format!("{label}   {}", changes.join(", ")) }
}

/// A random run, a line a step.
pub fn simulate(program: &Path, model: &Path, slot: &Slot) -> Result<String, String> {
    let words = ["simulate".to_string(), "--steps=30".into(), "--".into(), model.display().to_string()];
    let (code, output, remarks) = run(program, &words, slot)?;
    match code {
        Some(0 | 1) => Ok(String::from_utf8_lossy(&output).into_owned()),
        _ => Err(remarks),
    }
}

/// Serves the page of a model until it ends; `opened` is told its address. A frame that shows it is allowed where `framed`.
pub fn explore(
    program: &Path,
    model: &Path,
    property: Option<&str>,
    framed: bool,
    slot: &Slot,
    opened: impl FnOnce(&str),
) -> Result<(), String> {
    let mut words = vec!["explore".to_string(), "--no-browser".into()];
    words.extend(framed.then(|| "--framed".to_string()));
    words.extend(property.map(|property| format!("--property={property}")));
    words.extend(["--".to_string(), model.display().to_string()]);
    let mut child = spawn(program, &words).map_err(|e| e.to_string())?;
    slot.begin(child.id());
    let lines = child.stdout.take().into_iter().flat_map(|pipe| BufReader::new(pipe).lines().map_while(Result::ok));
    let mut opened = Some(opened);
    for line in lines {
        let address = line.split_whitespace().find(|word| word.starts_with("http://"));
        if let Some((opened, address)) = address.and_then(|address| Some((opened.take()?, address))) {
            opened(address);
        }
    }
    let mut remarks = String::new();
    child.stderr.take().map(|pipe| pipe.take(1 << 20).read_to_string(&mut remarks));
    slot.over();
    match child.wait().map_err(|e| e.to_string())?.code() {
        Some(0) => Ok(()),
        _ => Err(remarks.trim().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_violated_is_marked_where_its_fault_is() {
        let text = Text::new("a\nb\nc\n".into());
        let step = |line: u32| json!({ "line": line, "file": "/m.pml", "label": "x", "changes": {} });
        let mut property = json!({
            "name": "assertions",
            "trace": { "steps": [step(1), step(2)], "loop": null },
            "fault": { "line": 3, "file": "/m.pml", "fault": "the assertion is violated" },
        });
        let mark = violated(&property, Path::new("/m.pml"), &text);
        assert_eq!((mark.uri.as_str(), &mark.diagnostic["range"]["start"]["line"]), ("file:///m.pml", &json!(2)));
        assert!(mark.diagnostic["message"].as_str().unwrap().ends_with(": the assertion is violated"));
        assert_eq!(mark.diagnostic["relatedInformation"].as_array().unwrap().len(), 3);
        property["fault"]["file"] = "/inc.h".into();
        assert_eq!(violated(&property, Path::new("/m.pml"), &text).uri, "file:///inc.h");
        property["fault"] = Value::Null;
        property["trace"]["loop"] = 1.into();
        let mark = violated(&property, Path::new("/m.pml"), &text);
        assert_eq!(mark.diagnostic["range"]["start"]["line"], 1);
        assert!(mark.diagnostic["message"].as_str().unwrap().contains("begins with step 2"));
        let second = mark.diagnostic["relatedInformation"][1]["message"].as_str().unwrap();
        assert_eq!(second, "2. (the cycle begins here) x");
    }

    #[test]
    fn a_run_that_was_ended_before_it_begins_ends_at_once() {
        let slot = Slot::default();
        slot.end();
        let start = std::time::Instant::now();
        let _ = run(Path::new("sleep"), &["600".to_string()], &slot);
        assert!(start.elapsed() < std::time::Duration::from_secs(300) && slot.was_ended());
    }
}
