//! Some hundred models of each language that has an interpreter here, through oracle and matrix.

use scrimp_soak::languages;
use scrimp_soak::soak::{Settings, run};

fn agrees(language: &str, models: u64) {
    let languages = languages().into_iter().filter(|entry| entry.name == language).collect();
    let findings = std::env::temp_dir().join(format!("scrimp-soak-{language}-{}", std::process::id()));
    let summary = run(&Settings {
        languages,
        models,
        seed: 7,
        first: 0,
        jobs: 2,
        time: None,
        findings: findings.clone(),
        progress: false,
    });
    assert_eq!(summary.findings(), 0, "{summary}\nthe models are in {}", findings.display());
}

#[test]
fn dve() {
    agrees("dve", 300);
}

#[test]
fn nets() {
    agrees("pnml", 300);
}

#[test]
fn networks() {
    agrees("network", 300);
}
