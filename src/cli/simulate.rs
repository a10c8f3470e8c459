//! `simulate`: one run of the model, event by event.

use super::args::SimulateArgs;
use super::chart::Drawing;
use super::search::runnable;
use super::{Failure, print, remark, style};
use scrimp::report::lasso;
use scrimp::report::number::count_of;
use scrimp::report::process;
use scrimp::report::trace::{beginning, state_lines, step_lines};
use scrimp::{Batch, Loaded, Model, NativeModel};
use scrimp_system::Random;
use serde_json::Value;
use std::io::{BufRead, Write};

pub fn run(args: &SimulateArgs) -> Result<u8, Failure> {
    let loaded = Loaded::open_with(&args.model, &args.define)?;
    loaded.system.warnings.iter().for_each(|warning| remark(warning));
    let mut walk = Walk::new(loaded)?;
    if let Some(path) = &args.trace {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Failure(format!("{name}: error: {e}")))?;
        let value: Value = serde_json::from_str(&text).map_err(|e| Failure(format!("{name}: error: {e}")))?;
        // The run may be one of the model with its claim, or without it.
        let other = find_trace(&value).is_some_and(|trace| !walk.knows(trace));
        if other && (walk.loaded.take_claim()?.is_some() || walk.loaded.add_claim()?) {
            walk = Walk::new(walk.loaded)?;
        }
        walk.replay(&value, &name)?;
    } else if args.interactive {
        walk.interactive()?;
    } else {
        walk.random(args)?;
    }
    match &args.chart {
        Some(path) => walk.drawing.write(path).map(|()| 0),
        None => Ok(0),
    }
}

/// A run in progress: the present state and where it can go.
struct Walk {
    loaded: Loaded,
    model: &'static NativeModel,
    state: Batch,
    choices: Batch,
    /// What was chosen so far.
    taken: Vec<usize>,
    deadlock: bool,
    /// An assertion was violated on the way.
    violated: bool,
    steps: usize,
    /// Where its loop began: so much was chosen before, and so many steps were made.
    loop_begun: Option<(usize, usize)>,
    drawing: Drawing,
}

impl Walk {
    /// Before the first state: the choices are the initial states.
    fn new(loaded: Loaded) -> Result<Walk, Failure> {
        let model = runnable(loaded.system.clone(), false, false)?;
        let bytes = model.state_bytes();
        let mut choices = Batch::new(bytes);
        model.initial(&mut choices);
        let (state, taken) = (Batch::new(bytes), Vec::new());
        Ok(Walk {
            loaded,
            model,
            state,
            choices,
            taken,
            deadlock: false,
            violated: false,
            steps: 0,
            loop_begun: None,
            drawing: Drawing::default(),
        })
    }

    fn start(&mut self, choice: usize) -> Result<(), Failure> {
        self.enter(choice)?;
        print(&beginning(self.model, self.state.state(0), style()))
    }

    /// Goes on to a choice. Where something can be started there for which the system has no room, a larger system takes
    /// over: it has the same choices on the way here, in the same order.
    fn enter(&mut self, choice: usize) -> Result<(), Failure> {
        self.taken.push(choice);
        self.advance(choice);
        while self.loaded.grow(self.model)? {
            self.model = runnable(self.loaded.system.clone(), false, false)?;
            let bytes = self.model.state_bytes();
            (self.state, self.choices) = (Batch::new(bytes), Batch::new(bytes));
            self.model.initial(&mut self.choices);
            for i in 0..self.taken.len() {
                if self.taken[i] >= self.choices.len() {
                    return Err(Failure("error: the run cannot be taken up again with more processes".into()));
                }
                self.advance(self.taken[i]);
            }
        }
        Ok(())
    }

