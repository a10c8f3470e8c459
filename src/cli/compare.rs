//! `compare`: what changed between two results files.

use super::failure::Failure;
use super::output::{print, print_json};
use super::{outputs, report};
use clap::{Args, ValueHint};
use scrimp_suite::html::{Files, comparison};
use scrimp_suite::{compare, log};
use std::path::PathBuf;

const HELP: &str = "\
wrong   states, transitions, deadlocks or verdict differ though both runs came to their end
worse   time, stored_peak, visits or memory grew by more than the threshold, or a run no longer ends
better  the opposite
gone    there is no later result
A search over a parameter is one case, judged by the smallest value it found.";

const EXAMPLES: &str = "\
Examples:
  scrimp bench benches/pseudo-root.toml --out before.jsonl
  scrimp bench benches/pseudo-root.toml --out after.jsonl
  scrimp compare before.jsonl after.jsonl --threshold 5% --report change.html";

const CODES: &str = "Exit codes: 0 nothing is wrong or gone, 1 something is, 2 a file cannot be read.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{HELP}\n\n{EXAMPLES}\n\n{CODES}"))]
pub struct CompareArgs {
    /// The earlier results
    #[arg(value_hint = ValueHint::FilePath)]
    before: PathBuf,

    /// The later results
    #[arg(value_hint = ValueHint::FilePath)]
    after: PathBuf,

    /// Smaller changes do not matter [default: 10%]
    #[arg(long, default_value = "10%", hide_default_value = true, value_name = "PERCENT", value_parser = percent)]
    threshold: f64,

    /// Write both side by side as a page for a browser
    ///
    /// With plots of how much was solved before and after.
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    report: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>() {
        Ok(value) if (0.0..=1000.0).contains(&value) => Ok(value / 100.0),
        _ => Err(format!("expected a percentage, found `{text}`\nhelp: write it like 10%")),
    }
}

pub fn run(args: &CompareArgs) -> Result<u8, Failure> {
    args.report.as_deref().map(report::is_a_page).transpose()?;
    outputs::admit(&[("--report", args.report.as_deref())], &[&args.before, &args.after])?;
    let [before, after] = [&args.before, &args.after].map(|path| log::read(path).map_err(Failure::because));
    let (before, after) = (before?, after?);
    let found = compare::compare(&before, &after, args.threshold);
    match args.json {
        true => print_json(&found.json(args.threshold))?,
        false => print(&found.text(args.threshold))?,
    }
    if let Some(path) = &args.report {
        let names = [&args.before, &args.after].map(|path| path.display().to_string());
        let files = Files { names, before: &before, after: &after };
        report::write(path, &comparison(&files, args.threshold, &report::command()))?;
    }
    // A result that is not there is not known to be right.
    Ok(!(found.wrong.is_empty() && found.gone.is_empty()) as u8)
}
