//! Sets of states against single ones: the same counts, verdicts and distances, for models and random systems, with every
//! strategy, every order of variables, and with events left out; and every run that is reported is one of the model.

use crate::common::random::{Shape, Text, text};
use crate::common::{File, files, model, replay, successors};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scrimp::{Batch, Control, Mode, Model, NativeModel, Property, PropertyKind, Verdict};
use scrimp_core::Condition;
use scrimp_symbolic::{Options, Order, Strategy, SymbolicReport};
use scrimp_system::{Expr, Fault};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

/// Models with more states are left to the measurements.
const MOST: u64 = 30_000;

const STRATEGIES: [Strategy; 3] = [Strategy::BreadthFirst, Strategy::Chaining, Strategy::Saturation];

fn run(model: &NativeModel, questions: &[Property<Expr>], options: &Options) -> SymbolicReport {
    let options = Options { memory: Some(4 << 30), keep_going: true, ..options.clone() };
    scrimp_symbolic::run(model, model.system(), model.layout(), questions, &options, &Control::new(None))
        .expect("it can begin")
}

fn question(model: &NativeModel, text: &str) -> Property<Expr> {
    scrimp::parse_property(model.system(), text).unwrap_or_else(|e| panic!("{e}"))
}

/// The same as a property of the explicit engine, to replay runs.
fn property<'a>(model: &'a NativeModel, question: &Property<Expr>) -> Property<Condition<'a>> {
    scrimp::properties::evaluated(model, std::slice::from_ref(question)).swap_remove(0)
}

fn small_files() -> Vec<File> {
    let mut files = files();
    files.retain(|file| file.system.claim.is_none() && file.facts.states <= MOST);
    files
}

#[test]
fn models_are_counted_with_every_strategy_and_order() {
    for file in small_files() {
        let model = model(&file.system, Mode::Interpreted);
        for strategy in STRATEGIES {
            for order in [Order::Force, Order::Given] {
                let context = format!("{}, {strategy}, {order:?}", file.name);
                let report = run(&model, &[], &Options { strategy, order, ..Options::default() });
                assert!(report.exhaustive && report.limit.is_none() && !report.outgrown, "{context}");
                assert_eq!(report.states, file.facts.states.into(), "{context}: states");
                if let Some(transitions) = report.transitions {
                    assert_eq!(transitions, file.facts.transitions.into(), "{context}: transitions");
                }
                assert_eq!(report.deadlocks, Some(file.facts.deadlocks.into()), "{context}: deadlocks");
                if let Some(depth) = report.depth {
                    assert_eq!(depth, file.facts.levels, "{context}: levels");
                }
                if let Some(tokens) = file.facts.tokens {
                    assert_eq!(report.tokens, Some(tokens), "{context}: tokens");
                }
            }
        }
    }
}

#[test]
fn properties_of_models_are_decided_with_and_without_reduction() {
    let ways = [
        Options { strategy: Strategy::BreadthFirst, ..Options::default() },
        Options { strategy: Strategy::Saturation, ..Options::default() },
        Options { reduce: true, ..Options::default() },
        Options { reduce: true, dont_care: true, ..Options::default() },
    ];
    for file in small_files() {
        let model = model(&file.system, Mode::Interpreted);
        for options in &ways {
            // Rings of few states each are what sets are worst at.
            let most = if options.reduce { MOST / 20 } else { MOST / 8 };
            if file.facts.states > most || file.facts.levels > 500 {
                continue;
            }
            for expected in &file.facts.properties {
                let context = format!("{}, {options:?}, {}", file.name, expected.text);
                let question = question(&model, &expected.text);
                let report = run(&model, std::slice::from_ref(&question), options);
                let result = &report.properties[0];
                let verdict = if expected.holds { Verdict::Verified } else { Verdict::Violated };
                assert_eq!(result.verdict, verdict, "{context}: {:?}", report.remarks);
                if let Some(at) = expected.at {
                    let trace = result.trace.as_ref().unwrap_or_else(|| panic!("{context}: no run"));
                    replay(&model, trace, &property(&model, &question)).unwrap_or_else(|e| panic!("{context}: {e}"));
                    if result.shortest {
                        assert_eq!(trace.steps.len(), at, "{context}");
                    }
                    assert!(result.shortest || options.reduce, "{context}");
                }
            }
        }
    }
}

/// What a plain search says.
struct Plain {
    states: Vec<Vec<u8>>,
    levels: u64,
    transitions: u64,
    deadlocks: u64,
    faults: bool,
    violations: bool,
}

