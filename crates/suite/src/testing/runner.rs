//! Runs what decides the claims of models, several models side by side.

use super::cache::{self, Cache};
use super::declared::{Claim, Declared, Kind, read};
use crate::case::Limits;
use crate::child::{self, Killed};
use crate::template::command_line;
use scrimp_report::number::{bytes, count_of, parse_duration};
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
    pub threads: usize,
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
    /// The steps of the run that was found: a line of the model and what happened.
    pub run: Vec<(usize, String)>,
    pub command: String,
    pub seconds: f64,
}

impl Tested {
    pub fn passed(&self) -> bool {
        self.results.iter().all(|result| result.differs.is_none())
    }
}

/// Reads the comments of all models; all that is wrong with them at once.
pub fn tests(files: &[PathBuf]) -> Result<Vec<Test>, Vec<String>> {
    let mut wrong = Vec::new();
    let mut tests = Vec::new();
    for file in files {
        let name = file.display().to_string();
        match std::fs::read(file) {
            Err(error) => wrong.push(format!("{name}: error: {error}")),
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                match read(&text) {
                    Ok(declared) => tests.push(Test { file: file.clone(), declared, text: bytes }),
                    Err(error) => wrong.push(error.show(&name, &text)),
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
        let done: Mutex<Vec<(usize, Tested, Option<String>)>> = Mutex::new(Vec::new());
        let work = || {
            while !self.stop.load(Ordering::Relaxed) {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(test) = tests.get(i) else { break };
                let key = cache::key(&build, &self.identity(&test.declared), &test.file, &test.text);
                let known = !self.all && caches[&folder(test)].has(&name(test), &key);
                let Some(tested) = (if known { Some(unchanged(test)) } else { self.test(test) }) else { break };
                (self.tell)(&tested);
                let passed = tested.passed() && !tested.results.is_empty();
                held(&done).push((i, tested, passed.then_some(key)));
            }
        };
        std::thread::scope(|scope| (0..self.jobs.clamp(1, tests.len().max(1))).for_each(|_| drop(scope.spawn(work))));
        let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
        done.sort_by_key(|(i, ..)| *i);
        for (i, _, key) in &mut done {
            if let Some(cache) = caches.get_mut(&folder(&tests[*i])) {
                cache.set(&name(&tests[*i]), key.take());
            }
        }
        let failed = caches.values().filter_map(|cache| cache.save().err()).next();
        if done.len() < tests.len() {
            return Ok(None);
        }
        Ok(Some((done.into_iter().map(|(_, tested, _)| tested).collect(), failed)))
    }

    /// What belongs to the identity of a test beside the text of the model; files that are named here count with their content.
    fn identity(&self, declared: &Declared) -> Vec<String> {
        let mut words = declared.flags.clone();
        let automaton = |claim: &Claim| match &claim.kind {
            Kind::Property { property, .. } => property.strip_prefix("hoa:").map(|file| file.trim().to_string()),
            _ => None,
        };
        words.extend(declared.claims.iter().filter_map(automaton));
        words.extend(self.memory_is_given.then(|| format!("--memory {}", self.share(declared))));
        words
    }

    /// The memory of one run.
    fn share(&self, declared: &Declared) -> u64 {
        let share = self.memory / self.jobs.max(1) as u64;
        declared.memory.as_ref().map_or(share, |(_, memory)| share.min(*memory))
    }

    fn test(&self, test: &Test) -> Option<Tested> {
        let start = Instant::now();
        let mut results = Vec::new();
        let mut answers: BTreeMap<Vec<String>, (Result<Json, String>, String, f64)> = BTreeMap::new();
        for claim in &test.declared.claims {
            let asked = match &claim.kind {
                Kind::Count { .. } => vec!["count".to_string()],
                Kind::Property { property, .. } => vec!["check".to_string(), format!("--property={property}")],
                Kind::Whole { .. } => vec!["check".to_string()],
                Kind::Assertions { .. } => vec!["check".to_string(), "--property=assertions".to_string()],
            };
            let (answer, command, seconds) = match answers.entry(asked) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let answer = self.ask(test, new.key())?;
                    new.insert(answer)
                }
            };
            let (differs, run) = match answer {
                Ok(answer) => limited(judge(&claim.kind, answer), answer),
                Err(message) => (Some(message.clone()), Vec::new()),
            };
            let (command, seconds) = (command.clone(), *seconds);
            results.push(Outcome { claim: claim.clone(), differs, run, command, seconds });
        }
        Some(Tested { file: test.file.clone(), results, seconds: start.elapsed().as_secs_f64(), unchanged: false })
    }

    /// Runs a command on the model. The outer `None` when asked to stop.
    fn ask(&self, test: &Test, asked: &[String]) -> Option<(Result<Json, String>, String, f64)> {
        let declared = &test.declared;
        let mut words = vec![asked[0].clone(), test.file.display().to_string()];
        words.extend(asked[1..].iter().cloned());
        words.extend(declared.flags.iter().cloned());
        words.extend(declared.time.iter().flat_map(|time| ["--time".to_string(), time.clone()]));
        let shown = format!("scrimp {}", command_line(&words));
        let share = self.share(declared);
        let given = |flag: &str| words.iter().any(|word| word == flag || word.starts_with(&format!("{flag}=")));
        let (own_memory, own_threads) = (given("--memory"), given("--threads"));
        if !own_memory {
            words.extend(["--memory".to_string(), share.to_string()]);
        }
        if !own_threads {
            words.extend(["--threads".to_string(), self.threads.to_string()]);
        }
        words.push("--json".to_string());
        let time = declared.time.as_ref().and_then(|time| Some((time.clone(), parse_duration(time).ok()?)));
        let limits = Limits { time, memory: Some((share.to_string(), share)) };
        let start = Instant::now();
        let answer = match child::run(&self.program, &words, &limits, self.stop) {
            Err(error) => Err(format!("it cannot be run: {error}")),
            Ok(None) => return None,
            Ok(Some(ended)) => {
                let said = String::from_utf8_lossy(&ended.stderr);
                let said = said.trim().lines().next().unwrap_or("without an answer").to_string();
                match (ended.killed, ended.status.code(), serde_json::from_slice::<Json>(&ended.stdout)) {
                    (Some(Killed::Time), ..) => Err("it ran out of time".into()),
                    (Some(Killed::Memory), ..) => {
                        Err(format!("it took more than the {} of a job", bytes(share as usize)))
                    }
                    (None, Some(0 | 1 | 3 | 4), Ok(answer)) => Ok(answer),
                    (None, Some(2), _) => Err(format!("refused: {said}")),
                    (None, ..) => Err(format!("crashed ({}): {said}", ended.status)),
                }
            }
        };
        Some((answer, shown, start.elapsed().as_secs_f64()))
    }
}

