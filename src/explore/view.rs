//! A state as the page shows it: by process and variable, what has changed, what can happen, and how it was reached.

use super::source::{self, Active, Place};
use crate::chart;
use crate::report::chart::Message;
use crate::walk::{Choices, Node, SingleStep, Walk};
use crate::{Entry, EntryKind, EventCode, Explorable, NativeModel, Opened};
use scrimp_system::{Change, Describe, Event, Standing, System, VarId};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Values and events that are sent at once.
const MOST_VALUES: usize = 1000;
const MOST_EVENTS: usize = 500;

type Failed = Box<dyn std::error::Error>;

/// What a language is called.
pub fn language(opened: &Opened) -> &'static str {
    match opened {
        Opened::Promela(_) => "Promela",
        Opened::Net(_) => "Petri net",
        Opened::System(system) => match system.source.name.trim_end_matches(".gz").rsplit('.').next() {
            Some("aut") => "labelled transition system",
            Some("network") => "network",
            _ => "DVE",
        },
    }
}

/// A look at one state, at values and events with some text in their names.
pub struct View<'a> {
    pub walk: &'a mut Walk,
    pub active: &'a Active,
    pub values: Option<&'a str>,
    pub enabled: Option<&'a str>,
}

impl View<'_> {
    pub fn node(&mut self, node: Node) -> Result<Value, Failed> {
        let ending = self.walk.ending(node)?;
        let (enabled, enabled_total) = self.enabled(node)?;
        let parent = self.walk.parent(node).map(|parent| self.walk.state(parent));
        let (values, values_total) = self.values(self.walk.state(node), parent);
        Ok(json!({
            "node": node,
            "parent": self.walk.parent(node),
            "depth": self.walk.depth(node),
            "processes": self.processes(self.walk.state(node)),
            "values": values,
            "values_total": values_total,
            "enabled": enabled,
            "enabled_total": enabled_total,
            "end": ending.map(|ending| ending.text),
            "bad": ending.is_some_and(|ending| ending.bad),
            "faults": self.faults(node)?,
            "violations": self.walk.model().violations(self.walk.state(node)),
            "steps": steps(self.walk, node),
        }))
    }

    /// Another state as it is seen beside a node: what differs has the value that it has in the node before it.
    pub fn beside(&self, node: Node, state: &[u8]) -> Value {
        let (values, total) = self.values(state, Some(self.walk.state(node)));
        json!({ "processes": self.processes(state), "values": values, "values_total": total })
    }

    /// Where each process is.
    fn processes(&self, state: &[u8]) -> Value {
        match self.walk.model().file() {
            Some(model) => self.processes_of_file(model, state),
            None => self.processes_without_text(state),
        }
    }

    /// Where the model says that its processes are, or else the values that are called after them.
    fn processes_without_text(&self, state: &[u8]) -> Value {
        let model = self.walk.model();
        let standing = model.standing(state);
        if !standing.is_empty() {
            let at = |s: &Standing| (s.line > 0).then(|| format!("line {}", s.line));
            let one = |s: Standing| {
                let name = chart::lane_name(&s.name, s.process);
                json!({ "lane": s.process, "name": name, "at": at(&s), "statements": s.statements, "lines": [] })
            };
            return standing.into_iter().map(one).collect();
        }
        let values = model.shown_values(state);
        let places = self.walk.entries().iter().zip(values).filter(|(entry, _)| entry.kind == EntryKind::Place);
        let at: HashMap<usize, String> = places.filter_map(|(entry, value)| Some((entry.owner?, value))).collect();
        let one =
            |(lane, name): (usize, String)| json!({ "lane": lane, "name": name, "at": at.get(&lane), "lines": [] });
        model.lanes().into_iter().enumerate().map(one).collect()
    }

    fn processes_of_file(&self, model: &NativeModel, state: &[u8]) -> Value {
        let system = model.system();
        let standing = model.standing(state);
        if !system.outline.places.is_empty() {
            let one = |s: Standing| {
                let number = s.process as usize;
                let lines = self.lines(model, number, system.processes[number].control, state);
                let line = lines.first().map_or(s.line, |(_, line)| *line);
                json!({
                    "lane": s.process, "name": chart::lane_name(&s.name, s.process),
                    "at": format!("line {line}"), "statements": s.statements, "lines": places_json(&lines),
                })
            };
            return standing.into_iter().map(one).collect();
        }
        let one = |(number, process): (usize, &scrimp_system::Process)| {
            let location = model.layout().read(state, process.control, 0).unwrap_or(0);
            let at = usize::try_from(location).ok().and_then(|location| process.locations.get(location));
            let lines = self.lines(model, number, process.control, state);
            json!({ "lane": number, "name": process.name, "at": at, "lines": places_json(&lines) })
        };
        system.processes.iter().enumerate().filter(|(_, process)| !is_gone(system, process)).map(one).collect()
    }

    /// The lines of what a process can do in a state; where it can do nothing, its last one.
    fn lines(&self, model: &NativeModel, process: usize, control: VarId, state: &[u8]) -> Vec<Place> {
        let location = u32::try_from(model.layout().read(state, control, 0).unwrap_or(0)).unwrap_or(0);
        let places = model.system().outline.places.get(process);
        let own = places.and_then(|places| source::place(places.get(location as usize)?.span));
        match self.active.at(process, location) {
            [] => own.into_iter().collect(),
            lines => lines.to_vec(),
        }
    }

    /// The values of a state, with those that they had in the state before it.
    fn values(&self, state: &[u8], parent: Option<&[u8]>) -> (Vec<Value>, usize) {
        let model = self.walk.model();
        let changed = parent.map_or(Vec::new(), |before| model.changes(before, state));
        let before: HashMap<usize, String> = changed.into_iter().map(|change| (change.entry, change.before)).collect();
        // Where processes come and go, those that are gone have no values, and the others what they are now.
        let come_and_go = model.file().filter(|file| !file.system().outline.places.is_empty());
        let instances = come_and_go.map(|file| file.instances(state));
        let is_there = |entry: &Entry| match (&instances, entry.owner) {
            (Some(instances), Some(owner)) => {
                let now = instances.get(owner).copied().flatten();
                now.is_some() && (entry.instance.is_none() || entry.instance == now)
            }
            _ => true,
        };
        let (zeros, text) = (!model.leaves_out_zeros(), self.values.map(str::to_lowercase));
        let mut shown = Vec::new();
        let mut total = 0;
        for (number, (entry, value)) in self.walk.entries().iter().zip(model.shown_values(state)).enumerate() {
            if entry.kind == EntryKind::Place || !is_there(entry) {
                continue;
            }
            total += 1;
            let changed = before.contains_key(&number);
            let wanted = match &text {
                Some(text) => entry.name.to_lowercase().contains(text),
                None => zeros || value != "0" || changed,
            };
            // What has changed is not left out, however late it comes.
            if wanted && (shown.len() < MOST_VALUES || changed && shown.len() < 2 * MOST_VALUES) {
                let mut one = json!({
                    "name": entry.name, "lane": entry.owner, "value": value, "before": before.get(&number),
                });
                if entry.kind == EntryKind::Channel {
                    one["channel"] = true.into();
                }
                if let Some(short) = come_and_go.and_then(|file| short_name(file, entry)) {
                    one["short"] = short.into();
                }
                shown.push(one);
            }
        }
        (shown, total)
    }

    fn enabled(&mut self, node: Node) -> Result<(Vec<Value>, usize), Failed> {
        self.walk.choices(node)?;
        let text = self.enabled.map(str::to_lowercase);
        let Some(Choices { batch, .. }) = self.walk.here(node) else { return Ok((Vec::new(), 0)) };
        let (mut shown, mut total) = (Vec::new(), 0);
        let model = self.walk.model();
        for choice in 0..batch.len() {
            let code = batch.event(choice);
            total += 1;
            let label = with_rest(model, self.walk.state(node), code, batch.state(choice));
            let wanted = text.as_ref().is_none_or(|text| words(model, code, &label).contains(text));
            if wanted && shown.len() < MOST_EVENTS {
                let mut one = event_json(model, code, label);
                one["choice"] = choice.into();
                one["node"] = self.walk.taken(Some(node), choice).into();
                one["seen"] = self.walk.find(batch.state(choice)).is_some().into();
                shown.push(one);
            }
        }
        Ok((shown, total))
    }

    fn faults(&mut self, node: Node) -> Result<Vec<Value>, Failed> {
        let faults = self.walk.faults(node)?;
        let model = self.walk.model();
        let one = |record: scrimp_system::FaultRecord| {
            let mut one = event_json(model, record.event, label_of(model, record.event));
            one["text"] = model.fault(record).into();
            one
        };
        Ok(faults.into_iter().take(MOST_EVENTS).map(one).collect())
    }
}

