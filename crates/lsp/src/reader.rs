//! Reading texts beside the editing: what is wrong with them, and which values their variables take. A text that has changed
//! meanwhile is not read: who types quickly is told of the newest.

use crate::problems::{of_model, of_properties, with_room};
use crate::text::Text;
use crate::values::Values;
use scrimp_lang::Opened;
use scrimp_system::Stop;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The values that a model's variables take, once they are known.
pub type Known = Arc<Mutex<Option<Values>>>;

/// A text that is to be read.
#[derive(Debug, Clone)]
pub struct Job {
    pub uri: String,
    pub version: u64,
    pub path: PathBuf,
    pub is_model: bool,
    pub text: Arc<Text>,
    pub values: Known,
    /// Asked when the text has changed.
    pub stop: Stop,
}

/// What was found in it.
#[derive(Debug)]
pub struct Found {
    pub uri: String,
    pub version: u64,
    pub problems: Vec<Value>,
}

/// Starts who reads texts, and who looks for values of models that can be read.
pub fn start(tell: impl Fn(Found) + Clone + Send + 'static) -> Sender<Job> {
    let (jobs, to_read) = channel::<Job>();
    let (opened, to_search) = channel::<(Job, Opened)>();
    let found = tell.clone();
    std::thread::spawn(move || read(&to_read, &opened, found));
    std::thread::spawn(move || search(&to_search, tell));
    jobs
}

fn read(jobs: &Receiver<Job>, opened: &Sender<(Job, Opened)>, tell: impl Fn(Found)) {
    while let Ok(job) = jobs.recv() {
        if job.stop.asked().is_some() {
            continue;
        }
        let (problems, model) = match job.is_model {
            true => of_model(&job.path, &job.text, &job.stop),
            false => (of_properties(&job.path, &job.text, &job.stop), None),
        };
        tell(Found { uri: job.uri.clone(), version: job.version, problems });
        if let Some(model) = model {
            let _ = opened.send((job, model));
        }
    }
}

fn search(jobs: &Receiver<(Job, Opened)>, tell: impl Fn(Found)) {
    while let Ok((job, opened)) = jobs.recv() {
        if job.stop.asked().is_some() {
            continue;
        }
        match with_room(opened, &job.text) {
            Ok(system) => {
                let seen = Values::of(&system, &job.stop);
                *job.values.lock().unwrap_or_else(PoisonError::into_inner) = seen;
            }
            Err(problems) => tell(Found { uri: job.uri, version: job.version, problems }),
        }
    }
}
