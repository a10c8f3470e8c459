//! Reductions must not change a verdict: random systems and every file of `models/`, in every order, with every store, on
//! several threads and under forgetting, against a search that explores every event.

use crate::common::shared::{self, Mixture};
use crate::common::{File, faulty, files, model, property, replay};
use scrimp::plan::{ForgetChoice, OrderChoice, ReduceChoice, StoreChoice};
use scrimp::{Control, Fault, Mode, ModelFacts, NativeModel, Options, Plan, Property, PropertyKind, Report, Verdict};
use scrimp_core::Condition;
use scrimp_system::{Expr, Random};
use std::sync::Arc;
use std::time::Duration;

/// A way to search with a reduction, in the words of the command line.
#[derive(Debug, Clone, Copy)]
struct Way {
    reduce: &'static str,
    order: &'static str,
    store: &'static str,
    forget: &'static str,
    threads: usize,
}

const WAY: Way = Way { reduce: "por", order: "bfs", store: "table", forget: "none", threads: 1 };

/// Every order and store, forgetting and threads, each with every reduction that goes with it.
fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for reduce in ["por", "por:process", "por:closure", "por:deletion"] {
        for order in ["bfs", "dfs", "bbfs:3", "alt:2,1", "random"] {
            ways.push(Way { reduce, order, ..WAY });
        }
        for store in ["collapse", "packed", "tree", "dfa", "comback"] {
            ways.push(Way { reduce, store, ..WAY });
        }
        for store in ["packed", "tree", "dfa"] {
            ways.push(Way { reduce, store, order: "dfs", ..WAY });
        }
        for forget in ["cache:30", "cache", "pseudo-root", "pseudo-root:30"] {
            ways.push(Way { reduce, forget, ..WAY });
            ways.push(Way { reduce, forget, order: "dfs", ..WAY });
            ways.push(Way { reduce, forget, order: "bbfs:3", store: "tree", ..WAY });
            ways.push(Way { reduce, forget, threads: 2, ..WAY });
        }
        ways.push(Way { reduce, forget: "cache", order: "random", store: "tree", threads: 2 });
        ways.push(Way { reduce, forget: "cache:30", store: "dfa", ..WAY });
        ways.push(Way { reduce, order: "bbfs:3", store: "dfa", ..WAY });
        ways.push(Way { reduce, order: "random", store: "collapse", threads: 3, ..WAY });
        for store in ["table", "tree"] {
            ways.push(Way { reduce, store, threads: 2, ..WAY });
        }
    }
    for order in ["bfs", "dfs", "bbfs:3", "random"] {
        ways.push(Way { reduce: "por+sleep", order, ..WAY });
        ways.push(Way { reduce: "por+sleep", order, store: "collapse", ..WAY });
    }
    ways
}

/// The same without a reduction, and with those that leave out edges alone.
fn every_event() -> Vec<Way> {
    let mut ways = Vec::new();
    for reduce in ["none", "edge-lean"] {
        for order in ["bfs", "dfs", "bbfs:3", "random"] {
            ways.push(Way { reduce, order, ..WAY });
        }
    }
    for store in ["collapse", "tree", "dfa", "comback"] {
        ways.push(Way { reduce: "none", store, ..WAY });
    }
    for store in ["collapse", "tree", "dfa"] {
        ways.push(Way { reduce: "none", store, threads: 2, ..WAY });
    }
    ways
}

