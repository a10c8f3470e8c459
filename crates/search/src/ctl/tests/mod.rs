//! Random formulas on random graphs: every way to decide them agrees with the book.

mod play;
mod reference;
mod witness;

use super::{CtlOutcome, CtlTask, check, glance};
use crate::plan::{Feature, ForgetChoice, ModelFacts, Options, Plan, Question, StoreChoice};
use reference::{ATOMS, Graph, fair_meaning, meaning, random_formula};
use scrimp_core::{Control, Limit};
use scrimp_system::Random;
use scrimp_temporal::Formula;
use witness::Book;

fn options(store: StoreChoice) -> Options {
    Options { store: Some(store), memory: Some(8 << 30), ..Options::default() }
}

fn sweeping(store: StoreChoice) -> Options {
    Options { forget: ForgetChoice::Sweep(None), progress: Some("of the test".into()), ..options(store) }
}

/// Makes a task of a formula on a graph, and does something with it.
fn with_task<T>(
    graph: &Graph,
    formula: &Formula<u32>,
    fairness: &[u32],
    options: &Options,
    act: impl FnOnce(&CtlTask) -> T,
) -> T {
    let atoms = graph.conditions(0..ATOMS);
    let conditions: Vec<_> = fairness.iter().flat_map(|&atom| graph.conditions(atom..atom + 1)).collect();
    let names: Vec<String> = (0..ATOMS).map(|atom| format!("p{atom}")).collect();
    // Some order in which many steps lead back.
    let progress = |state: &[u8]| Graph::number(state) as u128 * 7 % 5;
    let task = CtlTask {
        model: graph,
        formula,
        names: &names,
        atoms: &atoms,
        fairness: &conditions,
        plan: &ctl_plan(options, fairness.len()),
        control: &Control::new(None),
        progress: Some(&progress),
    };
    act(&task)
}

fn ctl_plan(options: &Options, conditions: usize) -> Plan {
    let options = Options { fair_conditions: conditions, ..options.clone() };
    Plan::of(&options, Question::about(Feature::Ctl), &ModelFacts::default()).unwrap()
}

fn decide(graph: &Graph, formula: &Formula<u32>, fairness: &[u32], options: &Options) -> CtlOutcome {
    with_task(graph, formula, fairness, options, |task| check(task).unwrap())
}

fn expected(graph: &Graph, meaning: &[bool]) -> bool {
    graph.initial.iter().all(|&state| meaning[state as usize])
}

#[test]
fn every_way_agrees_with_the_book() {
    let mut random = Random(11);
    let ways = [
        options(StoreChoice::Table),
        options(StoreChoice::Collapse),
        options(StoreChoice::ComBack),
        sweeping(StoreChoice::Table),
        sweeping(StoreChoice::ComBack),
    ];
    let mut verdicts = [0, 0];
    for round in 0..3000 {
        let states = if round % 10 == 0 { 1 + random.below(300) } else { 1 + random.below(12) };
        let graph = Graph::random(states, &mut random);
        let formula = random_formula(1 + random.below(4), &mut random);
        let expected = expected(&graph, &meaning(&graph, &formula));
        verdicts[expected as usize] += 1;
        for (i, way) in ways.iter().enumerate().filter(|(i, _)| *i == 0 || round % 4 == i - 1) {
            let verdict = decide(&graph, &formula, &[], way).verdict;
            let initial = &graph.initial;
            assert_eq!(verdict, Some(expected), "way {i}: {formula} from {initial:?} of {:?}", graph.lists);
        }
    }
    assert!(verdicts[0] > 500 && verdicts[1] > 500, "{verdicts:?}");
}

#[test]
fn what_is_seen_at_a_glance_is_what_the_book_says() {
    let mut random = Random(17);
    let mut seen = [0, 0];
    for round in 0..6000 {
        let states = if round % 3 == 0 { 1 + random.below(400) } else { 1 + random.below(12) };
        let graph = Graph::random(states, &mut random);
        let formula = random_formula(2 + random.below(3), &mut random);
        let found = with_task(&graph, &formula, &[], &options(StoreChoice::Table), |task| glance(task).unwrap());
        let expected = expected(&graph, &meaning(&graph, &formula));
        let found = found.and_then(|outcome| outcome.verdict);
        assert!(found.is_none_or(|found| found == expected), "{formula} from {:?} of {:?}", graph.initial, graph.lists);
        seen[expected as usize] += found.is_some() as usize;
    }
    assert!(seen[0] > 1000 && seen[1] > 1000, "{seen:?}");
}

#[test]
fn fair_runs_are_those_that_go_round_fairly() {
    let mut random = Random(12);
    for round in 0..600 {
        let graph = Graph::random(1 + random.below(7), &mut random);
        let formula = random_formula(1 + random.below(3), &mut random);
        let fairness: Vec<u32> = (0..ATOMS).filter(|_| random.below(2) == 0).collect();
        let expected = expected(&graph, &fair_meaning(&graph, &formula, &fairness));
        let way = if round % 2 == 0 { options(StoreChoice::Table) } else { sweeping(StoreChoice::Collapse) };
        let verdict = decide(&graph, &formula, &fairness, &way).verdict;
        let letters = &graph.letters;
        assert_eq!(verdict, Some(expected), "{formula} under {fairness:?} in {:?} {letters:?}", graph.lists);
    }
}

