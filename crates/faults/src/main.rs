//! `scrimp-faults`: kills the command and lets its files and its memory fail, as often as one wants.

use clap::Parser;
use scrimp_faults::{Settings, run};
use std::path::PathBuf;
use std::process::ExitCode;

/// Disturbs runs of `scrimp`; ends with 1 where something is found.
#[derive(Debug, Parser)]
#[command(name = "scrimp-faults", version, max_term_width = 100)]
struct Arguments {
    /// Go on until so many runs were killed or told to stop
    #[arg(long, default_value_t = 100)]
    kills: u64,

    /// Go on until so many trials were made
    #[arg(long, default_value_t = 0)]
    trials: u64,

    /// The seed of all that is drawn by chance; when calls happen is not
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Trials side by side
    #[arg(long, default_value_t = 2)]
    jobs: usize,

    /// Only one kind of trial: kill, signal, time, checkpoint, resume, disk, output, memory
    #[arg(long)]
    only: Option<String>,

    /// The command [default: the one that was built beside this program]
    #[arg(long)]
    program: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Arguments { kills, trials, seed, jobs, only, program } = Arguments::parse();
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("scrimp"));
    let Some(program) = program.or_else(beside).filter(|path| path.is_file()) else {
        eprintln!("error: there is no `scrimp` beside this program; build it, or name one with --program");
        return ExitCode::from(2);
    };
    match run(&Settings { program, seed, kills, trials, jobs, only, progress: true }) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::from(!summary.findings.is_empty() as u8)
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
