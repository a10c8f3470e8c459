//! The explorer's answers: walks that are saved and gone again, and checks whose runs are loaded.

use crate::common;
use crate::common::command::{model, scratch, scrimp};
use crate::common::explorer::Served;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

#[test]
fn a_walk_can_be_saved_and_gone_again() {
    for name in ["two_phase_commit.pml", "alternating_bit.dve", "packing.pnml", "phils3.network"] {
        let server = Served::with(Path::new(&model(name)), &[]);
        let start = server.get("api/model").json()["start"]["node"].clone();
        let end = server.post("api/random", &json!({ "node": start, "steps": 40, "seed": 5 })).json()["node"].clone();
        let state = server.get(&format!("api/node/{end}")).json();
        let path = server.get(&format!("api/path/{end}")).json();
        assert_eq!(path["path"].as_array().unwrap().len() as u64, state["depth"].as_u64().unwrap() + 1, "{name}");
        // Only what is behind a state that the way goes through, if that is asked for.
        let known = path["path"][2]["node"].clone();
        let rest = server.get(&format!("api/path/{end}?after={known}")).json();
        assert_eq!(rest["path"].as_array().unwrap()[..], path["path"].as_array().unwrap()[3..], "{name}");
        let some = server.get(&format!("api/path/{end}?after={known}&most=2")).json();
        assert_eq!(some["path"].as_array().unwrap()[..], path["path"].as_array().unwrap()[3..5], "{name}");
        let trace = server.get(&format!("api/trace/{end}")).json();
        assert_eq!(server.post("api/trace", &trace).json()["node"], end, "{name}");
        // Another program goes the same way, and the explorer begins where it ends.
        let file = scratch(&format!("walk-{name}.json"));
        std::fs::write(&file, trace.to_string()).unwrap();
        let file = file.to_str().unwrap();
        scrimp(&["simulate", &model(name), "--trace", file]).code(0);
        let other = Served::with(Path::new(&model(name)), &["--trace", file]);
        let start = other.get("api/model").json()["start"]["node"].clone();
        let again = other.get(&format!("api/node/{start}")).json();
        assert_eq!((&again["values"], &again["depth"]), (&state["values"], &state["depth"]), "{name}");
    }
}

#[test]
fn a_check_runs_and_its_run_is_loaded() {
    let server = Served::model("models/needham_schroeder.pml");
    server.post("api/check", &json!({ "options": { "memory": "256M" } })).json();
    let told = server.ended();
    assert_eq!(told["verdict"], "violated", "{told}");
    let properties = told["properties"].as_array().unwrap();
    let violated = properties.iter().find(|p| p["verdict"] == "violated").unwrap();
    assert!(violated["steps"].as_u64().unwrap() > 10, "{violated}");
    let loaded = server.post("api/check/load", &json!({ "property": violated["number"] })).json();
    let path = server.get(&format!("api/path/{}", loaded["node"])).json();
    let rows = path["path"].as_array().unwrap().iter().flat_map(|node| node["steps"].as_array().unwrap());
    assert_eq!(rows.filter(|step| step["row"]["kind"] == "rendezvous").count(), 5);
    // One that is stopped says how far it came; meanwhile there is no other.
    let large = Served::model("models/large/counters20.dve");
    large.post("api/check", &json!({ "options": { "memory": "1G" } })).json();
    assert_eq!(large.post("api/check", &json!({})).status, 409);
    std::thread::sleep(Duration::from_millis(700));
    large.post("api/check/stop", &json!({})).json();
    let told = large.ended();
    assert!(told["samples"].as_array().is_some_and(|samples| !samples.is_empty()), "{told}");
    // What is wrong with a property is said.
    server.post("api/check", &json!({ "properties": ["invariant: nobody == 3"] })).json();
    let told = server.ended();
    assert_eq!(told["verdict"], "error");
    assert!(told["message"].as_str().unwrap().contains("nobody"), "{told}");
}

