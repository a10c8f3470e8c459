//! The explorer's server: who is answered, what is refused and how, and that nothing brings it down.

use crate::common::explorer::{Reply, Served};
use scrimp_system::Random;
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

const JSON: &str = "Content-Type: application/json";

#[test]
fn only_the_page_itself_is_answered() {
    let served = Served::model("models/leader.pml");
    let path = format!("/{}/api/model", served.secret);
    let status = |path: &str, headers: &[&str]| served.ask("GET", path, headers, "").status;
    assert_eq!(status(&path, &[]), 200);
    let own = format!("Origin: http://127.0.0.1:{}", served.port);
    assert_eq!(status(&path, &[&own, "Sec-Fetch-Site: same-origin"]), 200);
    // Somebody who leaves out the last slash is sent on, to where the page finds its own files.
    let reply = served.ask("GET", &format!("/{}", served.secret), &[], "");
    let home = format!("location: /{}/", served.secret);
    assert!(reply.status == 308 && reply.head.lines().any(|line| line.eq_ignore_ascii_case(&home)), "{reply:?}");
    // Without the secret, or with another one.
    let wrong = format!("/{}/api/model", "0".repeat(32));
    for path in [&wrong, "/", "/api/model", "//api/model", "/favicon.ico", &path[..30]] {
        assert_eq!(status(path, &[]), 403, "{path}");
    }
    // A name that another site has made to point here, another port, no host, two hosts.
    let other = format!("Host: 127.0.0.1:{}", served.port ^ 1);
    for host in ["Host: evil.example", "Host: 127.0.0.1", "Host: [::1]", "Host: 0.0.0.0", "Host:", &other] {
        assert_eq!(status(&path, &[host]), 403, "{host}");
    }
    assert_eq!(served.send(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes()).map(|reply| reply.status), Some(400));
    let host = format!("Host: 127.0.0.1:{}", served.port);
    assert_eq!(status(&path, &[&host, "Host: evil.example"]), 400);
    assert_eq!(status(&format!("http://evil.example{path}"), &[]), 403);
    // Pages of other sites, as browsers say it.
    let other = format!("Origin: http://127.0.0.1:{}", served.port ^ 1);
    for header in [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin:",
        &other,
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        assert_eq!(status(&path, &[header]), 403, "{header}");
        let step = json!({ "node": 0, "choice": 0 }).to_string();
        let path = format!("/{}/api/step", served.secret);
        assert_eq!(served.ask("POST", &path, &[header, JSON], &step).status, 403, "{header}");
    }
    // What a browser would ask before it lets another page send JSON.
    let preflight = served.ask("OPTIONS", &path, &["Origin: http://evil.example"], "");
    assert!(preflight.status == 403 && !preflight.head.to_lowercase().contains("access-control-allow"));
}

#[test]
fn forms_of_other_sites_and_wrong_methods_do_nothing() {
    let served = Served::model("models/leader.pml");
    let step = json!({ "node": 0, "choice": 0 }).to_string();
    let path = format!("/{}/api/step", served.secret);
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json", ""] {
        let reply = served.ask("POST", &path, &[&format!("Content-Type: {kind}")], &step);
        assert_eq!(reply.status, 415, "{kind}: {reply:?}");
    }
    assert_eq!(served.ask("POST", &path, &[], &step).status, 415);
    assert_eq!(served.ask("POST", &path, &["Content-Type: application/json; charset=utf-8"], &step).status, 200);
    for (method, path) in [
        ("GET", "api/step"),
        ("GET", "api/random"),
        ("GET", "api/go"),
        ("GET", "api/check/stop"),
        ("POST", "api/model"),
        ("PUT", "api/step"),
        ("DELETE", "api/node/0"),
        ("POST", "index.html"),
        ("TRACE", ""),
    ] {
        let reply = served.ask(method, &format!("/{}/{path}", served.secret), &[JSON], "{}");
        assert!([404, 405].contains(&reply.status), "{method} {path}: {reply:?}");
    }
    for path in ["nothing.js", "../Cargo.toml", "%2e%2e/Cargo.toml", "api", "api/", "api/nothing", "/etc/passwd"] {
        let reply = served.get(path);
        assert!((400..500).contains(&reply.status), "{path}: {reply:?}");
    }
}

