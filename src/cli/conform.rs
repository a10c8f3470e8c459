//! `conform`: recorded logs held against a model.

use super::args::definition;
use super::failure::Failure;
use super::limits::{self, Voice};
use super::output::{print, print_json, remark, style, style_of_errors};
use super::search::{failed, unread};
use super::trace::{self, TraceFormat, Wanted};
use super::{chart, outputs};
use clap::{Args, ValueHint};
use scrimp::chart::Drawing;
use scrimp::logs::{Conformance, Log, Mapping, Question, Unseen, conform_file};
use scrimp::nets::Structure;
use scrimp::report::number::{parse_duration, parse_size};
use scrimp::{Loaded, NativeModel};
use scrimp_core::budget::default_memory;
use std::path::{Path, PathBuf};
use std::time::Duration;

const HELP: &str = "\
A record of the log is a JSON object, one a line. Where nothing else is said, its field `process` names
who acted and `event` what happened, in the model's words, and fields that are called like variables have
the values after the step. A mapping (docs/conform.md) says what other fields and names mean:

  process node                   the field that names the process
  process \"rm*\" = Part_*         what the log calls a process, and the model
  event kind                     the field that names the event
  event \"vote-yes\" = vote!yes    also `line 44`, `to committed`, alternatives with |
  value round = Coord.n + 1      what a field is worth; with `before`, before the step
  order clock vc                 records are ordered by vector clocks; or: order process
  skip \"heartbeat\"               such records are no part of the run

Examples:
  scrimp conform commit.pml run.jsonl --map commit.map
  scrimp conform commit.pml run.jsonl --unseen any --chart run.svg
  scrimp conform lock.dve node1.jsonl node2.jsonl --trace run.json

Exit codes: 0 the log is a run of the model, 1 it is none, 2 wrong usage, model, mapping or log,
3 incomplete (a limit was reached).";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ConformArgs {
    /// The model: .pml, .dve, .pnml, .aut or .network, also with .gz
    #[arg(value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Logs: JSON lines; - is standard input
    ///
    /// Of several logs nothing is known of the order of their records, unless the mapping names vector clocks.
    #[arg(required = true, value_name = "LOG", value_hint = ValueHint::FilePath)]
    logs: Vec<PathBuf>,

    /// Define a macro of a Promela model; repeatable
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,

    /// What the fields of the log mean
    ///
    /// Without it, what the model's leading comments say: lines such as `// conform: event kind`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    map: Option<PathBuf>,

    /// Steps that may be missing between two records: a number, or any
    ///
    /// And before the first one. [default: what the mapping says, and else 0: every step is logged]
    #[arg(long, value_name = "N", value_parser = Unseen::read)]
    unseen: Option<Unseen>,

    /// Draw the run as a chart: FILE.svg, or text
    ///
    /// A message sequence chart: a picture (FILE.svg), or text (any other name, or -).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    chart: Option<PathBuf>,

    /// Write the run to a file
    ///
    /// In --trace-format, or the form that the file's name says: .json, .itf.json, .mmd, or else text.
    /// `scrimp simulate MODEL --trace FILE.json` replays it, `scrimp explore MODEL --trace FILE.json` shows it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,

    /// text, json, table, mermaid or itf [default: text]
    ///
    /// How the run is written. Without --trace, other forms than text are the whole standard output; the answer goes to standard
    /// error.
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    trace_format: Option<TraceFormat>,

    /// Stop after this long, such as 90s or 5m
    #[arg(short, long, value_name = "DURATION", value_parser = parse_duration)]
    time: Option<Duration>,

    /// Use at most this much memory, such as 512M or 2G
    ///
    /// It counts for the whole process. [default: nine tenths of what is free]
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<usize>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Print nothing: the exit code is the answer
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &ConformArgs) -> Result<u8, Failure> {
    admit(args)?;
    limits::begin_within(args.memory, args.time, Voice { json: args.json, quiet: args.quiet })?;
    let logs =
        args.logs.iter().map(|path| Log::named(path).map_err(|e| Failure::at(path.display(), unreadable(path, e))));
    let logs = logs.collect::<Result<Vec<Log>, Failure>>()?;
    // States are hardly stored, so that it does not pay to find out how few bits they need.
    let loaded =
        Loaded::open_under(&args.model, &args.define, Structure::NONE, None, &limits::stop()).map_err(unread)?;
    loaded.system.warnings.iter().for_each(|warning| remark(warning));
    if !loaded.is_promela() && !args.define.is_empty() && !args.quiet {
        remark("warning: --define is for Promela models; it has no effect here");
    }
    let mapping = match &args.map {
        Some(path) => {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|e| Failure::at(path.display(), unreadable(path, e)))?;
            Mapping::parse(&path.display().to_string(), &text)
        }
        None => Mapping::in_comments(&args.model, &loaded.system.source),
    };
    let mapping = mapping.map_err(failed)?;
    let memory = args.memory.unwrap_or_else(default_memory);
    let question = Question { logs: &logs, mapping: &mapping, unseen: args.unseen, memory };
    let (model, found) = conform_file(loaded, &question, &limits::stop()).map_err(failed)?;
    limits::done();
    for (log, line) in found.cut.iter().filter(|_| !args.quiet) {
        remark(&format!("warning: {log}:{line}: the last line is cut off; it was left out"));
    }
    tell(args, &model, &found)?;
    Ok(found.exit_code())
}

