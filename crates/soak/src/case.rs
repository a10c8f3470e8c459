//! One model: written, judged by an oracle, taken through the matrix, held against a twin; and made small where something
//! is wrong with it.

use crate::command;
use crate::coverage::Written;
use crate::language::{Answer, Expected, Language, Oracle, Twin};
use crate::matrix::{Matrix, Tally};
use crate::shrink::shrink;
use scrimp::Loaded;
use scrimp_system::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Configurations that are drawn for a model, beside the plain one.
const WAYS: usize = 3;
/// One model of so many is given to the command too.
const COMMAND: usize = 150;
/// How long a model that shows something is made smaller, the first ones of their kind longer.
const PATIENCE: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(4)];
const LONGER: usize = 4;

/// Where something panicked last, in whichever thread.
static PANICKED: Mutex<Option<String>> = Mutex::new(None);

/// Lets panics be told as findings, and by nothing else.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| place.to_string());
        *PANICKED.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
}

/// Where a case does its work.
pub struct Place<'a> {
    /// A folder of its own.
    pub folder: &'a Path,
    /// The `scrimp` command, where there is one.
    pub command: Option<&'a Path>,
    /// What was found so far, without numbers.
    pub known: &'a Mutex<Vec<String>>,
}

/// What came of a case.
pub struct Judged {
    pub written: Written,
    pub tally: Tally,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Agreed,
    Incomparable(String),
    Refused(String),
    Wrong(Finding),
}

/// A model that is judged wrongly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// In one line.
    pub what: String,
    /// Its files, made as small as it could be; the first one is opened.
    pub files: Vec<(String, String)>,
}

/// What an examination comes to.
enum Examined {
    Agreed,
    Incomparable(String),
    Refused(String),
    Wrong(String),
}

/// What the model of that seed writes of the grammar.
pub fn write<L: Language>(seed: u64) -> Written {
    let mut written = Written::new(L::GRAMMAR);
    L::generate(&mut Random(seed), &mut written);
    written
}

/// Takes the case of that seed, whose files are called `stem`.
pub fn take<L: Language>(seed: u64, stem: &str, place: &Place) -> Judged {
    let mut written = Written::new(L::GRAMMAR);
    let model = L::generate(&mut Random(seed), &mut written);
    let mut tally = Tally::default();
    let outcome = match examine::<L>(&model, seed, stem, place, &mut tally) {
        Examined::Agreed => Outcome::Agreed,
        Examined::Incomparable(why) => Outcome::Incomparable(why),
        Examined::Refused(why) => Outcome::Refused(why),
        Examined::Wrong(what) => Outcome::Wrong(smallest::<L>(&model, what, seed, stem, place)),
    };
    Judged { written, tally, outcome }
}

fn smallest<L: Language>(model: &L::Model, what: String, seed: u64, stem: &str, place: &Place) -> Finding {
    let mut last = what.clone();
    let before = {
        let mut known = place.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.iter().filter(|known| **known == alike(&what)).count();
        known.push(alike(&what));
        before
    };
    let small = shrink(model, L::smaller, PATIENCE[(before >= LONGER) as usize], |smaller| {
        match examine::<L>(smaller, seed, stem, place, &mut Tally::default()) {
            Examined::Wrong(again) if alike(&again) == alike(&what) => {
                last = again;
                true
            }
            _ => false,
        }
    });
    let mut files = L::files(&small, stem);
    files[0].1 = L::remarked(&files[0].1, &last);
    Finding { what: last, files }
}

/// What is wrong without its numbers and the configuration: two that are alike may have one cause.
fn alike(what: &str) -> String {
    let what = what.split(" (").next().unwrap_or(what);
    what.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn examine<L: Language>(model: &L::Model, seed: u64, stem: &str, place: &Place, tally: &mut Tally) -> Examined {
    match examine_by::<L>(model, seed, stem, place, tally, false) {
        Examined::Wrong(_) => examine_by::<L>(model, seed, stem, place, &mut Tally::default(), true),
        examined => examined,
    }
}

fn examine_by<L: Language>(
    model: &L::Model,
    seed: u64,
    stem: &str,
    place: &Place,
    tally: &mut Tally,
    doubt: bool,
) -> Examined {
    let oracle = place.folder.join("oracle");
    let judged = fresh(&oracle).map(|()| L::judge(model, &oracle, doubt));
    let _ = std::fs::remove_dir_all(&oracle);
    let expected = match judged {
        Err(error) => return Examined::Incomparable(format!("no folder: {error}")),
        Ok(Oracle::Incomparable(why)) => return Examined::Incomparable(why),
        Ok(Oracle::Refused(why)) => return Examined::Refused(why),
        Ok(Oracle::Known(expected)) => expected,
    };
    let mut random = Random(seed ^ 0x005e_ed0f_7a7e);
    let work = place.folder.join("work");
    // Whatever panics is wrong with the program, and told like anything else.
    let found = catch_unwind(AssertUnwindSafe(|| -> Result<(), String> {
        through::<L>(model, &expected, stem, &work, (&mut random, WAYS), tally)?;
        if let Some(command) = place.command.filter(|_| random.below(COMMAND) == 0) {
            let path = work.join(&L::files(model, stem)[0].0);
            command::check(command, &path, &expected, &mut random, tally)?;
        }
        let Some(twin) = L::twin(model, &mut random) else { return Ok(()) };
        let expected = of_twin(&expected, &twin);
        through::<L>(&twin.model, &expected, stem, &work, (&mut random, 1), tally)
            .map_err(|wrong| format!("when {}: {wrong}", twin.how))
    }));
    match found {
        Ok(Ok(())) => Examined::Agreed,
        Ok(Err(wrong)) => Examined::Wrong(one_line(&wrong)),
        Err(panic) => {
            let place = PANICKED.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
            Examined::Wrong(one_line(&format!("it panics: {} ({place})", panic_text(&*panic))))
        }
    }
}

/// What is expected of a model that means the same.
fn of_twin<M>(expected: &Expected, twin: &Twin<M>) -> Expected {
    let answer = |answer: &Answer| {
        let property = (twin.property)(&twin.model, &answer.property)?;
        Some(Answer { property, steps: answer.steps.filter(|_| twin.same_counts), ..answer.clone() })
    };
    Expected {
        answers: expected.answers.iter().filter_map(answer).collect(),
        ..if twin.same_counts { expected.clone() } else { Expected::default() }
    }
}

/// Takes a model through the matrix.
fn through<L: Language>(
    model: &L::Model,
    expected: &Expected,
    stem: &str,
    folder: &Path,
    (random, ways): (&mut Random, usize),
    tally: &mut Tally,
) -> Result<(), String> {
    let path = put(&L::files(model, stem), folder).map_err(|e| e.to_string())?;
    let open = || Loaded::open(&path).map_err(|e| e.to_string());
    Matrix { open: &open, folder, expected }.run(random, ways, tally)
}

/// Writes files to a folder that holds nothing else, and says where the first one is.
fn put(files: &[(String, String)], folder: &Path) -> std::io::Result<PathBuf> {
    fresh(folder)?;
    for (name, text) in files {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(folder.join(&files[0].0))
}

fn fresh(folder: &Path) -> std::io::Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default()
}
