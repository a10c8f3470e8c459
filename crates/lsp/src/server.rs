//! The server: open texts, what is asked about them, and what they are told without being asked.

use crate::checks::{self, Checked};
use crate::features::{CHECK, EXPLORE, SIMULATE, View, property_lenses};
use crate::names::{Language, Names};
use crate::problems::{model_of, of_model, of_properties};
use crate::text::Text;
use crate::uri;
use crate::values::Values;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Model(Language),
    Properties,
}

impl Form {
    fn of(path: &Path) -> Option<Form> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "pml" | "prom" | "promela" | "pm" | "h" | "inc" => Some(Form::Model(Language::Promela)),
            "dve" => Some(Form::Model(Language::Dve)),
            "properties" | "props" | "prop" => Some(Form::Properties),
            _ => None,
        }
    }
}

/// A text that is open.
struct Document {
    path: PathBuf,
    form: Form,
    text: Text,
    names: Names,
    /// What is wrong with it, and what a check has said of it.
    problems: Vec<Value>,
    verdicts: Vec<Value>,
    /// The values that variables take, once they are known; looking for them ends when the text changes.
    values: Arc<Mutex<Option<Values>>>,
    stop: Arc<AtomicBool>,
}

impl Drop for Document {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

struct Server<'c> {
    program: PathBuf,
    connection: &'c Connection,
    open: HashMap<String, Document>,
    /// Texts that have changed and were not read since.
    stale: HashSet<String>,
    /// What checks have said, by the text's address.
    checked: (crossbeam_channel::Sender<Done>, crossbeam_channel::Receiver<Done>),
}

/// A command that has ended.
struct Done {
    id: RequestId,
    uri: String,
    checked: Result<Checked, String>,
}

/// Serves an editor over standard input and output, until it goes away. `program` is the command, by which models are checked.
pub fn serve(program: PathBuf) -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let (id, _) = connection.initialize_start().map_err(|e| e.to_string())?;
    let about = json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "scrimp", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, about).map_err(|e| e.to_string())?;
    let mut server = Server {
        program,
        connection: &connection,
        open: HashMap::new(),
        stale: HashSet::new(),
        checked: crossbeam_channel::unbounded(),
    };
    let ended = server.go();
    drop(server);
    drop(connection);
    ended.and_then(|()| threads.join().map_err(|e| e.to_string()))
}

fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 1, "save": false },
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