/// How many random systems, unless `SCRIMP_TEST_CASES` says so.
fn cases(usual: u64) -> u64 {
    std::env::var("SCRIMP_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

impl Way {
    fn run(self, model: &NativeModel, properties: &[Property<Condition>]) -> Report {
        self.run_if_suited(model, properties).expect("only pseudo-root states need a model that can be run backwards")
    }

    fn run_if_suited(self, model: &NativeModel, properties: &[Property<Condition>]) -> Option<Report> {
        let order: OrderChoice = self.order.parse().unwrap();
        let store: StoreChoice = self.store.parse().unwrap();
        let forget: ForgetChoice = self.forget.parse().unwrap();
        let reduce: ReduceChoice = self.reduce.parse().unwrap();
        let options = Options {
            order: Some(order),
            store: Some(store),
            forget,
            reduce,
            threads: self.threads,
            memory: Some(1 << 30),
            visits: (self.forget != "none").then_some(20_000),
            keep_going: true,
            ..Options::default()
        };
        let plan = match Plan::new(&options, properties, &ModelFacts::of(model)) {
            Err(refusal) if refusal.to_string().contains("cannot be run backwards") => return None,
            plan => plan.unwrap_or_else(|e| panic!("{self:?}: {e}")),
        };
        let report = scrimp::run(model, properties, &plan, &Control::new(None));
        Some(report.unwrap_or_else(|e| panic!("{self:?}: {e}")))
    }
}

/// What searches have shown, to be sure that they had something to show.
#[derive(Debug, Default)]
struct Met {
    violated: usize,
    verified: usize,
    fewer: usize,
    /// With pseudo-root states released.
    released: usize,
}

/// Compares every way with the search that explores every event.
fn agree(model: &NativeModel, properties: &[Property<Condition>], ways: &[Way], context: &str, met: &mut Met) {
    let whole = Way { reduce: "none", ..WAY }.run(model, properties);
    for way in ways {
        let Some(reduced) = way.run_if_suited(model, properties) else {
            assert!(way.forget.starts_with("pseudo-root"));
            continue;
        };
        met.released += (reduced.forget.released > 0) as usize;
        // A cache that is too small for the states that must stay decides nothing.
        if reduced.limit.is_some() {
            assert_ne!(way.forget, "none", "{context}, {way:?}: {:?}", reduced.limit);
            continue;
        }
        met.fewer += (reduced.facts.states < whole.facts.states) as usize;
        if way.forget == "pseudo-root" && way.order == "bbfs:3" {
            // What is released is never found again: the same states are visited as without forgetting.
            let keeping = Way { forget: "none", ..*way }.run(model, properties);
            assert_eq!(reduced.facts.states, keeping.facts.states, "{context}, {way:?}");
            assert_eq!(reduced.visits, keeping.visits, "{context}, {way:?}");
        }
        for ((expected, found), property) in whole.properties.iter().zip(&reduced.properties).zip(properties) {
            let context = || format!("{context}, {way:?}, {}", property.name);
            assert_eq!(found.verdict, expected.verdict, "{}", context());
            met.violated += (found.verdict == Verdict::Violated) as usize;
            met.verified += (found.verdict == Verdict::Verified) as usize;
            assert_eq!(found.trace.is_some(), expected.trace.is_some(), "{}: a run", context());
            if let Some(trace) = &found.trace {
                replay(model, trace, property).unwrap_or_else(|e| panic!("{}: {e}", context()));
            }
        }
    }
}

fn condition<'a>(model: &'a NativeModel, expression: Expr, reach: bool) -> Property<Condition<'a>> {
    let kind = if reach { PropertyKind::Reach(expression) } else { PropertyKind::Invariant(expression) };
    let property = Property::new(if reach { "reach" } else { "invariant" }, kind);
    scrimp::properties::evaluated(model, &[property]).swap_remove(0)
}

/// Is a system small, and does every edge come to its end?
fn is_handy(model: &NativeModel) -> bool {
    let options = Options { visits: Some(800), memory: Some(1 << 30), keep_going: true, ..Options::default() };
    let properties = [Property::faults()];
    let control = Control::new(Some(Duration::from_millis(300)));
    let plan = Plan::new(&options, &properties, &ModelFacts::of(model)).unwrap();
    let report = scrimp::run(model, &properties, &plan, &control).unwrap();
    let endless = report.properties[0].fault.is_some_and(|(_, fault)| fault == Fault::Endless);
    report.limit.is_none() && !endless
}

