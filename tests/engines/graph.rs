//! The reachability graph: it is the reachability graph, or behind the sweep-line an unfolding that is bisimilar to it.

use crate::common;
use crate::common::command::{file, model as path, scratch, scrimp};
use crate::common::random::{Shape, text};
use crate::common::{files, model, successors};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scrimp::lts::{Form, Lts, Wanted};
use scrimp::plan::ForgetChoice;
use scrimp::{
    Batch, Budget, Control, Describe, DescribedModel, EventCode, Guides, Mode, Model, ModelFacts, NativeModel, Options,
    Plan, Question,
};
use scrimp_search::replace;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Larger models are left out.
const MOST: usize = 30_000;

/// The graph by a breadth-first search that is too plain to be wrong; `None` when it is too large.
struct Plain {
    initial: Vec<u32>,
    lists: Vec<Vec<(u32, EventCode)>>,
    odd: Vec<bool>,
}

fn plain(model: &dyn Model) -> Option<Plain> {
    let (mut numbers, mut states) = (HashMap::new(), Vec::new());
    let number = |state: &[u8], numbers: &mut HashMap<Vec<u8>, u32>, states: &mut Vec<Vec<u8>>| {
        *numbers.entry(state.to_vec()).or_insert_with(|| {
            states.push(state.to_vec());
            states.len() as u32 - 1
        })
    };
    let mut batch = Batch::new(model.state_bytes());
    model.initial(&mut batch);
    let mut initial: Vec<u32> = (0..batch.len()).map(|i| number(batch.state(i), &mut numbers, &mut states)).collect();
    initial.dedup();
    let mut lists = Vec::new();
    while lists.len() < states.len() {
        let next = successors(model, &states[lists.len()]);
        lists
            .push((0..next.len()).map(|i| (number(next.state(i), &mut numbers, &mut states), next.event(i))).collect());
        if states.len() > MOST {
            return None;
        }
    }
    let odd = states.iter().map(|state| is_odd(state)).collect();
    Some(Plain { initial, lists, odd })
}

/// A condition that says something about every byte.
fn is_odd(state: &[u8]) -> bool {
    state.iter().fold(0, |sum, byte| sum ^ byte) % 2 == 1
}

type Progress<'a> = dyn Fn(&[u8]) -> u128 + Sync + 'a;

/// The graph as a search writes it down, plainly or behind the sweep-line.
fn lts(model: &NativeModel, progress: Option<&Progress>) -> Lts {
    let wanted = Wanted { labels: vec![("odd".into(), Box::new(|state| Ok(is_odd(state))))], ..Wanted::default() };
    let mut options = Options { graph: true, ..Options::default() };
    if progress.is_some() {
        options.forget = ForgetChoice::Sweep(None);
        options.progress = Some("of the test".into());
    }
    let guides = Guides { progress, graph: Some(&wanted), ..Guides::default() };
    let plan = Plan::of(&options, Question::count(), &ModelFacts::default()).unwrap();
    let report = scrimp::run_guided(model, &[], &plan, &Control::new(None), guides).unwrap();
    assert!(report.exhaustive);
    wanted.graph.into_inner().expect("a graph")
}

fn equal(graph: &Lts, plain: &Plain) {
    assert_eq!(graph.states() as usize, plain.lists.len());
    assert_eq!(graph.initial(), plain.initial);
    for (state, list) in (0..).zip(&plain.lists) {
        assert_eq!(graph.successors(state).collect::<Vec<_>>(), *list);
        assert_eq!(graph.holds(0, state), plain.odd[state as usize]);
    }
}

/// Partition refinement on both graphs together: states are told apart by labels, then by what events lead to. Then the
/// initial states of the one must be found among those of the other.
fn bisimilar(graph: &Lts, plain: &Plain) -> bool {
    let shift = plain.lists.len() as u32;
    let mut lists = plain.lists.clone();
    lists.extend((0..graph.states()).map(|state| graph.successors(state).map(|(next, e)| (next + shift, e)).collect()));
    let mut colour: Vec<u32> = plain.odd.iter().map(|&odd| odd as u32).collect();
    colour.extend((0..graph.states()).map(|state| graph.holds(0, state) as u32));
    let mut colours = 0;
    loop {
        let mut signatures: HashMap<(u32, BTreeSet<(EventCode, u32)>), u32> = HashMap::new();
        let next: Vec<u32> = (0..lists.len())
            .map(|state| {
                let leads: BTreeSet<_> = lists[state].iter().map(|&(to, event)| (event, colour[to as usize])).collect();
                let fresh = signatures.len() as u32;
                *signatures.entry((colour[state], leads)).or_insert(fresh)
            })
            .collect();
        colour = next;
        if std::mem::replace(&mut colours, signatures.len()) == signatures.len() {
            break;
        }
    }
    let of = |initial: &[u32], shift: u32| -> BTreeSet<u32> {
        initial.iter().map(|&state| colour[(state + shift) as usize]).collect()
    };
    of(&plain.initial, 0) == of(graph.initial(), shift)
}

