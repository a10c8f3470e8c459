//! The model and the text that it is read from, as both change: while a text has errors, the model of the text before stays.
//!
//! When the model has become another one, the one before is kept: walks through it are carried over. No two states have
//! the same number, whichever model they are of.

use super::Opening;
use super::claim_pair::{ClaimPair, Made, Origin};
use super::text::{OnDisk, Problem};
use crate::walk::Node;
use scrimp_explorer::Refusal;
use scrimp_suite::watched::Seen;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How often a text with errors is read again, though nothing is seen to have changed.
const AGAIN: Duration = Duration::from_secs(3);

pub struct Live {
    pub now: ClaimPair,
    before: Option<ClaimPair>,
    /// How often the model has become another one.
    pub version: u32,
    file: Option<FileState>,
}

/// The file of the model, and what is tried instead of it.
pub struct FileState {
    opening: Opening,
    disk: OnDisk,
    files: Vec<Seen>,
    /// Something has changed since the model was read.
    changed: bool,
    /// When it was read last.
    read: Instant,
    /// The text that is shown, where it is not the file's.
    trial: Option<Arc<str>>,
    problem: Option<Problem>,
}

impl FileState {
    pub fn new(opening: Opening, disk: OnDisk, files: &[PathBuf], begun: SystemTime) -> FileState {
        let files = files.iter().map(|path| Seen::after(path.clone(), begun)).collect();
        FileState { opening, disk, files, changed: false, read: Instant::now(), trial: None, problem: None }
    }
}

impl Live {
    pub fn new(now: ClaimPair, file: Option<FileState>) -> Live {
        Live { now, before: None, version: 0, file }
    }

    /// What there is to look at.
    pub fn model(&mut self) -> Value {
        let mut model = self.now.model();
        model["version"] = self.version.into();
        model["watched"] = self.file.is_some().into();
        model
    }

    fn of_file(&self) -> Result<&FileState, Refusal> {
        self.file.as_ref().ok_or_else(|| Refusal::unknown("this model has no text"))
    }

    pub fn opening(&self) -> Result<Opening, Refusal> {
        Ok(self.of_file()?.opening.clone())
    }

    /// How model and text stand.
    pub fn told(&self) -> Value {
        let file = self.file.as_ref();
        json!({
            "version": self.version,
            "stamp": file.map(|file| &file.disk.stamp),
            "trial": file.is_some_and(|file| file.trial.is_some()),
            "problem": file.and_then(|file| Some(file.problem.as_ref()?.told())),
        })
    }

    /// The text to be edited.
    pub fn text(&self) -> Result<Value, Refusal> {
        let file = self.of_file()?;
        let text = file.disk.edited().ok_or_else(|| {
            Refusal::conflict(file.disk.text.as_ref().err().map_or("this text cannot be edited", String::as_str))
        })?;
        Ok(json!({ "text": text, "stamp": file.disk.stamp, "trial": file.trial.as_deref() }))
    }

    /// What the model is read from when the file says this.
    pub fn origin(&self, disk: &OnDisk) -> Origin {
        let opening = self.file.as_ref().map_or_else(Opening::default, |file| file.opening.clone());
        Origin { opening, text: disk.text.clone().ok().filter(|text| !text.is_empty()) }
    }

    /// What is tried, if it is not what the file says.
    pub fn trial(&self) -> Option<Origin> {
        let file = self.file.as_ref()?;
        Some(Origin { opening: file.opening.clone(), text: Some(file.trial.clone()?) })
    }

    pub fn keep_trial(&mut self, text: Option<Arc<str>>) {
        if let Some(file) = &mut self.file {
            file.trial = text;
        }
    }

    /// Looks at the files. The path of the model's own, if it is to be read: if they have changed and settled, which is when
    /// they look the same twice, or when somebody has to know `now`.
    pub fn look(&mut self, now: bool) -> Option<PathBuf> {
        let file = self.file.as_mut()?;
        let mut moving = false;
        for seen in &mut file.files {
            moving |= seen.look();
        }
        let settled = file.changed && !moving || now;
        file.changed |= moving;
        // What an error is about may be a file that is not known to belong to the model, such as one that is missing.
        let again = file.problem.is_some() && file.read.elapsed() > AGAIN;
        let reads = file.changed && settled || again;
        if reads {
            (file.changed, file.read) = (false, Instant::now());
        }
        reads.then(|| file.opening.model.clone())
    }

    /// What to read now that the file says this: its text, or still the one that is tried.
    pub fn wanted(&mut self, disk: &OnDisk) -> Option<Origin> {
        let file = self.file.as_mut()?;
        if file.trial.as_ref().is_some_and(|trial| disk.says(trial)) {
            file.trial = None;
        }
        Some(self.trial().unwrap_or_else(|| self.origin(disk)))
    }

    /// The text has errors; the model of the text before stays.
    pub fn fail(&mut self, disk: Option<OnDisk>, problem: Problem) {
        let Some(file) = &mut self.file else { return };
        file.disk = disk.unwrap_or_else(|| file.disk.clone());
        file.problem = Some(problem);
    }

    /// The model is another one.
    pub fn renew(&mut self, made: Made, disk: OnDisk, begun: SystemTime) {
        let files = made.files.clone();
        let next = match made.behind(Some(&self.now)) {
            Ok(next) => next,
            Err(problem) => return self.fail(Some(disk), problem),
        };
        self.before = Some(std::mem::replace(&mut self.now, next));
        self.version += 1;
        let Some(file) = &mut self.file else { return };
        (file.disk, file.problem) = (disk, None);
        // Files that were watched before are as they were when the look was taken that found them changed.
        let mut kept = std::mem::take(&mut file.files);
        kept.retain(|seen| files.contains(&seen.path));
        for path in files {
            if !kept.iter().any(|seen| seen.path == path) {
                kept.push(Seen::after(path, begun));
            }
        }
        file.files = kept;
    }

    /// Goes the way to a state of the model before, as far as it still leads.
    pub fn carry(&mut self, node: Node, at: Node, again: Option<Node>) -> Result<Value, Refusal> {
        if self.now.has(node) && self.now.has(at) {
            return Ok(json!({ "node": node, "at": at, "loop": again, "lost": null }));
        }
        let before = self.before.as_mut().filter(|before| before.has(node));
        let before = before.ok_or_else(|| Refusal::unknown(format!("there is no state {node}")))?;
        self.now.carry(before, node, at, again)
    }
}
