//! `lsp` as an editor uses it.

use crate::common::command::{model, scratch};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

struct Editor {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: i32,
    /// What was told meanwhile.
    told: Vec<Value>,
}

impl Editor {
    fn new() -> Editor {
        Editor::with(json!({ "capabilities": {} }))
    }

    fn with(mut hello: Value) -> Editor {
        hello["processId"] = Value::Null;
        hello["rootUri"] = Value::Null;
        let mut editor = Editor::unmet();
        let hello = editor.ask("initialize", hello);
        assert_eq!(hello["result"]["capabilities"]["hoverProvider"], true);
        editor.tell("initialized", json!({}));
        editor
    }

    fn unmet() -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_scrimp"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (input, output) = (server.stdin.take(), server.stdout.take().expect("a pipe"));
        Editor { server, input, output: BufReader::new(output), asked: 0, told: Vec::new() }
    }

    fn write(&mut self, text: &str) {
        self.input.as_mut().expect("not closed").write_all(text.as_bytes()).expect("the server reads");
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }

    fn hear(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("a header") > 0, "the server has gone away");
            match line.trim().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).expect("a message");
        serde_json::from_slice(&text).expect("JSON")
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn begin(&mut self, method: &str, params: Value) -> i32 {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    fn answer(&mut self, id: i32) -> Value {
        loop {
            let heard = self.hear();
            if heard["id"] == id && heard["method"].is_null() {
                return heard;
            }
            self.told.push(heard);
        }
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "promela", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, uri: &str, text: &str) {
        let changes = json!([{ "text": text }]);
        self.tell(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": changes }),
        );
    }

    /// What is wrong with a text, as the server tells next.
    fn problems(&mut self, uri: &str) -> Vec<Value> {
        loop {
            let heard = match self.told.is_empty() {
                true => self.hear(),
                false => self.told.remove(0),
            };
            if heard["method"] == "textDocument/publishDiagnostics" && heard["params"]["uri"] == uri {
                return heard["params"]["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    /// What is told next by this method.
    fn heard(&mut self, method: &str) -> Value {
        if let Some(at) = self.told.iter().position(|told| told["method"] == method) {
            return self.told.remove(at)["params"].clone();
        }
        loop {
            let heard = self.hear();
            if heard["method"] == method {
                return heard["params"].clone();
            }
            self.told.push(heard);
        }
    }

    /// What the hover at a place says, once it says this.
    fn hover_with(&mut self, place: &Value, expected: &str) -> String {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let hover = self.ask("textDocument/hover", place.clone())["result"]["contents"]["value"].to_string();
            if hover.contains(expected) {
                return hover;
            }
            assert!(Instant::now() < end, "{hover}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn command(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("workspace/executeCommand", json!({ "command": name, "arguments": arguments }))
    }

    /// Waits for the server to end; gives its exit code.
    fn end(mut self) -> Option<i32> {
        self.input = None;
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.server.try_wait().expect("a process") {
                return status.code();
            }
            if Instant::now() >= end {
                let _ = self.server.kill();
                panic!("the server goes on");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn leave(mut self) {
        assert!(self.ask("shutdown", Value::Null)["error"].is_null());
        self.tell("exit", Value::Null);
        assert_eq!(self.end(), Some(0));
    }
}

/// A folder with a file of this text, and its address.
fn written(name: &str, file: &str, text: &str) -> (std::path::PathBuf, String) {
    let folder = scratch(name);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(file);
    std::fs::write(&path, text).unwrap();
    let uri = format!("file://{}", path.display());
    (folder, uri)
}

fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } })
}

const TEXT: &str = "byte turn = 1;\nactive proctype P() {\n  byte x;\n  do\n  :: x < 5 -> x++\n  :: x == 5 -> assert(turn == 0)\n  od\n}\n";

#[test]
fn an_editor_sees_what_is_wrong_and_what_names_mean() {
    let folder = scratch("editors");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("model.pml");
    std::fs::write(&path, TEXT).unwrap();
    let uri = format!("file://{}", path.display());
    let mut editor = Editor::new();
    editor.open(&uri, &TEXT.replace("turn == 0", "trun == 0"));
    let problems = editor.problems(&uri);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0]["message"].as_str().unwrap().contains("unknown variable `trun`"), "{problems:?}");
    assert_eq!(problems[0]["range"]["start"], json!({ "line": 5, "character": 22 }));
    editor.change(&uri, TEXT);
    assert!(editor.problems(&uri).is_empty());

    assert_eq!(editor.ask("textDocument/definition", at(&uri, 4, 5))["result"]["range"]["start"]["line"], 2);
    assert!(editor.hover_with(&at(&uri, 2, 7), "0, 1, 2, 3, 4, 5").contains("0 to 255"));
    let mut rename = at(&uri, 0, 6);
    rename["newName"] = "whose".into();
    let edits = editor.ask("textDocument/rename", rename.clone())["result"]["changes"][&uri].clone();
    assert_eq!(edits.as_array().unwrap().len(), 2);
    rename["newName"] = "do".into();
    assert!(
        editor.ask("textDocument/rename", rename)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("word of the language")
    );
    let lenses = editor.ask("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }))["result"].clone();
    assert_eq!(lenses[0]["command"]["command"], "scrimp.check");

    // What the lens does: the violation is marked where it happens, with the steps that lead there.
    let checked = editor.ask("workspace/executeCommand", lenses[0]["command"].clone());
    assert!(checked["result"].as_str().unwrap().contains("violated"), "{checked}");
    let problems = editor.problems(&uri);
    assert_eq!(problems[0]["range"]["start"]["line"], 5, "{problems:?}");
    assert!(problems[0]["relatedInformation"].as_array().unwrap().len() > 5, "{problems:?}");
    let run = editor.ask("workspace/executeCommand", json!({ "command": "scrimp.simulate", "arguments": [uri] }));
    assert!(run["result"].as_str().unwrap().contains("initial state"), "{run}");

    editor.change(&uri, "byte other;");
    let refused = editor.ask("workspace/executeCommand", lenses[0]["command"].clone());
    assert!(refused["error"]["message"].as_str().unwrap().contains("save"), "{refused}");
    assert!(editor.ask("textDocument/inlayHint", at(&uri, 0, 0))["error"]["code"].is_number());
    let wrong = editor.ask("workspace/executeCommand", json!({ "command": "scrimp.fly", "arguments": [uri] }));
    assert!(wrong["error"].is_object());
    editor.leave();
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn properties_are_held_against_their_model() {
    let folder = scratch("editors-properties");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(model("phils3.dve"), folder.join("phils3.dve")).unwrap();
    let path = folder.join("phils3.props");
    let uri = format!("file://{}", path.display());
    let mut editor = Editor::new();
    editor.open(&uri, "# fine\ndeadlock\ninvariant: Phil_0@bth\n");
    let problems = editor.problems(&uri);
    assert!(problems.len() == 1 && problems[0]["range"]["start"]["line"] == 2, "{problems:?}");
    let lenses = editor.ask("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }))["result"].clone();
    assert_eq!(lenses[0]["command"]["arguments"][1], "deadlock");
    let checked = editor.ask("workspace/executeCommand", lenses[0]["command"].clone());
    assert!(checked["result"].as_str().unwrap().contains("phils3.dve: violated: deadlock"), "{checked}");
    let of_model = format!("file://{}", folder.join("phils3.dve").display());
    assert_eq!(editor.problems(&of_model).len(), 1, "the run is marked in the model, which is not open");
    let text = "invariant: !Phil_0@left\n";
    editor.change(&uri, text);
    let meant = editor.ask("textDocument/definition", at(&uri, 0, 20))["result"].clone();
    assert_eq!(meant["uri"], of_model, "{meant}");
    assert!(editor.ask("textDocument/hover", at(&uri, 0, 12))["result"]["contents"]["value"].is_string());
    assert!(editor.ask("textDocument/rename", at(&uri, 0, 12))["error"]["message"].is_string());
    editor.leave();
    let _ = std::fs::remove_dir_all(folder);
}

/// Two thousand lines are read while somebody types.
#[test]
fn long_models_are_read_quickly() {
    let block = |number: usize| {
        format!(
            "active proctype P{number}() {{\n  byte x{number};\n  do\n  :: x{number} < 3 ->\n     x{number}++\n  :: else ->\n     break\n  od\n}}\n\n"
        )
    };
    let text: String = (0..200).map(block).collect();
    let uri = format!("file://{}", scratch("long.pml").display());
    let mut editor = Editor::new();
    editor.open(&uri, &text);
    editor.problems(&uri);
    let mut quickest = |good: &str, bad: &str| {
        let once = |_| {
            let start = Instant::now();
            editor.change(&uri, bad);
            assert_eq!(errors(&editor.problems(&uri)), 1);
            editor.change(&uri, good);
            let problems = editor.problems(&uri);
            assert_eq!(errors(&problems), 0, "{problems:?}");
            start.elapsed()
        };
        (0..5).map(once).min().unwrap()
    };
    let taken = quickest(&text, &text.replace("x7++", "y7++"));
    println!("{} lines: {taken:?}", text.lines().count());
    assert!(taken < Duration::from_secs(1), "{taken:?}");
    // How many names there are is of no great account.
    let (few, many) = (sends(4), sends(250));
    let taken = [few, many].map(|text| quickest(&text, &text.replace("init { a", "init { xy = 1; a")));
    println!("{taken:?}");
    assert!(taken[1] < 3 * taken[0], "{taken:?}");

    // Who types quickly is told of the newest text, and answered meanwhile.
    let texts: Vec<String> = (0..30).map(|number| text.replace("x7++", &format!("y{number}_++"))).collect();
    texts.iter().for_each(|text| editor.change(&uri, text));
    assert!(editor.ask("textDocument/hover", at(&uri, 1, 7))["result"].is_object());
    while !editor.problems(&uri)[0]["message"].as_str().unwrap().contains("y29_") {}
    editor.leave();
}

/// How many of these are errors.
fn errors(problems: &[Value]) -> usize {
    problems.iter().filter(|problem| problem["severity"] == 1).count()
}

/// Ten processes that send messages of so many symbols.
fn sends(symbols: usize) -> String {
    let names: Vec<String> = (0..symbols).map(|number| format!("m{number}")).collect();
    let option = |number: usize| {
        let (symbol, cell) = (number % symbols, number % 20);
        format!("  :: atomic {{ v[{cell}] < 7 -> c[{cell}]!m{symbol}(a, b); v[{cell}] = a + b }}\n")
    };
    let options: String = (0..190).map(option).collect();
    let process = |number: usize| format!("proctype W{number}() {{\n  byte a, b;\n  do\n{options}  od\n}}\n");
    let processes: String = (0..10).map(process).collect();
    format!(
        "mtype = {{ {} }};\nchan c[20] = [4] of {{ mtype, byte, byte }};\nbyte v[20];\n{processes}init {{ atomic {{ run W0(); run W1() }} }}\n",
        names.join(", ")
    )
}

/// Nothing that an editor may send ends the server but its leave, and what it has started ends with it.
#[test]
fn a_server_ends_when_it_should_and_not_before() {
    let (folder, uri) = written("editors-ends", "model.pml", TEXT);
    let mut editor = Editor::unmet();
    assert_eq!(editor.ask("textDocument/hover", at(&uri, 0, 0))["error"]["code"], -32002);
    let hello = json!({ "processId": null, "rootUri": null, "capabilities": {} });
    assert!(editor.ask("initialize", hello)["result"].is_object());
    editor.write("Content-Length: 3\r\n\r\n{a}Content-Length: 2\r\n\r\n[]");
    for _ in 0..2 {
        assert_eq!(editor.hear()["error"]["code"], -32700);
    }
    let page = editor.command("scrimp.explore", json!([uri]));
    assert!(page["result"].as_str().unwrap().starts_with("http://127.0.0.1"), "{page}");
    assert!(editor.heard("window/showMessage")["message"].as_str().unwrap().contains("http://"));
    assert_eq!(editor.command("scrimp.explore", json!([uri]))["result"], page["result"], "one page a model");
    assert!(editor.ask("shutdown", Value::Null)["error"].is_null());
    assert_eq!(editor.ask("textDocument/hover", at(&uri, 0, 0))["error"]["code"], -32600);
    editor.tell("exit", Value::Null);
    assert_eq!(editor.end(), Some(0));

    let mut editor = Editor::new();
    assert!(editor.command("scrimp.explore", json!([uri]))["result"].is_string());
    assert_eq!(editor.end(), Some(1), "without a word");
    let mut editor = Editor::new();
    editor.tell("exit", Value::Null);
    assert_eq!(editor.end(), Some(1), "without `shutdown`");
    let mut editor = Editor::new();
    editor.write("Content-Length: 99999999999999\r\n\r\n{}");
    assert_eq!(editor.hear()["error"]["code"], -32700);
    assert_eq!(editor.end(), Some(1));
    let _ = std::fs::remove_dir_all(folder);
}

/// A check of an endless model can be taken back, and others wait for it.
#[test]
fn checks_run_one_after_the_other_and_can_be_cancelled() {
    let text = "int a, b, c;\nactive proctype P() { do :: a++ :: b++ :: c++ od }\n";
    let (folder, uri) = written("editors-cancel", "model.pml", text);
    let mut editor = Editor::new();
    let check = json!({ "command": "scrimp.check", "arguments": [uri] });
    let first = editor.begin("workspace/executeCommand", check.clone());
    let second = editor.begin("workspace/executeCommand", check);
    for id in [second, first] {
        editor.tell("$/cancelRequest", json!({ "id": id }));
        let answer = editor.answer(id);
        assert_eq!(answer["error"]["code"], -32800, "{answer}");
    }
    editor.leave();
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn values_are_those_of_the_variable_that_is_meant() {
    let text = "active proctype P() { byte x = 1; x = 2 }\nactive proctype P_b() { byte x = 77; x = 78 }\n";
    let (folder, uri) = written("editors-values", "model.pml", text);
    let mut editor = Editor::new();
    editor.open(&uri, text);
    assert!(editor.hover_with(&at(&uri, 0, 27), "(in all").contains("1, 2 ("));
    assert!(editor.hover_with(&at(&uri, 1, 29), "(in all").contains("77, 78 ("));
    let blocks = "byte y;\nactive proctype P() { { byte x = 1; y = x } { byte x = 9; y = x } }\n";
    editor.change(&uri, blocks);
    editor.hover_with(&at(&uri, 0, 5), "(in all");
    for character in [29, 51] {
        let hover = editor.ask("textDocument/hover", at(&uri, 1, character))["result"]["contents"]["value"].to_string();
        assert!(hover.contains("byte x") && !hover.contains("states)"), "{hover}");
    }
    let second =
        editor.ask("textDocument/definition", at(&uri, 1, 62))["result"]["range"]["start"]["character"].clone();
    assert_eq!(second, 51);
    editor.leave();
    let _ = std::fs::remove_dir_all(folder);
}

/// The line of the diagnostic of a severity of errors.
fn marked(problems: &[Value]) -> Vec<(u64, String)> {
    let told = |problem: &Value| {
        (problem["range"]["start"]["line"].as_u64().unwrap() + 1, problem["message"].as_str().unwrap().to_string())
    };
    problems.iter().map(told).collect()
}

#[test]
fn what_is_violated_is_marked_at_its_fault() {
    let needham = std::fs::read_to_string(model("needham_schroeder.pml")).unwrap();
    let (folder, uri) = written("editors-marks", "needham.pml", &needham);
    let mut editor = Editor::new();
    editor.open(&uri, &needham);
    editor.problems(&uri);
    editor.command("scrimp.check", json!([uri]));
    let found = marked(&editor.problems(&uri));
    let line = needham.lines().position(|line| line.contains("assert(")).unwrap() as u64 + 1;
    assert!(found.len() == 1 && found[0].0 == line && found[0].1.contains("assert"), "{found:?}");

    // A verdict on one formula leaves that on another alone; an edit takes both back.
    let text = "byte x;\nactive proctype P() { do :: x = 1 :: x = 0 od }\nltl a { <> (x == 7) }\nltl b { [] (x <= 1) }\nltl { [] (x == 0) }\n";
    let uri = format!("file://{}", folder.join("two.pml").display());
    // As editors write them on other systems.
    std::fs::write(folder.join("two.pml"), format!("\u{feff}{}", text.replace('\n', "\r\n"))).unwrap();
    editor.open(&uri, text);
    editor.problems(&uri);
    let a = editor.command("scrimp.check", json!([uri, "ltl a"]));
    assert!(a["result"].as_str().unwrap().contains("violated"), "{a}");
    let found = marked(&editor.problems(&uri));
    assert!(found.len() == 1 && found[0].1.contains("cycle"), "{found:?}");
    let b = editor.command("scrimp.check", json!([uri, "ltl b"]));
    assert!(b["result"].as_str().unwrap().contains("verified"), "{b}");
    assert_eq!(editor.problems(&uri).len(), 1);
    let lenses = editor.ask("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }))["result"].clone();
    let unnamed =
        lenses.as_array().unwrap().iter().find(|lens| lens["command"]["arguments"][1] == "ltl ltl_2").unwrap();
    let checked = editor.ask("workspace/executeCommand", unnamed["command"].clone());
    assert!(checked["result"].as_str().unwrap().contains("violated: ltl ltl_2"), "{checked}");
    assert_eq!(editor.problems(&uri).len(), 2);
    let change = json!([{ "range": { "start": { "line": 0, "character": 5 }, "end": { "line": 0, "character": 6 } }, "text": "x, y" }]);
    editor.tell(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": change }),
    );
    assert!(editor.problems(&uri).is_empty());
    assert_eq!(editor.ask("textDocument/definition", at(&uri, 1, 28))["result"]["range"]["start"]["character"], 5);

    // What is violated in an included file is marked there.
    std::fs::write(folder.join("inc.h"), "inline boom() {\n  assert(x == 5)\n}\n").unwrap();
    let text = "byte x;\n#include \"inc.h\"\nactive proctype P() { x = 1;\n boom() }\n";
    std::fs::write(folder.join("inc.pml"), text).unwrap();
    let uri = format!("file://{}", folder.join("inc.pml").display());
    editor.command("scrimp.check", json!([uri]));
    let included = editor.problems(&format!("file://{}", folder.join("inc.h").display()));
    assert_eq!(marked(&included)[0].0, 2, "{included:?}");
    editor.leave();
    let _ = std::fs::remove_dir_all(folder);
}

/// Who says how pages and runs are to be shown is obeyed.
#[test]
fn runs_and_pages_are_shown_as_the_editor_can() {
    let (folder, uri) = written("editors-shown", "model.pml", TEXT);
    let mut editor = Editor::new();
    editor.command("scrimp.simulate", json!([uri]));
    assert!(editor.heard("window/logMessage")["message"].as_str().unwrap().contains("initial state"));
    editor.leave();
    let mut editor = Editor::with(json!({ "capabilities": { "window": { "showDocument": { "support": true } } } }));
    editor.command("scrimp.simulate", json!([uri]));
    let shown = editor.heard("window/showDocument")["uri"].as_str().unwrap().to_string();
    assert!(std::fs::read_to_string(shown.strip_prefix("file://").unwrap()).unwrap().contains("initial state"));
    let page = editor.command("scrimp.explore", json!([uri]))["result"].clone();
    assert_eq!(editor.heard("window/showDocument")["uri"], page);
    editor.leave();
    let _ = std::fs::remove_dir_all(folder);
}
