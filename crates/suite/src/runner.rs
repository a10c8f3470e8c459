//! Works through the cases: several side by side, each run recorded as it ends, none repeated that is recorded already.

use crate::case::{Case, Kind, Run};
use crate::child::{self, Ended, Killed};
use crate::log::Log;
use crate::record::{Outcome, Record, Tried};
use crate::template::command_line;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// How to run.
pub struct Runner<'a> {
    /// The program that runs models.
    pub program: PathBuf,
    /// Its digest.
    pub build: String,
    /// How often each run is repeated; the fastest counts.
    pub repeat: usize,
    pub jobs: usize,
    pub stop: &'a AtomicBool,
    /// Told of each run that ends.
    pub tell: &'a (dyn Fn(&str) + Sync),
    log: Mutex<Log>,
    known: Mutex<HashMap<String, Vec<Record>>>,
    /// Why no more can be recorded.
    failure: Mutex<Option<String>>,
}

/// What came of a case.
#[derive(Debug)]
pub struct Row {
    /// The run to show: the only one, or the best of a search; of a search without success, one of those that failed.
    pub record: Record,
    pub search: Option<Searched>,
}

/// How a search went.
#[derive(Debug, Clone, Copy)]
pub struct Searched {
    pub runs: usize,
    pub crashed: usize,
    /// Whether a run was accepted.
    pub found: bool,
}

impl Row {
    /// Whether the row has figures to show.
    pub fn found(&self) -> bool {
        self.search.is_none_or(|s| s.found) && self.record.outcome != Outcome::Skipped
    }
}

impl<'a> Runner<'a> {
    pub fn new(
        program: PathBuf,
        log: Log,
        records: Vec<Record>,
        stop: &'a AtomicBool,
        tell: &'a (dyn Fn(&str) + Sync),
    ) -> std::io::Result<Runner<'a>> {
        let build = format!("{:016x}", crate::case::digest(&std::fs::read(&program)?));
        let mut known: HashMap<String, Vec<Record>> = HashMap::new();
        // What failed in another build of the program may work in this one.
        let failed = |r: &Record| matches!(r.outcome, Outcome::Refused | Outcome::Crashed);
        for record in records.into_iter().filter(|r| !failed(r) || r.build == build) {
            known.entry(record.key.clone()).or_default().push(record);
        }
        let (log, known) = (Mutex::new(log), Mutex::new(known));
        Ok(Runner { program, build, repeat: 1, jobs: 1, stop, tell, log, known, failure: Mutex::new(None) })
    }

    /// Works through the cases. `Ok(None)` when it was asked to stop; an error when results cannot be written.
    pub fn go(&self, cases: &[&Case]) -> Result<Option<Vec<Row>>, String> {
        let next = AtomicUsize::new(0);
        let rows: Mutex<Vec<(usize, Row)>> = Mutex::new(Vec::new());
        let work = || {
            while !self.stopped() {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = cases.get(i) else { break };
                if let Some(row) = self.case(case, &format!("[{}/{}]", i + 1, cases.len())) {
                    held(&rows).push((i, row));
                }
            }
        };
        std::thread::scope(|scope| (0..self.jobs.clamp(1, cases.len().max(1))).for_each(|_| drop(scope.spawn(work))));
        if let Some(failure) = held(&self.failure).take() {
            return Err(failure);
        }
        let mut rows = rows.into_inner().unwrap_or_else(|e| e.into_inner());
        rows.sort_by_key(|(i, _)| *i);
        Ok((rows.len() == cases.len()).then(|| rows.into_iter().map(|(_, row)| row).collect()))
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || held(&self.failure).is_some()
    }

    fn case(&self, case: &Case, number: &str) -> Option<Row> {
        match &case.kind {
            Kind::Once(run) => Some(Row { record: self.perform(run, None, number)?, search: None }),
            Kind::Search(search) => {
                let found = search.go(&|run, tried| self.perform(run, tried, number))?;
                let search = Searched { runs: found.runs, crashed: found.crashed, found: found.record.is_some() };
                Some(Row { record: found.record.or(found.failed)?, search: Some(search) })
            }
        }
    }

    /// Runs a command as often as asked for, less what is recorded; answers the fastest. `None` when asked to stop.
    fn perform(&self, run: &Run, tried: Option<&dyn Fn(&Record) -> Tried>, number: &str) -> Option<Record> {
        let mut rounds = held(&self.known).get(&run.key).cloned().unwrap_or_default();
        // What does not come to an end will not do so the next time.
        while rounds.len() < self.repeat && rounds.iter().all(|r| r.outcome == Outcome::Done) {
            if self.stopped() {
                return None;
            }
            let mut record = self.once(run, rounds.len() + 1)?;
            record.tried = tried.map(|tried| tried(&record));
            if let Err(error) = held(&self.log).append(&record) {
                *held(&self.failure) = Some(format!("error: results cannot be written: {error}"));
                return None;
            }
            (self.tell)(&line(number, &record));
            held(&self.known).entry(run.key.clone()).or_default().push(record.clone());
            rounds.push(record);
        }
        rounds.into_iter().min_by(|a, b| {
            (a.outcome != Outcome::Done, a.wall_seconds)
                .partial_cmp(&(b.outcome != Outcome::Done, b.wall_seconds))
                .expect("times are numbers")
        })
    }

    fn once(&self, run: &Run, round: usize) -> Option<Record> {
        let mut record = Record {
            key: run.key.clone(),
            task: run.task.clone(),
            model: run.model.clone(),
            settings: run.settings.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect(),
            tried: None,
            round,
            command: run.command.clone(),
            outcome: Outcome::Skipped,
            exit: None,
            signal: None,
            wall_seconds: 0.0,
            peak_rss_bytes: None,
            build: self.build.clone(),
            message: None,
            result: Json::Null,
        };
        if !run.present {
            record.message = Some("the model is not there".into());
            return Some(record);
        }
        let words = [run.command.as_slice(), &["--json".to_string()]].concat();
        match child::run(&self.program, &words, &run.limits, false, self.stop) {
            Ok(ended) => settle(&mut record, ended?),
            Err(error) => {
                record.outcome = Outcome::Crashed;
                record.message = Some(format!("it cannot be run: {error}"));
            }
        }
        Some(record)
    }
}

