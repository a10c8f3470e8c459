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
        Client::started(Command::new(env!("CARGO_BIN_EXE_scrimp")).arg("mcp").arg(folder).args(flags))
    }

    fn started(command: &mut Command) -> Client {
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
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
        ("open", json!({ "model": "../missing.pml" }), "outside"),
        ("simulate", json!({ "model": "wrong.pml", "steps": 3_000_000 }), "from 0 to 10000"),
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
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("7", -32600),
        ("\"x\"", -32600),
        ("true", -32600),
        ("null", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
    ] {
        client.line(line);
        assert_eq!(client.hear()["error"]["code"], code, "{line}");
    }
    for (method, params) in [
        ("tools/list", json!({ "cursor": "x" })),
        ("tools/list", json!([1])),
        ("tools/call", json!(7)),
        ("initialize", Value::Null),
    ] {
        assert_eq!(client.ask(method, params.clone())["error"]["code"], -32602, "{method} {params}");
    }
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    client.leave();

    let mut early = Client::silent(&folder, &[]);
    assert!(early.ask("tools/list", json!({}))["error"]["message"].as_str().unwrap().contains("initialize"));
    assert_eq!(early.ask("server/discover", json!({}))["error"]["code"], -32601);
    early.leave();
    let _ = std::fs::remove_dir_all(folder);
}

/// What one file of the folder says, and how it names another one outside.
const ESCAPES: [(&str, &str); 12] = [
    ("plain.pml", "#include \"../out/secret.h\""),
    ("quote.pml", "/*\"*/#include \"../out/secret.h\""),
    ("two.pml", "#include  <../out/secret.h>"),
    ("none.pml", "#include<../out/secret.h>"),
    ("hash.pml", "# include <../out/secret.h>"),
    ("tab.pml", "#include\t<../out/secret.h>"),
    ("comment.pml", "#include/**/<../out/secret.h>"),
    ("line.pml", "#include \\\n<../out/secret.h>"),
    ("macro.pml", "#define F <../out/secret.h>\n#include F"),
    ("m.xml", "#include \"../out/secret.h\""),
    ("part.pml", "#include \"m.xml\""),
    ("missing.pml", "#include \"../out/missing.h\""),
];

#[test]
fn nothing_outside_of_the_folder_is_read() {
    let home = scratch("agents-folder");
    let _ = std::fs::remove_dir_all(&home);
    let (folder, out) = (home.join("in"), home.join("out"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(&out).unwrap();
    std::fs::write(out.join("secret.h"), "hunter2 hunter2").unwrap();
    std::fs::write(out.join("empty.h"), "").unwrap();
    std::fs::write(out.join("lts.aut"), "des (0, 1, 2)\n(0, \"hunter2\", 1)\n").unwrap();
    let process = "\nactive proctype P() { skip }\n";
    let mut models: Vec<String> = Vec::new();
    let mut write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), format!("{text}{process}")).unwrap();
        models.push(name.to_string());
    };
    ESCAPES.iter().for_each(|(name, text)| write(name, text));
    write("long.pml", &format!("#include \"{}../out/secret.h\"", "./".repeat(200)));
    write("absolute.pml", &format!("#include \"{}\"", out.join("secret.h").display()));
    write("empty.pml", "#include \"../out/empty.h\"");
    std::fs::write(folder.join("net.network"), "component a = \"../out/lts.aut\"\nbehaviour a\n").unwrap();
    models.push("net.network".into());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../out", folder.join("link")).unwrap();
        std::fs::write(folder.join("linked.pml"), format!("#include \"link/secret.h\"{process}")).unwrap();
        std::os::unix::fs::symlink("plain.pml", folder.join("other.pml")).unwrap();
        models.extend(["linked.pml".into(), "other.pml".into()]);
    }
    std::fs::write(folder.join("own.h"), "byte x;").unwrap();
    std::fs::write(folder.join("own.pml"), format!("#include \"own.h\"{process}")).unwrap();
    std::fs::write(folder.join("asked.pml"), format!("#include F{process}")).unwrap();
    let mut client = Client::of(&folder, &["--memory", "256M"]);
    for model in models {
        let why = client.bad("open", json!({ "model": model }));
        assert!(why.contains("outside of the folder") && !why.contains("hunter2"), "{model}: {why}");
    }
    for file in ["<../out/secret.h>", "<link/secret.h>"] {
        let why = client.bad("check", json!({ "model": "asked.pml", "define": [format!("F={file}")] }));
        assert!(!why.contains("hunter2"), "{file}: {why}");
    }
    assert_eq!(client.good("check", json!({ "model": "own.pml" }))["verdict"], "verified");
    client.good("open", json!({ "model": "asked.pml", "define": ["F=\"own.h\""] }));
    // Whoever runs the command without a folder reads what he names.
    let text = std::fs::read_to_string(folder.join("plain.pml")).unwrap();
    std::fs::write(out.join("secret.h"), "byte x;").unwrap();
    assert!(text.contains("../out/secret.h"));
    crate::common::command::scrimp(&["check", &folder.join("plain.pml").display().to_string()]).code(0);
    client.leave();
    let _ = std::fs::remove_dir_all(home);
}

