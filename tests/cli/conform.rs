//! Logs held against models: runs and mistakes, in every language, with mappings, several logs, and bad input.

use crate::common::command::{Answer, file, model, scratch, scrimp, scrimp_reading};
use serde_json::{Value, json};
use std::time::Duration;

/// The steps of a random run, as `simulate` tells them.
fn steps(name: &str, steps: usize, seed: usize) -> Vec<Value> {
    let (steps, seed) = (steps.to_string(), seed.to_string());
    let words = ["simulate", &model(name), "--steps", &steps, "--seed", &seed, "--trace-format", "json"];
    let run: Value = serde_json::from_str(&scrimp(&words).code(0).stdout).unwrap();
    run["trace"]["steps"].as_array().unwrap().clone()
}

/// A log of a random run: every step, with who did it and what changed.
fn recorded(name: &str, count: usize, seed: usize) -> Vec<Value> {
    let record = |step: Value| {
        let mut record = json!({ "event": step["label"] });
        if let Some(process) = step["processes"].get(0) {
            record["process"] = process.clone();
        }
        for (name, value) in step["changes"].as_object().unwrap() {
            record[name.as_str()] = value.clone();
        }
        record
    };
    steps(name, count, seed).into_iter().map(record).collect()
}

fn log(name: &str, records: &[Value]) -> String {
    file(name, records.iter().map(|record| format!("{record}\n")).collect::<String>())
}

#[track_caller]
fn conform(name: &str, more: &[&str]) -> Answer {
    scrimp(&[&["conform", &model(name)], more].concat())
}

#[test]
fn every_language_has_logs() {
    for name in ["two_phase_commit.dve", "two_phase_commit.pml", "kanban.pnml", "phils3.network", "spawn.pml"] {
        let mut records = recorded(name, 12, 3);
        let path = log(&format!("conform_{name}.jsonl"), &records);
        let answer = conform(name, &[&path]).code(0);
        assert!(answer.stdout.contains(": a run of "), "{}", answer.stdout);
        // Without some of it, steps are missing.
        let first = records.remove(4);
        if records[4]["event"] != first["event"] {
            let cut = log(&format!("conform_cut_{name}.jsonl"), &records);
            conform(name, &[&cut, "--unseen", "1"]).code(0);
            conform(name, &[&cut, "--unseen", "any"]).code(0);
        }
    }
}

#[test]
fn a_commit_that_nobody_voted_for_is_found() {
    let part = |event: &str| json!({ "process": "Coord", "event": event });
    let asked: Vec<Value> = (0..4).map(|i| part(&format!("ask_{i}!"))).collect();
    let mut records = asked.clone();
    records.extend(["ask -> collect", "vote?0", "commit_0!"].map(part));
    let path = log("conform_wrong.jsonl", &records);
    let answer = conform("two_phase_commit.dve", &[&path, "--unseen", "5"]).code(1);
    let text = &answer.stdout;
    assert!(text.contains("6 records fit") && text.contains("the next one does not:"), "{text}");
    assert!(text.contains("conform_wrong.jsonl:7") && text.contains("Coord is at"), "{text}");
    assert!(text.contains("what can happen there:"), "{text}");
    // Whose turn it is is said by a guard.
    let path = log("conform_guard.jsonl", &[part("ask_0!"), part("ask_2!")]);
    let answer = conform("two_phase_commit.dve", &[&path]).code(1);
    assert!(answer.stdout.contains("Coord.k == 2 does not hold: Coord.k = 1"), "{}", answer.stdout);
    assert!(answer.stdout.contains("--unseen N allows"), "{}", answer.stdout);
    // And a value by the value.
    let path = log("conform_value.jsonl", &[json!({ "process": "Coord", "event": "ask_0!", "k": 3 })]);
    let answer = conform("two_phase_commit.dve", &[&path]).code(1);
    assert!(answer.stdout.contains("k would be 1, and the log says 3"), "{}", answer.stdout);
    // Of a net by its tokens.
    let path = log("conform_tokens.jsonl", &[json!({ "event": "c1_spoil" })]);
    let answer = conform("kanban.pnml", &[&path]).code(1);
    assert!(answer.stdout.contains("c1_work has 0 tokens, and 1 are needed"), "{}", answer.stdout);
}

