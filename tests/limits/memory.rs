//! The memory that a run is given: it is not exceeded, it is used, and little of it is spent on anything but states.

use crate::common::command::{Answer, counters, file, finish, model, scratch, scrimp, start};
use serde_json::Value;
use std::process::{Child, Command};
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// The ways to search that have memory of their own beside the table.
const WAYS: [[&str; 2]; 3] = [["--threads", "1"], ["--threads", "2"], ["--order", "dfs"]];
/// What keeps a search in its table when that is full.
const IN_TABLE: [&str; 2] = ["--store", "table"];

/// Runs to the end and notes the peak of the resident memory as the system counts it, not as the command reports it.
fn watch(mut child: Child) -> (Answer, Option<u64>) {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while child.try_wait().expect("the command can be waited for").is_none() {
        peak = peak.max(resident_peak(&status));
        std::thread::sleep(Duration::from_millis(5));
    }
    (finish(child), peak)
}

fn resident_peak(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Counts a model that is too large; answers the report and the peak of the memory.
fn exhaust(path: &str, mebibytes: u64, way: [&str; 2]) -> (Value, u64) {
    let memory = format!("{mebibytes}M");
    let words = [["count", path, "--json", "--memory", memory.as_str()].as_slice(), &way, &IN_TABLE].concat();
    let (answer, seen) = watch(start(&words));
    let json = answer.code(3).json();
    assert_eq!(json["limits"]["reached"], "memory", "{words:?}");
    assert_eq!(json["limits"]["memory_bytes"], mebibytes * MIB, "{words:?}");
    let told = json["memory_peak_bytes"].as_u64().expect("a peak");
    (json, told.max(seen.unwrap_or(0)))
}

#[track_caller]
fn at_most(peak: u64, share: f64, mebibytes: u64, context: &str) {
    let ratio = peak as f64 / (mebibytes * MIB) as f64;
    assert!(ratio <= share, "{context}: {ratio:.3} of the budget of {mebibytes} MiB");
}

#[track_caller]
fn at_least(peak: u64, share: f64, mebibytes: u64, context: &str) {
    let ratio = peak as f64 / (mebibytes * MIB) as f64;
    assert!(ratio >= share, "{context}: only {ratio:.3} of the budget of {mebibytes} MiB");
}

fn kept_and_used(path: &str, mebibytes: u64) {
    for way in WAYS {
        let (_, peak) = exhaust(path, mebibytes, way);
        at_most(peak, 1.05, mebibytes, &format!("{way:?}"));
        at_least(peak, 0.90, mebibytes, &format!("{way:?}"));
    }
}

/// States of five bytes: the index is the larger part.
#[test]
fn small_states_in_64m() {
    kept_and_used(&file("limit_small.dve", counters(5, 200, 0)), 64);
}

/// States of sixty-five bytes: the states are the larger part.
#[test]
fn middling_states_in_64m_128m_300m() {
    let path = file("limit_middling.dve", counters(5, 200, 12));
    for mebibytes in [64, 128, 300] {
        kept_and_used(&path, mebibytes);
    }
}

/// States so large that the buffers for successors count. A single step is a noticeable part of the budget here, so it
/// need not be used up.
#[test]
fn large_states_in_64m() {
    for size in [10_000, 60_000] {
        let counters = counters(6, 200, 0).replace("x = x + 1", "x = x + 1, a[x] = a[x] ^ x");
        let path = file(&format!("limit_{size}.dve"), format!("byte a[{size}];\n{counters}"));
        for way in WAYS {
            at_most(exhaust(&path, 64, way).1, 1.05, 64, &format!("{size} bytes, {way:?}"));
        }
    }
}

/// One path of millions of states, each of which still has an event to run: the stack of a depth-first search is as large
/// as the table.
#[test]
fn a_deep_path_in_64m_and_128m() {
    let text = "process P { int x, y; state s; init s; trans s -> s { effect x = x + 1, y = y + (x == 0); }, s -> s {}; }\nsystem async;\n";
    let path = file("limit_deep.dve", text);
    for mebibytes in [64, 100, 128] {
        let (json, peak) = exhaust(&path, mebibytes, ["--order", "dfs"]);
        at_most(peak, 1.05, mebibytes, "deep");
        // Growing the stack needs room for the old and the new one.
        at_least(peak, 0.70, mebibytes, "deep");
        assert!(json["open"].as_u64() > Some(900_000));
    }
}

/// A limit is an answer too: what was seen before it was reached.
#[test]
fn a_violation_before_the_limit_is_found() {
    let path = file("limit_violation.dve", counters(5, 200, 12));
    let property = "invariant: P_0.x + P_1.x + P_2.x < 12";
    let json =
        scrimp(&["check", &path, "--json", "--memory", "64M", "--store", "table", "-p", property]).code(1).json();
    assert_eq!(json["properties"][0]["trace"]["length"], 12);
    let late = "invariant: P_0.x + P_1.x < 150";
    let answer = scrimp(&["check", &path, "--memory", "64M", "--store", "table", "-p", late]).code(3);
    assert!(answer.stdout.contains("memory budget of 64.0 MiB"), "{}", answer.stdout);
    assert!(answer.stdout.contains("a larger --memory"), "{}", answer.stdout);
}

/// The figures of a count that fits.
fn table(path: &str, way: [&str; 2]) -> (u64, f64, f64) {
    let words = [["count", path, "--json", "--memory", "2G"].as_slice(), &way, &IN_TABLE].concat();
    let json = scrimp(&words).code(0).json();
    let state_bytes = json["state_bytes"].as_u64().unwrap() as f64;
    (json["states"].as_u64().unwrap(), state_bytes, json["bytes_per_state"].as_f64().unwrap())
}

#[test]
fn a_state_costs_eight_bytes_more_than_itself() {
    for padding in [0, 4, 20] {
        let path = file(&format!("table_{padding}.dve"), counters(3, 90, padding));
        for way in WAYS {
            let (states, state_bytes, bytes) = table(&path, way);
            assert_eq!(states, 91 * 91 * 91);
            assert_eq!(state_bytes, 3.0 * (1.0 + padding as f64));
            assert!(bytes <= state_bytes + 8.0, "{bytes} bytes for {state_bytes}, {way:?}");
            assert!(bytes > state_bytes, "{bytes} bytes for {state_bytes}, {way:?}");
        }
    }
}

/// Whatever the moment at which a growing table is looked at.
#[test]
fn growing_costs_little_at_every_size() {
    for most in (37..=90).step_by(2) {
        let path = file(&format!("growing_{most}.dve"), counters(3, most, 0));
        let (states, state_bytes, bytes) = table(&path, WAYS[most % 4 / 2]);
        assert!(states > 50_000);
        assert!(bytes <= 1.1 * (state_bytes + 8.0), "{states} states of {state_bytes} bytes take {bytes} each");
    }
}

/// Few letters, and more vectors than can be learnt: sets of states whose relations are made from what occurs.
fn tied(most: usize) -> String {
    let count = 6;
    let variables: Vec<String> = (0..count).map(|i| format!("v{i}")).collect();
    let mut text = format!("byte {}, z;\n", variables.join(", "));
    for v in &variables {
        text += &format!(
            "process P_{v} {{ state s; init s; trans s -> s {{ guard {v} < {most}; effect {v} = {v} + 1; }}; }}\n"
        );
    }
    let sum: Vec<String> = (0..count).map(|i| format!("v{i} * v{}", (i + 1) % count)).collect();
    text += &format!(
        "process Q {{ state s; init s; trans s -> s {{ guard ({}) % 7 == 3; effect z = (v0 * v1 * v2 + v3 * v4 * v5) % 251; }}; }}\nsystem async;\n",
        sum.join(" + ")
    );
    text
}

/// A second more at most, and a twentieth of the time.
#[test]
fn the_time_is_kept_by_every_engine() {
    let path = file("limit_tied.dve", tied(60));
    let ways: [&[&str]; 5] = [
        &["--engine", "symbolic"],
        &["--engine", "symbolic", "-p", "ctl: AG EF z == 3"],
        &["--forget", "sweep", "--progress", "auto", "-p", "ctl: AG EF z == 250"],
        &["--forget", "sweep", "--progress", "auto", "-p", "invariant: z < 251"],
        &["--store", "dfa", "-p", "invariant: z < 251"],
    ];
    for way in ways {
        let begun = std::time::Instant::now();
        let words = [["check", &path, "--json", "--time", "1s"].as_slice(), way].concat();
        let json = scrimp(&words).code(3).json();
        assert_eq!((&json["verdict"], &json["limits"]["reached"]), (&"incomplete".into(), &"time".into()), "{way:?}");
        assert!(begun.elapsed() < Duration::from_millis(3000), "{way:?}: {:?}", begun.elapsed());
    }
}

/// What is known is told in time, too, or given up: a graph that takes long to write, a run that takes long to tell.
#[test]
fn the_time_is_kept_by_what_follows_a_search() {
    let (wide, deep) = (file("limit_wide.dve", counters(5, 60, 0)), file("limit_long.dve", LONG));
    let folder = scratch("limit_written");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let graph = folder.join("graph.dot").display().to_string();
    let (far, dfs) = (["-p", "reach: y == 80"], ["--order", "dfs"]);
    let ways: [&[&str]; 3] = [
        &["count", &wide, "--graph", &graph],
        &[&["check", &deep], &far[..], &dfs].concat(),
        &[&["check", &deep, "--json"], &far[..], &dfs].concat(),
    ];
    for way in ways {
        let answer = scrimp(&[way, &["--time", "2s"]].concat()).code(3);
        assert!(answer.time < Duration::from_millis(4000), "{way:?}: {:?}", answer.time);
        let child = start(way);
        std::thread::sleep(Duration::from_secs(2));
        terminate(&child);
        let answer = finish(child).code(3);
        assert!(answer.time < Duration::from_millis(2000), "{way:?}: {:?}", answer.time);
    }
    for left in std::fs::read_dir(&folder).expect("a folder").flatten() {
        assert_eq!(left.file_name(), "graph.dot");
        let graph = std::fs::read(left.path()).expect("a graph");
        assert!(graph.ends_with(b"}\n"), "{} bytes of a graph", graph.len());
    }
}

/// A run of 30,001 steps for each `y`.
const LONG: &str = "int x, y;
process P { state s; init s; trans
  s -> s { guard x < 30000; effect x = x + 1; },
  s -> s { guard x == 30000; effect x = 0, y = y + 1; }; }
system async;
";

/// A run that is too long to be told within the budget is left out, and what it shows is told.
#[test]
fn a_run_that_is_too_long_is_left_out() {
    let path = file("limit_run.dve", LONG);
    let words = ["check", &path, "--order", "dfs", "-p", "reach: y == 10", "--json"];
    let (answer, peak) = watch(start(&[&words[..], &["--memory", "100M"]].concat()));
    let json = answer.code(0).json();
    assert_eq!((&json["verdict"], &json["properties"][0]["trace"]), (&"verified".into(), &Value::Null));
    assert!(json["plan"]["decisions"].to_string().contains("of 300,010 events, is left out"), "{json}");
    at_most(peak.unwrap_or(0), 1.05, 100, "a long run");
}

fn terminate(child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").arg(&id).status().is_ok_and(|status| status.success()));
}

/// Whoever sees it first: the budget is used up before the search begins, or it was too small for the program.
#[test]
fn a_budget_that_the_model_uses_up_ends_the_same_way_each_time() {
    for words in [
        ["check", &model("leader.pml"), "-p", "ctl: AG EF 1", "--memory", "14M"],
        ["check", &file("limit_early.dve", counters(4, 17, 0)), "-p", "ctl: AG EF P_0.x == 17", "--memory", "14M"],
    ] {
        let answers: Vec<Answer> = (0..15).map(|_| scrimp(&words)).collect();
        for answer in &answers {
            assert_eq!(answer.code, answers[0].code, "{words:?}: {} {}", answer.stderr, answers[0].stderr);
            assert!(answer.code == Some(3) && !answer.stderr.contains("error"), "{words:?}: {}", answer.stderr);
        }
    }
}

/// A budget that the program itself uses up is refused with what it takes; a search that runs out of a small one
/// ends with what it learnt.
#[test]
fn tiny_budgets_end_cleanly() {
    let path = file("limit_tiny.dve", tied(60));
    let asked: [&[&str]; 3] = [&["-p", "ctl: AG EF z == 250"], &["-p", "ltl: [] <> z == 3"], &["--engine", "symbolic"]];
    for way in asked {
        for mebibytes in [4, 12, 14, 16, 24] {
            let memory = format!("{mebibytes}M");
            let words = [["check", &path, "--json", "--memory", &memory, "--time", "2s"].as_slice(), way].concat();
            let (answer, peak) = watch(start(&words));
            if answer.code == Some(2) && mebibytes < 14 {
                assert!(answer.stderr.contains("allow more than that"), "{words:?}: {}", answer.stderr);
                continue;
            }
            assert!(matches!(answer.code, Some(0 | 1 | 3)), "{words:?}: {:?} {}", answer.code, answer.stderr);
            assert!(!answer.stderr.contains("error"), "{words:?}: {}", answer.stderr);
            // Below that, the program itself takes the most.
            if mebibytes >= 16 {
                at_most(peak.unwrap_or(0), 1.05, mebibytes, &format!("{words:?}"));
            }
        }
    }
}
