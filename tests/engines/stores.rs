//! Every store on every file of `models/` and on random systems: the counts, verdicts and traces of the plain table.

use crate::common::random::{Shape, Text, text};
use crate::common::{File, files, model, property, replay};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scrimp::plan::{CacheChoice, ForgetChoice, OrderChoice, StoreChoice};
use scrimp::{Control, GraphFacts, Limit, Mode, ModelFacts, NativeModel, Options, Plan, Property, Report, Verdict};
use scrimp_core::Condition;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

const MEMORY: usize = 16 << 30;
/// Stores that tell all states apart, and the lossy one that does so on small models: 64 bits of a hash.
const STORES: [&str; 8] = ["table", "packed", "tree", "collapse", "dfa", "dfa+collapse", "comback", "compact:64"];
/// Depth-first search and the automaton are slow; larger models are left to longer tests.
const MOST_STATES: u64 = 100_000;

/// No search of a model this small takes so long, on however slow a machine.
const LONGEST: Duration = Duration::from_secs(600);

fn options(store: &str, order: OrderChoice, threads: usize) -> Options {
    let store = Some(store.parse().expect("a store"));
    Options { store, order: Some(order), threads, memory: Some(MEMORY), ..Options::default() }
}

/// All ways to search with a store.
fn ways(store: &str) -> Vec<Options> {
    let ways = [(OrderChoice::BreadthFirst, 1), (OrderChoice::BreadthFirst, 2), (OrderChoice::DepthFirst, 1)];
    // States of a ComBack store are rebuilt one after the other.
    let able = ways.into_iter().filter(|(_, threads)| store != "comback" || *threads == 1);
    able.map(|(order, threads)| options(store, order, threads)).collect()
}

fn run(model: &NativeModel, properties: &[Property<Condition>], options: &Options) -> Report {
    run_if_suited(model, properties, options).expect("a packed table is for this model")
}

/// Nothing where states differ in more bits than a packed table is for, which it says.
fn run_if_suited(model: &NativeModel, properties: &[Property<Condition>], options: &Options) -> Option<Report> {
    let plan = Plan::new(options, properties, &ModelFacts::of(model))
        .unwrap_or_else(|refusal| panic!("{options:?}: {refusal}"));
    let report = match scrimp::run(model, properties, &plan, &Control::new(Some(LONGEST))) {
        Err(error) if options.store == Some(StoreChoice::Packed) => {
            assert!(error.to_string().contains("--store packed supports at most 104"), "{error}");
            return None;
        }
        report => report.expect("the search can begin"),
    };
    assert_ne!(report.limit, Some(Limit::Time), "{options:?}: {} states and no end", report.facts.states);
    Some(report)
}

fn context(file: &File, options: &Options) -> String {
    let store = options.store.as_ref().map_or("automatic".to_string(), StoreChoice::to_string);
    format!("{}, {store}, {:?}, {} threads", file.name, options.order, options.threads)
}

fn small_files() -> impl Iterator<Item = File> {
    files().into_iter().filter(|file| file.has_at_most(MOST_STATES))
}

#[test]
fn every_store_counts_the_same() {
    let (mut unsuited, mut searched) = (0, 0);
    for file in small_files() {
        let model = model(&file.system, file.mode());
        for options in STORES.iter().flat_map(|store| ways(store)) {
            let context = context(&file, &options);
            let Some(report) = run_if_suited(&model, &[], &options) else {
                unsuited += 1;
                continue;
            };
            searched += 1;
            let facts = report.facts;
            assert!(report.limit.is_none() && report.once, "{context}");
            assert_eq!(report.exhaustive, report.omission.is_none(), "{context}");
            let expected = &file.facts;
            assert_eq!((facts.states, facts.transitions), (expected.states, expected.transitions), "{context}");
            assert_eq!(facts.deadlocks, expected.deadlocks, "{context}");
            if options.order == Some(OrderChoice::BreadthFirst) {
                assert_eq!(facts.depth as u64, expected.levels, "{context}");
            }
        }
    }
    assert!(20 * unsuited < searched, "{unsuited} of {searched}");
}