#[test]
fn what_does_not_exist_is_said_so() {
    let served = Served::model("models/leader.pml");
    for path in ["api/node/4000000000", "api/path/99", "api/trace/7", "api/graph?node=5", "api/source/9"] {
        assert!(!served.get(path).error().is_empty(), "{path}");
    }
    for path in [
        "api/node/-1",
        "api/node/x",
        "api/node/99999999999999999999",
        "api/graph",
        "api/graph?node=0&expanded=1,x",
        "api/graph?node=0&most=-3",
        "api/trace/0?loop=x",
        "api/check?from=x",
        "api/source/0?from=-1",
        "api/net",
    ] {
        let reply = served.get(path);
        assert!((400..500).contains(&reply.status), "{path}: {reply:?}");
    }
    assert!(served.get("api/net?node=0").error().contains("net"));
    assert_eq!(served.get("api/check").json()["nothing"], true);
    let wrong: [(&str, Value); 12] = [
        ("api/step", json!({ "node": 0, "choice": 4_000_000_000u32 })),
        ("api/step", json!({ "node": 99, "choice": 0 })),
        ("api/step", json!({ "node": -1, "choice": 0 })),
        ("api/step", json!({ "choice": 0 })),
        ("api/step", json!([])),
        ("api/random", json!({ "node": 99, "steps": 5 })),
        ("api/go", json!({ "node": 0, "vertex": 4_000_000_000u32 })),
        ("api/trace", json!({})),
        ("api/trace", json!({ "initial": {}, "steps": [{ "event": "no such event" }] })),
        ("api/check", json!({ "properties": "all" })),
        ("api/check", json!({ "options": { "no such option": 1 } })),
        ("api/check/load", json!({ "property": 0 })),
    ];
    for (path, body) in wrong {
        assert!(!served.post(path, &body).error().is_empty(), "{path} {body}");
    }
    // A run of another model.
    let other = Served::model("models/peterson.pml");
    let node = other.post("api/random", &json!({ "node": 0, "steps": 5, "seed": 3 })).json()["node"].clone();
    let trace = other.get(&format!("api/trace/{node}")).json();
    assert_eq!(other.post("api/trace", &trace).json()["node"], node);
    assert!(!served.post("api/trace", &trace).error().is_empty());
    assert_eq!(served.get("api/node/0").status, 200);
}

#[test]
fn a_walk_by_hand() {
    let served = Served::model("models/leader.pml");
    let model = served.get("api/model").json();
    assert_eq!((&model["language"], &model["net"], &model["initial"]), (&json!("Promela"), &json!(false), &json!([0])));
    let mut node = served.get("api/node/0").json();
    for _ in 0..5 {
        let choice = json!({ "node": node["node"], "choice": node["enabled"][0]["choice"] });
        let next = served.post("api/step", &choice).json();
        assert_eq!(next["parent"], node["node"]);
        assert_eq!(served.post("api/step", &choice).json()["node"], next["node"], "the same node again");
        node = next;
    }
    let number = node["node"].to_string();
    let path = served.get(&format!("api/path/{number}")).json();
    assert_eq!(path["path"].as_array().map(Vec::len), Some(6));
    let graph = served.get(&format!("api/graph?node={number}&expanded=&most=50")).json();
    let vertices = graph["vertices"].as_array().unwrap();
    assert_eq!(vertices.iter().filter(|v| v["current"] == true).count(), 1);
    // To a vertex and on: the node there has the state that was drawn.
    for vertex in vertices.iter().filter(|v| v["current"] == false) {
        let there = served.post("api/go", &json!({ "node": node["node"], "vertex": vertex["vertex"] })).json();
        let around = served.get(&format!("api/graph?node={}&most=50", there["node"])).json();
        let current = around["vertices"].as_array().unwrap().iter().find(|v| v["current"] == true).unwrap();
        assert_eq!(current["vertex"], vertex["vertex"]);
    }
    let source = served.get("api/source/0?from=2&count=3").json();
    assert_eq!(source["lines"].as_array().map(Vec::len), Some(3));
}

