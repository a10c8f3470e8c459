//! Questions about runs, by sets of states: what they say is what the definitions say, of random systems.

#[path = "common/graph.rs"]
mod graph;
#[path = "../../../tests/common/random.rs"]
mod random;

use graph::{Graph, ctl};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use random::{Shape, Text, text};
use scrimp_lang::PropertyKind as Parsed;
use scrimp_native::{Mode, NativeModel};
use scrimp_search::{Control, Verdict};
use scrimp_symbolic::{Options, Question, QuestionKind, Strategy, SymbolicReport};
use scrimp_system::Expr;
use scrimp_temporal::Formula;
use std::cell::Cell;
use std::sync::Arc;

/// Systems with more states are too large for the definitions.
const MOST: usize = 1500;

/// What formulas are made of; some are faults in some states.
const ATOMS: [&str; 6] = ["x < 2", "P0@s1", "a[x] == 2", "P1@s0 && y == 1 || i > 0", "4 / x == y", "x == y"];

fn run(model: &NativeModel, questions: &[Question], options: &Options) -> SymbolicReport {
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
    if text.0.len() % 3 == 0 {
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
    let questions: Vec<Question> = formulas
        .iter()
        .map(|formula| Question {
            name: format!("{}", formula.map(&mut |number| ATOMS[*number])),
            kind: QuestionKind::Ctl(formula.map(&mut |number| conditions[*number].clone())),
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
            tested.set(tested.get() + 1);
        }
    }
    Ok(())
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
