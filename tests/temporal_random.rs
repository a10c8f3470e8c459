//! Random formulas about random systems: every search for infinite runs against the reference, and every run that is found
//! followed and read once more.
//!
//! `SCRIMP_TEST_SYSTEMS=10000` takes more systems than usual, `SCRIMP_TEST_SEED=7` begins at another seed.

mod common;

use common::shared::{Mixture, condition, system};
use common::{model, successors};
use scrimp::plan::{CycleChoice, ReduceChoice, StoreChoice};
use scrimp::temporal::{Means, decide};
use scrimp::{Batch, Control, Mode, Model, NativeModel, Options, Plan, PropertyResult, System, Verdict};
use scrimp_core::{Property, PropertyKind};
use scrimp_soak::formulas::ltl;
use scrimp_soak::ltl::{Explicit, holds_on_word};
use scrimp_system::{Expr, Random};
use scrimp_temporal::Formula;
use std::collections::BTreeMap;
use std::sync::Arc;

const ATOMS: usize = 3;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// A condition that can be evaluated in every state.
fn harmless(random: &mut Random, system: &System) -> Expr {
    loop {
        let expression = condition(random, system);
        if !expression.may_fault(&system.variables) {
            return expression;
        }
    }
}

/// Which of the atoms hold in a state.
fn label(model: &NativeModel, atoms: &[Expr], state: &[u8]) -> u64 {
    let holds = |(i, atom): (usize, &Expr)| (model.predicate(atom).holds(state) == Ok(true)) as u64 * (1 << i);
    atoms.iter().enumerate().map(holds).sum()
}

/// The process whose move an edge is: the first one, where several take part.
fn movers(model: &NativeModel, code: u32) -> Vec<usize> {
    let event = &model.system().events[model.first_event(code) as usize];
    event.moves.first().map(|m| m.process.index()).into_iter().collect()
}

/// Says what is wrong with a run that a formula is said not to hold on, and that is said to be fair.
fn follow(
    model: &NativeModel,
    result: &PropertyResult,
    (formula, atoms): (&Formula<usize>, &[Expr]),
    fair: bool,
) -> Result<(), String> {
    let trace = result.trace.as_ref().ok_or("there is no run")?;
    let cycle = result.cycle.ok_or("the run does not go on for ever")?;
    let mut initial = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    if (0..initial.len()).all(|i| initial.state(i) != trace.initial) {
        return Err("it does not begin in an initial state".into());
    }
    let mut states: Vec<&[u8]> = vec![&trace.initial];
    for (number, (event, next)) in trace.steps.iter().enumerate() {
        let enabled = successors(model, states[number]);
        if (0..enabled.len()).all(|i| enabled.event(i) != *event || enabled.state(i) != next) {
            return Err(format!("step {}: event {event} does not lead there", number + 1));
        }
        states.push(next);
    }
    let last = states[trace.steps.len()];
    if cycle >= trace.steps.len() {
        if cycle > trace.steps.len() || !successors(model, last).is_empty() {
            return Err("something more can happen".into());
        }
    } else {
        if states[cycle] != last {
            return Err("it is not back where its loop began".into());
        }
        states.pop();
    }
    if fair && cycle < trace.steps.len() {
        let moved: Vec<usize> = trace.steps[cycle..].iter().flat_map(|(code, _)| movers(model, *code)).collect();
        let could = |process: usize, state: &[u8]| {
            let enabled = successors(model, state);
            (0..enabled.len()).any(|i| movers(model, enabled.event(i)).contains(&process))
        };
        let waits = |process: usize| !moved.contains(&process) && states[cycle..].iter().all(|s| could(process, s));
        if let Some(process) = (0..model.system().processes.len()).find(|process| waits(*process)) {
            return Err(format!("process {process} waits for ever"));
        }
    }
    let word: Vec<u64> = states.iter().map(|state| label(model, atoms, state)).collect();
    match holds_on_word(formula, &word, cycle)[0] {
        true => Err("the formula holds on it".into()),
        false => Ok(()),
    }
}

