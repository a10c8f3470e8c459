//! Runs the `scrimp` command while what it needs fails: writing and reading files, memory for its stores, and its own life.
//!
//! Calls into the system are made to fail, or to kill the program, by a small library ([`shim`]) that is loaded before the C
//! library; the program itself knows nothing of it. Whatever happens, a run that ends with an answer has the right one, a run
//! that was not finished says so, and a checkpoint that was once written can be taken up.

pub mod answer;
pub mod case;
pub mod models;
pub mod program;
pub mod shim;
pub mod summary;
pub mod trial;

use case::Case;
use program::Program;
use scrimp_system::Random;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use summary::Summary;
use trial::{Ground, KINDS};

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Settings {
    pub program: PathBuf,
    pub seed: u64,
    /// Goes on until so many runs were killed and so many trials made.
    pub kills: u64,
    pub trials: u64,
    pub jobs: usize,
    /// The kind of trial, or all.
    pub only: Option<String>,
    /// Tells how far it is.
    pub progress: bool,
}

/// Makes all trials and says what came of them.
pub fn run(settings: &Settings) -> Result<Summary, String> {
    let folder = std::env::temp_dir().join(format!("scrimp-faults-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let program = Program { path: settings.program.clone(), shim: shim::build(&folder)? };
    let cases: Vec<Case> = case::all(&folder).map_err(|e| e.to_string())?;
    let (next, summary) = (AtomicU64::new(0), Mutex::new(Summary::default()));
    let begun = Instant::now();
    let mut kinds: Vec<_> = KINDS.iter().collect();
    kinds.retain(|kind| settings.only.as_ref().is_none_or(|only| only == kind.name));
    if kinds.is_empty() {
        return Err(format!("there are only these kinds: {}", KINDS.map(|kind| kind.name).join(", ")));
    }
    if program.shim.is_none() {
        eprintln!("there is no C compiler (cc, gcc or clang): no calls fail, and what is about those is left out");
        kinds.retain(|kind| !kind.needs_shim);
        if kinds.is_empty() {
            return Ok(Summary::default());
        }
    }
    let work = |job: usize| loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let done =
            summary.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).is_enough(settings.kills, settings.trials);
        if done {
            break;
        }
        let mut random = Random(settings.seed.wrapping_mul(0x9e37_79b9).wrapping_add(number));
        random.next();
        let kind = kinds[number as usize % kinds.len()];
        let own = folder.join(format!("{job}"));
        let _ = std::fs::remove_dir_all(&own);
        std::fs::create_dir_all(&own).expect("a folder can be made");
        let mut ground = Ground {
            program: &program,
            cases: &cases,
            folder: own,
            random: &mut random,
            log: Vec::new(),
            kills: 0,
            faults: 0,
        };
        let outcome = (kind.attempt)(&mut ground);
        let mut summary = summary.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let finding =
            outcome.err().map(|what| format!("trial {number} ({}): {what}\n  {}", kind.name, ground.log.join("\n  ")));
        if let Some(finding) = &finding {
            eprintln!("{finding}");
        }
        summary.add(kind.name, ground.kills, ground.faults, finding);
        if settings.progress && summary.trials().is_multiple_of(20) {
            eprintln!("{}: {}", begun.elapsed().as_secs(), summary.short());
        }
    };
    std::thread::scope(|scope| {
        for job in 0..settings.jobs.max(1) {
            scope.spawn(move || work(job));
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
    Ok(summary.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
}
