//! A search in a folder, to be taken up again by as many processes as there are then.
//!
//! Every process writes what it owns to a file of its own: states that are to be expanded, those of the next level found so far, and all
//! it keeps. When all have done so, the first one writes the file `search`, which says what belongs together; from then on the files of
//! the time before are of no use. Whoever takes a search up reads some of the files and sends each state to the owner that it has now.
//! Files are those of [`checkpoint`]: whole or not there, with a checksum, and of one model.

use crate::level::Level;
use crate::search::Search;
use crate::signals::Gone;
use crate::word::{Finding, Sum, Word};
use scrimp_search::checkpoint::{self, Identity, get, put};
use scrimp_system::Model;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The file that says what belongs together.
pub const SEARCH: &str = "search";
/// Bytes that `search` may have.
const MOST: u64 = 1 << 30;

/// Where a search stood.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Saved {
    /// Files belong together that have this number.
    pub stamp: u64,
    /// Processes that wrote one.
    pub parts: u64,
    pub next_level: u32,
    pub widths: Vec<u64>,
    pub initial: u64,
    pub states: u64,
    pub visits: u64,
    pub transitions: u64,
    pub deadlocks: u64,
    pub faults: u64,
    pub degree: u64,
    pub findings: Vec<Option<Finding>>,
}

/// How a search is saved, and where one is taken up from.
pub struct Saving {
    pub to: Option<PathBuf>,
    pub from: Option<Saved>,
    pub folder: PathBuf,
    pub identity: Identity,
    pub making: Vec<u64>,
    pub every: Duration,
    pub last: Mutex<Instant>,
    /// The number of the first files, unlike those of any other search.
    pub stamp: u64,
}

impl Saving {
    pub fn is_due(&self) -> bool {
        self.to.is_some() && self.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= self.every
    }
}

impl Saved {
    /// What the folder says of a search of this model.
    pub fn read(folder: &Path, identity: Identity) -> io::Result<Saved> {
        let mut bytes = Vec::new();
        checkpoint::open(&folder.join(SEARCH), identity)?.take(MOST).read_to_end(&mut bytes)?;
        bincode::deserialize(&bytes).map_err(|_| damaged("what it says makes no sense"))
    }

    fn part(&self, folder: &Path, process: u64) -> PathBuf {
        folder.join(format!("part-{}-{}-{process}", self.stamp, self.parts))
    }
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the checkpoint is damaged: {why}"))
}

impl Search<'_, '_> {
    /// Saves the search, which has all of a level or was cut. Answers why it could not be.
    pub(crate) fn save(&mut self, sum: &Sum, widths: &[u64], initial: u64) -> Result<Option<String>, Gone> {
        let task = self.task;
        let Some((saving, to)) = task.saving.as_ref().and_then(|saving| Some((saving, saving.to.as_ref()?))) else {
            return Ok(None);
        };
        let stamp = saving.stamp.wrapping_add(self.saved);
        self.saved += 1;
        let saved = Saved {
            stamp,
            parts: self.processes as u64,
            next_level: self.next_level,
            widths: widths.to_vec(),
            initial,
            states: sum.total(|word| word.states),
            visits: sum.total(|word| word.visits),
            transitions: sum.total(|word| word.transitions),
            deadlocks: sum.total(|word| word.deadlocks),
            faults: sum.total(|word| word.faults),
            degree: sum.words.iter().map(|word| word.degree).max().unwrap_or(0),
            findings: sum.findings.clone(),
        };
        let first = self.exchange.is_first();
        let written = if first { self.write_part(&saved, saving, to) } else { Ok(()) };
        let told = self.say(Word { wrong: written.err().map(|e| e.to_string()), ..Word::default() })?;
        if let Some(why) = told.words.iter().find_map(|word| word.wrong.clone()) {
            return Ok(Some(why));
        }
        let finished = match self.exchange.me() {
            0 => checkpoint::write(&to.join(SEARCH), saving.identity, &saving.making, &mut |to| {
                to.write_all(&bincode::serialize(&saved).map_err(io::Error::other)?)
            }),
            _ => Ok(()),
        };
        let told = self.say(Word { wrong: finished.err().map(|e| e.to_string()), ..Word::default() })?;
        *saving.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        if let Some(why) = told.words.iter().find_map(|word| word.wrong.clone()) {
            return Ok(Some(why));
        }
        if first {
            self.remove_others(&saved, to);
        }
        (self.saved_at, self.kept_then) =
            (Some((saved.next_level, saved.states)), self.task.shared.kept(self.thread).count());
        Ok(None)
    }