impl Server<'_> {
    fn go(&mut self) -> Result<(), String> {
        let incoming = self.connection.receiver.clone();
        let done = self.checked.1.clone();
        loop {
            // Texts are read when nothing else is waiting: who types quickly is not slowed down.
            if incoming.is_empty() {
                for uri in std::mem::take(&mut self.stale) {
                    self.read(&uri);
                }
            }
            crossbeam_channel::select! {
                recv(incoming) -> message => match message {
                    Ok(Message::Request(request)) => {
                        if self.connection.handle_shutdown(&request).map_err(|e| e.to_string())? {
                            return Ok(());
                        }
                        self.asked(request);
                    }
                    Ok(Message::Notification(told)) => self.told(&told),
                    Ok(Message::Response(_)) => {}
                    Err(_) => return Ok(()),
                },
                recv(done) -> done => if let Ok(done) = done { self.done(done) },
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // An editor that has gone away reads nothing.
        let _ = self.connection.sender.send(message.into());
    }

    fn tell(&self, method: &str, params: Value) {
        self.send(Notification::new(method.into(), params));
    }

    /// What the editor tells.
    fn told(&mut self, told: &Notification) {
        let document = &told.params["textDocument"];
        let Some(uri) = document["uri"].as_str().map(String::from) else { return };
        match told.method.as_str() {
            "textDocument/didOpen" => self.take(uri, document["text"].as_str().unwrap_or("")),
            "textDocument/didChange" => {
                let changes = told.params["contentChanges"].as_array();
                let last = changes.and_then(|changes| changes.last()).and_then(|change| change["text"].as_str());
                if let Some(text) = last {
                    self.take(uri, text);
                }
            }
            "textDocument/didClose" => {
                self.open.remove(&uri);
                self.tell("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": [] }));
            }
            _ => {}
        }
    }

    fn take(&mut self, uri: String, text: &str) {
        let Some(path) = uri::path(&uri) else { return };
        let Some(form) = Form::of(&path) else { return };
        let names = match form {
            Form::Model(language) => Names::of(text, language),
            Form::Properties => Names::default(),
        };
        let document = Document {
            path,
            form,
            text: Text::new(text.to_string()),
            names,
            problems: Vec::new(),
            verdicts: Vec::new(),
            values: Arc::default(),
            stop: Arc::default(),
        };
        self.open.insert(uri.clone(), document);
        self.stale.insert(uri);
    }

    /// Says what is wrong with a text, and looks at the model beside, if it can be read.
    fn read(&mut self, uri: &str) {
        let Some(document) = self.open.get_mut(uri) else { return };
        let included = document.path.extension().is_some_and(|end| end == "h" || end == "inc");
        let (problems, loaded) = match document.form {
            // What is included need not be a model by itself.
            Form::Model(_) if included => (Vec::new(), None),
            Form::Model(_) => of_model(&document.path, &document.text),
            Form::Properties => (of_properties(&document.path, &document.text), None),
        };
        document.problems = problems;
        if let Some(loaded) = loaded {
            let (values, stop) = (document.values.clone(), document.stop.clone());
            std::thread::spawn(move || {
                let seen = Values::of(&loaded.system, &stop);
                *values.lock().unwrap_or_else(PoisonError::into_inner) = seen;
            });
        }
        self.publish(uri);
    }

    fn publish(&self, uri: &str) {
        let Some(document) = self.open.get(uri) else { return };
        let all: Vec<&Value> = document.problems.iter().chain(&document.verdicts).collect();
        self.tell("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": all }));
    }

    /// What the editor asks.
    fn asked(&mut self, request: Request) {
        let Request { id, method, params } = request;
        if method == "workspace/executeCommand" {
            return self.command(id, &params);
        }
        let uri = params["textDocument"]["uri"].as_str().unwrap_or("");
        let Some(document) = self.open.get(uri) else {
            return self.send(match method.strip_prefix("textDocument/") {
                Some(_) => Response::new_ok(id, Value::Null),
                None => Response::new_err(id, ErrorCode::MethodNotFound as i32, format!("there is no {method}")),
            });
        };
        let Form::Model(language) = document.form else {
            let lenses = || {
                let model = model_of(&document.path, &document.text.text)?;
                Some(property_lenses(&document.text, &uri::of(&model)))
            };
            let answer = if method == "textDocument/codeLens" { lenses() } else { None };
            return self.send(Response::new_ok(id, answer.unwrap_or(Value::Null)));
        };
        let view = View { uri, text: &document.text, names: &document.names, language };
        let answer = match method.as_str() {
            "textDocument/hover" => {
                let values = document.values.lock().unwrap_or_else(PoisonError::into_inner);
                view.hover(&params, values.as_ref())
            }
            "textDocument/definition" => view.definition(&params),
            "textDocument/references" => view.references(&params),
            "textDocument/documentHighlight" => view.highlight(&params),
            "textDocument/documentSymbol" => view.symbols(),
            "textDocument/prepareRename" => view.prepare_rename(&params),
            "textDocument/completion" => view.completion(&params),
            "textDocument/codeLens" => view.lenses(),
            "textDocument/rename" => match view.rename(&params) {
                Ok(edits) => edits,
                Err(why) => return self.send(Response::new_err(id, ErrorCode::InvalidParams as i32, why)),
            },
            _ => {
                let why = format!("there is no {method}");
                return self.send(Response::new_err(id, ErrorCode::MethodNotFound as i32, why));
            }
        };
        self.send(Response::new_ok(id, answer));
    }

    /// Runs the command of a lens beside the editing.
    fn command(&mut self, id: RequestId, params: &Value) {
        let wrong = |why: String| Response::new_err(id.clone(), ErrorCode::InvalidParams as i32, why);
        let arguments = &params["arguments"];
        let Some(uri) = arguments[0].as_str().map(String::from) else {
            return self.send(wrong("expected the address of a model".into()));
        };
        let Some(path) = uri::path(&uri) else { return self.send(wrong(format!("{uri} is no file"))) };
        let open = self.open.get(&uri).map(|document| document.text.clone());
        let on_disk = std::fs::read_to_string(&path);
        let text = match (open, on_disk) {
            (_, Err(error)) => return self.send(wrong(format!("{}: {error}", path.display()))),
            (Some(open), Ok(saved)) if open.text != saved => {
                return self.send(wrong(format!("save {} first: what is checked is the file", path.display())));
            }
            (_, Ok(saved)) => Text::new(saved),
        };
        let program = self.program.clone();
        let sender = self.connection.sender.clone();
        match params["command"].as_str().unwrap_or("") {
            CHECK => {
                let property = arguments[1].as_str().map(String::from);
                let done = self.checked.0.clone();
                std::thread::spawn(move || {
                    let checked = checks::check(&program, &path, property.as_deref(), &text);
                    let _ = done.send(Done { id, uri, checked });
                });
            }
            SIMULATE => {
                std::thread::spawn(move || {
                    let _ = sender.send(match checks::simulate(&program, &path) {
                        Ok(run) => Response::new_ok(id, run).into(),
                        Err(why) => Message::from(Response::new_err(id, ErrorCode::InvalidRequest as i32, why)),
                    });
                });
            }
            EXPLORE => {
                std::thread::spawn(move || {
                    let mut answered = false;
                    let show = |address: &str| {
                        answered = true;
                        let _ = sender.send(Response::new_ok(id.clone(), address).into());
                        let params = json!({ "uri": address, "external": true });
                        let number = RequestId::from(format!("show {address}"));
                        let _ = sender.send(Request::new(number, "window/showDocument".into(), params).into());
                    };
                    let ended = checks::explore(&program, &path, show);
                    if !answered {
                        let why = ended.err().unwrap_or_else(|| "the page was closed at once".into());
                        let _ = sender.send(Response::new_err(id, ErrorCode::InvalidRequest as i32, why).into());
                    }
                });
            }
            other => self.send(wrong(format!("there is no command {other}"))),
        }
    }

    /// Shows what a check has said.
    fn done(&mut self, done: Done) {
        let Done { id, uri, checked } = done;
        match checked {
            Ok(Checked { message, is_good, diagnostics }) => {
                if let Some(document) = self.open.get_mut(&uri) {
                    document.verdicts = diagnostics;
                }
                self.publish(&uri);
                let kind = if is_good { 3 } else { 2 };
                self.tell("window/showMessage", json!({ "type": kind, "message": message }));
                self.send(Response::new_ok(id, message));
            }
            Err(why) => self.send(Response::new_err(id, ErrorCode::InvalidRequest as i32, why)),
        }
    }
}
