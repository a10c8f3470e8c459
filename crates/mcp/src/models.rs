//! What is known of models: every tool, as a run of the command and what is made of its answer.

use crate::answer;
use crate::arguments::{Bounds, Said};
use crate::call::{self, Call};
use crate::server::Serving;
use crate::tools::Tool;
use crate::traces::{Kept, Traces};
use scrimp_report::number::bytes;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two words of how far a search is.
const PAUSE: Duration = Duration::from_millis(500);
/// How long a tool may take that searches nothing.
const SHORT: Duration = Duration::from_secs(60);
/// Lines of a run that are shown where nothing is said.
const LINES: usize = 200;

pub struct Models {
    serving: Serving,
    traces: Traces,
    /// Held by the one search that runs.
    turn: Mutex<()>,
}

impl Models {
    pub fn new(serving: Serving) -> std::io::Result<Models> {
        Ok(Models { serving, traces: Traces::new()?, turn: Mutex::default() })
    }

    /// What a tool answers. `tell` hears how far a search is; nothing where nobody listens.
    pub fn answer(&self, tool: Tool, said: &Said, call: &Call, tell: Option<&dyn Fn(&Value)>) -> Result<Value, String> {
        match tool {
            Tool::Open => {
                let plan = self.search("plan", said, call, None)?;
                let model = self.model(said)?;
                let words = self.simulation(said, &model, "0", "json");
                let run: Value = self.object(&words, call)?;
                Ok(answer::opened(&plan, Some(&run["trace"]["initial"])))
            }
            Tool::Next => {
                let plan = self.search("plan", said, call, None)?;
                let limits = (bytes(self.serving.memory), format!("{} s", self.serving.time.as_secs()));
                Ok(answer::next(&plan, (&limits.0, &limits.1)))
            }
            Tool::Check | Tool::Count => {
                let report = self.search(tool.name(), said, call, tell)?;
                let model = self.model(said)?;
                let define = said.texts("define");
                Ok(answer::report(&report, |property| {
                    let trace = Some(&property["trace"]).filter(|trace| trace.is_object())?;
                    let mut shown = property.clone();
                    shown["trace"] = Value::Null;
                    self.traces.keep(&model, &define, Some(shown), trace).ok()
                }))
            }
            Tool::Simulate => {
                let model = self.model(said)?;
                let steps = said.number("steps").unwrap_or(20).to_string();
                let run = self.object(&self.simulation(said, &model, &steps, "json"), call)?;
                let number = self.traces.keep(&model, &said.texts("define"), None, &run["trace"]);
                let kept = self.traces.get(number.map_err(|e| e.to_string())?)?;
                let mut told = answer::lines(&self.replayed(&kept, &["--trace-format=text".into()], call)?, 1, LINES);
                told["run"] = kept.number.into();
                Ok(told)
            }
            Tool::Explain => {
                let kept = self.kept(said)?;
                let mut told = answer::lines(&self.replayed(&kept, &["--trace-format=text".into()], call)?, 1, LINES);
                told["model"] = kept.model.display().to_string().into();
                for name in ["name", "verdict", "fault", "condition_fault", "state", "processes"] {
                    let value = kept.property.as_ref().map_or(&Value::Null, |property| &property[name]);
                    if !value.is_null() {
                        told[if name == "name" { "property" } else { name }] = value.clone();
                    }
                }
                Ok(told)
            }
            Tool::Trace => {
                let kept = self.kept(said)?;
                let format = said.text("format").unwrap_or("text");
                let text = self.replayed(&kept, &[format!("--trace-format={format}")], call)?;
                let first = said.number("first").unwrap_or(1) as usize;
                Ok(answer::lines(&text, first, said.number("lines").map_or(LINES, |lines| lines as usize)))
            }
            Tool::Chart => {
                let kept = self.kept(said)?;
                if said.text("format") == Some("mermaid") {
                    let text = self.replayed(&kept, &["--trace-format=mermaid".into()], call)?;
                    return Ok(answer::lines(&text, 1, usize::MAX));
                }
                let ending = if said.text("format") == Some("svg") { "svg" } else { "txt" };
                let file = self.traces.file(&format!("chart-{}.{ending}", kept.number));
                self.replayed(&kept, &[format!("--chart={}", file.display())], call)?;
                let text = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
                let _ = std::fs::remove_file(file);
                Ok(answer::lines(&text, 1, usize::MAX))
            }
        }
    }

