//! Several threads find a component that accepts exactly where one does, and the run that they tell is one; on random graphs.

use super::components::Components;
use super::crew::Ended;
use super::product::{Fairness, Mover, Product};
use super::states::{Numbered, States};
use super::together;
use super::walk::Halt;
use crate::store::Table;
use scrimp_core::{Budget, Control, Predicate};
use scrimp_system::{Batch, EventCode, Model, Random};
use scrimp_temporal::{Automaton, Cube, Edge, Guard};
use std::sync::Arc;

const ATOMS: usize = 3;
const PROCESSES: usize = 2;

/// For each state its successors, each by the event of a process, and the atoms that hold.
#[derive(Debug)]
struct Labelled {
    lists: Vec<Vec<(usize, u16)>>,
    letters: Vec<u64>,
}

impl Model for Labelled {
    fn state_bytes(&self) -> usize {
        2
    }

    fn initial(&self, out: &mut Batch) {
        [0u16, 1].into_iter().for_each(|state| out.push(&state.to_le_bytes(), 0));
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let list = &self.lists[number(state)];
        list.iter().for_each(|(process, next)| out.push(&next.to_le_bytes(), *process as EventCode));
    }
}

fn number(state: &[u8]) -> usize {
    u16::from_le_bytes([state[0], state[1]]) as usize
}

impl Labelled {
    /// Most edges lead to states nearby, so that there are many components, some of them large. Each atom holds in a few states: it
    /// matters whether these are in one component. In half of the graphs a process can always move, but only far away.
    fn new(states: usize, random: &mut Random) -> Labelled {
        let (back, exits, last) = (1 + random.below(3), random.below(2) == 0, states - 1);
        let mut list = |state: usize| {
            let mut list = Vec::new();
            for _ in 0..if random.below(20) == 0 { 0 } else { 1 + random.below(3) } {
                let near = (state + random.below(7)).saturating_sub(back).min(last);
                let next = if !exits && random.below(20) == 0 { random.below(states) } else { near };
                list.push((if exits { 0 } else { random.below(PROCESSES) }, next as u16));
            }
            if exits && state < last {
                list.push((1, (state + states / 3).min(last) as u16));
            }
            list
        };
        let lists = (0..states).map(&mut list).collect();
        let mut letters = vec![0; states];
        for atom in 0..ATOMS {
            for _ in 0..=random.below(2 + states / 8) {
                letters[random.below(states)] |= 1 << atom;
            }
        }
        Labelled { lists, letters }
    }
}

/// Accepts what meets every atom again and again.
fn all_again_and_again() -> Automaton {
    let edge = |letter: u64| {
        let cube = Cube { positive: letter, negative: !letter & ((1 << ATOMS) - 1) };
        Edge { guard: Guard { cubes: vec![cube] }, to: 0, marks: letter }
    };
    Automaton { atoms: ATOMS, states: vec![(0..1 << ATOMS).map(edge).collect()], initial: 0, sets: ATOMS }
}

/// Any edges, on single atoms.
fn any_automaton(random: &mut Random) -> Automaton {
    let (states, sets) = (1 + random.below(3), random.below(4));
    let mut edge = || {
        let bit = 1 << random.below(ATOMS);
        let (positive, negative) = [(0, 0), (bit, 0), (0, bit)][random.below(3)];
        let marks = random.next() & random.next() & random.next() & ((1 << sets) - 1);
        Edge { guard: Guard { cubes: vec![Cube { positive, negative }] }, to: random.below(states) as u32, marks }
    };
    let states = (0..states).map(|_| (0..3).map(|_| edge()).collect()).collect();
    Automaton { atoms: ATOMS, states, initial: 0, sets }
}

/// What is asked of a graph.
struct Case<'a> {
    graph: &'a Labelled,
    automaton: &'a Automaton,
    fairness: Option<&'a Fairness<'a>>,
}

