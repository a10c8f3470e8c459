//! The server: reads messages, uses tools, and answers in any order, until its client goes away.

use crate::arguments::Said;
use crate::call::Call;
use crate::folder::Folder;
use crate::message::{self, Message, NO_METHOD, NO_PARAMETERS, NO_REQUEST, Wrong};
use crate::models::Models;
use crate::tools::{Tool, list};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Versions of the protocol that are spoken, newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const INSTRUCTIONS: &str = "\
Scrimp decides properties of finite-state models: Promela, DVE, Petri nets, labelled transition systems. Begin with `open`. \
`check` says verified, violated (with the number of a run: ask `explain`), or incomplete (ask `next`). Only `verified` is a proof.";

/// What is served, and within which limits.
#[derive(Debug)]
pub struct Serving {
    /// The command, which must be started in the folder: names of models are from there.
    pub program: PathBuf,
    pub folder: Folder,
    /// Of all searches together: one runs at a time.
    pub memory: usize,
    /// Of a search.
    pub time: Duration,
}

/// Answers a client until the input ends; what still runs is ended then.
pub fn serve(serving: Serving, mut input: impl BufRead, output: impl Write + Send) -> io::Result<()> {
    let server = Server {
        models: Models::new(serving)?,
        output: Mutex::new(output),
        lost: AtomicBool::new(false),
        calls: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let mut begun = false;
        let read = loop {
            let line = match message::line(&mut input) {
                Ok(Some(line)) if !server.lost.load(Ordering::Relaxed) => line,
                Ok(_) => break Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Err(error),
            };
            let read = line.map_err(|wrong| (Value::Null, wrong)).and_then(|line| message::read(&line));
            match read {
                Err((id, wrong)) => server.send(&message::error(&id, &wrong)),
                Ok(Message::Answer) => {}
                Ok(Message::Notification { method, params }) if method == "notifications/cancelled" => {
                    server.cancel(&params["requestId"]);
                }
                Ok(Message::Notification { .. }) => {}
                Ok(Message::Request { id, method, params }) if method == "tools/call" && begun => {
                    let call = Arc::new(Call::default());
                    let taken = server.calls().insert(id.to_string(), call.clone());
                    if let Some(other) = taken {
                        server.calls().insert(id.to_string(), other);
                        let wrong = Wrong::new(NO_REQUEST, format!("request {id} is still being answered"));
                        server.send(&message::error(&id, &wrong));
                        continue;
                    }
                    let server = &server;
                    scope.spawn(move || server.called(&id, &params, &call));
                }
                Ok(Message::Request { id, method, params }) => {
                    begun |= method == "initialize";
                    server.send(&match server.simple(&method, &params, begun) {
                        Ok(result) => message::result(&id, result),
                        Err(wrong) => message::error(&id, &wrong),
                    });
                }
            }
        };
        server.calls().values().for_each(|call| call.end());
        read
    })
}

struct Server<W> {
    models: Models,
    output: Mutex<W>,
    /// Nobody reads the answers.
    lost: AtomicBool,
    calls: Mutex<HashMap<String, Arc<Call>>>,
}

impl<W: Write> Server<W> {
    fn calls(&self) -> MutexGuard<'_, HashMap<String, Arc<Call>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: &Value) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{message}\n");
        if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
            self.lost.store(true, Ordering::Relaxed);
            self.calls().values().for_each(|call| call.end());
        }
    }

    fn cancel(&self, id: &Value) {
        if let Some(call) = self.calls().get(&id.to_string()) {
            call.end();
        }
    }

    /// What is answered at once.
    fn simple(&self, method: &str, params: &Value, begun: bool) -> Result<Value, Wrong> {
        match method {
            "initialize" => {
                let asked = params["protocolVersion"].as_str();
                let version = VERSIONS.into_iter().find(|version| asked == Some(version)).unwrap_or(VERSIONS[0]);
                Ok(json!({
                    "protocolVersion": version,
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "scrimp", "version": env!("CARGO_PKG_VERSION") },
                    "instructions": INSTRUCTIONS,
                }))
            }
            "ping" => Ok(json!({})),
            _ if !begun => Err(Wrong::new(NO_REQUEST, "expected `initialize` first")),
            "tools/list" => Ok(list()),
            _ => {
                Err(Wrong::new(NO_METHOD, format!("there is no method {method}; there are tools/list and tools/call")))
            }
        }
    }

    /// Uses a tool and answers. Who has cancelled waits for no answer.
    fn called(&self, id: &Value, params: &Value, call: &Call) {
        let answered = self.tool(params, call);
        self.calls().remove(&id.to_string());
        if call.is_ended() {
            return;
        }
        self.send(&match answered {
            Err(wrong) => message::error(id, &wrong),
            Ok(Ok(answer)) => {
                let content = blocks(&answer);
                message::result(id, json!({ "content": content, "structuredContent": answer, "isError": false }))
            }
            Ok(Err(why)) => {
                message::result(id, json!({ "content": [{ "type": "text", "text": why }], "isError": true }))
            }
        });
    }

    /// What cannot be asked is wrong; what goes wrong on the way is an answer too.
    fn tool(&self, params: &Value, call: &Call) -> Result<Result<Value, String>, Wrong> {
        let name = params["name"].as_str().unwrap_or_default();
        let Some(tool) = Tool::ALL.into_iter().find(|tool| tool.name() == name) else {
            let names: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
            return Err(Wrong::new(
                NO_PARAMETERS,
                format!("there is no tool `{name}`; there are {}", names.join(", ")),
            ));
        };
        let token = &params["_meta"]["progressToken"];
        let before = AtomicU64::new(0);
        let tell = |sample: &Value| self.tell(token, sample, &before);
        let tell: Option<&dyn Fn(&Value)> = if token.is_null() { None } else { Some(&tell) };
        let said = Said::new(tool, params["arguments"].clone());
        Ok(said.and_then(|said| self.models.answer(tool, &said, call, tell)))
    }

    /// Tells a client how far its search is. What it hears only grows.
    fn tell(&self, token: &Value, sample: &Value, before: &AtomicU64) {
        let visits = sample["visits"].as_u64().unwrap_or(0);
        if before.fetch_max(visits, Ordering::Relaxed) >= visits {
            return;
        }
        let mut params = json!({
            "progressToken": token,
            "progress": visits,
            "message": format!("{visits} states visited, {} open", sample["open"]),
        });
        if let Some(expected) = sample["expected"].as_u64().filter(|expected| *expected >= visits) {
            params["total"] = expected.into();
        }
        self.send(&message::notification("notifications/progress", params));
    }
}

/// An answer as a person or a model reads it: a long text as it is, and what else there is.
fn blocks(answer: &Value) -> Value {
    let mut rest = answer.clone();
    let text = rest.as_object_mut().and_then(|object| object.shift_remove("text"));
    let rest = Some(format!("{rest:#}")).filter(|_| answer.as_object().is_some_and(|o| o.len() > 1 || text.is_none()));
    let texts = text.as_ref().and_then(Value::as_str).map(String::from).into_iter().chain(rest);
    texts.map(|text| json!({ "type": "text", "text": text })).collect()
}
