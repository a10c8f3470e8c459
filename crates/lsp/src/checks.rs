//! Commands of lenses, each by a run of the program: verdicts as diagnostics at the lines of the model, random runs, the page.

use crate::problems::diagnostic;
use crate::text::Text;
use crate::uri;
use scrimp_suite::child::spawn;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Steps of a run that are shown with a diagnostic.
const MOST_STEPS: usize = 200;
/// Limits of a check that was started by a click.
const LIMITS: [&str; 2] = ["--time=60s", "--memory=2G"];

/// What a check says: a sentence, and diagnostics.
#[derive(Debug)]
pub struct Checked {
    pub message: String,
    pub is_good: bool,
    pub diagnostics: Vec<Value>,
}

/// Runs the program to its end: its code, its answer, its remarks.
fn run(program: &Path, words: &[String]) -> Result<(Option<i32>, Vec<u8>, String), String> {
    let mut child = spawn(program, words).map_err(|e| e.to_string())?;
    let stderr = child.stderr.take();
    let remarks = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.map(|mut pipe| pipe.read_to_end(&mut text));
        String::from_utf8_lossy(&text).trim().to_string()
    });
    let mut output = Vec::new();
    child.stdout.take().map(|mut pipe| pipe.read_to_end(&mut output));
    let code = child.wait().map_err(|e| e.to_string())?.code();
    Ok((code, output, remarks.join().unwrap_or_default()))
}

/// Checks a model, or one property of it.
pub fn check(program: &Path, model: &Path, property: Option<&str>, text: &Text) -> Result<Checked, String> {
    let mut words: Vec<String> = ["check", "--json", "--keep-going"].map(String::from).into();
    words.extend(LIMITS.map(String::from));
    words.extend(property.map(|property| format!("--property={property}")));
    words.extend(["--".to_string(), model.display().to_string()]);
    let (_, output, remarks) = run(program, &words)?;
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
        diagnostics: broken.into_iter().map(|property| violated(property, model, text)).collect(),
    })
}

/// A violated property, at the line of the last step of its run, with the steps as places to go to.
fn violated(property: &Value, model: &Path, text: &Text) -> Value {
    let steps = property["trace"]["steps"].as_array().cloned().unwrap_or_default();
    let own = model.display().to_string();
    let in_model = |step: &Value| step["file"].as_str().is_none_or(|file| file == own || file.is_empty());
    let last = steps.iter().rev().find(|step| in_model(step)).and_then(|step| step["line"].as_u64()).unwrap_or(1);
    let name = property["name"].as_str().unwrap_or("");
    let fault = property["fault"].as_str().map(|fault| format!(": {fault}")).unwrap_or_default();
    let count = steps.len();
    let plural = if count == 1 { "" } else { "s" };
    let message = format!("{name} is violated by a run of {count} step{plural}{fault}");
    let mut diagnostic = diagnostic(text.whole_line(last as u32), 1, &message);
    let related = steps.iter().enumerate().take(MOST_STEPS).map(|(number, step)| {
        let line = step["line"].as_u64().unwrap_or(1) as u32;
        let place = match in_model(step) {
            true => json!({ "uri": uri::of(model), "range": text.whole_line(line) }),
            false => {
                let start = json!({ "line": line.saturating_sub(1), "character": 0 });
                json!({ "uri": uri::of(Path::new(step["file"].as_str().unwrap_or(""))), "range": { "start": start, "end": start } })
            }
        };
        let changes = step["changes"].as_object().into_iter().flatten();
        let changes: Vec<String> =
            changes.map(|(name, value)| format!("{name} = {}", value.as_str().unwrap_or(""))).collect();
        let label = step["label"].as_str().unwrap_or("");
        let label = if changes.is_empty() { label.to_string() } else { format!("{label}   {}", changes.join(", ")) };
        json!({ "location": place, "message": format!("{}. {label}", number + 1) })
    });
    diagnostic["relatedInformation"] = related.collect();
    diagnostic
}

/// A random run, a line a step.
pub fn simulate(program: &Path, model: &Path) -> Result<String, String> {
    let words = ["simulate".to_string(), "--steps=30".into(), "--".into(), model.display().to_string()];
    let (code, output, remarks) = run(program, &words)?;
    match code {
        Some(0 | 1) => Ok(String::from_utf8_lossy(&output).into_owned()),
        _ => Err(remarks),
    }
}

/// Serves the page of a model until it ends; `opened` is told its address.
pub fn explore(program: &Path, model: &Path, opened: impl FnOnce(&str)) -> Result<(), String> {
    let words = ["explore".to_string(), "--no-browser".into(), "--".into(), model.display().to_string()];
    let mut child = spawn(program, &words).map_err(|e| e.to_string())?;
    let lines = child.stdout.take().into_iter().flat_map(|pipe| BufReader::new(pipe).lines().map_while(Result::ok));
    let mut opened = Some(opened);
    for line in lines {
        let address = line.split_whitespace().find(|word| word.starts_with("http://"));
        if let Some((opened, address)) = address.and_then(|address| Some((opened.take()?, address))) {
            opened(address);
        }
    }
    let mut remarks = String::new();
    child.stderr.take().map(|mut pipe| pipe.read_to_string(&mut remarks));
    match child.wait().map_err(|e| e.to_string())?.code() {
        Some(0) => Ok(()),
        _ => Err(remarks.trim().to_string()),
    }
}