/// Measures good and bad: none of them is known to the model.
fn measures<'a>() -> [Box<Progress<'a>>; 3] {
    [
        Box::new(|state| state[0] as u128),
        Box::new(|state| state.iter().map(|&byte| byte as u128).sum()),
        Box::new(|state| 255 - state[state.len() - 1] as u128 + state[state.len() / 2] as u128),
    ]
}

#[test]
fn graphs_of_all_models() {
    let (mut seen, mut unfolded) = (0, 0);
    for file in files().iter().filter(|file| file.has_at_most(MOST as u64)) {
        let model = model(&file.system, file.mode());
        let plain = plain(&model).unwrap();
        let graph = lts(&model, None);
        equal(&graph, &plain);
        assert_eq!((graph.states() as u64, graph.transitions()), (file.facts.states, file.facts.transitions));
        aut_says(&graph, &model, &plain);
        for measure in measures() {
            let unfolding = lts(&model, Some(&*measure));
            assert!(unfolding.states() as usize >= plain.lists.len());
            unfolded += (unfolding.states() as usize > plain.lists.len()) as usize;
            assert!(bisimilar(&unfolding, &plain), "{}", file.name);
        }
        seen += 1;
    }
    assert!(seen > 30 && unfolded > 10, "{seen} models, {unfolded} unfoldings");
}

/// The refinement tells graphs apart.
#[test]
fn what_is_not_bisimilar_is_noticed() {
    let files = files();
    let of = |name: &str| {
        let file = files.iter().find(|file| file.name == name).unwrap();
        model(&file.system, file.mode())
    };
    let (one, other) = (of("phils3.dve"), of("phils4.dve"));
    assert!(bisimilar(&lts(&one, None), &plain(&one).unwrap()));
    assert!(!bisimilar(&lts(&other, None), &plain(&one).unwrap()));
}

