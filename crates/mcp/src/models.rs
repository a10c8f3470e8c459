//! What is known of models: every tool, as a run of the command and what is made of its answer.

use crate::arguments::{Bounds, Said};
use crate::call::{self, Call, Listener, Take};
use crate::folder::Folder;
use crate::server::Serving;
use crate::tools::Tool;
use crate::traces::{Kept, Of, Traces};
use crate::turn::Queue;
use crate::window::{MOST, USUAL, Window};
use crate::{answer, found};
use scrimp_report::number::bytes;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long a tool may take that searches nothing.
const SHORT: Duration = Duration::from_secs(60);
/// Steps of a chart where nothing is said.
const DRAWN: u64 = 100;
/// Bytes of what a command says that went wrong.
const MOST_SAID: usize = 8 << 10;

pub struct Models {
    serving: Serving,
    traces: Traces,
    queue: Queue,
}

/// Who asks, and hears how far the answer is.
pub trait Asker: Listener {
    fn call(&self) -> &Call;
    /// Others are served before.
    fn waits(&self, before: usize);
}

impl Models {
    pub fn new(serving: Serving) -> std::io::Result<Models> {
        Ok(Models { serving, traces: Traces::new()?, queue: Queue::default() })
    }

    /// What a tool answers, made small.
    pub fn answer(&self, tool: Tool, said: &Said, asker: &dyn Asker) -> Result<Value, String> {
        let answered = match tool {
            Tool::Open => self.opened(said, asker),
            Tool::Next => self.next(said, asker),
            Tool::Check | Tool::Count => self.search(tool.name(), &[], said, asker).map(|report| {
                answer::report(&report, |name, value| {
                    said.with(name, value).is_some_and(|said| said.words(self.bounds()).is_ok())
                })
            }),
            Tool::Simulate => self.simulated(said, asker),
            Tool::Explain => self.kept(said).and_then(|kept| self.explained(&kept, asker)),
            Tool::Trace => self.kept(said).and_then(|kept| self.shown(&kept, said, asker)),
            Tool::Chart => self.kept(said).and_then(|kept| self.drawn(&kept, said, asker)),
        };
        match answered {
            Ok(mut answer) => {
                answer::fit(&mut answer);
                Ok(answer)
            }
            Err(mut why) => {
                answer::shorten(&mut why, MOST_SAID);
                Err(why)
            }
        }
    }

    fn opened(&self, said: &Said, asker: &dyn Asker) -> Result<Value, String> {
        let plan = self.search("plan", &[], said, asker)?;
        let words = self.simulation(said, 0)?;
        let run = self.object(&words, SHORT, asker, |_, _| json!({}))?;
        Ok(answer::opened(&plan, Some(&run["trace"]["initial"])))
    }

    /// What would be accepted: each proposal is tried.
    fn next(&self, said: &Said, asker: &dyn Asker) -> Result<Value, String> {
        let bounds = self.bounds();
        let plan = self.search("plan", &[], said, asker)?;
        let accepted = |name: &str, value: &str| match said.with(name, value) {
            Some(changed) => {
                self.search("plan", &["--admit"], &changed, asker).is_ok_and(|told| told["admitted"] == true)
            }
            None => false,
        };
        let mut advice = Vec::new();
        for proposed in plan["advice"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if let Some((name, value, why)) = answer::advised(proposed).filter(|(name, value, _)| accepted(name, value))
            {
                advice.push(format!("{name}: {value} ({why})"));
            }
        }
        let more_time = said.time(bounds)? < bounds.time;
        let time = format!("{} s", bounds.time.as_secs());
        if plan["complete"] == true {
            let more = if more_time {
                format!(", with more time (up to {time}) if that was the limit")
            } else {
                String::new()
            };
            advice.push(format!("the whole model has few states: check it{more}"));
        } else {
            advice.extend(more_time.then(|| format!("time: more, up to {time}")));
            let more_memory = said.memory(bounds)? < bounds.memory;
            advice.extend(more_memory.then(|| format!("memory: more, up to {}", bytes(bounds.memory))));
            if said.text("order").is_none() && accepted("order", "dfs") {
                advice.push("order: dfs (one path at a time, to look for an error instead of a proof)".into());
            }
            advice.push("`simulate` with other seeds, to look for an error instead of a proof".into());
        }
        Ok(answer::next(&plan, advice))
    }

