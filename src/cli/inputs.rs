//! Files and folders that options name are looked at before anything is searched, and options that change nothing are named.

use super::args::SearchArgs;
use super::{Failure, remark};
use scrimp::plan::StoreChoice;
use scrimp::{Loaded, Options, Plan};
use std::fs::File;
use std::path::Path;

/// Refuses options that nothing could be answered with, and files or folders that are not there.
pub fn admit(options: &Options) -> Result<(), Failure> {
    Plan::admit(options)?;
    if let Some(dir) = options.disk.as_deref() {
        directory("--disk", dir)?;
    }
    if let Some(StoreChoice::Disk(dir)) = &options.store
        && !dir.as_os_str().is_empty()
    {
        directory("--store disk", dir)?;
    }
    if let Some(path) = &options.resume {
        File::open(path).map_err(|e| Failure::because(format!("--resume {}: {e}", path.display())))?;
    }
    Ok(())
}

fn directory(flag: &str, dir: &Path) -> Result<(), Failure> {
    match dir.is_dir() {
        true => Ok(()),
        false => Err(Failure::because(format!("{flag} {}: there is no such directory", dir.display()))),
    }
}

/// Names the options that change nothing for this model.
pub fn say_unused(args: &SearchArgs, loaded: &Loaded) {
    let unused = [
        (loaded.net.is_none() && args.structure != "all", "--structure is about Petri nets"),
        (!loaded.is_promela() && !args.define.is_empty(), "--define is about Promela models"),
    ];
    for (_, why) in unused.into_iter().filter(|(unused, _)| *unused && !args.quiet) {
        remark(&format!("warning: {why}; it changes nothing here"));
    }
}
