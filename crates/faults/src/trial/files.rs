//! Files that the program keeps for itself and that cannot be written or read: checkpoints, and states on disk.

use super::{BROKEN, Ground};
use crate::answer::Outcome;
use crate::shim::{Fault, How};
use std::time::Duration;

/// A checkpoint that cannot be written: the search goes on without, and the last one that was written can be taken up.
pub fn checkpoint(ground: &mut Ground) -> Result<(), String> {
    let case = ground.case(|case| case.can_be_saved);
    let (expected, _) = ground.expected(case)?;
    let how = ground.pick(&BROKEN);
    let fault = Fault {
        calls: ground.pick(&["open", "write", "sync", "rename", "open,write,sync,rename"]),
        path: "search.save.".into(),
        at: ground.early(60),
        // What is interrupted for ever is tried for ever.
        on: if how.is_harmless() { 3 } else { ground.pick(&[0, 1, 5]) },
        how,
    };
    let words = ground.saving(case, "5ms");
    let ended = ground.run(&words, Some(fault))?;
    match expected.judge(&ended)? {
        Outcome::Same => {}
        // It may be seen at once that nothing can be saved.
        Outcome::Failed if ended.stderr.contains("cannot be written") => {}
        outcome => return Err(format!("without its checkpoints, it is {outcome:?}: {}", ended.stderr)),
    }
    ground.tidy()?;
    ground.finish(case, expected)
}

/// A checkpoint that cannot be read: that is told, and nothing is searched.
pub fn resume(ground: &mut Ground) -> Result<(), String> {
    let case = ground.case(|case| case.can_be_saved);
    let (expected, time) = ground.expected(case)?;
    let words = ground.saving(case, "5ms");
    ground.note(&words, None);
    let mut running = ground.program.start(&words, None, &ground.folder)?;
    if running.goes_on(*time / 2) {
        running.signal(libc::SIGTERM);
    }
    running.end()?;
    if !ground.saved().exists() {
        return Ok(());
    }
    let how = ground.pick(&[How::Broken, How::Interrupted, How::Short]);
    let fault = Fault {
        calls: ground.pick(&["open", "read"]),
        path: "search.save".into(),
        at: ground.early(40),
        on: ground.pick(&[1, 5]),
        how,
    };
    let words = ground.saving(case, "10m");
    let ended = ground.run(&words, Some(fault))?;
    match expected.judge(&ended)? {
        // A call that fails may be made again elsewhere: what counts is that the end is the same.
        Outcome::Same => Ok(()),
        Outcome::Failed if ended.struck && !how.is_harmless() => ground.finish(case, expected),
        outcome => Err(format!("with a checkpoint that cannot be read, it is {outcome:?}: {}", ended.stderr)),
    }
}

/// States on a disk that is full or broken.
pub fn disk(ground: &mut Ground) -> Result<(), String> {
    let case = ground.case(|case| case.on_disk);
    let (expected, time) = ground.expected(case)?;
    if *time > Duration::from_secs(60) {
        return Err(format!("this takes {time:?}"));
    }
    let how = ground.pick(&BROKEN);
    let calls = ground.pick(&["open", "write", "read", "open,write,read"]);
    let fault = Fault { calls, path: "disk/".into(), at: ground.early(60), on: ground.pick(&[0, 1]), how };
    // Calls that never succeed are made for ever.
    let fault = if how == How::Interrupted { Fault { on: 3, ..fault } } else { fault };
    let words = case.words.clone();
    let ended = ground.run(&words, Some(fault))?;
    match expected.judge(&ended)? {
        Outcome::Same if !ended.struck || how.is_harmless() => Ok(()),
        Outcome::Incomplete | Outcome::Failed if ended.struck && !how.is_harmless() => Ok(()),
        outcome => Err(format!("with files that fail, it is {outcome:?}: {}", ended.stderr)),
    }
}
