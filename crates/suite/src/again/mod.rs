//! Checks a model again each time that one of its files changes, and says what is otherwise since the last time.
//!
//! A check is a process of its own, so that it can be ended at any moment: a file that changes while it runs makes its answer one
//! about a text that is gone. It says itself which files it reads. A file is read when it looks the same twice: until then somebody may still be writing it.

mod answer;
mod running;
mod told;

pub use answer::{Answer, Counts, Found};
pub use told::{progress, told};

use crate::watched::{Seen, belonging};
use running::Running;
use serde_json::Value as Json;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// How often files are looked at, and how often everything else.
const LOOK: Duration = Duration::from_millis(100);
const GLANCE: Duration = Duration::from_millis(10);
/// What the time of a file's last change may be too early by.
const TICK: Duration = Duration::from_millis(20);

/// A model that is checked again and again.
pub struct Again {
    pub program: PathBuf,
    /// The command that checks it, which must answer with one JSON object.
    pub words: Vec<OsString>,
    pub model: PathBuf,
    /// Other files that the answer depends on, such as one of properties.
    pub inputs: Vec<PathBuf>,
}

/// What happens meanwhile.
pub enum Event<'a> {
    /// These files are watched from now on.
    Watches(&'a [PathBuf]),
    /// These have changed; was a check ended for that?
    Changed(&'a [PathBuf], bool),
    /// How far a check is, as it says itself.
    Progress(&'a Json),
    /// A check has come to an answer; the second one is that of the last that had come to one.
    Checked(&'a Answer, Option<&'a Answer>),
    /// The model is wrong, or cannot be checked so: why, and whether that was so before.
    Wrong(&'a str, bool),
    /// There is no such file any more.
    Gone,
}

impl Again {
    /// Works until it is asked to stop, or until `tell` answers that nobody listens.
    pub fn run(&self, stop: &AtomicBool, tell: &mut dyn FnMut(Event) -> bool) -> io::Result<()> {
        let (mut last, mut wrong): (Option<Answer>, Option<String>) = (None, None);
        let mut files = Files::default();
        loop {
            // As they are before anything is read: what changes later is seen.
            files.begin(self);
            if !files.tell_news(tell) {
                return Ok(());
            }
            let mut was_ended = false;
            if self.model.exists() {
                match self.check(stop, &mut files, tell)? {
                    Round::Stopped => return Ok(()),
                    Round::Changed => was_ended = true,
                    Round::Answered(Ok(answer)) => {
                        if !tell(Event::Checked(&answer, last.as_ref())) {
                            return Ok(());
                        }
                        (last, wrong) = (Some(answer), None);
                    }
                    Round::Answered(Err(message)) => {
                        if !tell(Event::Wrong(&message, wrong.as_deref() == Some(&message))) {
                            return Ok(());
                        }
                        wrong = Some(message);
                    }
                }
            } else if !tell(Event::Gone) {
                return Ok(());
            }
            if !files.tell_news(tell) {
                return Ok(());
            }
            if !files.wait(stop) || !tell(Event::Changed(&files.take_changed(), was_ended)) {
                return Ok(());
            }
        }
    }

    /// Checks once.
    fn check(&self, stop: &AtomicBool, files: &mut Files, tell: &mut dyn FnMut(Event) -> bool) -> io::Result<Round> {
        let begun = SystemTime::now() - TICK;
        let mut running = Running::begin(&self.program, &self.words)?;
        files.opened.clear();
        let mut looked = Instant::now();
        loop {
            if stop.load(Ordering::Relaxed) {
                running.end();
                return Ok(Round::Stopped);
            }
            files.opened(running.opened(), begun);
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                if files.look() {
                    running.end();
                    return Ok(Round::Changed);
                }
            }
            if let Some(status) = running.ended()? {
                let (answer, opened) = running.answer(status);
                files.opened(opened, begun);
                return Ok(Round::Answered(answer));
            }
            if let Some(progress) = running.progress()
                && !tell(Event::Progress(&progress))
            {
                running.end();
                return Ok(Round::Stopped);
            }
            std::thread::sleep(GLANCE);
        }
    }
}

/// How a check ended.
enum Round {
    Answered(Result<Answer, String>),
    /// A file has changed before it came to an answer.
    Changed,
    Stopped,
}

/// The files that are watched.
#[derive(Default)]
struct Files {
    seen: Vec<Seen>,
    /// What has changed since a check began.
    changed: Vec<PathBuf>,
    /// What the last check has opened.
    opened: Vec<PathBuf>,
    /// What was told of.
    told: Vec<PathBuf>,
}

impl Files {
    /// Finds out which files there are, as far as a look at them tells, and looks at new ones for the first time.
    fn begin(&mut self, of: &Again) {
        let mut paths = belonging(&of.model);
        paths.extend(of.inputs.iter().chain(&self.opened).cloned());
        self.seen.retain(|seen| paths.contains(&seen.path));
        for path in paths {
            if !self.seen.iter().any(|seen| seen.path == path) {
                self.seen.push(Seen::new(path));
            }
        }
    }

    /// Takes up files that a check has opened which began at that time.
    fn opened(&mut self, paths: Vec<PathBuf>, begun: SystemTime) {
        for path in paths {
            if !self.seen.iter().any(|seen| seen.path == path) {
                let seen = if path.exists() { Seen::after(path.clone(), begun) } else { Seen::missing(path.clone()) };
                self.seen.push(seen);
            }
            self.opened.push(path);
        }
    }

    /// Says which files there are, where they are other ones than before; `false` when nobody listens.
    fn tell_news(&mut self, tell: &mut dyn FnMut(Event) -> bool) -> bool {
        let now = self.paths();
        let news = now != self.told;
        self.told = now;
        !news || tell(Event::Watches(&self.told))
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.seen.iter().map(|seen| seen.path.clone()).collect()
    }

    /// Looks at all. Has one changed since the last look?
    fn look(&mut self) -> bool {
        let mut moving = false;
        for seen in &mut self.seen {
            if seen.look() {
                moving = true;
                if !self.changed.contains(&seen.path) {
                    self.changed.push(seen.path.clone());
                }
            }
        }
        moving
    }

    /// Waits until a file has changed and all look the same twice; `false` when asked to stop.
    fn wait(&mut self, stop: &AtomicBool) -> bool {
        loop {
            let looked = Instant::now();
            while looked.elapsed() < LOOK {
                if stop.load(Ordering::Relaxed) {
                    return false;
                }
                std::thread::sleep(GLANCE);
            }
            if !self.look() && !self.changed.is_empty() {
                return true;
            }
        }
    }

    fn take_changed(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.changed)
    }
}
