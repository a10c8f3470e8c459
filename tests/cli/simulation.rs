//! Random walks that look for errors: in every language, with the same answer whatever the threads, and nothing claimed.

use crate::common::command::{file, model, scrimp, scrimp_reading};
use serde_json::Value;
use std::time::Duration;

/// Runs walks through one of `models/` and answers the object.
#[track_caller]
fn walks(name: &str, more: &[&str], code: i32) -> Value {
    let path = if name.contains('/') { name.to_string() } else { model(name) };
    let words = [&["simulate", &path, "--json"], more].concat();
    scrimp(&words).code(code).json()
}

fn violated(json: &Value) -> &Value {
    let mut list = json["properties"].as_array().unwrap().iter();
    list.find(|property| property["verdict"] == "violated").expect("a violation")
}

/// Assertions on states and of events, run-time errors and deadlocks, in every language.
#[test]
fn walks_find_what_is_wrong() {
    for (name, property, more) in [
        ("naive_lock.dve", "assertion: ", &[][..]),
        ("runtime_faults.dve", "faults", &[]),
        ("phils5.dve", "deadlock", &[]),
        ("phils3.network", "deadlock", &[]),
        ("philosophers_units.pnml", "deadlock", &[]),
        ("philosophers.pml", "deadlock", &[]),
        ("peterson3.dve", "invariant: ", &["-p", "invariant: !P_0@cs"]),
        ("kanban.pnml", "invariant: ", &["-p", "invariant: c1_work < 2"]),
    ] {
        let json = walks(name, &[&["--walks", "200"], more].concat(), 1);
        let found = violated(&json);
        assert!(found["name"].as_str().unwrap().starts_with(property), "{name}: {}", found["name"]);
        assert_eq!((&json["verdict"], &json["guarantee"]), (&"violated".into(), &"counterexample".into()), "{name}");
        // The run is one of the model.
        let trace = file(&format!("walks_{name}.json"), json.to_string());
        scrimp(&["simulate", &model(name), "--trace", &trace]).code(0);
        // No run is shorter: these models are small.
        let checked = scrimp(&[&["check", &model(name), "--json"], more].concat()).code(1).json();
        let length = |json: &Value| violated(json)["trace"]["length"].as_u64();
        assert!(length(&json) <= length(&checked), "{name}: {:?} and {:?}", length(&json), length(&checked));
    }
    let asserts =
        file("walks_assert.pml", "byte x;\nactive [3] proctype A() { byte y; y = x; x = y + 1; assert(x < 3) }\n");
    let text = scrimp(&["simulate", &asserts, "--walks", "500"]).code(1).stdout;
    assert!(text.contains("violated   assertions") && text.contains("assertion violated (x<3)"), "{text}");
}

#[test]
fn threads_do_not_change_the_answer() {
    for (name, more, code) in [
        ("naive_lock.dve", &["--walks", "300", "--steps", "3"][..], 4),
        ("naive_lock.dve", &["--walks", "300", "--steps", "7"], 1),
        ("peterson3.dve", &["--walks", "300", "-p", "reach: P_0@cs && level[1] == 2", "-p", "reach: P_2@cs"], 0),
        ("phils5.dve", &["--walks", "300", "--steps", "30"], 1),
        ("spawn.pml", &["--walks", "300"], 4),
        ("kanban.pnml", &["--walks", "300", "--steps", "40", "-p", "invariant: c1_work < 2 || c2_work < 2"], 1),
    ] {
        let told = |threads: &str, seed: &str| {
            let mut json = walks(name, &[more, &["-j", threads, "--seed", seed]].concat(), code);
            json.as_object_mut().unwrap().remove("seconds");
            json
        };
        for seed in ["3", "4"] {
            let one = told("1", seed);
            assert_eq!(one, told("2", seed), "{name} {more:?}");
            assert_eq!(one, told("7", seed), "{name} {more:?}");
        }
    }
}

/// The seed that is told makes the walk again: as the only one, and as the run that is shown.
#[test]
fn the_seed_reproduces_the_walk() {
    let words = ["--walks", "1000", "--steps", "5", "--seed", "40"];
    let json = walks("naive_lock.dve", &words, 1);
    let (seed, steps) = (json["found"]["seed"].to_string(), json["found"]["steps"].as_u64().unwrap());
    let again = walks("naive_lock.dve", &["--walks", "1", "--steps", "5", "--seed", &seed], 1);
    assert_eq!(violated(&again), violated(&json));
    assert_eq!((&again["found"]["walk"], again["found"]["steps"].as_u64()), (&1.into(), Some(steps)));
    let shown = scrimp(&["simulate", &model("naive_lock.dve"), "--steps", "5", "--seed", &seed]).code(0).stdout;
    assert!(shown.contains(&format!("\n{steps:>3}  ")) && !shown.contains(&format!("\n{:>3}  ", steps + 1)), "{shown}");
    assert!(shown.contains("violated: assertion: P_"), "{shown}");
}

