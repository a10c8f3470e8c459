//! Logs held against models: what a record says counts for just that, and what contradicts itself is refused.

use crate::common::command::{Answer, file, scratch, scrimp};
use std::time::Duration;

const PASSING: &str = "channel {byte} c[0];\n\
    process A { byte v; state s, t, u; init s; trans s -> t { sync c?v; }, t -> u { sync c!1; }; }\n\
    process B { byte v; state s, t, u; init s; trans s -> t { sync c!1; }, t -> u { sync c?v; }; }\n\
    system async;\n";

#[track_caller]
fn held(model: &str, logs: &[&str], more: &[&str]) -> Answer {
    let logs: Vec<String> =
        logs.iter().enumerate().map(|(number, text)| file(&format!("{model}_{number}.jsonl"), text)).collect();
    let logs: Vec<&str> = logs.iter().map(String::as_str).collect();
    scrimp(&[&["conform", model], &logs[..], more].concat())
}

/// What a log says is no pattern.
#[test]
fn data_is_no_pattern() {
    let text = "channel {byte} vote[0];\nprocess A { state s, t; init s; trans s -> t { sync vote!1; }; }\n\
                process B { byte v; state s, t; init s; trans s -> t { sync vote?v; }; }\nsystem async;\n";
    let model = file("conform_data.dve", text);
    let map = file("conform_data.map", "event msg\nprocess node\nevent vote = vote!{v}\nevent \"sent *\" = vote!*\n");
    for (said, code) in
        [("\"1\"", 0), ("1", 0), ("\"*\"", 1), ("\"7 | from s\"", 1), ("\"\"", 1), ("\"{node}\"", 1), ("0", 1)]
    {
        let log = format!("{{\"node\":\"A\",\"msg\":\"vote\",\"v\":{said}}}\n");
        held(&model, &[&log], &["--map", &map]).code(code);
    }
    for (said, code) in [("1", 0), ("*", 1), ("1 | from s", 1), ("{v}", 1)] {
        let log = format!("{{\"node\":\"A\",\"v\":1,\"msg\":\"sent {said}\"}}\n");
        held(&model, &[&log], &["--map", &map]).code(code);
    }
}

/// Who receives does not send.
#[test]
fn each_end_of_a_message_has_its_own_name() {
    let promela = "chan c = [0] of { byte };\nactive proctype A() { byte v; c?v; c!1 }\nactive proctype B() { byte v; c!1; c?v }\n";
    let variable = PASSING.replace("c!1", "c!w").replace("byte v;", "byte v; byte w = 1;");
    for (name, text) in [("dir.dve", PASSING), ("dir.pml", promela), ("dir2.dve", &variable)] {
        let model = file(&format!("conform_{name}"), text);
        for (said, code) in [
            ("{\"process\":\"A\",\"event\":\"c!1\"}\n", 1),
            ("{\"process\":\"B\",\"event\":\"c!1\"}\n", 0),
            ("{\"process\":\"A\",\"event\":\"c?1\"}\n", 0),
            ("{\"process\":\"B\",\"event\":\"c?1\"}\n", 1),
            ("{\"process\":\"A\",\"event\":\"c?1\"}\n{\"process\":\"B\",\"event\":\"c!1\"}\n", 0),
            ("{\"event\":\"c!1\"}\n{\"event\":\"c?1\"}\n{\"event\":\"c?1\"}\n{\"event\":\"c!1\"}\n", 0),
            // Two messages were passed, and not three.
            ("{\"event\":\"c!1\"}\n{\"event\":\"c!1\"}\n{\"event\":\"c!1\"}\n", 1),
        ] {
            held(&model, &[said], &[]).code(code);
        }
    }
}

/// Both ends of a message are one step, by whatever name of theirs.
#[test]
fn both_ends_are_one_step() {
    let text = "chan c = [0] of { byte };\nactive [2] proctype S() { c!1 }\nactive [2] proctype R() { byte v; c?v }\n";
    let model = file("conform_ends.pml", text);
    let (send, receive) = ("{\"process\":\"S\",\"event\":\"c!1\"}\n", "{\"process\":\"R\",\"event\":\"c?1\"}\n");
    let answer = held(&model, &[&format!("{send}{receive}")], &[]).code(0);
    assert!(answer.stdout.contains("2 records, 1 step"), "{}", answer.stdout);
    held(&model, &[&format!("{send}{receive}{send}{receive}")], &[]).code(0);
    held(&model, &[&format!("{send}{receive}{send}{receive}{send}")], &[]).code(1);
    held(&model, &["{\"event\":\"c!1\"}\n{\"event\":\"c?1\"}\n{\"event\":\"c!1\"}\n{\"event\":\"c?1\"}\n"], &[])
        .code(0);
    // The whole step is in one record alone.
    let whole = "{\"event\":\"c!1 -> c?v\"}\n";
    held(&model, &[&whole.repeat(2)], &[]).code(0);
    held(&model, &[&whole.repeat(3)], &[]).code(1);
}

