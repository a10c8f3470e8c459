//! Random Promela programs, against SPIN: the same number of states and transitions, the same verdicts.
//!
//! Needs `spin` and `gcc`, and is faster with `tcc`. `SCRIMP_TEST_PROGRAMS=10000` takes more programs than usual,
//! `SCRIMP_TEST_SEED=7` begins at another seed, `SCRIMP_TEST_WITHOUT=Goto,Unless` leaves features out of the programs, and
//! `SCRIMP_TEST_SHRINK=1` makes the first program that differs as small as it can be. Programs that differ are left in
//! the folder `promela_spin/wrong` of Cargo's folder for tests, with what both tools say.

mod common;
mod promela_random;

use common::counted;
use promela_random::features::{Feature, Features};
use promela_random::generate;
use promela_random::shrink::shrink;
use promela_random::spin::{Answer, Found, Spin};
use promela_random::tree::Program;
use scrimp::Loaded;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What both tools must agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    states: u64,
    /// Without the one for the initial state, which SPIN counts.
    transitions: u64,
    invalid_end_state: bool,
    assertion_violated: bool,
}

impl From<&Found> for Facts {
    fn from(found: &Found) -> Facts {
        Facts {
            states: found.states,
            transitions: found.transitions - 1,
            invalid_end_state: found.invalid_end_state,
            assertion_violated: found.assertion_violated,
        }
    }
}

/// What came of one program.
enum Outcome {
    Same(Facts),
    Different(Difference),
    /// SPIN does not come to an end.
    Incomparable,
    Refused(String),
}

#[derive(Clone, PartialEq, Eq)]
struct Difference {
    spin: Facts,
    scrimp: Result<Facts, String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "SPIN:   {:?}", self.spin)?;
        match &self.scrimp {
            Ok(facts) => writeln!(f, "Scrimp: {facts:?}"),
            Err(error) => writeln!(f, "Scrimp: {error}"),
        }
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn allowed() -> Features {
    let without = std::env::var("SCRIMP_TEST_WITHOUT").unwrap_or_default();
    let named = |feature: &Feature| without.split(',').any(|name| name == format!("{feature:?}"));
    Feature::ALL.iter().filter(|feature| named(feature)).fold(Features::ALL, |set, &feature| set.without(feature))
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("promela_spin").join(name)
}

/// Leaves a program for somebody to look at.
fn keep(seed: u64, text: &str) {
    std::fs::create_dir_all(scratch("wrong")).expect("a folder can be made");
    std::fs::write(scratch(&format!("wrong/{seed}.pml")), text).expect("a file can be written");
}

/// What Scrimp finds in the program.
fn ours(program: &Program, name: &str) -> Result<Facts, String> {
    let path = scratch(&format!("{name}.pml"));
    std::fs::create_dir_all(scratch("")).expect("a folder can be made");
    std::fs::write(&path, program.to_string()).expect("a file can be written");
    let loaded = Loaded::open(&path);
    let _ = std::fs::remove_file(&path);
    let facts = counted(&mut loaded.map_err(|error| error.to_string())?)?;
    Ok(Facts {
        states: facts.states,
        transitions: facts.transitions,
        invalid_end_state: facts.deadlocks > 0,
        assertion_violated: facts.faults > 0,
    })
}

fn compare(spin: &Spin, program: &Program, name: &str) -> Outcome {
    let spin = match spin.text(&program.to_string(), &scratch(name)) {
        Answer::Found(found) => Facts::from(&found),
        Answer::Incomparable(_) => return Outcome::Incomparable,
        Answer::Refused(message) => return Outcome::Refused(message),
    };
    // A failure of ours is a difference like any other: it is shown with its program.
    let scrimp = std::panic::catch_unwind(|| ours(program, name));
    match scrimp.unwrap_or_else(|_| Err("error: it panics".into())) {
        Ok(facts) if facts == spin => Outcome::Same(facts),
        scrimp => Outcome::Different(Difference { spin, scrimp }),
    }
}

impl Difference {
    /// Whether the cause may be the same: both have counts, or both the same message.
    fn resembles(&self, other: &Difference) -> bool {
        let message = |difference: &Difference| {
            let error = difference.scrimp.as_ref().err()?;
            error.lines().next()?.split_once("error: ").map(|(_, message)| message.to_string())
        };
        self.scrimp.is_ok() == other.scrimp.is_ok() && message(self) == message(other)
    }
}

/// The program that differs, in the same way but smaller.
fn smaller(spin: &Spin, program: &Program, difference: &Difference) -> (Program, Difference) {
    let mut last = difference.clone();
    let program = shrink(program, &mut |program| match compare(spin, program, "shrinking") {
        Outcome::Different(other) if other.resembles(difference) => {
            last = other;
            true
        }
        _ => false,
    });
    (program, last)
}

