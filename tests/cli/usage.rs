//! The command as a user meets it: what it prints, where, and with which exit code.

use crate::common::command::{counters, file, finish, model, scratch, scrimp, scrimp_reading, start};
use serde_json::Value;
use std::time::{Duration, Instant};

#[test]
fn help_teaches() {
    let help = scrimp(&["--help"]).code(0).stdout;
    for word in ["check", "count", "plan", "simulate", "completions", "Try first:", "Exit codes:"] {
        assert!(help.contains(word), "no {word} in:\n{help}");
    }
    let help = scrimp(&["check", "--help"]).code(0).stdout;
    // Lines may be broken anywhere.
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in ["--property", "--memory", "--time", "--threads", "--json", "invariant: EXPR", "reach: EXPR", "512M"] {
        assert!(help.contains(word), "no {word} in:\n{help}");
    }
    for command in ["count", "plan", "simulate", "explain", "completions"] {
        scrimp(&[command, "--help"]).code(0);
    }
}

#[test]
fn version() {
    assert_eq!(scrimp(&["--version"]).code(0).stdout, format!("scrimp {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = scrimp(&["completions", shell]).code(0).stdout;
        assert!(script.contains("scrimp") && script.contains("keep-going"), "{shell}");
    }
    assert!(scrimp(&["completions", "tcsh"]).refused().contains("tcsh"));
}

#[test]
fn wrong_usage() {
    assert!(scrimp(&[]).code(2).stderr.contains("Usage"));
    assert!(scrimp(&["check"]).refused().contains("no model is given"));
    assert!(scrimp(&["chekc", "x.dve"]).refused().contains("did you mean `scrimp check`?"));
    let message = scrimp(&["check", &model("phils3.dve"), "--propertty", "deadlock"]).refused();
    assert!(message.contains("--propertty") && message.contains("--property"), "{message}");
    for (flag, value, word) in [
        ("--memory", "much", "64M"),
        ("--memory", "0", "out of range"),
        ("--time", "soon", "90s"),
        ("--threads", "two", "two"),
        ("--threads", "0", "1 to 1024"),
    ] {
        let message = scrimp(&["count", &model("phils3.dve"), flag, value]).refused();
        assert!(message.contains(word), "{flag} {value}: {message}");
    }
}

#[test]
fn a_model_that_is_not_there() {
    let message = scrimp(&["check", "no/such/model.dve"]).refused();
    assert!(message.starts_with("no/such/model.dve: error:"), "{message}");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("not-a-model.txt");
    std::fs::write(&path, "neither this nor that").unwrap();
    let message = scrimp(&["check", path.to_str().unwrap()]).refused();
    assert!(message.contains(".dve") && message.contains(".pml"), "{message}");
}

#[test]
fn a_broken_model_is_shown_with_the_place() {
    let path = file(
        "broken.dve",
        "byte turn;\nprocess P {\n  state a; init a;\n  trans a -> a { guard tunr == 1; };\n}\nsystem async;\n",
    );
    let message = scrimp(&["check", &path]).refused();
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[0].starts_with(&format!("{path}:4:24: error: ")), "{message}");
    assert!(lines[1].ends_with("trans a -> a { guard tunr == 1; };"), "{message}");
    assert_eq!(lines[1].find("tunr"), lines[2].find('^'), "{message}");
    assert!(lines[3].contains("`turn`"), "{message}");
}

#[test]
fn a_broken_property_is_shown_with_the_place() {
    let phils = model("phils3.dve");
    let message = scrimp(&["check", &phils, "-p", "reach: forc[0] == 1"]).refused();
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[0].starts_with("property:1:8: error: "), "{message}");
    assert_eq!(lines[1].find("forc"), lines[2].find('^'), "{message}");
    assert!(lines[3].contains("`fork`"), "{message}");
    assert!(scrimp(&["check", &phils, "-p", "reach: Phil_0@thnk"]).refused().contains("`think`"));
    assert!(scrimp(&["check", &phils, "-p", "invariant: Phil_9@eat"]).refused().contains("Phil_9"));
    assert!(scrimp(&["check", &phils, "-p", "deadlok"]).refused().contains("`deadlock`"));
    let path = file("wrong.props", "deadlock\n\n# prose\ninvariant: fork[0] <\n");
    assert!(scrimp(&["check", &phils, "--property-file", &path]).refused().starts_with(&format!("{path}:4:")));
    assert!(scrimp(&["check", &phils, "--property-file", "no.props"]).refused().starts_with("no.props: error:"));
}