/// A run of more than a thousand steps, with messages, and one of wide states.
const LONG: &str = "int x;\nchan c = [1] of { int };\n\
    active proctype A() { do :: x < 500 -> c!x; x++ :: x == 500 -> assert(false) od }\n\
    active proctype B() { int y; do :: c?y od }\n";
const WIDE: &str =
    "byte a[3000];\nactive proctype P() { byte i; do :: i < 20 -> a[i]++; i++ :: else -> assert(false) od }\n";

#[test]
fn answers_are_small() {
    let folder = scratch("agents-small");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("long.pml"), LONG).unwrap();
    std::fs::write(folder.join("wide.pml"), WIDE).unwrap();
    let mut client = Client::of(&folder, &["--memory", "512M"]);
    for model in ["long.pml", "wide.pml"] {
        let opened = client.good("open", json!({ "model": model }));
        assert!(opened.to_string().len() < 8 << 10, "{model}");
        let checked = client.good("check", json!({ "model": model, "property": ["assertions"] }));
        let run = checked["properties"][0]["run"].as_u64().unwrap_or_else(|| panic!("{checked}"));
        for (tool, more) in [
            ("explain", json!({})),
            ("trace", json!({})),
            ("trace", json!({ "format": "itf" })),
            ("trace", json!({ "format": "json" })),
            ("chart", json!({})),
            ("chart", json!({ "format": "mermaid" })),
        ] {
            let mut asked = more.clone();
            asked["trace"] = run.into();
            let told = client.good(tool, asked);
            let length = told["text"].as_str().unwrap().len();
            assert!(length <= 32 << 10 && told.to_string().len() < 64 << 10, "{model} {tool} {more}: {length}");
        }
        let asked = json!({ "trace": run, "format": "itf", "lines": u64::MAX });
        assert!(client.good("trace", asked)["text"].as_str().unwrap().len() <= 256 << 10);
    }
    let run = client.good("simulate", json!({ "model": "long.pml", "steps": 1300 }));
    let part = client.good("chart", json!({ "trace": run["run"], "first": 1200, "steps": 10 }));
    assert_eq!((&part["shown"], &part["steps"]), (&json!([1200, 1209]), &json!(1300)));
    assert!(part["text"].as_str().unwrap().lines().count() < 30 && part["advice"].is_string(), "{part}");
    let why = client.bad("chart", json!({ "trace": run["run"], "first": 1301 }));
    assert!(why.contains("1300 steps"), "{why}");
    client.leave();
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
    // What is proposed is accepted.
    let words = |next: &Value| -> Vec<String> {
        next["advice"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_string()).collect()
    };
    let next = words(&client.good("next", json!({ "model": "endless.pml" })));
    assert!(next.iter().any(|line| line.starts_with("order: dfs")), "{next:?}");
    assert!(next.iter().any(|line| line.starts_with("time: more")), "{next:?}");
    assert!(!next.iter().any(|line| line.contains("best") || line.starts_with("memory")), "{next:?}");
    for more in [json!({ "engine": "symbolic" }), json!({ "order": "bfs", "time": "10m" })] {
        let mut asked = more.clone();
        asked["model"] = "endless.pml".into();
        let next = words(&client.good("next", asked));
        assert!(!next.iter().any(|line| line.starts_with("order") || line.starts_with("memory")), "{more}: {next:?}");
        assert_eq!(next.iter().any(|line| line.starts_with("time")), more["time"].is_null(), "{more}: {next:?}");
    }

    // A client that goes away takes its searches along.
    client.begin("tools/call", call);
    client.hear();
    client.leave();
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn commands_take_turns_and_calls_have_an_end() {
    let folder = scratch("agents-many");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("endless.pml"), ENDLESS).unwrap();
    let mut client = Client::of(&folder, &["--memory", "256M"]);
    let call = |tool: &str, more: Value| {
        let mut arguments = more;
        arguments["model"] = "endless.pml".into();
        json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": tool } })
    };
    let first = client.begin("tools/call", call("count", json!({ "time": "5m", "engine": "explicit" })));
    client.hear();
    // A short one waits as well, and hears that it does.
    let second = client.begin("tools/call", call("simulate", json!({})));
    let waits = loop {
        let told = client.hear();
        if told["params"]["progressToken"] == "simulate" {
            break told;
        }
    };
    assert!(waits["params"]["message"].as_str().unwrap().contains("1 before it"), "{waits}");
    for _ in 0..100 {
        client.begin("tools/call", json!({ "name": "simulate", "arguments": { "model": "endless.pml" } }));
    }
    let mut refused = 0;
    while refused < 70 {
        let told = client.hear();
        if told["result"]["isError"] == true {
            let why = told["result"]["content"][0]["text"].as_str().unwrap_or_default();
            assert!(why.contains("32 calls"), "{told}");
            refused += 1;
        }
    }
    assert!(processes_of(client.server.id()).len() <= 1);
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": first } }));
    let answered = loop {
        let told = client.hear();
        if told["id"].is_u64() {
            break told;
        }
    };
    assert_eq!(answered["id"], second, "the others are answered in turn");
    client.leave();
    let _ = std::fs::remove_dir_all(folder);
}

