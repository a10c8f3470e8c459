//! The command line: flags, commands, exit codes.

mod args;
mod automaton;
mod bench;
mod chart;
mod check;
mod cluster;
mod compare;
mod curves;
mod explain;
mod explore;
mod failure;
mod front;
mod graph;
mod host;
mod limits;
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
use clap::{CommandFactory, Parser};
use output::{WRONG, owed, print, print_json, remark, said_something};
use scrimp::report::json;

/// Runs the command and answers the exit code.
pub fn main() -> u8 {
    let cli = match Cli::try_parse_from(args::joined(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { WRONG } else { 0 };
        }
    };
    let wants_json = matches!(&cli.command, Command::Check(a) if a.search.json)
        || matches!(&cli.command, Command::Count(a) if a.search.json)
        || matches!(&cli.command, Command::Cluster(a) if a.wants_json())
        || matches!(&cli.command, Command::Plan(a) if a.check.search.json)
        || matches!(&cli.command, Command::Simulate(a) if a.json)
        || matches!(&cli.command, Command::Compare(a) if a.json);
    let result = match cli.command {
        Command::Check(a) => check::check(&a),
        Command::Count(a) => search::count(&a),
        Command::Cluster(a) => cluster::run(a),
        Command::Plan(a) => plan::run(&a),
        Command::Simulate(a) => simulate::run(&a),
        Command::Explain(a) => explain::run(&a),
        Command::Explore(a) => explore::run(&a),
        Command::Automaton(a) => automaton::print_automata(&a),
        Command::Bench(a) => bench::run(&a),
        Command::Compare(a) => compare::run(&a),
        Command::Test(a) => test::run(&a),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "scrimp", &mut text);
            print(&String::from_utf8_lossy(&text)).map(|()| 0)
        }
    };
    result.and_then(|code| owed().map_or(Ok(code), Err)).unwrap_or_else(|failure| {
        // Standard output is one object.
        if wants_json && !said_something() {
            let _ = print_json(&json::error(failure.message()));
        }
        remark(failure.message());
        WRONG
    })
}