    fn model(&self, said: &Said) -> Result<PathBuf, String> {
        self.serving.folder.model(said.text("model").unwrap_or_default())
    }

    fn kept(&self, said: &Said) -> Result<Arc<Kept>, String> {
        self.traces.get(said.number("trace").unwrap_or_default())
    }

    /// The words of a random run.
    fn simulation(&self, said: &Said, model: &Path, steps: &str, format: &str) -> Vec<String> {
        let mut words = vec!["simulate".to_string(), format!("--steps={steps}"), format!("--trace-format={format}")];
        words.extend(said.number("seed").map(|seed| format!("--seed={seed}")));
        words.extend(said.texts("define").iter().map(|define| format!("--define={define}")));
        words.extend(["--".to_string(), model.display().to_string()]);
        words
    }

    /// A run once more, in some form.
    fn replayed(&self, kept: &Kept, flags: &[String], call: &Call) -> Result<String, String> {
        // What the model names may have changed since the run was found.
        let model = self.serving.folder.model(&kept.model.display().to_string())?;
        let mut words = vec!["simulate".to_string(), format!("--trace={}", kept.file.display())];
        words.extend_from_slice(flags);
        words.extend(kept.define.iter().map(|define| format!("--define={define}")));
        words.extend(["--".to_string(), model.display().to_string()]);
        let said = self.run(&words, SHORT, call, |_| {})?;
        match said.code {
            Some(0 | 1) => Ok(String::from_utf8_lossy(&said.output).into_owned()),
            _ => Err(told(&said)),
        }
    }

    /// A command about the state space, when it is its turn.
    fn search(&self, command: &str, said: &Said, call: &Call, tell: Option<&dyn Fn(&Value)>) -> Result<Value, String> {
        let model = self.model(said)?;
        let bounds = Bounds { memory: self.serving.memory, time: self.serving.time };
        let mut words = vec![command.to_string(), "--json".into()];
        words.extend(tell.map(|_| "--show-progress=json".to_string()));
        words.extend(said.words(bounds)?);
        words.extend(["--".to_string(), model.display().to_string()]);
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last: Option<Instant> = None;
        let said = self.run(&words, self.serving.time, call, |sample| {
            if let Some(tell) = tell.filter(|_| last.is_none_or(|last| last.elapsed() > PAUSE)) {
                tell(sample);
                last = Some(Instant::now());
            }
        })?;
        drop(turn);
        match serde_json::from_slice::<Value>(&said.output) {
            Ok(answer) if answer["verdict"] == "error" => Err(answer["message"].as_str().unwrap_or("").to_string()),
            Ok(answer) if said.code != Some(2) => Ok(answer),
            _ => Err(told(&said)),
        }
    }

    /// A command that prints an object.
    fn object(&self, words: &[String], call: &Call) -> Result<Value, String> {
        let said = self.run(words, SHORT, call, |_| {})?;
        serde_json::from_slice(&said.output).map_err(|_| told(&said))
    }

    fn run(
        &self,
        words: &[String],
        most: Duration,
        call: &Call,
        progress: impl FnMut(&Value),
    ) -> Result<call::Said, String> {
        if call.is_ended() {
            return Err("cancelled".into());
        }
        call.run(&self.serving.program, words, most, progress).map_err(|e| format!("the command cannot be run: {e}"))
    }
}

/// Why a command has no answer.
fn told(said: &call::Said) -> String {
    let remarks = said.remarks.trim();
    match remarks.is_empty() {
        true => "the command ended without an answer".into(),
        false => remarks.to_string(),
    }
}