fn places_json(places: &[Place]) -> Value {
    places.iter().map(|(file, line)| json!({ "file": file, "line": line })).collect()
}

/// A claim that was taken out has one place and no life.
pub fn is_gone(system: &System, process: &scrimp_system::Process) -> bool {
    process.locations.len() > 1 && system.variables[process.control.index()].domain.width() == 0
}

/// What an event is found by, in small letters: what it is called, who takes part, and its line.
fn words(model: &dyn Explorable, code: EventCode, label: &str) -> String {
    let (source, text) = (source::line_of(model, code), model.event(code));
    let processes = text.steps.iter().map(|step| chart::lane_name(&step.name, step.process)).chain(text.processes);
    format!("{label} {source} {}", processes.collect::<Vec<_>>().join(" ")).to_lowercase()
}

/// The name of a variable as its process knows it: neither the place of the process nor its type is a part of that.
fn short_name(model: &NativeModel, entry: &Entry) -> Option<String> {
    let owner = &model.system().processes[entry.owner?].name;
    let own = entry.name.strip_prefix(owner.as_str())?.strip_prefix('.')?;
    match (entry.kind, entry.instance) {
        (EntryKind::Value, Some(_)) => Some(own.split_once('.').map_or(own, |(_, name)| name).to_string()),
        (EntryKind::Value, None) => Some(own.to_string()),
        (EntryKind::Place, _) => None,
        (EntryKind::Channel, instance) => {
            let places = model.system().outline.places.get(entry.owner?)?;
            let process = &places.iter().find(|place| instance == Some(place.instance))?.process;
            Some(format!("{}.{own}", chart::lane_name(process, entry.owner? as u32)))
        }
    }
}

