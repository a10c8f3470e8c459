//! Clusters of one, two and four processes against a plain breadth-first search: the same states, transitions, levels, deadlocks and faults, the
//! same verdicts, and shortest runs. All models of ours, and random systems in which much goes wrong.

#[path = "../../../tests/common/faulty.rs"]
#[allow(dead_code)]
mod faulty;
#[path = "../../../tests/common/plain_search.rs"]
mod plain_search;

mod common;
#[path = "agreement/cycles.rs"]
mod cycles;
#[path = "agreement/shares.rs"]
mod shares;

use common::{cluster, options};
use plain_search::{Reference, reference};
use scrimp_checker::Loaded;
use scrimp_cluster::{Cluster, ClusterReport, Followed, run};
use scrimp_core::{Control, Property, PropertyKind, Verdict};
use scrimp_native::{Mode, NativeModel};
use scrimp_system::{Expr, Model, Random};
use std::path::PathBuf;
use std::sync::Arc;

/// States that are compared, at most.
const MOST: usize = 20_000;

fn on(cluster: &Cluster, model: &NativeModel, goals: &[Property<Expr>]) -> ClusterReport {
    run(model, goals, &options(), &Control::new(None), cluster).unwrap_or_else(|error| panic!("{error}"))
}

/// Holds clusters against the plain search, unless that is too long.
fn compare(name: &str, model: &NativeModel, goals: &[Property<Expr>], clusters: &[&Cluster]) {
    let Some(expected) = reference(model, goals, MOST) else { return };
    for cluster in clusters {
        let name = format!("{name}, {cluster:?}");
        let report = on(cluster, model, goals);
        assert!(!model.is_outgrown(), "{name}");
        // A search that has decided all ends early.
        let over = !goals.is_empty() && expected.decided.iter().all(Option::is_some);
        if !over {
            assert!(report.exhaustive && report.limit.is_none(), "{name}: {:?} {:?}", report.limit, report.remarks);
            let facts = &report.facts;
            assert_eq!(facts.level_sizes, expected.widths, "{name}");
            let states = expected.widths.iter().sum::<u64>();
            assert_eq!([facts.states, report.visits, facts.open], [states, states, 0], "{name}");
            let counted =
                [facts.initial_states, facts.transitions, facts.deadlocks, facts.faults, facts.max_out_degree];
            let Reference { initial, transitions, deadlocks, faults, degree, .. } = expected;
            assert_eq!(counted, [initial, transitions, deadlocks, faults, degree], "{name}");
        }
        for ((goal, result), decided) in goals.iter().zip(&report.properties).zip(&expected.decided) {
            let what = format!("{name}: {}: {:?} {:?}", goal.name, decided, report.remarks);
            let verdict = match (decided.is_some(), goal.finding_violates()) {
                (true, true) | (false, false) => Verdict::Violated,
                _ => Verdict::Verified,
            };
            assert_eq!(result.verdict, verdict, "{what}");
            if let Some(level) = decided {
                let trace = result.trace.as_ref().unwrap_or_else(|| panic!("{what}: no run"));
                assert_eq!(trace.steps.len(), *level, "{what}: length of the run");
                assert_eq!(Some(trace.last()), result.state.as_deref(), "{what}");
            }
        }
    }
}

fn usual() -> Vec<Property<Expr>> {
    vec![Property::deadlock(), Property::faults(), Property::assertions()]
}

/// Compares with a cluster of two processes and one of four with two threads each; all end well, or with this.
fn with_clusters_that(end: &[Followed], compare: impl FnOnce(&[&Cluster])) {
    let made = [cluster(2, 1), cluster(4, 2)];
    let clusters: Vec<&Cluster> = made.iter().map(|(cluster, _)| cluster).collect();
    compare(&clusters);
    for (cluster, followers) in made {
        drop(cluster);
        for follower in followers {
            let ended = follower.join().expect("no panic");
            assert!(ended.as_ref().is_ok_and(|ended| end.contains(ended)), "{ended:?}");
        }
    }
}

fn with_clusters(compare: impl FnOnce(&[&Cluster])) {
    with_clusters_that(&[Followed::All], compare);
}

/// All models of ours.
fn each_model(mut work: impl FnMut(&str, &NativeModel)) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("models").map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| ["dve", "pml", "network", "pnml"].iter().any(|x| e == *x)));
    paths.retain(|path| !path.ends_with("unbounded.pnml"));
    paths.sort();
    assert!(paths.len() > 70);
    for path in paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut loaded = Loaded::open(&path).unwrap_or_else(|error| panic!("{error}"));
        loaded.with_model(Mode::Auto, |model| work(&name, model)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn models_agree() {
    with_clusters(|clusters| {
        each_model(|name, model| {
            compare(name, model, &[], clusters);
            compare(name, model, &usual(), &clusters[..1]);
        });
    });
}

#[test]
fn random_systems_agree() {
    with_clusters(|clusters| {
        for seed in 0..100 {
            let system = Arc::new(faulty::system(seed, seed % 2 == 1));
            let model = NativeModel::new(system.clone(), Mode::Interpreted).expect("a model");
            let mut random = Random(seed);
            let mut goals = usual();
            for number in 0..2 {
                let condition = faulty::expression(&mut random, &system, 2);
                goals.push(Property::new(format!("i{number}"), PropertyKind::Invariant(condition.clone())));
                goals.push(Property::new(format!("r{number}"), PropertyKind::Reach(condition)));
            }
            let name = format!("seed {seed}");
            compare(&name, &model, &[], clusters);
            compare(&name, &model, &goals, clusters);
        }
    });
}
