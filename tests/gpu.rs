//! `--engine gpu` as a user runs it: what it counts and decides beside `--engine explicit`, and what it refuses.
//!
//! Its kernels run on the threads of the processor, or on a card:
//!
//! ```text
//! cargo test --release -p scrimp -p scrimp-gpu --features gpu-tests
//! ```

mod common;

use common::command::{file, model, scrimp};
use scrimp_gpu::Host;

/// What the kernels run on.
const ENGINE: &str = if cfg!(feature = "gpu-tests") { "gpu" } else { "gpu:cpu" };

/// Says that nothing is tested where there is neither a card asked for nor a compiler.
fn can_run() -> bool {
    let can = cfg!(feature = "gpu-tests") || Host::find().is_ok();
    if !can {
        eprintln!("skipped: there is no compiler for C++");
    }
    can
}

const MODELS: [&str; 14] = [
    "peterson3.dve",
    "phils5.dve",
    "runtime_faults.dve",
    "milner5.dve",
    "naive_lock.dve",
    "leader_ring.dve",
    "peterson.pml",
    "two_phase_commit.pml",
    "needham_schroeder.pml",
    "elevator.pml",
    "kanban.pnml",
    "philosophers_ring.pnml",
    "phils3.network",
    "alternating_bit.network",
];

#[test]
fn models_are_counted() {
    if !can_run() {
        return;
    }
    for name in MODELS {
        let path = model(name);
        let plain = scrimp(&["count", &path, "--json"]).code(0).json();
        let card = scrimp(&["count", &path, "--json", "--engine", ENGINE]).code(0).json();
        let facts =
            ["states", "transitions", "deadlocks", "faults", "levels", "level_sizes", "widest_level", "max_out_degree"];
        for fact in facts.iter().chain(&["initial_states", "visits", "open", "verdict", "guarantee"]) {
            assert_eq!(plain[fact], card[fact], "{name}: {fact}");
        }
        assert_eq!(card["plan"]["engine"], ENGINE);
        assert!(card["card"]["state_bits"].as_u64() > Some(0) && card["card"]["peak_bytes"].as_u64() > Some(0));
        assert!(plain["card"].is_null());
    }
}

/// Verdicts, and the lengths of the runs that show them.
#[test]
fn models_are_checked() {
    if !can_run() {
        return;
    }
    let ways: [(&str, &[&str]); 11] = [
        ("peterson3.dve", &["-p", "invariant: !(P_0@cs && P_1@cs)", "-p", "reach: P_0@cs"]),
        ("peterson3.dve", &["-p", "invariant: 1 / level[0] > 0"]),
        ("naive_lock.dve", &["-k"]),
        ("runtime_faults.dve", &["-k"]),
        ("phils5.dve", &["-k", "-p", "deadlock", "-p", "faults"]),
        ("peterson.pml", &["-p", "assertions", "-p", "deadlock"]),
        ("needham_schroeder.pml", &["-k", "-p", "assertions", "-p", "deadlock"]),
        ("kanban.pnml", &["-p", "deadlock", "-p", "reach: c1_work > 0"]),
        ("philosophers_ring.pnml", &["-k", "-p", "deadlock"]),
        ("phils3.network", &[]),
        ("milner3_starter.dve", &["-p", "deadlock"]),
    ];
    for (name, words) in ways {
        let path = model(name);
        let check = |engine: &str| scrimp(&[&["check", &path, "--json", "--engine", engine], words].concat());
        let (plain, card) = (check("explicit"), check(ENGINE));
        assert_eq!(plain.code, card.code, "{name} {words:?}:\n{}{}", card.stdout, card.stderr);
        let (plain, card) = (plain.json(), card.json());
        assert_eq!(plain["verdict"], card["verdict"], "{name}");
        let told = |answer: &serde_json::Value| -> Vec<(String, String, Option<usize>)> {
            let of = |p: &serde_json::Value| {
                let steps = p["trace"]["steps"].as_array().map(Vec::len);
                (p["name"].to_string(), p["verdict"].to_string(), steps)
            };
            answer["properties"].as_array().expect("properties").iter().map(of).collect()
        };
        assert_eq!(told(&plain), told(&card), "{name} {words:?}");
    }
}

/// Formulas that a finite run breaks are decided by states, with a run that goes on for ever.
#[test]
fn safety_formulas_are_decided() {
    if !can_run() {
        return;
    }
    let asked = [
        ("naive_lock.dve", "ltl: [] inside <= 1"),
        ("naive_lock.dve", "ltl: [] (P_0@cs -> X !P_0@cs)"),
        ("peterson3.dve", "ltl: [] !(P_0@cs && P_1@cs)"),
        ("peterson3.dve", "ltl: [] (P_0@cs -> (P_0@cs W level[0] == 7))"),
        ("peterson3.dve", "ltl: X X level[0] == 7"),
        ("peterson3.dve", "ltl: [] true"),
        ("phils3.dve", "ltl: [] (fork[0] == 0 || fork[1] == 0 || fork[2] == 0)"),
        ("phils3.dve", "ltl: fork[0] == 0 W fork[1] == 1"),
        ("peterson.pml", "ltl: [] !(P_0@critical && P_1@critical)"),
        ("phils3.network", "ltl: [] true"),
    ];
    for (name, formula) in asked {
        let path = model(name);
        let check = |engine: &str| scrimp(&["check", &path, "--json", "--engine", engine, "-p", formula]);
        let (plain, card) = (check("explicit"), check(ENGINE));
        assert_eq!(plain.code, card.code, "{name} {formula}:\n{}{}", card.stdout, card.stderr);
        let (plain, card) = (plain.json(), card.json());
        assert_eq!(plain["properties"][0]["verdict"], card["properties"][0]["verdict"], "{name} {formula}");
        assert_eq!(plain["properties"][0]["vacuous"], card["properties"][0]["vacuous"], "{name} {formula}");
        if plain.to_string().contains("\"violated\"") {
            let cycle = |answer: &serde_json::Value| answer["properties"][0]["trace"]["loop"].clone();
            assert_eq!(cycle(&plain).is_null(), cycle(&card).is_null(), "{name} {formula}: {}", card["properties"][0]);
        }
    }
}