    fn simulated(&self, said: &Said, asker: &dyn Asker) -> Result<Value, String> {
        let words = self.simulation(said, said.number("steps").unwrap_or(20))?;
        let of = Of { model: self.model(said)?, define: said.texts("define"), property: None };
        let run = self.object(&words, SHORT, asker, |run, found| self.keep(of.clone(), run, found))?;
        let Some(number) = run["run"].as_u64() else {
            return Err(run["run_lost"].as_str().unwrap_or("there is no run").to_string());
        };
        let window = Window::BEGINNING;
        let kept = self.traces.get(number)?;
        let shown = self.replayed(&kept, &["--trace-format=text".into()], window, asker)?;
        let mut told = window.told(&shown.output);
        told["run"] = number.into();
        Ok(told)
    }

    fn explained(&self, kept: &Kept, asker: &dyn Asker) -> Result<Value, String> {
        let window = Window::BEGINNING;
        let mut told = window.told(&self.replayed(kept, &["--trace-format=text".into()], window, asker)?.output);
        told["model"] = kept.model.display().to_string().into();
        for name in ["name", "verdict", "fault", "condition_fault", "state", "processes"] {
            let value = kept.property.as_ref().map_or(&Value::Null, |property| &property[name]);
            if !value.is_null() {
                told[if name == "name" { "property" } else { name }] = value.clone();
            }
        }
        Ok(told)
    }

    fn shown(&self, kept: &Kept, said: &Said, asker: &dyn Asker) -> Result<Value, String> {
        let format = said.text("format").unwrap_or("text");
        let lines = said.number("lines");
        let window = Window {
            first: said.number("first").unwrap_or(1).max(1),
            lines: lines.unwrap_or(Window::BEGINNING.lines),
            bytes: if lines.is_some() { MOST } else { USUAL },
        };
        Ok(window.told(&self.replayed(kept, &[format!("--trace-format={format}")], window, asker)?.output))
    }

    /// Some steps of a run as a chart.
    fn drawn(&self, kept: &Kept, said: &Said, asker: &dyn Asker) -> Result<Value, String> {
        let first = said.number("first").unwrap_or(1).max(1);
        let last = first.saturating_add(said.number("steps").unwrap_or(DRAWN).max(1) - 1).min(kept.steps.max(1));
        if first > last {
            return Err(format!("this run has {} steps; expected one of these as `first`, found {first}", kept.steps));
        }
        let mut words = vec![format!("--chart-steps={first}-{last}")];
        let whole = Window { first: 1, lines: u64::MAX, bytes: MOST };
        let shown = if said.text("format") == Some("mermaid") {
            words.push("--trace-format=mermaid".into());
            self.replayed(kept, &words, whole, asker)?.output
        } else {
            let ending = if said.text("format") == Some("svg") { "svg" } else { "txt" };
            let file = self.traces.file(&format!("chart-{}.{ending}", kept.number));
            words.push(format!("--chart={}", file.display()));
            let replayed = self.replayed(kept, &words, Window { lines: 0, ..whole }, asker);
            let read = replayed.and_then(|_| {
                let file = std::fs::File::open(&file).map_err(|e| e.to_string())?;
                whole.read(file).map_err(|e| e.to_string())
            });
            let _ = std::fs::remove_file(file);
            read?
        };
        let most = if said.number("steps").is_some() { MOST } else { USUAL };
        if shown.text.len() > most || shown.is_part() {
            return Err(format!(
                "a chart of {} steps has more than {} KiB\nhelp: ask for fewer `steps`, or for another `format`",
                last + 1 - first,
                most >> 10
            ));
        }
        let mut told = json!({ "text": String::from_utf8_lossy(&shown.text), "steps": kept.steps });
        if (first, last) != (1, kept.steps) {
            told["shown"] = json!([first, last]);
        }
        if last < kept.steps {
            told["advice"] = format!("this is a part; ask `chart` with first = {} for more", last + 1).into();
        }
        Ok(told)
    }

    fn bounds(&self) -> Bounds {
        Bounds { memory: self.serving.memory, time: self.serving.time }
    }

    fn folder(&self) -> &Folder {
        &self.serving.folder
    }

    fn model(&self, said: &Said) -> Result<PathBuf, String> {
        self.folder().model(said.text("model").unwrap_or_default())
    }

    fn kept(&self, said: &Said) -> Result<Arc<Kept>, String> {
        self.traces.get(said.number("trace").unwrap_or_default())
    }

