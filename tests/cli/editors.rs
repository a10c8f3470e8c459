//! `lsp` as an editor uses it.

use crate::common::command::{model, scratch};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
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
        let mut server = Command::new(env!("CARGO_BIN_EXE_scrimp"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (input, output) = (server.stdin.take(), server.stdout.take().expect("a pipe"));
        let mut editor = Editor { server, input, output: BufReader::new(output), asked: 0, told: Vec::new() };
        let hello = editor.ask("initialize", json!({ "processId": null, "rootUri": null, "capabilities": {} }));
        assert_eq!(hello["result"]["capabilities"]["hoverProvider"], true);
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().expect("not closed");
        input.write_all(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes()).expect("the server reads");
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

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
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

    fn leave(mut self) {
        assert!(self.ask("shutdown", Value::Null)["error"].is_null());
        self.tell("exit", Value::Null);
        self.input = None;
        let end = Instant::now() + Duration::from_secs(30);
        while self.server.try_wait().expect("a process").is_none() {
            assert!(Instant::now() < end, "the server goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
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
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let hover = editor.ask("textDocument/hover", at(&uri, 2, 7))["result"]["contents"]["value"].to_string();
        if hover.contains("0, 1, 2, 3, 4, 5") && hover.contains("0 to 255") {
            break;
        }
        assert!(Instant::now() < end, "{hover}");
        std::thread::sleep(Duration::from_millis(50));
    }
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
    let quickest = (0..5)
        .map(|_| {
            let start = Instant::now();
            editor.change(&uri, &text.replace("x7++", "y7++"));
            assert_eq!(editor.problems(&uri).len(), 1);
            start.elapsed()
        })
        .min()
        .unwrap();
    println!("{} lines: {quickest:?}", Path::new(&uri).display());
    assert!(quickest < Duration::from_secs(1), "{quickest:?}");
    editor.leave();
}
