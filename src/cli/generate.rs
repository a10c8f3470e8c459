//! `generate`: runs that cover a model, to drive an implementation with them.

use super::args::definition;
use super::failure::Failure;
use super::limits::{self, Voice};
use super::output::{print, print_json, remark, style};
use super::outputs;
use super::search::{failed, unread};
use clap::{Args, ValueHint};
use scrimp::generate::{Wish, generate};
use scrimp::nets::Structure;
use scrimp::report::Overall;
use scrimp::report::generated::{Cover, Form};
use scrimp::report::number::{parse_duration, parse_size};
use scrimp::{Loaded, Mode};
use scrimp_search::replace;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub const HELP: &str = "\
Examples:
  scrimp generate lock.dve --cover transitions --output runs.json
  scrimp generate lock.pml --cover statements --folder runs
  scrimp generate net.pnml --cover pairs --folder runs --format itf
  scrimp generate lock.dve --cover goals --goal 'P_0@cs' --goal 'P_1@cs'

Exit codes: 0 all is covered that can be, 2 wrong usage or wrong model,
3 incomplete (a limit was reached, or something may be left).";

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// The model: .pml, .dve, .pnml, .aut or .network, also with .gz
    ///
    /// Promela (.pml), DVE (.dve), a Petri net (.pnml), a labelled transition system (.aut) or a network of these (.network).
    #[arg(value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// What to cover: transitions, statements, pairs or goals
    ///
    /// `transitions`: those of the processes of a DVE model, those of a net (of a coloured one with any colours), the labels of a
    /// network. `statements`: those of a Promela model. `pairs`: two of these, where one is executed by a step and the other by
    /// the next step of the run. `goals`: conditions, each of which holds in some state of a run.
    #[arg(long, value_name = "WHAT")]
    cover: Cover,

    /// A condition for --cover goals; repeatable
    ///
    /// As in `reach: EXPR` of `scrimp check`: 'P_0@cs && x > 2'.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    goal: Vec<String>,

    /// Define a macro of a Promela model; repeatable
    ///
    /// Before the model is read, as `spin -DN=3` does. Without a value it is 1.
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,

    /// Write all runs, and what each covers, to one file
    #[arg(short, long, value_name = "FILE.json", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Write each run to a file of its own in this folder
    ///
    /// `scrimp simulate MODEL --trace DIR/run_1.json` replays it. The folder is made where it is not there.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,

    /// json, or itf: how each run is written [default: json]
    ///
    /// `json` has the steps, as `check --trace FILE.json` writes them; `itf` has the values of all variables in each state, in the
    /// Informal Trace Format of Apalache and Quint.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Form>,

    /// Use at most this much memory, such as 512M or 2G
    ///
    /// It counts for the whole process. [default: nine tenths of what is free]
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<usize>,

    /// Stop after this long, such as 90s, 5m or 2h
    #[arg(short, long, value_name = "DURATION", value_parser = parse_duration)]
    time: Option<Duration>,

    /// Print what --output writes, and no summary
    #[arg(long)]
    pub json: bool,

    /// Print no summary
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

pub fn run(args: &GenerateArgs) -> Result<u8, Failure> {
    if args.format.is_some() && args.output.is_none() && args.folder.is_none() && !args.json {
        let why = "--format says how runs are written, and none are";
        return Err(Failure::because(format!("{why}\nhelp: add --output FILE.json or --folder DIR")));
    }
    outputs::admit(&[("--output", args.output.as_deref())], &[&args.model])?;
    limits::begin_within(args.memory, args.time, Voice { json: args.json, quiet: args.quiet })?;
    let loaded = Loaded::open_under(&args.model, &args.define, Structure::ALL, None, &limits::stop());
    let loaded = loaded.map_err(unread)?;
    if !args.quiet {
        loaded.system.warnings.iter().for_each(|warning| remark(warning));
    }
    if let Some(folder) = &args.folder {
        std::fs::create_dir_all(folder).map_err(|e| Failure::with("--folder", folder.display(), e))?;
    }
    let form = args.format.unwrap_or_default();
    // From here on memory is asked for before it is taken.
    let _counted = limits::control(None);
    let wish = Wish { cover: args.cover, goals: args.goal.clone(), memory: args.memory };
    let (model, suite) = generate(loaded, &wish, Mode::Auto).map_err(failed)?;
    limits::done();
    let name = args.model.display().to_string();
    if let Some(path) = &args.output {
        write("--output", path, &suite.json(&name, &*model, form))?;
    }
    if let Some(folder) = &args.folder {
        write_each(folder, &suite.documents(&name, &*model, form), form)?;
    }
    match (args.json, args.quiet) {
        (true, _) => print_json(&suite.json(&name, &*model, form))?,
        (_, true) => {}
        (false, false) => print(&suite.text(&name, style()))?,
    }
    Ok(if suite.is_complete() { 0 } else { Overall::Incomplete.exit_code() })
}

/// Writes runs to files with numbers of equal length, and names those of an earlier time, which are no part of it.
fn write_each(folder: &Path, runs: &[Value], form: Form) -> Result<(), Failure> {
    let digits = runs.len().to_string().len();
    let end = if form == Form::Itf { "itf.json" } else { "json" };
    let names: Vec<String> = (1..=runs.len()).map(|number| format!("run_{number:0digits$}.{end}")).collect();
    for (name, run) in names.iter().zip(runs) {
        write("--folder", &folder.join(name), run)?;
    }
    let entries = std::fs::read_dir(folder).map_err(|e| Failure::with("--folder", folder.display(), e))?;
    let found = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut others: Vec<String> =
        found.filter(|name| name.starts_with("run_") && name.ends_with(".json") && !names.contains(name)).collect();
    others.sort_unstable();
    if let Some(first) = others.first() {
        let more = if others.len() > 1 { format!(" and {} more", others.len() - 1) } else { String::new() };
        remark(&format!(
            "warning: {}: {first}{more}: written at another time, and no part of these runs",
            folder.display()
        ));
    }
    Ok(())
}

fn write(flag: &str, path: &Path, object: &Value) -> Result<(), Failure> {
    replace(path, |out| out.write_all(format!("{object:#}\n").as_bytes()))
        .map_err(|e| Failure::with(flag, path.display(), e))
}
