//! A run that is told to stop: by a signal at any moment, or because its time is over.

use super::Ground;
use crate::answer::{Expected, Outcome, json};
use crate::case::Case;
use crate::program::Ended;
use std::time::Duration;

/// How much later than it should a run may end, on a machine that has other things to do.
const GRACE: Duration = Duration::from_secs(10);

pub fn attempt(ground: &mut Ground) -> Result<(), String> {
    let case = ground.case(|_| true);
    let (expected, time) = ground.expected(case)?;
    let words = if case.can_be_saved { ground.saving(case, "20ms") } else { case.words.clone() };
    let signal = ground.pick(&[libc::SIGTERM, libc::SIGINT]);
    ground.note(&words, None);
    let mut running = ground.program.start(&words, None, &ground.folder)?;
    let moment = Duration::from_micros(ground.random.below(1 + time.as_micros() as usize * 5 / 4) as u64);
    if running.goes_on(moment) {
        running.signal(signal);
        ground.kills += 1;
        ground.log.push(format!("   signal {signal} after {moment:?}"));
    }
    let ended = running.end()?;
    if ended.time > moment + GRACE {
        return Err(format!("told to stop after {moment:?}, it ends after {:?}", ended.time));
    }
    // Before it listens, a signal simply ends it.
    if ended.signal == Some(signal) {
        return Ok(());
    }
    stopped(ground, case, expected, &ended)
}

pub fn time(ground: &mut Ground) -> Result<(), String> {
    let case = ground.case(|_| true);
    let (expected, time) = ground.expected(case)?;
    let mut words = if case.can_be_saved { ground.saving(case, "20ms") } else { case.words.clone() };
    let limit = ground.random.below(1 + time.as_millis() as usize) as u64;
    words.extend(["--time".to_string(), format!("{limit}ms")]);
    let ended = ground.run(&words, None)?;
    ground.kills += (ended.code == Some(3)) as u64;
    if ended.time > Duration::from_millis(limit) + GRACE {
        return Err(format!("allowed {limit} ms, it ends after {:?}", ended.time));
    }
    stopped(ground, case, expected, &ended)
}

/// A run that was stopped says so, and goes on later where it was saved.
fn stopped<'a>(ground: &mut Ground<'a>, case: &'a Case, expected: &Expected, ended: &Ended) -> Result<(), String> {
    match expected.judge(ended)? {
        Outcome::Same => Ok(()),
        Outcome::Failed => Err(format!("stopped, it fails: {}", ended.stderr)),
        Outcome::Incomplete if !case.can_be_saved => Ok(()),
        Outcome::Incomplete => {
            let found = json(ended)?["states"].as_u64().unwrap_or(0);
            if found > 0 && !ground.saved().exists() {
                return Err(format!("{found} states were found and not saved"));
            }
            ground.finish(case, expected)
        }
    }
}