#[test]
fn mappings_say_what_fields_mean() {
    let map = "process node\nprocess tm = Coord\nprocess \"rm*\" = Part_*\nevent kind\n\
               event prepare = ask_{to}!\nevent yes = vote!1\nevent no = vote!0\nevent ready = to logged\n\
               event done = line 34\nvalue asked = k\nvalue votes = Coord.yes + 0\nvalue before = Coord.k before\n\
               word none = 0\nskip beat\nignore k\n";
    let path = file("conform.map", map);
    let mut records: Vec<Value> = (0..4)
        .map(|i| json!({ "node": "tm", "kind": "prepare", "to": i, "asked": i + 1, "before": i, "k": 99 }))
        .collect();
    records.push(json!({ "kind": "beat" }));
    records.push(json!({ "node": "rm2", "kind": "ready" }));
    records.push(json!({ "kind": "done", "votes": "none" }));
    records.push(json!({ "node": "rm2", "kind": "yes", "votes": 1, "ts": "12:00" }));
    records.push(json!({ "node": "rm0", "kind": "no", "votes": 1 }));
    let good = log("conform_mapped.jsonl", &records);
    let answer = conform("two_phase_commit.dve", &[&good, "--map", &path]).code(0);
    assert!(answer.stdout.contains("8 records, 8 steps; 1 record skipped"), "{}", answer.stdout);
    assert!(answer.stdout.contains("fields that say nothing of the model: ts"), "{}", answer.stdout);
    records[3]["asked"] = 7.into();
    let bad = log("conform_mapped_bad.jsonl", &records);
    let answer = conform("two_phase_commit.dve", &[&bad, "--map", &path]).code(1);
    assert!(answer.stdout.contains("k (asked) would be 4, and the log says 7"), "{}", answer.stdout);
    // The same in the comments of a model.
    let text = std::fs::read_to_string(model("two_phase_commit.dve")).unwrap();
    let said: String = map.lines().map(|line| format!("// conform: {line}\n")).collect();
    let annotated = file("conform_annotated.dve", format!("// a model\n{said}{text}"));
    // The comments make line 34 another one.
    let text = std::fs::read_to_string(&annotated).unwrap().replace("line 34", "ask -> collect");
    let annotated = file("conform_annotated.dve", text);
    scrimp(&["conform", &annotated, &good]).code(0);
    scrimp(&["conform", &annotated, &bad]).code(1);
}

#[test]
fn messages_of_promela_are_named_by_channel_and_values() {
    let records = [
        json!({ "process": "Coordinator", "event": "order[0]!ask" }),
        json!({ "process": "Coordinator", "event": "order[1]!ask" }),
        json!({ "process": "Participant_1", "event": "order[0]?ask" }),
        json!({ "process": "Participant:1", "event": "vote!no", "vote": ["no"] }),
        json!({ "process": "0", "event": "vote?no", "v": "no", "vote": [] }),
        json!({ "process": "Coordinator", "event": "order[1]!abort", "decided": "abort" }),
    ];
    let path = log("conform_messages.jsonl", &records);
    let chart = scratch("conform_messages.txt");
    let answer = conform("two_phase_commit.pml", &[&path, "--unseen", "any", "--chart", &chart.to_string_lossy()]);
    answer.code(0);
    let chart = std::fs::read_to_string(chart).unwrap();
    assert!(chart.contains("vote!no") && chart.contains("order[1]!abort"), "{chart}");
    let mut other = records.clone();
    other[5]["event"] = "order[1]!commit".into();
    let path = log("conform_messages_bad.jsonl", &other);
    let answer = conform("two_phase_commit.pml", &[&path, "--unseen", "any"]).code(1);
    assert!(answer.stdout.contains("5 records fit"), "{}", answer.stdout);
}

