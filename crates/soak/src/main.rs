//! `scrimp-soak`: random models of every language against their oracles, for as long as one wants.

use clap::Parser;
use scrimp_soak::case::keep_panics;
use scrimp_soak::languages;
use scrimp_soak::soak::{Settings, run};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Takes random models through oracles and every way to search; ends with 1 where something is found.
#[derive(Debug, Parser)]
#[command(name = "scrimp-soak", version, max_term_width = 100)]
struct Arguments {
    /// How many models
    #[arg(long, default_value_t = 1000)]
    models: u64,

    /// The seed: with it and its number, a model is the same again
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// The number of the first model
    #[arg(long, default_value_t = 0)]
    first: u64,

    /// The language of the models, or `all`
    #[arg(long, default_value = "all")]
    language: String,

    /// Threads, each with a model of its own
    #[arg(long, default_value_t = 2)]
    jobs: usize,

    /// End after so many minutes
    #[arg(long)]
    minutes: Option<f64>,

    /// The folder for models that show something
    #[arg(long, default_value = "findings")]
    findings: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut languages = languages();
    if arguments.language != "all" {
        languages.retain(|entry| entry.name == arguments.language);
    }
    if languages.is_empty() {
        eprintln!("error: there is no language '{}'", arguments.language);
        return ExitCode::from(2);
    }
    keep_panics();
    let summary = run(&Settings {
        languages,
        models: arguments.models,
        seed: arguments.seed,
        first: arguments.first,
        jobs: arguments.jobs,
        time: arguments.minutes.map(|minutes| Duration::from_secs_f64(minutes * 60.0)),
        findings: arguments.findings,
        progress: true,
    });
    println!("{summary}");
    ExitCode::from((summary.findings() > 0) as u8)
}
