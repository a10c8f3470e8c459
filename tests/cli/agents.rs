//! `mcp` as an agent uses it: over a pipe, a message a line.

use crate::common::command::{model, scratch};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    /// A server that has shaken hands.
    fn of(folder: &Path, flags: &[&str]) -> Client {
        let mut client = Client::silent(folder, flags);
        let version = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let hello = client.ask("initialize", version);
        assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
        assert!(hello["result"]["capabilities"]["tools"].is_object(), "{hello}");
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn silent(folder: &Path, flags: &[&str]) -> Client {
        let mut server = Command::new(env!("CARGO_BIN_EXE_scrimp"))
            .arg("mcp")
            .arg(folder)
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (input, output) = (server.stdin.take(), server.stdout.take().expect("a pipe"));
        Client { server, input, output: BufReader::new(output), asked: 0 }
    }

    fn line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("not closed");
        input.write_all(format!("{line}\n").as_bytes()).expect("the server reads");
    }

    fn say(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        self.asked
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// What a tool answers, and whether that is an error.
    fn tool(&mut self, name: &str, arguments: Value) -> (Value, bool) {
        let answer = self.ask("tools/call", json!({ "name": name, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_string();
        match result["isError"] == true {
            true => (text.into(), true),
            false => (result["structuredContent"].clone(), false),
        }
    }

    fn good(&mut self, name: &str, arguments: Value) -> Value {
        let (answer, wrong) = self.tool(name, arguments);
        assert!(!wrong, "{answer}");
        answer
    }

    fn bad(&mut self, name: &str, arguments: Value) -> String {
        let (answer, wrong) = self.tool(name, arguments);
        assert!(wrong, "{answer}");
        answer.as_str().unwrap_or_default().to_string()
    }

    /// Goes away. The server ends soon.
    fn leave(mut self) {
        self.input = None;
        let end = Instant::now() + Duration::from_secs(30);
        while Instant::now() < end {
            if let Some(status) = self.server.try_wait().expect("a process") {
                assert_eq!(status.code(), Some(0));
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.server.kill();
        panic!("the server goes on without a client");
    }
}

fn models() -> std::path::PathBuf {
    Path::new(&model("phils3.dve")).parent().expect("a folder").to_path_buf()
}

#[test]
fn an_agent_finds_out_why_a_model_is_wrong() {
    let mut client = Client::of(&models(), &["--memory", "512M"]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["open", "check", "count", "simulate", "explain", "trace", "chart", "next"]);
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert!(tool["description"].as_str().is_some_and(|text| text.len() > 20));
    }
    let opened = client.good("open", json!({ "model": "needham_schroeder.pml" }));
    assert!(opened["initial_state"]["alice_done"].is_string() && opened["properties"].is_array(), "{opened}");

    let checked = client.good("check", json!({ "model": "needham_schroeder.pml" }));
    assert_eq!(checked["verdict"], "violated");
    let broken = checked["properties"].as_array().unwrap().iter().find(|p| p["verdict"] == "violated").unwrap();
    let run = broken["run"].as_u64().unwrap();
    let why = client.good("explain", json!({ "trace": run }));
    assert_eq!((&why["property"], &why["model"]), (&broken["name"], &json!("needham_schroeder.pml")));
    assert!(why["text"].as_str().unwrap().contains("needham_schroeder.pml:"), "{why}");
    let part = client.good("trace", json!({ "trace": run, "first": 2, "lines": 3 }));
    assert_eq!(part["text"].as_str().unwrap().lines().count(), 3);
    assert_eq!(part["shown"], json!([2, 4]));
    let itf = client.good("trace", json!({ "trace": run, "format": "itf", "lines": 100000 }));
    assert!(serde_json::from_str::<Value>(itf["text"].as_str().unwrap()).unwrap()["states"].is_array());
    for (format, sign) in [("text", "Eve"), ("mermaid", "sequenceDiagram"), ("svg", "<svg")] {
        let chart = client.good("chart", json!({ "trace": run, "format": format }));
        assert!(chart["text"].as_str().unwrap().contains(sign), "{format}: {chart}");
    }

    let counted = client.good("count", json!({ "model": "phils3.dve" }));
    assert_eq!((&counted["states"], &counted["transitions"]), (&json!(154), &json!(411)));
    let asked = json!({ "model": "phils3.dve", "property": ["deadlock", "invariant: !(Phil_0@both && Phil_1@both)"],
                        "keep-going": true, "memory": "64M", "time": "30s" });
    let checked = client.good("check", asked);
    let verdicts: Vec<&Value> = checked["properties"].as_array().unwrap().iter().map(|p| &p["verdict"]).collect();
    assert_eq!(verdicts, ["violated", "verified"]);
    assert_eq!(checked["properties"][0]["steps"], 6);
    let run = client.good("simulate", json!({ "model": "phils3.dve", "steps": 4, "seed": 1 }));
    assert!(run["run"].as_u64().is_some() && run["text"].as_str().is_some_and(|text| text.contains("initial state")));
    client.leave();
}

#[test]
fn what_cannot_be_asked_is_told() {
    let folder = scratch("agents-errors");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("in")).unwrap();
    std::fs::write(folder.join("secret.pml"), "active proctype P() { skip }").unwrap();
    std::fs::write(folder.join("in/wrong.pml"), "active proctype P() { y = 1 }").unwrap();
    std::fs::write(folder.join("in/sly.pml"), "#include \"../secret.pml\"").unwrap();
    let mut client = Client::of(&folder.join("in"), &["--memory", "256M", "--time", "1m"]);
    for (tool, arguments, said) in [
        ("check", json!({ "model": "wrong.pml" }), "wrong.pml:1:23: error: unknown variable `y`"),
        ("open", json!({ "model": "wrong.pml" }), "unknown variable `y`"),
        ("check", json!({ "model": "wrnog.pml" }), "there is wrong.pml"),
        ("check", json!({ "model": "../secret.pml" }), "outside"),
        ("check", json!({ "model": "sly.pml" }), "outside"),
        ("open", json!({ "model": "/etc/hosts" }), "outside"),
        ("check", json!({ "modle": "wrong.pml" }), "did you mean `model`?"),
        ("check", json!({ "model": "wrong.pml", "memory": "9G" }), "at most"),
        ("check", json!({ "model": "wrong.pml", "memory": "x" }), "expected a size"),
        ("explain", json!({ "trace": 3 }), "there is no run 3"),
        ("chart", json!({ "trace": 3, "format": "gif" }), "one of text, mermaid, svg"),
    ] {
        let why = client.bad(tool, arguments.clone());
        assert!(why.contains(said), "{tool} {arguments}: {why}");
    }
    let refused = client.ask("tools/call", json!({ "name": "chekc" }));
    assert_eq!(refused["error"]["code"], -32602);
    assert_eq!(client.ask("resources/list", json!({}))["error"]["code"], -32601);
    for (line, code) in
        [("{", -32700), ("[]", -32600), ("{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", -32600)]
    {
        client.line(line);
        assert_eq!(client.hear()["error"]["code"], code, "{line}");
    }
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    client.leave();

    let mut early = Client::silent(&folder, &[]);
    assert!(early.ask("tools/list", json!({}))["error"]["message"].as_str().unwrap().contains("initialize"));
    early.leave();
    let _ = std::fs::remove_dir_all(folder);
}

/// A model that no search comes to the end of.
const ENDLESS: &str = "byte a, b, c, d, e, f;\n\
    active proctype P() { do :: a++ :: b++ :: c++ :: d++ :: e++ :: f++ od }";

#[test]
fn a_long_search_tells_how_far_it_is_and_ends_when_nobody_waits() {
    let folder = scratch("agents-long");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("endless.pml"), ENDLESS).unwrap();
    let mut client = Client::of(&folder, &["--memory", "256M"]);
    let long = json!({ "model": "endless.pml", "time": "5m" });
    let call = json!({ "name": "count", "arguments": long, "_meta": { "progressToken": "t" } });
    let id = client.begin("tools/call", call.clone());
    let mut last = 0;
    for _ in 0..2 {
        let told = client.hear();
        assert_eq!(
            (&told["method"], &told["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("t"))
        );
        let progress = told["params"]["progress"].as_u64().unwrap();
        assert!(progress > last, "{told}");
        last = progress;
    }
    // Another one waits for its turn, is answered at once with what is wrong, or is ended before its turn comes.
    let waiting = client.begin("tools/call", json!({ "name": "count", "arguments": long }));
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": waiting } }));
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    client.asked += 1;
    let ping = client.asked;
    client.say(&json!({ "jsonrpc": "2.0", "id": ping, "method": "ping" }));
    let answered = loop {
        let told = client.hear();
        if told["method"].is_null() {
            break told;
        }
    };
    assert_eq!(answered["id"], ping, "what was cancelled is not answered");

    // What is short is whole, though a limit is reached.
    let cut = client.good(
        "check",
        json!({ "model": "endless.pml", "property": ["invariant: a != 200 || b != 199 || c != 77"],
                        "engine": "explicit", "reduce": "none", "time": "500ms" }),
    );
    assert_eq!((&cut["verdict"], &cut["limit"]["reached"]), (&json!("incomplete"), &json!("time")));
    let next = client.good("next", json!({ "model": "endless.pml" }));
    assert!(next["advice"].as_array().is_some_and(|advice| !advice.is_empty()), "{next}");

    // A client that goes away takes its searches along.
    client.begin("tools/call", call);
    client.hear();
    client.leave();
    let _ = std::fs::remove_dir_all(folder);
}
