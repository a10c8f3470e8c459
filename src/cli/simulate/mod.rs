//! `simulate`: runs of the model, event by event; or many of them, to find what is wrong.

mod interactive;
mod transcript;
mod walks;

use super::args::definition;
use super::failure::Failure;
use super::output::{print, remark, style};
use super::trace::{self, TraceFormat};
use super::{chart, limits, outputs};
use clap::{Args, ValueHint};
use scrimp::Loaded;
use scrimp::chart::Drawing;
use scrimp::report::number::{count_of, parse_duration, parse_size};
use scrimp::report::trace::{beginning, cycle_begins, ending, fault_rows, rows};
use scrimp::walk::{Mismatch, Node, Run, Walk, find_trace};
use scrimp_core::{PropertyResult, Step};
use scrimp_system::{Fault, Random};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;
use transcript::Transcript;

const EXAMPLES: &str = "\
Examples:
  scrimp simulate lock.pml --steps 50 --seed 7
  scrimp simulate lock.pml -i
  scrimp simulate big.pml --walks 10000 --steps 5000 --time 1m
  scrimp check lock.dve --trace run.json
  scrimp simulate lock.dve --trace run.json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SimulateArgs {
    /// The model: .pml, .dve, .pnml, .aut or .network, also with .gz
    ///
    /// Promela (.pml), DVE (.dve), a Petri net (.pnml), a labelled transition system (.aut) or a network of these (.network).
    #[arg(value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Define a macro of a Promela model; repeatable
    ///
    /// Before the model is read, as `spin -DN=3` does. Without a value it is 1.
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,

    /// Replay a run that `scrimp check --json` wrote
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,

    /// Choose each event yourself
    ///
    /// Go back, jump, and look ahead for an event or a condition; `?` lists how.
    #[arg(short, long, conflicts_with = "trace")]
    interactive: bool,

    /// Draw the run as a chart: FILE.svg, or text
    ///
    /// A message sequence chart: a picture (FILE.svg), or text (any other name, or -). Processes stand side by side, messages are arrows between them. Where the run passes no messages, every step is
    /// shown.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    chart: Option<PathBuf>,

    /// Draw only these steps, such as 100-150
    ///
    /// For --chart and --trace-format mermaid. Steps count from 1.
    #[arg(long, value_name = "A-B", value_parser = part, conflicts_with = "walks")]
    chart_steps: Option<(usize, usize)>,

    /// text, json, table, mermaid or itf [default: text]
    ///
    /// How the run is written. Other forms than text are the whole standard output; what there is to say of the run goes to standard error.
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, conflicts_with = "interactive")]
    trace_format: Option<TraceFormat>,

    /// Run N random events [default: 20]
    ///
    /// With --walks, of each walk [default: 1000].
    #[arg(short = 'n', long, value_name = "N")]
    steps: Option<u64>,

    /// The same seed gives the same run [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true, value_name = "N")]
    seed: u64,

    /// Look for errors by N random walks
    ///
    /// Looks for what `check` asks of states: deadlocks, run-time errors, assertions, or each --property. The first walk that
    /// finds a violation ends the work with exit code 1 and a run, made as short as that gets without a full search; the seed
    /// shows the walk itself again. What was not executed is listed. That nothing was found verifies nothing: the exit code
    /// is 4 then. `scrimp simulate big.pml --walks 10000 --steps 5000 --time 1m`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["trace", "interactive"])]
    walks: Option<u64>,

    /// Check this on the walks; repeatable
    ///
    /// Instead of what the model asks of itself: `deadlock`, `faults`, `assertions`, `invariant: EXPR` or `reach: EXPR`, as in `check`. Properties of infinite runs are
    /// for `check`.
    #[arg(short, long, value_name = "TEXT", requires = "walks")]
    property: Vec<String>,

    /// Threads that make walks [default: one a core]
    ///
    /// The answer is the same with any number of threads.
    #[arg(short = 'j', long, value_name = "N", requires = "walks", value_parser = threads)]
    threads: Option<usize>,

    /// Stop the walks after this long, such as 90s or 5m
    #[arg(short, long, value_name = "DURATION", value_parser = parse_duration, requires = "walks")]
    time: Option<Duration>,

    /// Use at most this much memory, such as 512M or 2G
    ///
    /// It counts for the whole process. [default: nine tenths of what is free]
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size, conflicts_with = "interactive")]
    memory: Option<usize>,

    /// Print one JSON object, with --walks
    #[arg(long, requires = "walks")]
    pub json: bool,
}

/// Random events of a run that is shown, unless said otherwise.
const STEPS: u64 = 20;

fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "expected a number from 1 to 1024".to_string())
}

fn part(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    let part = numbers.filter(|(first, last)| (1..=*last).contains(first));
    part.ok_or_else(|| "expected two numbers of steps, such as 100-150".to_string())
}

pub fn run(args: &SimulateArgs) -> Result<u8, Failure> {
    let read: Vec<&Path> =
        [Some(&args.model), args.trace.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    outputs::admit(&[("--chart", args.chart.as_deref())], &read)?;
    let format = args.trace_format.unwrap_or(TraceFormat::Text);
    let same = |flag: &str| {
        let what = format!("{flag} and --trace-format would both write to standard output");
        Err(Failure::because(format!("{what}\nhelp: give one of them")))
    };
    if args.json && args.trace_format.is_some() {
        return same("--json");
    }
    if format != TraceFormat::Text && args.chart.as_deref() == Some(Path::new("-")) {
        return same("--chart -");
    }
    if args.chart_steps.is_some() && args.chart.is_none() && format != TraceFormat::Mermaid {
        let why = "--chart-steps needs a chart\nhelp: give --chart FILE or --trace-format mermaid";
        return Err(Failure::because(why));
    }
    if let Some(count) = args.walks {
        return walks::run(args, count);
    }
    if args.memory.is_some() {
        limits::begin_within(args.memory, None, limits::Voice { json: false, quiet: false })?;
    }
    let loaded = Loaded::at_once(scrimp::open_with(&args.model, &args.define)?)?;
    loaded.system.warnings.iter().for_each(|warning| remark(warning));
    if loaded.net.is_some() && format == TraceFormat::Mermaid {
        return Err(Failure::because("--trace-format mermaid needs processes, and a net has none"));
    }
    let walk = walk(loaded)?;
    let transcript = Transcript::new(&walk.model().processes(), format != TraceFormat::Text);
    let part = args.chart_steps.unwrap_or((1, usize::MAX));
    let mut shown = Shown { walk, transcript, drawing: Drawing::default(), part, told: 0, last: None, again: None };
    if let Some(path) = &args.trace {
        let name = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|e| Failure::at(&name, scrimp_lang::why_unreadable(path, &e)))?;
        let value: Value = serde_json::from_str(&text).map_err(|e| not_json(&name, &text, &e))?;
        shown = shown.replay(&value, &name, || Ok(Loaded::open_with(&args.model, &args.define)?))?;
    } else if args.interactive {
        shown.interactive(args.seed)?;
    } else {
        shown.random(args)?;
    }
    if let (true, Some(last)) = (format != TraceFormat::Text, shown.last) {
        let mut result = PropertyResult::undecided("simulated");
        result.trace = Some(shown.walk.run(last));
        result.cycle = shown.again.map(|again| shown.count(again));
        let source = args.model.display().to_string();
        let text = trace::simulated(format, shown.walk.model(), &result, &source, shown.drawing.clone());
        print(&text.unwrap_or_default())?;
    }
    match &args.chart {
        Some(path) => chart::write(shown.drawing, path).map(|()| 0),
        None => Ok(0),
    }
}

/// A trace must be what `check --trace` or `--json` wrote; SPIN's trails are lines of numbers.
pub fn not_json(name: &str, text: &str, error: &serde_json::Error) -> Failure {
    let is_trail =
        |line: &str| line.split(':').count() == 3 && line.split(':').all(|n| n.trim().parse::<i64>().is_ok());
    let what = match name.ends_with(".trail") || text.lines().next().is_some_and(is_trail) {
        true => "this is a trail of SPIN, which is not read".to_string(),
        false => format!("this is not JSON: {error}"),
    };
    Failure::at(name, format!("{what}\nhelp: a trace is written by `scrimp check MODEL --trace run.json`"))
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
    transcript: Transcript,
    drawing: Drawing,
    /// Steps that are drawn, the first and the last, and how many were told.
    part: (usize, usize),
    told: usize,
    /// Its last state, and where its cycle begins if it goes on for ever.
    last: Option<Node>,
    again: Option<Node>,
}

impl Shown {
    fn start(&mut self, choice: usize) -> Result<Node, Failure> {
        let node = self.walk.start(choice).map_err(failed)?;
        self.tell_start(node)?;
        Ok(node)
    }

    fn tell_start(&mut self, node: Node) -> Result<(), Failure> {
        let beginning = beginning(self.walk.model(), self.walk.state(node), self.transcript.columns());
        self.transcript.show(&beginning)?;
        self.last = Some(node);
        self.tell_violations(node)
    }

