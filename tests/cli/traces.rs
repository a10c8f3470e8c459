//! Runs in every form: `--trace-format` and `check --trace`, of models of every kind.

use crate::common::command::{file, model, scratch, scrimp};
use crate::common::schema::Schema;
use serde_json::{Value, json};

/// Two processes that pass messages through a channel and without one, and begin again.
const ROUND: &str = "chan data = [2] of { byte, bit };\nchan ack = [0] of { bit };\nbyte seen[2];\n\
    active proctype S() { bit b; do :: atomic { data!7,b; b = 1 - b }; ack?_ od }\n\
    active proctype R() { byte n; bit x; do :: data?n,x; seen[x] = n; ack!x od }\n\
    ltl ends { <> (seen[0] == 9) }\n";

fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).expect("the run is written")
}

#[test]
fn one_line_a_step() {
    let out = scrimp(&["check", &model("naive_lock.dve")]).code(1).stdout;
    let run = "violated by a shortest run of 4 steps:\n\
        \x20 0  initial state\n\
        \x20    P_0 = idle, P_1 = idle, P_2 = idle, taken = 0, inside = 0\n\
        \x20 1  P_0  naive_lock.dve:22  idle -> seen_free\n\
        \x20 2  P_1  naive_lock.dve:32  idle -> seen_free\n\
        \x20 3  P_0  naive_lock.dve:23  seen_free -> cs    taken = 1, inside = 1\n\
        \x20 4  P_1  naive_lock.dve:33  seen_free -> cs    inside = 2\n\n";
    assert!(out.contains(run), "{out}");
    // A net: what each transition takes and gives.
    let out = scrimp(&["check", &model("unbounded.pnml")]).code(1).stdout;
    assert!(out.contains("  1  close  open -1\n") && out.contains("the marking at the end\n"), "{out}");
    // A run-time error is a step of its own.
    let out = scrimp(&["check", &model("runtime_faults.dve")]).code(1).stdout;
    assert!(out.contains("  4  Divide  runtime_faults.dve:31  calc -> calc  division by zero\n"), "{out}");
}

#[test]
fn lines_are_no_wider_than_they_must_be() {
    for name in ["sliding_window_bad.dve", "needham_schroeder.pml", "philosophers.pml", "events.pml"] {
        let out = scrimp(&["check", &model(name)]).code(1).stdout;
        let run = out.lines().skip_while(|line| !line.contains("initial state"));
        let wide: Vec<&str> =
            run.take_while(|line| !line.is_empty()).filter(|line| line.chars().count() > 100).collect();
        assert!(wide.is_empty(), "{name}:\n{}", wide.join("\n"));
    }
}

#[test]
fn the_cycle_is_marked() {
    let path = file("traces-round.pml", ROUND);
    let out = scrimp(&["check", &path, "-p", "ltl ends"]).code(1).stdout;
    let at = |words: &str| out.find(words).unwrap_or_else(|| panic!("no {words} in\n{out}"));
    assert!(at("<<<<<START OF CYCLE>>>>>") < at("---- and so on for ever, from step "), "{out}");
    let table = scrimp(&["check", &path, "-p", "ltl ends", "--trace-format", "table"]).code(1).stdout;
    assert!(table.contains("---- the cycle begins") && table.contains("and so on for ever, from step "), "{table}");
}

#[test]
fn a_table_has_what_changes() {
    let out = scrimp(&["check", &model("naive_lock.dve"), "--trace-format", "table"]).code(1).stdout;
    let table = "step  process  event              P_0        P_1        taken  inside\n\
        ----  -------  -----------------  ---------  ---------  -----  ------\n\
        0              initial state      idle       idle       0      0\n\
        1     P_0      idle -> seen_free  seen_free\n\
        2     P_1      idle -> seen_free             seen_free\n\
        3     P_0      seen_free -> cs    cs                    1      1\n\
        4     P_1      seen_free -> cs               cs                2\n\
        unchanged: P_2 = idle\n";
    assert!(out.contains(table), "{out}");
    assert!(out.contains("undecided  deadlock"), "the report is there: {out}");
    // What does not fit beside each other stands below.
    let wide =
        scrimp(&["simulate", &model("sliding_window.dve"), "-n", "60", "--trace-format", "table"]).code(0).stdout;
    assert!(wide.lines().all(|line| line.chars().count() <= 100), "{wide}");
    assert!(wide.matches("step  process").count() > 1, "{wide}");
}