    fn write_part(&self, saved: &Saved, saving: &Saving, to: &Path) -> io::Result<()> {
        std::fs::create_dir_all(to)?;
        let process = self.process as u64;
        checkpoint::write(&saved.part(to, process), saving.identity, &[], &mut |to| {
            for number in [saved.stamp, saved.parts, process] {
                put(to, number)?;
            }
            let mut result = Ok(());
            self.task.shared.open(|now, left, next| {
                result = put_states(to, now, left)
                    .and_then(|()| put_states(to, next, std::slice::from_ref(&(0..next.len()))));
            });
            result?;
            let kept = self.task.shared.kept(0);
            put(to, kept.len())?;
            let (signals, mut result) = (self.exchange.signals(), Ok(()));
            kept.each(&mut |state| {
                result = match signals.is_lost() {
                    true => Err(io::ErrorKind::ConnectionAborted.into()),
                    false => to.write_all(state),
                };
                result.is_ok()
            });
            result
        })
    }

    /// Removes the files of earlier times, those of processes that are no more among them.
    fn remove_others(&self, saved: &Saved, folder: &Path) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let numbers: Vec<u64> = match name.to_str().and_then(|name| name.strip_prefix("part-")) {
                Some(rest) => rest.split('-').map_while(|number| number.parse().ok()).collect(),
                None => continue,
            };
            if let [stamp, _, process] = numbers[..]
                && stamp != saved.stamp
                && process % self.processes as u64 == self.process as u64
            {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Takes a search up: states come to the owners that they have now, first those that are to be expanded.
    pub(crate) fn take_up(&mut self, saved: &Saved) -> Result<Sum, Gone> {
        self.next_level = saved.next_level;
        self.findings_known(&saved.findings);
        // All of it was looked at before.
        self.looks = false;
        if self.exchange.me() == 0 {
            self.count_before(saved);
        }
        let mut parts: Vec<Part> = Vec::new();
        // With as many processes as before, each has its own file.
        let files = (self.process as u64..saved.parts).step_by(self.processes);
        for process in files.skip(self.thread).step_by(self.exchange.threads()) {
            match Part::open(self.task, saved, process) {
                Ok(part) => parts.push(part),
                Err(e) => self.went_wrong(format!("part {process} of the search: {e}")),
            }
        }
        for section in 0..3 {
            self.only_keeps = section == 2;
            for part in &mut parts {
                if let Err(e) = part.give_away(self)? {
                    self.went_wrong(format!("part {} of the search: {e}", part.process));
                    break;
                }
            }
            self.finish()?;
            if section < 2 {
                self.say(Word::default())?;
            }
            if section == 0 {
                self.next_is_now();
            }
        }
        self.only_keeps = false;
        self.looks = true;
        (self.saved_at, self.kept_then) =
            (Some((saved.next_level, saved.states)), self.task.shared.kept(self.thread).count());
        let sum = self.say(Word::default())?;
        let differs = sum.total(|word| word.states) != saved.states;
        if differs && !sum.any(|word| word.lost || word.wrong.is_some()) {
            self.went_wrong("the checkpoint is damaged: other states than were saved".to_string());
            return self.say(Word::default());
        }
        Ok(sum)
    }
}

/// Writes how many states of a level are in these ranges, and the states.
fn put_states(to: &mut dyn Write, level: &Level, ranges: &[Range<u64>]) -> io::Result<()> {
    put(to, ranges.iter().map(|range| range.end - range.start).sum())?;
    for range in ranges {
        let mut at = range.start;
        while at < range.end {
            for state in level.from(at).take((range.end - at) as usize) {
                to.write_all(state)?;
                at += 1;
            }
        }
    }
    Ok(())
}

/// A file of one process, while it is read.
struct Part {
    process: u64,
    file: Box<dyn Read>,
    state: Vec<u8>,
}

impl Part {
    fn open(task: &crate::search::Task, saved: &Saved, process: u64) -> io::Result<Part> {
        let saving = task.saving.as_ref().ok_or_else(|| damaged("there is none"))?;
        let mut file = checkpoint::open(&saved.part(&saving.folder, process), saving.identity)?;
        let numbers = [get(&mut file)?, get(&mut file)?, get(&mut file)?];
        if numbers != [saved.stamp, saved.parts, process] {
            return Err(damaged("a file is of another time"));
        }
        Ok(Part { process, file: Box::new(file), state: vec![0; task.model.state_bytes()] })
    }

    /// Sends the states of the next section to their owners. Answers why they could not be read.
    fn give_away(&mut self, search: &mut Search) -> Result<io::Result<()>, Gone> {
        let count = match get(&mut self.file) {
            Ok(count) => count,
            Err(e) => return Ok(Err(e)),
        };
        for _ in 0..count {
            if let Err(e) = self.file.read_exact(&mut self.state) {
                return Ok(Err(e));
            }
            search.route(&self.state)?;
        }
        Ok(Ok(()))
    }
}
