//! Models in Rust in the explorer: they are walked, drawn, checked and replayed as model files are.

#[allow(dead_code)]
#[path = "../../examples/rust_model.rs"]
mod rust_model;

use crate::common::explorer::Served;
use crate::driver::Browser;
use crate::models::{Endless, KEPT, Post};
use rust_model::{Buffer, Wake, properties};
use scrimp::explore::{Page, Serve, serve};
use scrimp::{
    Batch, Control, Describe, DescribedModel, EventCode, EventText, Model, ModelFacts, Options, Plan, Property, Trace,
};
use scrimp_core::Condition;
use scrimp_system::Random;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn quiet() -> Serve {
    Serve { open_browser: false, ..Serve::default() }
}

/// Serves a model by a thread, for as long as the test runs.
fn served<M: DescribedModel + Send + 'static>(
    model: M,
    properties: impl Into<Vec<Property<Condition<'static>>>>,
) -> Served {
    serve_by_thread(Page::new(model, properties, &quiet()).expect("it is served"))
}

fn serve_by_thread(page: Page) -> Served {
    let address = page.address();
    std::thread::spawn(move || page.run());
    Served::at(&address, None)
}

/// Begins a check, and waits for what it says at the end.
#[track_caller]
fn checked(server: &Served, asked: &Value) -> Value {
    assert_eq!(server.post("api/check", asked).json()["running"], true);
    server.ended()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("no {name} in {value}"))
}

fn labels(list: &[Value]) -> Vec<&str> {
    list.iter().map(|one| one["label"].as_str().expect("a label")).collect()
}

/// All that the page is told of a state's values: those by themselves, and where the processes are.
fn told_values(node: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let values = list(node, "values").iter().map(|value| (text(&value["name"]), text(&value["value"])));
    let places = list(node, "processes").iter().filter(|process| process["at"].is_string());
    let mut all: Vec<_> = values.chain(places.map(|p| (text(&p["name"]), text(&p["at"])))).collect();
    all.sort();
    all
}

#[track_caller]
fn agrees(node: &Value, model: &impl DescribedModel, state: &[u8]) -> Batch {
    let mut values = model.values(state);
    values.sort();
    assert_eq!(told_values(node), values, "{node}");
    let mut batch = Batch::new(model.state_bytes());
    model.expand(state, &mut batch);
    let expected: Vec<String> = (0..batch.len()).map(|i| model.event(batch.event(i)).label).collect();
    assert_eq!(labels(list(node, "enabled")), expected, "{node}");
    batch
}

/// Steps one by one, each held against the model itself.
fn walk(server: &Served, model: &impl DescribedModel, seed: u64) {
    let mut random = Random(seed);
    let mut starts = Batch::new(model.state_bytes());
    model.initial(&mut starts);
    let start = random.below(starts.len());
    let mut state = starts.state(start).to_vec();
    let mut node = server.get(&format!("api/node/{}", server.get("api/model").json()["initial"][start])).json();
    for depth in 1..=30 {
        let batch = agrees(&node, model, &state);
        if batch.is_empty() {
            assert!(node["end"].is_string(), "{node}");
            break;
        }
        let choice = random.below(batch.len());
        node = server.post("api/step", &json!({ "node": node["node"], "choice": choice })).json();
        assert_eq!(node["depth"], depth);
        let next = batch.state(choice).to_vec();
        let mut changed: Vec<String> = model.changes(&state, &next).into_iter().map(|change| change.name).collect();
        let mut told: Vec<String> =
            list(&node["steps"][0], "changes").iter().map(|change| change[0].as_str().unwrap().to_string()).collect();
        assert_eq!(labels(list(&node, "steps")), [model.event(batch.event(choice)).label]);
        changed.sort();
        told.sort();
        assert_eq!(told, changed);
        state = next;
    }
    // What is taken by chance is a run of the model too: some state is there after all labels.
    let end = server.post("api/random", &json!({ "node": 0, "steps": 40, "seed": seed })).json()["node"].clone();
    let path = server.get(&format!("api/path/{end}")).json();
    let mut possible = vec![starts.state(0).to_vec()];
    for step in &list(&path, "path")[1..] {
        let label = step["steps"][0]["label"].as_str().expect("a label");
        let mut next = Vec::new();
        for state in &possible {
            let mut batch = Batch::new(model.state_bytes());
            model.expand(state, &mut batch);
            let named = |i: &usize| model.event(batch.event(*i)).label == label;
            next.extend((0..batch.len()).filter(named).map(|i| batch.state(i).to_vec()));
        }
        next.dedup();
        possible = next;
    }
    let last = told_values(&server.get(&format!("api/node/{end}")).json());
    let sorted = |mut values: Vec<(String, String)>| {
        values.sort();
        values
    };
    assert!(possible.iter().any(|state| sorted(model.values(state)) == last), "{last:?}");
}

