//! The server: open texts, what is asked about them, and what they are told without being asked.

use crate::commands::Commands;
use crate::document::{Document, Form};
use crate::features::{CHECK, EXPLORE, SIMULATE, View};
use crate::names::Names;
use crate::problems::model_of;
use crate::properties::{self, Properties};
use crate::reader::{self, Found, Job};
use crate::rename::Rename;
use crate::runs::{Outcome, Run};
use crate::text::{Text, decoded};
use crate::uri;
use crate::verdicts::Verdicts;
use crate::wire::{Heard, hear, say};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError};

/// Codes of answers that are none.
pub const INVALID_REQUEST: i32 = -32600;
pub const INVALID_PARAMS: i32 = -32602;
pub const CANCELLED: i32 = -32800;
const PARSE_ERROR: i32 = -32700;
const NO_METHOD: i32 = -32601;
const NOT_INITIALIZED: i32 = -32002;

/// What happens, one thing after the other.
#[derive(Debug)]
pub enum Event {
    Heard(Heard),
    Found(Found),
    Ran(Run, Outcome),
    /// The page of a model is at an address, or there is none any more, and why.
    Opened(usize, String),
    Ended(usize, String),
    Answer(Value),
}

pub fn answer(id: &Value, result: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result.into() })
}

pub fn refusal(id: &Value, code: i32, why: impl Into<String>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why.into() } })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Begun,
    Working,
    ShutDown,
}

struct Server {
    phase: Phase,
    events: Sender<Event>,
    out: Sender<Option<Value>>,
    open: HashMap<String, Document>,
    /// Texts so far.
    texts: u64,
    reader: Sender<Job>,
    commands: Commands,
    verdicts: Verdicts,
}

/// Serves an editor over standard input and output, until it goes away; says whether it took leave. `program` is the command, by
/// which models are checked.
pub fn serve(program: PathBuf) -> bool {
    let (events, happened) = channel();
    let (out, said) = channel::<Option<Value>>();
    let writer = std::thread::spawn(move || {
        let mut output = BufWriter::new(io::stdout());
        // An editor that has gone away reads nothing.
        while let Ok(Some(message)) = said.recv() {
            if say(&mut output, &message).is_err() {
                break;
            }
        }
    });
    let heard = events.clone();
    std::thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        loop {
            let message = hear(&mut input);
            let end = matches!(message, Heard::End(_));
            if heard.send(Event::Heard(message)).is_err() || end {
                break;
            }
        }
    });
    let found = events.clone();
    let reader = reader::start(move |what| {
        let _ = found.send(Event::Found(what));
    });
    let commands = Commands::new(program, events.clone(), out.clone());
    let verdicts = Verdicts::default();
    let (phase, open) = (Phase::Begun, HashMap::new());
    let mut server = Server { phase, events, out, open, texts: 0, reader, commands, verdicts };
    let left = server.go(&happened);
    server.commands.leave();
    let _ = server.out.send(None);
    let _ = writer.join();
    left
}

fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 2, "save": false },
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "renameProvider": { "prepareProvider": true },
        "completionProvider": { "triggerCharacters": ["@", "."] },
        "codeLensProvider": {},
        "executeCommandProvider": { "commands": [CHECK, SIMULATE, EXPLORE] },
    })
}

impl Server {
    fn go(&mut self, happened: &Receiver<Event>) -> bool {
        while let Ok(event) = happened.recv() {
            match event {
                Event::Heard(Heard::Message(message)) => {
                    if message["method"] == "exit" {
                        return self.phase == Phase::ShutDown;
                    }
                    self.heard(message);
                }
                Event::Heard(Heard::Nonsense(why)) => self.send(refusal(&Value::Null, PARSE_ERROR, why)),
                Event::Heard(Heard::End(why)) => {
                    if let Some(why) = why {
                        self.send(refusal(&Value::Null, PARSE_ERROR, why));
                    }
                    return self.phase == Phase::ShutDown;
                }
                Event::Found(Found { uri, version, problems }) => {
                    if let Some(document) = self.open.get_mut(&uri).filter(|document| document.version == version) {
                        document.problems = problems;
                        self.publish(&uri);
                    }
                }
                Event::Ran(run, outcome) => self.ran(run, outcome),
                Event::Opened(page, address) => self.commands.opened(page, &address),
                Event::Ended(page, why) => self.commands.ended(page, &why),
                Event::Answer(answer) => self.send(answer),
            }
        }
        false
    }

    fn send(&self, message: Value) {
        let _ = self.out.send(Some(message));
    }

