//! Searching on disk: all models and random systems, with so little memory that everything spills and merges, must give what
//! the plain search gives, shortest traces among it.

use crate::common;
use crate::common::command::{counters, file, model as path, scratch, scrimp, start};
use crate::common::random::{Shape, text};
use crate::common::{Way, files, model, replay};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scrimp::plan::StoreChoice;
use scrimp::{
    Control, GraphFacts, Mode, ModelFacts, NativeModel, Options, Plan, Property, Question, Report, properties,
};
use scrimp_core::{Budget, Condition};
use scrimp_search::check;
use scrimp_search::external::{External, Sizes};
use std::sync::Arc;

const TINY: Sizes =
    Sizes { buffer: 20_000, recent: 5_000, aids: 10_000, fan: 4, read: 1000, share: 50, disk: u64::MAX };

/// What the plain search says, but for what a search on disk does not learn.
fn expected(model: &NativeModel) -> GraphFacts {
    let facts = Way::PLAIN.run(model, &[], false).facts;
    GraphFacts { max_in_degree: None, back_level_edges: None, longest_back_level_edge: None, ..facts }
}

fn count(model: &NativeModel, sizes: Sizes, threads: usize) -> GraphFacts {
    let budget = Arc::new(Budget::new(8 << 30));
    let mut external = External::new(model, &std::env::temp_dir(), false, &budget, Some(sizes)).unwrap();
    external.use_threads(threads);
    external.search(&check::Nothing, &Control::new(None), &|_| None).facts
}

#[test]
fn all_models_are_counted() {
    for file in files() {
        let model = model(&file.system, file.mode());
        let expected = expected(&model);
        assert_eq!((expected.states, expected.transitions), (file.facts.states, file.facts.transitions));
        for threads in [1, 2, 4] {
            assert_eq!(count(&model, TINY, threads), expected, "{} with {threads} threads", file.name);
        }
    }
}

fn on_disk(model: &NativeModel, properties: &[Property<Condition>], threads: usize) -> Report {
    let store = Some(StoreChoice::Disk(Default::default()));
    let options = Options { store, memory: Some(1 << 30), keep_going: true, threads, ..Options::default() };
    let plan = Plan::new(&options, properties, &ModelFacts::of(model)).unwrap();
    scrimp::run(model, properties, &plan, &Control::new(None)).unwrap()
}

#[test]
fn all_models_are_checked_with_shortest_traces() {
    let mut traces = 0;
    for file in files() {
        let model = model(&file.system, file.mode());
        let mut properties = properties::all(&model);
        properties.extend(file.facts.properties.iter().map(|expected| common::property(&model, &expected.text)));
        let plain = Way::PLAIN.run(&model, &properties, true);
        let disk = on_disk(&model, &properties, 3);
        for ((property, plain), disk) in properties.iter().zip(&plain.properties).zip(&disk.properties) {
            assert_eq!(disk.verdict, plain.verdict, "{}: {}", file.name, plain.name);
            let steps = |trace: &Option<scrimp::Trace>| trace.as_ref().map(|trace| trace.steps.len());
            assert_eq!(steps(&disk.trace), steps(&plain.trace), "{}: {}", file.name, plain.name);
            if let Some(trace) = &disk.trace {
                replay(&model, trace, property).unwrap_or_else(|e| panic!("{}: {}: {e}", file.name, plain.name));
                traces += 1;
            }
        }
    }
    assert!(traces > 20, "only {traces} traces");
}

