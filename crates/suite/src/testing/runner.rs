//! Runs what decides the claims of models, several models side by side.

use super::cache::{Cache, Passed};
use super::declared::{Claim, Declared, Kind, read};
use super::flags::is_given;
use super::judge::{Step, judge};
use crate::case::Limits;
use crate::child::{self, Killed};
use crate::opened::{Opened, digest};
use crate::template::command_line;
use scrimp_report::number::{bytes, parse_duration};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// How to test.
pub struct Runner<'a> {
    pub program: PathBuf,
    pub jobs: usize,
    /// Of all jobs together.
    pub memory: u64,
    /// Somebody has said how much memory that is; else it is what happens to be free.
    pub memory_is_given: bool,
    /// Of each job; nothing where one job has all cores.
    pub threads: Option<usize>,
    /// Also what has passed and is unchanged.
    pub all: bool,
    pub stop: &'a AtomicBool,
    pub tell: &'a (dyn Fn(&Tested) + Sync),
}

/// A model to be tested, its comments read.
#[derive(Debug)]
pub struct Test {
    pub file: PathBuf,
    pub declared: Declared,
    text: Vec<u8>,
}

/// What came of a model.
#[derive(Debug)]
pub struct Tested {
    pub file: PathBuf,
    pub results: Vec<Outcome>,
    pub seconds: f64,
    /// It passed before, and nothing has changed since.
    pub unchanged: bool,
}

/// What came of a claim.
#[derive(Debug)]
pub struct Outcome {
    pub claim: Claim,
    /// What is so instead; `None` where it is as declared.
    pub differs: Option<String>,
    /// The steps of the run that was found.
    pub run: Vec<Step>,
    pub command: String,
    pub seconds: f64,
}

impl Tested {
    pub fn passed(&self) -> bool {
        self.results.iter().all(|result| result.differs.is_none())
    }

    /// The file of a step's line.
    pub fn file_of(&self, step: &Step) -> String {
        step.file.clone().unwrap_or_else(|| self.file.display().to_string())
    }
}

/// A model whose comments cannot be read.
#[derive(Debug)]
pub struct Unread {
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// With the place, the line and help.
    pub message: String,
}

/// Reads the comments of all models; all that is wrong with them at once.
pub fn tests(files: &[PathBuf]) -> Result<Vec<Test>, Vec<Unread>> {
    let mut wrong = Vec::new();
    let mut tests = Vec::new();
    for file in files {
        let name = file.display().to_string();
        match std::fs::read(file) {
            Err(error) => {
                wrong.push(Unread { file: file.clone(), line: 1, message: format!("{name}: error: {error}") });
            }
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                // A mark of the encoding is no part of the text.
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                match read(text) {
                    Ok(declared) => tests.push(Test { file: file.clone(), declared, text: bytes }),
                    Err(error) => {
                        let before = text.get(..error.at.start).unwrap_or_default();
                        let line = before.matches('\n').count() + 1;
                        wrong.push(Unread { file: file.clone(), line, message: error.show(&name, text) });
                    }
                }
            }
        }
    }
    if wrong.is_empty() { Ok(tests) } else { Err(wrong) }
}

