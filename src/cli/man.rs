//! `man`: manual pages, made from the flags.

use super::failure::Failure;
use super::help::command;
use super::output::{print, remark};
use clap::{Args, Command, ValueHint};
use clap_mangen::Man;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command whose page is printed [default: scrimp itself]
    #[arg(value_name = "COMMAND")]
    of: Option<String>,

    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "of")]
    folder: Option<PathBuf>,
}

pub fn run(args: &ManArgs) -> Result<u8, Failure> {
    let pages = pages();
    let Some(folder) = &args.folder else {
        let wanted = args.of.as_ref().map_or("scrimp".to_string(), |name| format!("scrimp-{name}"));
        let Some(page) = pages.iter().find(|page| name(page) == wanted) else {
            let known: Vec<&str> = pages.iter().filter_map(|page| name(page).strip_prefix("scrimp-")).collect();
            let of = args.of.as_deref().unwrap_or_default();
            let help = match scrimp_core::nearest(of, known.iter().copied()) {
                Some(near) => format!("did you mean `scrimp man {near}`?"),
                None => format!("commands are {}", known.join(", ")),
            };
            return Err(Failure::because(format!("unknown command `{of}`\nhelp: {help}")));
        };
        return print(&rendered(page)?).map(|()| 0);
    };
    std::fs::create_dir_all(folder).map_err(|e| Failure::at(folder.display(), e))?;
    for page in &pages {
        let path = folder.join(format!("{}.1", name(page)));
        std::fs::write(&path, rendered(page)?).map_err(|e| Failure::at(path.display(), e))?;
    }
    remark(&format!("{} pages written to {}", pages.len(), folder.display()));
    Ok(0)
}

/// What a page is called.
fn name(page: &Command) -> &str {
    page.get_display_name().unwrap_or(page.get_name())
}

/// The program and its commands, each as a command of its own: `scrimp-check` and so on.
fn pages() -> Vec<Command> {
    let mut whole = command();
    whole.build();
    let sub: Vec<Command> =
        whole.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()).cloned().collect();
    std::iter::once(whole).chain(sub).collect()
}

fn rendered(page: &Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    Man::new(page.clone()).manual("Scrimp").render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