    fn step(&mut self, node: Node, choice: usize) -> Result<Node, Failure> {
        let node = self.walk.step(node, choice).map_err(failed)?;
        self.tell(node)?;
        Ok(node)
    }

    /// Steps on the way to a state.
    fn count(&self, node: Node) -> usize {
        self.walk.path(node).len() - 1
    }

    /// Tells how a state was reached from the one before it.
    fn tell(&mut self, node: Node) -> Result<(), Failure> {
        let model = self.walk.model();
        let singles = self.walk.steps(node);
        let Some(first) = singles.first() else { return Ok(()) };
        let steps: Vec<Step> =
            singles.iter().map(|s| Step { event: s.event, state: s.after.clone(), edge: None }).collect();
        let mut told = rows(model, self.walk.depth(node) as usize, &first.before, &steps);
        for step in &singles {
            self.told += 1;
            if (self.part.0..=self.part.1).contains(&self.told) {
                self.drawing.step(model, &step.before, step.event);
            }
            if let (Some(violation), Some(row)) = (model.violated(&step.before, step.event), told.last_mut()) {
                row.wrong = Some(violation);
            }
        }
        self.transcript.add(told)?;
        self.last = Some(node);
        self.tell_violations(node)
    }

    /// Tells which assertions a state violates.
    fn tell_violations(&mut self, node: Node) -> Result<(), Failure> {
        let violations = self.walk.model().violations(self.walk.state(node));
        violations.iter().try_for_each(|name| self.remark(&style().bad(&format!("violated: {name}"))))
    }

    fn remark(&mut self, text: &str) -> Result<(), Failure> {
        let line = self.transcript.columns().remark(text);
        self.transcript.say(&line)
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

    /// Tells which events would end in a run-time error.
    fn tell_faults(&mut self, node: Node) -> Result<(), Failure> {
        let faults = self.walk.faults(node).map_err(failed)?;
        let model = self.walk.model();
        let mut told = Vec::new();
        for record in faults {
            let mut rows = fault_rows(model, None, record);
            if let Some(wrong) = rows.last_mut().and_then(|row| row.wrong.as_mut()) {
                *wrong = format!("would end in a run-time error: {wrong}");
            }
            told.extend(rows);
        }
        self.transcript.add(told)
    }

    /// Says how the run stands at its end.
    fn end(&mut self, node: Node) -> Result<(), Failure> {
        self.tell_faults(node)?;
        let ending = ending(self.walk.model(), self.walk.state(node), style());
        self.transcript.show(&ending)?;
        let enabled = self.enabled(node)?;
        let text = match self.walk.ending(node).map_err(failed)? {
            Some(ending) if ending.bad => style().bad(ending.text),
            Some(ending) => ending.text.to_string(),
            None => format!("{} enabled here", count_of(enabled as u64, "event")),
        };
        self.remark(&text)
    }

    /// Goes and prints the way of a trace.
    fn replay(self, value: &Value, name: &str, reload: impl Fn() -> Result<Loaded, Failure>) -> Result<Shown, Failure> {
        let trace = find_trace(value).ok_or_else(|| {
            Failure::at(name, "there is no trace in it\nhelp: write one with `scrimp check MODEL --json > FILE`")
        })?;
        let mismatch = |what: String| {
            Failure::at(name, format!("{what}\nhelp: the trace is of another model, or the model was changed"))
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
                0 => shown.tell_start(on_way)?,
                _ => shown.tell(on_way)?,
            }
            if again == Some(on_way) {
                // A part that begins later is within the loop.
                if shown.told < shown.part.1 {
                    shown.drawing.begin_loop();
                }
                if shown.enabled(on_way)? > 0 {
                    let (model, state) = (shown.walk.model(), shown.walk.state(on_way));
                    let line = cycle_begins(model, state, shown.transcript.columns(), style());
                    shown.transcript.show(&line)?;
                }
            }
        }
        // What went well is told in any case.
        shown.transcript.flush()?;
        let node = replayed.map_err(|Mismatch { message, .. }| mismatch(message))?.node;
        shown.again = again;
        if again.is_none_or(|again| again == node) {
            shown.end(node)?;
        }
        match again {
            None => {}
            Some(again) if again == node => shown.remark("nothing more can happen")?,
            Some(again) => {
                let from = shown.count(again) + 1;
                shown.remark(&format!("---- and so on for ever, from step {from} again ----"))?;
            }
        }
        shown.transcript.say(&format!("{name}: replayed, {}\n", count_of(shown.count(node) as u64, "step")))?;
        Ok(shown)
    }
}
