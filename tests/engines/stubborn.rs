//! Stubborn sets on random systems: a search that explores only what they say finds every deadlock, every target that can be
//! reached and every fault, whatever the method and the order.

use crate::common;
use crate::common::faulty;
use crate::common::shared::{self, Mixture};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use scrimp::{Batch, Fault, FaultRecord, Mode, Model, NativeModel, System};
use scrimp_search::reduce::Method;
use scrimp_search::reduce::stubborn::{Chosen, Stubborn, Wanted};
use scrimp_system::{Dependence, Expr, Random};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// A state's successors by first event, and its faults.
struct Expanded {
    successors: BTreeMap<u32, Vec<Vec<u8>>>,
    faults: Vec<FaultRecord>,
    deadlock: bool,
}

struct Graph<'a> {
    model: &'a NativeModel,
    known: HashMap<Vec<u8>, Arc<Expanded>>,
}

impl Graph<'_> {
    fn expand(&mut self, state: &[u8]) -> Arc<Expanded> {
        if let Some(known) = self.known.get(state) {
            return known.clone();
        }
        let mut source = Batch::new(self.model.state_bytes());
        source.push(state, 0);
        let mut batch = Batch::new(self.model.state_bytes());
        self.model.expand(source.state(0), &mut batch);
        let mut successors: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
        for i in 0..batch.len() {
            let event = self.model.parts(batch.event(i)).0.unwrap();
            successors.entry(event).or_default().push(batch.state(i).to_vec());
        }
        let count = batch.len();
        let faults = batch.faults().to_vec();
        let expanded = Arc::new(Expanded { successors, faults, deadlock: batch.take_deadlock(count) });
        self.known.insert(state.to_vec(), expanded.clone());
        expanded
    }
}

/// What a search found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    deadlocks: BTreeSet<Vec<u8>>,
    targets: Vec<bool>,
    /// Events that end in a fault, and those whose assertion is violated.
    faults: BTreeSet<(u32, bool)>,
}

#[derive(Debug, Default)]
struct Seen {
    systems: usize,
    full: usize,
    reduced: [usize; 3],
    deadlocks: usize,
    targets: usize,
}

/// Searches, with fewer events if there is something to choose them; gives what was found and how many states there were.
fn search(
    graph: &mut Graph<'_>,
    targets: &[(Expr, bool)],
    mut choice: Option<&mut Stubborn>,
    deep: bool,
    most: usize,
) -> Option<(Found, usize)> {
    let mut found = Found { targets: vec![false; targets.len()], ..Found::default() };
    let mut initial = Batch::new(graph.model.state_bytes());
    graph.model.initial(&mut initial);
    let mut open: VecDeque<Vec<u8>> = (0..initial.len()).map(|i| initial.state(i).to_vec()).collect();
    let mut visited: HashSet<Vec<u8>> = open.iter().cloned().collect();
    let mut expanded: HashSet<Vec<u8>> = HashSet::new();
    let mut keep = Vec::new();
    while let Some(state) = if deep { open.pop_back() } else { open.pop_front() } {
        if visited.len() > most {
            return None;
        }
        expanded.insert(state.clone());
        let here = graph.expand(&state);
        if here.deadlock {
            found.deadlocks.insert(state.clone());
        }
        found.faults.extend(here.faults.iter().map(|record| (record.event, record.fault == Fault::Assertion)));
        for (k, (e, fault)) in targets.iter().enumerate() {
            found.targets[k] |= graph.model.layout().holds(e, &state).unwrap_or(*fault);
        }
        let events: Vec<u32> = here.successors.keys().copied().collect();
        let mut chosen = Chosen::All;
        if let Some(choice) = &mut choice {
            chosen = choice.choose(&state, &events, &mut keep);
        }
        if chosen == Chosen::Proviso {
            let is_new = |event: &u32| here.successors[event].iter().any(|next| !expanded.contains(next));
            if !keep.iter().any(is_new) {
                chosen = Chosen::All;
            }
        }
        let explored = if chosen == Chosen::All { &events } else { &keep };
        for next in explored.iter().flat_map(|event| &here.successors[event]) {
            if visited.insert(next.clone()) {
                open.push_back(next.clone());
            }
        }
    }
    Some((found, visited.len()))
}