type Judged = (Option<String>, Vec<(usize, String)>);

/// Holds a claim against an answer.
fn judge(kind: &Kind, answer: &Json) -> Judged {
    let verdict = |result: &Json| result["verdict"].as_str().unwrap_or("?").to_string();
    match kind {
        Kind::Count { field, number, at_most } => {
            let found = answer[*field].as_u64().filter(|_| answer["limits"]["reached"].is_null());
            let holds = found.is_some_and(|found| found == *number || (*at_most && found < *number));
            let told = found.map_or("it is not known".to_string(), |found| format!("it is {found}"));
            ((!holds).then_some(told), Vec::new())
        }
        Kind::Property { holds, events, .. } => {
            let result = &answer["properties"][0];
            let wanted = if *holds { "verified" } else { "violated" };
            let differs = if verdict(result) == wanted { length(result, *events) } else { Some(told(result)) };
            (differs, run(result))
        }
        Kind::Assertions { violated } => {
            let all = answer["properties"].as_array().map_or(&[][..], Vec::as_slice);
            let found = all.iter().find(|result| verdict(result) == "violated");
            let differs = match (found, violated) {
                (Some(result), false) => Some(told(result)),
                (None, true) => Some(format!("no assertion is violated ({})", verdict(answer))),
                (None, false) if verdict(answer) != "verified" => Some(verdict(answer)),
                _ => None,
            };
            (differs, found.map(run).unwrap_or_default())
        }
        Kind::Whole { verdict: wanted, property, events } => {
            let all = answer["properties"].as_array().map_or(&[][..], Vec::as_slice);
            let violated: Vec<&Json> = all.iter().filter(|result| verdict(result) == "violated").collect();
            let meant = |result: &&&Json| {
                let name = result["name"].as_str().unwrap_or("");
                property.as_ref().is_none_or(|wanted| name.to_lowercase().starts_with(&wanted.to_lowercase()))
            };
            let shown = violated.first().map(|result| run(result)).unwrap_or_default();
            if verdict(answer) != *wanted {
                let told = violated.first().map_or_else(|| verdict(answer), |result| told(result));
                return (Some(told), shown);
            }
            match (wanted.as_str(), violated.iter().find(meant)) {
                ("violated", None) => (violated.first().map(|result| told(result)), shown),
                ("violated", Some(result)) => (length(result, *events), run(result)),
                _ => (None, Vec::new()),
            }
        }
    }
}

/// What differs, with the limit that ended the search too early.
fn limited((differs, run): Judged, answer: &Json) -> Judged {
    let limit = answer["limits"]["reached"].as_str();
    let with =
        |differs: String| limit.map_or(differs.clone(), |limit| format!("{differs} (ended early: limit of {limit})"));
    (differs.map(with), run)
}

/// A result in words.
fn told(result: &Json) -> String {
    let (name, verdict) = (result["name"].as_str().unwrap_or("?"), result["verdict"].as_str().unwrap_or("?"));
    match events(result) {
        None => format!("{name} is {verdict}"),
        Some(events) => format!("{name} is {verdict} at {}", count_of(events, "event")),
    }
}

/// Events of the run that was found: steps on the way to one are no events of their own.
fn events(result: &Json) -> Option<u64> {
    let steps = result["trace"]["steps"].as_array()?;
    Some(steps.iter().filter(|step| !step["event"].is_null()).count() as u64)
}

fn length(result: &Json, wanted: Option<u64>) -> Option<String> {
    let wanted = wanted?;
    match events(result) {
        None => Some("there is no run that shows it".to_string()),
        Some(found) => (found != wanted).then(|| format!("the run has {}", count_of(found, "event"))),
    }
}

fn run(result: &Json) -> Vec<(usize, String)> {
    let steps = result["trace"]["steps"].as_array().map_or(&[][..], Vec::as_slice);
    let step =
        |step: &Json| (step["line"].as_u64().unwrap_or(0) as usize, step["label"].as_str().unwrap_or("").to_string());
    steps.iter().map(step).collect()
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
