//! Searches that forget states or leave out events: where all goes well the verdicts are those of the plain search, and so are the
//! counts where nothing was forgotten and nothing left out.

use crate::common::options;
use crate::plain_search::{Reference, reference};
use crate::{each_model, faulty, usual, with_clusters_that};
use scrimp_cluster::{Cluster, Followed, Manner, run_shares};
use scrimp_core::{Control, Property, PropertyKind, Verdict};
use scrimp_native::{Mode, NativeModel};
use scrimp_system::{Expr, Model, Random};
use std::sync::Arc;

/// States that are compared, at most.
const MOST: usize = 2000;

fn manner(forget: &str, reduce: &str) -> Manner {
    Manner { forget: forget.to_string(), reduce: reduce.to_string(), measure: None, stride: None, seed: 1 }
}

/// Holds clusters against the plain search. How many of them came to their end, and how many states had to make room?
fn compare(
    name: &str,
    model: &NativeModel,
    goals: &[Property<Expr>],
    manner: &Manner,
    clusters: &[&Cluster],
) -> (usize, u64) {
    let (mut ended, mut evicted) = (0, 0);
    let Some(expected) = reference(model, goals, MOST) else { return (0, 0) };
    let states = expected.widths.iter().sum::<u64>();
    for cluster in clusters {
        let name = format!("{name}, {manner:?}, {cluster:?}");
        let (report, forgot) = run_shares(model, goals, manner.clone(), &options(), &Control::new(None), cluster)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        evicted += forgot.facts.evictions;
        let over = !goals.is_empty() && expected.decided.iter().all(Option::is_some);
        ended += (report.exhaustive || over) as usize;
        let whole = manner.reduce == "none" || manner.reduce == "edge-lean";
        if report.exhaustive && whole {
            assert!(report.visits >= states, "{name}: {} of {states} states", report.visits);
        }
        let Reference { initial, transitions, deadlocks, faults, .. } = expected;
        if report.exhaustive && whole && forgot.once {
            let facts = &report.facts;
            let counted = [facts.states, report.visits, facts.open, facts.initial_states, facts.deadlocks];
            assert_eq!(counted, [states, states, 0, initial, deadlocks], "{name}");
            if manner.reduce == "none" {
                assert_eq!([facts.transitions, facts.faults], [transitions, faults], "{name}");
            }
        }
        for ((goal, result), decided) in goals.iter().zip(&report.properties).zip(&expected.decided) {
            let what = format!("{name}: {}: {:?} {:?}", goal.name, decided, report.remarks);
            let verdict = match (decided.is_some(), goal.finding_violates()) {
                (true, true) | (false, false) => Verdict::Violated,
                _ => Verdict::Verified,
            };
            let cut = !report.exhaustive && result.verdict == Verdict::Undecided;
            assert!(result.verdict == verdict || cut, "{what}: {:?}", result.verdict);
            if let Some(trace) = result.trace.as_ref().filter(|_| decided.is_some()) {
                assert_eq!(Some(trace.last()), result.state.as_deref(), "{what}");
            }
        }
    }
    (ended, evicted)
}

#[test]
fn models_agree_in_shares() {
    let (mut ended, mut evicted) = (0, 0);
    with_clusters_that(&[Followed::All, Followed::Cut], |clusters| {
        each_model(|name, model| {
            ended += compare(name, model, &[], &manner("cache", "none"), clusters).0;
            // Edge-lean search and reductions do not suit every model, which the plan says.
            if model.dependence().is_ok() && model.independence().is_some() {
                ended += compare(name, model, &[], &manner("none", "edge-lean"), &clusters[..1]).0;
                ended += compare(name, model, &usual(), &manner("none", "por"), &clusters[..1]).0;
                ended += compare(name, model, &usual(), &manner("cache:2000", "por"), &clusters[..1]).0;
            }
            if model.suits_predecessors().is_ok() {
                ended += compare(name, model, &usual(), &manner("pseudo-root", "none"), &clusters[..1]).0;
            }
            // So few states that others must make room.
            let few = Manner { stride: Some(2), ..manner("cache:400,lru", "none") };
            let (some, went) = compare(name, model, &usual(), &few, &clusters[..1]);
            (ended, evicted) = (ended + some, evicted + went);
        });
    });
    assert!(ended > 150 && evicted > 50, "{ended} {evicted}");
}

#[test]
fn random_systems_agree_in_shares() {
    let (mut ended, mut evicted) = (0, 0);
    with_clusters_that(&[Followed::All, Followed::Cut], |clusters| {
        for seed in 0..30 {
            let system = Arc::new(faulty::system(seed, seed % 2 == 1));
            let model = NativeModel::new(system.clone(), Mode::Interpreted).expect("a model");
            let mut random = Random(seed);
            let mut goals = usual();
            let condition = faulty::expression(&mut random, &system, 2);
            goals.push(Property::new("i", PropertyKind::Invariant(condition.clone())));
            goals.push(Property::new("r", PropertyKind::Reach(condition)));
            for (forget, reduce) in [("cache", "none"), ("cache:30", "none"), ("none", "por"), ("cache:200", "por")] {
                if reduce == "por" && model.dependence().is_err() {
                    continue;
                }
                let manner = manner(forget, reduce);
                for goals in [&[][..], &goals] {
                    let (some, went) = compare(&format!("seed {seed}"), &model, goals, &manner, clusters);
                    (ended, evicted) = (ended + some, evicted + went);
                }
            }
        }
    });
    assert!(ended > 150 && evicted > 50, "{ended} {evicted}");
}