#[test]
fn a_model_that_cannot_be_read_ends_it() {
    let wrong = scratch("wrong-explored.dve");
    std::fs::write(&wrong, "process P { state a; init b; }\n system async;").unwrap();
    let out = scrimp(&["explore", "--no-browser", wrong.to_str().unwrap()]).code(2);
    assert!(out.stderr.contains("wrong-explored.dve:1:"), "{}", out.stderr);
    assert!(scrimp(&["explore", "--no-browser", "nowhere.dve"]).code(2).stderr.contains("nowhere.dve"));
    let path = model("leader.pml");
    let wrong = wrong.to_str().unwrap();
    assert!(scrimp(&["explore", "--no-browser", &path, "--trace", wrong]).code(2).stderr.contains("error"));
}

/// A run of the model with its claim is shown beside the model without it, which stays as it was.
#[test]
fn runs_with_a_claim_disturb_nobody() {
    let server = Served::model("models/two_phase_commit.pml");
    let model = server.get("api/model").json();
    assert!(model["properties"].as_array().unwrap().contains(&json!("claim")), "{model}");
    let mut plain = server.get("api/node/0").json();
    for _ in 0..5 {
        let choice = plain["enabled"][0]["choice"].clone();
        plain = server.post("api/step", &json!({ "node": plain["node"], "choice": choice })).json();
    }
    let here = plain["node"].clone();
    let saved = server.get(&format!("api/trace/{here}")).json();
    // A trace that suits neither changes nothing.
    let wrong = json!({ "initial": { "no_such": "0" }, "steps": [] });
    assert_eq!(server.post("api/trace", &wrong).status, 422);
    assert_eq!(server.get(&format!("api/node/{here}")).json(), plain);
    server.post("api/check", &json!({ "properties": ["claim"] })).json();
    let told = server.ended();
    let properties = told["properties"].as_array().unwrap();
    let violated = properties.iter().find(|p| p["verdict"] == "violated").unwrap_or_else(|| panic!("{told}"));
    assert_eq!(violated["name"], "never claim");
    let loaded = server.post("api/check/load", &json!({ "property": violated["number"] })).json();
    let last = server.get(&format!("api/node/{}", loaded["node"])).json();
    assert_eq!(last["violations"], json!(["never claim"]), "{last}");
    assert_eq!(server.get(&format!("api/node/{here}")).json(), plain);
    // Traces of both are told apart, again and again.
    for _ in 0..2 {
        assert_eq!(server.post("api/trace", &saved).json()["node"], here);
        let again = server.post("api/check/load", &json!({ "property": violated["number"] })).json();
        assert_eq!(again["node"], loaded["node"]);
    }
    let beside = server.post("api/random", &json!({ "node": loaded["node"], "steps": 3, "seed": 1 })).json();
    assert!(beside["node"].as_u64() >= loaded["node"].as_u64());
}

/// Messages of DVE have their values, and those that wait are shown as a channel's.
#[test]
fn messages_of_dve_say_what_they_carry() {
    let path = model("sliding_window_bad.dve");
    let chart = scrimp(&["check", &path, "--chart", "-"]).code(1).stdout;
    assert!(chart.contains("data!1,1  (2)") && chart.contains("data?1,1  (2)") && chart.contains("ack!1"), "{chart}");
    let answer = scrimp(&["check", &path, "--json"]).code(1).json();
    let properties = answer["properties"].as_array().unwrap();
    let trace = &properties.iter().find(|property| property["verdict"] == "violated").unwrap()["trace"];
    assert_eq!((&trace["initial"]["data"], &trace["initial"]["data.len"]), (&json!("[]"), &json!(null)));
    assert_eq!(trace["steps"][1]["changes"]["data"], json!("[0,0][1,1]"), "{trace}");
    // Through a channel of bytes goes what a byte holds.
    let (narrow, text) = (
        scratch("narrow.dve"),
        "channel {byte} c[1]; channel {byte} d[0];\n\
        process P { int x = 300; state a, b, e; init a; trans a -> b { sync c!x; }, b -> e { sync d!x + 1; }; }\n\
        process Q { int y; state a, b, e; init a; trans a -> b { sync c?y; }, b -> e { sync d?y; }; }\nsystem async;\n",
    );
    std::fs::write(&narrow, text).unwrap();
    let chart = scrimp(&["check", narrow.to_str().unwrap(), "-p", "deadlock", "--chart", "-"]).code(1).stdout;
    assert!(chart.contains("c!44") && chart.contains("c?44") && chart.contains("d!45"), "{chart}");
}

