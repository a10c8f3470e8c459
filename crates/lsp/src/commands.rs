//! What lenses do: checks and random runs one after the other, pages of models side by side; and how an editor shows them.

use crate::checks::{self, Slot};
use crate::features::{CHECK, EXPLORE, SIMULATE};
use crate::runs::{Kind, Run, Runs};
use crate::server::{CANCELLED, Event, INVALID_PARAMS, INVALID_REQUEST, answer, on_disk, refusal};
use crate::text::Text;
use crate::uri;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// Pages that are served at a time: before another, the oldest ends.
const MOST_PAGES: usize = 4;

/// The page of a model, offering a property perhaps.
#[derive(Debug)]
struct Page {
    path: PathBuf,
    property: Option<String>,
    slot: Slot,
    address: Option<String>,
    /// Who asked for it and was not answered.
    waiting: Vec<Value>,
}

#[derive(Debug)]
pub struct Commands {
    program: PathBuf,
    events: Sender<Event>,
    out: Sender<Option<Value>>,
    runs: Runs,
    pages: BTreeMap<usize, Page>,
    /// Pages and files of runs so far.
    numbers: usize,
    /// The editor shows addresses and files that it is asked to.
    shows: bool,
    /// The editor shows what commands answer in a way of its own.
    own_way: bool,
    /// The file that the last run was shown in.
    run_file: Option<PathBuf>,
}

impl Commands {
    pub fn new(program: PathBuf, events: Sender<Event>, out: Sender<Option<Value>>) -> Commands {
        let done = events.clone();
        let runs = Runs::new(program.clone(), move |run, outcome| {
            let _ = done.send(Event::Ran(run, outcome));
        });
        let (pages, shows, own_way, run_file) = (BTreeMap::new(), false, false, None);
        Commands { program, events, out, runs, pages, numbers: 0, shows, own_way, run_file }
    }

    /// Learns what the editor can do.
    pub fn meet(&mut self, params: &Value) {
        self.shows = params["capabilities"]["window"]["showDocument"]["support"] == true;
        self.own_way = params["initializationOptions"]["panel"] == true;
    }

    fn send(&self, message: Value) {
        let _ = self.out.send(Some(message));
    }

