//! `simulate`: runs of the model, event by event; or many of them, to find what is wrong.

mod interactive;
mod walks;

use super::args::definition;
use super::failure::Failure;
use super::output::{print, remark, style};
use super::{chart, outputs};
use clap::{Args, ValueHint};
use scrimp::Loaded;
use scrimp::chart::Drawing;
use scrimp::report::number::{count_of, parse_duration, parse_size};
use scrimp::report::trace::{beginning, step_lines};
use scrimp::report::{lasso, process};
use scrimp::walk::{Mismatch, Node, Run, Walk, find_trace};
use scrimp_system::{Fault, Random};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// The model: DVE (.dve), Promela (.pml), a Petri net (.pnml), a labelled transition system (.aut) or a network of
    /// these (.network), also compressed (.gz)
    #[arg(value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Define a macro of a Promela model before it is read, as `spin -DN=3` does; may be given several times
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,

    /// Replay a trace: a file written by `scrimp check --json`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,

    /// Choose each event yourself; go back, jump, and look ahead for an event or a condition (`?` lists how)
    #[arg(short, long, conflicts_with = "trace")]
    interactive: bool,

    /// Draw the run as a message sequence chart: a picture (FILE.svg), or text (any other name, or -)
    ///
    /// Processes stand side by side, messages are arrows between them. Where the run passes no messages, every step is
    /// shown.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    chart: Option<PathBuf>,

    /// How many random events to run, at most [default: 20; 1000 with --walks]
    #[arg(short = 'n', long, value_name = "N")]
    steps: Option<u64>,

    /// Seed of the random choice: the same seed takes the same way
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Make N random walks and look for errors on the way, instead of showing one run
    ///
    /// Looks for what `check` asks of states: deadlocks, run-time errors, assertions, or each --property. The first walk that
    /// finds a violation ends the work with exit code 1 and a run, made as short as that gets without a full search; the seed
    /// shows the walk itself again. What was not executed is listed. That nothing was found verifies nothing: the exit code
    /// is 4 then. `scrimp simulate big.pml --walks 10000 --steps 5000 --time 1m`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["trace", "interactive"])]
    walks: Option<u64>,

    /// A property to look for on the walks, instead of those of the model; may be given several times
    ///
    /// `deadlock`, `faults`, `assertions`, `invariant: EXPR` or `reach: EXPR`, as in `check`. Properties of infinite runs are
    /// for `check`.
    #[arg(short, long, value_name = "TEXT", requires = "walks")]
    property: Vec<String>,

    /// Threads that walk side by side; the answer stays the same [default: all there are]
    #[arg(short = 'j', long, value_name = "N", requires = "walks", value_parser = threads)]
    threads: Option<usize>,

    /// The longest the walks may take, such as 90s, 5m or 2h
    #[arg(short, long, value_name = "DURATION", value_parser = parse_duration, requires = "walks")]
    time: Option<Duration>,

    /// The most memory the whole process may use, such as 512M or 2G [default: nine tenths of what is free]
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size, requires = "walks")]
    memory: Option<usize>,

    /// Write one JSON object to standard output
    #[arg(long, requires = "walks")]
    pub json: bool,
}

/// Random events of a run that is shown, unless said otherwise.
const STEPS: u64 = 20;

fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "expected a number from 1 to 1024".to_string())
}

pub fn run(args: &SimulateArgs) -> Result<u8, Failure> {
    let read: Vec<&Path> =
        [Some(&args.model), args.trace.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    outputs::admit(&[("--chart", args.chart.as_deref())], &read)?;
    if let Some(count) = args.walks {
        return walks::run(args, count);
    }
    let loaded = Loaded::at_once(scrimp::open_with(&args.model, &args.define)?)?;
    loaded.system.warnings.iter().for_each(|warning| remark(warning));
    let mut shown = Shown { walk: walk(loaded)?, steps: 0, drawing: Drawing::default() };
    if let Some(path) = &args.trace {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Failure::at(&name, e))?;
        let value: Value = serde_json::from_str(&text).map_err(|e| Failure::at(&name, e))?;
        shown = shown.replay(&value, &name, || Ok(Loaded::open_with(&args.model, &args.define)?))?;
    } else if args.interactive {
        shown.interactive(args.seed)?;
    } else {
        shown.random(args)?;
    }
    match &args.chart {
        Some(path) => chart::write(shown.drawing, path).map(|()| 0),
        None => Ok(0),
    }
}

fn walk(loaded: Loaded) -> Result<Walk, Failure> {
    Walk::new(loaded).map_err(failed)
}

fn failed(error: Box<dyn std::error::Error>) -> Failure {
    Failure::because(error)
}

/// A run, and what was printed of it.
struct Shown {
    walk: Walk,
    /// Single steps so far.
    steps: usize,
    drawing: Drawing,
}

impl Shown {
    fn start(&mut self, choice: usize) -> Result<Node, Failure> {
        let node = self.walk.start(choice).map_err(failed)?;
        print(&beginning(self.walk.model(), self.walk.state(node), style()))?;
        self.tell_violations(node)?;
        Ok(node)
    }

    fn step(&mut self, node: Node, choice: usize) -> Result<Node, Failure> {
        let node = self.walk.step(node, choice).map_err(failed)?;
        self.tell(node)?;
        Ok(node)
    }

