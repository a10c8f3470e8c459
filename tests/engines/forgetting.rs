//! Every order with every forgetter and reduction that goes with it visits exactly the states of the plain search, on
//! every model of the table and on random systems: a second set that forgets nothing watches.

use crate::common;
use crate::common::random::{Shape, Text, text};
use crate::common::{File, Way, files, model, property, replay, successors};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scrimp::plan::{CacheChoice, ForgetChoice, OrderChoice, ReduceChoice, StoreChoice};
use scrimp::{
    Batch, Control, Guides, Limit, Mode, Model, ModelFacts, NativeModel, Options, Plan, Property, Question, Report,
    Verdict, run_guided,
};
use scrimp_core::Condition;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Models with more states are left to longer tests.
const MOST_STATES: u64 = 30_000;
/// A cache too small to be of use visits states again and again.
const MOST_VISITS: u64 = 100;

/// A progress measure: any function is sound.
type Measure = fn(&[u8]) -> u128;

/// Good and bad measures, from one value for all to one by chance.
const MEASURES: [Measure; 4] = [
    |_| 0,
    |state| state[0] as u128,
    |state| state.iter().map(|&byte| byte as u128).sum(),
    |state| state.iter().fold(7u64, |hash, &byte| (hash ^ byte as u64).wrapping_mul(0x100_0000_01b3)) as u128 >> 60,
];

/// One combination of parts. The cache's size is a share of the model's states, in percent.
#[derive(Debug, Clone)]
struct Combination {
    order: Option<OrderChoice>,
    store: StoreChoice,
    forget: ForgetChoice,
    share: Option<usize>,
    reduce: ReduceChoice,
    chains: bool,
    stride: Option<u32>,
    reconstruct: bool,
    measure: usize,
    threads: usize,
}

/// All combinations that the plan allows.
fn combinations() -> Vec<Combination> {
    let orders = "bfs dfs bbfs:1 bbfs:3 bbfs:inf alt:2,3 alt:0,inf alt:inf,0 progress best best:astar random release";
    let cache = |strategy: &str| CacheChoice { most: None, strategy: strategy.parse().unwrap() };
    let forgetters = [
        (ForgetChoice::Nothing, None),
        (ForgetChoice::PseudoRoot(None), None),
        (ForgetChoice::PseudoRoot(None), Some(30)),
        (ForgetChoice::Cache(cache("strata")), None),
        (ForgetChoice::Cache(cache("random")), Some(50)),
        (ForgetChoice::Cache(cache("in-degree+-depth")), Some(30)),
        (ForgetChoice::Cache(cache("lru+frequency")), Some(60)),
        (ForgetChoice::Sweep(None), None),
        (ForgetChoice::Sweep(Some(cache("fifo+out-degree"))), Some(60)),
    ];
    let mut all = Vec::new();
    for order in orders.split(' ').map(|name| Some(name.parse().unwrap())).chain([None]) {
        for (forget, share) in &forgetters {
            for reduce in [ReduceChoice::Nothing, ReduceChoice::EdgeLean] {
                let trees = [
                    (false, None, false),
                    (true, Some(1), false),
                    (false, Some(3), false),
                    (false, Some(1), false),
                    (true, Some(4), false),
                    (false, None, true),
                ];
                for (chains, stride, reconstruct) in trees {
                    for measure in 0..MEASURES.len() {
                        let (forget, share) = (forget.clone(), *share);
                        let store = StoreChoice::Table;
                        let threads = 1;
                        let table = Combination {
                            order,
                            store,
                            forget,
                            share,
                            reduce,
                            chains,
                            stride,
                            reconstruct,
                            measure,
                            threads,
                        };
                        if (chains, stride, reconstruct) == (false, None, false) {
                            let automaton = StoreChoice::Automaton { collapse: false };
                            for store in [StoreChoice::Collapse, StoreChoice::Tree, automaton, StoreChoice::ComBack] {
                                all.push(Combination { store, ..table.clone() });
                            }
                        }
                        all.push(table);
                    }
                }
            }
        }
    }
    let shared = |c: &&Combination| {
        c.reduce == ReduceChoice::Nothing && !c.chains && !c.reconstruct && (c.stride.is_none() || c.measure == 0)
    };
    let threads = |(i, c): (usize, &Combination)| Combination { threads: [2, 3][i % 2], ..c.clone() };
    let shared: Vec<_> = all.iter().filter(shared).enumerate().map(threads).collect();
    all.extend(shared);
    all.retain(|c| {
        let by_progress = c.order == Some(OrderChoice::Progress) || matches!(c.forget, ForgetChoice::Sweep(_));
        // No order given means what one of the named ones means, but for the sweep-line.
        (by_progress || c.measure == 0)
            && (c.order.is_some() || matches!(c.forget, ForgetChoice::Sweep(_)))
            && Plan::admit(&c.options(100)).is_ok()
    });
    all
}