#[test]
fn several_logs_are_merged() {
    let record = |process: &str, event: &str| json!({ "process": process, "event": event });
    let coord: Vec<Value> = (0..4).map(|i| record("Coord", &format!("ask_{i}!"))).collect();
    let part: Vec<Value> = vec![record("Part_0", "ask_0?"), record("Part_0", "asked -> logged")];
    let (one, other) = (log("conform_coord.jsonl", &coord), log("conform_part.jsonl", &part));
    // What both do together is in both logs.
    let answer = conform("two_phase_commit.dve", &[&one, &other, "--json"]).code(0);
    let json = answer.json();
    assert_eq!((&json["matched"], &json["trace"]["length"]), (&6.into(), &5.into()));
    assert_eq!(json["records"][0].as_array().unwrap().len(), 2);
    // In one file, sorted by process.
    let mixed: Vec<Value> = part.iter().chain(&coord).cloned().collect();
    let path = log("conform_mixed.jsonl", &mixed);
    conform("two_phase_commit.dve", &[&path]).code(1);
    let map = file("conform_order.map", "order process\n");
    conform("two_phase_commit.dve", &[&path, "--map", &map]).code(0);
    // Clocks allow what they do not forbid.
    let clock = |mut record: Value, clock: Value| {
        record["vc"] = clock;
        record
    };
    let clocked = |asked: u64| {
        let mut all: Vec<Value> = (0..2u64).map(|i| clock(coord[i as usize].clone(), json!({ "c": i + 1 }))).collect();
        all.push(clock(part[0].clone(), json!({ "c": 1, "p": 1 })));
        all.push(clock(part[1].clone(), json!({ "c": asked, "p": 2 })));
        all.push(clock(coord[2].clone(), json!({ "c": 3, "p": 2 })));
        all
    };
    let map = file("conform_clock.map", "order clock vc\n");
    let path = log("conform_clocks.jsonl", &clocked(1));
    conform("two_phase_commit.dve", &[&path, "--map", &map]).code(0);
    // The coordinator knew of what comes of its question before it asked.
    let mut wrong = clocked(1);
    for (number, vc) in
        [(2, json!({ "p": 1 })), (3, json!({ "p": 2 })), (0, json!({ "c": 1, "p": 2 })), (1, json!({ "c": 2, "p": 2 }))]
    {
        wrong[number]["vc"] = vc;
    }
    let path = log("conform_clocks_wrong.jsonl", &wrong);
    let answer = conform("two_phase_commit.dve", &[&path, "--map", &map]);
    assert!(answer.code(1).stdout.contains("2 records fit"), "it was asked before it was asked");
    let path = log("conform_no_clock.jsonl", &[record("Coord", "ask_0!")]);
    let message = conform("two_phase_commit.dve", &[&path, "--map", &map]).refused();
    assert!(message.contains("no vector clock in its field `vc`"), "{message}");
    let mut back = clocked(1);
    back[1]["vc"] = json!({ "c": 1 });
    let path = log("conform_clock_back.jsonl", &back);
    let message = conform("two_phase_commit.dve", &[&path, "--map", &map]).refused();
    assert!(
        message.contains(":2:1: error: the entry `c` of the vector clock has not grown: it is 1 after 1 (line 1)"),
        "{message}"
    );
}