/// A run that cannot be found by a small breadth-first search, among many events that have nothing to do with it.
#[test]
fn runs_are_shortened() {
    let process =
        |name: &str| format!("process {name} {{ byte n; state a; init a; trans a -> a {{ effect n = n + 1; }}; }}\n");
    let others: String = ["B", "C", "D", "E"].map(process).concat();
    let main = "process A { byte n; state a, bad; init a; assert bad: false;\n\
                trans a -> a { guard n < 30; effect n = n + 1; }, a -> bad { guard n == 30; }; }\n";
    let path = file("walks_long.dve", format!("{main}{others}system async;\n"));
    let json = walks(&path, &["--walks", "20", "--steps", "2000"], 1);
    assert!(json["found"]["steps"].as_u64() > Some(100), "{}", json["found"]);
    assert_eq!(violated(&json)["trace"]["length"], 31);
}

#[test]
fn nothing_found_is_nothing_verified() {
    let answer = scrimp(&["simulate", &model("peterson3.dve"), "--walks", "50"]).code(4);
    assert!(answer.stdout.contains("no error found in 50 walks"), "{}", answer.stdout);
    assert!(
        !answer.stdout.contains("verified ") && answer.stdout.contains("this verifies nothing"),
        "{}",
        answer.stdout
    );
    let json = walks("peterson3.dve", &["--walks", "50"], 4);
    assert_eq!((&json["verdict"], &json["guarantee"]), (&"no-error-found".into(), &"none".into()));
    assert_eq!((&json["walks"], &json["events_run"]), (&50.into(), &50_000.into()));
    // What a run can show is shown; what no run shows is not refuted.
    let json = walks("peterson3.dve", &["--walks", "50", "-p", "reach: P_0@cs", "-p", "reach: P_0@cs && P_1@cs"], 4);
    assert_eq!(json["properties"][0]["verdict"], "verified");
    assert_eq!(json["properties"][1]["verdict"], "no-error-found");
    let json = walks("peterson3.dve", &["--walks", "50", "-p", "reach: P_0@cs"], 0);
    assert_eq!((&json["verdict"], &json["guarantee"]), (&"verified".into(), &"witness".into()));
    // A condition that cannot be evaluated is told.
    let json = walks("peterson3.dve", &["--walks", "50", "-p", "invariant: 1 / level[0] > 0"], 1);
    assert!(violated(&json)["condition_fault"].as_str().unwrap().contains("zero"));
    // What is asked of infinite runs is left open, and said to be.
    let text = scrimp(&["simulate", &model("starvation.dve"), "--walks", "50"]).code(4).stdout;
    assert!(text.contains("undecided  Starves  (walks decide nothing about infinite runs)"), "{text}");
    for property in ["ltl: [] true", "ctl: AG true", "claim", "accepting", "progress"] {
        let message = scrimp(&["simulate", &model("starvation.dve"), "--walks", "5", "-p", property]).refused();
        assert!(message.starts_with("error: ") || message.contains(": error: "), "{message}");
    }
}

#[test]
fn limits_are_kept() {
    let path = model("peterson3.dve");
    let words = ["simulate", &path, "--walks", "18446744073709551615", "--time", "500ms"];
    let answer = scrimp(&words).code(3);
    assert!(answer.time < Duration::from_secs(10), "{:?}", answer.time);
    assert!(answer.stdout.contains("Stopped: the time limit is over: no error found in "), "{}", answer.stdout);
    // One walk without an end.
    let words = ["simulate", &path, "--walks", "1", "--steps", "18446744073709551615", "--time", "500ms", "--json"];
    let answer = scrimp(&words).code(3);
    assert!(answer.time < Duration::from_secs(10), "{:?}", answer.time);
    assert_eq!((&answer.json()["limits"]["reached"], &answer.json()["walks"]), (&"time".into(), &0.into()));
}

#[test]
fn what_walks_do_not_execute_is_told() {
    let text = "process P { byte x; state a, b; init a; trans a -> b { guard x > 3; }, a -> a { guard x == 0; }; }\nsystem async;\n";
    let path = file("walks_unreached.dve", text);
    let text = scrimp(&["simulate", &path, "--walks", "5", "-p", "deadlock"]).code(4).stdout;
    assert!(
        text.contains(&format!("transitions not executed in these walks: 1 of 2 transitions\n\t{path}:1, P: a -> b\n")),
        "{text}"
    );
    assert!(text.contains("reached: 1 of 2 transitions"), "{text}");
    let json = walks(&path, &["--walks", "5"], 4);
    assert_eq!((&json["coverage"]["scope"], &json["coverage"]["parts"][0]["reached"]), (&"walks".into(), &1.into()));
    // Of an atomic sequence every statement counts.
    let atomic = file("walks_atomic.pml", "byte x;\nactive proctype A() { atomic { x = 1; x = 2; x = 3 } x == 9 }\n");
    let text = scrimp(&["simulate", &atomic, "--walks", "3", "-p", "faults"]).code(4).stdout;
    assert!(
        text.contains("\"((x==9))\"") && !text.contains("\"x = 2\"") && text.contains("(2 of 5 statements)"),
        "{text}"
    );
}

