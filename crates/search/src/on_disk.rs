//! Searches in sorted files: begins, goes on, saves them and takes them up.

use crate::external::External;
use crate::held::Held;
use crate::outcome::Ended;
use crate::plan::StoreChoice;
use crate::task::{Done, Task};
use std::io::{self, Read};
use std::path::Path;

/// What a checkpoint calls it.
pub(crate) const STAGE: &str = "disk";

pub(crate) fn search<'m>(task: &Task<'m, '_>) -> io::Result<Done<'m>> {
    let dir = match task.plan.store() {
        StoreChoice::Disk(dir) if !dir.as_os_str().is_empty() => dir.clone(),
        _ => std::env::temp_dir(),
    };
    match task.saved()? {
        Some((_, mut from)) => resume(task, &dir, &mut *from),
        None => Ok(go_on(task, External::new(task.model, &dir, task.with_traces, task.budget, None)?, &dir)),
    }
}

/// Takes up a search that was saved. How it found what it had found is not known.
pub(crate) fn resume<'m>(task: &Task<'m, '_>, dir: &Path, from: &mut dyn Read) -> io::Result<Done<'m>> {
    let mut external = External::new(task.model, dir, false, task.budget, None)?;
    external.restore(from)?;
    task.control.take_up(external.expanded());
    Ok(go_on(task, external, dir))
}

/// Goes on until the search ends, saving it where that is wanted.
pub(crate) fn go_on<'m>(task: &Task<'m, '_>, mut external: External<'m>, dir: &Path) -> Done<'m> {
    external.use_threads(task.plan.options().threads);
    let outcome = loop {
        let outcome = external.search(task.check, task.control, task.reduce);
        // What a failing disk holds is not worth saving: the last checkpoint is complete.
        let sound = external.has_begun() && external.disk_facts().failure.is_none();
        if let (Some(saver), Ended::Paused | Ended::Limit(_), true) = (task.saver, &outcome.ended, sound) {
            saver.save(STAGE, &mut |to| external.save(to));
        }
        if outcome.ended != Ended::Paused {
            break outcome;
        }
        task.control.paused();
    };
    Done { outcome, held: Held::Disk(Box::new(external)), stage: StoreChoice::Disk(dir.into()), instead: None }
}