impl Runner<'_> {
    /// Tests all; `Ok(None)` when asked to stop. What cannot be remembered for the next time is told beside the results.
    pub fn go(&self, tests: &[Test]) -> std::io::Result<Option<(Vec<Tested>, Option<std::io::Error>)>> {
        let build = format!("{:016x}", crate::case::digest(&std::fs::read(&self.program)?));
        let folder = |test: &Test| test.file.parent().unwrap_or(Path::new("")).to_path_buf();
        let mut caches: BTreeMap<PathBuf, Cache> = BTreeMap::new();
        for test in tests {
            caches.entry(folder(test)).or_insert_with_key(|folder| Cache::of(folder));
        }
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Tested, Option<Passed>)>> = Mutex::new(Vec::new());
        let work = || {
            while !self.stop.load(Ordering::Relaxed) {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(test) = tests.get(i) else { break };
                let identity = self.identity(&build, test);
                let known = &caches[&folder(test)];
                if !self.all && known.has(&name(test), &identity) {
                    (self.tell)(&unchanged(test));
                    held(&done).push((i, unchanged(test), known.get(&name(test))));
                    continue;
                }
                let Some((tested, files)) = self.test(test) else { break };
                (self.tell)(&tested);
                let passed = files.filter(|_| tested.passed()).map(|files| Passed { test: identity, files });
                // What was changed while it was read may have passed as it was, or as it is.
                held(&done).push((i, tested, passed.filter(Passed::stands)));
            }
        };
        std::thread::scope(|scope| (0..self.jobs.clamp(1, tests.len().max(1))).for_each(|_| drop(scope.spawn(work))));
        let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
        done.sort_by_key(|(i, ..)| *i);
        for (i, _, passed) in &mut done {
            if let Some(cache) = caches.get_mut(&folder(&tests[*i])) {
                cache.set(&name(&tests[*i]), passed.take());
            }
        }
        let failed = caches.values().filter_map(|cache| cache.save().err()).next();
        if done.len() < tests.len() {
            return Ok(None);
        }
        Ok(Some((done.into_iter().map(|(_, tested, _)| tested).collect(), failed)))
    }

    /// A digest of what a test depends on beside the files that are read: the program, its flags, the model and its name, for
    /// which files it includes depends on where it lies.
    fn identity(&self, build: &str, test: &Test) -> String {
        let memory = if self.memory_is_given { self.share(&test.declared).to_string() } else { String::new() };
        let name = test.file.as_os_str().as_encoded_bytes();
        let mut parts = vec![build.as_bytes(), memory.as_bytes(), name, &test.text];
        parts.extend(test.declared.flags.iter().map(String::as_bytes));
        digest(&parts)
    }

    /// The memory of one run.
    fn share(&self, declared: &Declared) -> u64 {
        let share = self.memory / self.jobs.max(1) as u64;
        declared.memory.as_ref().map_or(share, |(_, memory)| share.min(*memory))
    }

    /// Tests a model; answers the files that were read, too, where all runs have read the same. `None` when asked to stop.
    fn test(&self, test: &Test) -> Option<(Tested, Option<BTreeMap<PathBuf, String>>)> {
        let start = Instant::now();
        let mut results = Vec::new();
        let mut answers: BTreeMap<Vec<String>, Answered> = BTreeMap::new();
        for claim in &test.declared.claims {
            let asked = match &claim.kind {
                Kind::Count { .. } => vec!["count".to_string()],
                Kind::Property { property, .. } => vec!["check".to_string(), format!("--property={property}")],
                Kind::Whole { .. } => vec!["check".to_string()],
                Kind::Assertions { .. } => vec!["check".to_string(), "--property=assertions".to_string()],
                Kind::Readable => continue,
            };
            let answered = match answers.entry(asked) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let answer = self.ask(test, new.key())?;
                    new.insert(answer)
                }
            };
            let (differs, run) = match &answered.answer {
                Ok(answer) => judge(&claim.kind, answer),
                Err(message) => (Some(message.clone()), Vec::new()),
            };
            results.push(answered.outcome(claim.clone(), differs, run));
        }
        if results.is_empty() {
            // Nothing is declared: a look at it shows whether it is a model.
            let answered = self.ask(test, &["count".to_string(), "--max-visits=1".to_string()])?;
            if let Err(message) = &answered.answer {
                let line = place(message, &test.file);
                let claim = Claim { line, text: "it is a model".to_string(), kind: Kind::Readable };
                results.push(answered.outcome(claim, Some(message.clone()), Vec::new()));
            }
            answers.insert(Vec::new(), answered);
        }
        let mut files: Option<BTreeMap<PathBuf, String>> = Some(BTreeMap::new());
        for Opened { path, digest } in answers.into_values().flat_map(|answered| answered.opened) {
            let other =
                files.as_mut().and_then(|files| files.insert(path, digest.clone())).filter(|old| *old != digest);
            if other.is_some() {
                files = None;
            }
        }
        // The claims are those of the text that was read here.
        let read = files.as_ref().map(|files| files.get(&test.file));
        if read.is_none_or(|read| read.is_some_and(|read| *read != digest(&[&test.text]))) {
            let why = "a file was changed while it was tested; test it again";
            results.iter_mut().for_each(|result| result.differs = Some(why.to_string()));
        }
        let files = files.filter(|files| files.contains_key(&test.file));
        let seconds = start.elapsed().as_secs_f64();
        Some((Tested { file: test.file.clone(), results, seconds, unchanged: false }, files))
    }

    /// Runs a command on the model. `None` when asked to stop.
    fn ask(&self, test: &Test, asked: &[String]) -> Option<Answered> {
        let declared = &test.declared;
        let mut words = vec![asked[0].clone(), test.file.display().to_string()];
        words.extend(asked[1..].iter().cloned());
        words.extend(declared.flags.iter().cloned());
        words.extend(declared.time.iter().flat_map(|time| ["--time".to_string(), time.clone()]));
        let command = format!("scrimp {}", command_line(&words));
        let share = self.share(declared);
        if !is_given(&declared.flags, "--memory") {
            words.extend(["--memory".to_string(), share.to_string()]);
        }
        // Not every search that flags may ask for has several threads; all have one.
        let threads = if declared.flags.is_empty() { self.threads } else { self.threads.and(Some(1)) };
        if let Some(threads) = threads.filter(|_| !is_given(&declared.flags, "--threads")) {
            words.extend(["--threads".to_string(), threads.to_string()]);
        }
        words.push("--json".to_string());
        let time = declared.time.as_ref().and_then(|time| Some((time.clone(), parse_duration(time).ok()?)));
        let limits = Limits { time, memory: Some((share.to_string(), share)) };
        let (start, mut opened) = (Instant::now(), Vec::new());
        let answer = match child::run(&self.program, &words, &limits, true, self.stop) {
            Err(error) => Err(format!("it cannot be run: {error}")),
            Ok(None) => return None,
            Ok(Some(ended)) => {
                opened = ended.opened;
                let said = String::from_utf8_lossy(&ended.stderr);
                let first = said.lines().find(|line| line.contains("error: ")).or(said.trim().lines().next());
                let said = first.unwrap_or("without an answer").to_string();
                match (ended.killed, ended.status.code(), serde_json::from_slice::<Json>(&ended.stdout)) {
                    (Some(Killed::Time), ..) => Err("it ran out of time".into()),
                    (Some(Killed::Memory), ..) => {
                        Err(format!("it took more than the {} of a job", bytes(share as usize)))
                    }
                    (None, Some(0 | 1 | 3 | 4), Ok(answer)) => Ok(answer),
                    (None, Some(2), _) => Err(format!("{REFUSED}{said}")),
                    (None, ..) => Err(format!("crashed ({}): {said}", ended.status)),
                }
            }
        };
        Some(Answered { answer, opened, command, seconds: start.elapsed().as_secs_f64() })
    }
}

/// What a run said.
struct Answered {
    /// Or else why there is no answer.
    answer: Result<Json, String>,
    opened: Vec<Opened>,
    command: String,
    seconds: f64,
}

impl Answered {
    fn outcome(&self, claim: Claim, differs: Option<String>, run: Vec<Step>) -> Outcome {
        Outcome { claim, differs, run, command: self.command.clone(), seconds: self.seconds }
    }
}

const REFUSED: &str = "refused: ";

/// The line of the model that a message is about.
fn place(message: &str, model: &Path) -> usize {
    let name = model.display().to_string();
    let rest = message.strip_prefix(REFUSED).and_then(|rest| rest.strip_prefix(&name)?.strip_prefix(':'));
    rest.and_then(|rest| rest.split(':').next()?.parse().ok()).unwrap_or(1)
}

fn unchanged(test: &Test) -> Tested {
    let result = |claim: &Claim| Outcome {
        claim: claim.clone(),
        differs: None,
        run: Vec::new(),
        command: String::new(),
        seconds: 0.0,
    };
    let results = test.declared.claims.iter().map(result).collect();
    Tested { file: test.file.clone(), results, seconds: 0.0, unchanged: true }
}

fn name(test: &Test) -> String {
    test.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
