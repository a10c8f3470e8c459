//! Files and folders that options name are looked at before anything is searched.

use crate::error::CheckError;
use scrimp_lang::why_unreadable;
use scrimp_search::plan::{EngineChoice, StoreChoice};
use scrimp_search::{Options, checkpoint};
use std::fs::File;
use std::path::Path;

/// Refuses files and folders that are not there.
pub fn admit(options: &Options) -> Result<(), CheckError> {
    if let Some(dir) = &options.disk {
        directory("--disk", dir)?;
    }
    if let Some(StoreChoice::Disk(dir)) = &options.store
        && !dir.as_os_str().is_empty()
    {
        directory("--store disk", dir)?;
    }
    if let (Some(folder), EngineChoice::Cluster(_)) = (&options.checkpoint, options.engine) {
        // It is made when there is something to save, in a folder that is there.
        let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
        let there = if folder.exists() { folder } else { above.unwrap_or(Path::new(".")) };
        directory("--checkpoint", there)?;
    }
    if let (Some(folder), EngineChoice::Cluster(_)) = (&options.resume, options.engine) {
        directory("--resume", folder)?;
        checkpoint::making(&folder.join(scrimp_cluster::SEARCH))?;
    } else if let Some(path) = &options.resume {
        let cannot = |e| CheckError::Asked(format!("--resume {}: {}", path.display(), why_unreadable(path, &e)));
        File::open(path).map_err(cannot)?;
        checkpoint::making(path)?;
    }
    Ok(())
}

fn directory(flag: &str, dir: &Path) -> Result<(), CheckError> {
    match dir.is_dir() {
        true => Ok(()),
        false => Err(CheckError::Asked(format!("{flag} {}: there is no such folder", dir.display()))),
    }
}