#[test]
fn tokens_of_a_net_move() {
    let served = Served::model("models/philosophers_ring.pnml");
    let before = served.get("api/net?node=0").json();
    assert!(before["whole"] == true && served.get("api/model").json()["net"] == true);
    let enabled = before["transitions"].as_array().unwrap().iter().find(|t| !t["choice"].is_null()).unwrap();
    let step = served.post("api/step", &json!({ "node": 0, "choice": enabled["choice"] })).json();
    let after = served.get(&format!("api/net?node={}", step["node"])).json();
    let fired = after["transitions"].as_array().unwrap().iter().find(|t| t["fired"] == true).unwrap();
    assert_eq!(fired["transition"], enabled["transition"]);
    assert_eq!((fired["x"].clone(), fired["y"].clone()), (enabled["x"].clone(), enabled["y"].clone()), "it stays put");
    assert!(after["places"].as_array().unwrap().iter().any(|place| place.get("before").is_some()));
}

/// Sends nothing more, and gives up soon.
fn half(served: &Served, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}

#[test]
fn what_is_too_large_or_never_ends_does_not_matter() {
    let mut served = Served::model("models/leader.pml");
    let path = format!("/{}/api/trace", served.secret);
    let host = format!("Host: 127.0.0.1:{}\r\n", served.port);
    // Connections that wait for ever, in the middle of a request and before it.
    let head = format!("POST {path} HTTP/1.1\r\n{host}{JSON}\r\nContent-Length: 1000\r\n\r\n{{");
    let waiting: Vec<TcpStream> = [&b""[..], b"GET", b"GET / HTTP/1.1\r\nHost", head.as_bytes()]
        .iter()
        .flat_map(|bytes| (0..20).map(|_| half(&served, bytes)))
        .collect();
    // A body that says it is larger than any, and one that is.
    let huge = format!("POST {path} HTTP/1.1\r\n{host}{JSON}\r\nContent-Length: 99999999999\r\n\r\n{{");
    assert!(served.send(huge.as_bytes()).is_none_or(|reply| (400..500).contains(&reply.status)));
    let body = format!("\"{}\"", "x".repeat(65 << 20));
    let large = format!("POST {path} HTTP/1.1\r\n{host}{JSON}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    assert!(served.send(large.as_bytes()).is_none_or(|reply| (400..500).contains(&reply.status)));
    // Deep JSON must not be followed down for ever.
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!((400..500).contains(&served.ask("POST", &path, &[JSON], &deep).status));
    // Headers and addresses without end.
    let long = "a".repeat(2 << 20);
    let refused = |reply: Option<Reply>| reply.is_none_or(|reply| (400..500).contains(&reply.status));
    assert!(refused(served.send(format!("GET /{long} HTTP/1.1\r\n{host}\r\n").as_bytes())));
    assert!(refused(served.send(format!("GET {path} HTTP/1.1\r\n{host}X: {long}\r\n\r\n").as_bytes())));
    let many: String = (0..5000).map(|i| format!("X-{i}: {i}\r\n")).collect();
    assert!(refused(served.send(format!("GET {path} HTTP/1.1\r\n{host}{many}\r\n").as_bytes())));
    let begun = Instant::now();
    assert_eq!(served.get("api/node/0").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(2));
    drop(waiting);
    assert!(!served.has_ended());
}

/// Cuts, repeats and changes bytes.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(6) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes.truncate(at),
            3 => drop(bytes.remove(at)),
            4 => {
                let piece = bytes[at..(at + 1 + random.below(20)).min(bytes.len())].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => {
                let words: [&[u8]; 8] = [b"\r\n", b"\0", b"%00", b"-1", b"99999999999", b"{}", b"\xff\xfe", b"chunked"];
                let word = words[random.below(words.len())];
                bytes.splice(at..at, word.iter().copied());
            }
        }
    }
}

