//! A trial: one case, disturbed in one way that is drawn by chance.

mod files;
mod kills;
mod memory;
mod outputs;
mod signals;

use crate::answer::{Expected, Outcome};
use crate::case::Case;
use crate::program::{Ended, Program};
use crate::shim::{Fault, How};
use scrimp_system::Random;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a trial has at hand, and what it notes.
pub struct Ground<'a> {
    pub program: &'a Program,
    pub cases: &'a [Case],
    /// A folder of its own.
    pub folder: PathBuf,
    pub random: &'a mut Random,
    /// What was run, for whoever wants to run it again.
    pub log: Vec<String>,
    /// How often the program was killed or told to stop, and how often a call failed.
    pub kills: u64,
    pub faults: u64,
}

/// A way to disturb.
pub struct Kind {
    pub name: &'static str,
    /// Is it about calls that fail?
    pub needs_shim: bool,
    pub attempt: fn(&mut Ground) -> Result<(), String>,
}

pub const KINDS: [Kind; 9] = [
    Kind { name: "kill", needs_shim: false, attempt: kills::attempt },
    Kind { name: "signal", needs_shim: false, attempt: signals::attempt },
    Kind { name: "kill", needs_shim: false, attempt: kills::attempt },
    Kind { name: "time", needs_shim: false, attempt: signals::time },
    Kind { name: "checkpoint", needs_shim: true, attempt: files::checkpoint },
    Kind { name: "resume", needs_shim: true, attempt: files::resume },
    Kind { name: "disk", needs_shim: true, attempt: files::disk },
    Kind { name: "output", needs_shim: true, attempt: outputs::attempt },
    Kind { name: "memory", needs_shim: true, attempt: memory::attempt },
];

impl<'a> Ground<'a> {
    /// A case of some kind.
    fn case(&mut self, fits: impl Fn(&Case) -> bool) -> &'a Case {
        let fitting: Vec<&'a Case> = self.cases.iter().filter(|case| fits(case)).collect();
        fitting[self.random.below(fitting.len())]
    }

    /// What it answers undisturbed.
    fn expected(&self, case: &'a Case) -> Result<&'a (Expected, Duration), String> {
        std::fs::create_dir_all(self.folder.join("disk")).map_err(|e| e.to_string())?;
        case.expected(self.program, &self.folder)
    }

    fn run(&mut self, words: &[String], fault: Option<Fault>) -> Result<Ended, String> {
        self.note(words, fault.as_ref());
        let ended = self.program.run(words, fault, &self.folder)?;
        self.faults += ended.struck as u64;
        Ok(ended)
    }

    /// Notes a command and what is done to it.
    fn note(&mut self, words: &[String], fault: Option<&Fault>) {
        let fault = fault
            .map_or(String::new(), |f| format!("   with call {} of {} on '{}': {:?}", f.at, f.calls, f.path, f.how));
        self.log.push(format!("scrimp {}{fault}", words.join(" ")));
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.random.below(list.len())]
    }

    /// A number from 1 on, small ones more often.
    fn early(&mut self, most: usize) -> u64 {
        let most = 1 + self.random.below(most);
        1 + self.random.below(most) as u64
    }

    fn saved(&self) -> PathBuf {
        self.folder.join("search.save")
    }

    /// The words of a case that is saved often, and taken up if it was saved.
    fn saving(&self, case: &Case, every: &str) -> Vec<String> {
        let saved = self.saved().display().to_string();
        let mut words = case.words.clone();
        words.extend(["--checkpoint", &saved, "--every", every].map(String::from));
        if self.saved().exists() {
            words.extend(["--resume".to_string(), saved]);
        }
        words
    }

    /// Takes the search up, undisturbed: it comes to the same end.
    fn finish(&mut self, case: &'a Case, expected: &Expected) -> Result<(), String> {
        let words = self.saving(case, "10m");
        let ended = self.run(&words, None)?;
        match expected.judge(&ended)? {
            Outcome::Same => self.tidy(),
            outcome => Err(format!("taken up again, it is {outcome:?}: {}", ended.stderr)),
        }
    }

    /// Nothing is left behind of files that were being written.
    fn tidy(&self) -> Result<(), String> {
        let entries = std::fs::read_dir(&self.folder).map_err(|e| e.to_string())?;
        let part = |path: &Path| path.extension().is_some_and(|ending| ending == "part");
        match entries.flatten().map(|entry| entry.path()).find(|path| part(path)) {
            Some(left) => Err(format!("{} is left behind", left.display())),
            None => Ok(()),
        }
    }
}

/// Ways in which a file can fail.
const BROKEN: [How; 4] = [How::NoSpace, How::Broken, How::Interrupted, How::Short];