    fn heard(&mut self, message: Value) {
        let (id, method) = (message["id"].clone(), message["method"].as_str().map(String::from));
        let params = message["params"].clone();
        match (method, id.is_null()) {
            // What the editor answers is not needed.
            (None, _) if message.get("result").is_some() || message.get("error").is_some() => {}
            (None, _) => self.send(refusal(&id, INVALID_REQUEST, "a message has a method")),
            (Some(method), true) => self.told(&method, &params),
            (Some(method), false) => match (self.phase, method.as_str()) {
                (Phase::Begun, "initialize") => {
                    self.phase = Phase::Working;
                    self.commands.meet(&params);
                    let server = json!({ "name": "scrimp", "version": env!("CARGO_PKG_VERSION") });
                    self.send(answer(&id, json!({ "capabilities": capabilities(), "serverInfo": server })));
                }
                (Phase::Begun, _) => self.send(refusal(&id, NOT_INITIALIZED, "the first request is `initialize`")),
                (Phase::Working, "shutdown") => {
                    self.phase = Phase::ShutDown;
                    self.send(answer(&id, Value::Null));
                }
                (Phase::Working, "initialize") => self.send(refusal(&id, INVALID_REQUEST, "that was asked before")),
                (Phase::Working, _) => self.asked(id, &method, &params),
                (Phase::ShutDown, _) => self.send(refusal(&id, INVALID_REQUEST, "after `shutdown` comes `exit`")),
            },
        }
    }

    /// What the editor tells.
    fn told(&mut self, method: &str, params: &Value) {
        if method == "$/cancelRequest" {
            return self.commands.cancel(&params["id"]);
        }
        let document = &params["textDocument"];
        let Some(uri) = document["uri"].as_str().map(String::from) else { return };
        match method {
            "textDocument/didOpen" => {
                let text = Text::new(document["text"].as_str().unwrap_or("").to_string());
                if !self.verdicts.are_of(&uri, &text) {
                    self.forget(&uri);
                }
                self.take(uri, text);
            }
            "textDocument/didChange" => {
                let Some(open) = self.open.get(&uri) else { return };
                let changes = params["contentChanges"].as_array().map_or(&[][..], Vec::as_slice);
                let mut text = None;
                for change in changes {
                    text = text.as_ref().unwrap_or(&*open.text).with(change).or(text);
                }
                if let Some(text) = text {
                    self.forget(&uri);
                    self.take(uri, text);
                }
            }
            "textDocument/didClose" => {
                self.open.remove(&uri);
                self.forget(&uri);
                self.publish(&uri);
            }
            _ => {}
        }
    }

    /// Takes back what checks have said of a model, in all files that it was marked in.
    fn forget(&mut self, uri: &str) {
        for other in self.verdicts.forget(uri).into_iter().filter(|other| other != uri) {
            self.publish(&other);
        }
    }

    fn take(&mut self, uri: String, text: Text) {
        let Some(path) = uri::path(&uri) else { return };
        let Some(form) = Form::of(&path) else { return };
        self.texts += 1;
        let document = Document::new(path, form, text, self.texts);
        if form != Form::Included {
            let _ = self.reader.send(document.job(&uri));
        }
        self.open.insert(uri.clone(), document);
        if form == Form::Included {
            self.publish(&uri);
        }
    }

