//! `mcp`: models for agents, by the Model Context Protocol.

use super::failure::Failure;
use clap::{Args, ValueHint};
use scrimp::report::number::{parse_duration, parse_size};
use scrimp_core::budget::default_memory;
use scrimp_mcp::{Folder, Inbox, Serving, serve};
use std::io::BufReader;
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "\
An agent starts it, and talks to it over standard input and output. Its tools: open, check, count,
simulate, explain, trace, chart, next. To try it with Claude Code, or any other client:

  claude mcp add scrimp -- scrimp mcp models --memory 4G

  { \"mcpServers\": { \"scrimp\": { \"command\": \"scrimp\", \"args\": [\"mcp\", \"models\"] } } }

docs/agents.md shows a conversation.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct McpArgs {
    /// The folder of the models; nothing outside it is read
    #[arg(default_value = ".", value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: PathBuf,

    /// The most memory that a command takes; one runs at a time [default: half of what is free]
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<usize>,

    /// The most time that a search takes
    #[arg(short, long, value_name = "DURATION", default_value = "10m", value_parser = parse_duration)]
    time: Duration,
}

pub fn run(args: &McpArgs) -> Result<u8, Failure> {
    let failed = |e| Failure::at(args.folder.display(), e);
    let folder = Folder::new(&args.folder).map_err(failed)?;
    let program = std::env::current_exe()?;
    // Names of models are from there, in what agents ask and in what they are told.
    std::env::set_current_dir(folder.path()).map_err(failed)?;
    let memory = args.memory.unwrap_or_else(|| default_memory() / 2);
    let serving = Serving { program, folder, memory, time: args.time };
    let (inbox, ending) = Inbox::of(BufReader::new(std::io::stdin()))?;
    // Without a handler a signal just kills the process, as usual.
    let at_signal = ending.clone();
    let _ = ctrlc::set_handler(move || at_signal.end());
    serve(serving, (inbox, ending), std::io::stdout())?;
    Ok(0)
}
