//! Random small nets: however their markings are kept, however their transitions are run, and however they are searched,
//! what is found is what firing finds.
//!
//! `SCRIMP_TEST_NETS` is the number of nets, and `SCRIMP_TEST_SEED` the first seed.

use crate::common::nets::{Graph, net, shown};
use crate::common::{Way, model, successors, ways};
use scrimp::nets::{PetriNet, Structure};
use scrimp::plan::{OrderChoice, ReduceChoice};
use scrimp::{Batch, Control, Fault, Mode, Model, ModelFacts, NativeModel, Options, Plan, Question, System};
use scrimp_net::{Arc, Marking, Net, Place, Transition};
use std::collections::{BTreeSet, HashMap};

/// Markings of a net that are looked at.
const MOST: usize = 400;
/// Tokens for which a place has room at first where no bound is known. No net of the test begins with more than half.
const FIRST_GUESS: u64 = 15;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn seeds(usual: u64) -> std::ops::Range<u64> {
    let first = number("SCRIMP_TEST_SEED", 0);
    first..first + number("SCRIMP_TEST_NETS", usual)
}

/// All that decides how markings are kept, in every combination.
fn structures() -> Vec<Structure> {
    let parts = (0..8).map(|bits| Structure {
        bounds: bits & 1 != 0,
        groups: bits & 2 != 0,
        implied: bits & 4 != 0,
        ..Structure::NONE
    });
    parts.collect()
}

fn marking(model: &NativeModel, state: &[u8]) -> Marking {
    let tokens = |view: &scrimp_system::ViewOf| {
        let tokens = model.layout().eval(&view.value, state).expect("tokens can be counted");
        u64::try_from(tokens).expect("no place has fewer than no tokens")
    };
    model.system().views.iter().map(tokens).collect()
}

/// Compares the successors of every state with the firings of its marking.
fn same_firings(net: &Net, petri: &PetriNet, graph: &Graph, mode: Mode) -> Result<(), String> {
    let mut system = System::clone(&petri.lowered().map_err(|e| e.to_string())?.system);
    // A model that has met a marking without room would say nothing more.
    system.guessed = false;
    let model = model(&std::sync::Arc::new(system), mode);
    let mut initial = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    let mut states: HashMap<usize, Vec<u8>> = HashMap::from([(0, initial.state(0).to_vec())]);
    for at in 0..graph.firings.len() {
        // What only a firing without room leads to has no state.
        let Some(state) = states.get(&at).cloned() else { continue };
        if marking(&model, &state) != graph.markings[at] {
            return Err(format!("{:?} stands for {:?}", graph.markings[at], marking(&model, &state)));
        }
        let found = successors(&model, &state);
        let mut events = BTreeSet::new();
        for i in 0..found.len() {
            if !events.insert(found.event(i)) {
                return Err(format!("t{} fires twice in {:?}", found.event(i), graph.markings[at]));
            }
            let Some(&(_, next)) = graph.firings[at].iter().find(|(t, _)| *t == found.event(i)) else {
                return Err(format!("t{} fires in {:?}", found.event(i), graph.markings[at]));
            };
            let known = states.entry(next).or_insert_with(|| found.state(i).to_vec());
            if known != found.state(i) {
                return Err(format!("{:?} has two states", graph.markings[next]));
            }
        }
        for fault in found.faults() {
            let firing = graph.firings[at].iter().find(|(t, _)| *t == fault.event);
            let too_many =
                |next: &Marking| next.iter().zip(&petri.bounds).any(|(&n, bound)| bound.is_none() && n > FIRST_GUESS);
            let justly = firing.is_some_and(|&(_, next)| too_many(&graph.markings[next]));
            if !justly || fault.fault != Fault::Range || !events.insert(fault.event) {
                return Err(format!("t{} is a fault in {:?}: {:?}", fault.event, graph.markings[at], fault.fault));
            }
        }
        if let Some((t, _)) = graph.firings[at].iter().find(|(t, _)| !events.contains(t)) {
            return Err(format!("t{t} does not fire in {:?}", graph.markings[at]));
        }
    }
    let bounds = net.places.iter().enumerate().filter_map(|(p, _)| Some((p, petri.bounds[p]?)));
    for (place, bound) in bounds {
        if let Some(marking) = graph.markings.iter().find(|marking| marking[place] > bound) {
            return Err(format!("p{place} has more than {bound} tokens in {marking:?}"));
        }
    }
    Ok(())
}

