//! Promela models that nobody here wrote, against what SPIN counts on them.
//!
//! The models and the counts lie in `../shared/bench`; without that folder there is nothing to do. Models with more than
//! 300,000 states are left out; `SCRIMP_TEST_STATES=30000000` lets larger ones in.

use crate::common;
use crate::common::{bench, counted};
use scrimp::{Language, LoadError, Loaded};
use std::collections::BTreeMap;
use std::path::Path;

/// What SPIN found in one model, without its optimisations.
#[derive(Debug, Default)]
struct Known {
    states: u64,
    /// As SPIN counts: the initial state is one too.
    transitions: u64,
    errors: u64,
}

/// Counts by file, of those files for which all are known.
fn models(folder: &Path) -> BTreeMap<String, Known> {
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("expected.tsv can be read");
    let mut models: BTreeMap<String, (Known, usize)> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [language, file, property, value, ..] = fields[..] else { panic!("expected.tsv: {line}") };
        if language != "promela" || !property.ends_with("_noopt") {
            continue;
        }
        let (known, rows) = models.entry(file.to_string()).or_default();
        let number = value.parse().unwrap_or_else(|_| panic!("{line}"));
        match property {
            "states_stored_noopt" => known.states = number,
            "transitions_noopt" => known.transitions = number,
            "errors_noopt" => known.errors = number,
            _ => panic!("{line}"),
        }
        *rows += 1;
    }
    models.into_iter().filter(|(_, (_, rows))| *rows == 3).map(|(file, (known, _))| (file, known)).collect()
}

/// Loads a model, whatever its name ends in.
fn load(path: &Path) -> Result<Loaded, LoadError> {
    Loaded::of(scrimp::open_as(path, Language::Promela)?)
}

/// Compares one model; answers what differs.
fn compare(path: &Path, file: &str, known: &Known) -> Option<String> {
    let counted = load(path).map_err(|error| error.to_string()).and_then(|mut loaded| counted(&mut loaded));
    let facts = match counted {
        Ok(facts) => facts,
        Err(error) => return Some(format!("{file}: {error}")),
    };
    let found = (facts.states, facts.transitions, facts.deadlocks + facts.faults > 0);
    let expected = (known.states, known.transitions - 1, known.errors > 0);
    let (states, transitions) = (facts.states, facts.transitions);
    (found != expected).then(|| {
        format!(
            "{file}: {states} states, {transitions} transitions, {} deadlocks and {} faults, not {} and {}, and {} errors",
            facts.deadlocks,
            facts.faults,
            known.states,
            known.transitions - 1,
            known.errors
        )
    })
}

#[test]
fn same_counts() {
    let Some(folder) = bench() else { return };
    let limit = std::env::var("SCRIMP_TEST_STATES").map_or(300_000, |n| n.parse().expect("a number of states"));
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (file, known) in models(&folder) {
        if known.states <= limit {
            seen += 1;
            // One that panics must not hide the others.
            let difference = std::panic::catch_unwind(|| compare(&folder.join(&file), &file, &known));
            wrong.extend(difference.unwrap_or_else(|_| Some(format!("{file}: it panics"))));
        }
    }
    assert!(wrong.is_empty(), "{} of {seen} models differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen >= 180, "only {seen} models");
}

/// C code inside a model cannot be run, and must not be passed over.
#[test]
fn c_code_is_refused() {
    let texts = [
        "active proctype P() { byte x; c_code { PP->x++; } }",
        "byte x; active proctype P() { c_expr { now.x == 0 } -> x = 1 }",
        "c_decl { typedef struct Point { int x, y; } Point; }\nactive proctype P() { skip }",
        "c_state \"int extra\" \"Global\"\nactive proctype P() { skip }",
        "c_track \"&extra\" \"sizeof(int)\"\nactive proctype P() { skip }",
    ];
    for (number, text) in texts.iter().enumerate() {
        let path = common::command::file(&format!("c_code_{number}.pml"), text);
        let error = load(Path::new(&path)).err().unwrap_or_else(|| panic!("{text}")).to_string();
        assert!(error.contains("C code"), "{error}");
    }
}