#[test]
fn random_systems() {
    for (cases, shape) in
        [(300, Shape { processes: (2, 3), independent: 0 }), (20, Shape { processes: (4, 4), independent: 9 })]
    {
        let config = Config { cases, failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
        let result = TestRunner::new(config).run(&text(shape), |text| {
            let system = text.system();
            let system = Arc::new(system.map_err(|e| TestCaseError::fail(e.to_string()))?);
            let model = model(&system, Mode::Interpreted);
            let options = Options { visits: Some(50_000), ..Options::default() };
            let few = scrimp::run(
                &model,
                &[],
                &Plan::of(&options, Question::count(), &ModelFacts::default()).unwrap(),
                &Control::new(None),
            )
            .unwrap();
            if !few.exhaustive {
                return Err(TestCaseError::reject("too many states"));
            }
            let expected = expected(&model);
            for threads in [1, 2, 4] {
                proptest::prop_assert_eq!(&count(&model, TINY, threads), &expected);
            }
            Ok(())
        });
        if let Err(failure) = result {
            panic!("{failure}");
        }
    }
}

/// Deadlocks and faults at any depth have shortest traces in random systems too.
#[test]
fn verdicts_of_random_systems() {
    let config = Config { cases: 150, failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    let shape = Shape { processes: (2, 3), independent: 0 };
    let result = TestRunner::new(config).run(&text(shape), |text| {
        let system = text.system();
        let model = model(&Arc::new(system.unwrap()), Mode::Interpreted);
        let properties = [Property::deadlock(), Property::faults()];
        let time = std::time::Duration::from_secs(2);
        let options = Options { keep_going: true, ..Options::default() };
        let plan = Plan::new(&options, &properties, &ModelFacts::of(&model)).unwrap();
        let plain = scrimp::run(&model, &properties, &plan, &Control::new(Some(time))).unwrap();
        if plain.limit.is_some() || plain.facts.states > 50_000 {
            return Err(TestCaseError::reject("too many states"));
        }
        let disk = on_disk(&model, &properties, 2);
        for ((property, plain), disk) in properties.iter().zip(&plain.properties).zip(&disk.properties) {
            proptest::prop_assert_eq!(disk.verdict, plain.verdict);
            let steps = |trace: &Option<scrimp::Trace>| trace.as_ref().map(|trace| trace.steps.len());
            proptest::prop_assert_eq!(steps(&disk.trace), steps(&plain.trace));
            if let Some(trace) = &disk.trace {
                replay(&model, trace, property).map_err(TestCaseError::fail)?;
            }
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

#[test]
fn the_command_searches_on_disk() {
    let dir = scratch("on_disk");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir(&dir).unwrap();
    let store = format!("disk:{}", dir.display());
    let json = scrimp(&["count", &path("peterson3.dve"), "--store", &store, "--json"]).code(0).json();
    let table = scrimp(&["count", &path("peterson3.dve"), "--json"]).code(0).json();
    for fact in ["states", "transitions", "deadlocks", "levels", "widest_level", "max_out_degree", "visits", "open"] {
        assert_eq!(json[fact], table[fact], "{fact}");
    }
    let answer = scrimp(&["check", &path("phils3.dve"), "--store", &store]).code(1);
    assert!(answer.stdout.contains("a shortest run"), "{}", answer.stdout);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "files are left behind");
}

/// What a killed search leaves behind is removed by the next one, and what another one uses is not.
#[test]
fn remains_of_killed_searches_are_removed() {
    let dir = scratch("disk_remains");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir(&dir).unwrap();
    let store = format!("disk:{}", dir.display());
    let (large, small) = (file("disk_killed.dve", counters(4, 40, 6)), path("peterson3.dve"));
    let entries = || std::fs::read_dir(&dir).unwrap().count();
    let mut long = [0, 1].map(|others| {
        let child = start(&["count", &large, "--store", &store]);
        while entries() == others {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child
    });
    long[0].kill().unwrap();
    long[0].wait().unwrap();
    assert_eq!(entries(), 2);
    scrimp(&["count", &small, "--store", &store]).code(0);
    assert_eq!(entries(), 1, "that of the search that goes on");
    long[1].kill().unwrap();
    long[1].wait().unwrap();
    scrimp(&["count", &small, "--store", &store]).code(0);
    assert_eq!(entries(), 0);
}

/// A state space that is much larger than the budget, and a limit that is reached before its end.
#[test]
fn little_memory_is_enough() {
    let large = file("disk_large.dve", counters(4, 40, 6));
    let words = ["count", &large, "--memory", "64M", "--json"];
    assert_eq!(
        scrimp(&[words.as_slice(), &["--store", "table"]].concat()).code(3).json()["limits"]["reached"],
        "memory"
    );
    let json = scrimp(&[words.as_slice(), &["--store", "disk"]].concat()).code(0).json();
    assert_eq!(json["states"], 41 * 41 * 41 * 41);
    assert_eq!(json["levels"], 161);
    let peak = json["memory_peak_bytes"].as_u64().unwrap();
    assert!(peak <= (64 << 20) / 100 * 105, "{peak}");
    let several = scrimp(&[words.as_slice(), &["--store", "disk", "--threads", "4"]].concat()).code(0).json();
    for fact in ["states", "transitions", "deadlocks", "levels", "level_sizes", "max_out_degree"] {
        assert_eq!(json[fact], several[fact], "{fact}");
    }
    let peak = several["memory_peak_bytes"].as_u64().unwrap();
    assert!(peak <= (64 << 20) / 100 * 105, "{peak} with several threads");
    let json = scrimp(&[words.as_slice(), &["--store", "disk", "--time", "300ms"]].concat()).code(3).json();
    assert_eq!(json["limits"]["reached"], "time");
    assert!(json["open"].as_u64() > Some(0));
}

/// What some threads have begun others end, with the same figures.
#[test]
fn threads_may_change_when_a_search_is_taken_up() {
    let large = file("disk_resumed.dve", counters(4, 30, 6));
    let save = scratch("disk_resumed.save").to_string_lossy().into_owned();
    let count = |threads: &str, more: &[&str]| {
        scrimp(&[["count", &large, "--store", "disk", "--json", "--threads", threads].as_slice(), more].concat())
    };
    let expected = count("1", &[]).code(0).json();
    for (before, after) in [("1", "4"), ("3", "1"), ("2", "3")] {
        let stopped = count(before, &["--memory", "64M", "--checkpoint", &save, "--time", "150ms"]).code(3).json();
        assert!(stopped["states"].as_u64() > Some(1) && stopped["open"].as_u64() > Some(0));
        let json = count(after, &["--memory", "64M", "--resume", &save]).code(0).json();
        for fact in ["states", "transitions", "deadlocks", "levels", "level_sizes", "max_out_degree", "visits", "open"]
        {
            assert_eq!(json[fact], expected[fact], "{fact}, {before} and then {after} threads");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let model = path("peterson3.dve");
    for (words, why) in [
        (["--store", "disk", "--order", "dfs"].as_slice(), "level by level"),
        (&["--store", "disk", "--forget", "cache"], "not supported with --forget cache"),
        (&["--store", "disk", "--reduce", "edge-lean"], "edge-lean"),
        (&["--store", "disk:/no/such/directory"], "there is no such folder"),
    ] {
        let message = scrimp(&[["count", &model].as_slice(), words].concat()).refused();
        assert!(message.contains(why), "{message}");
    }
}