#[test]
fn however_markings_are_kept() {
    let (mut complete, mut special, mut grouped, mut implied) = (0, 0, 0, 0);
    for seed in seeds(400) {
        let net = net(seed);
        let graph = Graph::new(&net, MOST);
        complete += graph.is_ok() as u64;
        special += !net.is_ordinary() as u64;
        let graph = graph.unwrap_or_else(|part| part);
        for structure in structures() {
            let petri = PetriNet::new(net.clone(), "random".into(), structure);
            grouped += (structure.groups && petri.told().contains("with one token at most")) as u64;
            implied += (structure.implied && petri.told().contains("implied by others")) as u64;
            let plain = structure == Structure::NONE || structure == structures()[7];
            let modes = if plain { &[Mode::Auto, Mode::Compiled, Mode::Interpreted][..] } else { &[Mode::Auto] };
            for &mode in modes {
                if let Err(error) = same_firings(&net, &petri, &graph, mode) {
                    panic!("seed {seed}, {mode:?}, {structure}: {error}\n{}\n{}", petri.told(), shown(&net));
                }
            }
        }
    }
    let seen = seeds(400).count() as u64;
    assert!(complete * 3 > seen && complete < seen, "{complete} of {seen} are small");
    assert!(special * 6 > seen && grouped * 20 > seen && implied * 20 > seen, "{special}, {grouped}, {implied}");
}

/// Other ways to search than those by order, mode and threads. Each visits every state.
fn searches(states: usize) -> Vec<Options> {
    let forgetters = [format!("cache:{}", states / 2 + 2), "pseudo-root".into(), "none".into()];
    let mut all = Vec::new();
    for order in [OrderChoice::BreadthFirst, OrderChoice::DepthFirst] {
        for store in ["packed", "tree", "collapse", "dfa", "comback"] {
            let store = Some(store.parse().expect("a store"));
            all.push(Options { store, order: Some(order), ..Options::default() });
        }
        for forget in &forgetters {
            for reduce in ["none", "edge-lean"] {
                let (forget, reduce) = (forget.parse().expect("a forgetter"), reduce.parse().expect("a reduction"));
                all.push(Options { forget, reduce, order: Some(order), audit: true, ..Options::default() });
            }
        }
    }
    for options in &mut all {
        (options.threads, options.memory) = (1, Some(16 << 30));
        options.visits = Some(100 * states as u64 + 1000);
    }
    all.retain(|options| Plan::admit(options).is_ok());
    all
}

/// Works with a model that has room for all markings.
fn roomy<T>(mut petri: PetriNet, mode: Mode, mut work: impl FnMut(&NativeModel) -> T) -> T {
    loop {
        let lowered = petri.lowered().expect("there are not so many tokens");
        let mut model = model(&lowered.system, mode);
        model.watch_tokens();
        let result = work(&model);
        if !petri.widen(&model) {
            return result;
        }
    }
}

#[test]
fn however_they_are_searched() {
    let (mut searched, mut backwards) = (0, 0);
    for seed in seeds(250) {
        let net = net(seed);
        let Ok(graph) = Graph::new(&net, MOST) else { continue };
        let expected = (graph.markings.len() as u64, graph.transitions() as u64, graph.deadlocks() as u64);
        let everywhere: Vec<u32> = (0..net.places.len() as u32).collect();
        let in_place = everywhere.iter().map(|&place| graph.most(&[place])).max().unwrap_or(0);
        let tokens = (in_place, graph.most(&everywhere));
        let structure = structures()[seed as usize % 8];
        let petri = PetriNet::new(net.clone(), "random".into(), structure);
        let context = |what: &dyn std::fmt::Debug| format!("seed {seed}, {structure}, {what:?}\n{}", shown(&net));
        let mut ways = ways();
        ways.extend([1, 2].map(|threads| Way { threads, mode: Mode::Auto, ..Way::PLAIN }));
        for way in ways {
            roomy(petri.clone(), way.mode, |model| {
                let report = scrimp::run(model, &[], &way.plan(&[], false), &Control::new(None));
                if model.outgrown().is_some() {
                    return;
                }
                let report = report.expect("the search can begin");
                let facts = &report.facts;
                assert!(report.exhaustive, "{}", context(&way));
                assert_eq!((facts.states, facts.transitions, facts.deadlocks), expected, "{}", context(&way));
                assert!(
                    model.most_tokens().is_none_or(|most| most == tokens),
                    "{:?}, not {tokens:?}: {}",
                    model.most_tokens(),
                    context(&way)
                );
                assert!(way.mode != Mode::Auto || model.most_tokens().is_some(), "{}", context(&way));
            });
        }
        for options in searches(graph.markings.len()) {
            roomy(petri.clone(), Mode::Auto, |model| {
                let plan = Plan::of(&options, Question::count(), &ModelFacts::default()).expect("the plan is sound");
                let Ok(report) = scrimp::run(model, &[], &plan, &Control::new(None)) else {
                    let unsuited = model.suits_predecessors().is_err();
                    assert!(unsuited || model.outgrown().is_some(), "{}", context(&options));
                    return;
                };
                if model.outgrown().is_some() || report.limit.is_some() {
                    return;
                }
                searched += 1;
                let facts = &report.facts;
                if report.once {
                    let transitions =
                        if options.reduce == ReduceChoice::Nothing { expected.1 } else { facts.transitions };
                    let expected = (expected.0, transitions, expected.2);
                    assert_eq!((facts.states, facts.transitions, facts.deadlocks), expected, "{}", context(&options));
                }
                if let Some(audited) = &report.audited {
                    assert_eq!(*audited, expected.0, "{}", context(&options));
                }
            });
        }
        for mode in [Mode::Auto, Mode::Interpreted] {
            // States that are not reachable may have no room; a model that has met one would say nothing more.
            let lowered = petri.lowered().expect("there are not so many tokens");
            let mut system = System::clone(&lowered.system);
            system.guessed = false;
            let same = same_predecessors(&model(&std::sync::Arc::new(system), mode), &graph);
            backwards += same.unwrap_or_else(|e| panic!("{e} {}", context(&mode))) as u64;
        }
    }
    assert!(searched > 1000 && backwards > 100, "{searched}, {backwards}");
}