/// What the check of a property process finds is replayed by every command.
#[test]
fn runs_of_property_processes_are_gone_again() {
    let (model, file) = (model("starvation.dve"), scratch("starved.json"));
    let answer = scrimp(&["check", &model, "--json", "-p", "claim"]).code(1).stdout;
    std::fs::write(&file, answer).unwrap();
    let file = file.to_str().unwrap();
    assert!(scrimp(&["simulate", &model, "--trace", file]).code(0).stdout.contains("replayed"));
    let server = Served::with(Path::new(&model), &["--trace", file]);
    assert!(server.get("api/model").json()["start"]["loop"].is_u64());
    assert!(
        scrimp(&["check", &common::command::model("leader.pml"), "-p", "claim"])
            .code(2)
            .stderr
            .contains("no never claim")
    );
}

/// Events that begin alike are told apart by what follows.
#[test]
fn sequences_say_where_they_lead() {
    let server = Served::model("models/needham_schroeder.pml");
    let state = server.get("api/node/0").json();
    let labels: Vec<&str> = state["enabled"].as_array().unwrap().iter().map(|e| e["label"].as_str().unwrap()).collect();
    let different: std::collections::HashSet<&&str> = labels.iter().collect();
    assert_eq!(different.len(), labels.len(), "{labels:?}");
}

/// Where a net has to grow for what is met on the way, states are drawn as they then are, and those drawn before are gone.
#[test]
fn the_graph_is_of_the_net_as_it_has_grown() {
    let server = Served::model("models/unbounded.pnml");
    let start = server.get("api/model").json()["start"]["node"].clone();
    let drawn = |expanded: &str| {
        let graph = server.get(&format!("api/graph?node={start}&expanded={expanded}&most=50")).json();
        let vertices = graph["vertices"].as_array().unwrap().clone();
        let numbers: Vec<String> = vertices.iter().map(|vertex| vertex["vertex"].to_string()).collect();
        let labels: Vec<_> = vertices.iter().map(|vertex| vertex["label"].clone()).collect();
        (numbers, labels)
    };
    let (before, labels) = drawn("");
    // Orders come in and nobody serves, until there are more of them than the net had room for.
    let mut node = server.get(&format!("api/node/{start}")).json();
    for _ in 0..300 {
        let enabled = node["enabled"].as_array().unwrap();
        let wanted = |label: &str| enabled.iter().find(|event| event["label"].as_str().unwrap().starts_with(label));
        let choice = wanted("order").or(wanted("calm")).unwrap_or_else(|| panic!("{node}"))["choice"].clone();
        node = server.post("api/step", &json!({ "node": node["node"], "choice": choice })).json();
    }
    assert_eq!(drawn(&before.join(",")).1, labels);
    let old = json!({ "node": start, "vertex": before[1].parse::<u32>().unwrap() });
    assert_eq!(server.post("api/go", &old).status, 404);
    assert!(drawn(&drawn("").0.join(",")).1.len() > labels.len());
}