    fn publish(&self, uri: &str) {
        let problems = self.open.get(uri).map_or(&[][..], |document| &document.problems);
        let all: Vec<Value> = problems.iter().cloned().chain(self.verdicts.marks(uri)).collect();
        let params = json!({ "uri": uri, "diagnostics": all });
        self.send(json!({ "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params }));
    }

    /// What the editor asks.
    fn asked(&mut self, id: Value, method: &str, params: &Value) {
        if method == "workspace/executeCommand" {
            let uri = params["arguments"][0].as_str().unwrap_or("");
            let open = self.open.get(uri).map(|document| document.text.clone());
            return self.commands.run(id, params, open);
        }
        let uri = params["textDocument"]["uri"].as_str().unwrap_or("");
        let Some(document) = self.open.get(uri) else {
            return self.send(match method.strip_prefix("textDocument/") {
                Some(_) => answer(&id, Value::Null),
                None => refusal(&id, NO_METHOD, format!("there is no {method}")),
            });
        };
        let answered = match document.form.language() {
            _ if method == "textDocument/rename" => return self.rename(id, document, uri, params),
            Some(language) => {
                let names = document.names();
                let view = View { uri, text: &document.text, names: &names, language };
                let values = document.values.lock().unwrap_or_else(PoisonError::into_inner);
                match method {
                    "textDocument/hover" => Some(view.hover(params, values.as_ref())),
                    "textDocument/definition" => Some(view.definition(params)),
                    "textDocument/references" => Some(view.references(params)),
                    "textDocument/documentHighlight" => Some(view.highlight(params)),
                    "textDocument/documentSymbol" => Some(view.symbols()),
                    "textDocument/prepareRename" => Some(view.prepare_rename(params)),
                    "textDocument/completion" => Some(view.completion(params)),
                    "textDocument/codeLens" => Some(view.lenses()),
                    _ => None,
                }
            }
            None => self.about_properties(document, uri, method, params),
        };
        self.send(match answered {
            Some(result) => answer(&id, result),
            None => refusal(&id, NO_METHOD, format!("there is no {method}")),
        });
    }

    /// What is asked about a file of properties.
    fn about_properties(&self, document: &Document, uri: &str, method: &str, params: &Value) -> Option<Value> {
        let known =
            ["hover", "definition", "references", "documentHighlight", "completion", "codeLens", "prepareRename"];
        let what =
            method.strip_prefix("textDocument/").filter(|what| known.contains(what) || *what == "documentSymbol")?;
        let Some(path) = model_of(&document.path, &document.text.text) else { return Some(Value::Null) };
        let model_uri = uri::of(&path);
        if what == "codeLens" {
            return Some(properties::lenses(&document.text, &model_uri));
        }
        let open = self.open.get(&model_uri);
        let Some(language) = Form::of(&path).and_then(Form::language) else { return Some(Value::Null) };
        let (text, names) = match open {
            Some(open) => (open.text.clone(), open.names()),
            None => {
                let Some(text) = on_disk(&path).ok() else { return Some(Value::Null) };
                let names = Names::of(&text, language);
                (Arc::new(Text::new(text)), Arc::new(names))
            }
        };
        let model = View { uri: &model_uri, text: &text, names: &names, language };
        let properties = Properties { uri, text: &document.text, model };
        let values = open.map(|open| open.values.lock().unwrap_or_else(PoisonError::into_inner));
        Some(match what {
            "hover" => properties.hover(params, values.as_ref().and_then(|values| values.as_ref())),
            "definition" => properties.definition(params),
            "references" => properties.references(params),
            "documentHighlight" => properties.highlight(params),
            "completion" => properties.completion(params),
            _ => Value::Null,
        })
    }

    /// Another name, found beside the editing: the model is read for it.
    fn rename(&self, id: Value, document: &Document, uri: &str, params: &Value) {
        let refuse = |why: &str| self.send(refusal(&id, INVALID_PARAMS, why));
        let Form::Model(language) = document.form else {
            return refuse(match document.form {
                Form::Properties => "names of a model are changed in the model",
                _ => "what includes this file may use the name too: change it by hand",
            });
        };
        let (names, text, path) = (document.names(), document.text.clone(), document.path.clone());
        let view = View { uri, text: &text, names: &names, language };
        let meant = view.meant(params).filter(|_| !view.prepare_rename(params).is_null());
        let Some(meant) = meant else { return refuse("nothing that was declared in this file is named here") };
        let new = params["newName"].as_str().unwrap_or("").to_string();
        let (events, uri) = (self.events.clone(), uri.to_string());
        std::thread::spawn(move || {
            let rename = Rename { path: &path, text: &text, names: &names, language, meant, new: &new };
            let answered = match rename.places() {
                Ok(places) => {
                    let edit = |place| json!({ "range": text.range(place), "newText": new });
                    let edits: Vec<Value> = places.iter().map(edit).collect();
                    answer(&id, json!({ "changes": { uri: edits } }))
                }
                Err(why) => refusal(&id, INVALID_PARAMS, why),
            };
            let _ = events.send(Event::Answer(answered));
        });
    }

    /// Shows what a run has said.
    fn ran(&mut self, run: Run, outcome: Outcome) {
        match outcome {
            Outcome::Checked(checked) => {
                let now = self.open.get(&run.uri);
                let same = now.is_none_or(|document| document.text.is(&run.text.text));
                let message = match same {
                    true => checked.message,
                    false => format!("{} (the text has changed since: nothing is marked)", checked.message),
                };
                if same {
                    let whole = matches!(run.kind, crate::runs::Kind::Check(None));
                    let touched = self.verdicts.take(&run.uri, run.text, whole, &checked.properties, checked.marks);
                    touched.iter().for_each(|uri| self.publish(uri));
                }
                self.commands.show_message(checked.is_good, &message);
                self.send(answer(&run.id, message));
            }
            Outcome::Simulated(steps) => {
                self.commands.show_run(&steps);
                self.send(answer(&run.id, steps));
            }
            Outcome::Failed(why) => self.send(refusal(&run.id, INVALID_REQUEST, why)),
            Outcome::Cancelled => self.send(refusal(&run.id, CANCELLED, "it was cancelled")),
        }
    }
}

/// The text of a file, as a check reads it.
pub fn on_disk(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let about = std::fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
    match about.is_file() && about.len() <= 64 << 20 {
        true => std::fs::read(path).map(decoded).map_err(|error| format!("{shown}: {error}")),
        false => Err(format!("{shown} is no file that can be shown")),
    }
}
