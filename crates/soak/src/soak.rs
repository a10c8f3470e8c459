//! The soak: model after model, by several threads, for as long as one wants.

use crate::case::{Judged, Outcome, Place, take, write};
use crate::command;
use crate::coverage::{Grammar, Written};
use crate::language::Language;
use crate::summary::Summary;
use scrimp_system::Random;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A language, as the soak calls it.
#[derive(Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub grammar: &'static Grammar,
    /// Of a hundred models of all languages, so many.
    pub share: usize,
    take: fn(u64, &str, &Place) -> Judged,
    write: fn(u64) -> Written,
}

impl Entry {
    pub const fn of<L: Language>(share: usize) -> Entry {
        Entry { name: L::NAME, grammar: L::GRAMMAR, share, take: take::<L>, write: write::<L> }
    }
}

impl Entry {
    /// What so many models write of the grammar, without judging them.
    pub fn coverage(&self, seed: u64, models: u64) -> Written {
        let mut all = Written::new(self.grammar);
        (0..models).for_each(|number| all.add(&(self.write)(seed_of(seed, number))));
        all
    }
}

/// What is to be done.
pub struct Settings {
    pub languages: Vec<Entry>,
    pub models: u64,
    pub seed: u64,
    /// The number of the first model.
    pub first: u64,
    pub jobs: usize,
    pub time: Option<Duration>,
    /// Where models go that show something.
    pub findings: PathBuf,
    pub progress: bool,
}

/// The seed of the model with that number.
pub fn seed_of(seed: u64, number: u64) -> u64 {
    Random(seed ^ Random(number).next()).next()
}

/// The language of the model with that number, by the shares of all.
fn language_of(languages: &[Entry], number: u64) -> Entry {
    let all: usize = languages.iter().map(|entry| entry.share).sum();
    let mut left = Random(number ^ 0x1a9_6a6e).below(all);
    for entry in languages {
        if left < entry.share {
            return *entry;
        }
        left -= entry.share;
    }
    languages[0]
}

/// Takes models until there are enough, or time is up.
pub fn run(settings: &Settings) -> Summary {
    let begun = Instant::now();
    let (next, summary) = (AtomicU64::new(settings.first), Mutex::new(Summary::default()));
    let (command, known) = (command::find(), Mutex::new(Vec::new()));
    let end = settings.first.saturating_add(settings.models);
    let over = |number: u64| number >= end || settings.time.is_some_and(|time| begun.elapsed() >= time);
    let work = |worker: usize| {
        let folder = std::env::temp_dir().join(format!("scrimp-soak-{}-{worker}", std::process::id()));
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if over(number) {
                break;
            }
            let entry = language_of(&settings.languages, number);
            let stem = format!("{}-{}-{number}", entry.name, settings.seed);
            let place = Place { folder: &folder, command: command.as_deref(), known: &known };
            let judged = (entry.take)(seed_of(settings.seed, number), &stem, &place);
            if let Outcome::Wrong(finding) = &judged.outcome {
                keep(&finding.files, &settings.findings);
            }
            let again = format!("--language {} --seed {} --first {number} --models 1", entry.name, settings.seed);
            let mut summary = summary.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            summary.note(entry.name, judged, &again);
            if settings.progress {
                show(&summary, begun);
            }
        }
        let _ = std::fs::remove_dir_all(&folder);
    };
    std::thread::scope(|scope| {
        for worker in 0..settings.jobs.max(1) {
            scope.spawn(move || work(worker));
        }
    });
    if settings.progress {
        eprintln!();
    }
    summary.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// One line that is written over again and again, now and then.
fn show(summary: &Summary, begun: Instant) {
    let models = summary.models();
    if models.is_multiple_of(16) && std::io::stderr().is_terminal() {
        let rate = models as f64 / begun.elapsed().as_secs_f64().max(0.001);
        eprint!("\r{models} models, {} findings, {rate:.1} a second ", summary.findings());
        let _ = std::io::stderr().flush();
    }
}

/// Leaves a model for somebody to look at. Where that cannot be, the summary still tells how to come back to it.
fn keep(files: &[(String, String)], folder: &Path) {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| files.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text)));
    if let Err(error) = written {
        eprintln!("{}: {error}", folder.display());
    }
}