/// The run that is shown says what is wrong, and ends there.
#[test]
fn a_single_run_says_what_it_meets() {
    let text = scrimp(&["simulate", &model("naive_lock.dve"), "-n", "200"]).code(0).stdout;
    assert!(text.contains("violated: assertion: P_") && !text.contains("\n  200  "), "{text}");
    let text = scrimp(&["simulate", &model("runtime_faults.dve"), "-n", "200"]).code(0).stdout;
    assert!(text.contains("would end in a run-time error: division by zero") && !text.contains("\n  200  "), "{text}");
    let first =
        file("walks_first.dve", "process P { state a; init a; assert a: false; trans a -> a {}; }\nsystem async;\n");
    let text = scrimp(&["simulate", &first]).code(0).stdout;
    assert!(text.contains("violated: assertion: P.a: false") && !text.contains("\n    1  "), "{text}");
}

#[test]
fn a_part_of_a_run_is_drawn() {
    let text = "int x;\nchan c = [1] of { int };\nactive proctype A() { do :: c!x; x++ od }\n\
                active proctype B() { int y; do :: c?y od }\n";
    let path = file("drawn_part.pml", text);
    let drawn = |more: &[&str]| {
        let words = [&["simulate", path.as_str(), "--steps", "60", "--trace-format", "mermaid"], more].concat();
        let text = scrimp(&words).code(0).stdout;
        text.lines().filter(|line| line.contains(">>") || line.contains("-)")).map(String::from).collect::<Vec<_>>()
    };
    let (all, first, second) = (drawn(&[]), drawn(&["--chart-steps", "1-20"]), drawn(&["--chart-steps", "21-9999"]));
    assert!(!first.is_empty() && first.len() < all.len(), "{all:?}");
    assert_eq!([first, second].concat(), all);
    for (words, said) in [
        (&["--chart-steps", "1-2"][..], "needs a chart"),
        (&["--chart-steps", "2-1", "--chart", "-"], "such as 100-150"),
        (&["--chart-steps", "1-2", "--chart", "-", "--walks", "3"], "--walks"),
    ] {
        let refused = scrimp(&[&["simulate", path.as_str()], words].concat()).refused();
        assert!(refused.contains(said), "{words:?}: {refused}");
    }
}

#[test]
fn a_single_run_keeps_its_memory() {
    let text = "byte a[60000];\nactive proctype P() { short i; do :: a[i] = 1; i = (i + 1) % 60000 od }\n";
    let path = file("wide_run.pml", text);
    let stopped =
        scrimp(&["simulate", &path, "--steps", "200000", "--memory", "64M", "--trace-format", "json"]).code(3);
    assert!(stopped.stdout.contains("memory"), "{}", stopped.stdout);
    scrimp(&["simulate", &path, "--steps", "3", "--memory", "128M"]).code(0);
}

#[test]
fn by_hand_one_can_go_back_and_look_ahead() {
    let by_hand = |name: &str, input: &str| scrimp_reading(&["simulate", &model(name), "-i"], input).code(0).stdout;
    let text = by_hand("phils3.dve", "0\n0\nu\n1\nq\n");
    assert!(text.contains("at step 1\n     Phil_0 = sit, Phil_1 = think"), "{text}");
    assert!(
        text.contains("  2  Phil_0  phils3.dve:20  sit -> left")
            && text.contains("  2  Phil_1  phils3.dve:31  think -> sit"),
        "{text}"
    );
    // Back to the beginning and forth again, on the same run.
    let text = by_hand("phils3.dve", "0\n0\n0\ng 0\ng 2\ng 9\nu 99\nu\nq\n");
    assert_eq!(text.matches("initial state").count(), 3, "{text}");
    assert!(text.contains("at step 2\n     Phil_0 = left") && text.contains("this run has 3 steps"), "{text}");
    assert!(text.contains("this is the beginning"), "{text}");
    let text = by_hand(
        "phils3.dve",
        "f LEFT -> both\nw Phil_1@both\nw Phil_0@both && Phil_1@both\nf nonsense\nw nobody@home\nq\n",
    );
    assert!(text.contains("  3  Phil_0  ") && text.contains("left -> both"), "{text}");
    assert_eq!(text.matches("no run from here leads there").count(), 2, "{text}");
    assert!(text.contains("error: unknown name `nobody`") || text.contains("nobody"), "{text}");
    // A dead end is no reason to leave.
    let text = by_hand("phils3.dve", "w Phil_0@left && Phil_1@left && Phil_2@left\n0\nu\ns\nq\n");
    assert!(text.contains("deadlock: no event is enabled") && text.contains("at step 5"), "{text}");
    for input in ["u x\n", "g\n", "g -1\n", "f\n", "w\n", "u 0\n", "0 0\n", "\n", "18446744073709551616\n"] {
        assert!(by_hand("phils3.dve", input).contains("please give one of the numbers above"), "{input}");
    }
    // A model that grows on the way is searched on.
    let text = by_hand("spawn.pml", "r 300\nu 7\nf printf\nq\n");
    assert!(text.contains("at step "), "{text}");
}