/// What was seen of all programs.
#[derive(Default)]
struct Seen {
    states: Vec<u64>,
    invalid_end_states: usize,
    assertions_violated: usize,
    incomparable: usize,
    features: Vec<Features>,
    features_of_wrong: Vec<Features>,
    wrong: Vec<(u64, String)>,
}

impl Seen {
    fn note(&mut self, seed: u64, program: &Program, used: Features, outcome: Outcome) {
        self.features.push(used);
        match outcome {
            Outcome::Same(facts) => {
                self.states.push(facts.states);
                self.invalid_end_states += facts.invalid_end_state as usize;
                self.assertions_violated += facts.assertion_violated as usize;
            }
            Outcome::Incomparable => self.incomparable += 1,
            Outcome::Different(difference) => {
                keep(seed, &format!("/*\n{difference}*/\n{program}"));
                self.features_of_wrong.push(used);
                self.wrong.push((seed, format!("seed {seed}, with {used:?}:\n{program}{difference}")));
            }
            Outcome::Refused(message) => {
                self.wrong.push((seed, format!("seed {seed} is refused by SPIN:\n{program}{message}")));
            }
        }
    }

    fn print(&mut self) {
        self.states.sort();
        let at = |percent: usize| self.states.get(self.states.len() * percent / 100).copied().unwrap_or_default();
        println!("{} agree, {} incomparable, {} wrong", self.states.len(), self.incomparable, self.wrong.len());
        println!("states: {:?}", [5, 25, 50, 75, 95, 99].map(|percent| (percent, at(percent))));
        println!("{} with invalid end states, {} with violations", self.invalid_end_states, self.assertions_violated);
        for &feature in Feature::ALL {
            let count = |of: &[Features]| of.iter().filter(|used| used.has(feature)).count();
            println!("{feature:?}: {}, wrong {}", count(&self.features), count(&self.features_of_wrong));
        }
    }
}

#[test]
fn same_as_spin() {
    let spin = match Spin::find() {
        Ok(spin) => spin,
        Err(problem) => return eprintln!("skipped: {problem}"),
    };
    let _ = std::fs::remove_dir_all(scratch("wrong"));
    let (first, programs, allowed) = (number("SCRIMP_TEST_SEED", 0), number("SCRIMP_TEST_PROGRAMS", 500), allowed());
    let (next, seen) = (AtomicU64::new(first), Mutex::new(Seen::default()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + programs {
                return;
            }
            let generated = generate(seed, allowed);
            let outcome = compare(&spin, &generated.program, &seed.to_string());
            seen.lock().expect("no thread fails").note(seed, &generated.program, generated.used, outcome);
        }
    };
    // The tools' start takes longer than the searches, and two of them fit on any machine.
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let mut seen = seen.into_inner().expect("no thread fails");
    seen.print();
    seen.wrong.sort();
    if let Some((seed, text)) = seen.wrong.first() {
        let mut text = text.clone();
        let program = generate(*seed, allowed).program;
        if number("SCRIMP_TEST_SHRINK", 0) > 0
            && let Outcome::Different(difference) = compare(&spin, &program, "shrinking")
        {
            let (program, difference) = smaller(&spin, &program, &difference);
            text = format!("seed {seed}, smaller:\n{program}{difference}");
        }
        let seeds: Vec<u64> = seen.wrong.iter().map(|(seed, _)| *seed).collect();
        panic!("{} of {programs} programs differ: {seeds:?}\n{text}", seeds.len());
    }
    if programs >= 500 && first == 0 && allowed == Features::ALL {
        let incomparable = seen.incomparable;
        assert!(incomparable < programs as usize / 10, "{incomparable} programs are too large");
        assert!(seen.assertions_violated > 20 && seen.invalid_end_states > 100);
        for &feature in Feature::ALL {
            assert!(seen.features.iter().any(|used| used.has(feature)), "no program uses {feature:?}");
        }
    }
}

/// Our own models, which every other test relies on.
#[test]
fn own_models_are_the_same_in_spin() {
    let spin = match Spin::find() {
        Ok(spin) => spin,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let mut compared = 0;
    for file in std::fs::read_dir(common::manifest().join("models")).expect("there are models").flatten() {
        let path = file.path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        let name = file.file_name().to_string_lossy().into_owned();
        let Answer::Found(found) = spin.file(&path, &scratch(&name)) else { continue };
        let mut loaded = Loaded::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let facts = counted(&mut loaded).unwrap_or_else(|error| panic!("{name}: {error}"));
        let spin = Facts::from(&found);
        assert_eq!((facts.states, facts.transitions), (spin.states, spin.transitions), "{name}");
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} models");
}