fn unreadable(path: &Path, error: std::io::Error) -> String {
    scrimp_lang::why_unreadable(path, &error)
}

/// Refuses what would be written to the same place, or over what is read.
fn admit(args: &ConformArgs) -> Result<(), Failure> {
    let mut read: Vec<&Path> = args.logs.iter().map(PathBuf::as_path).collect();
    read.push(&args.model);
    read.extend(args.map.as_deref());
    outputs::admit(&[("--chart", args.chart.as_deref()), ("--trace", args.trace.as_deref())], &read)?;
    let stdin = args.logs.iter().filter(|path| path.as_path() == Path::new("-")).count();
    if stdin > 1 {
        return Err(Failure::because("standard input is one log\nhelp: leave one of the `-` out"));
    }
    if args.trace.as_deref() == Some(Path::new("-")) && args.trace_format.is_none() {
        let message = "--trace -: the answer on standard output has the run already";
        return Err(Failure::because(format!(
            "{message}\nhelp: choose another form with --trace-format, or name a file"
        )));
    }
    let on_output = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let document = Wanted::named(args.trace_format, args.trace.as_deref()).is_some_and(|wanted| wanted.file.is_none());
    let takers = [(args.json, "--json"), (on_output(&args.chart), "--chart -"), (document, "--trace-format")];
    let mut taken = takers.into_iter().filter(|(takes, _)| *takes).map(|(_, flag)| flag);
    match (taken.next(), taken.next()) {
        (Some(one), Some(other)) => Err(Failure::because(format!(
            "{one} and {other} would both write to standard output\nhelp: write the run to a file with --trace FILE, or the chart"
        ))),
        _ => Ok(()),
    }
}

fn tell(args: &ConformArgs, model: &NativeModel, found: &Conformance) -> Result<(), Failure> {
    let name = args.model.display().to_string();
    let wanted = Wanted::named(args.trace_format, args.trace.as_deref());
    let aside = wanted.is_some_and(|wanted| wanted.file.is_none());
    match (args.quiet, args.json, aside) {
        (true, ..) => {}
        (_, true, _) => print_json(&found.json(&name, model))?,
        (.., true) => remark(&found.text(&name, model, style_of_errors())),
        _ => print(&found.text(&name, model, style()))?,
    }
    let result = found.result();
    if let Some(wanted) = wanted {
        let text = Drawing::of(model, &result)
            .and_then(|drawing| trace::simulated(wanted.format, model, &result, &name, drawing));
        wanted.write(text.as_deref())?;
    }
    if let Some(path) = &args.chart {
        match Drawing::of(model, &result) {
            Some(drawing) => chart::write(drawing, path)?,
            None => remark(&format!("--chart {}: no run was found that could be drawn", path.display())),
        }
    }
    Ok(())
}
