//! Random formulas about random systems: every search for infinite runs against the reference, and every run that is found
//! followed and read once more.
//!
//! `SCRIMP_TEST_SYSTEMS=10000` takes more systems than usual, `SCRIMP_TEST_SEED=7` begins at another seed.

use crate::common::model;
use crate::common::shared::{Mixture, condition, system};
use scrimp::plan::{CycleChoice, FairnessChoice, FairnessKind, ReduceChoice, StoreChoice};
use scrimp::temporal::{Context, decide};
use scrimp::{Control, Mode, ModelFacts, NativeModel, Options, Plan, System, Verdict};
use scrimp_core::{Property, PropertyKind};
use scrimp_soak::formulas::ltl;
use scrimp_soak::ltl::{Explicit, Fair};
use scrimp_soak::replay::{label, movers, replay_fair_run};
use scrimp_system::{Expr, Random};
use scrimp_temporal::Formula;
use std::collections::BTreeMap;
use std::path::Path;
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

/// The ways to search, each with a name; those that are not sound together are refused, and not among them.
fn plans(fair: &FairnessChoice, property: &Property<Expr>) -> Vec<(&'static str, Plan)> {
    let usual = Options { threads: 1, memory: Some(1 << 30), fair: fair.clone(), ..Options::default() };
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
    let plan = |options: &Options| Plan::new(options, std::slice::from_ref(property), &ModelFacts::default()).ok();
    ways.into_iter().filter_map(|(name, options)| Some((name, plan(&options)?))).collect()
}

/// Searches that are saved on their way, and taken up in another store where that can be: how many there were.
fn taken_up_in(
    model: &NativeModel,
    property: &Property<Expr>,
    (choice, fair): (&FairnessChoice, &Fair),
    expected: bool,
    file: &Path,
    context: &str,
) -> usize {
    let usual = Options { memory: Some(1 << 30), fair: choice.clone(), ..Options::default() };
    let (nested, reduced) = (CycleChoice::Nested, ReduceChoice::Persistent(None));
    let ways = [
        (usual.clone(), StoreChoice::Collapse),
        (Options { cycles: nested, ..usual.clone() }, StoreChoice::Tree),
        (
            Options { store: Some(StoreChoice::Tree), cycles: nested, reduce: reduced, ..usual.clone() },
            StoreChoice::Table,
        ),
        (Options { reduce: reduced, ..usual }, StoreChoice::Table),
    ];
    let mut taken_up = 0;
    for (options, store) in ways {
        let _ = std::fs::remove_file(file);
        let first = Options { checkpoint: Some(file.into()), ..options.clone() };
        let then = Options { resume: Some(file.into()), store: Some(store), ..options };
        for options in [first, then] {
            let Ok(plan) = Plan::new(&options, std::slice::from_ref(property), &ModelFacts::default()) else {
                continue;
            };
            if options.resume.is_some() && !file.exists() {
                continue;
            }
            let control = Control::new(None);
            control.pause_at_states(8);
            let means = Context { plan: &plan, control: &control, fair: &[], progress: None, cluster: None };
            let report = match decide(model, property, &means) {
                Ok(report) => report,
                Err(error) if options.resume.is_some() => panic!("{context}: {error}"),
                Err(_) => break,
            };
            let result = &report.properties[0];
            let verdict = if expected { Verdict::Violated } else { Verdict::Verified };
            assert_eq!(result.verdict, verdict, "{context}, {options:?}");
            if expected {
                replay_fair_run(model, result, &property.kind, fair)
                    .unwrap_or_else(|error| panic!("{context}: {error}"));
            }
            taken_up += options.resume.is_some() as usize;
        }
    }
    taken_up
}

/// What is asked of the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    Weak,
    Strong,
    /// Something else of each process.
    Mixed,
}

