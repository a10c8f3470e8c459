//! Checks and random runs, one after the other: a machine has room for one that is limited, not for as many as are clicked.

use crate::checks::{self, Checked, Slot};
use crate::text::Text;
use serde_json::Value;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Runs that may wait.
const MOST: usize = 16;

#[derive(Debug)]
pub enum Kind {
    Check(Option<String>),
    Simulate,
}

/// What was asked for.
#[derive(Debug)]
pub struct Run {
    pub id: Value,
    pub kind: Kind,
    pub uri: String,
    pub path: PathBuf,
    /// The text that is checked.
    pub text: Arc<Text>,
}

/// How it ended.
#[derive(Debug)]
pub enum Outcome {
    Checked(Checked),
    Simulated(String),
    Failed(String),
    Cancelled,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Run>,
    current: Option<(Value, Slot)>,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next run, once there is one.
    fn next(&self) -> (Run, Slot) {
        let mut queue = self.queue();
        loop {
            if let Some(run) = queue.waiting.pop_front() {
                let slot = Slot::default();
                queue.current = Some((run.id.clone(), slot.clone()));
                return (run, slot);
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Who runs them.
#[derive(Debug, Default)]
pub struct Runs(Arc<Shared>);

impl Runs {
    /// `done` is told how each ended.
    pub fn new(program: PathBuf, done: impl Fn(Run, Outcome) + Send + 'static) -> Runs {
        let runs = Runs::default();
        let shared = runs.0.clone();
        std::thread::spawn(move || {
            loop {
                let (run, slot) = shared.next();
                let outcome = match &run.kind {
                    Kind::Check(property) => {
                        checks::check(&program, &run.path, property.as_deref(), &run.text, &slot).map(Outcome::Checked)
                    }
                    Kind::Simulate => checks::simulate(&program, &run.path, &slot).map(Outcome::Simulated),
                };
                shared.queue().current = None;
                let outcome = if slot.was_ended() { Ok(Outcome::Cancelled) } else { outcome };
                done(run, outcome.unwrap_or_else(Outcome::Failed));
            }
        });
        runs
    }

    /// Adds a run behind those that wait; `false` where there are too many.
    pub fn add(&self, run: Run) -> bool {
        let mut queue = self.0.queue();
        let room = queue.waiting.len() < MOST;
        if room {
            queue.waiting.push_back(run);
            self.0.wake.notify_one();
        }
        room
    }

    /// Ends a run, or takes back one that waits.
    pub fn cancel(&self, id: &Value) -> Option<Run> {
        let mut queue = self.0.queue();
        if let Some((_, slot)) = queue.current.as_ref().filter(|(current, _)| current == id) {
            slot.end();
        }
        let waiting = queue.waiting.iter().position(|run| run.id == *id)?;
        queue.waiting.remove(waiting)
    }

    /// Ends them all.
    pub fn leave(&self) {
        let mut queue = self.0.queue();
        queue.waiting.clear();
        if let Some((_, slot)) = &queue.current {
            slot.end();
        }
    }
}