#[test]
fn walks_are_those_of_the_model() {
    let faulty = Buffer { producers: 2, consumers: 1, capacity: 1, wake: Wake::One };
    let (post, buffer) = (served(Post, Post::properties()), served(faulty, properties(&faulty)));
    for seed in 1..=10 {
        walk(&post, &Post, seed);
        walk(&buffer, &faulty, seed);
    }
    // The processes are those that the model names, or those that its events name.
    let model = buffer.get("api/model").json();
    assert_eq!(model["lanes"], json!(["producer 0", "producer 1", "consumer 0"]));
    assert_eq!(
        (&model["name"], &model["language"], &model["events"]),
        (&json!("Buffer"), &json!("Rust"), &Value::Null)
    );
    let model = post.get("api/model").json();
    assert_eq!(model["lanes"], json!(["sender", "receiver"]));
    assert_eq!((&model["files"], &model["net"]), (&json!([]), &json!(false)));
    assert_eq!(model["properties"], json!(["at most two wait", KEPT, "deadlock"]));
    // A value is its process's where its name says so.
    let node = post.get("api/node/0").json();
    let owned = list(&node, "values").iter().find(|value| value["name"] == "receiver.idle").unwrap();
    assert_eq!((&owned["lane"], &node["processes"][0]["at"]), (&json!(1), &json!("ready")));
    // The graph has the states around.
    let graph = post.get("api/graph?node=0&expanded=&most=50").json();
    assert_eq!(list(&graph, "vertices").len(), 4, "{graph}");
    let vertex = &graph["vertices"].as_array().unwrap().iter().find(|v| v["current"] == false).unwrap()["vertex"];
    let there = post.post("api/go", &json!({ "node": 0, "vertex": vertex })).json();
    assert_eq!(post.get(&format!("api/node/{}", there["node"])).json()["depth"], 1);
}

/// What decides the run is not seen in the values: it is still found again.
#[test]
fn a_broken_invariant_is_found_and_its_run_loaded() {
    let server = served(Post, Post::properties());
    for options in [json!({}), json!({ "threads": 2, "memory": "1G" }), json!({ "order": "dfs", "keep_going": true })] {
        let told = checked(&server, &json!({ "properties": [KEPT, "deadlock"], "options": options }));
        assert_eq!((&told["verdict"], &told["command"]), (&json!("violated"), &Value::Null), "{told}");
        assert!(told["samples"][0]["states"].as_u64().is_some_and(|states| states > 3), "{told}");
        let properties = list(&told, "properties");
        assert_eq!(properties.iter().map(|p| &p["name"]).collect::<Vec<_>>(), [KEPT, "deadlock"]);
        assert_eq!(properties[0]["verdict"], "violated");
        let loaded = server.post("api/check/load", &json!({ "property": 0 })).json();
        let path = server.get(&format!("api/path/{}", loaded["node"])).json();
        let steps: Vec<Value> = list(&path, "path").iter().flat_map(|node| list(node, "steps").clone()).collect();
        assert_eq!(properties[0]["steps"], steps.len());
        assert_eq!(labels(&steps).last(), Some(&"lose"), "{path}");
        if options["order"].is_null() {
            assert_eq!(steps.len(), 3, "a shortest run: {:?}", labels(&steps));
        }
        let last = server.get(&format!("api/node/{}", loaded["node"])).json();
        assert_eq!(last["violations"], json!([KEPT]));
        assert!(last["steps"][0]["violated"].is_string(), "{last}");
        let lost = list(&last, "values").iter().find(|value| value["name"] == "lost").unwrap();
        assert_eq!((&lost["value"], &lost["before"]), (&json!("1"), &json!("0")));
        assert!(server.post("api/check/load", &json!({ "property": 1 })).error().contains("no run"));
    }
    // What holds is said to hold, and nothing chosen is everything.
    let told = checked(&server, &json!({ "properties": ["at most two wait"] }));
    assert_eq!((&told["verdict"], &told["states"]), (&json!("verified"), &json!(12)), "{told}");
    let told = checked(&server, &json!({ "options": { "keep_going": true } }));
    assert_eq!(list(&told, "properties").len(), 3);
}

