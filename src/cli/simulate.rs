//! `simulate`: one run of the model, event by event.

use super::args::definition;
use super::failure::Failure;
use super::output::{print, remark, style};
use super::{chart, outputs};
use clap::{Args, ValueHint};
use scrimp::Loaded;
use scrimp::chart::Drawing;
use scrimp::report::number::count_of;
use scrimp::report::trace::{beginning, state_lines, step_lines};
use scrimp::report::{lasso, process};
use scrimp::walk::{Mismatch, Node, Run, Walk, find_trace};
use scrimp_system::Random;
use serde_json::Value;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

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

    /// Choose each event yourself
    #[arg(short, long, conflicts_with = "trace")]
    interactive: bool,

    /// Draw the run as a message sequence chart: a picture (FILE.svg), or text (any other name, or -)
    ///
    /// Processes stand side by side, messages are arrows between them. Where the run passes no messages, every step is
    /// shown.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    chart: Option<PathBuf>,

    /// How many random events to run
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    steps: usize,

    /// Seed of the random choice: the same seed takes the same way
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

pub fn run(args: &SimulateArgs) -> Result<u8, Failure> {
    let read: Vec<&Path> =
        [Some(&args.model), args.trace.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    outputs::admit(&[("--chart", args.chart.as_deref())], &read)?;
    let loaded = Loaded::at_once(scrimp::open_with(&args.model, &args.define)?)?;
    loaded.system.warnings.iter().for_each(|warning| remark(warning));
    let mut shown = Shown { walk: walk(loaded)?, steps: 0, drawing: Drawing::default() };
    if let Some(path) = &args.trace {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Failure::at(&name, e))?;
        let value: Value = serde_json::from_str(&text).map_err(|e| Failure::at(&name, e))?;
        shown = shown.replay(&value, &name, || Ok(Loaded::open_with(&args.model, &args.define)?))?;
    } else if args.interactive {
        shown.interactive()?;
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
        Ok(())
    }

    fn random(&mut self, args: &SimulateArgs) -> Result<(), Failure> {
        let mut random = Random(args.seed);
        let mut node = self.start(random.below(self.walk.starts().len()))?;
        for _ in 0..args.steps {
            let enabled = self.enabled(node)?;
            if enabled == 0 || self.walk.violated(node) {
                break;
            }
            node = self.step(node, random.below(enabled))?;
        }
        self.end(node)
    }

    fn enabled(&mut self, node: Node) -> Result<usize, Failure> {
        Ok(self.walk.choices(node).map_err(failed)?.batch.len())
    }

    /// Says how the run stands at its end.
    fn end(&mut self, node: Node) -> Result<(), Failure> {
        let faults = self.walk.faults(node).map_err(failed)?;
        let model = self.walk.model();
        for record in faults {
            let text = model.event(record.event);
            let fault = model.fault(record);
            print(&match text.steps.first() {
                None => format!("       {} would end in a fault: {fault} [line {}]\n", text.label, text.line),
                Some(step) => {
                    format!("{}\n       would end in a fault: {fault}\n", process::statement(self.steps + 1, step))
                }
            })?;
        }
        let state = self.walk.state(node);
        if !model.standing(state).is_empty() {
            print(&process::standing(model, self.steps, state))?;
        }
        let enabled = self.enabled(node)?;
        print(&match self.walk.ending(node).map_err(failed)? {
            Some(ending) => format!("       {}\n", ending.text),
            None => format!("       {} enabled here\n", count_of(enabled as u64, "event")),
        })
    }

    fn interactive(&mut self) -> Result<(), Failure> {
        let starts = self.walk.starts().len();
        let mut node = match starts {
            1 => self.start(0)?,
            _ => {
                let (model, starts) = (self.walk.model(), self.walk.starts());
                let list = (0..starts.len()).map(|i| format!("  {i}: {}", state_lines(model, starts.state(i)).trim()));
                print(&format!("initial states:\n{}\n", list.collect::<Vec<_>>().join("\n")))?;
                match ask(starts.len())? {
                    Some(choice) => self.start(choice)?,
                    None => return Ok(()),
                }
            }
        };
        loop {
            let events: Vec<_> = {
                let batch = &self.walk.choices(node).map_err(failed)?.batch;
                (0..batch.len()).map(|i| batch.event(i)).collect()
            };
            if events.is_empty() {
                return self.end(node);
            }
            for (i, event) in events.iter().enumerate() {
                let text = self.walk.model().event(*event);
                let place = match text.steps.first() {
                    Some(step) => format!("proc {} ({}) {}:{}", step.process, step.name, step.file, step.line),
                    None => format!("line {}", text.line),
                };
                print(&format!("    {i:>3}: {}  [{place}]\n", text.label))?;
            }
            match ask(events.len())? {
                Some(choice) => node = self.step(node, choice)?,
                None => return Ok(()),
            }
        }
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

/// A number from the user; `None` at the end of the input or on `q`.
fn ask(choices: usize) -> Result<Option<usize>, Failure> {
    loop {
        print(&format!("event 0-{}, or q: ", choices - 1))?;
        std::io::stdout().flush()?;
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            print("\n")?;
            return Ok(None);
        }
        match line.trim() {
            "q" | "quit" => return Ok(None),
            answer => match answer.parse::<usize>() {
                Ok(choice) if choice < choices => return Ok(Some(choice)),
                _ => print("please give one of the numbers above\n")?,
            },
        }
    }
}
