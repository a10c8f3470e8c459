//! `bench`: a suite from its file to its table, or a model with more and more threads.

use super::failure::Failure;
use super::output::{print as answer, remark};
use super::{curves, outputs, report};
use clap::{Args, ValueHint};
use scrimp_report::number::count_of;
use scrimp_report::plot::print::{self, Sheet};
use scrimp_search::replace;
use scrimp_suite::case::{Case, Kind};
use scrimp_suite::csv::csv;
use scrimp_suite::figures::{Figure, of_suite};
use scrimp_suite::html::results;
use scrimp_suite::latex::latex;
use scrimp_suite::log::Log;
use scrimp_suite::matrix;
use scrimp_suite::means::{Means, by_model, by_model_and_label};
use scrimp_suite::measure::by_configuration;
use scrimp_suite::record::Outcome;
use scrimp_suite::runner::{Row, Runner};
use scrimp_suite::scaling;
use scrimp_suite::suite::{self, Given, Suite};
use scrimp_suite::summary::{by_task, summary};
use scrimp_suite::table::{Table, complaints};
use scrimp_suite::template::command_line;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const HELP: &str = "\
A suite is a TOML file; docs/suites.md explains it. A small one:

  title = \"Philosophers\"
  [limits]
  time = \"1m\"
  memory = \"1G\"
  [[task]]
  name = \"orders\"
  models = [\"models/phils*.dve\"]
  flags = [\"--order ${order}\"]
  sweep = { order = [\"bfs\", \"dfs\"] }
  expect = { verdict = \"verified\", stored_peak = { at-most = 700_000 } }

Every run is a process of its own and leaves one line in the results file as it ends. After a
kill the same command goes on where it was. Crashes, time and memory limits are recorded, and
the suite goes on. The table at the end shows ours beside what was published.

Of a model, every store is tried with every number of threads, several times, and the fastest counts:
times, states a second and speedups are printed, and --plot draws them.";

const EXAMPLES: &str = "\
Examples:
  scrimp bench benches/pseudo-root.toml
  scrimp bench benches/caching.toml --set bench=FOLDER --filter at.2 --jobs 2
  scrimp bench suite.toml --list
  scrimp bench suite.toml --fresh --repeat 3 --markdown table.md
  scrimp bench suite.toml --report suite.html
  scrimp bench suite.toml --figures figures --latex tables.tex --csv runs.csv
  scrimp bench models/phils6.dve
  scrimp bench model.dve --threads 1,2,4,8 --plot speedup.svg";

const CODES: &str = "\
Exit codes: 0 all expectations held, 1 something is wrong (a value, a crash, a refused command),
2 the suite cannot be run, 3 interrupted (what is done is kept).";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{HELP}\n\n{EXAMPLES}\n\n{CODES}"))]
pub struct BenchArgs {
    /// The suite: a TOML file; or a model, to time it
    #[arg(value_hint = ValueHint::FilePath)]
    suite: PathBuf,

    /// Of a model: numbers of threads [1,2,4,…]
    ///
    /// Up to the number of cores.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    threads: Vec<NonZeroUsize>,

    /// Of a model: the stores [packed,table,tree]
    #[arg(long, value_name = "STORE,…", value_delimiter = ',')]
    store: Vec<String>,

    /// Of a model: more flags of `count`: '--memory 8G'
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    flags: Option<String>,

    /// The results file [default: SUITE.results.jsonl]
    ///
    /// Of a model, none is kept.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,

    /// Drop earlier results, start over
    #[arg(long)]
    fresh: bool,

    /// Run N cases side by side [default: 1]
    ///
    /// Figures of time are better with one.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, hide_default_value = true)]
    jobs: usize,

    /// Repeat N times, take the fastest [default: 1]
    ///
    /// Of a model, 3 times.
    #[arg(long, value_name = "N")]
    repeat: Option<usize>,

    /// Run only cases that contain TEXT
    ///
    /// In task, model and configuration, as --list shows them.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Set a variable of the suite; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,

    /// Skip tasks whose model does not exist
    ///
    /// They are recorded as skipped. Without this flag such a suite is refused.
    #[arg(long)]
    skip_missing: bool,

    /// List the cases, run nothing
    #[arg(long)]
    list: bool,

    /// Write the table as Markdown, with commands
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    markdown: Option<PathBuf>,

    /// Write the results as a page for a browser
    ///
    /// Tables, what is wrong, how much was solved within which time.
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    report: Option<PathBuf>,

    /// Write every run as a line of CSV
    ///
    /// Comma-separated values, with all figures as they are.
    #[arg(long, value_name = "FILE.csv", value_hint = ValueHint::FilePath)]
    csv: Option<PathBuf>,

    /// Write tables and means for LaTeX, with booktabs
    #[arg(long, value_name = "FILE.tex", value_hint = ValueHint::FilePath)]
    latex: Option<PathBuf>,

    /// Write every plot as SVG and PDF into a folder
    ///
    /// As wide as a column of a paper (84 mm).
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    figures: Option<PathBuf>,

    /// Plot speedups over threads: FILE.svg, or text
    ///
    /// Of a model, or of a suite with a setting `threads`: a picture (FILE.svg), pages for print (FILE.pdf), or text (any other
    /// name, or -).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    plot: Option<PathBuf>,

    /// Print no line for each run
    #[arg(short, long)]
    quiet: bool,
}

/// Where nothing else is asked for: how often a model is run, and in which stores.
const REPEAT: usize = 3;
const STORES: [&str; 3] = ["packed", "table", "tree"];

/// Interrupted.
const STOPPED: u8 = 3;

impl BenchArgs {
    fn is_of_model(&self) -> bool {
        let given = !self.threads.is_empty() || !self.store.is_empty() || self.flags.is_some();
        given || scrimp_lang::is_model_name(&self.suite)
    }

    fn load(&self, given: &Given) -> Result<Suite, String> {
        if !self.is_of_model() {
            return suite::load(&self.suite, given);
        }
        scrimp_lang::open(&self.suite).map_err(|error| error.to_string())?;
        let threads = match &self.threads[..] {
            [] => powers(scrimp_core::cores()),
            threads => threads.iter().map(|threads| threads.get()).collect(),
        };
        let stores = match &self.store[..] {
            [] => STORES.map(str::to_string).to_vec(),
            stores => stores.to_vec(),
        };
        suite::of_text(&scaling::suite_of(&self.suite, &threads, &stores, self.flags.as_deref()), given)
    }

    fn repeat(&self) -> usize {
        self.repeat.unwrap_or(if self.is_of_model() { REPEAT } else { 1 }).max(1)
    }

    /// The results file, and whether somebody wants to keep it.
    fn results(&self) -> (PathBuf, bool) {
        match &self.out {
            Some(out) => (out.clone(), true),
            None if self.is_of_model() => {
                (std::env::temp_dir().join(format!("scrimp-bench-{}.jsonl", std::process::id())), false)
            }
            None => (self.suite.with_extension("results.jsonl"), true),
        }
    }
}

/// 1, 2, 4, … and all.
fn powers(all: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |threads| Some(threads * 2));
    powers.take_while(|&threads| threads < all).chain([all]).collect()
}

pub fn run(args: &BenchArgs) -> Result<u8, Failure> {
    let mut given = Given { skip_missing: args.skip_missing, ..Given::default() };
    for text in &args.set {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Failure::because(format!("--set {text}: expected NAME=VALUE")));
        };
        given.set.push((name.trim().to_string(), value.to_string()));
    }
    let suite = args.load(&given).map_err(Failure::because)?;
    let wanted = |case: &&Case| args.filter.as_ref().is_none_or(|text| name(case).contains(text.as_str()));
    let cases: Vec<&Case> = suite.tasks.iter().flat_map(|task| &task.cases).filter(wanted).collect();
    if let (true, Some(filter)) = (cases.is_empty(), &args.filter) {
        return Err(Failure::because(format!(
            "--filter {filter}: no case contains this\nhelp: --list shows all cases"
        )));
    }
    if args.list {
        return list(&cases).map(|()| 0);
    }
    args.report.as_deref().map(report::is_a_page).transpose()?;
    let (out, kept) = args.results();
    let written = [
        ("--report", args.report.as_deref()),
        ("--markdown", args.markdown.as_deref()),
        ("--plot", args.plot.as_deref()),
        ("--csv", args.csv.as_deref()),
        ("--latex", args.latex.as_deref()),
        ("--out", Some(&*out)),
    ];
    outputs::admit(&written, &[&args.suite])?;
    if let Some(folder) = &args.figures {
        std::fs::create_dir_all(folder).map_err(|e| Failure::with("--figures", folder.display(), e))?;
    }
    let (log, records) = Log::open(&out, args.fresh).map_err(Failure::because)?;
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    // Without a handler Ctrl-C just kills the process, and the children with it.
    let _ = ctrlc::set_handler(move || asked.store(true, Ordering::Relaxed));
    let tell = |line: &str| {
        if !args.quiet {
            remark(line);
        }
    };
    let earlier = records.iter().map(|r| r.build.clone()).collect::<Vec<_>>();
    let mut runner = Runner::new(std::env::current_exe()?, log, records, &stop, &tell)?;
    if !earlier.is_empty() {
        let other = earlier.iter().filter(|build| **build != runner.build).count();
        let by = if other > 0 { format!(", {other} of them by another build") } else { String::new() };
        tell(&format!(
            "{}: {} recorded runs{by} are not repeated (--fresh repeats them)",
            out.display(),
            earlier.len()
        ));
    }
    (runner.repeat, runner.jobs) = (args.repeat(), args.jobs.max(1));
    let rows = runner.go(&cases).map_err(Failure::because);
    if !kept {
        let _ = std::fs::remove_file(&out);
    }
    let Some(rows) = rows? else {
        let lost = "interrupted; --out FILE would have kept what is done".to_string();
        remark(&if !kept {
            lost
        } else {
            format!("interrupted; what is done is in {}, and the same command goes on from there", out.display())
        });
        return Ok(STOPPED);
    };
    let pairs: Vec<(&Case, &Row)> = cases.into_iter().zip(&rows).collect();
    if let Some(path) = &args.markdown {
        let text = markdown(&suite, &pairs, args);
        replace(path, |out| out.write_all(text.as_bytes())).map_err(|e| Failure::at(path.display(), e))?;
    }
    answer(&text(&suite, &pairs, args.is_of_model()))?;
    let curves = scaling::curves(&pairs);
    if let Some(path) = &args.plot {
        curves::draw(path, &scaling::plots(&curves), args.quiet)?;
    }
    papers(&suite, &pairs, args)?;
    if let Some(path) = &args.report {
        report::write(path, &results(&suite, &pairs, &report::command()))?;
    }
    let agree = !args.is_of_model() || scaling::agree(&curves);
    if !agree {
        remark("not all runs found the same number of states");
    }
    Ok((!agree || pairs.iter().any(|(case, row)| !complaints(case, row).is_empty())) as u8)
}