impl Combination {
    fn options(&self, states: u64) -> Options {
        let by_progress = self.order == Some(OrderChoice::Progress) || matches!(self.forget, ForgetChoice::Sweep(_));
        let best = matches!(self.order, Some(OrderChoice::Best { .. }));
        let most = self.share.map(|share| (states as usize * share).div_ceil(100).max(2));
        let mut forget = self.forget.clone();
        match &mut forget {
            ForgetChoice::PseudoRoot(limit) => *limit = most,
            ForgetChoice::Cache(cache) | ForgetChoice::Sweep(Some(cache)) => cache.most = most,
            _ => {}
        }
        Options {
            order: self.order,
            store: Some(self.store.clone()),
            forget,
            reduce: self.reduce,
            chains: self.chains,
            stride: self.stride,
            reconstruct: self.reconstruct,
            progress: by_progress.then(|| "given".into()),
            heuristic: best.then(|| "given".into()),
            visits: Some(states * MOST_VISITS + 1000),
            audit: true,
            keep_going: true,
            memory: Some(16 << 30),
            threads: self.threads,
            ..Options::default()
        }
    }

    fn run(&self, model: &NativeModel, properties: &[Property<Condition>], states: u64) -> std::io::Result<Report> {
        let facts = ModelFacts::of(model);
        let plan = Plan::new(&self.options(states), properties, &facts).map_err(std::io::Error::from)?;
        let measure = MEASURES[self.measure];
        let heuristic = |state: &[u8]| 255 - state[state.len() - 1] as u128;
        let guides = Guides { progress: Some(&measure), heuristic: Some(&heuristic), ..Guides::default() };
        run_guided(model, properties, &plan, &Control::new(None), guides)
    }
}

/// How the searches ended.
#[derive(Default)]
struct Ends {
    complete: AtomicUsize,
    limited: AtomicUsize,
    unsuited: AtomicUsize,
    evicting: AtomicUsize,
    releasing: AtomicUsize,
    replaying: AtomicUsize,
}

impl Ends {
    fn add(counter: &AtomicUsize) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn of(counter: &AtomicUsize) -> usize {
        counter.load(Ordering::Relaxed)
    }
}

/// What a space has: states, transitions, deadlocks, faults.
#[derive(Debug, Clone, Copy)]
struct Space {
    states: u64,
    transitions: u64,
    deadlocks: u64,
    faults: u64,
}

/// Searches in one way and holds the report against the space. Says what is wrong; `None` when the search could not end.
fn visits_all(
    c: &Combination,
    model: &NativeModel,
    properties: &[Property<Condition>],
    space: Space,
    ends: &Ends,
) -> Result<Option<Report>, String> {
    let report = match c.run(model, properties, space.states) {
        Ok(report) => report,
        Err(error) if ["predecessors", "can be swapped"].iter().any(|what| error.to_string().contains(what)) => {
            Ends::add(&ends.unsuited);
            return Ok(None);
        }
        Err(error) => return Err(format!("{c:?}: {error}")),
    };
    if matches!(report.limit, Some(Limit::Cache | Limit::Visits)) && c.share.is_some() {
        Ends::add(&ends.limited);
        return Ok(None);
    }
    Ends::add(&ends.complete);
    if report.forget.evictions > 0 {
        Ends::add(&ends.evicting);
    }
    if report.forget.released > 0 {
        Ends::add(&ends.releasing);
    }
    if report.forget.replays > 0 {
        Ends::add(&ends.replaying);
    }
    let same = |what: &str, found: u64, expected: u64| {
        if found == expected { Ok(()) } else { Err(format!("{c:?}: {found} {what} instead of {expected}: {report:?}")) }
    };
    same("limits", report.limit.is_some() as u64, 0)?;
    same("audited states", report.audited.unwrap_or(0), space.states)?;
    same("open states", report.facts.open, 0)?;
    if report.once {
        same("states", report.facts.states, space.states)?;
        same("visits", report.visits, space.states)?;
        same("deadlocks", report.facts.deadlocks, space.deadlocks)?;
        same("faults", report.facts.faults, space.faults)?;
        if c.reduce == ReduceChoice::Nothing {
            same("transitions", report.facts.transitions, space.transitions)?;
        }
    }
    if report.visits < space.states || report.forget.stored_peak > space.states.max(report.visits) {
        return Err(format!("{c:?}: {report:?}"));
    }
    Ok(Some(report))
}

