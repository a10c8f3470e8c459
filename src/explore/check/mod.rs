//! Checks that the page begins, one at a time: how each stands, and what came of it.
//!
//! A model file is checked by this program once more, in a process of its own. A model in Rust is only there in this
//! process, and is searched by a thread.

mod program;
mod thread;

pub use program::{Program, answer};
pub use thread::{Thread, panicked};

use super::trial::Trial;
use crate::Control;
use scrimp_explorer::{CheckOptions, Refusal};
use scrimp_suite::child;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Samples that are kept of one check.
const MOST_SAMPLES: usize = 20_000;

/// One check at a time.
pub struct Checks {
    checker: Box<dyn Checker>,
    current: Mutex<Option<Arc<Mutex<Check>>>>,
}

/// Who checks.
pub trait Checker: Send + Sync {
    /// Makes ready a check of these properties; without any, of all that the model asks. A text that is tried is checked
    /// instead of the model's.
    fn prepare(&self, properties: &[String], options: &CheckOptions, trial: Option<Trial>) -> Result<Work, Refusal>;
}

/// A check that can begin.
pub struct Work {
    /// How to do the same on the command line, where that can be done.
    command: Option<String>,
    running: Option<Running>,
    run: Run,
}

/// Runs a check to its end, and takes note of how it goes and of the answer; fails where there can be none.
type Run = Box<dyn FnOnce(&Mutex<Check>) -> Result<(), String> + Send>;

/// What can be asked to stop.
enum Running {
    Process(u32),
    Search(Arc<Control>),
}

/// How a check stands.
pub struct Check {
    /// Which model it is of, and whether of a text that was not saved.
    version: u32,
    trial: bool,
    command: Option<String>,
    begun: Instant,
    /// How long it took, once it has ended.
    took: Option<Duration>,
    running: Option<Running>,
    stopped: Option<Instant>,
    samples: Vec<Value>,
    answer: Option<Value>,
    /// What it said beside its answer.
    remarks: String,
}

impl Checks {
    pub fn new(checker: impl Checker + 'static) -> Checks {
        Checks { checker: Box::new(checker), current: Mutex::new(None) }
    }

    pub fn begin(
        &self,
        properties: &[String],
        options: &CheckOptions,
        version: u32,
        trial: Option<Trial>,
    ) -> Result<Value, Refusal> {
        let mut current = lock(&self.current);
        if current.as_ref().is_some_and(|check| lock(check).took.is_none()) {
            return Err(Refusal::conflict("a check is running"));
        }
        let is_trial = trial.is_some();
        let Work { command, running, run } = self.checker.prepare(properties, options, trial)?;
        let check = Arc::new(Mutex::new(Check {
            version,
            trial: is_trial,
            command,
            begun: Instant::now(),
            took: None,
            running,
            stopped: None,
            samples: Vec::new(),
            answer: None,
            remarks: String::new(),
        }));
        *current = Some(check.clone());
        // What does the checking lives as long as the thread that has started it.
        std::thread::spawn(move || {
            if let Err(error) = run(&check) {
                lock(&check).remarks.push_str(&error);
            }
            let mut check = lock(&check);
            (check.took, check.running) = (Some(check.begun.elapsed()), None);
        });
        Ok(json!({ "running": true }))
    }

    fn current(&self) -> Result<Arc<Mutex<Check>>, Refusal> {
        lock(&self.current).clone().ok_or_else(|| Refusal::unknown("nothing was checked yet"))
    }