/// Writes what goes into a paper: figures, tables, and the runs for further evaluation.
fn papers(suite: &Suite, rows: &[(&Case, &Row)], args: &BenchArgs) -> Result<(), Failure> {
    let rows = rows.to_vec();
    let write = |flag, path: &Path, content: &[u8]| {
        replace(path, |out| out.write_all(content)).map_err(|e| Failure::with(flag, path.display(), e))
    };
    if let Some(path) = &args.csv {
        write("--csv", path, csv(suite, &rows).as_bytes())?;
    }
    if let Some(path) = &args.latex {
        write("--latex", path, latex(suite, &rows, &report::command()).as_bytes())?;
    }
    let Some(folder) = &args.figures else { return Ok(()) };
    let figures = of_suite(suite, &rows);
    for Figure { name, plot } in &figures {
        let sheet = Sheet::new(plot, false);
        write("--figures", &folder.join(format!("{name}.svg")), print::svg(&sheet).as_bytes())?;
        write("--figures", &folder.join(format!("{name}.pdf")), &print::pdf(&[sheet]))?;
    }
    if !args.quiet {
        let count = count_of(figures.len() as u64, "figure");
        remark(&format!("{count} in {}, each as SVG and PDF", folder.display()));
    }
    Ok(())
}

/// What the filter looks at.
fn name(case: &Case) -> String {
    format!("{}: {} {}", case.task, case.model.name, case.label).trim_end().to_string()
}

