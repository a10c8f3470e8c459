//! The command line as a whole, with its colours, and the first page of help: what to try, and which commands there are.

use super::args::{Cli, EXIT_CODES};
use clap::builder::styling::{AnsiColor, Style, Styles};
use clap::{Command, CommandFactory};
use std::fmt::Write;

const HEADING: Style = AnsiColor::Green.on_default().bold();
const LITERAL: Style = AnsiColor::Cyan.on_default().bold();
const PLACEHOLDER: Style = AnsiColor::Cyan.on_default();

/// What to try first, and what it does.
const FIRST: [(&str, &str); 5] = [
    ("scrimp check lock.pml", "check the model's own properties"),
    ("scrimp check lock.pml -p 'ltl: [] <> free'", "check a property of your own"),
    ("scrimp simulate lock.pml -i", "walk through it, step by step"),
    ("scrimp explore lock.pml", "look at it in the browser"),
    ("scrimp count lock.pml -m 2G -t 10m", "count its states, within limits"),
];

/// Which commands go together.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Decide", &["check", "watch", "count", "plan", "cluster"]),
    ("Understand", &["simulate", "explore", "explain", "automaton"]),
    ("Test", &["test", "conform", "generate"]),
    ("Measure", &["bench", "compare"]),
    ("Set up", &["lsp", "mcp", "completions", "man"]),
];

/// The command with all its flags: what help, man pages and completions are made of.
pub fn command() -> Command {
    let styles = Styles::styled()
        .header(HEADING)
        .usage(HEADING)
        .literal(LITERAL)
        .placeholder(PLACEHOLDER)
        .error(AnsiColor::Red.on_default().bold())
        .valid(AnsiColor::Green.on_default())
        .invalid(AnsiColor::Yellow.on_default());
    let command = Cli::command().styles(styles);
    let first = first_page(&command);
    command.override_help(first)
}

/// The help of `scrimp` itself.
fn first_page(command: &Command) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut out = format!("scrimp {version}: a model checker that stays inside the memory you give it\n\n");
    let _ = writeln!(out, "{HEADING}Usage:{HEADING:#} {LITERAL}scrimp{LITERAL:#} <COMMAND> <MODEL> [OPTIONS]\n");
    let _ = writeln!(out, "{HEADING}Try first:{HEADING:#}");
    let wide = FIRST.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
    for (line, what) in FIRST {
        let _ = writeln!(out, "  {LITERAL}{line:<wide$}{LITERAL:#}  {what}");
    }
    for (group, names) in GROUPS {
        let _ = writeln!(out, "\n{HEADING}{group}:{HEADING:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(out, "  {LITERAL}{name:<11}{LITERAL:#}  {about}");
        }
    }
    let _ = writeln!(
        out,
        "\nModels: Promela (.pml), DVE (.dve), Petri nets (.pnml), graphs (.aut, .network)\n\
         `scrimp COMMAND -h` lists its main options, `--help` explains all of them.\n\n\
         {EXIT_CODES}"
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = command();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn the_table_of_flags_is_sound() {
        command().debug_assert();
    }
}
