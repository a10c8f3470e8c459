//! `explore`: the model in the browser.

use super::args::definition;
use super::failure::Failure;
use super::output::{print, remark};
use super::outputs::admit;
use clap::{Args, ValueHint};
use scrimp::explore::{Explorer, Opening, export, open_browser};
use scrimp_explorer::Server;
use scrimp_search::replace;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  scrimp explore lock.pml
  scrimp explore protocol.pml -p 'ltl: [] (sent -> <> received)'
  scrimp explore lock.dve -p 'invariant: owners <= 1' --export lock.html
  scrimp check lock.dve --trace run.json
  scrimp explore lock.dve --trace run.json";

const HELP: &str = "\
The page shows the model's state, what can happen next, the source with the active lines, a message
sequence chart of the way so far and the states around; for a Petri net, the net with its tokens. It
can check properties and load the run that breaks one. When the file changes, the page follows; the
text can also be edited in the page. docs/explorer.md explains it.

With --export there is no server: the run of --trace, or else the first run that a check of the
properties finds, becomes one HTML file with its states, its source and its chart.

Only programs of this machine reach it, and only with the address that is printed. Ctrl-C ends it.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{HELP}\n\n{EXAMPLES}"))]
pub struct ExploreArgs {
    /// The model: .pml, .dve, .pnml, .aut or .network, also with .gz
    ///
    /// Promela (.pml), DVE (.dve), a Petri net (.pnml), a labelled transition system (.aut) or a network of these (.network).
    #[arg(value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Define a macro of a Promela model; repeatable
    ///
    /// Before the model is read, as `spin -DN=3` does. Without a value it is 1.
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,

    /// Begin at the end of a run that was saved
    ///
    /// By `scrimp check --json`, or from the page.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,

    /// Offer this property on the page; repeatable
    #[arg(short, long, value_name = "TEXT")]
    property: Vec<String>,

    /// Write a run as a page by itself, open nothing
    ///
    /// The run of --trace, or the first that a check of the properties finds.
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath, conflicts_with_all = ["port", "no_browser"])]
    export: Option<PathBuf>,

    /// Listen on this port [default: one that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Print the address and open no browser
    #[arg(long)]
    no_browser: bool,

    /// Let panels of VS Code show the page: its language server asks for that
    #[arg(long, hide = true)]
    framed: bool,
}

pub fn run(args: &ExploreArgs) -> Result<u8, Failure> {
    let trace = match &args.trace {
        None => None,
        Some(path) => {
            let name = path.display().to_string();
            let text =
                std::fs::read_to_string(path).map_err(|e| Failure::at(&name, scrimp_lang::why_unreadable(path, &e)))?;
            let trace = serde_json::from_str(&text).map_err(|e| super::simulate::not_json(&name, &text, &e))?;
            Some((name, trace))
        }
    };
    // Better now than in the page.
    if let Err(e) = std::fs::metadata(&args.model) {
        return Err(Failure::at(args.model.display(), scrimp_lang::why_unreadable(&args.model, &e)));
    }
    if let Some(path) = &args.export {
        admit(&[("--export", Some(path))], &[args.model.as_path()])?;
        admit(&[("--export", Some(path))], &args.trace.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
        let (model, define, properties) = (args.model.clone(), args.define.clone(), args.property.clone());
        return write(path, Opening { model, define, trace, properties });
    }
    let server = Server::bind(args.port).map_err(|e| Failure::with("--port", args.port, e))?;
    let server = if args.framed { server.framed() } else { server };
    let (model, define, properties) = (args.model.clone(), args.define.clone(), args.property.clone());
    let explorer = Explorer::open(Opening { model, define, trace, properties });
    // A model that is soon found to be wrong opens no page.
    if let Some(message) = explorer.failure(Duration::from_millis(500)) {
        return Err(Failure::because(message));
    }
    let address = server.address();
    print(&format!("{address}\n"))?;
    remark("open this address in a browser; Ctrl-C ends");
    if !args.no_browser {
        open_browser(&address);
    }
    let watched = explorer.clone();
    std::thread::spawn(move || {
        if let Some(message) = watched.failure(Duration::MAX) {
            remark(&message);
            std::process::exit(super::WRONG.into());
        }
    });
    server.run(explorer)?;
    Ok(0)
}

/// Writes a run as a page by itself; `-` is standard output.
fn write(path: &Path, opening: Opening) -> Result<u8, Failure> {
    let exported = export(opening).map_err(Failure::because)?;
    if path == Path::new("-") {
        print(&exported.html)?;
    } else {
        replace(path, |file| file.write_all(exported.html.as_bytes())).map_err(|e| Failure::at(path.display(), e))?;
    }
    remark(&format!("{}: {}", path.display(), exported.says));
    Ok(0)
}