fn list(cases: &[&Case]) -> Result<(), Failure> {
    let mut out = String::new();
    for case in cases {
        let (run, search) = match &case.kind {
            Kind::Once(run) => (Some(run.clone()), None),
            Kind::Search(search) => (search.first_run(), Some(search.describe())),
        };
        let command = run.map_or(String::new(), |run| command_line(&run.command));
        let missing = if case.model.file.is_none() { "  (missing)" } else { "" };
        let _ = writeln!(out, "{}{missing}\n    scrimp {command}", name(case));
        if let Some(search) = search {
            let _ = writeln!(out, "    {search}");
        }
    }
    answer(&out)
}

fn text(suite: &Suite, rows: &[(&Case, &Row)], of_model: bool) -> String {
    let mut out = format!("{}\n", suite.title);
    for (task, rows) in by_task(suite, rows) {
        let table = match &task.matrix {
            Some(_) => matrix::text(&rows),
            None if of_model => scaling_text(&rows),
            None => Table::new(&rows).text(),
        };
        let _ = write!(out, "\n{}\n{table}", task.name);
        if task.matrix.is_none() && !of_model {
            out.push_str(&told(Means::new(&by_configuration(&rows), task.base.as_deref(), by_model)));
        }
    }
    if suite.base.is_some() {
        out.push_str(&told(means_of_tasks(suite, rows)));
    }
    let _ = writeln!(out, "\n{}", summary(rows));
    out
}