    fn tell(&self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub fn show_message(&self, is_good: bool, message: &str) {
        let kind = if is_good { 3 } else { 2 };
        self.tell("window/showMessage", json!({ "type": kind, "message": message }));
    }

    /// Runs the command of a lens beside the editing; `open` is the text of its file, where that is open.
    pub fn run(&mut self, id: Value, params: &Value, open: Option<Arc<Text>>) {
        let arguments = &params["arguments"];
        let found =
            arguments[0].as_str().ok_or_else(|| "expected the address of a model".to_string()).and_then(|uri| {
                let path = uri::path(uri).ok_or_else(|| format!("{uri} is no file"))?;
                let saved = on_disk(&path)?;
                match open {
                    Some(open) if !open.is(&saved) => {
                        Err(format!("save {} first: what is checked is the file", path.display()))
                    }
                    Some(open) => Ok((uri.to_string(), path, open)),
                    None => {
                        let saved = saved.strip_prefix('\u{feff}').map(String::from).unwrap_or(saved);
                        Ok((uri.to_string(), path, Arc::new(Text::new(saved))))
                    }
                }
            });
        let (uri, path, text) = match found {
            Ok(found) => found,
            Err(why) => return self.send(refusal(&id, INVALID_PARAMS, why)),
        };
        let property = arguments[1].as_str().map(String::from);
        let kind = match params["command"].as_str().unwrap_or("") {
            CHECK => Kind::Check(property),
            SIMULATE => Kind::Simulate,
            // What the model asks of itself is on its page anyway.
            EXPLORE => {
                let own = |property: &String| property.starts_with("ltl ") || property == "assertions";
                return self.explore(id, path, property.filter(|property| !own(property)));
            }
            other => return self.send(refusal(&id, INVALID_PARAMS, format!("there is no command {other}"))),
        };
        if !self.runs.add(Run { id: id.clone(), kind, uri, path, text }) {
            self.send(refusal(&id, INVALID_REQUEST, "too many runs are waiting"));
        }
    }

    pub fn cancel(&mut self, id: &Value) {
        if let Some(run) = self.runs.cancel(id) {
            self.send(refusal(&run.id, CANCELLED, "it was cancelled"));
        }
        for page in self.pages.values_mut() {
            if page.address.is_none() && page.waiting.contains(id) {
                page.waiting.retain(|other| other != id);
                let _ = self.out.send(Some(refusal(id, CANCELLED, "it was cancelled")));
                if page.waiting.is_empty() {
                    page.slot.end();
                }
            }
        }
    }

    /// The page of a model: the one that is there, or a new one.
    fn explore(&mut self, id: Value, path: PathBuf, property: Option<String>) {
        let same = |page: &&mut Page| page.path == path && page.property == property && !page.slot.was_ended();
        if let Some(page) = self.pages.values_mut().find(same) {
            match page.address.clone() {
                Some(address) => self.show_page(&id, &address),
                None => page.waiting.push(id),
            }
            return;
        }
        let going = self.pages.values().filter(|page| !page.slot.was_ended());
        if going.clone().count() >= MOST_PAGES
            && let Some(oldest) = going.take(1).next()
        {
            oldest.slot.end();
        }
        self.numbers += 1;
        let (number, slot) = (self.numbers, Slot::default());
        let (program, events, framed) = (self.program.clone(), self.events.clone(), self.own_way);
        let (model, asked, running) = (path.clone(), property.clone(), slot.clone());
        std::thread::spawn(move || {
            let opened = |address: &str| {
                let _ = events.send(Event::Opened(number, address.to_string()));
            };
            let ended = checks::explore(&program, &model, asked.as_deref(), framed, &running, opened);
            let why = ended.err().filter(|why| !why.is_empty()).unwrap_or_else(|| "the page was closed at once".into());
            let _ = events.send(Event::Ended(number, why));
        });
        self.pages.insert(number, Page { path, property, slot, address: None, waiting: vec![id] });
    }

    pub fn opened(&mut self, number: usize, address: &str) {
        let Some(page) = self.pages.get_mut(&number) else { return };
        page.address = Some(address.to_string());
        for id in std::mem::take(&mut page.waiting) {
            self.show_page(&id, address);
        }
    }

    pub fn ended(&mut self, number: usize, why: &str) {
        let Some(page) = self.pages.remove(&number) else { return };
        for id in page.waiting {
            self.send(refusal(&id, INVALID_REQUEST, why));
        }
    }

    fn show_page(&self, id: &Value, address: &str) {
        self.send(answer(id, address));
        match (self.own_way, self.shows) {
            (true, _) => {}
            (false, true) => self.show_document(address, true),
            (false, false) => self.show_message(true, &format!("the page of the model is at {address}")),
        }
    }

    fn show_document(&self, uri: &str, external: bool) {
        let params = json!({ "uri": uri, "external": external, "takeFocus": false });
        let id = format!("show {uri}");
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": "window/showDocument", "params": params }));
    }

    /// Shows a random run: as a file, or in the log.
    pub fn show_run(&mut self, steps: &str) {
        if self.own_way {
            return;
        }
        match self.shows.then(|| self.file_of_run(steps)).flatten() {
            Some(file) => self.show_document(&uri::of(&file), false),
            None => {
                self.tell("window/logMessage", json!({ "type": 3, "message": steps }));
                self.show_message(true, "the run is in the log of the language server");
            }
        }
    }

    /// A new file with a run; the one before is not needed any more.
    fn file_of_run(&mut self, steps: &str) -> Option<PathBuf> {
        self.numbers += 1;
        let name = format!("scrimp-run-{}-{}.txt", std::process::id(), self.numbers);
        let path = std::env::temp_dir().join(name);
        let mut file = std::fs::File::options().write(true).create_new(true).open(&path).ok()?;
        file.write_all(steps.as_bytes()).ok()?;
        if let Some(before) = self.run_file.replace(path.clone()) {
            let _ = std::fs::remove_file(before);
        }
        Some(path)
    }

    /// Ends all that was begun.
    pub fn leave(&mut self) {
        self.runs.leave();
        self.pages.values().for_each(|page| page.slot.end());
        if let Some(file) = self.run_file.take() {
            let _ = std::fs::remove_file(file);
        }
    }
}