/// Random systems from `seeds`: some of the ways for each, all of them over time.
fn random(seeds: std::ops::Range<u64>, special: bool) -> Met {
    let mut met = Met::default();
    let ways = ways();
    for seed in seeds {
        let mixture = Mixture { processes: 2 + seed as usize % 3, special };
        let system = Arc::new(shared::system(seed, mixture));
        let model = model(&system, Mode::Interpreted);
        if !is_handy(&model) {
            continue;
        }
        let mut random = Random(seed ^ 0x5ca1e);
        let mut some = |count: usize| -> Vec<Way> { (0..count).map(|_| ways[random.below(ways.len())]).collect() };
        let (first, second, third) = (some(6), some(6), some(6));
        let context = format!("system {seed}");
        agree(&model, &[Property::deadlock()], &first, &context, &mut met);
        let all = [Property::deadlock(), Property::faults(), Property::assertions()];
        agree(&model, &all, &second, &context, &mut met);
        let mut random = Random(seed ^ 0xc0ffee);
        let asked = [
            condition(&model, shared::condition(&mut random, &system), true),
            condition(&model, shared::condition(&mut random, &system), false),
        ];
        for property in &asked {
            agree(&model, std::slice::from_ref(property), &third, &context, &mut met);
        }
        let [one, other] = asked;
        agree(&model, &[Property::deadlock(), one, other, Property::faults()], &third[..2], &context, &mut met);
    }
    met
}

#[test]
fn random_systems_keep_their_verdicts() {
    let met = random(0..16, false);
    assert!(met.violated > 30 && met.verified > 30 && met.fewer > 30 && met.released > 10, "{met:?}");
}

/// Systems in which much goes wrong, asked about it: faults, assertions, and conditions that may be faults themselves.
#[test]
fn systems_with_faults_keep_their_verdicts() {
    let mut met = Met::default();
    let ways = [ways(), every_event()].concat();
    for seed in 0..cases(60) {
        let special = seed % 4 == 3;
        let system = Arc::new(faulty::system(seed, special));
        let model = model(&system, Mode::Interpreted);
        if !is_handy(&model) {
            continue;
        }
        let mut random = Random(seed ^ 0xfa17);
        let asked = [false, true].map(|reach| condition(&model, faulty::expression(&mut random, &system, 2), reach));
        let some: Vec<Way> = (0..8).map(|_| ways[random.below(ways.len())]).collect();
        let context = format!("faulty {seed}");
        let [one, other] = asked;
        let always = condition(&model, Expr::TRUE, false);
        agree(&model, &[Property::faults(), always], &some, &context, &mut met);
        agree(&model, &[Property::faults(), Property::assertions(), one, other], &some, &context, &mut met);
        agree(&model, &[Property::deadlock(), Property::faults()], &some[..3], &context, &mut met);
    }
    assert!(met.violated > 100 && met.verified > 50 && met.fewer > 10, "{met:?}");
}

#[test]
fn random_systems_with_steps_in_a_row_keep_their_verdicts() {
    let met = random(1000..1012, true);
    assert!(met.violated > 10 && met.verified > 10 && met.fewer > 10, "{met:?}");
}

/// More random systems, from the seed in `SCRIMP_TEST_SEED` on, for as many as `SCRIMP_TEST_CASES` says.
#[test]
#[ignore = "as long as one likes"]
fn very_many_random_systems() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (seed, cases) = (number("SCRIMP_TEST_SEED", 1 << 20), number("SCRIMP_TEST_CASES", 10_000));
    println!("{:?}", random(seed..seed + cases, false));
    println!("{:?}", random(seed..seed + cases, true));
}

fn file_agrees(file: &File, ways: &[Way], met: &mut Met) {
    let model = model(&file.system, file.mode());
    let mut properties: Vec<Property<Condition>> =
        file.facts.properties.iter().map(|e| property(&model, &e.text)).collect();
    properties.extend([Property::deadlock(), Property::faults(), Property::assertions()]);
    agree(&model, &properties, ways, &file.name, met);
    // Each alone, where a reduction can do more.
    for property in &properties {
        agree(&model, std::slice::from_ref(property), &ways[..1], &file.name, met);
    }
}

#[test]
fn models_keep_their_verdicts() {
    let mut met = Met::default();
    let mut turn = ways().into_iter().cycle();
    for file in files().iter().filter(|file| file.system.claim.is_none() && file.has_at_most(30_000)) {
        let mut ways = vec![WAY];
        ways.extend(turn.by_ref().take(7));
        file_agrees(file, &ways, &mut met);
    }
    assert!(met.violated > 50 && met.verified > 200 && met.fewer > 100 && met.released > 20, "{met:?}");
}