/// Tokens that run out, each on its way through places of which it is in one at most: wherever in a state they are kept, all
/// are counted.
#[test]
fn tokens_of_every_group_are_counted() {
    let mut net = Net::default();
    for place in 0..20u32 {
        let initial = (place % 5 == 0) as u64;
        net.places.push(Place { name: format!("p{place}"), initial, ..Place::default() });
        let one = |place| vec![Arc { place, weight: 1 }];
        let outputs = if place % 5 == 4 { vec![] } else { one(place + 1) };
        net.transitions.push(Transition { inputs: one(place), outputs, ..Transition::default() });
    }
    let petri = PetriNet::new(net, "rows".into(), structures()[7]);
    assert!(petri.told().contains("with one token at most"), "{}", petri.told());
    roomy(petri, Mode::Auto, |model| {
        let report = scrimp::run(model, &[], &Way::PLAIN.plan(&[], false), &Control::new(None)).expect("it can begin");
        assert_eq!((report.facts.states, model.most_tokens()), (1296, Some((1, 4))));
    });
}

/// All markings that lead to a marking are among its predecessors, and each of these leads there.
fn same_predecessors(model: &NativeModel, graph: &Graph) -> Result<bool, String> {
    let mut states: Vec<Option<Vec<u8>>> = vec![None; graph.markings.len()];
    let mut initial = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    states[0] = Some(initial.state(0).to_vec());
    let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); graph.markings.len()];
    for at in 0..graph.markings.len() {
        let found = successors(model, states[at].as_ref().ok_or("a marking without a state")?);
        if !found.faults().is_empty() {
            // There will be more room.
            return Ok(false);
        }
        for &(t, next) in &graph.firings[at] {
            before[next].insert(at);
            let number = (0..found.len()).find(|&i| found.event(i) == t).ok_or("a transition that does not fire")?;
            states[next] = Some(found.state(number).to_vec());
        }
    }
    if model.suits_predecessors().is_err() {
        return Ok(false);
    }
    for (at, state) in states.iter().enumerate() {
        let state = state.as_ref().ok_or("a marking without a state")?;
        let mut found = Batch::new(model.state_bytes());
        model.predecessors(state, &mut found).map_err(|e| e.to_string())?;
        let all: BTreeSet<&[u8]> = (0..found.len()).map(|i| found.state(i)).collect();
        if all.len() < found.len() {
            return Err(format!("{:?} has a predecessor twice", graph.markings[at]));
        }
        if let Some(&missing) = before[at].iter().find(|&&b| !all.contains(&states[b].as_deref().unwrap_or(&[]))) {
            return Err(format!("{:?} does not come before {:?}", graph.markings[missing], graph.markings[at]));
        }
        for i in 0..found.len() {
            let after = successors(model, found.state(i));
            if !(0..after.len()).any(|j| after.event(j) == found.event(i) && after.state(j) == &state[..]) {
                let from = marking(model, found.state(i));
                return Err(format!("t{} does not lead from {from:?} to {:?}", found.event(i), graph.markings[at]));
            }
        }
    }
    Ok(true)
}