/// The numbers of the processes that this one has started, where the system tells.
fn processes_of(parent: u32) -> Vec<String> {
    let children = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let children = children.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    children.flat_map(|text| text.split_whitespace().map(String::from).collect::<Vec<_>>()).collect()
}

#[test]
fn versions_of_the_protocol_differ() {
    let mut client = Client::silent(&models(), &["--memory", "256M"]);
    let hello = client.ask("initialize", json!({ "protocolVersion": "2025-03-26", "capabilities": {} }));
    assert_eq!(hello["result"]["protocolVersion"], "2025-03-26");
    client.line(
        r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},7,
           {"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"count","arguments":{"model":"phils3.dve"}}}]"#
            .replace('\n', " ")
            .as_str(),
    );
    let all = client.hear();
    let of = |id: Value| all.as_array().unwrap().iter().find(|one| one["id"] == id).unwrap_or_else(|| panic!("{all}"));
    assert_eq!(all.as_array().unwrap().len(), 3);
    assert_eq!(of("a".into())["result"], json!({}));
    assert_eq!(of("b".into())["result"]["structuredContent"]["states"], 154);
    assert_eq!(of(Value::Null)["error"]["code"], -32600);
    client.leave();

    // Since 2026-07-28 there is no handshake.
    let mut client = Client::silent(&models(), &["--memory", "256M"]);
    let about = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                        "io.modelcontextprotocol/clientCapabilities": {} });
    let told = client.ask("server/discover", json!({ "_meta": about }));
    assert_eq!(told["result"]["supportedVersions"], json!(["2026-07-28"]));
    let counted =
        client.ask("tools/call", json!({ "name": "count", "arguments": { "model": "phils3.dve" }, "_meta": about }));
    assert_eq!(
        (&counted["result"]["resultType"], &counted["result"]["structuredContent"]["states"]),
        (&json!("complete"), &json!(154))
    );
    let mut about = about;
    about["io.modelcontextprotocol/protocolVersion"] = "2031-01-01".into();
    let refused = client.ask("tools/list", json!({ "_meta": about }));
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["data"]["supported"]),
        (&json!(-32022), &json!(["2026-07-28"]))
    );
    client.leave();
}

#[cfg(unix)]
#[test]
fn a_server_that_is_told_to_end_leaves_nothing_behind() {
    let folder = scratch("agents-end");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("own")).unwrap();
    let temporary = folder.join("own");
    let mut command = Command::new(env!("CARGO_BIN_EXE_scrimp"));
    let mut client = Client::started(command.arg("mcp").arg(models()).env("TMPDIR", &temporary));
    client.ask("initialize", json!({ "protocolVersion": "2025-06-18" }));
    client.good("simulate", json!({ "model": "phils3.dve" }));
    let left = || std::fs::read_dir(&temporary).unwrap().count();
    assert_eq!(left(), 1);
    let kill = Command::new("kill").args(["-TERM", &client.server.id().to_string()]).status().expect("a command");
    assert!(kill.success());
    let end = Instant::now() + Duration::from_secs(60);
    while client.server.try_wait().expect("a process").is_none() {
        assert!(Instant::now() < end, "the server goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(left(), 0);
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn the_official_client_is_served() {
    let python = std::env::var("SCRIMP_MCP_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import mcp, anyio"]).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        eprintln!("skipped: {python} has no package mcp");
        return;
    }
    let folder = scratch("agents-official");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("endless.pml"), ENDLESS).unwrap();
    for name in ["needham_schroeder.pml", "phils3.dve"] {
        std::fs::copy(model(name), folder.join(name)).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/agents.py");
    let answer = Command::new(python).arg(script).arg(env!("CARGO_BIN_EXE_scrimp")).arg(&folder).output();
    let answer = answer.expect("a command");
    let (said, wrong) = (String::from_utf8_lossy(&answer.stdout), String::from_utf8_lossy(&answer.stderr));
    assert!(answer.status.success(), "{said}{wrong}");
    assert!(said.contains("version 20"), "{said}");
    let _ = std::fs::remove_dir_all(folder);
}