    /// Keeps a run that was found; what to say of it.
    fn keep(&self, of: Of, run: &str, found: &Value) -> Value {
        match self.traces.keep(of, found["trace"]["length"].as_u64().unwrap_or(0), run) {
            Ok(number) => json!({ "run": number }),
            Err(error) => json!({ "run_lost": format!("the run could not be kept: {error}") }),
        }
    }

    /// The words of a command about a model, within the bounds of the server.
    fn words(&self, command: &str, flags: Vec<String>, define: &[String], model: &Path) -> Vec<String> {
        let mut words = vec![command.to_string(), format!("--within={}", self.folder().path().display())];
        words.extend(flags);
        words.extend(define.iter().map(|define| format!("--define={define}")));
        words.extend(["--".to_string(), model.display().to_string()]);
        words
    }

    /// The words of a random run.
    fn simulation(&self, said: &Said, steps: u64) -> Result<Vec<String>, String> {
        let mut flags = vec![format!("--steps={steps}"), "--trace-format=json".into(), self.memory()];
        flags.extend(said.number("seed").map(|seed| format!("--seed={seed}")));
        Ok(self.words("simulate", flags, &said.texts("define"), &self.model(said)?))
    }

    fn memory(&self) -> String {
        format!("--memory={}B", self.serving.memory)
    }

    /// A run once more, in some form.
    fn replayed(&self, kept: &Kept, flags: &[String], part: Window, asker: &dyn Asker) -> Result<call::Said, String> {
        let model = self.folder().model(&kept.model.display().to_string())?;
        let mut all = vec![format!("--trace={}", kept.file.display()), self.memory()];
        all.extend_from_slice(flags);
        let words = self.words("simulate", all, &kept.define, &model);
        let said = self.run(&words, SHORT, Take::Part(part), asker)?;
        match said.code {
            Some(0 | 1) => Ok(said),
            _ => Err(told(&said)),
        }
    }

    /// A command about the state space.
    fn search(&self, command: &str, more: &[&str], said: &Said, asker: &dyn Asker) -> Result<Value, String> {
        let of = Of { model: self.model(said)?, define: said.texts("define"), property: None };
        let mut flags = vec!["--json".to_string(), "--show-progress=json".into()];
        flags.extend(more.iter().map(|flag| flag.to_string()));
        flags.extend(said.words(self.bounds())?);
        let words = self.words(command, flags, &[], &of.model);
        let keep = |run: &str, property: &Value| {
            self.keep(Of { property: Some(property.clone()), ..of.clone() }, run, property)
        };
        self.object(&words, self.serving.time, asker, keep)
    }

    /// A command that prints an object.
    fn object(
        &self,
        words: &[String],
        most: Duration,
        asker: &dyn Asker,
        mut keep: impl FnMut(&str, &Value) -> Value,
    ) -> Result<Value, String> {
        let said = self.run(words, most, Take::Whole, asker)?;
        if said.too_long {
            let help =
                "\nhelp: what it found is too long to be kept; ask for fewer steps, or a shorter run (order: bfs)";
            return Err(format!("the command has answered more than is read{help}"));
        }
        let keep = |run: &str, found: &Value| keep(run, found).as_object().cloned().unwrap_or_default();
        match found::read(&said.output.text, keep) {
            Ok(answer) if answer["verdict"] == "error" => Err(answer["message"].as_str().unwrap_or("").to_string()),
            Ok(answer) if said.code != Some(2) => Ok(answer),
            _ => Err(told(&said)),
        }
    }

    /// Runs a command when it is its turn.
    fn run(&self, words: &[String], most: Duration, take: Take, asker: &dyn Asker) -> Result<call::Said, String> {
        let call = asker.call();
        let turn = self.queue.turn(|before| {
            if before > 0 {
                asker.waits(before);
            }
            !call.is_ended()
        });
        let Some(turn) = turn else { return Err("cancelled".into()) };
        let ran = call.run(&self.serving.program, words, most, take, asker);
        drop(turn);
        ran.map_err(|error| format!("the command cannot be run: {error}"))
    }
}

/// Why a command has no answer.
fn told(said: &call::Said) -> String {
    let remarks = said.remarks.trim();
    match (said.code, remarks.is_empty()) {
        (Some(3), _) => "a limit was reached: the memory, or the time, is not enough for an answer".into(),
        (_, false) => remarks.to_string(),
        (_, true) => "the command ended without an answer".into(),
    }
}
