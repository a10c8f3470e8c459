//! `watch`: checks again when the model changes, and shows what is otherwise since the last time.

use super::args::CheckArgs;
use super::failure::Failure;
use super::output::{print_to_reader, remark, style};
use super::search::options;
use clap::Args;
use scrimp::Plan;
use scrimp_suite::again::{Again, Event, progress, told};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a user need not type to get the same answers.
const OWN: [&str; 3] = ["check", "--json", "--show-progress=json"];

#[derive(Debug, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    pub check: CheckArgs,
}

pub fn run(args: &WatchArgs) -> Result<u8, Failure> {
    let args = &args.check;
    refuse(args)?;
    if let Err(error) = std::fs::metadata(&args.model) {
        return Err(Failure::at(args.model.display(), scrimp_lang::why_unreadable(&args.model, &error)));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    let _ = ctrlc::set_handler(move || asked.store(true, Ordering::Relaxed));
    let again =
        Again { program: std::env::current_exe()?, words: words(), model: args.model.clone(), inputs: inputs(args) };
    let (name, mut said) = (args.model.display().to_string(), Ok(true));
    let mut line = StatusLine { shown: false, terminal: std::io::stderr().is_terminal() };
    again.run(&stop, &mut |event| {
        line.clear();
        match event {
            Event::Watches(files) => remark(&format!("watching {}; Ctrl-C ends", listed(files))),
            Event::Progress(far) => line.show(&progress(far)),
            Event::Changed(files, ended) => {
                let which = if ended { "; the check that was running is begun anew" } else { "" };
                said = print_to_reader(&format!("\n{} changed{which}\n", listed(files)));
            }
            Event::Checked(now, before) => said = print_to_reader(&told(&name, now, before, style())),
            Event::Wrong(_, true) => said = print_to_reader(&format!("{name}: still wrong, as before\n")),
            Event::Wrong(message, false) => said = print_to_reader(&format!("{}\n", message.trim_end())),
            Event::Gone => said = print_to_reader(&format!("{name}: there is no such file now; waiting for it\n")),
        }
        matches!(said, Ok(true))
    })?;
    line.clear();
    said.map(|_| 0)
}

/// The command that checks: this one, with another name and what makes it answer a program.
fn words() -> Vec<OsString> {
    let given = std::env::args_os().skip(1).skip_while(|word| word != "watch").skip(1);
    OWN.iter().map(OsString::from).chain(given).collect()
}

/// Files beside the model on which the answer depends.
fn inputs(args: &CheckArgs) -> Vec<PathBuf> {
    let automata = args.property.iter().filter_map(|text| Some(text.trim().strip_prefix("hoa:")?.trim().into()));
    args.property_file.iter().chain(&args.formulas).cloned().chain(automata).collect()
}

/// Refuses what does not go with checking again and again, and what no change of the model could mend.
fn refuse(args: &CheckArgs) -> Result<(), Failure> {
    let search = &args.search;
    let (file, saved) = ("each check would write it anew", "each check is of another text");
    let (shown, one) = ("it shows what changes, and nothing else", "one object is the answer of one check");
    let refused = [
        ("--report", search.report.is_some(), file),
        ("--plot", search.plot.is_some(), file),
        ("--panels", !search.panels.is_empty(), file),
        ("--graph", search.graph.is_some(), file),
        ("--dot", search.dot.is_some(), file),
        ("--front", search.front.is_some(), file),
        ("--chart", args.chart.is_some(), file),
        ("--trace", args.trace.is_some(), file),
        ("--trace-format", args.trace_format.is_some(), shown),
        ("--verbose", search.verbose, shown),
        ("--quiet", search.quiet, shown),
        ("--show-progress", search.show_progress.is_some(), shown),
        ("--json", search.json, one),
        ("--checkpoint", search.checkpoint.is_some(), saved),
        ("--resume", search.resume.is_some(), saved),
    ];
    if let Some((flag, _, why)) = refused.iter().find(|(_, given, _)| *given) {
        return Err(Failure::because(format!(
            "{flag} does not go with `scrimp watch`: {why}\nhelp: use it with `scrimp check`"
        )));
    }
    Plan::admit(&options(search, args.keep_going, false)?)?;
    Ok(())
}

/// The names of files, the first ones of many.
fn listed(files: &[PathBuf]) -> String {
    const SHOWN: usize = 4;
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    match names.len() {
        many if many > SHOWN + 1 => format!("{} and {} more files", names[..SHOWN].join(", "), many - SHOWN),
        _ => names.join(", "),
    }
}

/// A line of a terminal that says how far a check is.
struct StatusLine {
    shown: bool,
    terminal: bool,
}

impl StatusLine {
    fn show(&mut self, text: &str) {
        if self.terminal {
            let _ = write!(std::io::stderr(), "{text}").and_then(|()| std::io::stderr().flush());
            self.shown = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