#[test]
fn verified() {
    let answer = scrimp(&["check", &model("peterson3.dve")]).code(0);
    let first = answer.stdout.lines().next().unwrap();
    assert!(first.ends_with("peterson3.dve: verified"), "{first}");
    assert!(answer.stdout.contains("1,570 states"), "{}", answer.stdout);
    assert_eq!(answer.stderr, "");
}

#[test]
fn violated_with_a_trace() {
    let answer = scrimp(&["check", &model("phils3.dve")]).code(1);
    assert!(answer.stdout.lines().next().unwrap().ends_with("phils3.dve: violated: deadlock"));
    assert!(answer.stdout.contains("a shortest run of 6 steps"), "{}", answer.stdout);
    assert!(answer.stdout.contains("\n  6  Phil_"), "{}", answer.stdout);
    assert!(answer.stdout.contains("fork[0] = 1"), "{}", answer.stdout);
    assert!(answer.stdout.contains("phils3.dve:20  sit -> left"), "{}", answer.stdout);
    assert_eq!(answer.stderr, "");
}

#[test]
fn assertions_and_faults_are_checked_unasked() {
    let answer = scrimp(&["check", &model("naive_lock.dve")]).code(1);
    assert!(answer.stdout.contains("violated   assertion: "), "{}", answer.stdout);
    let answer = scrimp(&["check", &model("runtime_faults.dve")]).code(1);
    assert!(answer.stdout.contains("violated   faults"), "{}", answer.stdout);
    assert!(answer.stdout.contains("calc -> calc  division by zero\n"), "{}", answer.stdout);
    scrimp(&["check", &model("runtime_faults.dve"), "-p", "assertions", "-p", "deadlock"]).code(0);
    scrimp(&["check", &model("naive_lock.dve"), "-p", "faults"]).code(0);
}

#[test]
fn counted() {
    let answer = scrimp(&["count", &model("phils3.dve")]).code(0);
    assert!(answer.stdout.lines().next().unwrap().ends_with("phils3.dve: counted"));
    let value = |name: &str| {
        let line = answer.stdout.lines().find(|line| line.trim_start().starts_with(name));
        line.unwrap_or_else(|| panic!("no {name}")).split_whitespace().last().unwrap().to_string()
    };
    assert_eq!([value("states"), value("transitions"), value("deadlocks"), value("levels")], ["154", "411", "1", "16"]);
}

#[test]
fn json_has_every_field() {
    let fields = [
        "verdict",
        "guarantee",
        "states",
        "transitions",
        "deadlocks",
        "visits",
        "stored_peak",
        "bytes_per_state",
        "memory_peak_bytes",
        "seconds",
        "plan",
        "properties",
        "limits",
    ];
    for (words, code) in [
        (vec!["check".into(), model("peterson3.dve")], 0),
        (vec!["check".into(), model("phils3.dve")], 1),
        (vec!["count".into(), model("phils3.dve"), "--order".into(), "dfs".into()], 0),
    ] {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.push("--json");
        let json = scrimp(&words).code(code).json();
        for field in fields {
            assert!(!json[field].is_null(), "{words:?}: no {field}");
        }
        assert_eq!(json["visits"].as_u64().unwrap() + json["open"].as_u64().unwrap(), json["states"].as_u64().unwrap());
        assert!(json["limits"]["reached"].is_null());
    }
    let json = scrimp(&["check", &model("peterson3.dve"), "--json", "--memory", "100M", "--time", "1m"]).code(0).json();
    assert_eq!(json["verdict"], "verified");
    assert_eq!(json["guarantee"], "exhaustive");
    assert_eq!((&json["states"], &json["transitions"]), (&1570.into(), &4061.into()));
    assert_eq!(json["visits"], 1570);
    assert_eq!(json["plan"]["order"], "bfs");
    assert_eq!(json["limits"]["memory_bytes"], 100 << 20);
    assert_eq!(json["limits"]["time_seconds"], 60.0);
    assert_eq!(json["properties"][0]["name"], "deadlock");
    assert_eq!(json["properties"][0]["verdict"], "verified");
    assert!(json["properties"][0]["trace"].is_null());
    let json = scrimp(&["check", &model("phils3.dve"), "--json"]).code(1).json();
    assert_eq!(json["verdict"], "violated");
    let trace = &json["properties"][0]["trace"];
    assert_eq!(trace["length"], 6);
    assert_eq!(trace["steps"].as_array().unwrap().len(), 6);
    assert_eq!(trace["initial"]["Phil_0"], "think");
    assert!(trace["steps"][0]["line"].as_u64().unwrap() > 0);
}

