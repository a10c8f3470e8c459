//! `scrimp check MODEL` with nothing else said: what the plan decides by itself, and that it changes no answer.

use crate::common::command::{file, model, scrimp};
use serde_json::Value;

fn check(words: &[&str], code: u8) -> Value {
    let answer = scrimp(&[&["check", "--json"], words].concat()).code(code.into());
    serde_json::from_str(&answer.stdout).unwrap()
}

/// Far too many states to visit, and a formula that a short run violates.
const LONG: &str = "
byte x[24];
bool asked;
active proctype Asker() { do :: asked = true :: asked = false od }
active [24] proctype Counter() { do :: x[_pid - 1] < 200 -> x[_pid - 1]++ :: x[_pid - 1] > 0 -> x[_pid - 1]-- od }
ltl never_asked { [] !asked }
ltl asked_again { [] (asked -> <> !asked) }
";

fn verdict<'a>(answer: &'a Value, name: &str) -> &'a str {
    let all = answer["properties"].as_array().unwrap();
    let found = all.iter().find(|property| property["name"] == name);
    found.and_then(|property| property["verdict"].as_str()).unwrap_or("not told")
}

#[test]
fn a_formula_does_not_wait_behind_a_long_search() {
    let path = file("long.pml", LONG);
    let long = |words: &[&str], code| {
        let usual = [path.as_str(), "--memory", "1G", "--engine", "explicit", "--reduce", "none"];
        check(&[&usual, words].concat(), code)
    };
    let answer = long(&["--time", "60s"], 1);
    assert_eq!(answer["verdict"], "violated");
    assert_eq!(verdict(&answer, "ltl never_asked"), "violated");
    for name in ["deadlock", "faults", "ltl asked_again"] {
        assert_eq!(verdict(&answer, name), "incomplete", "{name}");
    }
    // On one thread, they come one after the other.
    let answer = long(&["--time", "2s", "--threads", "1"], 3);
    assert_eq!(verdict(&answer, "ltl never_asked"), "incomplete");
    // Where all is to be decided, what was found beside is kept, though time is over.
    let answer = long(&["--time", "5s", "--keep-going"], 1);
    assert_eq!(verdict(&answer, "ltl never_asked"), "violated");
    assert_eq!(verdict(&answer, "deadlock"), "incomplete");
}

#[test]
fn another_engine_answers_what_cannot_be_visited() {
    let path = model("large/counters20.dve");
    let answer = check(&[&path, "--memory", "2G", "--time", "60s", "--reduce", "none"], 1);
    assert_eq!(verdict(&answer, "deadlock"), "violated");
    let engine = answer["plan"]["engine"].as_str().unwrap();
    assert!(engine.starts_with("symbolic") || engine.starts_with("bmc"), "{engine}");
    let told = answer["plan"]["decisions"].to_string();
    assert!(told.contains("tried beside the search"), "{told}");
    let alone = check(&[&path, "--memory", "2G", "--time", "6s", "--reduce", "none", "--engine", "explicit"], 3);
    assert_eq!(alone["plan"]["engine"], "explicit");
}

#[test]
fn large_models_are_reduced_where_that_pays() {
    let (small, large) = (model("phils5.dve"), model("phils8.dve"));
    let of = |path: &str, words: &[&str]| {
        let answer = check(&[&[path], words].concat(), 1);
        assert_eq!(verdict(&answer, "deadlock"), "violated");
        (answer["plan"]["reduce"].as_str().unwrap().to_string(), answer["states"].as_u64().unwrap())
    };
    assert_eq!(of(&small, &[]).0, "none");
    let (reduce, states) = of(&large, &[]);
    assert!(reduce == "por" && states < 5_000, "{reduce}, {states}");
    assert_eq!(of(&large, &["--reduce", "none"]).0, "none");
    // What is counted is what there is.
    let counted = scrimp(&["count", &large, "--json"]).code(0).stdout;
    assert_eq!(serde_json::from_str::<Value>(&counted).unwrap()["states"], 693_856);
}

/// Small models tell what several threads do not count.
#[test]
fn one_thread_counts_small_models() {
    let counted = scrimp(&["count", &model("phils5.dve"), "--json"]).code(0).stdout;
    let counted: Value = serde_json::from_str(&counted).unwrap();
    assert!(counted["max_in_degree"].is_u64(), "{}", counted["max_in_degree"]);
}
