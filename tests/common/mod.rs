//! What several test files need: models made ready, searched, and their traces held against the interpreter.

#![allow(dead_code, unused_imports)] // each test file uses its own part

pub mod backwards;
pub mod command;
pub mod every_state;
pub mod explorer;
pub mod faulty;
pub mod header;
pub mod nets;
pub mod page;
pub mod random;
pub mod schema;
pub mod shared;

pub use scrimp_soak::replay::{replay, successors};

use scrimp::plan::OrderChoice;
use scrimp::{Control, Mode, ModelFacts, NativeModel, Options, Plan, Property, Question, Report, System};
use scrimp_core::Condition;
use std::path::PathBuf;
use std::sync::Arc;

/// One way to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    pub order: OrderChoice,
    pub mode: Mode,
    pub threads: usize,
}

/// Every way that the tool has.
pub fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for mode in [Mode::Compiled, Mode::Interpreted] {
        for threads in [1, 2, 4] {
            ways.push(Way { order: OrderChoice::BreadthFirst, mode, threads });
        }
        ways.push(Way { order: OrderChoice::DepthFirst, mode, threads: 1 });
    }
    ways
}

impl Way {
    /// The usual one.
    pub const PLAIN: Way = Way { order: OrderChoice::BreadthFirst, mode: Mode::Compiled, threads: 1 };

    pub fn breadth_first(self) -> bool {
        self.order == OrderChoice::BreadthFirst
    }

    /// A plan with so much memory that it does not matter.
    pub fn plan(self, properties: &[Property<Condition>], keep_going: bool) -> Plan {
        let memory = Some(16 << 30);
        let in_degrees = self.breadth_first() && self.threads == 1;
        let options = Options {
            order: Some(self.order),
            threads: self.threads,
            memory,
            keep_going,
            in_degrees,
            ..Options::default()
        };
        Plan::new(&options, properties, &ModelFacts::default()).expect("the way is one that the tool has")
    }

    pub fn run(self, model: &NativeModel, properties: &[Property<Condition>], keep_going: bool) -> Report {
        scrimp::run(model, properties, &self.plan(properties, keep_going), &Control::new(None))
            .expect("the search can begin")
    }
}

pub fn model(system: &Arc<System>, mode: Mode) -> NativeModel {
    NativeModel::new(system.clone(), mode).expect("the system can be run")
}

pub fn manifest() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A property in the words of a property file, for a model.
pub fn property<'a>(model: &'a NativeModel, text: &str) -> Property<Condition<'a>> {
    let parsed = scrimp::parse_property(model.system(), text).unwrap_or_else(|e| panic!("{e}"));
    scrimp::properties::evaluated(model, &[parsed]).swap_remove(0)
}

/// A file of `models/`, with what its header states.
pub struct File {
    pub name: String,
    pub facts: header::Facts,
    pub system: Arc<System>,
}

impl File {
    pub fn is_net(&self) -> bool {
        self.name.ends_with(".pnml")
    }

    /// The fastest way to run it: nets have one of their own.
    pub fn mode(&self) -> Mode {
        if self.is_net() { Mode::Auto } else { Mode::Compiled }
    }

    /// Whether it is small enough for a test of models up to so many states. Promela's steps take longer, so that fewer
    /// states are as much work.
    pub fn has_at_most(&self, states: u64) -> bool {
        self.facts.states <= if self.name.ends_with(".pml") { states / 10 } else { states }
    }
}

pub fn files() -> Vec<File> {
    let folder = std::fs::read_dir(manifest().join("models")).expect("there is a folder of models");
    let mut paths: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "dve" || e == "pml" || e == "network" || e == "pnml"));
    // Its states cannot be counted.
    paths.retain(|path| !path.ends_with("unbounded.pnml"));
    paths.sort();
    let file = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let facts = header::parse(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let system = Arc::new(scrimp::load(&path).unwrap_or_else(|e| panic!("{e}")));
        File { name, facts, system }
    };
    let files: Vec<File> = paths.into_iter().map(file).collect();
    assert!(files.len() >= 72, "only {} models", files.len());
    files
}

/// The figures of a complete search of a model file, with as much room as it takes.
pub fn counted(loaded: &mut scrimp::Loaded) -> Result<scrimp::GraphFacts, String> {
    let plan =
        Plan::of(&Options::default(), Question::count(), &ModelFacts::default()).expect("the usual plan is sound");
    let search = |model: &NativeModel| scrimp::run(model, &[], &plan, &Control::new(None));
    let report = loaded.with_model(Mode::Auto, search).map_err(|error| error.to_string())?;
    report.map(|report| report.facts).map_err(|error| error.to_string())
}

/// The folder of models, unless it is not there.
pub fn bench() -> Option<PathBuf> {
    let folder = manifest().join("../shared/bench");
    if folder.join("expected.tsv").exists() {
        return Some(folder);
    }
    eprintln!("skipped: {} is not there", folder.display());
    None
}
