//! Some of the soak, as much as fits into minutes; `scrimp-soak` runs for as long as one wants.

use scrimp_soak::languages;
use scrimp_soak::soak::{Settings, run};
use std::path::Path;
use std::time::Duration;

/// Models whose pairs of productions are counted: enough for the rarest.
const WRITTEN: u64 = 20_000;

#[test]
fn every_production_stands_inside_every_other_that_may_hold_it() {
    for language in languages() {
        let written = language.coverage(1, WRITTEN);
        let (missing, impossible) = (written.missing(), written.impossible());
        assert!(
            missing.is_empty(),
            "{}: {} pairs are never written:\n{}",
            language.name,
            missing.len(),
            missing.join("\n")
        );
        assert!(impossible.is_empty(), "{}: the table does not have\n{}", language.name, impossible.join("\n"));
    }
}

#[test]
fn what_may_not_stand_inside_is_told_why() {
    for language in languages() {
        for exclusion in language.grammar.excluded {
            assert!(exclusion.why.split_whitespace().count() >= 3, "{}: {exclusion:?}", language.name);
        }
    }
}

#[test]
fn some_models_of_every_language() {
    let settings = Settings {
        languages: languages(),
        models: 1500,
        seed: 1,
        first: 0,
        jobs: 2,
        time: Some(Duration::from_secs(120)),
        findings: Path::new(env!("CARGO_TARGET_TMPDIR")).join("soak-findings"),
        progress: false,
    };
    let summary = run(&settings);
    println!("{summary}");
    for of in &summary.languages {
        let judged = of.agreed + of.findings.len() as u64;
        if of.incomparable.contains_key("spin is not there") || of.incomparable.contains_key("gcc is not there") {
            eprintln!("{}: skipped, the oracle is not there", of.name);
            continue;
        }
        assert!(10 * judged >= 8 * of.models, "{}: only {judged} of {} models are judged", of.name, of.models);
    }
    assert_eq!(summary.findings(), 0, "models that show something are in {}", settings.findings.display());
}