#[test]
fn every_exact_store_gives_the_same_verdicts_with_traces() {
    for file in files().into_iter().filter(|file| file.has_at_most(5_000)) {
        let model = model(&file.system, file.mode());
        let exact = STORES.iter().filter(|store| !store.starts_with("compact"));
        for options in exact.flat_map(|store| ways(store)) {
            for expected in &file.facts.properties {
                let context = format!("{}, {}", context(&file, &options), expected.text);
                let asked = [property(&model, &expected.text)];
                let Some(report) = run_if_suited(&model, &asked, &options) else { continue };
                let result = &report.properties[0];
                assert_eq!(result.verdict == Verdict::Verified, expected.holds, "{context}");
                assert_eq!(result.trace.is_some(), expected.at.is_some(), "{context}");
                if let Some(trace) = &result.trace {
                    let shortest = Some(trace.steps.len()) == expected.at;
                    assert!(options.order != Some(OrderChoice::BreadthFirst) || shortest, "{context}");
                    assert!(!result.shortest || shortest, "{context}");
                    replay(&model, trace, &property(&model, &expected.text))
                        .unwrap_or_else(|e| panic!("{context}: {e}"));
                }
            }
        }
    }
}

/// Where a store numbers its states, forgetters drop the same ones as with the table: the search is the same.
#[test]
fn forgetters_visit_the_same_states_in_a_collapsed_table() {
    for file in files().into_iter().filter(|file| file.has_at_most(3_000)) {
        let model = model(&file.system, file.mode());
        let most = Some((file.facts.states as usize / 2).max(10));
        let caches = [CacheChoice { most, ..CacheChoice::default() }, CacheChoice::default()];
        let mut choices: Vec<ForgetChoice> = caches.into_iter().map(ForgetChoice::Cache).collect();
        if scrimp::Model::suits_predecessors(&model).is_ok() {
            choices.push(ForgetChoice::PseudoRoot(None));
        }
        for forget in choices {
            for order in [OrderChoice::BreadthFirst, OrderChoice::DepthFirst] {
                let with = |store| Options { forget: forget.clone(), audit: true, ..options(store, order, 1) };
                let (collapsed, table) = (run(&model, &[], &with("collapse")), run(&model, &[], &with("table")));
                let figures = |report: &Report| (report.visits, report.audited, report.limit);
                assert_eq!(figures(&collapsed), figures(&table), "{}, {forget}, {order}", file.name);
            }
        }
    }
}

#[test]
fn random_systems_look_the_same_in_every_store() {
    let ran = Cell::new(0);
    let agree = |text: Text| -> Result<(), TestCaseError> {
        let system = text.system();
        let system = Arc::new(system.map_err(|e| TestCaseError::fail(e.to_string()))?);
        let model = model(&system, Mode::Compiled);
        let most = Options { visits: Some(3_000), ..options("table", OrderChoice::BreadthFirst, 1) };
        if run(&model, &[], &most).limit.is_some() {
            return Ok(());
        }
        let figures = |f: &GraphFacts| (f.states, f.transitions, f.deadlocks, f.faults, f.max_out_degree);
        let plain = run(&model, &[], &options("table", OrderChoice::BreadthFirst, 1)).facts;
        for mut options in STORES[1..].iter().flat_map(|store| ways(store)) {
            // Trying out orders of layers takes longer than these searches.
            if let Some(StoreChoice::Automaton { .. }) = options.store {
                options.layers = "reversed".parse().expect("an order of layers");
            }
            let facts = run(&model, &[], &options).facts;
            if figures(&facts) != figures(&plain) {
                return Err(TestCaseError::fail(format!("{options:?}: {facts:?} instead of {plain:?}")));
            }
        }
        ran.set(ran.get() + 1);
        Ok(())
    };
    let config = Config { cases: 60, failure_persistence: None, max_shrink_iters: 20, ..Config::default() };
    if let Err(failure) = TestRunner::new(config).run(&text(Shape { processes: (2, 3), independent: 0 }), agree) {
        panic!("{failure}");
    }
    assert!(ran.get() > 30);
}