#[test]
fn a_run_alone_is_an_object() {
    let phils = model("phils3.dve");
    let answer = scrimp(&["check", &phils, "--trace-format", "json"]).code(1);
    assert!(answer.stderr.contains("violated: deadlock"), "the report makes way: {}", answer.stderr);
    let run = answer.json();
    let errors = Schema::new(include_str!("../../docs/schema/scrimp.schema.json")).check(&run).errors;
    assert!(errors.is_empty(), "{errors:?}");
    let whole = scrimp(&["check", &phils, "--json"]).code(1).json();
    assert_eq!((&run["property"], &run["trace"]), (&json!("deadlock"), &whole["properties"][0]["trace"]));
    // To a file whose name says what it is; it is replayed.
    let path = scratch("traces-phils3.json");
    let written = scrimp(&["check", &phils, "--trace", &path.to_string_lossy()]).code(1);
    assert!(written.stdout.contains("violated: deadlock") && written.stderr.is_empty(), "{}", written.stderr);
    assert_eq!(serde_json::from_str::<Value>(&read(&path)).unwrap(), run);
    let replay = ["simulate", &phils, "--trace", &path.to_string_lossy()];
    assert!(scrimp(&replay).code(0).stdout.contains("replayed, 6 steps"));
    let again = scrimp(&[&replay as &[&str], &["--trace-format", "json"]].concat()).code(0);
    assert_eq!((&again.json()["trace"], &again.json()["property"]), (&run["trace"], &Value::Null));
    assert!(again.stderr.contains("deadlock: no event is enabled"), "{}", again.stderr);
    let quiet = scrimp(&["check", &phils, "--trace-format", "json", "--quiet"]).code(1);
    assert_eq!((quiet.json(), quiet.stderr.as_str()), (run, ""));
    let verified = scrimp(&["check", &model("peterson3.dve"), "--trace-format", "json"]).code(0);
    assert!(verified.stdout.is_empty() && verified.stderr.contains("no run was found"), "{}", verified.stderr);
}

#[test]
fn a_run_in_the_informal_trace_format() {
    let path = file("traces-itf.pml", ROUND);
    let run = scrimp(&["check", &path, "-p", "ltl ends", "--trace-format", "itf"]).code(1).json();
    let (states, vars) = (run["states"].as_array().unwrap(), run["vars"].as_array().unwrap());
    assert_eq!(run["#meta"]["format"], "ITF");
    let again = run["loop"].as_u64().expect("a loop") as usize;
    assert!(again < states.len());
    for (index, state) in states.iter().enumerate() {
        assert_eq!(state["#meta"]["index"], index);
        assert_eq!(state.as_object().unwrap().len(), vars.len() + 1);
        vars.iter().for_each(|name| expression(&state[name.as_str().unwrap()]));
    }
    // After the last state comes the one that the loop names.
    assert_ne!(states[again], states[states.len() - 1]);
    let types = &run["#meta"]["varTypes"];
    assert_eq!(
        (&types["seen"], &types["data"], &types["S"]),
        (&json!("Int -> Int"), &json!("Seq(<<Int, Int>>)"), &json!("Str"))
    );
    assert!(states.iter().any(|state| state["data"] == json!([{ "#tup": [{ "#bigint": "7" }, { "#bigint": "1" }] }])));
    assert_eq!(
        states[0]["seen"],
        json!({ "#map": [[{ "#bigint": "0" }, { "#bigint": "0" }], [{ "#bigint": "1" }, { "#bigint": "0" }]] })
    );
    // An atomic sequence is one step.
    let steps = scrimp(&["check", &path, "-p", "ltl ends", "--trace-format", "json"]).code(1).json();
    let whole = steps["trace"]["steps"].as_array().unwrap().iter().filter(|step| !step["event"].is_null()).count();
    assert_eq!(states.len(), whole, "the state that the loop comes back to is not there twice");
    let net = scrimp(&["simulate", &model("kanban.pnml"), "--trace-format", "itf"]).code(0).json();
    assert_eq!(net["states"].as_array().unwrap().len(), 21);
    assert!(net["loop"].is_null());
}

