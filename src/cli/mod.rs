//! The command line: flags, commands, exit codes.

mod again;
mod args;
mod automaton;
mod bench;
mod chart;
mod check;
mod cluster;
mod compare;
mod conform;
mod curves;
mod explain;
mod explore;
mod failure;
mod front;
mod generate;
mod graph;
mod help;
mod host;
mod limits;
mod lsp;
mod man;
mod mcp;
mod misuse;
mod output;
mod outputs;
mod plan;
mod progress;
mod report;
mod search;
mod simulate;
mod test;
mod trace;
mod unused;
mod watch;

use args::{Cli, Command};
use clap::FromArgMatches;
use clap::error::ErrorKind;
use failure::Failure;
use output::{WRONG, owed, print, print_json, remark, said_something};
use scrimp::report::json;
use scrimp_suite::opened;
use std::ffi::OsString;

/// Runs the command and answers the exit code.
pub fn main() -> u8 {
    if std::env::var_os(opened::ASKED).is_some() {
        scrimp_lang::listen_to_opened(opened::tell);
    }
    let words = args::joined(std::env::args_os());
    let parsed = help::command().try_get_matches_from(&words).and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return not_parsed(&error, &words),
    };
    let wants_json = matches!(&cli.command, Command::Check(a) if a.search.json)
        || matches!(&cli.command, Command::Count(a) if a.search.json)
        || matches!(&cli.command, Command::Cluster(a) if a.wants_json())
        || matches!(&cli.command, Command::Plan(a) if a.check.search.json)
        || matches!(&cli.command, Command::Simulate(a) if a.json)
        || matches!(&cli.command, Command::Conform(a) if a.json)
        || matches!(&cli.command, Command::Generate(a) if a.json)
        || matches!(&cli.command, Command::Compare(a) if a.json);
    if let Some(Err(error)) = cli.within.as_deref().map(scrimp_lang::stay_within) {
        return failed(&Failure::with("--within", "", error), wants_json);
    }
    let result = match cli.command {
        Command::Check(a) => check::check(&a),
        Command::Count(a) => search::count(&a),
        Command::Cluster(a) => cluster::run(a),
        Command::Plan(a) => plan::run(&a),
        Command::Simulate(a) => simulate::run(&a),
        Command::Conform(a) => conform::run(&a),
        Command::Explain(a) => explain::run(&a),
        Command::Explore(a) => explore::run(&a),
        Command::Automaton(a) => automaton::print_automata(&a),
        Command::Bench(a) => bench::run(&a),
        Command::Compare(a) => compare::run(&a),
        Command::Test(a) => test::run(&a),
        Command::Generate(a) => generate::run(&a),
        Command::Watch(a) => again::run(&a),
        Command::Lsp(a) => lsp::run(&a),
        Command::Mcp(a) => mcp::run(&a),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut help::command(), "scrimp", &mut text);
            print(&String::from_utf8_lossy(&text)).map(|()| 0)
        }
        Command::Man(a) => man::run(&a),
    };
    let code =
        result.and_then(|code| owed().map_or(Ok(code), Err)).unwrap_or_else(|failure| failed(&failure, wants_json));
    limits::answered();
    cluster::leave();
    code
}

/// Says what went wrong.
fn failed(failure: &Failure, wants_json: bool) -> u8 {
    // Standard output is one object.
    if wants_json && !said_something() {
        let _ = print_json(&json::error(failure.message()));
    }
    remark(failure.message());
    WRONG
}

/// Help was asked for, or the command line is wrong.
fn not_parsed(error: &clap::Error, words: &[OsString]) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = error.print();
            0
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            WRONG
        }
        _ => failed(&misuse::told(error, words), words.iter().any(|word| word == "--json")),
    }
}
