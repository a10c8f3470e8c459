//! Random formulas on random graphs: every way to decide them agrees with the book.

mod reference;

use super::{CtlOutcome, CtlTask, check};
use crate::budget::Control;
use crate::choices::{ForgetChoice, StoreChoice};
use crate::plan::{Options, Plan};
use reference::{ATOMS, Graph, fair_meaning, meaning, random_formula};
use scrimp_system::Random;
use scrimp_temporal::Formula;

fn options(store: StoreChoice) -> Options {
    Options { store: Some(store), memory: Some(8 << 30), ..Options::default() }
}

fn sweeping(store: StoreChoice) -> Options {
    Options { forget: ForgetChoice::Sweep(None), progress: Some("of the test".into()), ..options(store) }
}

fn decide(graph: &Graph, formula: &Formula<u32>, fairness: &[u32], options: &Options) -> CtlOutcome {
    let atoms = graph.conditions(0..ATOMS);
    let conditions: Vec<_> = fairness.iter().flat_map(|&atom| graph.conditions(atom..atom + 1)).collect();
    // Some order in which many steps lead back.
    let progress = |state: &[u8]| Graph::number(state) as u128 * 7 % 5;
    let task = CtlTask {
        model: graph,
        formula,
        names: &[],
        atoms: &atoms,
        fairness: &conditions,
        plan: &Plan::new(options).unwrap(),
        control: &Control::new(None),
        progress: Some(&progress),
    };
    check(&task).unwrap()
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