/// The ways to search, each with a name; those that are not sound together are refused, and not among them.
fn plans(fair: bool) -> Vec<(&'static str, Plan)> {
    let usual = Options { threads: 1, memory: Some(1 << 30), fair, ..Options::default() };
    let (tree, reduced) = (Some(StoreChoice::Tree), ReduceChoice::Persistent(None));
    let (nested, components) = (CycleChoice::Nested, CycleChoice::Components);
    let ways = [
        ("usual", usual.clone()),
        ("nested", Options { cycles: nested, ..usual.clone() }),
        ("components", Options { cycles: components, ..usual.clone() }),
        ("tree", Options { store: tree.clone(), ..usual.clone() }),
        ("tree, nested", Options { store: tree, cycles: nested, ..usual.clone() }),
        ("collapsed", Options { store: Some(StoreChoice::Collapse), ..usual.clone() }),
        ("ComBack", Options { store: Some(StoreChoice::ComBack), ..usual.clone() }),
        ("two threads", Options { threads: 2, ..usual.clone() }),
        ("reduced", Options { reduce: reduced, ..usual.clone() }),
        ("reduced, nested", Options { reduce: reduced, cycles: nested, ..usual }),
    ];
    ways.into_iter().filter_map(|(name, options)| Some((name, Plan::new(&options).ok()?))).collect()
}

/// How many formulas hold and do not, over so many systems.
fn random_systems(fair: bool, systems: u64) -> (usize, usize) {
    let (first, systems) = (number("SCRIMP_TEST_SEED", 0), number("SCRIMP_TEST_SYSTEMS", systems));
    let (mut holding, mut broken) = (0, 0);
    let mut searches: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in first..first + systems {
        let mut random = Random(seed);
        let mixture = Mixture { processes: 2 + random.below(2), special: random.below(2) == 0 };
        let system = Arc::new(system(seed, mixture));
        let model = model(&system, Mode::Interpreted);
        let atoms: Vec<Expr> = (0..ATOMS).map(|_| harmless(&mut random, &system)).collect();
        let processes = |code| movers(&model, code);
        let labels = |state: &[u8]| label(&model, &atoms, state);
        let Some(graph) = Explicit::of(&model, 2000, &processes, &labels) else { continue };
        for _ in 0..4 {
            let operators = 1 + random.below(5);
            // Without `X` a formula may be decided on a reduced graph.
            let next = random.below(2) == 0;
            let formula = ltl(&mut random, ATOMS, operators, next);
            let expected = graph.some_run(&Formula::Not(Box::new(formula.clone())), fair);
            let over_model = formula.map(&mut |atom| atoms[*atom].clone());
            let property = Property::new("formula", PropertyKind::Ltl(over_model));
            for (name, plan) in plans(fair) {
                let context = format!("seed {seed}, {name}, fair {fair}: {formula} with {atoms:?}");
                let control = Control::new(None);
                let means = Means { plan: &plan, control: &control, fair: &[], progress: None };
                let report = decide(&model, &property, &means);
                let report = match report {
                    Ok(report) => report,
                    Err(error) if name == "usual" => panic!("{context}: {error}"),
                    Err(_) => continue,
                };
                *searches.entry(name).or_insert(0) += 1;
                let result = &report.properties[0];
                let verdict = if expected { Verdict::Violated } else { Verdict::Verified };
                assert_eq!(result.verdict, verdict, "{context}: {:?}, {:?}", report.limit, report.remarks);
                if expected {
                    follow(&model, result, (&formula, &atoms), fair)
                        .unwrap_or_else(|error| panic!("{context}: {error}"));
                }
            }
            holding += !expected as usize;
            broken += expected as usize;
        }
    }
    println!("{holding} formulas hold, {broken} do not; searches: {searches:?}");
    (holding, broken)
}

#[test]
fn formulas() {
    let (holding, broken) = random_systems(false, 150);
    assert!(holding > 0 && broken > 0);
}

#[test]
fn formulas_with_weak_fairness() {
    let (holding, broken) = random_systems(true, 100);
    assert!(holding > 0 && broken > 0);
}
