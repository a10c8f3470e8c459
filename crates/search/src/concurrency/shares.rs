//! The general search in shares of the states, whose threads work in rounds.

use super::{Graph, explore, explore_all};
use crate::plan::{ModelFacts, Options, Plan};
use crate::run_guided;
use crate::task::Guides;
use scrimp_core::{Control, Limit, Report};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

fn search(graph: &Graph, forget: &str, threads: usize, control: &Control) -> Report {
    let progress = |state: &[u8]| state[0] as u128;
    let sweeps = forget.starts_with("sweep");
    let options = Options {
        order: (!sweeps).then(|| "random".parse().unwrap()),
        store: Some("table".parse().unwrap()),
        forget: forget.parse().unwrap(),
        progress: sweeps.then(|| "given".into()),
        threads,
        audit: true,
        memory: Some(1 << 30),
        ..Options::default()
    };
    let plan =
        Plan::new(&options, &[] as &[scrimp_core::Property<scrimp_core::Condition>], &ModelFacts::of(graph)).unwrap();
    let guides = Guides { progress: sweeps.then_some(&progress as &crate::Guide), ..Guides::default() };
    run_guided(graph, &[], &plan, control, guides).unwrap()
}

fn complete(graph: &Graph, forget: &str, threads: usize) {
    let report = search(graph, forget, threads, &Control::new(None));
    assert_eq!((report.limit, report.audited), (None, Some(graph.reachable().len() as u64)), "{forget}");
    if report.once {
        assert!(graph.expansions().into_iter().eq(graph.reachable().into_keys()), "{forget}");
    }
}

#[test]
fn every_state_is_visited() {
    for (forget, threads) in [("none", 3), ("cache:20", 2), ("sweep", 3), ("sweep+cache:40", 2)] {
        explore(move || complete(&Graph::random(30, 2, 3), forget, threads));
    }
}

#[test]
fn every_schedule_visits_every_state() {
    explore_all(2, || complete(&Graph::new(vec![vec![1, 2], vec![3, 1], vec![3], vec![]], 2), "none", 2));
}

#[test]
fn a_stop_ends_all_shares() {
    explore(|| {
        let control = Arc::new(Control::new(None));
        let asked = control.clone();
        let graph = Graph::random(24, 2, 3).with(move |state| {
            if state == 7 {
                asked.interrupt()
            }
        });
        assert_eq!(search(&graph, "cache", 3, &control).limit, Some(Limit::Interrupt));
    });
}

#[test]
fn a_panic_ends_all_shares_and_is_passed_on() {
    explore(|| {
        let graph = Graph::random(24, 2, 3).with(|state| {
            if state == 7 {
                resume_unwind(Box::new("state 7"));
            }
        });
        let search = || search(&graph, "none", 3, &Control::new(None));
        let panic = catch_unwind(AssertUnwindSafe(search)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"state 7"));
    });
}