/// A process that is born has the variables of what it is, whatever stood in its place before.
#[test]
fn processes_have_their_own_variables() {
    let server = Served::model("models/spawn.pml");
    let mut node = server.get("api/node/0").json();
    let mut types = std::collections::HashSet::new();
    for seed in 0..200 {
        let next = server.post("api/random", &json!({ "node": node["node"], "steps": 1, "seed": seed })).json();
        node = server.get(&format!("api/node/{}", next["node"])).json();
        let values = node["values"].as_array().unwrap();
        let names: std::collections::HashSet<_> = values.iter().map(|value| value["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), values.len(), "{node}");
        for process in node["processes"].as_array().unwrap() {
            let kind = process["name"].as_str().unwrap().split(':').next().unwrap();
            let own = values.iter().filter(|v| v["lane"] == process["lane"] && v["channel"] != true);
            let mut own: Vec<&str> = own.map(|v| v["short"].as_str().unwrap()).collect();
            own.sort_unstable();
            let expected: &[&str] = match kind {
                "init" => &["child", "i", "value"],
                "Factorial" => &["n", "result"],
                _ => &["mine", "number"],
            };
            assert!(own.iter().all(|name| expected.contains(name)) && !own.is_empty(), "{process}: {own:?}");
            types.insert(kind.to_string());
        }
    }
    assert_eq!(types.len(), 3);
}

/// A filter looks at everything, and says how much that is.
#[test]
fn filters_find_what_is_not_sent() {
    let server = Served::model("models/kanban.pnml");
    let model = server.get("api/model").json();
    assert_eq!((&model["variables"], &model["events"]), (&json!(16), &json!(16)));
    let plain = server.get("api/node/0").json();
    let (shown, total) = (plain["values"].as_array().unwrap().len() as u64, plain["values_total"].as_u64().unwrap());
    assert!(shown < total && total == 16, "{shown} of {total}");
    let empty = server.get("api/node/0?values=C3_BAD&enabled=nothing").json();
    assert_eq!((empty["values"].as_array().unwrap().len(), &empty["values"][0]["value"]), (1, &json!("0")));
    assert_eq!(empty["values_total"], total);
    assert_eq!((&empty["enabled"], &empty["enabled_total"]), (&json!([]), &plain["enabled_total"]));
    // What has changed is there, however many others come before it.
    let many = scratch("many.dve");
    let text = "byte a[3000];\nprocess P { int i = 2900; state s; init s; trans s -> s { effect a[i] = 1, i = i + 1; }; }\n\
        system async;\n";
    std::fs::write(&many, text).unwrap();
    let server = Served::with(&many, &[]);
    let next = server.post("api/step", &json!({ "node": 0, "choice": 0 })).json();
    let changed: Vec<_> = next["values"].as_array().unwrap().iter().filter(|v| !v["before"].is_null()).collect();
    assert_eq!(changed.iter().map(|v| &v["name"]).collect::<Vec<_>>(), [&json!("a[2900]"), &json!("P.i")]);
    // A process is found by its name, a statement by its line.
    let server = Served::model("models/needham_schroeder.pml");
    let found =
        |text: &str| server.get(&format!("api/node/0?enabled={text}")).json()["enabled"].as_array().unwrap().len();
    let all = found("");
    assert!((1..=all).contains(&found("alice")) && found("no-such-thing") == 0);
}

/// What the parts of a network do together is an arrow; a claim that was taken out has no lane.
#[test]
fn networks_have_arrows() {
    let server = Served::model("models/phils3.network");
    let next = server.post("api/step", &json!({ "node": 0, "choice": 0 })).json();
    let row = &next["steps"][0]["row"];
    assert_eq!((&row["kind"], &row["lane"], &row["to"]), (&json!("rendezvous"), &json!(0), &json!(3)), "{next}");
    let chart = scrimp(&["check", &model("phils3.network"), "-p", "deadlock", "--chart", "-"]).code(1).stdout;
    assert!(chart.contains('▶') && chart.contains("A takes F"), "{chart}");
    let lanes = Served::model("models/starvation.dve").get("api/model").json()["lanes"].clone();
    assert!(lanes.as_array().unwrap().contains(&json!(null)) && lanes[0] == "P_0", "{lanes}");
}

/// A copy of a model that a test may change.
fn copied(name: &str, own: &str) -> (std::path::PathBuf, String) {
    let folder = scratch(own);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let text = std::fs::read_to_string(model(name)).unwrap();
    std::fs::write(&path, &text).unwrap();
    (path, text)
}

/// Waits until the explorer has seen a change.
#[track_caller]
fn watched(server: &Served, seen: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    let begun = std::time::Instant::now();
    loop {
        let told = server.get("api/watch").json();
        if seen(&told) {
            return told;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{told}");
        std::thread::sleep(Duration::from_millis(30));
    }
}

#[test]
fn a_changed_file_is_read_again_and_the_run_taken_along() {
    let (path, text) = copied("alternating_bit.dve", "explored-live");
    let server = Served::with(&path, &[]);
    let walked = server.post("api/random", &json!({ "node": 0, "steps": 12, "seed": 3 })).json()["node"].clone();
    let before = server.get(&format!("api/node/{walked}")).json();
    // An error: it is told with its place, and the model before stays.
    std::fs::write(&path, text.replacen("state ", "stat ", 1)).unwrap();
    let told = watched(&server, |told| !told["problem"].is_null());
    let line = 1 + text.lines().position(|line| line.contains("state ")).unwrap();
    assert!(told["problem"]["line"].as_u64().is_some_and(|at| at >= line as u64), "{told}");
    assert!(told["problem"]["column"].as_u64() >= Some(1) && told["version"] == 0, "{told}");
    assert_eq!(server.get(&format!("api/node/{walked}")).json(), before);
    // The same model a line further down: the whole run is there again, in states of other numbers.
    std::fs::write(&path, format!("// a line\n{text}")).unwrap();
    let told = watched(&server, |told| told["version"] == 1);
    assert_eq!(told["problem"], json!(null));
    assert_eq!(server.get(&format!("api/node/{walked}")).status, 404);
    let carry = json!({ "node": walked, "at": walked, "loop": null });
    let carried = server.post("api/carry", &carry).json();
    assert!(carried["lost"].is_null() && carried["steps"] == 12 && carried["of"] == 12, "{carried}");
    let after = server.get(&format!("api/node/{}", carried["node"])).json();
    assert!(after["values"] == before["values"] && after["depth"] == before["depth"]);
    let line = |view: &serde_json::Value| view["steps"][0]["line"].as_u64().unwrap();
    assert_eq!(line(&after), line(&before) + 1);
    // Nobody who asks once more loses anything, and what was never there is not found.
    let again = json!({ "node": carried["node"], "at": carried["at"], "loop": null });
    assert_eq!(server.post("api/carry", &again).json()["node"], carried["node"]);
    assert_eq!(server.post("api/carry", &json!({ "node": 4_000_000, "at": 0 })).status, 404);
}

#[test]
fn an_event_that_is_gone_ends_the_run_before_it() {
    let moves = ["a -> b { effect x = 1; }", "b -> c { effect x = 2; }", "c -> a {}"];
    let written = |moves: &[&str]| {
        format!("byte x;\nprocess P {{ state a, b, c; init a; trans {}; }}\nsystem async;\n", moves.join(", "))
    };
    let path = scratch("explored-gone.dve");
    std::fs::write(&path, written(&moves)).unwrap();
    let server = Served::with(&path, &[]);
    let walked = server.post("api/random", &json!({ "node": 0, "steps": 3, "seed": 1 })).json()["node"].clone();
    std::fs::write(&path, written(&[moves[0], "b -> a { effect x = 2; }", moves[2]])).unwrap();
    watched(&server, |told| told["version"] == 1);
    let carried = server.post("api/carry", &json!({ "node": walked, "at": walked, "loop": null })).json();
    assert_eq!((&carried["steps"], &carried["of"], &carried["lost"]), (&json!(1), &json!(3), &json!("P: b -> c")));
    assert_eq!(carried["at"], carried["node"]);
    // The same events with other effects are the same run, to other states.
    std::fs::write(&path, written(&["a -> b { effect x = 7; }", moves[1], moves[2]])).unwrap();
    watched(&server, |told| told["version"] == 2);
    let carried = server.post("api/carry", &json!({ "node": carried["node"], "at": carried["at"] })).json();
    assert_eq!((&carried["steps"], &carried["lost"]), (&json!(1), &json!(null)));
    let state = server.get(&format!("api/node/{}", carried["node"])).json();
    assert_eq!(state["values"][0]["value"], "7");
}

#[test]
fn included_files_are_watched_too() {
    let folder = scratch("explored-include");
    std::fs::create_dir_all(&folder).unwrap();
    let (path, header) = (folder.join("main.pml"), folder.join("most.h"));
    std::fs::write(&header, "#define MOST 3\n").unwrap();
    std::fs::write(&path, "#include \"most.h\"\nbyte x;\nactive proctype P() { do :: x < MOST -> x++ od }\n").unwrap();
    let server = Served::with(&path, &[]);
    std::fs::write(&header, "#define MOST nobody\n").unwrap();
    let told = watched(&server, |told| !told["problem"].is_null());
    assert!(told["problem"]["message"].as_str().unwrap().contains("nobody"), "{told}");
    std::fs::write(&header, "#define MOST 1\n").unwrap();
    watched(&server, |told| told["version"] == 1 && told["problem"].is_null());
    let answer = scrimp(&["check", path.to_str().unwrap(), "--json", "-p", "invariant: x <= 1"]).code(0).json();
    server.post("api/check", &json!({ "properties": ["invariant: x <= 1"] }));
    assert_eq!(server.ended()["verdict"], answer["verdict"]);
}

#[test]
fn a_text_is_diagnosed_tried_checked_and_saved() {
    let (path, text) = copied("leader.pml", "explored-edited");
    let server = Served::with(&path, &[]);
    let told = server.get("api/text").json();
    assert_eq!((&told["text"], &told["trial"]), (&json!(text), &json!(null)));
    let wrong = text.replace("number == mine ->", "numbr == mine ->");
    let line = 1 + text.lines().position(|line| line.contains("number == mine ->")).unwrap();
    let problem = server.post("api/diagnose", &json!({ "text": wrong })).json()["problem"].clone();
    assert!(problem["line"] == line && problem["message"].as_str().unwrap().contains("numbr"), "{problem}");
    let column = 1 + wrong.lines().nth(line - 1).unwrap().find("numbr").unwrap();
    assert_eq!((&problem["column"], &problem["end_column"]), (&json!(column), &json!(column + 5)));
    assert!(server.post("api/diagnose", &json!({ "text": text })).json()["problem"].is_null());
    // What has errors is not tried; what has none is, and the file stays.
    assert!(server.post("api/try", &json!({ "text": wrong })).json()["refused"]["line"] == line);
    let other = text.replace("assert(leaders == 1)", "assert(leaders == 2)");
    let tried = server.post("api/try", &json!({ "text": other })).json();
    assert!(tried["version"] == 1 && tried["trial"] == true, "{tried}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    server.post("api/check", &json!({}));
    let checked = server.ended();
    assert!(checked["verdict"] == "violated" && checked["trial"] == true && checked["version"] == 1, "{checked}");
    assert!(checked["command"].is_null(), "nobody else can check a text that is not saved");
    // Saving wants to know what it writes over.
    let save = |stamp: &serde_json::Value| server.post("api/save", &json!({ "text": other, "stamp": stamp }));
    assert_eq!(save(&json!("0")).status, 409);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let saved = save(&told["stamp"]).json();
    assert!(saved["trial"] == false && saved["problem"].is_null(), "{saved}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
    // A text with an error is saved as well, and the model of the one before stays.
    let broken = server.post("api/save", &json!({ "text": wrong, "stamp": saved["stamp"] })).json();
    assert!(broken["problem"]["line"] == line && broken["version"] == saved["version"], "{broken}");
    // Back to what the file said at first, by another program.
    std::fs::write(&path, &text).unwrap();
    watched(&server, |told| told["problem"].is_null());
    let left = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "nothing is left beside the file");
}

#[test]
fn another_site_writes_nothing() {
    let (path, text) = copied("peterson.pml", "explored-guarded");
    let server = Served::with(&path, &[]);
    let body = json!({ "text": "byte x;", "stamp": null }).to_string();
    let json = "Content-Type: application/json";
    for name in ["save", "try", "reload"] {
        let address = format!("/{}/api/{name}", server.secret);
        assert_eq!(server.ask("POST", &address, &["Origin: http://evil.example", json], &body).status, 403);
        assert_eq!(server.ask("POST", &address, &["Sec-Fetch-Site: cross-site", json], &body).status, 403);
        assert_eq!(server.ask("POST", &address, &["Content-Type: text/plain"], &body).status, 415);
        assert_eq!(server.ask("POST", &format!("/{}/api/{name}", "0".repeat(32)), &[json], &body).status, 403);
    }
    assert!(std::fs::read_to_string(&path).unwrap() == text && server.get("api/watch").json()["version"] == 0);
}

/// The data that a page by itself has within it.
#[track_caller]
fn data(page: &str) -> serde_json::Value {
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
    serde_json::from_str(data).unwrap()
}

#[test]
fn a_run_becomes_a_page_by_itself() {
    let page = scratch("needham.html");
    let page = page.to_str().unwrap();
    let done = scrimp(&["explore", &model("needham_schroeder.pml"), "-p", "assertions", "--export", page]).code(0);
    assert!(done.stderr.contains("violates assertions"), "{}", done.stderr);
    let text = std::fs::read_to_string(page).unwrap();
    assert!(!text.contains("src=") && !text.contains("href=\"http"), "it loads nothing");
    let shown = data(&text);
    assert_eq!(shown["property"]["verdict"], "violated");
    let steps = scrimp(&["check", &model("needham_schroeder.pml"), "-p", "assertions", "--json"]).code(1).json();
    let states = shown["states"].as_array().unwrap();
    let single: usize = states.iter().map(|state| state["steps"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(single, steps["properties"][0]["trace"]["steps"].as_array().unwrap().len());
    let source = std::fs::read_to_string(model("needham_schroeder.pml")).unwrap();
    assert_eq!(shown["texts"][0].as_array().unwrap().len(), source.lines().count());
    // What is shown in the page can be given on as well, with its loop.
    let server = Served::model("models/starvation.dve");
    server.post("api/check", &json!({ "properties": ["ltl: [] <> P_0@cs"] }));
    server.ended();
    let loaded = server.post("api/check/load", &json!({ "property": 0 })).json();
    assert_eq!(loaded["property"]["name"], "ltl: [] <> P_0@cs");
    let asked = json!({ "node": loaded["node"], "loop": loaded["loop"], "property": loaded["property"] });
    let given = server.post("api/export", &asked).json();
    assert_eq!(given["name"], "starvation.dve.html");
    let shown = data(given["html"].as_str().unwrap());
    assert!(shown["loop"].is_u64() && shown["property"] == loaded["property"]);
    // Where there is nothing to show, or the model would be written over, it says so.
    let nothing = scrimp(&["explore", &model("peterson.pml"), "--export", page]).refused();
    assert!(nothing.contains("no run to show") && nothing.contains("verified"), "{nothing}");
    let (path, text) = copied("phils3.dve", "explored-spared");
    let path = path.to_str().unwrap();
    assert!(scrimp(&["explore", path, "--export", path]).refused().contains("overwrite"));
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}