fn plain(model: &dyn Model) -> Option<Plain> {
    const MANY: usize = 6_000;
    let mut found =
        Plain { states: Vec::new(), levels: 0, transitions: 0, deadlocks: 0, faults: false, violations: false };
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut initial = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    let mut level: Vec<Vec<u8>> = (0..initial.len()).map(|i| initial.state(i).to_vec()).collect();
    level.retain(|state| seen.insert(state.clone()));
    while !level.is_empty() {
        found.levels += 1;
        let mut next = Vec::new();
        for state in &level {
            let mut after = successors(model, state);
            found.transitions += after.len() as u64;
            let count = after.len();
            found.deadlocks += after.take_deadlock(count) as u64;
            found.faults |= after.faults().iter().any(|record| record.fault != Fault::Assertion);
            found.violations |= after.faults().iter().any(|record| record.fault == Fault::Assertion);
            for i in 0..count {
                if seen.insert(after.state(i).to_vec()) {
                    next.push(after.state(i).to_vec());
                }
            }
        }
        if seen.len() > MANY {
            return None;
        }
        found.states.append(&mut level);
        level = next;
    }
    Some(found)
}

fn check(text: &Text, tested: &Cell<u32>) -> Result<(), TestCaseError> {
    let system = Arc::new(text.system().map_err(|e| TestCaseError::fail(e.to_string()))?);
    let model = model(&system, Mode::Interpreted);
    let Some(expected) = plain(&model) else { return Ok(()) };
    tested.set(tested.get() + 1);
    let mut questions = vec![Property::deadlock(), Property::faults(), Property::assertions()];
    for text in ["invariant: x < 3 || P0@s1", "reach: a[x] == 2 && P1@s0", "invariant: P0.l != y", "reach: 4 / x == i"]
    {
        questions.push(question(&model, text));
    }
    let decided: Vec<bool> = questions
        .iter()
        .map(|question| match &question.kind {
            PropertyKind::Deadlock => expected.deadlocks > 0,
            PropertyKind::Faults => expected.faults,
            PropertyKind::Assertions => expected.violations,
            PropertyKind::Invariant(e) => expected.states.iter().any(|s| model.layout().holds(e, s) != Ok(true)),
            PropertyKind::Reach(e) => expected.states.iter().any(|s| model.layout().holds(e, s) == Ok(true)),
            kind => unreachable!("{kind:?}: about runs, not about states"),
        })
        .collect();
    let mut ways: Vec<Options> = Vec::new();
    for strategy in STRATEGIES {
        ways.push(Options { strategy, ..Options::default() });
    }
    ways.push(Options { order: Order::Given, ..Options::default() });
    for dont_care in [false, true] {
        ways.push(Options { reduce: true, dont_care, ..Options::default() });
    }
    for options in &ways {
        // Each question by itself is reduced for that alone.
        let parts: Vec<&[Property<Expr>]> =
            if options.reduce { questions.chunks(1).collect() } else { vec![&questions] };
        let mut verdicts = Vec::new();
        for part in parts {
            let report = run(&model, part, options);
            if !options.reduce {
                let all = Options { keep_going: true, ..options.clone() };
                let counted = run(&model, &[], &all);
                prop_assert_eq!(&counted.states, &expected.states.len().into(), "{:?}", options);
                prop_assert_eq!(&counted.deadlocks, &Some(expected.deadlocks.into()), "{:?}", options);
                if let Some(transitions) = counted.transitions {
                    prop_assert_eq!(transitions, expected.transitions.into());
                }
                if let Some(depth) = counted.depth {
                    prop_assert_eq!(depth, expected.levels, "{:?}", options);
                }
            }
            for (question, result) in part.iter().zip(report.properties) {
                if let Some(trace) = &result.trace {
                    replay(&model, trace, &property(&model, question)).map_err(TestCaseError::fail)?;
                }
                prop_assert!(result.verdict != Verdict::Undecided, "{}: {:?}", question.name, report.remarks);
                let found = (result.verdict == Verdict::Violated) == question.finding_violates();
                prop_assert!(!found || result.trace.is_some(), "{}, {:?}: no run", question.name, options);
                verdicts.push(found);
            }
        }
        prop_assert_eq!(&verdicts, &decided, "{:?}", options);
    }
    Ok(())
}

#[test]
fn random_systems_are_counted_and_decided() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let tested = Cell::new(0);
    let shape = Shape { processes: (2, 3), independent: 2 };
    TestRunner::new(config).run(&text(shape), |text| check(&text, &tested)).unwrap_or_else(|e| panic!("{e}"));
    assert!(tested.get() >= cases / 4, "only {} of {cases} models were small enough", tested.get());
}