    fn advance(&mut self, choice: usize) {
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
            self.drawing.step(self.model, &before, event);
            if let Some(violation) = self.model.violated(&before, event) {
                print(&format!("       {}\n", style().bad(&violation)))?;
                self.violated = true;
            }
            before = after;
        }
        self.enter(choice)
    }

    fn random(&mut self, args: &SimulateArgs) -> Result<(), Failure> {
        let mut random = Random(args.seed);
        let start = random.below(self.choices.len());
        self.start(start)?;
        for _ in 0..args.steps {
            if self.choices.is_empty() || self.violated {
                break;
            }
            self.step(random.below(self.choices.len()))?;
        }
        self.end()
    }

    /// Says how the run stands at its end.
    fn end(&self) -> Result<(), Failure> {
        let state = self.state.state(0);
        let processes = !self.model.standing(state).is_empty();
        for record in self.choices.faults() {
            let text = self.model.event(record.event);
            let fault = self.model.fault(*record);
            print(&match text.steps.first() {
                None => format!("       {} would end in a fault: {fault} [line {}]\n", text.label, text.line),
                Some(step) => {
                    format!("{}\n       would end in a fault: {fault}\n", process::statement(self.steps + 1, step))
                }
            })?;
        }
        if processes {
            print(&process::standing(self.model, self.steps, state))?;
        }
        print(&match self.choices.len() {
            0 if self.deadlock && processes => "       invalid end state: nothing more can happen\n".into(),
            0 if self.deadlock => "       deadlock: no event is enabled\n".into(),
            0 if self.model.system().claim.is_none() => "       the end: nothing more can happen\n".into(),
            0 => "       the model could move, but its property automaton cannot follow\n".into(),
            count => format!("       {} enabled here\n", count_of(count as u64, "event")),
        })
    }

    fn interactive(&mut self) -> Result<(), Failure> {
        if self.choices.len() == 1 {
            self.start(0)?;
        } else {
            let list = (0..self.choices.len())
                .map(|i| format!("  {i}: {}", state_lines(self.model, self.choices.state(i)).trim()));
            print(&format!("initial states:\n{}\n", list.collect::<Vec<_>>().join("\n")))?;
            match self.ask()? {
                Some(choice) => self.start(choice)?,
                None => return Ok(()),
            }
        }
        loop {
            if self.choices.is_empty() {
                return self.end();
            }
            for i in 0..self.choices.len() {
                let text = self.model.event(self.choices.event(i));
                let place = match text.steps.first() {
                    Some(step) => format!("proc {} ({}) {}:{}", step.process, step.name, step.file, step.line),
                    None => format!("line {}", text.line),
                };
                print(&format!("    {i:>3}: {}  [{place}]\n", text.label))?;
            }
            match self.ask()? {
                Some(choice) => self.step(choice)?,
                None => return Ok(()),
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

    /// Has the model everything that the trace names?
    fn knows(&self, trace: &Value) -> bool {
        let names: Vec<String> = self.model.values(self.choices.state(0)).into_iter().map(|(name, _)| name).collect();
        trace["initial"].as_object().is_none_or(|initial| initial.keys().all(|key| names.contains(key)))
    }

    /// Runs the events of a trace, each of which must be enabled and change what the trace says.
    fn replay(&mut self, value: &Value, name: &str) -> Result<(), Failure> {
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
        let steps = trace["steps"].as_array().map_or(&[][..], Vec::as_slice);
        let again = loop_of(trace, steps).map_err(&mismatch)?;
        for (i, step) in steps.iter().enumerate() {
            if again == Some(i) {
                self.begin_loop()?;
            }
            if step["event"].is_null() {
                continue; // on the way to the next one
            }
            let label = step["label"].as_str().unwrap_or("?");
            let number = self.steps + 1;
            // A larger system of the same model has other numbers for the same events.
            let same = |i: &usize| step["event"] == self.choices.event(*i) && self.label(*i) == label;
            let alike = |i: &usize| self.label(*i) == label && self.differs(*i, step).is_none();
            let all = 0..self.choices.len();
            let choice = (all.clone().find(same).filter(|i| self.differs(*i, step).is_none()))
                .or_else(|| all.clone().find(alike).filter(|_| self.loaded.system.outgrown.is_some()))
                .or_else(|| all.clone().find(|i| step["event"] == self.choices.event(*i)))
                .ok_or_else(|| mismatch(format!("step {number}, {label}: the event is not enabled")))?;
            if let Some(difference) = self.differs(choice, step) {
                return Err(mismatch(format!("step {number}, {label}: {difference}")));
            }
            self.step(choice)?;
        }
        if again == Some(steps.len()) {
            self.begin_loop()?;
        }
        self.end()?;
        if again.is_some() {
            print(&self.end_loop().map_err(&mismatch)?)?;
        }
        print(&format!("{name}: replayed, {} events\n", self.steps))
    }

    /// From here on the run is a loop.
    fn begin_loop(&mut self) -> Result<(), Failure> {
        self.loop_begun = Some((self.taken.len(), self.steps));
        self.drawing.begin_loop();
        match self.choices.is_empty() {
            true => Ok(()),
            false => print(&lasso::beginning(self.model, self.state.state(0), style())),
        }
    }

    /// Is the run where its loop began, or nothing more can happen? Otherwise, what is wrong with it?
    fn end_loop(&self) -> Result<String, String> {
        let (taken, steps) = self.loop_begun.unwrap_or((self.taken.len(), self.steps));
        if taken == self.taken.len() {
            return match self.choices.len() {
                0 => Ok("       nothing more can happen, for ever\n".into()),
                _ => Err("it says that nothing more can happen, but something can".into()),
            };
        }
        // The states of a system that has grown since are others: the way there is gone once more.
        let mut way = (Batch::new(self.model.state_bytes()), Batch::new(self.model.state_bytes()));
        self.model.initial(&mut way.1);
        for &choice in &self.taken[..taken] {
            if choice >= way.1.len() {
                return Err("the run cannot be taken up again with more processes".into());
            }
            way.0.clear();
            way.0.push(way.1.state(choice), way.1.event(choice));
            way.1.clear();
            self.model.expand(way.0.state(0), &mut way.1);
            way.1.take_deadlock(way.1.len());
        }
        let (before, after) = (way.0.state(0), self.state.state(0));
        if before == after {
            return Ok(format!("       back where the loop began, after step {steps}: and so on for ever\n"));
        }
        let values = self.model.values(before).into_iter().zip(self.model.values(after));
        let differs = values.filter(|(a, b)| a != b).map(|((name, a), (_, b))| format!("{name} was {a} and is {b}"));
        Err(format!("the run is not back where its loop began: {}", differs.collect::<Vec<_>>().join(", ")))
    }

    /// The label that a trace has for a choice: that of the step that it ends with.
    fn label(&self, choice: usize) -> String {
        let (code, after) = (self.choices.event(choice), self.choices.state(choice));
        let steps = self.model.steps(self.state.state(0), code, after);
        self.model.event(steps.last().map_or(code, |(event, _)| *event)).label
    }

    /// What becomes otherwise by a choice than a step of a trace says.
    fn differs(&self, choice: usize, step: &Value) -> Option<String> {
        let values = self.model.values(self.choices.state(choice));
        for (variable, expected) in step["changes"].as_object().into_iter().flatten() {
            let found = values.iter().find(|(name, _)| name == variable).map(|(_, value)| value.as_str());
            if found != expected.as_str() {
                return Some(format!("{variable} becomes {}, not {expected}", found.unwrap_or("nothing")));
            }
        }
        None
    }
}

/// Where the loop of a trace begins among its steps, if it says that it goes on for ever.
fn loop_of(trace: &Value, steps: &[Value]) -> Result<Option<usize>, String> {
    if trace["loop"].is_null() {
        return Ok(None);
    }
    let again =
        trace["loop"].as_u64().and_then(|again| usize::try_from(again).ok()).filter(|again| *again <= steps.len());
    let again = again.ok_or_else(|| format!("there is no step {} at which a loop could begin", trace["loop"]))?;
    match again.checked_sub(1).is_some_and(|last| steps[last]["event"].is_null()) {
        true => Err(format!("the loop begins after step {again}, which leads to no state")),
        false => Ok(Some(again)),
    }
}

/// The trace itself, or the first one in the answer of a check.
fn find_trace(value: &Value) -> Option<&Value> {
    if value["steps"].is_array() {
        return Some(value);
    }
    value["properties"].as_array()?.iter().map(|p| &p["trace"]).find(|t| t["steps"].is_array())
}