/// Fails unless this is an expression of the format.
fn expression(value: &Value) {
    match value {
        Value::String(_) | Value::Bool(_) => {}
        Value::Array(list) => list.iter().for_each(expression),
        Value::Object(fields) => {
            assert_eq!(fields.len(), 1, "{value}");
            match fields.iter().next().unwrap() {
                (tag, Value::String(digits)) if tag == "#bigint" => assert!(digits.parse::<i64>().is_ok(), "{value}"),
                (tag, Value::Array(list)) if tag == "#tup" => list.iter().for_each(expression),
                (tag, Value::Array(pairs)) if tag == "#map" => {
                    assert!(pairs.iter().all(|pair| pair.as_array().is_some_and(|pair| pair.len() == 2)));
                    pairs.iter().for_each(expression);
                }
                _ => panic!("no expression: {value}"),
            }
        }
        _ => panic!("no expression: {value}"),
    }
}

#[test]
fn a_run_as_a_sequence_diagram() {
    let path = file("traces-mermaid.pml", ROUND);
    let out = scrimp(&["check", &path, "-p", "ltl ends", "--trace-format", "mermaid"]).code(1).stdout;
    for line in [
        "sequenceDiagram\n",
        "participant p0 as S:0\n",
        "participant c0 as data\n",
        "p0-)c0: data!7,0\n",
        "c0->>p1: data?7,0\n",
        "p1->>p0: ack!0\n",
        "loop again and again",
        "\n    end\n",
    ] {
        assert!(out.contains(line), "no {line} in\n{out}");
    }
    let to = scratch("traces-lock.mmd");
    scrimp(&["check", &model("naive_lock.dve"), "--trace", &to.to_string_lossy()]).code(1);
    assert!(read(&to).contains("Note over p0: "), "{}", read(&to));
    let net = scrimp(&["check", &model("unbounded.pnml"), "--trace-format", "mermaid"]).refused();
    assert!(net.contains("no processes"), "{net}");
}

#[test]
fn forms_of_runs_are_refused_where_they_are_not_in_force() {
    let lock = model("naive_lock.dve");
    for words in [
        &["--trace-format", "itf", "--json"] as &[&str],
        &["--trace-format", "text", "--json"],
        &["--trace-format", "itf", "--chart", "-"],
        &["--trace-format", "table", "--quiet"],
        &["--trace", "no-such-folder/run.json"],
        &["--trace", &lock],
        &["--trace-format", "xml"],
    ] {
        let answer = scrimp(&[&["check", &lock] as &[&str], words].concat()).code(2);
        assert!(answer.stderr.contains("error: "), "{words:?}: {}", answer.stderr);
    }
    assert!(scrimp(&["check", &lock, "--trace", &lock]).refused().contains("--trace"));
    scrimp(&["simulate", &lock, "-i", "--trace-format", "itf"]).refused();
    scrimp(&["simulate", &lock, "--walks", "5", "--json", "--trace-format", "itf"]).code(2);
    let both = scratch("traces-both.itf.json");
    let answer = scrimp(&["check", &lock, "--json", "--trace", &both.to_string_lossy()]).code(1);
    assert_eq!(answer.json()["verdict"], "violated");
    assert!(read(&both).contains("\"ITF\""));
}

#[test]
fn walks_have_the_same_forms() {
    let words = ["simulate", &model("phils3.dve"), "--walks", "50", "--trace-format"];
    let with = |format: &str| scrimp(&[&words as &[&str], &[format]].concat()).code(1);
    assert_eq!(with("itf").json()["#meta"]["format"], "ITF");
    assert!(with("itf").stderr.contains("violated") && with("mermaid").stdout.starts_with("sequenceDiagram\n"));
    assert!(with("table").stdout.contains("step  process"));
}
