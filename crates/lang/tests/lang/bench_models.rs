//! Models that nobody here wrote: all of them must load, and small ones must have the published numbers of states.

use crate::common;
use crate::common::count;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of bench models, if it is there; says so if it is not.
fn bench() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench");
    if folder.join("dve").is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: there is no {}", folder.display());
    None
}

#[test]
fn every_model_loads() {
    let Some(bench) = bench() else { return };
    let mut loaded = 0;
    for folder in ["beem", "beem-ltl", "small"] {
        for entry in fs::read_dir(bench.join("dve").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if !path.to_string_lossy().ends_with(".dve") && !path.to_string_lossy().ends_with(".dve.gz") {
                continue;
            }
            let result = scrimp_lang::load(&path);
            let system = result.unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(!system.warnings.is_empty(), is_odd(&path), "{}", path.display());
            system.validate().unwrap_or_else(|e| panic!("{}: {}", path.display(), e.0));
            assert_eq!(system.claim.is_some(), has_claim(&path), "{}", path.display());
            loaded += 1;
        }
    }
    assert!(loaded > 100);
}

/// These use an array as if it were a variable; the reference counter refuses them.
fn is_odd(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.starts_with("train-gate") && name.ends_with(".prop2.dve")
}

/// Whether the file's name says that it has a property process.
fn has_claim(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.contains("prop") || name.starts_with("test") || name.contains("liveness") || name.contains("naive")
}

#[test]
fn small_models_have_their_counts() {
    let Some(bench) = bench() else { return };
    // Counted with the reference counter where it reads the file, else by hand: states, transitions, deadlocks and states
    // that violate an assertion.
    let expected = [
        ("B.prop1", 14, 18, 2, 0),
        ("assert", 6, 6, 0, 3),
        ("assert2", 6, 6, 0, 0),
        ("channels", 2, 3, 0, 0),
        ("empty", 1, 0, 1, 0),
        ("haoEEDM", 502, 922, 0, 0),
        ("input", 6, 5, 1, 0),
        ("leader_election", 2152, 4749, 6, 0),
        ("ltltest1", 2, 2, 0, 0),
        ("por", 27, 81, 1, 0),
        ("proc_instance", 16, 64, 0, 0),
        ("test1-prop", 7, 14, 0, 0),
        ("test1", 7, 14, 0, 0),
        ("test2", 3, 2, 0, 0),
        ("test3", 6, 12, 0, 0),
        ("test4", 5, 5, 0, 0),
        ("test6", 6, 6, 0, 0),
        ("vararray", 11, 10, 1, 0),
    ];
    for (name, states, transitions, deadlocks, violations) in expected {
        let system = scrimp_lang::load(&bench.join(format!("dve/small/{name}.dve"))).unwrap();
        let counts = count(&system, 100_000);
        assert_eq!(counts, common::Counts { states, transitions, deadlocks, violations }, "{name}");
    }
    // The same three processes, written one by one and in a loop.
    let [one_by_one, looped] = ["proc_instance3", "proc_instance4"]
        .map(|name| count(&scrimp_lang::load(&bench.join(format!("dve/small/{name}.dve"))).unwrap(), 100_000));
    assert_eq!(one_by_one, looped);
}

#[test]
fn published_counts_are_met() {
    let Some(bench) = bench() else { return };
    let expected = fs::read_to_string(bench.join("expected.tsv")).unwrap();
    // Enough to be sure, few enough to be quick; the exhaustive comparison is a test of the whole program.
    let most = std::env::var("SCRIMP_TEST_STATES").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000);
    let mut checked = 0;
    for line in expected.lines() {
        let [language, file, property, value, ..] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        if language != "dve" || !["states", "product_states"].contains(&property) {
            continue;
        }
        let Ok(states) = value.parse::<usize>() else { continue };
        if states > most {
            continue;
        }
        let system = scrimp_lang::load(&bench.join(file)).unwrap_or_else(|e| panic!("{e}"));
        let counts = count(&system, states + 1);
        assert_eq!(counts.states, states, "{file}");
        for (other, found) in [("transitions", counts.transitions), ("deadlock_states", counts.deadlocks)] {
            let other = if property == "states" { other.to_string() } else { format!("product_{other}") };
            let prefix = format!("dve\t{file}\t{other}\t");
            if let Some(line) = expected.lines().find(|l| l.starts_with(&prefix)) {
                assert_eq!(line.split('\t').nth(3), Some(found.to_string().as_str()), "{file} {other}");
            }
        }
        checked += 1;
    }
    assert!(checked >= 20, "only {checked} models were counted");
}