fn check_file(file: &File, all: &[Combination], ends: &Ends) {
    let model = model(&file.system, file.mode());
    let interpreter = common::model(&file.system, Mode::Interpreted);
    let properties: Vec<Property<Condition>> =
        file.facts.properties.iter().map(|e| property(&model, &e.text)).collect();
    let facts = &file.facts;
    let (states, transitions, faults) = (facts.states, facts.transitions, facts.faults);
    let space = Space { states, transitions, deadlocks: facts.deadlocks, faults };
    for c in all {
        // Searching ends when all properties are decided: one that never is keeps it going.
        let mut asked: Vec<Property<Condition>> = properties.iter().map(Property::lent).collect();
        asked.push(Property::invariant("none", |_| true));
        let report = visits_all(c, &model, &asked, space, ends).unwrap_or_else(|e| panic!("{}: {e}", file.name));
        for (expected, result) in facts.properties.iter().zip(report.iter().flat_map(|r| &r.properties)) {
            let context = format!("{}, {}, {c:?}", file.name, expected.text);
            let verdict = if expected.holds { Verdict::Verified } else { Verdict::Violated };
            assert_eq!(result.verdict, verdict, "{context}");
            assert_eq!(result.trace.is_some(), expected.at.is_some(), "{context}: a trace where one state decides");
            if let Some(trace) = &result.trace {
                assert!(Some(trace.steps.len()) >= expected.at, "{context}: a trace shorter than the shortest");
                let property = property(&interpreter, &expected.text);
                replay(&interpreter, trace, &property).unwrap_or_else(|e| panic!("{context}: {e}"));
            }
        }
    }
}

#[test]
fn all_models() {
    let all = combinations();
    assert!(all.len() > 200, "only {} combinations", all.len());
    let (ends, next) = (Ends::default(), AtomicUsize::new(0));
    let mut files = files();
    files.retain(|file| file.has_at_most(MOST_STATES) && file.system.claim.is_none());
    assert!(files.len() > 30, "only {} models", files.len());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Large ones by some of the combinations only, another choice for each.
                    let step = 1 + file.facts.states as usize / 60;
                    let some: Vec<Combination> =
                        all.iter().skip(file.facts.states as usize % step).step_by(step).cloned().collect();
                    check_file(file, &some, &ends);
                }
            });
        }
    });
    let (complete, limited) = (Ends::of(&ends.complete), Ends::of(&ends.limited));
    println!(
        "{complete} complete ({} with evictions, {} with releases, {} with replays), {limited} too small a cache, {} unsuited",
        Ends::of(&ends.evicting),
        Ends::of(&ends.releasing),
        Ends::of(&ends.replaying),
        Ends::of(&ends.unsuited),
    );
    assert!(complete > 2 * limited && Ends::of(&ends.evicting) > 200, "caches must have been used");
    assert!(Ends::of(&ends.releasing) > 50, "pseudo-root states must have been met");
    assert!(Ends::of(&ends.replaying) > 100, "stripped states must have been met");
}

