//! `generate` as a user meets it: its runs are replayed by the model, and cover what a complete check finds executed.

use crate::common::command::{file, model, net, scratch, scrimp};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = scratch(&format!("generating-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// What a complete check says is never executed, of the first kind of things that a model has; and how many there are in all.
fn never(model: &str) -> (BTreeSet<(String, u64, String)>, usize) {
    let answer = scrimp(&["check", model, "-k", "--reduce", "none", "--json"]);
    let told = answer.json();
    let part = &told["coverage"]["parts"][0];
    let unreached = part["unreached"].as_array().expect("a complete check").iter().map(place).collect();
    (unreached, part["total"].as_u64().unwrap() as usize)
}

fn place(item: &Value) -> (String, u64, String) {
    let text = |name: &str| item[name].as_str().unwrap_or("").to_string();
    (text("process"), item["line"].as_u64().unwrap(), text("text"))
}

fn with_status(suite: &Value, status: &str) -> BTreeSet<(String, u64, String)> {
    suite["items"].as_array().unwrap().iter().filter(|item| item["status"] == status).map(place).collect()
}

/// Every run of a folder is one of the model.
fn replay_all(model: &str, folder: &PathBuf, runs: usize) {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), runs, "{files:?}");
    for path in files {
        let path = path.to_string_lossy().into_owned();
        let answer = scrimp(&["simulate", model, "--trace", &path]).code(0);
        assert!(answer.stdout.contains("replayed, "), "{}", answer.stdout);
    }
}

const MODELS: [(&str, &str); 14] = [
    ("peterson.pml", "statements"),
    ("barrier.pml", "statements"),
    ("leader.pml", "statements"),
    ("mailbox.pml", "statements"),
    ("two_phase_commit.pml", "statements"),
    ("spawn.pml", "statements"),
    ("phils3.dve", "transitions"),
    ("starvation.dve", "transitions"),
    ("two_phase_commit.dve", "transitions"),
    ("wolf_goat_cabbage.dve", "transitions"),
    ("kanban.pnml", "transitions"),
    ("philosophers_ring.pnml", "transitions"),
    ("phils3.network", "transitions"),
    ("alternating_bit.network", "transitions"),
];

#[test]
fn runs_cover_what_a_complete_check_finds_executed() {
    for (name, cover) in MODELS {
        let (path, place) = (model(name), folder(name));
        let (unreached, total) = never(&path);
        for cover in [cover, "pairs"] {
            let folder = place.join(cover);
            let told = scrimp(&["generate", &path, "--cover", cover, "--json", "--folder", &folder.to_string_lossy()]);
            let suite = told.code(0).json();
            assert_eq!(suite["complete"], true, "{name} {cover}");
            assert_eq!(with_status(&suite, "unreachable"), unreached, "{name} {cover}");
            let items = suite["items"].as_array().unwrap();
            assert_eq!(items.len(), total, "{name}");
            let runs = suite["runs"].as_array().unwrap();
            let named = items.iter().flat_map(|item| item["runs"].as_array().unwrap());
            assert_eq!(named.map(|run| run.as_u64().unwrap()).collect::<BTreeSet<_>>().len(), runs.len(), "{name}");
            replay_all(&path, &folder, runs.len());
            executed_as_said(&suite, cover);
        }
    }
}

/// The steps of each run say themselves what they execute, by their lines: every item that a run covers is there.
fn executed_as_said(suite: &Value, cover: &str) {
    let items = suite["items"].as_array().unwrap();
    for (number, run) in (1..).zip(suite["runs"].as_array().unwrap()) {
        let steps = run["trace"]["steps"].as_array().unwrap();
        let mut lines = BTreeSet::new();
        for step in steps {
            lines.insert(step["line"].as_u64().unwrap());
            let statements = step["statements"].as_array().map_or(&[][..], Vec::as_slice);
            lines.extend(statements.iter().map(|statement| statement["line"].as_u64().unwrap()));
        }
        // Of what two processes do together, a step has one line; so has a net's with colours.
        let has = |item: &&Value| item["runs"].as_array().unwrap().contains(&Value::from(number));
        let lost: Vec<&Value> =
            items.iter().filter(has).filter(|item| !lines.contains(&item["line"].as_u64().unwrap())).collect();
        assert!(cover != "statements" || lost.is_empty(), "run {number}: {lost:?}");
    }
}

