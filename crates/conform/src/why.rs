//! Why a run does not go on as the log does: for each event that the log may mean, what keeps it from happening, with values.

use crate::ahead::Reached;
use crate::observed::{Expected, Is, Observed};
use crate::search::{Search, Step};
use crate::spec::Fit;
use crate::subject::{Names, Quantity, Subject};
use scrimp_checker::CheckError;
use scrimp_native::NativeModel;
use scrimp_system::{Batch, BinaryOp, Describe, Event, EventCode, Expr, Model, System};
use std::collections::{BTreeMap, HashMap};

/// States that are looked at, and those that are shown.
const LOOKED_AT: usize = 2048;
const SHOWN: usize = 4;
/// Reasons that are told.
const TOLD: usize = 6;

/// Where the logs and the model part ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parting {
    /// The records that may come next, of which none fits: each with its log, its line, and its text.
    pub records: Vec<(usize, u64, String)>,
    /// States that the model may be in then, right behind the last record that fits; and how many there are.
    pub states: Vec<Vec<u8>>,
    pub possible: usize,
    /// What the records may mean, and why it does not happen; what comes closest comes first.
    pub reasons: Vec<Reason>,
    /// What could happen there instead.
    pub could: Vec<String>,
}

/// Why an event is not what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The event, as the model calls it, and where it is written.
    pub event: String,
    pub file: String,
    pub line: u32,
    /// What is not as it would have to be.
    pub why: String,
}

/// How far an event is from happening as it was logged; what is less is closer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    /// It can happen, and so many values are others.
    Values(usize),
    /// So many parts of its guard do not hold.
    Guard(usize),
    /// So many of its processes are elsewhere.
    Elsewhere(usize),
}

/// Looks at the places where a follower is stuck.
pub(crate) fn parting(search: &mut Search, reached: &Reached) -> Result<Parting, CheckError> {
    let matched = reached.matched;
    let places: Vec<_> = reached.places.iter().copied().take(LOOKED_AT).collect();
    let possible = reached.places.iter().filter(|(_, unseen)| *unseen == 0).count();
    let mut parting =
        Parting { records: Vec::new(), states: Vec::new(), possible, reasons: Vec::new(), could: Vec::new() };
    let mut best: BTreeMap<(Distance, usize), Reason> = BTreeMap::new();
    let mut meant: HashMap<u32, Vec<EventCode>> = HashMap::new();
    for (number, (place, unseen)) in places.into_iter().enumerate() {
        let state = search.state(place).clone();
        let far = search.far(place, matched);
        if unseen == 0 && parting.states.len() < SHOWN {
            parting.states.push(state.to_vec());
        }
        let edges = search.graph.edges(place as u32);
        for edge in edges.iter().filter(|_| unseen == 0) {
            let label = &search.observer.subject.event(edge.code).label;
            if !parting.could.contains(label) {
                parting.could.push(label.clone());
            }
        }
        for (sequence, record) in search.heads(&far)?.iter() {
            let (log, line) = search.sequences.source(*sequence, far[*sequence]);
            let told = (log, line, record.text.to_string());
            if unseen == 0 && !parting.records.contains(&told) {
                parting.records.push(told);
            }
            // Events that can happen, by what is different then.
            let mut enabled = Vec::new();
            for edge in edges.iter() {
                let end = search.graph.state(edge.to).clone();
                let whole = [(edge.code, state.clone(), end.clone())];
                let singles: Vec<_> =
                    edge.singles.iter().map(|one| (one.code, one.before.clone(), one.after.clone())).collect();
                for (code, before, after) in if singles.is_empty() { &whole[..] } else { &singles[..] } {
                    let fit = search.observer.fit(record.kind, *code);
                    if fit.is_no() {
                        continue;
                    }
                    enabled.extend(search.observer.subject.event_number(*code));
                    let step = Step { code: *code, before, after, start: &state, end: &end };
                    if let Some((count, why)) = differs(search, record, &fit, step) {
                        note(&mut best, search.observer.subject, *code, (Distance::Values(count), number), why);
                    }
                }
            }
            let subject = search.observer.subject;
            let (Some(file), Some(codes)) = (subject.file, subject.codes()) else { continue };
            let meant = meant.entry(record.kind).or_insert_with(|| {
                let fits = |code: &EventCode| !search.observer.fit(record.kind, *code).is_no();
                codes.filter(fits).collect()
            });
            for code in meant.iter().filter(|code| !enabled.contains(&(**code as usize))) {
                let (distance, why) = disabled(subject, file, &state, *code);
                note(&mut best, subject, *code, (distance, number), why);
            }
        }
    }
    for reason in best.into_values() {
        if !parting.reasons.contains(&reason) && parting.reasons.len() < TOLD {
            parting.reasons.push(reason);
        }
    }
    Ok(parting)
}

