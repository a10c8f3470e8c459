//! The text for a card, run on the threads of a processor (or, with the feature `gpu-tests`, on a card), against a plain breadth-first search: the same states, transitions,
//! levels, deadlocks and faults, the same verdicts, and shortest runs. All models of ours, and random systems in which much goes
//! wrong.

#[path = "../../../../tests/common/faulty.rs"]
#[allow(dead_code)]
mod faulty;
#[path = "../../../../tests/common/plain_search.rs"]
#[allow(dead_code)]
mod plain_search;

use plain_search::reference;
use scrimp_checker::Loaded;
use scrimp_core::{Control, Property, PropertyKind, Verdict};
use scrimp_gpu::{Card, Device, GpuReport, Host, Options, run};
use scrimp_native::{Mode, NativeModel};
use scrimp_system::{Expr, Random};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// States that are compared, at most.
const MOST: usize = 20_000;
const MEMORY: usize = 64 << 20;

fn on_device(model: &NativeModel, goals: &[Property<Expr>], threads: usize, memory: usize) -> io::Result<GpuReport> {
    let mut device: Box<dyn Device> = match cfg!(feature = "gpu-tests") {
        true => Box::new(Card::new(0).unwrap_or_else(|why| panic!("{why}"))),
        false => Box::new(Host::new(threads).unwrap_or_else(|why| panic!("{why}"))),
    };
    let options = Options { memory, beside: memory, keep_going: true };
    run(model, model.system(), model.layout(), goals, &options, &Control::new(None), &mut *device)
}

/// Holds a run of the text against the plain search, unless that is too long.
fn compare(name: &str, model: &NativeModel, goals: &[Property<Expr>], threads: usize) -> io::Result<()> {
    let Some(expected) = reference(model, goals, MOST) else { return Ok(()) };
    let report = on_device(model, goals, threads, MEMORY)?;
    assert!(!report.outgrown, "{name}");
    let all = goals.iter().all(|goal| goal.finding_violates()) || goals.is_empty();
    // A search that has decided all ends early.
    let over = !goals.is_empty() && expected.decided.iter().all(Option::is_some);
    if !over && all {
        assert!(report.exhaustive, "{name}: {:?} {:?}", report.limit, report.remarks);
        let facts = &report.facts;
        assert_eq!(facts.level_sizes, expected.widths, "{name}");
        let counted = [facts.transitions, facts.deadlocks, facts.faults, facts.max_out_degree];
        let wanted = [expected.transitions, expected.deadlocks, expected.faults, expected.degree];
        assert_eq!(counted, wanted, "{name}: transitions, deadlocks, faults, degree");
    }
    for ((goal, result), decided) in goals.iter().zip(&report.properties).zip(&expected.decided) {
        let what = format!("{name}: {}: {:?} {:?}", goal.name, decided, report.remarks);
        let verdict = match (decided.is_some(), goal.finding_violates()) {
            (true, true) | (false, false) => Verdict::Violated,
            _ => Verdict::Verified,
        };
        assert_eq!(result.verdict, verdict, "{what}");
        if let Some(level) = decided {
            let trace = result.trace.as_ref().unwrap_or_else(|| panic!("{what}: no run"));
            assert_eq!(trace.steps.len(), *level, "{what}: length of the run");
            assert_eq!(Some(trace.last()), result.state.as_deref(), "{what}");
        }
    }
    Ok(())
}

fn usual() -> Vec<Property<Expr>> {
    vec![Property::deadlock(), Property::faults(), Property::assertions()]
}

/// Is there a compiler? Without one, says that nothing was compared.
fn can_compile() -> bool {
    let can = cfg!(feature = "gpu-tests") || Host::find().is_ok();
    if !can {
        eprintln!("skipped: there is no compiler for C++");
    }
    can
}

#[test]
fn models_agree() {
    if !can_compile() {
        return;
    }
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("models").map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| ["dve", "pml", "network", "pnml"].iter().any(|x| e == *x)));
    paths.retain(|path| !path.ends_with("unbounded.pnml"));
    paths.sort();
    assert!(paths.len() > 70);
    for path in paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut loaded = Loaded::open(&path).unwrap_or_else(|error| panic!("{error}"));
        loaded
            .with_model(Mode::Auto, |model| {
                compare(&name, model, &[], 2)?;
                compare(&name, model, &usual(), 2)
            })
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn random_systems_agree() {
    if !can_compile() {
        return;
    }
    let mut refused = 0;
    for seed in 0..60 {
        let special = seed % 2 == 1;
        let system = Arc::new(faulty::system(seed, special));
        let model = NativeModel::new(system.clone(), Mode::Interpreted).expect("a model");
        let mut random = Random(seed);
        let mut goals = usual();
        for number in 0..2 {
            let condition = faulty::expression(&mut random, &system, 2);
            goals.push(Property::new(format!("i{number}"), PropertyKind::Invariant(condition.clone())));
            goals.push(Property::new(format!("r{number}"), PropertyKind::Reach(condition)));
        }
        let name = format!("seed {seed}");
        match compare(&name, &model, &[], 1).and_then(|()| compare(&name, &model, &goals, 2)) {
            Ok(()) => {}
            // Processes that go round for ever are not followed.
            Err(error) if special && error.to_string().contains("an atomic sequence has more steps") => refused += 1,
            Err(error) => panic!("{name}: {error}"),
        }
    }
    assert!(refused < 10, "{refused} of 30");
}

/// Processes that each count up, in a state of some hundred bits.
fn wide(processes: usize, most: usize) -> String {
    let process = |p: usize| {
        format!(
            "process P_{p} {{ byte x, a[{most}]; state s, t; init s; trans s -> t {{ guard x < {most}; effect a[x] = 255 - x, \
             x = x + 1; }}, t -> s {{}}; }}\n"
        )
    };
    (0..processes).map(process).collect::<String>() + "system async;\n"
}

/// States too wide for a slot are kept as the numbers of their parts.
#[test]
fn wide_states_agree() {
    if !can_compile() {
        return;
    }
    let path = std::env::temp_dir().join(format!("scrimp-wide-{}.dve", std::process::id()));
    for (processes, most) in [(2, 20), (3, 9), (5, 2)] {
        std::fs::write(&path, wide(processes, most)).expect("a file");
        let mut loaded = Loaded::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let compare = |model: &NativeModel| {
            compare(&format!("{processes} processes"), model, &[], 2).expect("it can be run");
            on_device(model, &[], 1, MEMORY).expect("it can be run").state_bits
        };
        let bits = loaded.with_model(Mode::Auto, compare).expect("a model");
        assert!(bits > 80, "{bits}");
    }
    let _ = std::fs::remove_file(path);
}

/// A search that runs out of memory says so, and decides nothing by what it has not seen.
#[test]
fn memory_is_a_limit() {
    if !can_compile() {
        return;
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/phils8.dve");
    let mut loaded = Loaded::open(&path).unwrap_or_else(|error| panic!("{error}"));
    let check = |model: &NativeModel| {
        for memory in [100 << 10, 400 << 10, 800 << 10, 3 << 20] {
            let report = on_device(model, &[Property::faults()], 2, memory).expect("it can be run");
            assert!(report.peak_bytes <= memory, "{} of {memory}", report.peak_bytes);
            assert_eq!(report.exhaustive, report.limit.is_none(), "{memory}");
            let verdict = if report.exhaustive { Verdict::Verified } else { Verdict::Undecided };
            assert_eq!(report.properties[0].verdict, verdict, "{memory}");
        }
    };
    loaded.with_model(Mode::Auto, check).expect("a model");
}