impl Case<'_> {
    fn with_product<T>(&self, answer: impl FnOnce(&Product) -> T) -> T {
        let atom = |atom: usize| -> Predicate<'_> {
            Box::new(move |state: &[u8]| Ok(self.graph.letters[number(state)] >> atom & 1 == 1))
        };
        let atoms: Vec<Predicate> = (0..ATOMS).map(atom).collect();
        answer(&Product::new(self.graph, self.automaton, &atoms, self.fairness, false))
    }

    /// By one thread: is there such a run? Where there is none, the states and edges of the product.
    fn alone(&self) -> Option<(u64, u64)> {
        self.with_product(|product| {
            let (budget, control) = (budget(), Control::new(None));
            let table = Box::new(Table::new(product.state_bytes(), budget.clone()).unwrap());
            let mut states = Numbered::new(table, product.state_bytes(), &budget).unwrap();
            let mut search = Components::new(Mover::new(product, None), &mut states, &control, &budget).unwrap();
            match search.search() {
                Ok(()) => Some((search.facts.transitions, states.len())).map(|(edges, states)| (states, edges)),
                Err(Halt::Found) => None,
                Err(other) => panic!("{other:?}"),
            }
        })
    }

    /// The same by several; the run is looked at.
    fn together(&self, threads: usize, every_atom: bool) -> Option<(u64, u64)> {
        self.with_product(|product| {
            let (budget, control) = (budget(), Control::new(None));
            let (ended, facts, _) = together::search(product, threads, &control, &budget).unwrap();
            let rough = match ended {
                Ended::Complete => return Some((facts.states, facts.transitions)),
                Ended::Found(rough) => rough.expect("a run"),
                other => panic!("{other:?}"),
            };
            let numbers = |states: &[Vec<u8>]| states.iter().map(|state| number(state)).collect::<Vec<_>>();
            let (stem, cycle) = (numbers(&rough.stem), numbers(&rough.cycle));
            assert!(stem[0] < 2 && rough.stem.last() == rough.cycle.last(), "{rough:?}");
            let run: Vec<usize> = stem.iter().chain(&cycle).copied().collect();
            for pair in run.windows(2) {
                let list = &self.graph.lists[pair[0]];
                let stays = list.is_empty() && pair[0] == pair[1];
                assert!(stays || list.iter().any(|(_, next)| *next as usize == pair[1]), "{pair:?} in {run:?}");
            }
            let met = cycle.iter().fold(0, |met, &state| met | self.graph.letters[state]);
            assert!(!every_atom || met == (1 << ATOMS) - 1, "{cycle:?} meets {met:b}");
            assert!(rough.finish(product, &budget, control.stop()).is_some());
            None
        })
    }

    fn agree(&self, every_atom: bool) -> bool {
        let alone = self.alone();
        for threads in [1, 2, 4, 8] {
            assert_eq!(self.together(threads, every_atom), alone, "{threads} threads");
        }
        alone.is_none()
    }
}

fn budget() -> Arc<Budget> {
    Arc::new(Budget::apart(64 << 20))
}

fn random() -> Random {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0u64);
    Random(0x5eed_0020 + seed)
}

#[test]
fn marks_of_one_component_are_found_together() {
    let (mut random, automaton) = (random(), all_again_and_again());
    let sizes = [6, 20, 100, 1000].into_iter().cycle();
    let mut found = |states| {
        let graph = Labelled::new(states, &mut random);
        Case { graph: &graph, automaton: &automaton, fairness: None }.agree(true)
    };
    let found = sizes.take(240).filter(|&states| found(states)).count();
    println!("{found} of 240 have a run");
    assert!((40..200).contains(&found), "{found}");
}

#[test]
fn any_automaton_is_answered_as_by_one_thread() {
    let mut random = random();
    let mut found = |states| {
        let (graph, automaton) = (Labelled::new(states, &mut random), any_automaton(&mut random));
        Case { graph: &graph, automaton: &automaton, fairness: None }.agree(false)
    };
    let found = (0..240).filter(|round| found([6, 20, 100][round % 3])).count();
    println!("{found} of 240 have a run");
    assert!((40..200).contains(&found), "{found}");
}

#[test]
fn weak_fairness_is_decided_together() {
    let (mut random, automaton) = (random(), all_again_and_again());
    let bit = |event: EventCode| 1 << event;
    let moves = Box::new(move |_: &[u8], event: EventCode, _: &[u8]| bit(event));
    let fairness = Fairness { weak: PROCESSES, strong: 0, begins: Box::new(bit), moves };
    let (mut found, mut unfair) = (0, 0);
    for round in 0..240 {
        let graph = Labelled::new([6, 20, 100][round % 3], &mut random);
        let any = Case { graph: &graph, automaton: &automaton, fairness: None }.alone().is_none();
        let fair = Case { graph: &graph, automaton: &automaton, fairness: Some(&fairness) }.agree(true);
        found += fair as usize;
        unfair += (any && !fair) as usize;
    }
    println!("{found} of 240 have a fair run, {unfair} only others");
    assert!(found > 20 && unfair > 3, "{found} {unfair}");
}