fn label_of(model: &dyn Explorable, code: EventCode) -> String {
    event_of(model, code).map_or_else(|| model.event(code).label, |event| event.label.clone())
}

/// The event of a model file.
fn event_of(model: &dyn Explorable, code: EventCode) -> Option<&Event> {
    let file = model.file()?;
    file.system().events.get(file.parts(code).0? as usize)
}

/// The label of a choice; where several steps are taken at once, also of the one that says most of the rest: which passes a
/// message, or else the last.
fn with_rest(model: &dyn Explorable, state: &[u8], code: EventCode, after: &[u8]) -> String {
    let first = label_of(model, code);
    let steps = model.steps(state, code, after);
    let rest = steps.get(1..).unwrap_or_default();
    let mut before = steps.first().map(|(_, state)| state.as_slice()).unwrap_or(state);
    let mut telling = None;
    for (event, after) in rest {
        telling = telling.or(model.passed(before, *event).map(|_| *event));
        before = after;
    }
    match telling.or(rest.last().map(|(event, _)| *event)) {
        Some(event) => format!("{first} … {}", label_of(model, event)),
        None => first,
    }
}

/// An event with its processes and its place in the model.
fn event_json(model: &dyn Explorable, code: EventCode, label: String) -> Value {
    let lanes = model.lanes_of(code);
    let place = source::place_of(model, code);
    let mut one = json!({
        "label": label, "lane": lanes.first(), "lanes": lanes,
        "file": place.map(|(file, _)| file), "line": place.map(|(_, line)| line),
        "source": source::line_of(model, code),
    });
    let statement = event_of(model, code).and_then(|event| {
        let statements = &model.file()?.system().outline.statements;
        statements.get(*event.statements.first()? as usize)
    });
    if let Some(statement) = statement {
        one["statement"] = statement.text.clone().into();
    }
    one
}

/// The single steps by which a state was reached.
pub fn steps(walk: &Walk, node: Node) -> Vec<Value> {
    walk.steps(node).iter().map(|step| step_json(walk, step)).collect()
}

fn step_json(walk: &Walk, step: &SingleStep) -> Value {
    let SingleStep { event, before, after } = step;
    let model = walk.model();
    let text = model.event(*event);
    let place = source::place_of(model, *event);
    let is_told = |change: &Change| walk.entries()[change.entry].kind != EntryKind::Place || text.steps.is_empty();
    let changes = model.changes(before, after).into_iter().filter(is_told).take(MOST_VALUES);
    let changes: Vec<Value> = changes.map(|change| json!([change.name, change.before, change.after])).collect();
    let shown = chart::row(model, before, *event);
    let lane = shown.as_ref().map(|shown| shown.row.lane);
    let name = shown.as_ref().and_then(|shown| Some(&shown.names.iter().find(|(number, _)| Some(*number) == lane)?.1));
    let mut one = json!({
        "label": text.label, "lane": lane, "lane_name": name,
        "file": place.map(|(file, _)| file), "line": place.map(|(_, line)| line),
        "text": text.steps.first().map_or(&text.label, |step| &step.statement),
        "changes": changes,
        "row": shown.as_ref().map(row_json),
    });
    if let Some((_, printed)) = model.printed(before, *event) {
        one["printed"] = printed.into();
    }
    if let Some(violated) = model.violated(before, *event) {
        one["violated"] = violated.into();
    }
    if !text.started.is_empty() {
        one["started"] = text.started.iter().map(|(number, name)| format!("{name}:{number}")).collect();
    }
    one
}

fn row_json(shown: &chart::Shown) -> Value {
    let mut row = Map::new();
    row.insert("lane".into(), shown.row.lane.into());
    row.insert("label".into(), shown.row.label.clone().into());
    let kind = match &shown.row.message {
        None => "step",
        Some(Message::Rendezvous { receiver }) => {
            row.insert("to".into(), (*receiver).into());
            "rendezvous"
        }
        Some(Message::Sent { channel, position }) => {
            row.insert("channel".into(), channel.clone().into());
            row.insert("position".into(), (*position).into());
            "sent"
        }
        Some(Message::Received { channel, position }) => {
            row.insert("channel".into(), channel.clone().into());
            row.insert("position".into(), (*position).into());
            "received"
        }
    };
    row.insert("kind".into(), kind.into());
    row.insert("notable".into(), shown.notable.into());
    Value::Object(row)
}