#[test]
fn graphs_of_random_systems() {
    let config = Config { cases: 200, failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    let shape = Shape { processes: (2, 3), independent: 0 };
    let result = TestRunner::new(config).run(&text(shape), |text| {
        let system = text.system();
        let model = model(&Arc::new(system.unwrap()), Mode::Interpreted);
        let Some(plain) = plain(&model) else {
            return Err(TestCaseError::reject("too many states"));
        };
        equal(&lts(&model, None), &plain);
        for measure in measures() {
            proptest::prop_assert!(bisimilar(&lts(&model, Some(&*measure)), &plain));
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// Reads an AUT file and holds it against the graph.
fn aut_says(graph: &Lts, model: &dyn DescribedModel, plain: &Plain) {
    let mut text = Vec::new();
    graph.export(Form::Aut, model, None, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), format!("des (0, {}, {})", graph.transitions(), graph.states()));
    let mut edges = Vec::new();
    for line in lines {
        let inner = line.strip_prefix('(').and_then(|line| line.strip_suffix(')')).unwrap();
        let (from, rest) = inner.split_once(", \"").unwrap();
        let (label, to) = rest.rsplit_once("\", ").unwrap();
        edges.push((from.parse::<u32>().unwrap(), label.to_string(), to.parse::<u32>().unwrap()));
    }
    let label = |event| model.event(event).label.replace('\\', "\\\\").replace('"', "\\\"");
    let expected: Vec<_> = (0..)
        .zip(&plain.lists)
        .flat_map(|(from, list)| list.iter().map(move |&(to, e)| (from, label(e), to)))
        .collect();
    assert_eq!(edges, expected);
}

/// An exported graph is a model itself, with the same states, edges and deadlocks: also where it becomes a table, and where
/// two events lead to the same state with the same label.
#[test]
fn exported_graphs_are_read_again() {
    let (mut seen, mut edges) = (0, 0);
    for file in files().iter().filter(|file| file.has_at_most(MOST as u64)) {
        let model = model(&file.system, Mode::Auto);
        let graph = lts(&model, None);
        let to = scratch(&format!("again-{}.aut", file.name));
        replace(&to, |out| graph.export(Form::Aut, &model, None, out)).unwrap();
        let mut again = scrimp::Loaded::open(&to).unwrap_or_else(|e| panic!("{e}"));
        let labels: BTreeSet<String> = again.system.events.iter().map(|event| event.label.clone()).collect();
        let counted = common::counted(&mut again).unwrap();
        let more = match file.system.initial.len() {
            1 => 0,
            many => many as u64,
        };
        let states = file.facts.states + (more > 0) as u64;
        assert_eq!((counted.states, counted.transitions), (states, file.facts.transitions + more), "{}", file.name);
        if file.system.claim.is_none() {
            assert_eq!(counted.deadlocks, graph_deadlocks(&graph), "{}", file.name);
        }
        let written =
            (0..graph.states()).flat_map(|state| graph.successors(state)).map(|(_, event)| model.event(event).label);
        let written: BTreeSet<String> = written.collect();
        assert!(more > 0 || labels == written, "{}", file.name);
        std::fs::remove_file(&to).unwrap();
        (seen, edges) = (seen + 1, edges + counted.transitions);
    }
    assert!(seen > 30 && edges > 100_000, "{seen} models, {edges} edges");
}

fn graph_deadlocks(graph: &Lts) -> u64 {
    (0..graph.states()).filter(|&state| graph.successors(state).next().is_none()).count() as u64
}

#[test]
fn the_command_writes_graphs() {
    let model = path("peterson3.dve");
    let json = scrimp(&["count", &model, "--json"]).code(0).json();
    for (ending, begins) in [("aut", "des (0, "), ("dot", "digraph states {"), ("scg", "")] {
        let to = scratch(&format!("peterson3.{ending}"));
        let to = to.to_str().unwrap();
        scrimp(&["count", &model, "--graph", to]).code(0);
        let bytes = std::fs::read(to).unwrap();
        assert!(bytes.starts_with(begins.as_bytes()), "{ending}");
        scrimp(&["count", &model, "--graph", to, "--forget", "sweep", "--progress", "auto"]).code(0);
        assert!(!std::fs::read(to).unwrap().is_empty());
        if ending == "scg" {
            let graph = Lts::read(&mut bytes.as_slice(), &Arc::new(Budget::new(1 << 30))).unwrap();
            assert_eq!(graph.states() as u64, json["states"].as_u64().unwrap());
            assert_eq!(graph.transitions(), json["transitions"].as_u64().unwrap());
        }
    }
}

/// Conditions of properties become labels, and what was not explored is said.
#[test]
fn a_check_writes_what_it_saw() {
    let text = "byte x; process P { state s; init s; trans s -> s { guard x < 9; effect x = x + 1; }; } system async;";
    let (model, to) = (file("labels.dve", text), scratch("labels.scg"));
    let words = ["check", &model, "--graph", to.to_str().unwrap(), "-p", "invariant: x < 4"];
    let answer = scrimp(&words).code(1);
    assert!(answer.stderr.contains("not complete"), "{}", answer.stderr);
    scrimp(&[words.as_slice(), &["-k", "-p", "deadlock"]].concat()).code(1);
    let bytes = std::fs::read(&to).unwrap();
    let graph = Lts::read(&mut bytes.as_slice(), &Arc::new(Budget::new(1 << 30))).unwrap();
    assert_eq!(graph.labels().count(), 1);
    assert_eq!((0..graph.states()).map(|state| graph.holds(0, state)).filter(|&holds| holds).count(), 4);
    let dot = scratch("labels.dot");
    scrimp(&["check", &model, "--graph", dot.to_str().unwrap(), "-k", "-p", "invariant: x < 4"]).code(1);
    let dot = std::fs::read_to_string(dot).unwrap();
    assert!(dot.contains("x = 3") && dot.contains("[invariant") && dot.contains("->"), "{dot}");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let model = path("peterson3.dve");
    for (words, why) in [
        (["--graph", "states.txt"].as_slice(), "ends in .aut"),
        (&["--graph", "/no/such/directory/states.aut"], "cannot be written"),
        (&["--graph", "states.aut", "--threads", "2"], "one thread"),
        (&["--graph", "states.aut", "--order", "dfs"], "level by level"),
        (&["--graph", "states.aut", "--forget", "cache"], "level by level"),
        (&["--graph", "states.aut", "--reduce", "edge-lean"], "every event"),
    ] {
        let message = scrimp(&[["count", &model].as_slice(), words].concat()).refused();
        assert!(message.contains(why), "{message}");
    }
}

/// A file is replaced as a whole or not at all.
#[test]
fn a_failed_write_leaves_the_old_file() {
    let to = scratch("old.aut");
    std::fs::write(&to, "old").unwrap();
    let failed = replace(&to, |out| {
        out.write_all(b"half")?;
        Err(std::io::ErrorKind::StorageFull.into())
    });
    assert!(failed.is_err());
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "old");
    let left = std::fs::read_dir(to.parent().unwrap()).unwrap();
    assert!(left.flatten().all(|entry| !entry.file_name().to_string_lossy().contains("old.aut.")));
}

/// A picture of the states, with the run that was found in colour and dead ends marked, whatever the file is called.
#[test]
fn pictures_show_dead_ends_and_runs() {
    let to = scratch("philosophers.gv").to_string_lossy().into_owned();
    scrimp(&["count", &path("phils3.dve"), "--dot", &to]).code(0);
    let picture = std::fs::read_to_string(&to).unwrap();
    assert!(picture.starts_with("digraph states {") && picture.ends_with("}\n") && picture.contains("fontname="));
    let out = scrimp(&["count", &path("phils3.dve"), "--json"]).code(0).json();
    let (states, dead) = (out["states"].as_u64().unwrap(), out["deadlocks"].as_u64().unwrap());
    let lines = |what: &str| picture.lines().filter(|line| line.contains(what)).count() as u64;
    assert_eq!(lines(" [label=") - lines(" -> "), states - lines("shape=point"));
    assert_eq!(lines("peripheries=2"), dead);
    assert_eq!(lines("#cf222e"), 0);
    let found = scrimp(&["check", &path("naive_lock.dve"), "--dot", &to, "--json"]).code(1).json();
    let run = found["properties"].as_array().unwrap().iter().find(|p| p["trace"].is_object()).unwrap();
    let steps = run["trace"]["steps"].as_array().unwrap().len();
    let picture = std::fs::read_to_string(&to).unwrap();
    let coloured = |line: &&str| line.contains(" -> ") && line.contains("fontcolor=\"#cf222e\"");
    assert_eq!(picture.lines().filter(coloured).count(), steps);
    assert!(
        scrimp(&["count", &path("phils3.dve"), "--dot", "nowhere/x.dot"])
            .code(2)
            .stderr
            .contains("there is no such folder")
    );
}

/// Where only runs are asked about there is a graph too, and the run that is found is in its picture, loop and all.
#[test]
fn pictures_show_runs_that_go_on_for_ever() {
    let to = scratch("runs.gv");
    let written = |words: &[&str]| {
        let _ = std::fs::remove_file(&to);
        let found = scrimp(&[words, &["--json", "--dot", to.to_str().unwrap()]].concat()).code(1).json();
        let run = found["properties"].as_array().unwrap().iter().find(|p| p["trace"].is_object()).unwrap();
        let steps = run["trace"]["steps"].as_array().unwrap().len();
        let picture = std::fs::read_to_string(&to).unwrap();
        let coloured = picture.lines().filter(|line| line.contains(" -> ") && line.contains("#cf222e")).count();
        assert!(coloured > 0 && coloured <= steps, "{coloured} of {steps} in {picture}");
        let states = picture.lines().filter(|line| line.contains(" [label=") && !line.contains(" -> ")).count();
        states as u64
    };
    let lock = path("naive_lock.dve");
    let all = scrimp(&["count", &lock, "--json"]).code(0).json()["states"].as_u64().unwrap();
    assert_eq!(written(&["check", &lock, "-p", "ltl: [] <> P_0@cs"]), all);
    assert_eq!(written(&["check", &lock, "-p", "ltl: [] <> P_0@cs", "-p", "deadlock", "-k"]), all);
    written(&["check", &path("starvation.dve")]);
    let graph = scratch("runs.aut");
    let _ = std::fs::remove_file(&graph);
    scrimp(&["check", &lock, "-p", "ctl: EF P_0@cs", "--graph", graph.to_str().unwrap()]).code(0);
    assert!(std::fs::read_to_string(graph).unwrap().starts_with("des (0, "));
}
