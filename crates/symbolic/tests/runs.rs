//! Questions about runs, by sets of states: what they say is what the definitions say, of random systems.

#[path = "common/graph.rs"]
mod graph;
#[path = "../../../tests/common/random.rs"]
mod random;

use graph::{Graph, automaton, ctl};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use random::{Shape, Text, text};
use scrimp_core::PropertyKind as Parsed;
use scrimp_core::{Control, Never, Property, PropertyKind, PropertyResult, Verdict};
use scrimp_native::{Mode, NativeModel};
use scrimp_symbolic::{Options, Strategy, SymbolicReport};
use scrimp_system::{Expr, ProcessId, Source, Then};
use scrimp_temporal::{Automaton, Formula};
use std::cell::Cell;
use std::sync::Arc;

/// Systems with more states are too large for the definitions.
const MOST: usize = 1500;

/// What formulas are made of; some are faults in some states.
const ATOMS: [&str; 6] = ["x < 2", "P0@s1", "a[x] == 2", "P1@s0 && y == 1 || i > 0", "4 / x == y", "x == y"];

fn run(model: &NativeModel, questions: &[Property<Expr>], options: &Options) -> SymbolicReport {
    let options = Options { memory: Some(4 << 30), keep_going: true, ..options.clone() };
    scrimp_symbolic::run(model, model.system(), model.layout(), questions, &options, &Control::new(None))
        .expect("it can begin")
}

fn condition(model: &NativeModel, text: &str) -> Expr {
    let parsed =
        scrimp_lang::parse_property(model.system(), &format!("reach: {text}")).unwrap_or_else(|e| panic!("{e}"));
    let Parsed::Reach(condition) = parsed.kind else { panic!("{text}: not a condition") };
    condition
}

/// The model of a random text, every third one with several initial states.
fn system(text: &Text) -> Result<NativeModel, TestCaseError> {
    let mut system = text.system().map_err(|e| TestCaseError::fail(e.to_string()))?;
    if text.0.len().is_multiple_of(3) {
        let mut other = system.initial[0].clone();
        let x = system.variables.iter().take_while(|variable| variable.name != "x").map(|v| v.cells()).sum::<usize>();
        other[x] = (other[x] + 1) % 3;
        system.initial.push(other);
    }
    NativeModel::new(Arc::new(system), Mode::Interpreted).map_err(|e| TestCaseError::fail(e.to_string()))
}

type Case = (Text, Vec<Formula<usize>>, Vec<usize>);

fn check((text, formulas, fairness): &Case, tested: &Cell<u32>) -> Result<(), TestCaseError> {
    let model = system(text)?;
    let Some(graph) = Graph::new(&model, MOST) else { return Ok(()) };
    let conditions: Vec<Expr> = ATOMS.iter().map(|text| condition(&model, text)).collect();
    let holds = |e: &Expr| -> Vec<bool> {
        graph.states.iter().map(|state| model.layout().holds(e, state) == Ok(true)).collect()
    };
    let atoms: Vec<Vec<bool>> = conditions.iter().map(holds).collect();
    let fair: Vec<Vec<bool>> = fairness.iter().map(|number| atoms[*number].clone()).collect();
    let questions: Vec<Property<Expr>> = formulas
        .iter()
        .map(|formula| {
            Property::new(
                format!("{}", formula.map(&mut |number| ATOMS[*number])),
                PropertyKind::Ctl(formula.map(&mut |number| conditions[*number].clone())),
            )
        })
        .collect();
    for strategy in [Strategy::Saturation, Strategy::BreadthFirst] {
        let fairness = fairness.iter().map(|number| conditions[*number].clone()).collect();
        let report = run(&model, &questions, &Options { strategy, fairness, ..Options::default() });
        for (formula, result) in formulas.iter().zip(&report.properties) {
            let set = graph.ctl(formula, &atoms, &fair);
            let expected = match graph.initial.iter().all(|state| set[*state]) {
                true => Verdict::Verified,
                false => Verdict::Violated,
            };
            prop_assert_eq!(result.verdict, expected, "{}, {:?}, {:?}", result.name, strategy, report.remarks);
            let operand = |formula: &Formula<usize>| graph.ctl(formula, &atoms, &fair);
            shown(&graph, formula, result, fair.is_empty(), &operand)?;
            tested.set(tested.get() + 1);
        }
    }
    Ok(())
}