/// What the model has not noted itself is not told: that something was not executed, or how many tokens there were.
#[test]
fn coverage_is_not_told() {
    if !can_run() {
        return;
    }
    for engine in [ENGINE, "symbolic"] {
        for name in ["kanban.pnml", "peterson.pml"] {
            let check = ["check", &model(name), "--json", "--engine", engine, "-p", "deadlock"];
            let json = scrimp(&check).code(0).json();
            // Of a net it may be known all the same that every transition fires.
            let unreached = |part: &serde_json::Value| part["unreached"] != serde_json::json!([]);
            let parts = json["coverage"]["parts"].as_array();
            assert!(!parts.is_some_and(|parts| parts.iter().any(unreached)), "{engine}, {name}: {}", json["coverage"]);
            assert!(json["unreached"].is_null(), "{engine}, {name}");
        }
    }
    let json = scrimp(&["count", &model("kanban.pnml"), "--json", "--engine", ENGINE]).code(0).json();
    assert!(json["max_token_in_place"].is_null());
}

#[test]
fn a_limit_ends_it_without_a_verdict() {
    if !can_run() {
        return;
    }
    let large = model("large/counters20.dve");
    for limit in [["--memory", "200M"], ["--time", "2s"]] {
        let words = ["check", &large, "-p", "deadlock", "--json", "--engine", ENGINE];
        let json = scrimp(&[&words[..], &limit].concat()).code(3).json();
        assert_eq!((&json["verdict"], &json["guarantee"]), (&"incomplete".into(), &"none".into()));
        assert_eq!(json["limits"]["reached"], limit[0].trim_start_matches('-'));
        // On a busy machine there may be no time left once the kernels are made.
        let searched = json["states"].is_u64();
        assert!(!searched || json["properties"][0]["verdict"] == "incomplete", "{json}");
    }
}

/// A process that is started late, after more states than a first look at the model takes: there is room for it in the end.
#[test]
fn models_grow() {
    if !can_run() {
        return;
    }
    let text = "byte ready;\nproctype P() { skip }\nactive [2] proctype C() { byte x; do :: x < 150 -> x++ :: else -> break od; ready++ }\n\
                active proctype Q() { ready == 2; run P() }\n";
    let path = file("gpu_grows.pml", text);
    let states =
        |engine: &str| scrimp(&["count", &path, "--json", "--engine", engine]).code(0).json()["states"].clone();
    assert_eq!(states("explicit"), states(ENGINE));
}

#[test]
fn what_cannot_be_is_refused() {
    let lock = model("naive_lock.dve");
    let check = |more: &[&str]| scrimp(&[&["check", &lock, "--engine", "gpu:cpu"], more].concat()).refused();
    for (more, why) in [
        (&["-p", "ltl: []<> P_0@idle"][..], "--engine gpu cannot look for cycles"),
        (&["-p", "ctl: AG EF P_0@idle"], "--engine gpu cannot look for cycles"),
        (&["-p", "deadlock", "--store", "tree"], "a table on the card"),
        (&["-p", "deadlock", "--reduce", "por"], "tries every event"),
        (&["-p", "deadlock", "--forget", "cache:1000"], "--forget"),
        (&["-p", "deadlock", "--order", "dfs"], "--order dfs"),
    ] {
        let said = check(more);
        assert!(said.contains(why) && said.contains("--engine gpu:cpu"), "{more:?}: {said}");
    }
    let said = scrimp(&["check", &lock, "--engine", "gpu:two"]).refused();
    assert!(said.contains("expected the number of a graphics card, or cpu, found `two`"), "{said}");
    let said = scrimp(&["count", &lock, "--engine", "gpu:900"]).refused();
    let why = said.strip_prefix("error: --engine gpu:900: ").unwrap_or_else(|| panic!("{said}"));
    assert!(why.starts_with("there is no ") || why.starts_with("this machine has no NVIDIA driver"), "{said}");
}

#[test]
fn a_plan_says_how_states_lie() {
    if !can_run() {
        return;
    }
    let plan = ["plan", &model("peterson3.dve"), "--engine", ENGINE, "-p", "deadlock"];
    let answer = scrimp(&plan).code(0);
    assert!(answer.stdout.contains("on the card: ") && answer.stdout.contains(" bits a state"), "{}", answer.stdout);
    let json = scrimp(&[&plan[..], &["--json"]].concat()).code(0).json();
    assert!(json["state_bits_on_card"].as_u64() > Some(0));
    assert_eq!(json["plan"]["search"], "breadth-first on a graphics card");
}