/// A search that ends with a violation leaves states that were found and not expanded.
#[test]
fn an_early_end_leaves_states_open() {
    let full = scrimp(&["count", &model("phils3.dve"), "--json"]).code(0).json();
    assert_eq!(full["open"], 0);
    for way in [["--threads", "1"], ["--threads", "2"], ["--order", "dfs"]] {
        let json = scrimp(&[["check", &model("phils3.dve"), "--json"].as_slice(), &way].concat()).code(1).json();
        assert!(json["states"].as_u64() < full["states"].as_u64(), "{way:?}");
        assert!(json["open"].as_u64() > Some(0), "{way:?}");
        assert_eq!(json["guarantee"], "counterexample", "{way:?}");
    }
}

/// A script that asked for JSON gets JSON, a person reading the log gets the message.
#[test]
fn errors_are_json_too() {
    let path = file("json_error.dve", "process {");
    for words in [["check", &path, "--json"], ["count", "none.dve", "--json"], ["plan", &path, "--json"]] {
        let answer = scrimp(&words).code(2);
        let json = answer.json();
        assert_eq!(json["verdict"], "error");
        assert_eq!(json["message"].as_str().unwrap().trim_end(), answer.stderr.trim_end());
    }
}

#[test]
fn quiet_says_nothing() {
    for (name, code) in [("peterson3.dve", 0), ("phils3.dve", 1)] {
        let answer = scrimp(&["check", &model(name), "--quiet"]).code(code);
        assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""));
    }
    let answer = scrimp(&["count", &model("phils3.dve"), "-q"]).code(0);
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""));
    assert!(scrimp(&["count", "none.dve", "--quiet"]).refused().contains("none.dve"));
}

#[test]
fn no_colours_in_a_pipe() {
    let phils = model("phils3.dve");
    for words in [["check", &phils], ["count", &phils], ["simulate", &phils], ["plan", &phils], ["check", "none.dve"]] {
        let answer = scrimp(&words);
        assert!(!answer.stdout.contains('\x1b') && !answer.stderr.contains('\x1b'), "{words:?}");
    }
}

#[test]
fn progress_is_shown_when_asked_for() {
    let path = file("progress.dve", counters(5, 200, 0));
    let answer = scrimp(&["count", &path, "--time", "1300ms", "--memory", "300M", "--show-progress"]).code(3);
    assert!(answer.stderr.lines().count() >= 1, "no progress");
    assert!(answer.stderr.lines().all(|line| line.contains(" states ")), "{}", answer.stderr);
}

#[test]
fn properties_on_the_command_line_and_in_a_file() {
    let lock = model("hyman.dve");
    let exclusion = "invariant: !(P_0@cs && P_1@cs)";
    let answer = scrimp(&["check", &lock, "--property", exclusion]).code(1);
    assert!(answer.stdout.contains(&format!("violated   {exclusion}")), "{}", answer.stdout);
    assert!(answer.stdout.contains("of 7 steps"), "{}", answer.stdout);
    let path = file("hyman.props", format!("# what should hold\nexclusion = {exclusion}\n\ndeadlock # too\n"));
    let json = scrimp(&["check", &lock, "--property-file", &path, "-p", "reach: P_0@cs", "--json"]).code(1).json();
    let names: Vec<&str> = json["properties"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["reach: P_0@cs", "exclusion", "deadlock"]);
}

/// What the command line takes, a file takes.
#[test]
fn a_property_file_may_ask_for_faults_and_assertions() {
    let path = file("all.props", "faults\nassertions\ndeadlock\n");
    let answer = scrimp(&["check", &model("naive_lock.dve"), "--property-file", &path, "--keep-going"]).code(1);
    assert!(answer.stdout.contains("verified   faults"), "{}", answer.stdout);
    assert!(answer.stdout.contains("violated   assertion: "), "{}", answer.stdout);
}