/// The states of a run, each a successor of the one before; and from where on it goes round.
type Run = (Vec<usize>, Option<usize>);

fn run_of(graph: &Graph, result: &PropertyResult) -> Result<Option<Run>, TestCaseError> {
    let Some(trace) = &result.trace else { return Ok(None) };
    let number = |state: &[u8]| graph.states.iter().position(|other| other == state).expect("a reachable state");
    let mut run = vec![number(&trace.initial)];
    prop_assert!(graph.initial.contains(&run[0]));
    for (_, state) in &trace.steps {
        let next = number(state);
        prop_assert!(graph.next[run[run.len() - 1]].contains(&next), "not a step");
        run.push(next);
    }
    let last = run[run.len() - 1];
    if let Some(cycle) = result.cycle {
        prop_assert!(cycle < run.len() && run[cycle] == last, "the run does not come back");
        prop_assert!(cycle + 1 < run.len() || graph.next[last].is_empty(), "the run ends where it could go on");
    }
    Ok(Some((run, result.cycle)))
}

/// A run that is given as the reason shows what it is to show, where a single operator says what that is.
fn shown(
    graph: &Graph,
    formula: &Formula<usize>,
    result: &PropertyResult,
    all_runs: bool,
    operand: &dyn Fn(&Formula<usize>) -> Vec<bool>,
) -> Result<(), TestCaseError> {
    let run = run_of(graph, result)?;
    let holds = result.verdict == Verdict::Verified;
    let (path, exists) = match formula {
        Formula::ExistsPath(path) => (path, true),
        Formula::AllPaths(path) => (path, false),
        _ => return Ok(()),
    };
    // All runs: the reason is a run against it. Then, and where some run is asked for that there is, one must be given.
    if holds != exists || !all_runs {
        return Ok(());
    }
    match (&**path, run) {
        (Formula::Finally(a), Some((run, None))) if exists => prop_assert!(operand(a)[run[run.len() - 1]]),
        (Formula::Globally(a), Some((run, None))) if !exists => prop_assert!(!operand(a)[run[run.len() - 1]]),
        (Formula::Globally(a), Some((run, Some(_)))) if exists => prop_assert!(run.iter().all(|&s| operand(a)[s])),
        (Formula::Finally(a), Some((run, Some(_)))) if !exists => prop_assert!(run.iter().all(|&s| !operand(a)[s])),
        (Formula::Until(a, b), Some((run, None))) if exists => {
            let (last, before) = run.split_last().expect("a state");
            prop_assert!(operand(b)[*last] && before.iter().all(|&s| operand(a)[s]));
        }
        (Formula::Finally(_) | Formula::Globally(_), None) => {
            // Unless it is decided without any run.
            let trivial = |value: bool| operand(path.operands()[0]).iter().all(|&a| a == value);
            prop_assert!(trivial(true) || trivial(false), "{}: no run", result.name);
        }
        _ => {}
    }
    Ok(())
}

