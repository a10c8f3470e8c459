//! Predecessors, held against successors: a state comes before another if and only if that comes after it.

use crate::common::backwards::{check, states};
use crate::common::random::{Shape, text};
use crate::common::shared::{self, Mixture};
use crate::common::{faulty, manifest, model};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scrimp::nets::{PetriNet, Structure};
use scrimp::{Batch, Mode, Model, NativeModel, System};
use scrimp_native::Limits;
use scrimp_net::{Arc, Net, Place, Transition};
use scrimp_system::Source;
use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

type Shared = std::sync::Arc<System>;

fn load(path: &Path) -> Shared {
    Shared::new(scrimp::load(path).unwrap_or_else(|e| panic!("{e}")))
}

fn models() -> Vec<(String, Shared)> {
    let folder = std::fs::read_dir(manifest().join("models")).expect("there is a folder of models");
    let mut paths: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| ["dve", "pnml", "pml"].iter().any(|known| e == *known)));
    // Without a bound on its states there is no end to it.
    paths.retain(|path| !path.ends_with("unbounded.pnml"));
    paths.sort();
    paths.into_iter().map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), load(&path))).collect()
}

#[test]
fn every_model() {
    let mut suited = 0;
    for (name, system) in models() {
        let fast = if name.ends_with(".pnml") { Mode::Auto } else { Mode::Compiled };
        let (compiled, oracle) = (model(&system, fast), model(&system, Mode::Interpreted));
        let Some(all) = states(&compiled, 20_000) else { continue };
        if let Err(why) = compiled.suits_predecessors() {
            println!("{name}: {why}");
            assert_eq!(compiled.predecessors(&all[0], &mut Batch::new(all[0].len())), Err(why));
            continue;
        }
        suited += 1;
        check(&compiled, &oracle, &all).unwrap_or_else(|e| panic!("{name}: {e}"));
        if all.len() < 5_000 {
            check(&oracle, &oracle, &all).unwrap_or_else(|e| panic!("{name}, interpreted: {e}"));
        }
    }
    assert!(suited >= 40, "only {suited} models can be run backwards");
}

