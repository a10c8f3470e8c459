//! Random small models: whatever the order, the number of threads and the way events are run, all searches must agree
//! with each other and with a breadth-first search that is too plain to be wrong.

use crate::common;
use crate::common::random::{Shape, Text, text};
use crate::common::{Way, model, ways};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scrimp::plan::OrderChoice;
use scrimp::{Batch, GraphFacts, Mode, Model, NativeModel};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

/// Models with more states are left out.
const MOST: usize = 100_000;

/// The whole graph in a map; `None` when it is too large.
fn reference(model: &dyn Model) -> Option<GraphFacts> {
    struct State {
        level: usize,
        entered: u64,
    }
    let mut facts = GraphFacts { back_level_edges: Some(0), longest_back_level_edge: Some(0), ..GraphFacts::default() };
    let mut seen: HashMap<Vec<u8>, State> = HashMap::new();
    let mut level: Vec<Vec<u8>> = Vec::new();
    let mut initial = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    for i in 0..initial.len() {
        if seen.insert(initial.state(i).to_vec(), State { level: 0, entered: 0 }).is_none() {
            level.push(initial.state(i).to_vec());
        }
    }
    facts.initial_states = level.len() as u64;
    while !level.is_empty() {
        let depth = facts.depth as usize;
        facts.depth += 1;
        facts.widest = facts.widest.max(level.len() as u64);
        facts.level_sizes.push(level.len() as u64);
        let mut next = Vec::new();
        for state in &level {
            let mut successors = common::successors(model, state);
            facts.transitions += successors.len() as u64;
            let count = successors.len();
            facts.deadlocks += successors.take_deadlock(count) as u64;
            facts.faults += successors.faults().len() as u64;
            facts.max_out_degree = facts.max_out_degree.max(successors.len() as u64);
            for i in 0..successors.len() {
                let successor = successors.state(i);
                let known = seen.entry(successor.to_vec()).or_insert_with(|| {
                    next.push(successor.to_vec());
                    State { level: depth + 1, entered: 0 }
                });
                known.entered += 1;
                if known.level <= depth {
                    *facts.back_level_edges.as_mut()? += 1;
                    let back = (depth - known.level) as u64;
                    facts.longest_back_level_edge = facts.longest_back_level_edge.max(Some(back));
                }
            }
        }
        if seen.len() > MOST {
            return None;
        }
        level = next;
    }
    facts.states = seen.len() as u64;
    facts.max_in_degree = seen.values().map(|s| s.entered).max();
    Some(facts)
}

/// What the reference says, seen through a way: not every way knows every fact.
fn expected(reference: &GraphFacts, way: Way, found: &GraphFacts) -> GraphFacts {
    let mut facts = reference.clone();
    if !way.breadth_first() {
        facts = GraphFacts { depth: found.depth, widest: found.widest, ..facts };
        (facts.back_level_edges, facts.longest_back_level_edge) = (None, None);
        facts.level_sizes.clear();
    }
    if !way.breadth_first() || way.threads > 1 {
        facts.max_in_degree = None;
    }
    facts
}

/// What the models had in them, to be sure that they had something.
#[derive(Default)]
struct Met {
    deadlocks: Cell<usize>,
    faults: Cell<usize>,
    many: Cell<usize>,
    wide: Cell<usize>,
}

impl Met {
    fn note(&self, facts: &GraphFacts) {
        let add = |cell: &Cell<usize>, met: bool| cell.set(cell.get() + met as usize);
        add(&self.deadlocks, facts.deadlocks > 0);
        add(&self.faults, facts.faults > 0);
        add(&self.many, facts.states > 20);
        // From this width on two threads share a level.
        add(&self.wide, facts.widest >= 1024);
    }
}

fn agree(text: &Text, ways: &[Way], met: &Met) -> Result<(), TestCaseError> {
    let system = text.system();
    let system = Arc::new(system.map_err(|e| TestCaseError::fail(e.to_string()))?);
    let model_of = |mode| -> NativeModel { model(&system, mode) };
    let (interpreted, compiled) = (model_of(Mode::Interpreted), model_of(Mode::Compiled));
    let Some(reference) = reference(&interpreted) else {
        return Err(TestCaseError::reject("too many states"));
    };
    met.note(&reference);
    for &way in ways {
        let model = if way.mode == Mode::Interpreted { &interpreted } else { &compiled };
        let report = way.run(model, &[], false);
        prop_assert!(report.exhaustive, "{:?}", way);
        prop_assert_eq!(&report.facts, &expected(&reference, way, &report.facts), "{:?}", way);
    }
    Ok(())
}

fn run(cases: u32, shape: Shape, ways: &[Way]) -> Met {
    let met = Met::default();
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2000, ..Config::default() };
    if let Err(failure) = TestRunner::new(config).run(&text(shape), |text| agree(&text, ways, &met)) {
        panic!("{failure}");
    }
    met
}

#[test]
fn small_systems() {
    let mut ways = ways();
    ways.push(Way { threads: 3, ..Way::PLAIN });
    let met = run(350, Shape { processes: (2, 3), independent: 0 }, &ways);
    assert!(met.deadlocks.get() > 15, "only {} with deadlocks", met.deadlocks.get());
    assert!(met.faults.get() > 5, "only {} with faults", met.faults.get());
    assert!(met.many.get() > 15, "only {} with many states", met.many.get());
}

/// Levels so wide that several threads share them.
#[test]
fn wide_systems() {
    let threads = [1, 2, 3, 4].map(|threads| Way { threads, ..Way::PLAIN });
    let dfs = Way { order: OrderChoice::DepthFirst, ..Way::PLAIN };
    let ways = [threads.as_slice(), &[dfs]].concat();
    let met = run(35, Shape { processes: (4, 4), independent: 9 }, &ways);
    assert!(met.wide.get() > 4, "only {} wide ones", met.wide.get());
}