/// How a case is searched.
fn check(system: Arc<System>, seed: u64, most: usize, seen: &mut Seen) {
    let model = NativeModel::new(system.clone(), Mode::Interpreted).unwrap();
    let mut graph = Graph { model: &model, known: HashMap::new() };
    let mut random = Random(seed ^ 0x5eed);
    let targets: Vec<(Expr, bool)> =
        (0..random.below(3)).map(|k| (shared::condition(&mut random, &system), k % 2 == 0)).collect();
    let Some((full, states)) = search(&mut graph, &targets, None, false, most) else { return };
    let deadlocks = targets.is_empty() || random.below(2) == 0;
    let faults = random.below(3) == 0;
    let mut dependence = Dependence::new(&system);
    let conditions = targets.iter().map(|(e, fault)| dependence.condition(e, *fault)).collect();
    let dependence = Arc::new(dependence);
    let wanted = Wanted { deadlocks, targets: conditions, faults };
    seen.systems += 1;
    seen.full += states;
    seen.deadlocks += !full.deadlocks.is_empty() as usize;
    seen.targets += full.targets.iter().filter(|met| **met).count();
    for (number, method) in [Method::Process, Method::Closure, Method::Deletion].into_iter().enumerate() {
        let mut choice = Stubborn::new(dependence.clone(), wanted.clone(), method);
        for deep in [false, true] {
            let Some((found, reduced)) = search(&mut graph, &targets, Some(&mut choice), deep, usize::MAX) else {
                return;
            };
            let what = || format!("seed {seed} {method:?} deep {deep} {}", system.source.text);
            assert_eq!(full.targets, found.targets, "{}", what());
            if deadlocks {
                assert_eq!(full.deadlocks, found.deadlocks, "{}", what());
            }
            if faults {
                assert_eq!(full.faults, found.faults, "{}", what());
            }
            assert!(reduced <= states);
            seen.reduced[number] += reduced * !deep as usize;
        }
    }
}

/// How many random systems of each kind.
fn many(usual: u64) -> u64 {
    std::env::var("SCRIMP_MANY").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

#[test]
fn nothing_is_missed_where_processes_share() {
    let mut seen = Seen::default();
    let first: u64 = std::env::var("SCRIMP_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for seed in first..first + many(600) {
        let mixture = Mixture { processes: 2 + (seed % 3) as usize, special: seed % 4 == 3 };
        check(Arc::new(shared::system(seed, mixture)), seed, 2_000, &mut seen);
    }
    assert!(seen.systems > 300 && seen.deadlocks > 80 && seen.targets > 50, "{seen:?}");
    assert!(10 * seen.reduced[0] < 9 * seen.full, "{seen:?}");
}

#[test]
fn nothing_is_missed_where_much_goes_wrong() {
    let mut seen = Seen::default();
    for seed in 0..many(600) {
        check(Arc::new(faulty::system(seed, seed % 3 == 2)), seed, 500, &mut seen);
    }
    assert!(seen.systems > 300 && seen.deadlocks > 80 && seen.targets > 50, "{seen:?}");
    assert!(seen.reduced[0] < seen.full, "{seen:?}");
}

#[test]
fn nothing_is_missed_in_random_texts() {
    let seen = std::cell::RefCell::new(Seen::default());
    let config = Config { cases: many(200) as u32, failure_persistence: None, ..Config::default() };
    let shape = common::random::Shape { processes: (2, 4), independent: 3 };
    let result = TestRunner::new(config).run(&(common::random::text(shape), any::<u64>()), |(text, seed)| {
        check(Arc::new(text.system().unwrap()), seed, 1_000, &mut seen.borrow_mut());
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    assert!(seen.borrow().systems > 50, "{seen:?}");
}
