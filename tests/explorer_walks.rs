//! The explorer's answers: walks that are saved and gone again, and checks whose runs are loaded.

mod common;

use common::command::{model, scratch, scrimp};
use common::explorer::Served;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

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
    let ended = |server: &Served| {
        let begun = Instant::now();
        loop {
            let told = server.get("api/check").json();
            if told["running"] == false {
                return told;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{told}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    server.post("api/check", &json!({ "options": { "memory": "256M" } })).json();
    let told = ended(&server);
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
    let told = ended(&large);
    assert!(told["samples"].as_array().is_some_and(|samples| !samples.is_empty()), "{told}");
    // What is wrong with a property is said.
    server.post("api/check", &json!({ "properties": ["invariant: nobody == 3"] })).json();
    let told = ended(&server);
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