#[test]
fn without_conditions_all_runs_are_fair() {
    let mut random = Random(13);
    for _ in 0..300 {
        let graph = Graph::random(1 + random.below(7), &mut random);
        let formula = random_formula(1 + random.below(3), &mut random);
        assert_eq!(fair_meaning(&graph, &formula, &[]), meaning(&graph, &formula), "{formula}");
    }
}

#[test]
fn evidence_is_true_and_enough() {
    let mut random = Random(14);
    let (mut rounds, mut runs) = (0, 0);
    for round in 0..2500 {
        let graph = Graph::random(1 + random.below(if round % 10 == 0 { 60 } else { 12 }), &mut random);
        let formula = random_formula(1 + random.below(4), &mut random);
        let way = if round % 5 == 0 { sweeping(StoreChoice::Table) } else { options(StoreChoice::Table) };
        let outcome = decide(&graph, &formula, &[], &way);
        let told = outcome.evidence.expect("small graphs leave nothing open");
        assert_eq!(Some(told.holds), outcome.verdict);
        Book { graph: &graph, fairness: &[] }.verify(&formula, &told);
        rounds += told.cycle.is_some() as usize;
        if let Some((trace, cycle)) = told.run() {
            runs += 1;
            assert!(cycle.is_none_or(|cycle| cycle < trace.steps.len()));
            let mut before = Graph::number(&trace.initial) as usize;
            for (event, state) in &trace.steps {
                assert_eq!(graph.lists[before][*event as usize], Graph::number(state));
                before = Graph::number(state) as usize;
            }
        }
    }
    assert!(rounds > 50 && runs > 400, "{rounds} rounds, {runs} runs");
}

#[test]
fn evidence_of_fair_runs_is_fair() {
    let mut random = Random(15);
    let mut rounds = 0;
    for round in 0..800 {
        let graph = Graph::random(1 + random.below(7), &mut random);
        let mut formula = random_formula(random.below(3), &mut random);
        if round % 2 == 0 {
            formula = Formula::ExistsPath(Formula::Globally(formula.into()).into());
        }
        let fairness: Vec<u32> = (0..ATOMS).filter(|_| random.below(2) == 0).collect();
        let outcome = decide(&graph, &formula, &fairness, &options(StoreChoice::Table));
        let told = outcome.evidence.expect("small graphs leave nothing open");
        Book { graph: &graph, fairness: &fairness }.verify(&formula, &told);
        rounds += (told.cycle.is_some() && !fairness.is_empty()) as usize;
    }
    assert!(rounds > 20, "{rounds} rounds");
}

/// A grid in which every state can be left to the right and upwards, but for its last corner.
fn grid(side: u16) -> Graph {
    let step = |state: u16| {
        let (x, y) = (state % side, state / side);
        let mut list = Vec::new();
        list.extend((x + 1 < side).then_some(state + 1));
        list.extend((y + 1 < side).then_some(state + side));
        list
    };
    let letters = (0..side * side).map(|state| (state + 1 == side * side) as u8).collect();
    Graph { initial: vec![0], lists: (0..side * side).map(step).collect(), letters }
}

#[test]
fn a_goal_that_is_met_early_leaves_most_states_alone() {
    let graph = grid(200);
    let finally = Formula::Finally(Formula::Atom(0).into());
    let some = decide(&graph, &Formula::ExistsPath(finally.clone().into()), &[], &options(StoreChoice::Table));
    assert_eq!(some.verdict, Some(true));
    assert!(some.facts.expanded < 1000 && !some.exhaustive, "{:?}", some.facts);
    assert_eq!(some.evidence.unwrap().steps.len(), 398);
    let all = decide(&graph, &Formula::AllPaths(finally.into()), &[], &options(StoreChoice::Table));
    assert_eq!(all.verdict, Some(true));
    assert_eq!((all.facts.states, all.facts.transitions), (40_000, 2 * 200 * 199));
}

#[test]
fn no_memory_and_no_time_leave_it_open() {
    let graph = grid(250);
    let formula = Formula::AllPaths(Formula::Finally(Formula::Atom(0).into()).into());
    let memory = Some(scrimp_core::budget::resident().unwrap_or(0) + (1 << 20));
    let small = Options { memory, ..Options::default() };
    // What other tests take meanwhile may be all there is.
    match with_task(&graph, &formula, &[], &small, check) {
        Ok(outcome) => assert_eq!((outcome.verdict, outcome.limit), (None, Some(Limit::Memory))),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory),
    }
    let atoms = graph.conditions(0..ATOMS);
    let control = Control::new(Some(std::time::Duration::ZERO));
    let plan = ctl_plan(&options(StoreChoice::Table), 0);
    let (model, fairness, progress) = (&graph, &[], None);
    let task = CtlTask {
        model,
        formula: &formula,
        names: &[],
        atoms: &atoms,
        fairness,
        plan: &plan,
        control: &control,
        progress,
    };
    let outcome = check(&task).unwrap();
    assert_eq!((outcome.verdict, outcome.limit), (None, Some(Limit::Time)));
}

#[test]
fn what_is_no_ctl_is_refused() {
    let formula = Formula::Globally(Formula::Atom(0).into());
    let refused = with_task(&grid(3), &formula, &[], &options(StoreChoice::Table), check);
    assert!(refused.unwrap_err().to_string().contains("not a CTL formula"));
    let unknown = Formula::Atom(ATOMS);
    assert!(with_task(&grid(3), &unknown, &[], &options(StoreChoice::Table), check).is_err());
}
