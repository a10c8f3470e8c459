//! Walks through models: trees of states, models that grow on the way, and traces that are gone again.

use scrimp::Loaded;
use scrimp::walk::{Run, Walk};
use scrimp_system::Random;
use std::path::Path;

fn walk(model: &str) -> Walk {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(model);
    Walk::new(Loaded::open(&path).unwrap()).unwrap()
}

#[test]
fn the_same_choice_leads_to_the_same_node() {
    let mut walk = walk("peterson3.dve");
    let root = walk.start(0).unwrap();
    let a = walk.step(root, 0).unwrap();
    let b = walk.step(root, 1).unwrap();
    assert_eq!((walk.step(root, 0).unwrap(), walk.step(root, 1).unwrap()), (a, b));
    assert_ne!(a, b);
    // Two ways round a square: the states are the same, the nodes are not.
    let there = |walk: &mut Walk, from, state: &[u8]| {
        let batch = &walk.choices(from).unwrap().batch;
        (0..batch.len()).find(|i| batch.state(*i) == state)
    };
    let c = walk.step(a, 1).unwrap();
    let state = walk.state(c).to_vec();
    let choice = there(&mut walk, b, &state).expect("the other way round");
    let d = walk.step(b, choice).unwrap();
    assert!(c != d && walk.state(c) == walk.state(d) && walk.find(walk.state(d)) == Some(c));
    assert_eq!(walk.path(d), [root, b, d]);
    assert!(walk.step(root, 999).is_err());
}

/// Every process starts another, so that room is wanted again and again; the states on the way stay what they were.
#[test]
fn what_was_visited_is_found_again_when_the_model_grows() {
    let mut walk = walk("spawn.pml");
    let root = walk.start(0).unwrap();
    let shown = |walk: &Walk, node| -> Vec<(String, String)> {
        let dead = |(_, value): &(String, String)| value != "0" && value != "-";
        walk.model().values(walk.state(node)).into_iter().filter(dead).collect()
    };
    let first = walk.random(root, 3, &mut Random(7)).unwrap();
    let before = shown(&walk, first);
    for seed in 0..20 {
        walk.random(root, 500, &mut Random(seed)).unwrap();
    }
    assert_eq!(shown(&walk, first), before);
}

/// A run is saved, read again and gone again, in every language.
#[test]
fn runs_are_gone_again() {
    for model in ["leader.pml", "alternating_bit.dve", "packing.pnml", "phils3.network", "two_phase_commit.pml"] {
        let mut walk = walk(model);
        let root = walk.start(0).unwrap();
        let end = walk.random(root, 60, &mut Random(3)).unwrap();
        let mut result = scrimp::PropertyResult::undecided("a run");
        result.trace = Some(walk.run(end));
        let trace = scrimp::report::trace::json(walk.model(), &result).unwrap();
        let mut other = self::walk(model);
        let replayed = other.replay(&Run::of(&trace).unwrap()).unwrap();
        assert_eq!(other.state(replayed.node), walk.state(end), "{model}");
        assert_eq!(other.depth(replayed.node), walk.depth(end), "{model}");
        // In the first tree it is the same way.
        assert_eq!(walk.replay(&Run::of(&trace).unwrap()).unwrap().node, end, "{model}");
    }
}

#[test]
fn a_run_of_another_model_is_refused() {
    let mut dve = walk("alternating_bit.dve");
    let root = dve.start(0).unwrap();
    let end = dve.random(root, 10, &mut Random(3)).unwrap();
    let mut result = scrimp::PropertyResult::undecided("a run");
    result.trace = Some(dve.run(end));
    let mut trace = scrimp::report::trace::json(dve.model(), &result).unwrap();
    assert!(walk("leader.pml").replay(&Run::of(&trace).unwrap()).is_err());
    // A step that changes otherwise than it says, and a loop that is none.
    trace["loop"] = 2.into();
    let lost = dve.replay(&Run::of(&trace).unwrap()).unwrap_err();
    assert!(lost.message.contains("loop"), "{}", lost.message);
    trace["loop"] = 99.into();
    assert!(Run::of(&trace).is_err());
    trace["loop"] = serde_json::Value::Null;
    trace["steps"][4]["event"] = 4_000_000_000u32.into();
    trace["steps"][4]["label"] = "nothing of this name".into();
    let lost = dve.replay(&Run::of(&trace).unwrap()).unwrap_err();
    assert!(lost.message.contains("step 5") && lost.node.is_some(), "{}", lost.message);
}

/// Places get more tokens than was guessed, one after the other.
#[test]
fn a_net_that_grows_is_found_again() {
    let text = "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
        type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\
        <place id=\"a\"/><place id=\"b\"/><place id=\"c\"/>\
        <transition id=\"ta\"/><transition id=\"tb\"/><transition id=\"tc\"/><transition id=\"less\"/>\
        <arc id=\"1\" source=\"ta\" target=\"a\"/><arc id=\"2\" source=\"tb\" target=\"b\"/>\
        <arc id=\"3\" source=\"tc\" target=\"c\"/><arc id=\"4\" source=\"a\" target=\"less\"/></page></net></pnml>";
    let path = std::env::temp_dir().join(format!("scrimp-grows-{}.pnml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let opened = scrimp::open(&path).unwrap();
    let loaded = Loaded::with_structure(opened, scrimp::nets::Structure::NONE).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut walk = Walk::new(loaded).unwrap();
    let root = walk.start(0).unwrap();
    let first = walk.random(root, 30, &mut Random(1)).unwrap();
    let before = walk.model().values(walk.state(first));
    let last = walk.random(first, 3000, &mut Random(2)).unwrap();
    assert_eq!(walk.model().values(walk.state(first)), before);
    let tokens: u64 =
        walk.model().values(walk.state(last)).iter().map(|(_, value)| value.parse::<u64>().unwrap()).sum();
    assert!(walk.depth(last) == 3030 && tokens > 1000, "{tokens}");
}

/// A run of a system that has room for all processes is gone again in one that is made larger on the way, and the other
/// way round: events have other numbers there, and variables partly other names.
#[test]
fn runs_do_not_depend_on_how_much_room_there_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/spawn.pml");
    let prepared = || Walk::new(Loaded::open(&path).unwrap()).unwrap();
    let at_once = || Walk::new(Loaded::at_once(scrimp::open(&path).unwrap()).unwrap()).unwrap();
    let seen = |walk: &Walk, node| {
        let (model, state) = (walk.model(), walk.state(node));
        let shared: Vec<_> = model.values(state).into_iter().filter(|(name, _)| !name.contains('.')).collect();
        let shared: Vec<_> = shared.into_iter().filter(|(name, _)| name == "most" || name == "results").collect();
        let standing: Vec<_> = model.standing(state).iter().map(|s| (s.process, s.name.clone(), s.number)).collect();
        (walk.depth(node), shared, standing)
    };
    for seed in 0..20 {
        let (mut one, mut other) = if seed % 2 == 0 { (prepared(), at_once()) } else { (at_once(), prepared()) };
        let root = one.start(0).unwrap();
        let end = one.random(root, 70, &mut Random(seed)).unwrap();
        let mut result = scrimp::PropertyResult::undecided("a run");
        result.trace = Some(one.run(end));
        let trace = scrimp::report::trace::json(one.model(), &result).unwrap();
        let replayed =
            other.replay(&Run::of(&trace).unwrap()).unwrap_or_else(|lost| panic!("{seed}: {}", lost.message));
        assert_eq!(seen(&other, replayed.node), seen(&one, end), "{seed}");
        assert_eq!(seen(&one, end).1.len(), 2);
    }
}