#[test]
fn the_run_is_written_and_replayed() {
    let records: Vec<Value> = recorded("two_phase_commit.pml", 14, 5).into_iter().step_by(3).collect();
    let path = log("conform_run.jsonl", &records);
    let trace = scratch("conform_run.json");
    let trace = trace.to_string_lossy();
    conform("two_phase_commit.pml", &[&path, "--unseen", "4", "--trace", &trace]).code(0);
    scrimp(&["simulate", &model("two_phase_commit.pml"), "--trace", &trace]).code(0);
    for format in ["json", "mermaid", "itf", "table"] {
        let words = [&path, "--unseen", "4", "--trace-format", format];
        let answer = conform("two_phase_commit.pml", &words).code(0);
        assert!(!answer.stdout.is_empty() && answer.stderr.contains(": a run of "), "{format}");
    }
    let message = conform("two_phase_commit.pml", &[&path, "--json", "--chart", "-"]).code(2).stderr;
    assert!(message.contains("would both write to standard output"), "{message}");
    let quiet = conform("two_phase_commit.pml", &[&path, "--unseen", "4", "-q"]).code(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn bad_logs_are_shown() {
    let good = "{\"event\": \"ask_0!\"}\n";
    for (name, text, told) in [
        ("empty", "", "error: the log is empty"),
        ("blank", "\n\n", "error: the log is empty"),
        ("broken", "{\"event\": \"ask_0!\"}\n{\"event\": ,}\n", ":2:11: error: this is not JSON: expected value"),
        ("list", "[1]\n", ":1:1: error: a record is a JSON object, and this is a list"),
        ("spread", "{\n\"event\": \"ask_0!\"\n}\n", "help: a log has one object a line"),
        ("nothing", "{\"when\": 3}\n", ":1:1: error: this record says nothing of the model"),
        ("event", "{\"event\": \"ask_7!\"}\n", ":1:11: error: the model has no event `ask_7!`"),
        ("process", "{\"process\": \"Cord\"}\n", ":1:13: error: there is no process `Cord`\n"),
        (
            "part",
            "{\"process\": \"Part_1\", \"event\": \"ask_0!\"}\n",
            "process `Part_1` takes no part in an event `ask_0!`",
        ),
        ("value", "{\"event\": \"ask_0!\", \"Coord\": \"asks\"}\n", ":1:30: error: Coord: `asks` is no value of it"),
        ("shape", "{\"event\": \"ask_0!\", \"Coord.k\": [1]}\n", "error: Coord.k: a list is no value of this"),
        ("cut", "{\"event\": \"as", "error: the only record is cut off in line 1"),
    ] {
        let path = file(&format!("conform_bad_{name}.jsonl"), text);
        let message = conform("two_phase_commit.dve", &[&path]).refused();
        assert!(message.contains(told) && message.contains("conform_bad_"), "{name}: {message}");
        let json = conform("two_phase_commit.dve", &[&path, "--json"]).code(2).json();
        assert_eq!(json["verdict"], "error");
    }
    let near = conform("two_phase_commit.dve", &[&file("conform_near.jsonl", "{\"process\": \"Cord\"}\n")]).refused();
    assert!(near.contains("did you mean `Coord`?"), "{near}");
    // A last line that is cut is left out, and that is said.
    let path = file("conform_cut.jsonl", format!("{good}{{\"event\": \"as"));
    let answer = conform("two_phase_commit.dve", &[&path]).code(0);
    assert!(answer.stderr.contains(":2: the last line is cut off; it was left out"), "{}", answer.stderr);
    // Binary files, folders, files that are not there.
    let path = file("conform_binary.jsonl", [0xff, 0xfe, 0x00, b'\n']);
    assert!(conform("two_phase_commit.dve", &[&path]).refused().contains("this is not UTF-8"));
    let path = file("conform_packed.jsonl", [0x1f, 0x8b, 0x08, 0x00]);
    assert!(conform("two_phase_commit.dve", &[&path]).refused().contains("this log is compressed"));
    assert!(conform("two_phase_commit.dve", &["/"]).refused().contains("error: "));
    assert!(conform("two_phase_commit.dve", &["nowhere.jsonl"]).refused().contains("nowhere.jsonl: error: "));
    assert!(conform("two_phase_commit.dve", &[]).refused().contains("LOG"));
    // A fields that is nearly one of the model is asked about.
    let path = file("conform_slip.jsonl", "{\"event\": \"ask_0!\", \"Coord.kk\": 7}\n");
    let answer = conform("two_phase_commit.dve", &[&path]).code(0);
    assert!(answer.stdout.contains("Coord.kk (did you mean `Coord.k`?)"), "{}", answer.stdout);
    // From a pipe.
    let words = ["conform", &model("two_phase_commit.dve"), "-"];
    scrimp_reading(&words, good).code(0);
    assert!(scrimp(&[&words[..], &["-"]].concat()).refused().contains("standard input is one log"));
}

#[test]
fn bad_mappings_are_shown() {
    let path = file("conform_some.jsonl", "{\"event\": \"ask_0!\"}\n");
    for (text, told) in [
        (
            "proces node\n",
            ".map:1:1: error: `proces` says nothing of a log\n  proces node\n  ^~~~~~\nhelp: did you mean `process`?",
        ),
        (
            "process tm = Cord\n",
            ".map:1:14: error: there is no process `Cord`\n  process tm = Cord\n               ^~~~\nhelp: did you mean `Coord`?",
        ),
        ("\nevent a = ask_0!!\nevent b = vot!1\n", ".map:3:11: error: there is no event `vot!1`"),
        ("value a = Coord.yess\n", ".map:1:17: error: process `Coord` has no location or variable `yess`"),
        ("value a = nothing\n", ".map:1:11: error: unknown name `nothing`"),
        ("unseen many\n", ".map:1:8: error: expected a number of steps or `any`"),
        ("event a = line x\n", ".map:1:11: error: expected the number of a line, found `x`"),
        ("event a = line 32\nunseen 1\nunseen 2\n", ".map:3:8: error: `unseen` is said in line 2 already"),
        // Nothing would come of a rule that no record is about.
        ("process nod\n", ".map:1:9: error: no record has a field `nod`"),
        ("event mgs\nvalue x = Coord.k\n", "some.jsonl:1:1: error: this record says nothing of the model"),
        ("value vale = Coord.k\n", ".map:1:7: error: no record has a field `vale`"),
        (
            "event evnt event\n",
            ".map:1:7: error: no record has a field `evnt`\n  event evnt event\n        ^~~~\nhelp: did you mean `event`?",
        ),
        (
            "event \"a*\" = ask_{n}!\nvalue n = Coord.k\n",
            "some.jsonl:1:1: error: this record has no field `n`, which the mapping puts into the name",
        ),
        ("event a = line 29\n", "help: steps near it are in lines 30. The end"),
    ] {
        let map = file("conform_bad.map", text);
        let message = conform("two_phase_commit.dve", &[&path, "--map", &map]).refused();
        assert!(message.contains(told), "{message}");
    }
    let message = conform("two_phase_commit.dve", &[&path, "--unseen", "many"]).refused();
    assert!(message.contains("--unseen: expected a number of steps or `any`"), "{message}");
    assert!(conform("two_phase_commit.dve", &[&path, "--map", "no.map"]).refused().contains("no.map: error: "));
}

#[test]
fn long_logs_are_followed_quickly() {
    // Round after round without a crash.
    let part = |event: String| json!({ "event": event });
    let mut round: Vec<Value> = Vec::new();
    round.extend((0..4).map(|i| part(format!("ask_{i}!"))));
    round.extend((0..4).map(|i| json!({ "process": format!("Part_{i}"), "event": "vote!1" })));
    round.extend((0..4).map(|i| part(format!("commit_{i}!"))));
    round.extend((0..4).map(|i| part(format!("finish_{i}!"))));
    let log_of = |count: usize| -> Vec<Value> { round.iter().cycle().take(count).cloned().collect() };
    for (count, most) in [(10_000, 5), (360, 1)] {
        let path = log(&format!("conform_{count}.jsonl"), &log_of(count));
        for unseen in ["5", "any"] {
            let answer = conform("two_phase_commit.dve", &[&path, "--unseen", unseen]).code(0);
            assert!(answer.time < Duration::from_secs(most), "{count} {unseen}: {:?}", answer.time);
        }
    }
    // A mistake at the end.
    let mut records = log_of(10_000);
    records.push(part("commit_3!".into()));
    let path = log("conform_10001.jsonl", &records);
    let answer = conform("two_phase_commit.dve", &[&path, "--unseen", "5"]).code(1);
    assert!(
        answer.stdout.contains("10,000 records fit") && answer.stdout.contains(" steps; --trace FILE"),
        "{}",
        answer.stdout
    );
}

#[test]
fn limits_are_kept() {
    let counters = crate::common::command::counters(8, 200, 0);
    let big = file("conform_counters.dve", counters);
    let path = log("conform_far.jsonl", &[json!({ "P_7.x": 150 })]);
    let words = ["conform", &big, &path, "--unseen", "any", "--time", "500ms", "--json"];
    let answer = scrimp(&words).code(3);
    assert!(answer.time < Duration::from_secs(10), "{:?}", answer.time);
    assert_eq!(
        (&answer.json()["verdict"], &answer.json()["limits"]["reached"]),
        (&"incomplete".into(), &"time".into())
    );
    let answer = scrimp(&["conform", &big, &path, "--unseen", "any", "--memory", "64M"]).code(3);
    assert!(answer.stdout.contains("the memory budget is used up"), "{}", answer.stdout);
}

/// A log that is larger than the memory is read as a stream, and states are forgotten.
#[test]
fn a_log_may_be_longer_than_memory() {
    let text = "process P { int x; state a; init a; trans a -> a { effect x = x + 1; }; }\nsystem async;\n";
    let counter = file("conform_counter.dve", text);
    let records: String = (1..=30_000)
        .map(|x| {
            format!("{{\"x\": {x}, \"process\": \"P\", \"event\": \"a -> a\", \"text\": \"{}\"}}\n", "#".repeat(1000))
        })
        .collect();
    let path = file("conform_long.jsonl", records);
    let answer = scrimp(&["conform", &counter, &path, "--memory", "24M"]).code(0);
    assert!(answer.stdout.contains("30,000 records"), "{}", answer.stdout);
}
