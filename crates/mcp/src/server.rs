//! The server: hears messages, uses tools, and answers in any order, until its client goes away or it is told to end.

use crate::arguments::Said;
use crate::call::{Call, Listener};
use crate::folder::Folder;
use crate::inbox::{Ending, Heard, Inbox};
use crate::message::{self, Message, NO_PARAMETERS, NO_REQUEST, Wrong};
use crate::models::{Asker, Models};
use crate::progress::Progress;
use crate::protocol::{Era, Session, stamped};
use crate::reply::Reply;
use crate::tools::Tool;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::Duration;

/// Calls that are answered at a time, most of them waiting.
const MOST_CALLS: usize = 32;

/// What is served, and within which limits.
#[derive(Debug)]
pub struct Serving {
    /// The command, which must be started in the folder: names of models are from there.
    pub program: PathBuf,
    pub folder: Folder,
    /// Of a command; one runs at a time.
    pub memory: usize,
    /// Of a search.
    pub time: Duration,
}

/// Answers a client until nothing more comes in; what still runs is ended then.
pub fn serve(serving: Serving, (inbox, ending): (Inbox, Ending), output: impl Write + Send) -> io::Result<()> {
    let server = Server {
        models: Models::new(serving)?,
        output: Mutex::new(output),
        lost: AtomicBool::new(false),
        ending,
        calls: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let mut session = Session::default();
        let ended = loop {
            match inbox.next() {
                Heard::Line(_) if server.lost.load(Ordering::Relaxed) => break Ok(()),
                Heard::Line(line) => server.hear(line, &mut session, scope),
                Heard::End(ended) => break ended,
            }
        };
        server.calls().values().for_each(|call| call.end());
        ended
    })
}

struct Server<W> {
    models: Models,
    output: Mutex<W>,
    /// Nobody reads the answers.
    lost: AtomicBool,
    ending: Ending,
    calls: Mutex<HashMap<String, Arc<Call>>>,
}

