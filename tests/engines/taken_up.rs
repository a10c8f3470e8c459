//! A search that stops, is saved, and is taken up again, in another store and by other threads, visits the states of one that was
//! not interrupted: those of all its parts together.

use crate::common::random::{Shape, Text, text};
use crate::common::{Way, command, files, model};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scrimp::plan::{ForgetChoice, OrderChoice, ReduceChoice, StoreChoice};
use scrimp::{Control, Guides, Limit, Mode, ModelFacts, NativeModel, Options, Plan, Property, Report, run_guided};
use scrimp_core::Condition;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Parts of one search.
const PARTS: u64 = 7;
/// With a cache too small to be of use, states are visited for ever: then it is given up.
const MOST_PARTS: u64 = 24;

/// What a search keeps when it is taken up.
#[derive(Debug, Clone)]
struct Kind {
    order: OrderChoice,
    forget: &'static str,
    reduce: ReduceChoice,
}

fn kinds() -> Vec<Kind> {
    let mut all = Vec::new();
    for order in "bfs dfs bbfs:3 alt:2,3 progress best random release".split(' ') {
        for forget in ["none", "pseudo-root", "pseudo-root:%", "cache", "cache:%", "sweep", "sweep+cache:%"] {
            for reduce in ["none", "por", "edge-lean"] {
                all.push(Kind { order: order.parse().unwrap(), forget, reduce: reduce.parse().unwrap() });
            }
        }
    }
    all
}

impl Kind {
    /// The options of one part of the search; stores and threads take turns, from one or another on.
    fn options(&self, part: usize, first: usize, states: u64, file: &Path) -> Options {
        let stores = ["table", "collapse", "tree", "dfa"];
        let size = (states * 2 / 3).max(2).to_string();
        let forget: ForgetChoice = self.forget.replace('%', &size).parse().unwrap();
        let by_progress = self.order == OrderChoice::Progress || matches!(forget, ForgetChoice::Sweep(_));
        let options = |store: &str, threads| Options {
            order: Some(self.order),
            store: Some(store.parse::<StoreChoice>().unwrap()),
            forget: forget.clone(),
            reduce: self.reduce,
            progress: by_progress.then(|| "given".into()),
            heuristic: matches!(self.order, OrderChoice::Best { .. }).then(|| "given".into()),
            memory: Some(4 << 30),
            threads,
            keep_going: true,
            visits: Some(states * (part as u64 + 1) / PARTS + 1),
            checkpoint: Some(file.into()),
            resume: (part > 0).then(|| file.into()),
            ..Options::default()
        };
        // The next ones that go with the rest.
        (first + part..first + part + 8)
            .map(|turn| options(stores[turn % 4], 1 + (turn / 4 + turn) % 2))
            .find(|options| Plan::admit(options).is_ok())
            .unwrap_or_else(|| options("table", 1))
    }
}

/// The last report of a search in parts, how many parts there were, and all states that were found.
type Joined = (Report, usize, HashSet<Vec<u8>>);

/// Searches in parts, until nothing is left; nothing, where the model or the cache does not suit.
fn in_parts(
    kind: &Kind,
    model: &NativeModel,
    states: u64,
    file: &Path,
    first: usize,
) -> Result<Option<Joined>, String> {
    let found = Mutex::new(HashSet::new());
    for part in 0..MOST_PARTS as usize {
        // Every other part is interrupted when so many states more were found.
        let control = Control::new(None);
        let left =
            AtomicUsize::new(if (first + part).is_multiple_of(2) { usize::MAX } else { states as usize / 5 + part });
        let watch = Property::invariant("watch", |state: &[u8]| {
            found.lock().unwrap().insert(state.to_vec());
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                control.stop().ask();
            }
            true
        });
        let properties: [Property<Condition>; 1] = [watch];
        let options = kind.options(part, first, states, file);
        let Ok(plan) = Plan::new(&options, &properties, &ModelFacts::of(model)) else {
            return Ok(None);
        };
        let measure = |state: &[u8]| state.iter().map(|&byte| byte as u128).sum();
        let guides = Guides { progress: Some(&measure), heuristic: Some(&measure), ..Guides::default() };
        let report = match run_guided(model, &properties, &plan, &control, guides) {
            Ok(report) => report,
            Err(e)
                if ["predecessors", "independent", "the cache is too small"]
                    .iter()
                    .any(|what| e.to_string().contains(what)) =>
            {
                return Ok(None);
            }
            Err(e) => return Err(format!("{kind:?}, part {part}: {e}")),
        };
        drop(properties);
        match report.limit {
            Some(Limit::Visits | Limit::Interrupt) => {}
            Some(Limit::Cache) => return Ok(None),
            None => return Ok(Some((report, part + 1, found.into_inner().unwrap()))),
            other => return Err(format!("{kind:?}, part {part}: {other:?}")),
        }
    }
    Ok(None)
}

/// How many searches were put together again, and how many of them forgot.
#[derive(Default)]
struct Ends {
    complete: AtomicUsize,
    evicting: AtomicUsize,
    several: AtomicUsize,
}