    /// Prints how a state was reached from the one before it.
    fn tell(&mut self, node: Node) -> Result<(), Failure> {
        let model = self.walk.model();
        for step in self.walk.steps(node) {
            self.steps += 1;
            print(&step_lines(model, self.steps, step.event, &step.before, &step.after, style()))?;
            self.drawing.step(model, &step.before, step.event);
            if let Some(violation) = model.violated(&step.before, step.event) {
                print(&format!("       {}\n", style().bad(&violation)))?;
            }
        }
        self.tell_violations(node)
    }

    /// Prints which assertions a state violates.
    fn tell_violations(&self, node: Node) -> Result<(), Failure> {
        for name in self.walk.model().violations(self.walk.state(node)) {
            print(&format!("       {}\n", style().bad(&format!("violated: {name}"))))?;
        }
        Ok(())
    }

    fn random(&mut self, args: &SimulateArgs) -> Result<(), Failure> {
        let mut random = Random(args.seed);
        let mut node = self.start(random.below(self.walk.starts().len()))?;
        for _ in 0..args.steps.unwrap_or(STEPS) {
            let enabled = self.enabled(node)?;
            if enabled == 0 || self.is_bad(node)? {
                break;
            }
            node = self.step(node, random.below(enabled))?;
        }
        self.end(node)
    }

    fn enabled(&mut self, node: Node) -> Result<usize, Failure> {
        Ok(self.walk.choices(node).map_err(failed)?.batch.len())
    }

    /// Is something wrong here: an assertion that the last step or this state violates, or an event that ends in a fault?
    fn is_bad(&mut self, node: Node) -> Result<bool, Failure> {
        let faults = self.walk.faults(node).map_err(failed)?;
        // An event that violates an assertion happens all the same, and says so then.
        Ok(faults.iter().any(|record| record.fault != Fault::Assertion)
            || self.walk.violated(node)
            || !self.walk.model().violations(self.walk.state(node)).is_empty())
    }

    /// Prints which events would end in a fault.
    fn tell_faults(&mut self, node: Node) -> Result<(), Failure> {
        let faults = self.walk.faults(node).map_err(failed)?;
        let model = self.walk.model();
        for record in faults {
            let text = model.event(record.event);
            let fault = style().bad(&model.fault(record));
            print(&match text.steps.first() {
                None => format!("       {} would end in a fault: {fault} [line {}]\n", text.label, text.line),
                Some(step) => {
                    format!("{}\n       would end in a fault: {fault}\n", process::statement(self.steps + 1, step))
                }
            })?;
        }
        Ok(())
    }

    /// Says how the run stands at its end.
    fn end(&mut self, node: Node) -> Result<(), Failure> {
        self.tell_faults(node)?;
        let model = self.walk.model();
        let state = self.walk.state(node);
        if !model.standing(state).is_empty() {
            print(&process::standing(model, self.steps, state))?;
        }
        let enabled = self.enabled(node)?;
        print(&match self.walk.ending(node).map_err(failed)? {
            Some(ending) if ending.bad => format!("       {}\n", style().bad(ending.text)),
            Some(ending) => format!("       {}\n", ending.text),
            None => format!("       {} enabled here\n", count_of(enabled as u64, "event")),
        })
    }

    /// Goes and prints the way of a trace.
    fn replay(self, value: &Value, name: &str, reload: impl Fn() -> Result<Loaded, Failure>) -> Result<Shown, Failure> {
        let trace = find_trace(value).ok_or_else(|| {
            Failure::at(name, "there is no trace in it\nhelp: write one with `scrimp check MODEL --json > FILE`")
        })?;
        let mismatch = |what: String| {
            Failure::at(name, format!("{what}\nhelp: the trace belongs to another model, or the model was changed"))
        };
        let run = Run::of(trace).map_err(&mismatch)?;
        let mut shown = self;
        // The run may be one of the model with its claim, or without it.
        let mut replayed = shown.walk.replay(&run);
        if replayed.is_err() {
            let mut other = walk(reload()?)?;
            if other.take_other_claim().map_err(failed)?
                && let Ok(found) = other.replay(&run)
            {
                (shown.walk, replayed) = (other, Ok(found));
            }
        }
        let (node, again) = match &replayed {
            Ok(replayed) => (Some(replayed.node), replayed.again),
            Err(Mismatch { node, .. }) => (*node, None),
        };
        for (i, on_way) in node.map_or(Vec::new(), |node| shown.walk.path(node)).into_iter().enumerate() {
            match i {
                0 => print(&beginning(shown.walk.model(), shown.walk.state(on_way), style()))?,
                _ => shown.tell(on_way)?,
            }
            if again == Some(on_way) {
                shown.drawing.begin_loop();
                if shown.enabled(on_way)? > 0 {
                    print(&lasso::beginning(shown.walk.model(), shown.walk.state(on_way), style()))?;
                }
            }
        }
        let node = replayed.map_err(|Mismatch { message, .. }| mismatch(message))?.node;
        shown.end(node)?;
        match again {
            None => {}
            Some(again) if again == node => print("       nothing more can happen, for ever\n")?,
            Some(again) => {
                let before: usize = shown.walk.path(again).into_iter().map(|node| shown.walk.steps(node).len()).sum();
                print(&format!("       back where the loop began, after step {before}: and so on for ever\n"))?;
            }
        }
        print(&format!("{name}: replayed, {} events\n", shown.steps))?;
        Ok(shown)
    }
}