/// Notes a reason, unless as many are known that are closer.
fn note(
    best: &mut BTreeMap<(Distance, usize), Reason>,
    subject: &Subject,
    code: EventCode,
    (distance, mut number): (Distance, usize),
    why: String,
) {
    let named = subject.event(code);
    let (file, line, _) = named.lines.first().cloned().unwrap_or_default();
    let reason = Reason { event: named.label.clone(), file, line, why };
    if best.values().any(|other| *other == reason) {
        return;
    }
    // Several events of one state are told apart by a number of their own.
    number *= 1 << 16;
    while best.contains_key(&(distance, number)) {
        number += 1;
    }
    best.insert((distance, number), reason);
    while best.len() > 4 * TOLD {
        best.pop_last();
    }
}

/// How a step that can happen differs from what was logged: in how many things, and in which.
fn differs(search: &Search, record: &Observed, fit: &Fit, step: Step) -> Option<(usize, String)> {
    let subject = search.observer.subject;
    let mut all = Vec::new();
    if fit.writers.is_nobody() && search.observer.passes(record.kind, step.code, step.before).is_nobody() {
        all.push(match subject.model.passed(step.before, step.code) {
            Some(passed) => {
                let sign = if passed.from.is_some() { '!' } else { '?' };
                format!("its message is {}{sign}{}", passed.channel, passed.values.join(","))
            }
            None => "it passes no message".to_string(),
        });
    }
    for expected in record.values.iter().filter(|expected| !search.holds(expected, step)) {
        let state = if expected.before { step.before } else { step.end };
        let is = shown(subject, &expected.quantity, state);
        let verb = if expected.before { "is" } else { "would be" };
        all.push(format!("{} {verb} {is}, and the log says {}", what(expected), said(subject, expected)));
    }
    (!all.is_empty()).then(|| (all.len(), all.join("; ")))
}

/// What a value is called.
fn what(expected: &Expected) -> String {
    match expected.field == expected.name {
        true => expected.name.to_string(),
        false => format!("{} ({})", expected.name, expected.field),
    }
}

/// What the log says that a value is, in the model's words.
fn said(subject: &Subject, expected: &Expected) -> String {
    match (&expected.is, &expected.quantity) {
        (Is::Text(text), _) => text.clone(),
        (Is::Messages(all), _) if all.is_empty() => "[]".into(),
        (Is::Messages(all), _) => all.iter().map(|message| format!("[{}]", message.join(","))).collect(),
        (Is::Number(number), Quantity::Number { names, .. }) => named(subject, *names, *number),
        (Is::Number(number), _) => number.to_string(),
    }
}

fn named(subject: &Subject, names: Names, number: i64) -> String {
    let name = subject.system().and_then(|system| match names {
        Names::Locations(process) => system.processes[process].locations.get(usize::try_from(number).ok()?).cloned(),
        Names::Table(table) => system.outline.name(Some(table), number).map(str::to_string),
        Names::Any => None,
    });
    name.unwrap_or_else(|| number.to_string())
}

fn shown(subject: &Subject, quantity: &Quantity, state: &[u8]) -> String {
    match quantity {
        Quantity::Number { value, names } => match subject.file.map(|file| file.layout().eval(value, state)) {
            Some(Ok(number)) => named(subject, *names, number),
            Some(Err(fault)) => format!("undefined ({fault})"),
            None => "unknown".into(),
        },
        Quantity::Channel(entry) | Quantity::Shown(entry) => {
            subject.model.shown_values(state).into_iter().nth(*entry).unwrap_or_default()
        }
    }
}

/// Why an event cannot happen in a state.
fn disabled(subject: &Subject, file: &NativeModel, state: &[u8], code: EventCode) -> (Distance, String) {
    let system = file.system();
    let event = &system.events[code as usize];
    let read = Reading { system, file, state };
    let places: Vec<String> = event.moves.iter().filter_map(|step| read.elsewhere(step)).collect();
    if !places.is_empty() {
        return (Distance::Elsewhere(places.len()), places.join("; "));
    }
    let net = subject.net.and_then(|net| net.transitions.iter().find(|t| t.name == event.label).map(|t| (net, t)));
    let failing = match net {
        Some((net, transition)) => tokens(subject, net, transition, state),
        None => read.failing(&event.guard),
    };
    if !failing.is_empty() {
        return (Distance::Guard(failing.len()), failing.join("; "));
    }
    (Distance::Guard(1), why_not(file, event, state, code))
}