fn agrees(
    kind: &Kind,
    model: &NativeModel,
    whole: &Report,
    all: &HashSet<Vec<u8>>,
    file: &Path,
    first: usize,
    ends: &Ends,
) -> Result<(), String> {
    let Some((report, parts, found)) = in_parts(kind, model, whole.facts.states, file, first)? else {
        return Ok(());
    };
    ends.complete.fetch_add(1, Ordering::Relaxed);
    ends.evicting.fetch_add((report.forget.evictions > 0) as usize, Ordering::Relaxed);
    ends.several.fetch_add((parts > 1) as usize, Ordering::Relaxed);
    let wrong = |what: &str| Err(format!("{kind:?}, {parts} parts: {what}: {report:?}"));
    let reduced = matches!(kind.reduce, ReduceChoice::Persistent(_));
    if !reduced && found != *all {
        return wrong(&format!("{} states were found of {}", found.len(), all.len()));
    }
    if report.facts.deadlocks == 0 && whole.facts.deadlocks > 0 {
        return wrong("no deadlock");
    }
    if report.once && !reduced {
        if report.facts.states != whole.facts.states || report.facts.deadlocks != whole.facts.deadlocks {
            return wrong("other counts");
        }
        if kind.reduce == ReduceChoice::Nothing && report.facts.transitions != whole.facts.transitions {
            return wrong("other transitions");
        }
    }
    Ok(())
}

/// The whole search, and the states that it finds.
fn whole(model: &NativeModel) -> (Report, HashSet<Vec<u8>>) {
    let found = Mutex::new(HashSet::new());
    let watch = Property::invariant("watch", |state: &[u8]| {
        found.lock().unwrap().insert(state.to_vec());
        true
    });
    let report = Way::PLAIN.run(model, &[watch], true);
    (report, found.into_inner().unwrap())
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("scrimp-taken-up-{}-{name}", std::process::id()))
}

#[test]
fn models_of_the_table() {
    let (kinds, ends, path) = (kinds(), Ends::default(), file("models"));
    for (number, file) in
        files().iter().filter(|file| file.has_at_most(3000) && file.system.claim.is_none()).enumerate()
    {
        let model = model(&file.system, file.mode());
        let (whole, all) = whole(&model);
        let step = 1 + whole.facts.states as usize / 100;
        for (turn, kind) in kinds.iter().skip(number % step).step_by(step).enumerate() {
            agrees(kind, &model, &whole, &all, &path, number + turn, &ends)
                .unwrap_or_else(|e| panic!("{}: {e}", file.name));
        }
    }
    let _ = std::fs::remove_file(path);
    let (complete, several) = (ends.complete.into_inner(), ends.several.into_inner());
    println!("{complete} complete, {several} of them in several parts, {} with evictions", ends.evicting.into_inner());
    assert!(complete > 300 && several > 200);
}

#[test]
fn random_systems() {
    let (kinds, ends, path, next) = (kinds(), Ends::default(), file("random"), AtomicUsize::new(0));
    let agree = |text: Text| -> Result<(), TestCaseError> {
        let system = Arc::new(text.system().map_err(|e| TestCaseError::fail(e.to_string()))?);
        let model = model(&system, Mode::Compiled);
        let (whole, all) = whole(&model);
        if whole.facts.states > 2000 || whole.facts.states < 8 {
            return Err(TestCaseError::reject("too many states, or too few"));
        }
        for _ in 0..20 {
            let turn = next.fetch_add(5, Ordering::Relaxed);
            let kind = &kinds[turn % kinds.len()];
            agrees(kind, &model, &whole, &all, &path, turn / kinds.len(), &ends).map_err(TestCaseError::fail)?;
        }
        Ok(())
    };
    let config = Config { cases: 50, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    if let Err(failure) = TestRunner::new(config).run(&text(Shape { processes: (2, 3), independent: 0 }), agree) {
        panic!("{failure}");
    }
    let _ = std::fs::remove_file(path);
    let (complete, evicting) = (ends.complete.into_inner(), ends.evicting.into_inner());
    println!("{complete} complete, {evicting} with evictions");
    assert!(complete > 250 && evicting > 10);
}

/// With less memory than the table takes that was saved, the search goes on in a tree. States are long, so that there is a large
/// table of fewer than those with which a search moves to a packed one.
#[test]
fn a_table_goes_on_in_a_tree() {
    const ENOUGH: usize = 150_000;
    let (path, file) = (command::file("taken_up_long.dve", command::counters(4, 20, 24)), file("table"));
    let model = model(&Arc::new(scrimp::load(Path::new(&path)).unwrap()), Mode::Compiled);
    let (control, found) = (Control::new(None), AtomicUsize::new(0));
    let stops = Property::invariant("invariant: true", |_: &[u8]| {
        if found.fetch_add(1, Ordering::Relaxed) == ENOUGH {
            control.stop().ask();
        }
        true
    });
    let options = Options { memory: Some(4 << 30), checkpoint: Some(file.clone()), ..Options::default() };
    let properties = [stops];
    let plan = Plan::new(&options, &properties, &ModelFacts::of(&model)).unwrap();
    let report = scrimp::run(&model, &properties, &plan, &control).unwrap();
    assert!(report.limit == Some(Limit::Interrupt) && report.store.as_deref() == Some("table"));
    let saved = file.to_string_lossy().into_owned();
    let words = ["check", &path, "-p", "invariant: true", "--json", "--resume", &saved];
    let json = command::scrimp(&[&words[..], &["--memory", "22M"]].concat()).code(0).json();
    let _ = std::fs::remove_file(&file);
    assert_eq!((&json["states"], &json["transitions"]), (&194_481.into(), &740_880.into()));
    assert!(json["plan"]["decisions"].to_string().contains("went to a tree"), "{}", json["plan"]["decisions"]);
}