impl Asked {
    /// The same for the search, and for what it is held against.
    fn of(self, system: &System, random: &mut Random) -> (FairnessChoice, Fair) {
        let everyone: Vec<usize> = (0..system.processes.len()).collect();
        match self {
            Asked::Nothing => Default::default(),
            Asked::Weak => (FairnessChoice::weak(), Fair { weak: everyone, strong: Vec::new() }),
            Asked::Strong => (FairnessChoice::strong(), Fair { weak: Vec::new(), strong: everyone }),
            Asked::Mixed => {
                let (mut choice, mut fair) = (FairnessChoice::default(), Fair::default());
                for process in everyone {
                    let name = system.processes[process].name.clone();
                    let (kind, list) = match random.below(3) {
                        0 => continue,
                        1 => (FairnessKind::Weak, &mut fair.weak),
                        _ => (FairnessKind::Strong, &mut fair.strong),
                    };
                    choice.chosen.push((kind, name));
                    list.push(process);
                }
                (choice, fair)
            }
        }
    }
}

/// How many formulas hold and do not, over so many systems.
fn random_systems(asked: Asked, systems: u64) -> (usize, usize) {
    let (first, systems) = (number("SCRIMP_TEST_SEED", 0), number("SCRIMP_TEST_SYSTEMS", systems));
    let (mut holding, mut broken) = (0, 0);
    let mut searches: BTreeMap<&str, usize> = BTreeMap::new();
    let (file, mut taken_up) = (std::env::temp_dir().join(format!("scrimp-runs-{}-{asked:?}", std::process::id())), 0);
    for seed in first..first + systems {
        let mut random = Random(seed);
        let mixture = Mixture { processes: 2 + random.below(2), special: random.below(2) == 0 };
        let system = Arc::new(system(seed, mixture));
        let model = model(&system, Mode::Interpreted);
        let atoms: Vec<Expr> = (0..ATOMS).map(|_| harmless(&mut random, &system)).collect();
        let processes = |state: &[u8], code: u32, next: &[u8]| movers(&model, state, code, next);
        let labels = |state: &[u8]| label(&model, &atoms, state);
        let (choice, fair) = asked.of(&system, &mut random);
        let Some(graph) = Explicit::of(&model, 2000, &processes, &labels) else { continue };
        for _ in 0..4 {
            let operators = 1 + random.below(5);
            // Without `X` a formula may be decided on a reduced graph.
            let next = random.below(2) == 0;
            let formula = ltl(&mut random, ATOMS, operators, next);
            let negation = Formula::Not(Box::new(formula.clone()));
            let expected = graph.some_fair_run(&negation, &fair);
            let over_model = formula.map(&mut |atom| atoms[*atom].clone());
            let property = Property::new("formula", PropertyKind::Ltl(over_model));
            for (name, plan) in plans(&choice, &property) {
                let context = format!("seed {seed}, {name}, fair {choice}: {formula} with {atoms:?}");
                let control = Control::new(None);
                let means = Context { plan: &plan, control: &control, fair: &[], progress: None, cluster: None };
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
                    replay_fair_run(&model, result, &property.kind, &fair)
                        .unwrap_or_else(|error| panic!("{context}: {error}"));
                }
            }
            taken_up +=
                taken_up_in(&model, &property, (&choice, &fair), expected, &file, &format!("seed {seed}: {formula}"));
            holding += !expected as usize;
            broken += expected as usize;
        }
    }
    let _ = std::fs::remove_file(file);
    println!("{holding} formulas hold, {broken} do not; searches: {searches:?}; {taken_up} taken up");
    assert!(taken_up > 10, "only {taken_up} searches were saved on their way");
    (holding, broken)
}

#[test]
fn formulas() {
    let (holding, broken) = random_systems(Asked::Nothing, 80);
    assert!(holding > 0 && broken > 0);
}

#[test]
fn formulas_with_weak_fairness() {
    let (holding, broken) = random_systems(Asked::Weak, 60);
    assert!(holding > 0 && broken > 0);
}

#[test]
fn formulas_with_strong_fairness() {
    let (holding, broken) = random_systems(Asked::Strong, 90);
    assert!(holding > 0 && broken > 0);
}

#[test]
fn formulas_with_fairness_of_chosen_processes() {
    let (holding, broken) = random_systems(Asked::Mixed, 60);
    assert!(holding > 0 && broken > 0);
}
