//! The command line: flags, commands, exit codes.

mod args;
mod automaton;
mod bench;
mod chart;
mod check;
mod compare;
mod curves;
mod explain;
mod explore;
mod failure;
mod front;
mod graph;
mod host;
mod inputs;
mod lengths;
mod limits;
mod outputs;
mod plan;
mod report;
mod search;
mod simulate;
mod watch;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
pub use failure::Failure;
use scrimp::report::{Style, json};
use serde_json::Value;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Wrong usage or a wrong model.
const WRONG: u8 = 2;
/// Bytes of an answer that are written at once.
const BLOCK: usize = 1 << 16;

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
        || matches!(&cli.command, Command::Plan(a) if a.check.search.json)
        || matches!(&cli.command, Command::Compare(a) if a.json);
    let result = match cli.command {
        Command::Check(a) => check::check(&a),
        Command::Count(a) => search::count(&a),
        Command::Plan(a) => plan::run(&a),
        Command::Simulate(a) => simulate::run(&a),
        Command::Explain(a) => explain::run(&a),
        Command::Explore(a) => explore::run(&a),
        Command::Automaton(a) => automaton::print_automata(&a),
        Command::Bench(a) => bench::run(&a),
        Command::Compare(a) => compare::run(&a),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "scrimp", &mut text);
            print(&String::from_utf8_lossy(&text)).map(|()| 0)
        }
    };
    let owed = OWED.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.and_then(|code| owed.map_or(Ok(code), Err)).unwrap_or_else(|failure| {
        // Standard output is one object.
        if wants_json && !*output() {
            let _ = print_json(&json::error(failure.message()));
        }
        remark(failure.message());
        WRONG
    })
}

/// Standard output: was something written to it?
static OUTPUT: Mutex<bool> = Mutex::new(false);
/// What went wrong although there is an answer.
static OWED: Mutex<Option<Failure>> = Mutex::new(None);

/// Lets the command fail when the answer has been told.
pub fn fail_later(failure: Failure) {
    OWED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
}

fn output() -> MutexGuard<'static, bool> {
    OUTPUT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes to standard output. A reader that has gone away (`scrimp … | head`) is no failure; a full disk is: the answer
/// is lost.
pub fn print(text: &str) -> Result<(), Failure> {
    print_by(|out| out.write_all(text.as_bytes()))
}

/// The same with an object, piece by piece: it may be large.
pub fn print_json(value: &Value) -> Result<(), Failure> {
    print_by(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })
}

fn print_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut answered = output();
    *answered = true;
    let mut out = BufWriter::with_capacity(BLOCK, io::stdout());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::because(format!("the answer cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes to standard output where nobody has, and lets nobody write after that. Says whether somebody has.
pub fn print_last(text: &str) -> bool {
    // Where it is being written to, that may take for ever.
    let Ok(answered) = OUTPUT.try_lock() else { return true };
    if !*answered {
        let _ = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    }
    **std::mem::ManuallyDrop::new(answered)
}

/// Writes a line to standard error, where there is one.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "{}", text.trim_end());
}

/// Colours for standard output: on a terminal, unless `NO_COLOR` is set.
pub fn style() -> Style {
    Style { colour: io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) }
}