/// What a search of the program itself has found can be looked at.
#[test]
fn the_page_begins_with_a_run() {
    let options = Options { memory: Some(1 << 30), ..Options::default() };
    let plan = Plan::new(&options, &Post::properties(), &ModelFacts::of(&Post)).unwrap();
    let report = scrimp::run(&Post, &Post::properties(), &plan, &Control::new(None)).unwrap();
    let run = report.properties[1].trace.clone().unwrap();
    let how = Serve { run: Some(run.clone()), name: Some("a post".into()), ..quiet() };
    let server = serve_by_thread(Page::new(Post, Post::properties(), &how).unwrap());
    let model = server.get("api/model").json();
    assert_eq!(model["name"], "a post");
    let node = server.get(&format!("api/node/{}", model["start"]["node"])).json();
    assert_eq!((&node["depth"], &node["violations"]), (&json!(run.steps.len()), &json!([KEPT])));
    // A run of something else is not shown.
    let wrong = Trace { initial: vec![2, 2, 2], steps: Vec::new() };
    let error = Page::new(Post, [], &Serve { run: Some(wrong), ..quiet() }).err().expect("there is no such run");
    assert!(error.to_string().contains("no such initial state"), "{error}");
}

/// In a process of its own, which is this test once more: it prints where it is, and answers there until it is ended.
#[test]
fn serving_prints_the_address() {
    const CHILD: &str = "SCRIMP_TEST_SERVES";
    if std::env::var_os(CHILD).is_some() {
        return serve(Post, Post::properties(), &quiet()).expect("it is served");
    }
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "rust::serving_prints_the_address", "--nocapture"])
        .env(CHILD, "yes")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test can be run");
    let lines = BufReader::new(process.stdout.take().expect("piped")).lines().map_while(Result::ok);
    // The harness may have begun the line.
    let address = lines.into_iter().find_map(|line| Some(line[line.find("http://")?..].to_string()));
    let mut server = Served::at(&address.expect("an address"), Some(process));
    assert_eq!(server.get("api/model").json()["name"], "Post");
    assert!(!server.has_ended());
    // A port that is taken cannot be listened on.
    let error = serve(Post, [], &Serve { port: server.port, ..quiet() }).expect_err("somebody else listens");
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
}

/// Messages are those that the model tells; what two do together is one from the first to the second.
#[test]
fn charts_have_lanes_and_messages() {
    let server = served(Post, Post::properties());
    let mut node = server.get("api/node/0").json();
    let mut rows = Vec::new();
    for label in ["send", "send", "receive", "toss", "meet"] {
        let choice = labels(list(&node, "enabled")).iter().position(|l| *l == label).expect("it is enabled");
        node = server.post("api/step", &json!({ "node": node["node"], "choice": choice })).json();
        let row = &node["steps"][0]["row"];
        rows.push(["kind", "lane", "to", "position", "label"].map(|name| row[name].clone()));
    }
    let none = Value::Null;
    assert_eq!(
        rows,
        [
            [json!("sent"), json!(0), none.clone(), json!(0), json!("post!letter")],
            [json!("sent"), json!(0), none.clone(), json!(1), json!("post!letter")],
            [json!("received"), json!(1), none.clone(), json!(0), json!("post?letter")],
            [json!("step"), json!(0), none.clone(), none.clone(), json!("toss")],
            [json!("rendezvous"), json!(0), json!(1), none.clone(), json!("meet")],
        ]
    );
}