#[test]
fn thousands_of_broken_requests_are_refused() {
    let mut served = Served::model("models/alternating_bit.pml");
    let trace = {
        let node = served.post("api/random", &json!({ "node": 0, "steps": 4, "seed": 1 })).json()["node"].clone();
        served.get(&format!("api/trace/{node}")).body
    };
    let port = served.port;
    let get = |path: &str| format!("GET /{}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n", served.secret);
    let post = |path: &str, body: &str| {
        let head = format!("POST /{}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{JSON}\r\n", served.secret);
        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let good = [
        get(""),
        get("api/model"),
        get("api/node/0?values=a&enabled=b"),
        get("api/path/3"),
        get("api/trace/2?loop=0"),
        get("api/source/0?from=1&count=9"),
        get("api/graph?node=1&expanded=0,1,2&most=20"),
        get("api/check?from=0"),
        get("api/watch"),
        get("api/text"),
        get("api/vertex/2?node=1"),
        post("api/diagnose", r#"{"text": "byte x; active proctype P() { x++ }"}"#),
        post("api/carry", r#"{"node": 1, "at": 0, "loop": null}"#),
        post("api/export", r#"{"node": 2, "loop": 0, "property": {"name": "x"}}"#),
        post("api/step", r#"{"node": 1, "choice": 0}"#),
        post("api/random", r#"{"node": 0, "steps": 3, "seed": 7}"#),
        post("api/go", r#"{"node": 0, "vertex": 2}"#),
        post("api/trace", &trace),
        post("api/check/load", r#"{"property": 0}"#),
        post("api/check/stop", "{}"),
    ];
    // Several at once: many of them wait for more until nothing comes.
    let work = |seed: u64| {
        let mut random = Random(seed);
        let mut refused = 0;
        for round in 0..1000 {
            let mut bytes = match round % 10 {
                0 => (0..random.below(300)).map(|_| random.below(256) as u8).collect(),
                _ => good[random.below(good.len())].clone().into_bytes(),
            };
            mutate(&mut bytes, &mut random);
            let answer = served.exchange(&bytes, Duration::from_millis(40));
            let text = String::from_utf8_lossy(&answer);
            for line in text.lines().filter(|line| line.starts_with("HTTP/1.")) {
                let status: u16 = line.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
                assert!(status == 200 || (400..500).contains(&status), "{line}\n{}", String::from_utf8_lossy(&bytes));
                refused += (status != 200) as usize;
            }
        }
        refused
    };
    let refused: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=4)
            .map(|seed| {
                scope.spawn({
                    let work = &work;
                    move || work(seed)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no status but those")).sum()
    });
    println!("{refused} were refused");
    assert!(refused > 1000, "{refused}");
    assert_eq!(served.get("api/node/0").status, 200);
    assert!(!served.has_ended());
}

/// The sockets that listen, as Linux lists them: addresses in hexadecimal, lowest byte first.
#[test]
fn it_listens_on_this_machine_only() {
    let served = Served::model("models/leader.pml");
    let Ok(table) = std::fs::read_to_string("/proc/net/tcp") else {
        return println!("skipped: this system does not list its sockets");
    };
    let port = format!(":{:04X}", served.port);
    let listening = |table: &str| -> Vec<String> {
        let local = |line: &str| Some(line.split_whitespace().nth(1)?.to_string());
        let listens = |line: &&str| line.split_whitespace().nth(3) == Some("0A");
        table.lines().filter(listens).filter_map(local).filter(|address| address.ends_with(&port)).collect()
    };
    assert_eq!(listening(&table), [format!("0100007F{port}")]);
    let other = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    assert!(listening(&other).is_empty());
}

#[test]
fn a_long_session_stays_small_and_quick() {
    let served = Served::model("models/alternating_bit.pml");
    let begun = Instant::now();
    let mut node = json!(0);
    for seed in 0..10 {
        node = served.post("api/random", &json!({ "node": node, "steps": 1000, "seed": seed })).json()["node"].clone();
        served.get(&format!("api/graph?node={node}&most=200"));
    }
    println!("walks: {:?}", begun.elapsed());
    let begun = Instant::now();
    let here = served.get(&format!("api/node/{node}")).json();
    assert_eq!(here["node"], node);
    println!("a node: {:?}", begun.elapsed());
    let depth = here["depth"].as_u64().unwrap();
    assert_eq!(depth, 10_000);
    let memory = served.memory().unwrap_or(0);
    println!("memory: {} MB", memory >> 20);
    assert!(memory < 200 << 20);
}