#[test]
fn a_pair_is_what_one_step_and_the_next_execute() {
    let answer = scrimp(&["generate", &model("peterson.pml"), "--cover", "pairs", "--json"]).code(0).json();
    let (items, pairs) = (answer["items"].as_array().unwrap(), answer["pairs"].as_array().unwrap());
    // The runs have all these pairs, and no other.
    let number = |process: &Value, statement: &Value| {
        let of = |item: &&Value| item["process"] == process["name"] && item["line"] == statement["line"];
        items.iter().position(|item| of(&item) && item["text"] == statement["statement"])
    };
    let mut found = BTreeSet::new();
    for run in answer["runs"].as_array().unwrap() {
        let steps = run["trace"]["steps"].as_array().unwrap();
        let of = |step: &Value| {
            let statements = step["statements"].as_array().unwrap();
            statements.iter().map(|s| number(s, s).expect("a statement")).collect::<Vec<_>>()
        };
        for two in steps.windows(2) {
            for first in of(&two[0]) {
                found.extend(of(&two[1]).into_iter().map(|second| (first, second)));
            }
        }
    }
    let told = |pair: &Value, name: &str| pair[name].as_u64().unwrap() as usize;
    let said: BTreeSet<_> = pairs.iter().map(|pair| (told(pair, "first"), told(pair, "second"))).collect();
    assert_eq!(found, said);
}