#[test]
fn saved_walks_are_gone_again() {
    let (server, other) = (served(Post, Post::properties()), served(Post, []));
    assert_eq!(other.get("api/model").json()["properties"], json!(["deadlock"]), "without any it is this");
    for seed in 1..=20 {
        let start = server.get("api/model").json()["initial"][seed % 2].clone();
        let end =
            server.post("api/random", &json!({ "node": start, "steps": 25, "seed": seed })).json()["node"].clone();
        let trace = server.get(&format!("api/trace/{end}")).json();
        assert_eq!(server.post("api/trace", &trace).json()["node"], end, "seed {seed}");
        let there = other.post("api/trace", &trace).json()["node"].clone();
        let (one, two) =
            (server.get(&format!("api/node/{end}")).json(), other.get(&format!("api/node/{there}")).json());
        assert_eq!(
            (told_values(&one), labels(list(&one, "enabled"))),
            (told_values(&two), labels(list(&two, "enabled")))
        );
        // Of another model, or changed by hand.
        let buffer = Buffer { producers: 1, consumers: 1, capacity: 1, wake: Wake::All };
        assert_eq!(served(buffer, []).post("api/trace", &trace).status, 422);
        let mut wrong = trace.clone();
        wrong["steps"][0]["event"] = 99.into();
        assert!(server.post("api/trace", &wrong).error().contains("step 1"));
    }
}