/// Which places have too few tokens for a transition, or too many.
fn tokens(subject: &Subject, net: &scrimp_net::Net, transition: &scrimp_net::Transition, state: &[u8]) -> Vec<String> {
    let values: HashMap<String, String> = subject.model.values(state).into_iter().collect();
    let held = |arc: &scrimp_net::Arc| {
        let place = &net.places[arc.place as usize].name;
        (place.clone(), values.get(place).and_then(|tokens| tokens.parse::<u64>().ok()).unwrap_or(0))
    };
    let mut failing = Vec::new();
    for arc in &transition.inputs {
        let (place, tokens) = held(arc);
        if tokens < arc.weight {
            failing.push(format!("{place} has {tokens} tokens, and {} are needed", arc.weight));
        }
    }
    for arc in &transition.inhibitors {
        let (place, tokens) = held(arc);
        if tokens >= arc.weight {
            failing.push(format!("{place} has {tokens} tokens, and fewer than {} are allowed", arc.weight));
        }
    }
    failing
}

/// Why an event whose guard holds does not happen.
fn why_not(file: &NativeModel, event: &Event, state: &[u8], code: EventCode) -> String {
    let mut batch = Batch::new(state.len());
    file.expand(state, &mut batch);
    let fault = batch.faults().iter().find(|record| file.parts(record.event).0 == Some(code));
    match fault {
        Some(record) => format!("it ends in a run-time error: {}", file.fault(*record)),
        None if event.late => "it happens only where nothing else can".into(),
        None => "another process goes on alone (atomic or d_step), or goes first".into(),
    }
}

/// A state that is read for what an event tests.
struct Reading<'a> {
    system: &'a System,
    file: &'a NativeModel,
    state: &'a [u8],
}

impl Reading<'_> {
    fn elsewhere(&self, step: &scrimp_system::Move) -> Option<String> {
        let process = &self.system.processes[step.process.index()];
        let at = self.file.layout().read(self.state, process.control, 0).ok()?;
        let name = |number: usize| process.locations.get(number).map_or("?", String::as_str);
        let here = usize::try_from(at).unwrap_or(usize::MAX);
        (at != i64::from(step.from))
            .then(|| format!("{} is at {}, not at {}", process.name, name(here), name(step.from as usize)))
    }

    /// The parts of a condition that do not hold, with the values in them.
    fn failing(&self, guard: &Expr) -> Vec<String> {
        let mut parts = Vec::new();
        conjuncts(guard, &mut parts);
        let told = |part: &Expr| {
            let result = self.file.layout().eval(part, self.state);
            if result.is_ok_and(|value| value != 0) {
                return None;
            }
            let mut values = Vec::new();
            self.values(part, &mut values);
            let with = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
            let part = self.system.spell(part);
            Some(match result {
                Err(fault) => format!("{part} has no value ({fault}){with}"),
                Ok(_) => format!("{part} does not hold{with}"),
            })
        };
        parts.into_iter().filter_map(told).collect()
    }

    /// What a condition reads, as `name = value`.
    fn values(&self, e: &Expr, out: &mut Vec<String>) {
        let mut add = |text: String| {
            if !out.contains(&text) {
                out.push(text);
            }
        };
        let value = |variable, index| match self.file.layout().read(self.state, variable, index) {
            Ok(value) => self.system.show_value(variable, value),
            Err(fault) => fault.to_string(),
        };
        match e {
            Expr::Const(_) => {}
            Expr::Var(variable) => add(format!("{} = {}", self.system.full_name(*variable), value(*variable, 0))),
            Expr::Element(variable, index) => {
                if let Ok(at) = self.file.layout().eval(index, self.state) {
                    add(format!("{}[{at}] = {}", self.system.full_name(*variable), value(*variable, at)));
                }
                self.values(index, out);
            }
            Expr::Table(_, a) | Expr::Unary(_, a) => self.values(a, out),
            Expr::Binary(_, a, b) => [a, b].into_iter().for_each(|e| self.values(e, out)),
            Expr::If(a, b, c) => [a, b, c].into_iter().for_each(|e| self.values(e, out)),
        }
    }
}

fn conjuncts<'e>(e: &'e Expr, out: &mut Vec<&'e Expr>) {
    match e {
        Expr::Binary(BinaryOp::And, a, b) => [a, b].into_iter().for_each(|e| conjuncts(e, out)),
        other => out.push(other),
    }
}