/// Tasks against one of them, where the suite says which.
fn means_of_tasks(suite: &Suite, rows: &[(&Case, &Row)]) -> Option<Means> {
    let groups: Vec<_> = by_task(suite, rows).into_iter().map(|(task, rows)| (task.name.clone(), rows)).collect();
    Means::new(&groups, Some(suite.base.as_deref()?), by_model_and_label)
}

fn told(means: Option<Means>) -> String {
    means.map_or(String::new(), |means| format!("\n  {}\n{}", means.caption(), means.table().text()))
}

/// What threads do, and which runs came to no end.
fn scaling_text(rows: &[(&Case, &Row)]) -> String {
    let mut out = scaling::table(&scaling::curves(rows)).text();
    for (case, row) in rows.iter().filter(|(_, row)| row.record.outcome != Outcome::Done) {
        let why = row.record.message.as_deref().and_then(|message| message.lines().next()).unwrap_or("");
        let settings: Vec<&str> = case.settings.iter().map(|(_, value)| value.as_str()).collect();
        let _ = writeln!(out, "  {} {}: {} {why}", case.model.name, settings.join(" "), row.record.outcome);
    }
    out
}

fn markdown(suite: &Suite, rows: &[(&Case, &Row)], args: &BenchArgs) -> String {
    let mut out = format!("# {}\n\n", suite.title);
    if let Some(about) = &suite.about {
        let _ = writeln!(out, "{}\n", about.trim());
    }
    let _ = writeln!(out, "Made by `scrimp bench {}` (scrimp {}).", args.suite.display(), env!("CARGO_PKG_VERSION"));
    for (task, rows) in by_task(suite, rows) {
        let _ = writeln!(out, "\n## {}\n", task.name);
        if let Some(about) = &task.about {
            let _ = writeln!(out, "{}\n", about.trim());
        }
        let table = if args.is_of_model() { scaling::table(&scaling::curves(&rows)) } else { Table::new(&rows) };
        out.push_str(&table.markdown());
        if !args.is_of_model() && task.matrix.is_none() {
            out.push_str(&marked(Means::new(&by_configuration(&rows), task.base.as_deref(), by_model)));
        }
    }
    if let Some(means) = means_of_tasks(suite, rows) {
        let _ = writeln!(out, "\n## All tasks\n{}", marked(Some(means)));
    }
    let _ = writeln!(out, "\n{}", summary(rows));
    out
}

fn marked(means: Option<Means>) -> String {
    means.map_or(String::new(), |means| format!("\n{}:\n\n{}", means.caption(), means.table().markdown()))
}