impl<W: Write + Send> Server<W> {
    fn calls(&self) -> MutexGuard<'_, HashMap<String, Arc<Call>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn send(&self, message: &Value) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{message}\n");
        if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
            drop(output);
            self.lost.store(true, Ordering::Relaxed);
            self.calls().values().for_each(|call| call.end());
            self.ending.end_soon();
        }
    }

    fn reply(&self, reply: &Reply, answer: Option<Value>) {
        if let Some(message) = reply.with(answer) {
            self.send(&message);
        }
    }

    fn hear<'s>(&'s self, line: Result<Vec<u8>, Wrong>, session: &mut Session, scope: &'s Scope<'s, '_>) {
        match line.and_then(|line| message::value(&line)) {
            Err(wrong) => self.send(&message::error(&Value::Null, &wrong)),
            Ok(Value::Array(all)) if session.has_batches() && !all.is_empty() => {
                let read: Vec<_> = all.into_iter().map(message::read).collect();
                let owed = read.iter().filter(|read| matches!(read, Err(_) | Ok(Message::Request { .. }))).count();
                let reply = Reply::together(owed);
                read.into_iter().for_each(|read| self.take(read, &reply, session, scope));
            }
            Ok(one) => self.take(message::read(one), &Reply::Alone, session, scope),
        }
    }

    fn take<'s>(
        &'s self,
        read: Result<Message, (Value, Wrong)>,
        reply: &Reply,
        session: &mut Session,
        scope: &'s Scope<'s, '_>,
    ) {
        match read {
            Err((id, wrong)) => self.reply(reply, Some(message::error(&id, &wrong))),
            Ok(Message::Answer) => {}
            Ok(Message::Notification { method, params }) => {
                let call = self.calls().get(&params["requestId"].to_string()).cloned();
                if let Some(call) = call.filter(|_| method == "notifications/cancelled") {
                    call.end();
                }
            }
            Ok(Message::Request { id, method, params }) => {
                let answered = session.era(&method, &params).and_then(|era| match method.as_str() {
                    "tools/call" => self.begin(Asked { id: id.clone(), params, era, reply: reply.clone() }, scope),
                    _ => session.answer(era, &method, &params).map(Some),
                });
                match answered {
                    Ok(None) => {}
                    Ok(Some(result)) => self.reply(reply, Some(message::result(&id, result))),
                    Err(wrong) => self.reply(reply, Some(message::error(&id, &wrong))),
                }
            }
        }
    }

    /// Begins to use a tool, in a thread of its own; answers where that cannot be.
    fn begin<'s>(&'s self, asked: Asked, scope: &'s Scope<'s, '_>) -> Result<Option<Value>, Wrong> {
        let (key, era) = (asked.id.to_string(), asked.era);
        let call = Arc::new(Call::default());
        {
            let mut calls = self.calls();
            if calls.contains_key(&key) {
                return Err(Wrong::new(NO_REQUEST, format!("request {key} is still being answered")));
            }
            if calls.len() >= MOST_CALLS {
                let why = format!("{MOST_CALLS} calls are being answered or wait; ask again when some are done");
                return Ok(Some(told(Err(why), era)));
            }
            calls.insert(key.clone(), call.clone());
        }
        match Builder::new().spawn_scoped(scope, move || self.called(&asked, &call)) {
            Ok(_) => Ok(None),
            Err(error) => {
                self.calls().remove(&key);
                Ok(Some(told(Err(format!("there is no room for another call: {error}")), era)))
            }
        }
    }

    /// Uses a tool and answers. Who has cancelled waits for no answer.
    fn called(&self, asked: &Asked, call: &Call) {
        let answered = self.tool(&asked.params, call);
        self.calls().remove(&asked.id.to_string());
        let answer = match answered {
            _ if call.is_ended() => None,
            Err(wrong) => Some(message::error(&asked.id, &wrong)),
            Ok(answered) => Some(message::result(&asked.id, told(answered, asked.era))),
        };
        self.reply(&asked.reply, answer);
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
        let progress = Progress::new(&params["_meta"]["progressToken"]);
        let caller = Caller { server: self, call, progress };
        Ok(Said::new(tool, params["arguments"].clone()).and_then(|said| self.models.answer(tool, &said, &caller)))
    }
}

/// A call of a tool.
struct Asked {
    id: Value,
    params: Value,
    era: Era,
    reply: Reply,
}

/// Who has called, and hears how far the answer is.
struct Caller<'a, W> {
    server: &'a Server<W>,
    call: &'a Call,
    progress: Progress,
}

impl<W: Write + Send> Caller<'_, W> {
    fn tell(&self, told: Option<Value>) {
        if let Some(params) = told {
            self.server.send(&message::notification("notifications/progress", params));
        }
    }
}

impl<W: Write + Send> Listener for Caller<'_, W> {
    fn sample(&self, sample: &Value) {
        self.tell(self.progress.sample(sample));
    }

    fn sign_of_life(&self) {
        self.tell(self.progress.sign_of_life());
    }
}

impl<W: Write + Send> Asker for Caller<'_, W> {
    fn call(&self) -> &Call {
        self.call
    }

    fn waits(&self, before: usize) {
        self.tell(self.progress.waits(before));
    }
}

/// The result of a call.
fn told(answered: Result<Value, String>, era: Era) -> Value {
    let result = match answered {
        Ok(answer) => {
            let content = blocks(&answer);
            json!({ "content": content, "structuredContent": answer, "isError": false })
        }
        Err(why) => json!({ "content": [{ "type": "text", "text": why }], "isError": true }),
    };
    stamped(result, era)
}

/// An answer as a person or a model reads it: a long text as it is, and what else there is.
fn blocks(answer: &Value) -> Value {
    let mut rest = answer.clone();
    let text = rest.as_object_mut().and_then(|object| object.shift_remove("text"));
    let rest = Some(format!("{rest:#}")).filter(|_| answer.as_object().is_some_and(|o| o.len() > 1 || text.is_none()));
    let texts = text.as_ref().and_then(Value::as_str).map(String::from).into_iter().chain(rest);
    texts.map(|text| json!({ "type": "text", "text": text })).collect()
}