#[test]
fn random_systems() {
    let suited = Cell::new(0);
    let config = Config { cases: 1000, failure_persistence: None, max_shrink_iters: 1000, ..Config::default() };
    let shape = Shape { processes: (2, 3), independent: 2 };
    let result = TestRunner::new(config).run(&text(shape), |text| {
        let system = scrimp_lang::parse_dve(Source::new("random.dve", text.0.as_str()));
        let system = Shared::new(system.map_err(|e| TestCaseError::fail(e.to_string()))?);
        let oracle = model(&system, Mode::Interpreted);
        let Some(all) = states(&oracle, 3_000).filter(|_| oracle.suits_predecessors().is_ok()) else { return Ok(()) };
        suited.set(suited.get() + 1);
        check(&oracle, &oracle, &all).map_err(TestCaseError::fail)?;
        if all.len() > 20 {
            check(&model(&system, Mode::Compiled), &oracle, &all).map_err(TestCaseError::fail)?;
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    assert!(suited.get() > 300, "only {} systems can be run backwards", suited.get());
}

#[test]
fn systems_with_faults() {
    let mut suited = 0;
    for seed in 0..1500 {
        let system = Shared::new(faulty::system(seed, false));
        let oracle = model(&system, Mode::Interpreted);
        let Some(all) = states(&oracle, 500).filter(|_| oracle.suits_predecessors().is_ok()) else { continue };
        suited += 1;
        check(&oracle, &oracle, &all).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if seed % 10 == 0 {
            check(&model(&system, Mode::Compiled), &oracle, &all).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        }
    }
    assert!(suited > 300, "only {suited} systems can be run backwards");
}

/// Systems with late events and with processes that go on by themselves.
#[test]
fn systems_with_steps_in_a_row() {
    let mut suited = 0;
    for seed in 0..600 {
        let system = match seed % 3 {
            0 => faulty::system(seed, true),
            _ => shared::system(seed, Mixture { processes: 2 + seed as usize % 2, special: true }),
        };
        let system = Shared::new(system);
        // What goes on for ever is soon given up.
        let limits = Limits { steps: 100, ..Limits::default() };
        let model = |mode| NativeModel::with_limits(system.clone(), mode, limits).expect("the system can be run");
        let oracle = model(Mode::Interpreted);
        let Some(all) = states(&oracle, 200).filter(|_| oracle.suits_predecessors().is_ok()) else { continue };
        suited += 1;
        check(&oracle, &oracle, &all).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if seed % 10 == 0 {
            check(&model(Mode::Compiled), &oracle, &all).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        }
    }
    assert!(suited > 200, "only {suited} systems can be run backwards");
}

fn arcs(places: u32, most: usize) -> impl Strategy<Value = Vec<Arc>> {
    let weight = prop_oneof![5 => Just(1u64), 1 => Just(2)];
    btree_map(0..places, weight, 1..=most)
        .prop_map(|arcs| arcs.into_iter().map(|(place, weight)| Arc { place, weight }).collect())
}

/// Small nets, some with inhibitor and reset arcs.
fn nets() -> impl Strategy<Value = Net> {
    let transition = |places: u32| {
        let balanced = (1..=3usize).prop_flat_map(move |n| (arcs(places, n), arcs(places, n)));
        let special = (0..16u32, 0..places, 1..3u64);
        (balanced, special).prop_map(|((inputs, outputs), (special, place, weight))| {
            let inhibitors = if special == 0 { vec![Arc { place, weight }] } else { vec![] };
            let resets = if special == 1 { vec![place] } else { vec![] };
            Transition { inputs, outputs, inhibitors, resets, ..Transition::default() }
        })
    };
    (2u32..8).prop_flat_map(move |places| {
        let marks = vec(prop_oneof![3 => Just(0u64), 3 => Just(1), 1 => Just(3)], places as usize);
        (marks, vec(transition(places), 1..9)).prop_map(|(marks, transitions)| Net {
            places: (0..).zip(marks).map(|(n, initial)| Place { name: format!("p{n}"), initial, line: 0 }).collect(),
            transitions,
            ..Net::default()
        })
    })
}

/// Nets, however their places are kept: nothing that leads to a state is missing, and nothing is there twice.
#[test]
fn random_nets() {
    let (suited, pruned) = (Cell::new(0), Cell::new(0));
    let config = Config { cases: 2000, failure_persistence: None, ..Config::default() };
    let structures = prop_oneof![4 => Just("all"), 1 => Just("bounds"), 1 => Just("none"), 1 => Just("-groups")];
    let result = TestRunner::new(config).run(&(nets(), structures), |(net, structure)| {
        let structure: Structure = structure.parse().map_err(TestCaseError::fail)?;
        let mut net = PetriNet::new(net, "random".into(), structure);
        for _ in 0..3 {
            let system = net.lowered().map_err(|e| TestCaseError::fail(e.to_string()))?.system.clone();
            // What comes before and is not reachable may have no room; a model that has met that would say nothing more.
            let mut plain = System::clone(&system);
            plain.guessed = false;
            let (quick, oracle) = (model(&system, Mode::Auto), model(&Shared::new(plain), Mode::Interpreted));
            let Some(all) = states(&quick, 2_000) else { break };
            if net.widen(&quick) {
                continue;
            }
            if quick.suits_predecessors().is_ok() {
                suited.set(suited.get() + 1);
                check(&quick, &oracle, &all).map_err(TestCaseError::fail)?;
                let known = system.known.of(&system);
                pruned.set(pruned.get() + (known.sums.len() + known.apart.iter().flatten().count() > 0) as u32);
            }
            break;
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    let (suited, pruned) = (suited.get(), pruned.get());
    assert!(suited > 500 && pruned > 200, "only {suited} nets can be run backwards, of {pruned} something is known");
}

/// Every model of a folder named by `SCRIMP_MODELS`: can it be run backwards, and at what price?
#[test]
#[ignore = "needs a folder of models"]
fn survey() {
    let folder = std::env::var("SCRIMP_MODELS").expect("SCRIMP_MODELS names a folder");
    let most = std::env::var("SCRIMP_TEST_STATES").map_or(300_000, |n| n.parse().expect("a number of states"));
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "dve"));
    paths.sort();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let Ok(system) = scrimp::load(&path) else { continue };
        let start = Instant::now();
        let inverse = match scrimp_system::inverse(&system) {
            Ok(inverse) => inverse,
            Err(why) => {
                println!("{name}: {why} [{:?}]", start.elapsed());
                continue;
            }
        };
        let took = start.elapsed();
        let sizes = format!("{} events, {} inverse, {took:?}", system.events.len(), inverse.system.events.len());
        let model = model(&Shared::new(system), Mode::Compiled);
        let Some(all) = states(&model, most) else {
            println!("{name}: suited, {sizes}, large");
            continue;
        };
        let start = Instant::now();
        model.suits_predecessors().unwrap();
        let compiling = start.elapsed();
        let time = |run: &dyn Fn(&[u8], &mut Batch)| -> (Duration, usize) {
            let mut batch = Batch::new(model.state_bytes());
            let pass = |batch: &mut Batch| {
                let (start, mut count) = (Instant::now(), 0);
                for s in &all {
                    batch.clear();
                    run(s, batch);
                    count += batch.len();
                }
                (start.elapsed(), count)
            };
            (0..5).map(|_| pass(&mut batch)).min().unwrap_or_default()
        };
        let (forwards, after) = time(&|s, out| model.expand(s, out));
        let (backwards, before) = time(&|s, out| model.predecessors(s, out).unwrap());
        let per = |n: usize| n as f64 / all.len() as f64;
        println!(
            "{name}: suited, {sizes}, compiled {compiling:?}, {} states, in-degree {:.2}, predecessors {:.2}, \
             time ratio {:.2}",
            all.len(),
            per(after),
            per(before),
            backwards.as_secs_f64() / forwards.as_secs_f64().max(1e-9)
        );
    }
}