#[test]
fn values_are_compared_as_numbers() {
    let text = "mtype = { red, green };\nchan q = [3] of { mtype, bool };\nactive proctype P() { q!red(true) }\n";
    let model = file("conform_channel.pml", text);
    for (said, code) in [
        ("\"q\":[[\"red\",true]]", 0),
        ("\"q\":[[\"red\",1]]", 0),
        ("\"q\":[[2,1]]", 0),
        ("\"q\":\"[red,1]\"", 0),
        ("\"q\":[[\"green\",1]]", 1),
        ("\"q\":[[2,false]]", 1),
        ("\"q\":[[\"red\"]]", 1),
        ("\"q\":[]", 1),
        ("\"event\":\"q!red,true\"", 0),
        ("\"event\":\"q!2,1\"", 0),
        ("\"event\":\"q!1,1\"", 1),
        ("\"q\":3", 2),
    ] {
        held(&model, &[&format!("{{\"process\":\"P\",{said}}}\n")], &[]).code(code);
    }
}

/// Before an atomic sequence as behind it: nobody sees what lies between, and whoever does may say it.
#[test]
fn values_before_a_sequence() {
    let model = file("conform_before.pml", "byte x;\nactive proctype P() { atomic { x = 1; x = 2 }; x = 3 }\n");
    let map = file("conform_before.map", "value was = x before\n");
    for (was, code) in [(0, 0), (1, 0), (2, 1)] {
        held(&model, &[&format!("{{\"event\":\"x = 2\",\"was\":{was}}}\n")], &["--map", &map]).code(code);
    }
}

/// Of a sequence of many statements, it is not counted in how many ways some of them can be chosen.
#[test]
fn long_sequences_are_followed() {
    let model = file(
        "conform_loop.pml",
        "byte i;\nactive proctype P() { atomic { do :: i < 26 -> i++ :: else -> break od } }\n",
    );
    let record = "{\"process\":\"P\",\"event\":\"i = (i+1)\"}\n";
    let answer = held(&model, &[&record.repeat(13)], &["--time", "60s"]).code(0);
    assert!(answer.time < Duration::from_secs(30), "{:?}", answer.time);
    held(&model, &[&record.repeat(27)], &["--time", "60s"]).code(1);
}

#[test]
fn clocks_that_contradict_each_other_are_refused() {
    let model = file(
        "conform_clocks.dve",
        "byte x;\nprocess A { state s, t, u; init s; trans s -> t { guard x == 1; effect x = 2; }, t -> u { }; }\n\
         process B { state s, t, u; init s; trans s -> t { effect x = 1; }, t -> u { guard x == 2; }; }\nsystem async;\n",
    );
    let map = file("conform_clocks.map", "order clock vc\n");
    let record = |process: &str, event: &str, clock: &str| {
        format!("{{\"process\":\"{process}\",\"event\":\"{event}\",\"vc\":{clock}}}\n")
    };
    let pair =
        |process: &str, one: &str, other: &str| record(process, "s -> t", one) + &record(process, "t -> u", other);
    let ask = |a: &str, b: &str| held(&model, &[a, b], &["--map", &map]);
    ask(&pair("A", "{\"A\":1}", "{\"A\":2}"), &pair("B", "{\"B\":1}", "{\"B\":2}")).code(0);
    // A's second record is behind B's second, which is fine, and the other way round.
    ask(&pair("A", "{\"A\":1}", "{\"A\":2,\"B\":2}"), &pair("B", "{\"B\":1}", "{\"B\":2}")).code(0);
    ask(&pair("A", "{\"A\":1}", "{\"A\":2,\"B\":2,\"Z\":1}"), &pair("B", "{\"B\":1,\"Z\":1}", "{\"B\":2,\"Z\":1}"))
        .code(0);
    // Not A's first, though, which has to happen between both.
    ask(&pair("A", "{\"A\":1,\"B\":2}", "{\"A\":2,\"B\":2}"), &pair("B", "{\"B\":1}", "{\"B\":2}")).code(1);
    for (a, b, told) in [
        // B's second record knew something that A's does not, though it knows of that record.
        (
            pair("A", "{\"A\":1}", "{\"A\":2,\"B\":2}"),
            pair("B", "{\"B\":1,\"Z\":1}", "{\"B\":2,\"Z\":1}"),
            "knows `B` at 2",
        ),
        (
            record("A", "s -> t", "{\"A\":1,\"B\":1}"),
            record("B", "s -> t", "{\"A\":1,\"B\":1}"),
            "not all that a record",
        ),
        (record("A", "s -> t", "{\"B\":1}"), record("B", "s -> t", "{\"B\":2}"), "no entry"),
        (record("A", "s -> t", "{}"), record("B", "s -> t", "{\"B\":2}"), "no entry"),
        (
            pair("A", "{\"A\":2}", "{\"A\":1}"),
            record("B", "s -> t", "{\"B\":2}"),
            "`A` of the vector clock has not grown",
        ),
    ] {
        let message = ask(&a, &b).refused();
        assert!(message.contains(told), "{message}");
    }
}

