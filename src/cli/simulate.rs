//! `simulate`: one run of the model, event by event.

use super::args::SimulateArgs;
use super::search::load;
use super::{Failure, print, style};
use scrimp::report::number::count_of;
use scrimp::report::trace::{state_lines, step_lines};
use scrimp::{Batch, Model, NativeModel};
use scrimp_system::Random;
use serde_json::Value;
use std::io::{BufRead, Write};

pub fn run(args: &SimulateArgs) -> Result<u8, Failure> {
    let model = load(&args.model, false, false)?;
    let mut walk = Walk::new(model);
    if let Some(path) = &args.trace {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Failure(format!("{name}: error: {e}")))?;
        let value: Value = serde_json::from_str(&text).map_err(|e| Failure(format!("{name}: error: {e}")))?;
        return walk.replay(&value, &name);
    }
    let mut random = Random(args.seed);
    if args.interactive {
        return walk.interactive();
    }
    let start = random.below(walk.choices.len());
    walk.start(start)?;
    for _ in 0..args.steps {
        if walk.choices.is_empty() {
            break;
        }
        walk.step(random.below(walk.choices.len()))?;
    }
    walk.end()?;
    Ok(0)
}

/// A run in progress: the present state and where it can go.
struct Walk<'a> {
    model: &'a NativeModel,
    state: Batch,
    choices: Batch,
    deadlock: bool,
    steps: usize,
}

impl<'a> Walk<'a> {
    /// Before the first state: the choices are the initial states.
    fn new(model: &'a NativeModel) -> Walk<'a> {
        let bytes = model.state_bytes();
        let mut choices = Batch::new(bytes);
        model.initial(&mut choices);
        Walk { model, state: Batch::new(bytes), choices, deadlock: false, steps: 0 }
    }

    fn start(&mut self, choice: usize) -> Result<(), Failure> {
        print(&format!("{:>5}  initial state\n", 0))?;
        self.enter(choice);
        print(&state_lines(self.model, self.state.state(0)))
    }

    fn enter(&mut self, choice: usize) {
        self.state.clear();
        self.state.push(self.choices.state(choice), self.choices.event(choice));
        self.choices.clear();
        self.model.expand(self.state.state(0), &mut self.choices);
        self.deadlock = self.choices.take_deadlock(self.choices.len());
    }

    fn step(&mut self, choice: usize) -> Result<(), Failure> {
        let (before, after) = (self.state.state(0), self.choices.state(choice));
        let mut before = before.to_vec();
        for (event, after) in self.model.steps(&before, self.choices.event(choice), after) {
            self.steps += 1;
            print(&step_lines(self.model, self.steps, event, &before, &after, style()))?;
            before = after;
        }
        self.enter(choice);
        Ok(())
    }

    /// Says how the run stands at its end.
    fn end(&self) -> Result<(), Failure> {
        for record in self.choices.faults() {
            let text = self.model.event(record.event);
            let fault = self.model.fault(*record);
            print(&format!("       {} would end in a fault: {fault} [line {}]\n", text.label, text.line))?;
        }
        print(&match self.choices.len() {
            0 if self.deadlock => "       deadlock: no event is enabled\n".into(),
            0 if self.model.system().claim.is_none() => "       the end: nothing more can happen\n".into(),
            0 => "       the model could move, but its property automaton cannot follow\n".into(),
            count => format!("       {} enabled here\n", count_of(count as u64, "event")),
        })
    }

    fn interactive(&mut self) -> Result<u8, Failure> {
        if self.choices.len() == 1 {
            self.start(0)?;
        } else {
            let list = (0..self.choices.len())
                .map(|i| format!("  {i}: {}", state_lines(self.model, self.choices.state(i)).trim()));
            print(&format!("initial states:\n{}\n", list.collect::<Vec<_>>().join("\n")))?;
            match self.ask()? {
                Some(choice) => self.start(choice)?,
                None => return Ok(0),
            }
        }
        loop {
            if self.choices.is_empty() {
                self.end()?;
                return Ok(0);
            }
            for i in 0..self.choices.len() {
                let text = self.model.event(self.choices.event(i));
                print(&format!("    {i:>3}: {}  [line {}]\n", text.label, text.line))?;
            }
            match self.ask()? {
                Some(choice) => self.step(choice)?,
                None => return Ok(0),
            }
        }
    }

    /// A number from the user; `None` at the end of the input or on `q`.
    fn ask(&self) -> Result<Option<usize>, Failure> {
        loop {
            print(&format!("event 0-{}, or q: ", self.choices.len() - 1))?;
            std::io::stdout().flush()?;
            let mut line = String::new();
            if std::io::stdin().lock().read_line(&mut line)? == 0 {
                print("\n")?;
                return Ok(None);
            }
            match line.trim() {
                "q" | "quit" => return Ok(None),
                answer => match answer.parse::<usize>() {
                    Ok(choice) if choice < self.choices.len() => return Ok(Some(choice)),
                    _ => print("please give one of the numbers above\n")?,
                },
            }
        }
    }

    /// Runs the events of a trace, each of which must be enabled and change what the trace says.
    fn replay(&mut self, value: &Value, name: &str) -> Result<u8, Failure> {
        let trace = find_trace(value).ok_or_else(|| {
            Failure(format!(
                "{name}: error: there is no trace in it\nhelp: write one with `scrimp check MODEL --json > FILE`"
            ))
        })?;
        let mismatch = |what: String| {
            Failure(format!(
                "{name}: error: {what}\nhelp: the trace belongs to another model, or the model was changed"
            ))
        };
        let initial = &trace["initial"];
        let start = (0..self.choices.len()).find(|&i| {
            self.model.values(self.choices.state(i)).iter().all(|(name, value)| initial[name] == value.as_str())
        });
        self.start(start.ok_or_else(|| mismatch("the model has no such initial state".into()))?)?;
        for step in trace["steps"].as_array().into_iter().flatten() {
            if step["event"].is_null() {
                continue; // on the way to the next one
            }
            let label = step["label"].as_str().unwrap_or("?");
            let number = self.steps + 1;
            let choice = (0..self.choices.len())
                .find(|&i| step["event"] == self.choices.event(i))
                .ok_or_else(|| mismatch(format!("step {number}, {label}: the event is not enabled")))?;
            let values = self.model.values(self.choices.state(choice));
            for (variable, expected) in step["changes"].as_object().into_iter().flatten() {
                let found = values.iter().find(|(name, _)| name == variable).map(|(_, value)| value.as_str());
                if found != expected.as_str() {
                    let found = found.unwrap_or("nothing");
                    return Err(mismatch(format!(
                        "step {number}, {label}: {variable} becomes {found}, not {expected}"
                    )));
                }
            }
            self.step(choice)?;
        }
        self.end()?;
        print(&format!("{name}: replayed, {} events\n", self.steps))?;
        Ok(0)
    }
}

/// The trace itself, or the first one in the answer of a check.
fn find_trace(value: &Value) -> Option<&Value> {
    if value["steps"].is_array() {
        return Some(value);
    }
    value["properties"].as_array()?.iter().map(|p| &p["trace"]).find(|t| t["steps"].is_array())
}
