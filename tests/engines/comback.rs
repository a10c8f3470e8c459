//! The ComBack store: every model of `models/`, and random systems, in every order that goes with it, with and without events
//! in the backedges, with and without the sweep-line. Each run must visit what the plain search visits, each state once, and
//! give traces that can be run.

use crate::common;
use crate::common::random::{Shape, Text, text};
use crate::common::{Way, files, model, property, replay};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scrimp::plan::{BackedgeChoice, ForgetChoice, ReduceChoice, StoreChoice};
use scrimp::{Control, Guides, Mode, ModelFacts, NativeModel, Options, Plan, Property, Report};
use scrimp_core::Condition;
use std::sync::Arc;

/// Models with more states are left out.
const MOST: u64 = 5_000;

fn combinations() -> Vec<Options> {
    let comback =
        || Options { store: Some(StoreChoice::ComBack), memory: Some(1 << 30), audit: true, ..Options::default() };
    let mut all = Vec::new();
    for backedges in [BackedgeChoice::Events, BackedgeChoice::States] {
        for cached in [None, Some(1)] {
            for order in ["bfs", "dfs", "bbfs:7", "alt:2,3", "random"] {
                all.push(Options { backedges, cached, order: Some(order.parse().unwrap()), ..comback() });
            }
            let (forget, progress) = (ForgetChoice::Sweep(None), Some("some".into()));
            all.push(Options { backedges, cached, forget, progress, ..comback() });
        }
    }
    for order in ["bfs", "dfs"] {
        let reduce = ReduceChoice::EdgeLean;
        all.push(Options { reduce, order: Some(order.parse().unwrap()), ..comback() });
    }
    all
}

fn run(options: &Options, model: &NativeModel, properties: &[Property<Condition>]) -> Report {
    let plan = Plan::new(options, properties, &ModelFacts::of(model)).unwrap();
    // Not a good measure of progress: it goes back all the time.
    let progress = |state: &[u8]| state.iter().fold(0u128, |sum, &byte| (sum * 3 + byte as u128) % 17);
    let guides = Guides { progress: Some(&progress), ..Guides::default() };
    scrimp::run_guided(model, properties, &plan, &Control::new(None), guides).unwrap()
}

fn same(options: &Options, model: &NativeModel, plain: &Report) -> Result<(), String> {
    let edge_lean = options.reduce == ReduceChoice::EdgeLean;
    if edge_lean && scrimp::Model::independence(model).is_none() {
        return Ok(());
    }
    let report = run(options, model, &[]);
    let (found, facts) = (&report.facts, &plain.facts);
    let visited = (report.exhaustive, found.states, report.audited, report.visits, found.deadlocks);
    let expected = (true, facts.states, Some(facts.states), facts.states, facts.deadlocks);
    if visited != expected || (!edge_lean && found.transitions != facts.transitions) {
        return Err(format!("{options:?}: {visited:?} instead of {expected:?}, {} transitions", found.transitions));
    }
    Ok(())
}

#[test]
fn all_models() {
    for file in files().iter().filter(|file| file.has_at_most(MOST)) {
        let model = model(&file.system, file.mode());
        let interpreter = common::model(&file.system, Mode::Interpreted);
        let plain = Way::PLAIN.run(&model, &[], false);
        for options in combinations() {
            same(&options, &model, &plain).unwrap_or_else(|e| panic!("{}: {e}", file.name));
            if options.reduce != ReduceChoice::Nothing || options.cached.is_some() {
                continue;
            }
            for expected in &file.facts.properties {
                let properties = [property(&model, &expected.text)];
                let report = run(&Options { audit: false, ..options.clone() }, &model, &properties);
                let context = format!("{}, {}, {options:?}", file.name, expected.text);
                let trace = &report.properties[0].trace;
                assert_eq!(trace.is_some(), expected.at.is_some(), "{context}");
                if let Some(trace) = trace {
                    replay(&interpreter, trace, &property(&interpreter, &expected.text))
                        .unwrap_or_else(|e| panic!("{context}: {e}"));
                    let shortest = Plan::new(&options, &properties, &ModelFacts::default()).unwrap().is_by_level();
                    assert!(!shortest || Some(trace.steps.len()) == expected.at, "{context}: not the shortest");
                }
            }
        }
    }
}

#[test]
fn random_systems() {
    let agree = |text: Text| -> Result<(), TestCaseError> {
        let system = text.system();
        let system = Arc::new(system.map_err(|e| TestCaseError::fail(e.to_string()))?);
        let model = model(&system, Mode::Compiled);
        let plain = Way::PLAIN.run(&model, &[], false);
        if plain.facts.states > 5000 {
            return Err(TestCaseError::reject("too many states"));
        }
        combinations().iter().try_for_each(|options| same(options, &model, &plain)).map_err(TestCaseError::fail)
    };
    let config = Config { cases: 100, failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    if let Err(failure) = TestRunner::new(config).run(&text(Shape { processes: (2, 3), independent: 0 }), agree) {
        panic!("{failure}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let comback = Options { store: Some(StoreChoice::ComBack), ..Options::default() };
    let refused = [
        Options { forget: "cache:100".parse().unwrap(), ..comback.clone() },
        Options { forget: "pseudo-root".parse().unwrap(), ..comback.clone() },
        Options { backedges: BackedgeChoice::States, reduce: ReduceChoice::EdgeLean, ..comback },
        Options { cached: Some(10), ..Options::default() },
        Options { backedges: BackedgeChoice::States, ..Options::default() },
    ];
    for options in refused {
        assert!(Plan::admit(&options).is_err(), "{options:?}");
    }
}