#[test]
fn a_name_of_two_transitions_is_refused() {
    let net = "<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\
        <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\
        <place id=\"p\"><name><text>p</text></name><initialMarking><text>2</text></initialMarking></place>\
        <place id=\"q\"><name><text>q</text></name></place>\
        <transition id=\"t1\"><name><text>take</text></name></transition>\
        <transition id=\"t2\"><name><text>t1</text></name></transition>\
        <arc id=\"a\" source=\"p\" target=\"t1\"/><arc id=\"b\" source=\"t1\" target=\"q\"/>\
        <arc id=\"c\" source=\"q\" target=\"t2\"/><arc id=\"d\" source=\"t2\" target=\"p\"/></page></net></pnml>\n";
    let model = file("conform_names.pnml", net);
    let message = held(&model, &["{\"event\":\"t1\"}\n"], &[]).refused();
    assert!(message.contains("`t1` is the identifier of one transition and the name of another"), "{message}");
    held(&model, &["{\"event\":\"take\"}\n{\"event\":\"t2\"}\n"], &[]).code(0);
    let map = file("conform_names.map", "event t1 = take\n");
    held(&model, &["{\"event\":\"t1\"}\n"], &["--map", &map]).code(0);
}

/// What a process logged, with the clock that it had then.
type Logged = Vec<(String, Vec<usize>)>;

/// Rounds of two-phase commit, in which both ends of every message are logged, each process by itself.
fn rounds(count: usize) -> Vec<(String, Logged)> {
    let name = |process: usize| if process == 4 { "Coord".to_string() } else { format!("Part_{process}") };
    let mut logs: Vec<Logged> = vec![Vec::new(); 5];
    let mut clocks = vec![vec![0; 5]; 5];
    let mut pass = |from: usize, to: usize, channel: String, value: &str| {
        clocks[from][from] += 1;
        logs[from].push((format!("{channel}!{value}"), clocks[from].clone()));
        let known = clocks[from].clone();
        clocks[to].iter_mut().zip(known).for_each(|(time, other)| *time = (*time).max(other));
        clocks[to][to] += 1;
        logs[to].push((format!("{channel}?{value}"), clocks[to].clone()));
    };
    for round in 0..count {
        (0..4).for_each(|part| pass(4, part, format!("ask_{part}"), ""));
        let no = (round % 3 == 0).then_some(round % 4);
        for part in (0..4).map(|i| (i * 3 + round) % 4) {
            pass(part, 4, "vote".into(), if no == Some(part) { "0" } else { "1" });
        }
        let decided = if no.is_some() { "abort" } else { "commit" };
        (0..4).for_each(|part| pass(4, part, format!("{decided}_{part}"), ""));
        (0..4).for_each(|part| pass(4, part, format!("finish_{part}"), ""));
    }
    logs.into_iter().enumerate().map(|(process, log)| (name(process), log)).collect()
}

#[test]
fn many_logs_are_followed_quickly() {
    let model = crate::common::command::model("two_phase_commit.dve");
    let map = file("conform_many.map", "order clock vc\n");
    let order = file("conform_many_order.map", "order process\nignore vc\n");
    let names = ["Part_0", "Part_1", "Part_2", "Part_3", "Coord"];
    let paths: Vec<String> = rounds(22)
        .into_iter()
        .map(|(process, log)| {
            let record = |(event, clock): (String, Vec<usize>)| {
                let clock: Vec<String> =
                    names.iter().zip(clock).map(|(name, time)| format!("\"{name}\":{time}")).collect();
                format!("{{\"process\":\"{process}\",\"event\":\"{event}\",\"vc\":{{{}}}}}\n", clock.join(","))
            };
            file(&format!("conform_many_{process}.jsonl"), log.into_iter().map(record).collect::<String>())
        })
        .collect();
    for map in [&map, &order] {
        for unseen in ["3", "any"] {
            let words = ["conform", &model, "--map", map, "--unseen", unseen, "--time", "60s"];
            let answer = scrimp(&[&words[..], &paths.iter().map(String::as_str).collect::<Vec<_>>()].concat()).code(0);
            assert!(answer.stdout.contains("704 records"), "{}", answer.stdout);
            assert!(answer.time < Duration::from_secs(20), "{map} {unseen}: {:?}", answer.time);
        }
    }
    // The run is one.
    let trace = scratch("conform_many.json");
    let words = ["conform", &model, "--map", &map, "--unseen", "3", "--trace", &trace.to_string_lossy()];
    scrimp(&[&words[..], &paths.iter().map(String::as_str).collect::<Vec<_>>()].concat()).code(0);
    scrimp(&["simulate", &model, "--trace", &trace.to_string_lossy()]).code(0);
}
