//! The explorer's server: whom it answers, what it answers, and that nothing that is sent to it brings it down.

mod common;

use common::command::{model, scratch, scrimp};
use scrimp_system::Random;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What half a request may wait for the rest of it, and what a reply may take.
const BRIEF: Duration = Duration::from_millis(40);
const SHORT: Duration = Duration::from_secs(2);

/// A server that is ended with the test.
struct Server {
    process: Child,
    port: u16,
    secret: String,
}

/// What came back: the status, and the text behind the head.
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    fn start(arguments: &[&str]) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_scrimp"))
            .args(["explore", "--no-browser"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("an address: {line}"));
        let (port, secret) = rest.split_once('/').unwrap();
        Server { process, port: port.parse().unwrap(), secret: secret.trim_end_matches('/').into() }
    }

    /// Sends bytes and reads what comes back; `None` where the connection is closed without a word, or nothing comes so
    /// soon.
    fn send(&self, bytes: &[u8], patience: Duration) -> Option<Reply> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server is there");
        stream.set_read_timeout(Some(patience)).unwrap();
        // The server may answer and close before everything is sent.
        let _ = stream.write_all(bytes);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let text = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Reply { status, head: head.to_lowercase(), body: body.to_string() })
    }

    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        let own = format!("127.0.0.1:{}", self.port);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text.push_str(&format!("Host: {own}\r\n"));
        }
        headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        let reply = self.send(format!("{text}\r\n{body}").as_bytes(), Duration::from_secs(30));
        reply.unwrap_or_else(|| panic!("{method} {path}: no answer"))
    }

    fn get(&self, path: &str) -> Reply {
        self.request("GET", &format!("/{}/{path}", self.secret), &[], "")
    }

    fn post(&self, path: &str, body: &Value) -> Reply {
        let json = [("Content-Type", "application/json")];
        self.request("POST", &format!("/{}/{path}", self.secret), &json, &body.to_string())
    }

    fn model(&self) -> Value {
        loop {
            let model = self.get("api/model").json();
            if model["loading"].is_null() {
                return model;
            }
        }
    }
}

impl Reply {
    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        serde_json::from_str(&self.body).expect("an answer in JSON")
    }

    /// Refused, with a reason for people.
    #[track_caller]
    fn refused(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.body);
        let answer: Value = serde_json::from_str(&self.body).expect("a refusal in JSON");
        assert!(answer["error"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn nobody_else_is_answered() {
    let server = Server::start(&[&model("leader.pml")]);
    let (page, api) = (format!("/{}/", server.secret), format!("/{}/api/model", server.secret));
    let host = format!("127.0.0.1:{}", server.port);
    assert_eq!(server.get("").status, 200);
    let sealed = server.get("").head;
    for header in ["content-security-policy: default-src 'none'", "x-frame-options: deny", "nosniff", "no-referrer"] {
        assert!(sealed.contains(header), "{sealed}");
    }
    assert!(!sealed.contains("access-control"), "{sealed}");
    // The secret.
    let mut other = server.secret.clone().into_bytes();
    other[5] = if other[5] == b'0' { b'1' } else { b'0' };
    let other = String::from_utf8(other).unwrap();
    for path in ["/", "/api/model", "/favicon.ico", &format!("/{other}/"), &format!("/{other}/api/model"), "/x/../api"]
    {
        server.request("GET", path, &[], "").refused(403);
    }
    // The host: a name that somebody has made to point here, and other ports.
    for named in ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "0.0.0.0", "[::1]"] {
        server.request("GET", &page, &[("Host", named)], "").refused(403);
    }
    let rebound = format!("evil.example:{}", server.port);
    server.request("GET", &api, &[("Host", &rebound)], "").refused(403);
    // Pages of other sites.
    let json = ("Content-Type", "application/json");
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        server.request("GET", &api, &[("Origin", origin)], "").refused(403);
        let step = format!("/{}/api/step", server.secret);
        server.request("POST", &step, &[("Origin", origin), json], "{\"node\":0,\"choice\":0}").refused(403);
        server
            .request("OPTIONS", &step, &[("Origin", origin), ("Access-Control-Request-Method", "POST")], "")
            .refused(403);
    }
    server.request("GET", &api, &[("Sec-Fetch-Site", "cross-site")], "").refused(403);
    server.request("GET", &page, &[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "iframe")], "").refused(403);
    // A form can post text, but no JSON.
    let step = format!("/{}/api/step", server.secret);
    server.request("POST", &step, &[("Content-Type", "text/plain")], "{\"node\":0,\"choice\":0}").refused(415);
    server.request("POST", &step, &[], "{\"node\":0,\"choice\":0}").refused(415);
    // The own page.
    let own = format!("http://{host}");
    assert_eq!(server.request("GET", &api, &[("Origin", &own), ("Sec-Fetch-Site", "same-origin")], "").status, 200);
}