fn check_automata(
    (text, automata): &(Text, Vec<Automaton>),
    tested: &Cell<u32>,
    found: &Cell<u32>,
) -> Result<(), TestCaseError> {
    let model = system(text)?;
    let Some(graph) = Graph::new(&model, MOST) else { return Ok(()) };
    let conditions: Vec<Expr> = ATOMS[..3].iter().map(|text| condition(&model, text)).collect();
    let holds = |e: &Expr| -> Vec<bool> {
        graph.states.iter().map(|state| model.layout().holds(e, state) == Ok(true)).collect()
    };
    let atoms: Vec<Vec<bool>> = conditions.iter().map(holds).collect();
    let question = |automaton: &Automaton| {
        let (automaton, atoms) = (automaton.clone(), conditions.clone());
        Property::new(
            "automaton",
            PropertyKind::Never(Box::new(Never { automaton, atoms, stutters: false, repeats: true })),
        )
    };
    let questions: Vec<Property<Expr>> = automata.iter().map(question).collect();
    let report = run(&model, &questions, &Options::default());
    for (automaton, result) in automata.iter().zip(&report.properties) {
        let expected = if graph.accepted(automaton, &atoms) { Verdict::Violated } else { Verdict::Verified };
        prop_assert_eq!(result.verdict, expected, "{:?}, {:?}", automaton, report.remarks);
        tested.set(tested.get() + 1);
        if expected == Verdict::Violated {
            found.set(found.get() + 1);
            let Some((run, Some(cycle))) = run_of(&graph, result)? else {
                return Err(TestCaseError::fail(format!("no lasso: {:?}", report.remarks)));
            };
            // The run by itself as a graph: it is accepted too.
            let last = run.len() - 1;
            let places = if cycle == last { run.len() } else { last };
            let next = |at: usize| if at + 1 < places { at + 1 } else { cycle };
            let alone = Graph {
                states: run[..places].iter().map(|&s| graph.states[s].clone()).collect(),
                next: (0..places).map(|at| vec![next(at)]).collect(),
                initial: vec![0],
            };
            let atoms: Vec<Vec<bool>> =
                atoms.iter().map(|atom| run[..places].iter().map(|&s| atom[s]).collect()).collect();
            prop_assert!(alone.accepted(automaton, &atoms), "{:?}: not accepted", automaton);
        }
    }
    Ok(())
}

#[test]
fn automata_accept_the_runs_that_they_accept() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let (tested, found) = (Cell::new(0), Cell::new(0));
    let automata = proptest::collection::vec(automaton(3), 8);
    let strategy = (text(Shape { processes: (2, 3), independent: 2 }), automata);
    TestRunner::new(config)
        .run(&strategy, |case| check_automata(&case, &tested, &found))
        .unwrap_or_else(|e| panic!("{e}"));
    assert!(found.get() >= cases / 2 && tested.get() >= found.get() + cases / 2, "one verdict is hardly met");
}

#[test]
fn formulas_of_ctl_say_what_their_definitions_say() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let tested = Cell::new(0);
    let formulas = proptest::collection::vec(ctl(ATOMS.len()), 12);
    let fairness = prop_oneof![3 => Just(Vec::new()), 1 => proptest::collection::vec(0..ATOMS.len(), 1..3)];
    let strategy = (text(Shape { processes: (2, 3), independent: 2 }), formulas, fairness);
    TestRunner::new(config).run(&strategy, |case| check(&case, &tested)).unwrap_or_else(|e| panic!("{e}"));
    assert!(tested.get() >= 4 * cases, "only {} formulas were tried", tested.get());
}

/// Two processes that go on alone from the same values: the one that can is in no state, though the other is.
#[test]
fn who_goes_on_alone_is_told_apart() {
    let text = "process P0 { state s0, s1; init s0; trans s0 -> s1 {}; }
        process P1 { state s0, s1, s2; init s0;
            trans s0 -> s1 { guard P0.s0; }, s0 -> s1 { guard P0.s1; }, s1 -> s2 {}; }
        system async;";
    let mut system = scrimp_lang::parse_dve(Source::new("alone.dve", text)).unwrap_or_else(|e| panic!("{e}"));
    system.events[0].then = Then::Atomic(ProcessId(0));
    system.events[2].then = Then::Atomic(ProcessId(1));
    let model = NativeModel::new(Arc::new(system), Mode::Interpreted).unwrap_or_else(|e| panic!("{e}"));
    let atom = |text: &str| Box::new(Formula::Atom(condition(&model, text)));
    let next = |a| Formula::ExistsPath(Box::new(Formula::Next(a)));
    let finally = |a| Formula::ExistsPath(Box::new(Formula::Finally(Box::new(a))));
    let question = |to: &str| {
        let here = Formula::And(vec![*atom("P0@s1 && P1@s0"), next(atom(to))]);
        Property::new(to, PropertyKind::Ctl(finally(here)))
    };
    let report = run(&model, &[question("P1@s1"), question("P1@s2")], &Options::default());
    let verdicts: Vec<Verdict> = report.properties.iter().map(|result| result.verdict).collect();
    assert_eq!(verdicts, [Verdict::Violated, Verdict::Verified], "{:?}", report.remarks);
}