/// Says what an ended process amounts to.
fn settle(record: &mut Record, ended: Ended) {
    use std::os::unix::process::ExitStatusExt;
    record.result = serde_json::from_slice(&ended.stdout).unwrap_or(Json::Null);
    record.exit = ended.status.code();
    record.signal = ended.status.signal();
    record.wall_seconds = (ended.wall.as_secs_f64() * 1e6).round() / 1e6;
    record.peak_rss_bytes = ended.peak.or_else(|| record.result["memory_peak_bytes"].as_u64());
    let said = String::from_utf8_lossy(&ended.stderr).trim().to_string();
    let panicked = said.contains("panicked at");
    record.outcome = match (ended.killed, record.exit) {
        (Some(Killed::Time), _) => Outcome::TimedOut,
        (Some(Killed::Memory), _) => Outcome::OutOfMemory,
        (None, Some(0 | 1 | 4)) if record.result.is_object() => Outcome::Done,
        (None, Some(2)) if !panicked => Outcome::Refused,
        (None, Some(3)) => match record.result["limits"]["reached"].as_str() {
            Some("memory") => Outcome::OutOfMemory,
            Some("time") => Outcome::TimedOut,
            _ => Outcome::Limit,
        },
        _ => Outcome::Crashed,
    };
    if matches!(record.outcome, Outcome::Refused | Outcome::Crashed) {
        let signal = record.signal.map(|signal| format!("ended by signal {signal}"));
        record.message =
            [signal, (!said.is_empty()).then_some(said)].into_iter().flatten().reduce(|a, b| a + ": " + &b);
    }
}

fn line(number: &str, record: &Record) -> String {
    let settings: Vec<&str> = record.settings.values().filter_map(|v| v.as_str()).filter(|v| !v.is_empty()).collect();
    let reached = record.result["limits"]["reached"].as_str().filter(|_| record.outcome == Outcome::Limit);
    let mut line = format!("{number} {}: {} {}", record.task, record.model, settings.join(" "));
    line = format!(
        "{} {} in {:.2} s",
        line.trim_end(),
        reached.map_or(record.outcome.to_string(), |r| format!("limit of {r}")),
        record.wall_seconds
    );
    if let Some(message) = &record.message {
        line.push_str(&format!(": {}", message.lines().next().unwrap_or("")));
        line.push_str(&format!("\n    scrimp {}", command_line(&record.command)));
    }
    line
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
