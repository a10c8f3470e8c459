//! The model while its text changes: by other programs, which is watched, and in the page, where it is tried or saved.
//!
//! A text is read beside everything else, one after the other; only when there is a model of it does that take the place of
//! the model before.

use super::Explorer;
use super::claim_pair::{Made, Origin};
use super::text::{self, OnDisk, Problem};
use super::trial::Trial;
use crate::Stop;
use scrimp_explorer::{CheckOptions, Refusal};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How long a text that somebody is writing may take to be read.
const READING: Duration = Duration::from_secs(5);

impl Explorer {
    /// Checks the model that the page shows: what is in the file, or a text that is tried.
    pub(super) fn check(&self, properties: &[String], options: &CheckOptions) -> Result<Value, Refusal> {
        // What the check will read in the file is what is shown.
        if self.is_file {
            self.look(true);
        }
        let (version, trial) = self.with_live(|live| Ok((live.version, live.trial())))?;
        let trial = trial.map(|origin| Trial::of(&origin)).transpose()?;
        self.checks.begin(properties, options, version, trial)
    }

    /// Looks whether the files have changed, and reads the model again if they have stayed so since the last look; `now` is
    /// for who cannot wait whether a file is still being written.
    pub(super) fn look(&self, now: bool) {
        let Ok(Some(path)) = self.with_live(|live| Ok(live.look(now))) else { return };
        let _one = self.one_at_a_time();
        let disk = match OnDisk::read(&path) {
            Ok(disk) => disk,
            Err(e) => {
                let problem = Problem::of(format!("the file cannot be read: {e}"));
                let _ = self.with_live(|live| {
                    live.fail(None, problem);
                    Ok(())
                });
                return;
            }
        };
        let Ok(Some(origin)) = self.with_live(|live| Ok(live.wanted(&disk))) else { return };
        self.renew(origin, disk);
    }

    fn one_at_a_time(&self) -> MutexGuard<'_, ()> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the model anew. Where that fails the old one stays, and what is wrong is told.
    fn renew(&self, origin: Origin, disk: OnDisk) {
        let begun = SystemTime::now();
        let made = catch_unwind(AssertUnwindSafe(|| Made::of(origin)));
        let made = made.unwrap_or_else(|_| Err(Problem::of("the model cannot be read")));
        let _ = self.with_live(|live| {
            match made {
                Ok(made) => live.renew(made, disk, begun),
                Err(problem) => live.fail(Some(disk), problem),
            }
            Ok(())
        });
    }

    /// What is wrong with a text, as far as the language can tell.
    pub(super) fn diagnose(&self, text: Arc<str>) -> Result<Value, Refusal> {
        let opening = self.with_live(|live| live.opening())?;
        let stop = Stop::at(Some(Instant::now() + READING));
        let read = Origin { opening, text: Some(text) }.load(&stop);
        Ok(match read {
            Ok((loaded, _)) => {
                let warnings: Vec<Value> = loaded.system.warnings.iter().map(|shown| text::warning(shown)).collect();
                json!({ "problem": null, "warnings": warnings })
            }
            Err(problem) => json!({ "problem": problem.told(), "warnings": [] }),
        })
    }

    /// Shows the model of a text that is not saved.
    pub(super) fn try_text(&self, text: Arc<str>) -> Result<Value, Refusal> {
        let opening = self.with_live(|live| live.opening())?;
        let _one = self.one_at_a_time();
        let disk = OnDisk::read(&opening.model).map_err(|e| Refusal::conflict(e.to_string()))?;
        let trial = !disk.says(&text);
        let origin = Origin { opening, text: Some(text.clone()) };
        let begun = SystemTime::now();
        match Made::of(origin) {
            Ok(made) => self.with_live(|live| {
                live.renew(made, disk, begun);
                live.keep_trial(trial.then_some(text));
                Ok(live.told())
            }),
            Err(problem) => Ok(json!({ "refused": problem.told() })),
        }
    }

    /// Writes a text to the file of the model, and to no other; then the model is what it says.
    pub(super) fn save(&self, text: &str, stamp: Option<&str>) -> Result<Value, Refusal> {
        let opening = self.with_live(|live| live.opening())?;
        let _one = self.one_at_a_time();
        let disk = text::save(&opening.model, text, stamp)?;
        let origin = self.with_live(|live| {
            // What was changed just now is read below.
            live.look(true);
            live.keep_trial(None);
            Ok(live.origin(&disk))
        })?;
        self.renew(origin, disk);
        self.with_live(|live| Ok(live.told()))
    }

    /// Goes back to what the file says.
    pub(super) fn reload(&self) -> Result<Value, Refusal> {
        let opening = self.with_live(|live| live.opening())?;
        let _one = self.one_at_a_time();
        let disk = OnDisk::read(&opening.model).map_err(|e| Refusal::conflict(e.to_string()))?;
        let origin = self.with_live(|live| {
            live.keep_trial(None);
            Ok(live.origin(&disk))
        })?;
        self.renew(origin, disk);
        self.with_live(|live| Ok(live.told()))
    }
}
