//! `lsp`: models in editors.

use super::failure::Failure;
use clap::Args;

const HELP: &str = "\
An editor starts it, and talks to it over standard input and output. What it can do, and the lines
that VS Code, Neovim, Helix and Emacs need, are in docs/editors.md.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct LspArgs {
    /// What editors say, for those that say it: there is no other way
    #[arg(long, hide = true)]
    stdio: bool,
}

pub fn run(_: &LspArgs) -> Result<u8, Failure> {
    let program = std::env::current_exe()?;
    // An editor that goes away without taking leave is told so, as the protocol wants it.
    Ok(if scrimp_lsp::serve(program) { 0 } else { 1 })
}
