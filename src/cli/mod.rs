//! The command line: flags, commands, exit codes.

mod args;
mod progress;
mod search;
mod simulate;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use scrimp::report::{Style, json};
use std::io::{IsTerminal, Write};

/// Wrong usage or a wrong model.
const WRONG: u8 = 2;

/// Why a command could not do its work.
#[derive(Debug)]
pub struct Failure(pub String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

/// Runs the command and answers the exit code.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { WRONG } else { 0 };
        }
    };
    let wants_json = matches!(&cli.command, Command::Check(a) if a.search.json)
        || matches!(&cli.command, Command::Count(a) if a.search.json)
        || matches!(&cli.command, Command::Plan(a) if a.search.json);
    let result = match cli.command {
        Command::Check(a) => search::check(&a),
        Command::Count(a) => search::count(&a),
        Command::Plan(a) => search::plan(&a),
        Command::Simulate(a) => simulate::run(&a),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "scrimp", &mut std::io::stdout());
            Ok(0)
        }
    };
    result.unwrap_or_else(|Failure(message)| {
        if wants_json {
            print(&format!("{:#}\n", json::error(&message)));
        }
        eprintln!("{}", message.trim_end());
        WRONG
    })
}

/// Writes to standard output; a reader that has gone away (`scrimp … | head`) is not an error.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Colours for standard output: on a terminal, unless `NO_COLOR` is set.
pub fn style() -> Style {
    Style { colour: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) }
}