#[test]
fn goals_are_reached_or_proven_unreachable() {
    let (path, place) = (model("peterson3.dve"), folder("goals"));
    let goals = ["P_0@cs", "P_1@cs && P_2@enter", "P_0@cs && P_1@cs", "P_0@idle"];
    let mut words = vec!["generate", &path, "--cover", "goals", "--json"];
    goals.iter().for_each(|goal| words.extend(["--goal", goal]));
    let folder = place.to_string_lossy().into_owned();
    words.extend(["--folder", &folder]);
    let answer = scrimp(&words);
    assert!(answer.code == Some(0) || answer.stderr.contains("goal:"), "{}", answer.stderr);
    let suite = answer.code(0).json();
    let status: Vec<&str> = suite["items"].as_array().unwrap().iter().map(|i| i["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["covered", "covered", "unreachable", "covered"]);
    replay_all(&path, &place, suite["runs"].as_array().unwrap().len());
    // The initial state is a run without steps.
    let first = scrimp(&["generate", &path, "--cover", "goals", "--goal", "P_0@idle"]).code(0).stdout;
    assert!(first.contains("covered: 1 of 1 goal, by 1 run of 0 steps"), "{first}");
    let none = scrimp(&["generate", &path, "--cover", "goals", "--goal", "P_0@cs && P_1@cs"]).code(0).stdout;
    assert!(none.contains("0 of 1 goal, by 0 runs") && none.contains("goals unreachable"), "{none}");
    // Where it cannot be evaluated, nothing is proven.
    let doubt = scrimp(&["generate", &path, "--cover", "goals", "--goal", "1 / level[0] > 5"]).code(3).stdout;
    assert!(doubt.contains("not reached, and not proven unreachable"), "{doubt}");
}

#[test]
fn what_is_written() {
    let (path, place) = (model("phils3.dve"), folder("written"));
    let output = scratch("generating-written.json").to_string_lossy().into_owned();
    let folder = place.to_string_lossy().into_owned();
    let words = ["generate", &path, "--cover", "transitions", "--output", &output, "--folder", &folder];
    let told = scrimp(&words).code(0).stdout;
    assert!(told.contains("phils3.dve: covered: 18 of 18 transitions, by 1 run of "), "{told}");
    let written = || serde_json::from_str::<Value>(&std::fs::read_to_string(&output).unwrap()).unwrap();
    assert_eq!((&written()["schema"], &written()["complete"]), (&"scrimp/runs/1".into(), &true.into()));
    // As other tools read them; what is there of an earlier time is named.
    let itf = scrimp(&[&words[..], &["--format", "itf", "-q"]].concat()).code(0);
    assert_eq!(itf.stdout, "");
    assert!(itf.stderr.contains("run_1.json: written at another time"), "{}", itf.stderr);
    assert_eq!(written()["runs"][0]["itf"]["#meta"]["format"], "ITF");
    let one: Value = serde_json::from_str(&std::fs::read_to_string(place.join("run_1.itf.json")).unwrap()).unwrap();
    assert_eq!(one, written()["runs"][0]["itf"]);
}

#[test]
fn limits_leave_what_is_covered_so_far() {
    let large = model("large/election6.dve");
    for limit in [["--time", "1s"], ["--memory", "64M"]] {
        let answer = scrimp(&["generate", &large, "--cover", "transitions", limit[0], limit[1]]).code(3);
        assert!(answer.stdout.contains("covered so far: ") && answer.stdout.contains("Stopped: "), "{}", answer.stdout);
        assert!(!answer.stdout.contains("unreachable: no run"), "{}", answer.stdout);
        let json = scrimp(&["generate", &large, "--cover", "pairs", limit[0], limit[1], "--json"]).code(3).json();
        assert_eq!(json["limit"], limit[0].trim_start_matches('-'));
        assert_eq!((&json["complete"], &json["fewest"]), (&false.into(), &false.into()));
    }
    // A net that has no end.
    let answer = scrimp(&["generate", &model("unbounded.pnml"), "--cover", "transitions", "--time", "1s"]).code(3);
    assert!(answer.stdout.contains("Stopped: "), "{}", answer.stdout);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let (net_file, pml, dve) = (model("kanban.pnml"), model("peterson.pml"), model("phils3.dve"));
    let refused = |words: &[&str]| scrimp(&[&["generate"], words].concat()).refused();
    assert!(
        refused(&[&net_file, "--cover", "statements"])
            .contains("a Petri net has transitions\nhelp: use --cover transitions")
    );
    assert!(refused(&[&dve, "--cover", "statements"]).contains("a DVE model has transitions"));
    assert!(
        refused(&[&pml, "--cover", "transitions"])
            .contains("a Promela model has statements\nhelp: use --cover statements")
    );
    assert!(
        refused(&[&model("phils3.network"), "--cover", "statements"]).contains("transitions, which are its labels")
    );
    assert!(refused(&[&dve, "--cover", "goals"]).contains("--goal 'EXPR'"));
    assert!(refused(&[&dve, "--cover", "pairs", "--goal", "Phil_0@sit"]).contains("--goal is for --cover goals"));
    assert!(refused(&[&dve, "--cover", "goals", "--goal", "Phil_0@sits"]).contains("did you mean"));
    assert!(refused(&[&dve, "--cover", "everything"]).contains("unknown value"));
    assert!(refused(&[&dve]).contains("--cover"));
    assert!(refused(&[&dve, "--cover", "pairs", "--format", "itf"]).contains("--output FILE.json or --folder DIR"));
    assert!(refused(&[&dve, "--cover", "pairs", "--output", &dve]).contains("overwrite"));
    assert!(refused(&[&dve, "--cover", "pairs", "--folder", &dve]).contains("--folder"));
    assert!(refused(&["no/such.dve", "--cover", "pairs"]).contains("no/such.dve"));
    // Nothing to cover is covered.
    let empty = file("generating_empty.pnml", net("<place id=\"p\"/>"));
    let told = scrimp(&["generate", &empty, "--cover", "transitions"]).code(0).stdout;
    assert!(told.contains("0 of 0 transitions, by 0 runs of 0 steps"), "{told}");
}

#[test]
fn a_program_can_do_the_same() {
    use scrimp::generate::{Wish, generate};
    use scrimp::report::generated::Cover;
    use scrimp::{Loaded, Mode};

    let loaded = Loaded::open(model("naive_lock.dve").as_ref()).unwrap();
    let wish = Wish { cover: Cover::Transitions, ..Wish::default() };
    let (found, suite) = generate(loaded, &wish, Mode::Auto).unwrap();
    assert!(suite.is_complete() && suite.fewest && suite.runs.len() == 1);
    let trace = suite.runs[0].trace.as_ref().unwrap();
    let states: Vec<Vec<u8>> = trace.steps.iter().map(|(_, state)| state.clone()).collect();
    let path: Vec<Vec<u8>> = std::iter::once(trace.initial.clone()).chain(states).collect();
    assert!(scrimp::Trace::through(&*found, &path).is_some_and(|again| again.steps.len() == trace.steps.len()));
}