/// Random systems: each by some combinations, so that all are met.
#[test]
fn random_systems() {
    let all = combinations();
    let (ends, next) = (Ends::default(), Cell::new(0));
    let agree = |text: Text| -> Result<(), TestCaseError> {
        let system = text.system();
        let system = Arc::new(system.map_err(|e| TestCaseError::fail(e.to_string()))?);
        let model = model(&system, Mode::Compiled);
        let plain = Way::PLAIN.run(&model, &[], false);
        if plain.facts.states > 3000 {
            return Err(TestCaseError::reject("too many states"));
        }
        let facts = &plain.facts;
        let (states, transitions, faults) = (facts.states, facts.transitions, facts.faults);
        let space = Space { states, transitions, deadlocks: facts.deadlocks, faults };
        for _ in 0..40 {
            next.set(next.get() + 1);
            let c = &all[next.get() * 7 % all.len()];
            visits_all(c, &model, &[], space, &ends).map_err(TestCaseError::fail)?;
        }
        Ok(())
    };
    let config = Config { cases: 150, failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    if let Err(failure) = TestRunner::new(config).run(&text(Shape { processes: (2, 3), independent: 0 }), agree) {
        panic!("{failure}");
    }
    let (complete, unsuited) = (Ends::of(&ends.complete), Ends::of(&ends.unsuited));
    // Some systems have events of which there are too many ways back; those refusals count apart.
    let suited = next.get() - unsuited;
    assert!(next.get() > all.len() && suited > next.get() / 2);
    assert!(complete > suited / 2, "only {complete} of {suited} complete");
    assert!(Ends::of(&ends.evicting) > 100 && Ends::of(&ends.releasing) > 25);
}

/// The order in which a search finds the states.
fn found_order(model: &NativeModel, order: &str) -> Vec<Vec<u8>> {
    let found = Mutex::new(Vec::new());
    let watch = Property::invariant("watch", |state| {
        found.lock().unwrap().push(state.to_vec());
        true
    });
    let options = Options { order: Some(order.parse().unwrap()), memory: Some(1 << 30), ..Options::default() };
    let properties = [watch];
    let plan = Plan::new(&options, &properties, &ModelFacts::of(model)).unwrap();
    scrimp::run(model, &properties, &plan, &Control::new(None)).unwrap();
    drop(properties);
    found.into_inner().unwrap()
}

/// Depth-first search as it is in books.
fn depth_first(model: &dyn Model) -> Vec<Vec<u8>> {
    let mut initial = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    assert_eq!(initial.len(), 1);
    let root = initial.state(0).to_vec();
    let (mut found, mut known) = (vec![root.clone()], HashSet::from([root.clone()]));
    let mut stack = vec![(successors(model, &root), 0)];
    while let Some((batch, next)) = stack.last_mut() {
        if *next == batch.len() {
            stack.pop();
            continue;
        }
        let state = batch.state(*next).to_vec();
        *next += 1;
        if known.insert(state.clone()) {
            found.push(state.clone());
            stack.push((successors(model, &state), 0));
        }
    }
    found
}

/// DFS = BBFS(1) = Alt(0, inf) and BFS = BBFS(inf) = Alt(inf, 0), to the order in which states are found. Plain
/// breadth-first search has a loop of its own, and depth-first search is compared with the one in the book.
#[test]
fn the_four_identities() {
    for file in files().iter().filter(|file| file.facts.states <= 5000 && file.system.initial.len() == 1) {
        let model = model(&file.system, file.mode());
        let breadth_first = found_order(&model, "bfs");
        for order in ["bbfs:inf", "alt:inf,0"] {
            assert_eq!(found_order(&model, order), breadth_first, "{}: {order}", file.name);
        }
        let by_the_book = depth_first(&model);
        for order in ["dfs", "bbfs:1", "alt:0,inf"] {
            assert_eq!(found_order(&model, order), by_the_book, "{}: {order}", file.name);
        }
    }
}

/// The figures of Tables 1 and 2 of the pseudo-root paper, and of its puzzle.
#[test]
fn pseudo_root_states_as_in_the_paper() {
    let peak = |name: &str, order: &str| {
        let path = common::manifest().join("models").join(name).with_extension("dve");
        let model = model(&Arc::new(scrimp::load(&path).unwrap()), Mode::Compiled);
        let forget = ForgetChoice::PseudoRoot(None);
        let order = Some(order.parse().unwrap());
        let options = Options { order, forget, memory: Some(1 << 30), ..Options::default() };
        let report = scrimp::run(
            &model,
            &[],
            &Plan::of(&options, Question::count(), &ModelFacts::default()).unwrap(),
            &Control::new(None),
        )
        .unwrap();
        assert!(report.exhaustive && report.once);
        (report.forget.stored_peak as f64, report.facts.states as f64)
    };
    for (name, paper) in [("phils3", 69.0), ("phils4", 370.0), ("phils5", 1940.0), ("phils6", 10_171.0)] {
        // One per cent, and one state where that is less.
        let (found, _) = peak(name, "release");
        assert!(found <= f64::max(paper * 1.01, paper + 1.0), "{name}: {found} instead of {paper}");
        let (found, _) = peak(name, "bfs");
        assert!(found <= paper * 1.08, "{name}, breadth-first: {found} instead of {paper}");
    }
    for (n, share) in [(3, 33.34), (5, 25.91), (7, 20.1), (9, 15.94), (11, 13.28)] {
        let (found, states) = peak(&format!("milner{n}_starter"), "bfs");
        assert!(100.0 * found / states <= share, "{n} schedulers: {found} of {states}");
    }
    for order in ["bfs", "release"] {
        let (found, states) = peak("klotski", order);
        assert!(found / states <= 0.06, "klotski, {order}: {found} of {states}");
    }
}