    /// How it stands, with the samples from this number on.
    pub fn told(&self, from: usize) -> Result<Value, Refusal> {
        let Some(current) = lock(&self.current).clone() else {
            return Ok(json!({ "running": false, "nothing": true }));
        };
        let check = lock(&current);
        let samples = check.samples.get(from.min(check.samples.len())..).unwrap_or_default();
        let mut told = json!({
            "running": check.took.is_none(),
            "version": check.version,
            "trial": check.trial,
            "seconds": check.took.unwrap_or_else(|| check.begun.elapsed()).as_secs_f64(),
            "command": check.command,
            "samples": samples,
            "next": check.samples.len(),
        });
        if check.took.is_none() {
            return Ok(told);
        }
        let remarks = check.remarks.trim();
        match &check.answer {
            None => {
                told["verdict"] = "error".into();
                told["message"] =
                    if remarks.is_empty() { "the check came to no answer".into() } else { remarks.into() };
            }
            Some(answer) => {
                for (name, value) in answer.as_object().into_iter().flatten() {
                    if !matches!(name.as_str(), "properties" | "unreached" | "coverage" | "level_sizes" | "seconds") {
                        told[name.as_str()] = value.clone();
                    }
                }
                let properties = answer["properties"].as_array().map_or(&[][..], Vec::as_slice);
                told["properties"] = properties.iter().enumerate().map(property).collect();
                if !remarks.is_empty() && told["message"].is_null() {
                    told["message"] = remarks.into();
                }
            }
        }
        Ok(told)
    }

    pub fn stop(&self) -> Result<Value, Refusal> {
        let current = self.current()?;
        let mut check = lock(&current);
        let first = check.stopped.is_none();
        match &check.running {
            None => return Ok(json!({})),
            // Asked once, it says what it knows; asked again, it ends.
            Some(Running::Process(process)) => child::signal(*process, first),
            Some(Running::Search(control)) => control.interrupt(),
        }
        check.stopped.get_or_insert_with(Instant::now);
        Ok(json!({}))
    }

    /// The run that was found for a property, what is to be said of that, and which model it is of.
    pub fn trace(&self, property: usize) -> Result<(Value, Value, u32), Refusal> {
        let current = self.current()?;
        let check = lock(&current);
        let property = check.answer.as_ref().map(|answer| &answer["properties"][property]);
        match property {
            Some(property) if property["trace"]["steps"].is_array() => {
                Ok((property["trace"].clone(), described(property), check.version))
            }
            _ => Err(Refusal::unknown("there is no run for this property")),
        }
    }
}

/// What is to be said of the property whose run is the first in the answer of a check that was saved. The run can still be
/// gone, but nobody has looked whether the model is the one that was checked.
pub fn about(answer: &Value) -> Value {
    let mut properties = answer["properties"].as_array().into_iter().flatten();
    let found = properties.find(|property| property["trace"]["steps"].is_array());
    let mut about = found.map_or_else(|| of_trace(answer), described);
    if about.is_object() {
        about["saved"] = true.into();
    }
    about
}

/// What a run that was saved by itself shows: it has the name of its property, which says whether the run breaks it.
fn of_trace(document: &Value) -> Value {
    let Some(name) = document["property"].as_str() else { return Value::Null };
    const BROKEN: [&str; 8] =
        ["deadlock", "faults", "assertion", "invariant", "ltl", "never claim", "accepting", "progress"];
    let verdict = match () {
        () if name.starts_with("reach:") => "verified",
        () if BROKEN.iter().any(|kind| name.starts_with(kind)) => "violated",
        () => return Value::Null,
    };
    json!({ "name": name, "verdict": verdict })
}

/// What a run shows: which property, whether it breaks that, and what exactly went wrong.
fn described(property: &Value) -> Value {
    json!({
        "name": property["name"], "verdict": property["verdict"],
        "what": property["fault"]["fault"], "line": property["fault"]["line"],
    })
}

/// A property without its run, which may be long.
fn property((number, property): (usize, &Value)) -> Value {
    let single = property["trace"]["steps"].as_array();
    // What is atomic is one step.
    let steps = single.map(|single| single.iter().filter(|step| !step["event"].is_null()).count());
    let single = single.map(Vec::len);
    json!({
        "number": number, "name": property["name"], "verdict": property["verdict"], "answer": property["answer"],
        "how": property["how"], "vacuous": property["vacuous"], "fault": property["fault"],
        "steps": steps, "single": single, "loop": property["trace"]["loop"],
    })
}

impl Check {
    fn sample(&mut self, sample: Value) {
        if self.samples.len() < MOST_SAMPLES {
            self.samples.push(sample);
        }
    }

    fn remark(&mut self, line: &str) {
        if self.remarks.len() < 10_000 {
            self.remarks.push_str(line);
            self.remarks.push('\n');
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