/// Other machines cannot even connect: nothing listens on other addresses of this one.
#[test]
fn it_listens_on_this_machine_only() {
    let server = Server::start(&[&model("leader.pml")]);
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let port = format!(":{:04X}", server.port);
    let local = |line: &&str| line.split_whitespace().nth(1).is_some_and(|local| local.ends_with(&port));
    let listening: Vec<&str> = table.lines().filter(local).filter(|line| line.contains(" 0A ")).collect();
    assert!(listening.iter().all(|line| line.contains("0100007F:")), "{listening:?}");
    let six = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    assert!(!six.lines().any(|line| line.contains(&port) && line.contains(" 0A ")), "{six}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let server = Server::start(&[&model("leader.pml")]);
    server.model();
    server.get("api/node/999999").refused(404);
    server.post("api/step", &json!({ "node": 0, "choice": 99 })).refused(422);
    server.post("api/step", &json!({ "node": 77, "choice": 0 })).refused(404);
    server.post("api/step", &json!({ "node": -1, "choice": 0 })).refused(400);
    server.post("api/step", &json!([])).refused(400);
    server.post("api/random", &json!({ "node": 77, "steps": 5, "seed": 1 })).refused(404);
    server.post("api/trace", &json!({ "steps": "none" })).refused(422);
    server.post("api/trace", &json!({ "initial": {}, "steps": [] })).refused(422);
    server.post("api/trace", &json!({ "initial": { "x": "1" }, "steps": [{ "event": 3, "label": "?" }] })).refused(422);
    server.get("api/path/4242").refused(404);
    server.get("api/trace/4242").refused(404);
    server.get("api/trace/0?loop=4242").refused(422);
    server.get("api/trace/0?loop=x").refused(400);
    server.get("api/source/9").refused(404);
    server.get("api/graph?node=4242").refused(404);
    server.get("api/graph").refused(400);
    server.get("api/graph?node=0&expanded=1,x").refused(400);
    server.get("api/net?node=0").refused(404);
    server.post("api/go", &json!({ "node": 0, "vertex": 424_242 })).refused(404);
    assert_eq!(server.get("api/check").json()["nothing"], true);
    server.post("api/check", &json!({ "options": { "report": "file.html" } })).refused(400);
    server.post("api/check", &json!({ "properties": ["hoa: /etc/passwd"] })).refused(422);
    server.post("api/check/stop", &json!({})).refused(404);
    server.post("api/check/load", &json!({ "property": 0 })).refused(404);
    server.get("api/step").refused(405);
    server.get("no-such-file.js").refused(404);
    server.get("api/nothing").refused(404);
    assert_eq!(server.post("api/step", &json!({ "node": 0, "choice": 0 })).json()["depth"], 1);
}

#[test]
fn a_walk_can_be_saved_and_gone_again() {
    for name in ["two_phase_commit.pml", "alternating_bit.dve", "packing.pnml", "phils3.network"] {
        let server = Server::start(&[&model(name)]);
        let start = server.model()["start"]["node"].clone();
        let end = server.post("api/random", &json!({ "node": start, "steps": 40, "seed": 5 })).json()["node"].clone();
        let state = server.get(&format!("api/node/{end}")).json();
        let path = server.get(&format!("api/path/{end}")).json();
        assert_eq!(path["path"].as_array().unwrap().len() as u64, state["depth"].as_u64().unwrap() + 1, "{name}");
        let trace = server.get(&format!("api/trace/{end}")).json();
        assert_eq!(server.post("api/trace", &trace).json()["node"], end, "{name}");
        // Another program goes the same way, and the explorer begins where it ends.
        let file = scratch(&format!("walk-{name}.json"));
        std::fs::write(&file, trace.to_string()).unwrap();
        let file = file.to_str().unwrap();
        scrimp(&["simulate", &model(name), "--trace", file]).code(0);
        let other = Server::start(&[&model(name), "--trace", file]);
        let start = other.model()["start"]["node"].clone();
        let again = other.get(&format!("api/node/{start}")).json();
        assert_eq!((&again["values"], &again["depth"]), (&state["values"], &state["depth"]), "{name}");
    }
}

#[test]
fn a_check_runs_and_its_run_is_loaded() {
    let server = Server::start(&[&model("needham_schroeder.pml")]);
    server.model();
    let ended = |server: &Server| {
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
    let large = Server::start(&[&model("large/counters20.dve")]);
    large.model();
    large.post("api/check", &json!({ "options": { "memory": "1G" } })).json();
    large.post("api/check", &json!({})).refused(409);
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

/// Requests that are wrong in every way that chance finds: the server refuses them and lives.
#[test]
fn garbage_does_not_bring_it_down() {
    let server = Server::start(&[&model("leader.pml")]);
    server.model();
    let host = format!("127.0.0.1:{}", server.port);
    let seeds = [
        format!("GET /{}/api/model HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", server.secret),
        format!(
            "GET /{}/api/graph?node=0&expanded=1,2 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
            server.secret
        ),
        format!(
            "POST /{}/api/step HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: 22\r\n\r\n{{\"node\":0,\"choice\":0}}",
            server.secret
        ),
        format!(
            "POST /{}/api/trace HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n10\r\n{{\"initial\":{{}}, \"\r\n0\r\n\r\n",
            server.secret
        ),
    ];
    let mut random = Random(20_261_116);
    let rounds = std::env::var("SCRIMP_TEST_REQUESTS").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    for round in 0..rounds {
        let mut bytes = seeds[random.below(seeds.len())].clone().into_bytes();
        for _ in 0..1 + random.below(6) {
            let at = random.below(bytes.len().max(1));
            match random.below(6) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at.min(bytes.len()), random.below(256) as u8),
                2 if !bytes.is_empty() => bytes[at] = random.below(256) as u8,
                3 if !bytes.is_empty() => drop(bytes.remove(at)),
                4 => {
                    let piece: Vec<u8> = bytes[at..].iter().take(1 + random.below(40)).copied().collect();
                    let to = random.below(bytes.len() + 1);
                    bytes.splice(to..to, piece);
                }
                _ => bytes.extend(std::iter::repeat_n(b'A', random.below(300))),
            }
        }
        if let Some(reply) = server.send(&bytes, BRIEF) {
            assert!(reply.status < 500, "round {round}: {} for {:?}", reply.status, String::from_utf8_lossy(&bytes));
        }
    }
    // Heads and bodies without an end, and numbers that are too large.
    let prefix = format!("GET /{}/api/model HTTP/1.1\r\nHost: {host}\r\n", server.secret);
    let huge = format!("{prefix}X: {}\r\n\r\n", "y".repeat(2_000_000));
    assert!(server.send(huge.as_bytes(), SHORT).is_none_or(|reply| (400..500).contains(&reply.status)));
    let many = format!("{prefix}{}\r\n", "a: b\r\n".repeat(5000));
    assert!(server.send(many.as_bytes(), SHORT).is_none_or(|reply| (400..500).contains(&reply.status)));
    let long = format!(
        "POST /{}/api/trace HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{{",
        server.secret
    );
    assert!(server.send(long.as_bytes(), SHORT).is_none_or(|reply| (400..500).contains(&reply.status)));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let json = [("Content-Type", "application/json")];
    server.request("POST", &format!("/{}/api/trace", server.secret), &json, &deep).refused(400);
    for number in ["4294967296", "99999999999999999999", "-1", "0x1", "%00", "1e3"] {
        let status = server.get(&format!("api/node/{number}")).status;
        assert!((400..500).contains(&status), "{number}: {status}");
    }
    // Half a request that stays open keeps nobody else waiting.
    let mut half = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    half.write_all(b"GET / HT").unwrap();
    assert_eq!(server.model()["language"], "Promela");
}