#[test]
fn a_check_without_end_is_stopped() {
    let server = served(Endless, [Property::invariant("never zero", |state| state.iter().any(|byte| *byte != 0))]);
    server.post("api/check", &json!({ "options": { "memory": "1G" } })).json();
    assert_eq!(server.post("api/check", &json!({})).status, 409);
    let begun = Instant::now();
    let mut seen = 0;
    while seen < 3 {
        let told = server.get("api/check").json();
        assert_eq!(told["running"], true, "{told}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{told}");
        seen = told["next"].as_u64().unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    // The page answers meanwhile.
    assert_eq!(server.post("api/step", &json!({ "node": 0, "choice": 1 })).json()["depth"], 1);
    let asked = Instant::now();
    server.post("api/check/stop", &json!({})).json();
    let told = server.ended();
    assert!(asked.elapsed() < Duration::from_secs(20));
    assert_eq!((&told["verdict"], &told["limits"]["reached"]), (&json!("incomplete"), &json!("interrupt")), "{told}");
    let samples = list(&told, "samples");
    let grows = |name: &str| samples.windows(2).all(|two| two[0][name].as_f64() <= two[1][name].as_f64());
    assert!(grows("seconds") && grows("visits") && samples[1]["states"].as_u64() > Some(100), "{samples:?}");
    assert!(samples.iter().all(|sample| sample["memory"].as_u64() > Some(1 << 20)), "{samples:?}");
    // Time is a limit as well, and another check can begin.
    let told = checked(&server, &json!({ "options": { "time": "200ms" } }));
    assert_eq!(told["limits"]["reached"], "time", "{told}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let server = served(Post, Post::properties());
    assert!(server.get("api/source/0").error().contains("no text"));
    assert!(server.get("api/net?node=0").error().contains("not a net"));
    let refused = |asked: Value| server.post("api/check", &asked).error();
    assert!(refused(json!({ "properties": ["invariant: lost == 0"] })).contains("invariant: lost == 0"));
    for (option, value, says) in [
        ("engine", "bmc", "explicit engine"),
        ("engine", "symbolic", "explicit engine"),
        ("fair", "weak", "fairness"),
        ("order", "best", "measure"),
        ("forget", "sweep", "measure"),
        ("store", "disk:/tmp", "directory"),
        ("store", "shelf", "shelf"),
        ("memory", "much", "much"),
    ] {
        let message = refused(json!({ "options": { option: value } }));
        assert!(message.contains(says), "{option} {value}: {message}");
    }
    assert_eq!(server.get("api/check").json()["nothing"], true, "nothing was begun");
    assert!(refused(json!({ "options": { "reduce": "por" } })).contains("depend"));
}

/// A model that panics does not take the page with it.
#[test]
fn a_panic_is_told() {
    struct Fragile;
    impl Model for Fragile {
        fn state_bytes(&self) -> usize {
            1
        }

        fn initial(&self, out: &mut Batch) {
            out.push(&[0], 0);
        }

        fn expand(&self, state: &[u8], out: &mut Batch) {
            // Those who only look for processes do not come so far.
            assert!(state[0] < 200, "state {} is broken", state[0]);
            out.push(&[state[0] + 1], 0);
        }
    }

    impl Describe for Fragile {
        fn event(&self, _: EventCode) -> EventText {
            EventText { label: "on".into(), processes: vec!["it".into()], ..EventText::default() }
        }

        fn values(&self, state: &[u8]) -> Vec<(String, String)> {
            assert_ne!(state[0], 100, "state 100 cannot be told");
            vec![("at".into(), state[0].to_string())]
        }

        fn processes(&self) -> Vec<String> {
            vec!["it".into()]
        }
    }
    let server = served(Fragile, [Property::deadlock(), Property::invariant("below 100", |state| state[0] < 100)]);
    let far = server.post("api/random", &json!({ "node": 0, "steps": 500, "seed": 1 }));
    assert!(far.error().contains("state 200 is broken"), "{far:?}");
    assert_eq!(server.get("api/node/0").json()["depth"], 0);
    // While it is searched, and when it tells of what was found.
    for (property, says) in [("deadlock", "state 200 is broken"), ("below 100", "state 100 cannot be told")] {
        let told = checked(&server, &json!({ "properties": [property] }));
        assert_eq!(told["verdict"], "error");
        assert!(told["message"].as_str().unwrap().contains(says), "{told}");
    }
    // One that cannot be looked at at all is not served.
    struct Nowhere;
    impl Model for Nowhere {
        fn state_bytes(&self) -> usize {
            1
        }

        fn initial(&self, _: &mut Batch) {}

        fn expand(&self, _: &[u8], _: &mut Batch) {}
    }

    impl Describe for Nowhere {
        fn event(&self, _: EventCode) -> EventText {
            EventText::default()
        }

        fn values(&self, _: &[u8]) -> Vec<(String, String)> {
            Vec::new()
        }
    }
    let error = Page::new(Nowhere, [], &quiet()).err().expect("it has no initial state");
    assert!(error.to_string().contains("no initial state"), "{error}");
}

/// The page itself: no source, nothing to write properties in, and all the rest.
#[test]
fn the_page_shows_it() {
    let Some(browser) = Browser::open() else { return };
    let server = served(Post, Post::properties());
    browser.go(&server.address());
    let seen = |selector: &str| browser.value(&format!("Boolean(document.querySelector('{selector}')?.offsetParent)"));
    for gone in ["[data-panel=source]", "[data-panel=net]", "#source", "#dock-source"] {
        assert_eq!(seen(gone), false, "{gone}");
    }
    assert_eq!(browser.text("#model-name"), "Post");
    assert!(browser.text("#model-facts").starts_with("Rust · 4 variables · 3 bytes"));
    browser.click("#events [data-choice]");
    assert!(browser.count("#state .changed") > 0, "what changed is marked");
    browser.picture("rust-1");
    browser.click("[data-panel=check]");
    for (part, offered) in [("#property", false), ("#run", true), ("#offered", true)] {
        assert_eq!(seen(part), offered, "{part}");
    }
    browser.value("document.querySelector('#options').open = true");
    assert_eq!((seen("#option-memory"), seen("#option-engine")), (json!(true), json!(false)));
    browser.click("#offered label:nth-of-type(2) input");
    browser.click("#run");
    browser.wait("document.querySelector('#verdicts .show-run')");
    browser.wait("document.querySelector('#stop').disabled");
    assert!(browser.text("#verdicts").contains(KEPT));
    browser.picture("rust-2");
    browser.click("#verdicts .show-run");
    browser.wait("document.querySelector('#depth').textContent === '3'");
    browser.wait("document.querySelectorAll('#chart .heads .head').length === 2");
    assert!(browser.text("#events .violation").contains(KEPT));
    browser.picture("rust-3");
    browser.keys("o");
    browser.keys("g");
    browser.wait("document.querySelectorAll('#graph [data-vertex]').length > 2");
    browser.picture("rust-4");
    browser.size(390, 800);
    browser.wait("document.documentElement.scrollWidth <= innerWidth");
    for panel in ["events", "state", "history", "chart", "graph", "check"] {
        browser.click(&format!("#tabbar [data-panel={panel}]"));
        browser.wait(&format!("document.querySelector('#{panel}').offsetParent"));
    }
    assert_eq!(browser.text("#problem-text"), "");
    let complaints = browser.complaints().into_iter().filter(|text| !text.contains("api/check?from=0 - "));
    assert_eq!(complaints.collect::<Vec<_>>(), Vec::<String>::new());
}