#[test]
fn keep_going_decides_everything() {
    let words =
        ["check", &model("phils3.dve"), "-p", "deadlock", "-p", "invariant: fork[0] == 0", "-p", "reach: fork[2] == 1"];
    let verdicts = |extra: &[&str]| -> Vec<String> {
        let json = scrimp(&[&words, extra].concat()).code(1).json();
        json["properties"].as_array().unwrap().iter().map(|p| p["verdict"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(verdicts(&["--json"])[..2], ["incomplete", "violated"]);
    assert_eq!(verdicts(&["--json", "--keep-going"]), ["violated", "violated", "verified"]);
}

/// One question asked twice has one answer.
#[test]
fn a_property_given_twice_is_decided_twice() {
    let phils = model("phils3.dve");
    for order in ["bfs", "dfs"] {
        let words = ["check", &phils, "-p", "deadlock", "-p", "again = deadlock", "-k", "--json", "--order", order];
        let json = scrimp(&words).code(1).json();
        assert_eq!(json["properties"][0]["verdict"], "violated", "{order}");
        assert_eq!(json["properties"][1]["verdict"], "violated", "{order}");
    }
}

#[test]
fn reachability() {
    let answer = scrimp(&["check", &model("water_jugs.dve"), "-p", "reach: five == 4"]).code(0);
    assert!(answer.stdout.contains("shown by a shortest run of 6 steps"), "{}", answer.stdout);
    let answer = scrimp(&["check", &model("counter_committed.dve"), "-p", "reach: A@store && B@store"]).code(1);
    assert!(answer.stdout.contains("no reachable state satisfies it"), "{}", answer.stdout);
}

#[test]
fn plan_says_what_would_be_done() {
    let phils = model("phils3.dve");
    let text = scrimp(&["plan", &phils, "--memory", "1G", "-p", "reach: fork[0] == 1"]).code(0).stdout;
    for word in ["3 processes", "6 bytes a state", "bfs", "table", "1.0 GiB", "as asked for", "reach: fork[0] == 1"] {
        assert!(text.contains(word), "no {word} in:\n{text}");
    }
    let json = scrimp(&["plan", &phils, "--json", "--threads", "2"]).code(0).json();
    assert_eq!(json["plan"]["threads"], "2");
    assert_eq!(json["properties"][0], "deadlock");
    assert!(scrimp(&["plan", &phils, "--order", "dfs", "--threads", "2"]).refused().contains("--order bfs"));
}

#[test]
fn combinations_that_do_not_exist_are_refused() {
    let phils = model("phils3.dve");
    let refusal = |words: &[&str]| scrimp(&[&["check", phils.as_str()], words].concat()).refused();
    assert!(
        refusal(&["--order", "dfs", "--threads", "2"]).contains("use --order bfs or random, or leave out --threads")
    );
    for (words, reason) in [
        (&["--reduce", "por+sleep", "--forget", "pseudo-root"][..], "sleep sets are kept with their states"),
        (&["--reduce", "por+sleep", "--threads", "2"], "--reduce por"),
        (&["--store", "comback", "--forget", "pseudo-root"], "none may be dropped"),
        (&["--engine", "symbolic", "--store", "tree"], "no single states to keep"),
        (&["--engine", "symbolic:saturation", "--reduce", "por"], "level by level"),
        (&["--engine", "bmc:3", "--reduce", "por"], "nothing to reduce"),
        (&["--dont-care"], "--engine symbolic"),
        (&["--reduce", "symmetry", "--forget", "pseudo-root"], "not all predecessors of the states that it stands for"),
        (&["--reduce", "symmetry", "--graph", "g.dot"], "one state stands for several"),
        (&["--reduce", "symmetry", "-p", "ltl: []<> Phil_0@think"], "processes exchanged"),
    ] {
        let message = refusal(words);
        assert!(message.contains(reason), "{words:?}: {message}");
    }
    for (flag, known) in [("--reduce", "none"), ("--engine", "explicit")] {
        let message = refusal(&[flag, "frobnicate"]);
        assert!(message.contains("frobnicate") && message.contains(known), "{message}");
    }
    let message = refusal(&["--store", "frobnicate"]);
    assert!(message.contains("frobnicate") && message.contains("tree"), "{message}");
    assert!(scrimp(&["count", &phils, "--in-degrees", "--threads", "2"]).refused().contains("--in-degrees"));
}

#[test]
fn symmetry_counts_orbits_and_is_refused_where_there_is_none() {
    let phils = model("phils5.dve");
    let counted = scrimp(&["count", &phils, "--reduce", "symmetry:orbits"]).code(0).stdout;
    for row in
        ["orbits of states                     898", "states in all orbits               4,474", "up to 5 states"]
    {
        assert!(counted.contains(row), "{counted}");
    }
    let json = scrimp(&["count", &phils, "--reduce", "symmetry:orbits", "--json"]).code(0).json();
    assert_eq!(
        (&json["states"], &json["symmetries"], &json["states_in_orbits"]),
        (&898.into(), &5.into(), &4474.into())
    );
    // The run that is shown is one of the model, and a shortest one.
    let answer = scrimp(&["check", &phils, "--reduce", "symmetry", "-p", "reach: Phil_3@both && Phil_1@both"]).code(0);
    assert!(answer.stdout.contains("a shortest run of 6 steps"), "{}", answer.stdout);
    assert!(answer.stdout.contains("left -> both"), "{}", answer.stdout);
    // One of the stations has the token at first.
    let refusal = scrimp(&["check", &model("token_ring.dve"), "--reduce", "symmetry"]).refused();
    assert!(refusal.contains("no two of its processes, variables or values are interchangeable"), "{refusal}");
}

#[test]
fn a_property_process_is_a_question_about_runs() {
    let path = model("starvation.dve");
    let answer = scrimp(&["check", &path]).code(1);
    assert!(answer.stdout.contains("violated   Starves"), "{}", answer.stdout);
    scrimp(&["check", &path, "-p", "invariant: !(P_0@cs && P_1@cs)"]).code(0);
    assert!(scrimp(&["count", &path]).code(0).stdout.contains("32"));
}

#[test]
fn random_runs_follow_their_seed() {
    let phils = model("phils5.dve");
    let run = |seed: &str| scrimp(&["simulate", &phils, "--seed", seed, "--steps", "30"]).code(0).stdout;
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
    assert!(run("7").starts_with("  0  initial state\n"));
    let text = scrimp(&["simulate", &model("frogs.dve"), "-n", "1000"]).code(0).stdout;
    assert!(text.contains("deadlock: no event is enabled"), "{text}");
}

#[test]
fn a_trace_can_be_replayed() {
    let phils = model("phils3.dve");
    let json = scrimp(&["check", &phils, "--json"]).code(1);
    let path = file("phils3.trace.json", &json.stdout);
    let replay = scrimp(&["simulate", &phils, "--trace", &path]).code(0).stdout;
    assert!(replay.contains("deadlock: no event is enabled"), "{replay}");
    assert!(replay.ends_with("replayed, 6 steps\n"), "{replay}");
    let alone = file("alone.trace.json", json.json()["properties"][0]["trace"].to_string());
    scrimp(&["simulate", &phils, "--trace", &alone]).code(0);
    for other in ["phils4.dve", "peterson3.dve"] {
        let message = scrimp(&["simulate", &model(other), "--trace", &path]).code(2).stderr;
        assert!(message.contains("another model"), "{message}");
    }
}

/// A trace that was tampered with: an event that is not enabled, a value that does not come about.
#[test]
fn a_wrong_trace_is_refused() {
    let phils = model("phils3.dve");
    let json = scrimp(&["check", &phils, "--json"]).code(1).json();
    let refuse = |name: &str, change: &dyn Fn(&mut Value), word: &str| {
        let mut json = json.clone();
        change(&mut json["properties"][0]["trace"]);
        let path = file(name, json.to_string());
        let message = scrimp(&["simulate", &phils, "--trace", &path]).code(2).stderr;
        assert!(message.contains(word), "{name}: {message}");
    };
    refuse("event.json", &|trace| trace["steps"][1] = trace["steps"][5].clone(), "step 2");
    refuse("value.json", &|trace| trace["steps"][1]["changes"]["fork[0]"] = "9".into(), "fork[0] becomes 1, not \"9\"");
    refuse("initial.json", &|trace| trace["initial"]["Phil_0"] = "eat".into(), "initial state");
    let none = file("none.json", scrimp(&["check", &model("peterson3.dve"), "--json"]).stdout);
    assert!(scrimp(&["simulate", &phils, "--trace", &none]).refused().contains("no trace"));
    let text = file("text.json", "this is not JSON");
    assert!(scrimp(&["simulate", &phils, "--trace", &text]).refused().contains("error"));
    scrimp(&["simulate", &phils, "--trace", "none-at-all.json"]).refused();
}

#[test]
fn a_run_by_hand() {
    let words = ["simulate", &model("phils3.dve"), "--interactive"];
    let text = scrimp_reading(&words, "0\n99\nx\n1\nq\n0\n").code(0).stdout;
    assert!(text.contains("  1  Phil_0  phils3.dve:19  think -> sit"), "{text}");
    assert!(text.contains("  2  Phil_1  phils3.dve:31  think -> sit"), "{text}");
    assert_eq!(text.matches("please give one of the numbers above").count(), 2, "{text}");
    assert!(!text.contains("  3  Phil"), "{text}");
    scrimp_reading(&words, "").code(0);
    scrimp_reading(&words, "0\n").code(0);
    assert!(scrimp(&["simulate", &model("phils3.dve"), "-i", "--trace", "x"]).refused().contains("--trace"));
}

#[test]
fn the_time_limit_is_kept() {
    let path = file("time.dve", counters(5, 200, 0));
    for more in [["--threads", "1"], ["--threads", "2"], ["--order", "dfs"]] {
        let words = [["count", path.as_str(), "--json", "--time", "1s", "--memory", "1G"].as_slice(), &more].concat();
        let answer = scrimp(&words).code(3);
        let json = answer.json();
        assert_eq!((&json["verdict"], &json["limits"]["reached"]), (&"incomplete".into(), &"time".into()), "{more:?}");
        assert_eq!(json["guarantee"], "none");
        assert!(json["states"].as_u64().unwrap() > 10_000);
        assert!(answer.time < Duration::from_secs(4), "{more:?}: {:?}", answer.time);
    }
    let text = scrimp(&["check", &path, "--time", "200ms", "--memory", "1G", "--reduce", "none"]).code(3).stdout;
    assert!(text.contains("incomplete") && text.contains("undecided  deadlock"), "{text}");
    assert!(text.contains("time limit") && text.contains("--time"), "{text}");
}

/// Ctrl-C ends a run with what was learnt so far.
#[cfg(unix)]
#[test]
fn an_interrupted_run_still_answers() {
    let path = file("interrupt.dve", counters(5, 200, 0));
    for more in [["--threads", "1"], ["--threads", "2"], ["--order", "dfs"]] {
        let child = start(&[["count", path.as_str(), "--json", "--memory", "1G"].as_slice(), &more].concat());
        wait_for_work(child.id(), Duration::from_millis(300));
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let answer = finish(child).code(3);
        assert_eq!(answer.json()["limits"]["reached"], "interrupt", "{more:?}");
        assert!(answer.json()["states"].as_u64().unwrap() > 1000);
        assert!(answer.time < Duration::from_secs(3), "{more:?}: {:?}", answer.time);
    }
}

/// Waits until a process has computed for so long, however busy the machine is.
fn wait_for_work(process: u32, long: Duration) {
    for _ in 0..2000 {
        std::thread::sleep(Duration::from_millis(10));
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The time in user mode is the twelfth field behind the name, in hundredths of a second.
        let ticks = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(11)?.parse::<u64>().ok());
        if ticks.is_some_and(|ticks| Duration::from_millis(ticks * 10) >= long) {
            return;
        }
    }
    panic!("the process did nothing for long");
}

/// A reader that goes away, as with `| head`, is no reason to complain.
#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = start(&["simulate", &model("phils8.dve"), "-n", "20000"]);
    drop(child.stdout.take());
    finish(child).code(0);
}

/// Whatever the file holds: a message, no answer, and soon.
#[test]
fn no_file_is_too_strange() {
    let nested = |inner: &str| {
        format!("byte x;\nprocess P {{ state s; init s; trans s -> s {{ guard {inner}; }}; }}\nsystem async;\n")
    };
    let good = std::fs::read(model("phils3.dve")).unwrap();
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("empty.dve", vec![]),
        ("blank.dve", b" \n\t\n".to_vec()),
        ("binary.dve", (0..=255u8).cycle().take(50_000).collect()),
        ("high_bytes.dve", (128..=255u8).cycle().take(50_000).collect()),
        ("zeros.dve", vec![0; 4096]),
        ("not_gzip.dve.gz", good.clone()),
        ("no_system.dve", b"process P { state s; init s; }\n".to_vec()),
        ("no_process_end.dve", b"process P { state s; init s; ".to_vec()),
        ("no_comment_end.dve", b"/* process P { state s; init s; } system async;".to_vec()),
        ("cut.dve", good[..good.len() / 2].to_vec()),
        ("twice.dve", [good.as_slice(), &good].concat()),
        ("synchronous.dve", b"process P { state s; init s; }\nsystem sync;\n".to_vec()),
        ("parentheses.dve", nested(&format!("{}x{}", "(".repeat(10_000), ")".repeat(10_000))).into_bytes()),
        ("open_parentheses.dve", nested(&"(".repeat(1_000_000)).into_bytes()),
        ("minus.dve", nested(&format!("{}x", "-".repeat(1_000_000))).into_bytes()),
        ("long_number.dve", nested(&"9".repeat(1_000_000)).into_bytes()),
        ("large_array.dve", b"byte a[2000000000];\nprocess P { state s; init s; }\nsystem async;\n".to_vec()),
        ("negative_array.dve", b"byte a[-1];\nprocess P { state s; init s; }\nsystem async;\n".to_vec()),
        ("division.dve", b"const byte k = 1 / 0;\nprocess P { state s; init s; }\nsystem async;\n".to_vec()),
    ];
    for (name, contents) in files {
        let path = file(name, contents);
        let answer = scrimp(&["check", &path]);
        let time = answer.time;
        let message = answer.refused();
        assert!(message.starts_with(&path) && message.contains("error: "), "{name}: {message}");
        assert!(!message.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{name}: {message:?}");
        assert!(time < Duration::from_secs(5), "{name}: {time:?}");
    }
}

/// A name of a million letters is not repeated in full.
#[test]
fn messages_stay_short() {
    let name = "y".repeat(1_000_000);
    let path = file(
        "long_name.dve",
        format!("process P {{ state s; init s; trans s -> s {{ guard {name}; }}; }}\nsystem async;\n"),
    );
    let message = scrimp(&["check", &path]).refused();
    assert!(message.len() < 5000, "a message of {} bytes", message.len());
}

#[test]
fn a_file_of_a_hundred_megabytes() {
    let path = scratch("hundred_megabytes.dve");
    std::fs::File::create(&path).and_then(|file| file.set_len(100 << 20)).expect("a sparse file can be made");
    let start = Instant::now();
    let message = scrimp(&["check", path.to_str().unwrap()]).refused();
    assert!(message.contains("104857600"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(2));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_folder_is_not_a_model() {
    let path = scratch("folder.dve");
    std::fs::create_dir_all(&path).unwrap();
    assert!(scrimp(&["count", path.to_str().unwrap()]).refused().contains("folder"));
}

/// A full disk loses the answer, and a script must not take that for success.
#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = |words: &[&str], full_stdout: bool| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_scrimp"));
        let full = full.try_clone().unwrap();
        if full_stdout {
            command.stdout(full)
        } else {
            command.stderr(full)
        };
        command.args(words).output().unwrap()
    };
    let lock = model("dekker.dve");
    assert_eq!(run(&["check", &lock, "--json"], true).status.code(), Some(2));
    assert_eq!(run(&["completions", "bash"], true).status.code(), Some(2));
    // Where only the remarks are lost, the answer stands.
    let warned = file(
        "warned.dve",
        "byte a[2], b; process P { state s; init s; trans s -> s { guard a < 3; effect b = 1 - b; }; } system async;",
    );
    assert_eq!(run(&["check", &warned], false).status.code(), Some(0));
}

#[test]
fn a_budget_below_the_program_itself_is_refused() {
    let answer = scrimp(&["count", &model("dekker.dve"), "--memory", "1M"]).code(2);
    assert!(answer.stderr.contains("allow more than that"), "{}", answer.stderr);
}
