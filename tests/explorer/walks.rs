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
        scrimp(&["check", &common::command::model("leader.pml"), "-p", "claim"]).code(2).stderr.contains("no claim")
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
