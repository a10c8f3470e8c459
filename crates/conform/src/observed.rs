//! What a record says of the model: who acted, what happened, and the values then.

use crate::clock::Clock;
use crate::fields::{find, flatten, place_of, plain};
use crate::glob::squeezed;
use crate::log::Line;
use crate::mapping::{Mapping, Order, Rule};
use crate::place::{and, wrong};
use crate::spec::{Fit, Spec, Writers};
use crate::subject::{Meant, Quantity, Subject, few};
use crate::template::filled;
use crate::value::Values;
use scrimp_checker::CheckError;
use scrimp_core::nearest;
use scrimp_system::EventCode;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// A record, as it is held against steps.
#[derive(Debug)]
pub(crate) struct Observed {
    /// Which steps may be meant: the number of a [`Kind`].
    pub kind: u32,
    pub values: Vec<Expected>,
    pub clock: Option<Clock>,
    pub line: u64,
    pub text: Box<str>,
}

/// A value that something had.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    /// What the log calls it, and the model.
    pub field: Rc<str>,
    pub name: Rc<str>,
    pub quantity: Quantity,
    pub is: Is,
    /// Before the step, and not after it.
    pub before: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Is {
    Number(i64),
    /// What waits in a channel.
    Messages(Vec<Vec<String>>),
    Text(String),
}

/// Which steps a record may be about, apart from values: those of an event, of a process.
#[derive(Debug)]
pub(crate) struct Kind {
    pub spec: Option<Spec>,
    /// The processes that are named; nothing where none is.
    pub lanes: Vec<usize>,
    /// What is known of events so far.
    fits: HashMap<EventCode, Rc<Fit>>,
}

/// Reads records as a mapping says.
pub(crate) struct Observer<'a, 'm> {
    pub subject: &'a Subject<'m>,
    mapping: &'a Mapping,
    pub kinds: Vec<Kind>,
    numbers: HashMap<(Option<String>, Option<String>), u32>,
    /// What fields mean in records of these processes.
    meanings: HashMap<(String, Vec<usize>), Option<Meaning>>,
    /// Fields that say nothing, with what was perhaps meant.
    pub unknown: BTreeMap<String, Option<String>>,
    pub skipped: u64,
    /// Fields that were in a record.
    met: HashSet<String>,
}

#[derive(Clone)]
struct Meaning {
    quantities: Vec<Quantity>,
    is_array: bool,
    name: Rc<str>,
    before: bool,
}

const PROCESS: &str = "process";
const EVENT: &str = "event";

impl<'a, 'm> Observer<'a, 'm> {
    /// Fails where the mapping has names that are none.
    pub fn new(subject: &'a Subject<'m>, mapping: &'a Mapping) -> Result<Observer<'a, 'm>, CheckError> {
        let observer = Observer {
            subject,
            mapping,
            kinds: Vec::new(),
            numbers: HashMap::new(),
            meanings: HashMap::new(),
            unknown: BTreeMap::new(),
            skipped: 0,
            met: HashSet::new(),
        };
        for rule in &mapping.processes {
            let open = rule.right.contains(['*', '{']);
            if !open && subject.processes(&rule.right).is_empty() {
                let help = subject.process_help(&rule.right);
                return Err(mapping.wrong(rule, format!("there is no process `{}`", rule.right), help));
            }
        }
        for rule in &mapping.events {
            let spec = Spec::read(&rule.right).map_err(|message| mapping.wrong(rule, message, None))?;
            let open = rule.right.contains('{') || rule.left.contains('*');
            if !open && !observer.is_some_event(&spec, &[]) {
                let help =
                    spec.line().map_or_else(|| observer.event_help(&rule.right), |line| observer.line_help(line));
                return Err(mapping.wrong(rule, format!("there is no event `{}`", rule.right), help));
            }
        }
        for rule in &mapping.values {
            let bare = rule.right.chars().all(|c| c.is_alphanumeric() || c == '_');
            if bare && subject.owned(&rule.right) || subject.meant(&rule.right, &[]).is_some() {
                continue;
            }
            observer.expression(rule)?;
        }
        Ok(observer)
    }

    fn expression(&self, rule: &Rule) -> Result<Quantity, CheckError> {
        match self.subject.expression(&rule.right) {
            Some(Ok(quantity)) => Ok(quantity),
            Some(Err(told)) => {
                let from = (told.span.column as usize).saturating_sub(1);
                Err(self.mapping.wrong_within(rule, from, told.message, told.help))
            }
            None => {
                let help = self.subject.value_near(&rule.right).map(|near| format!("did you mean `{near}`?"));
                Err(self.mapping.wrong(rule, format!("no value of the model is called `{}`", rule.right), help))
            }
        }
    }

    fn is_some_event(&self, spec: &Spec, lanes: &[usize]) -> bool {
        let known =
            |mut codes: std::ops::Range<EventCode>| codes.any(|code| !spec.fit(self.subject, lanes, code).is_no());
        self.subject.codes().is_none_or(known)
    }

    fn event_help(&self, name: &str) -> Option<String> {
        let events: Vec<_> = self.subject.codes()?.map(|code| self.subject.event(code)).collect();
        let names = || events.iter().flat_map(|named| named.names.iter().map(|(name, _)| name.as_str()));
        let near = nearest(&squeezed(name), names());
        let shown = |near: &str| {
            let whole = events.iter().find(|named| squeezed(&named.label) == near);
            whole.map_or(near.to_string(), |named| named.label.clone())
        };
        Some(match near {
            Some(near) => format!("did you mean `{}`?", shown(near)),
            None => {
                let mut labels: Vec<&str> = events.iter().map(|named| named.label.as_str()).collect();
                labels.dedup();
                format!("events are {}", few(labels.into_iter()))
            }
        })
    }

    fn process_field(&self) -> &'a str {
        self.mapping.process.as_ref().map_or(PROCESS, |rule| &rule.left)
    }

    /// What the mapping says of fields that are in no record: they are called otherwise.
    pub fn unmet(&self) -> Option<CheckError> {
        let Mapping { process, event, values, .. } = self.mapping;
        let rule = process.iter().chain(event).chain(values).find(|rule| !self.met.contains(&rule.left))?;
        let near = nearest(&rule.left, self.met.iter().chain(self.unknown.keys()).map(String::as_str));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "a rule without a record that it is about says nothing: leave it out for such logs".to_string(),
        };
        Some(self.mapping.wrong_left(rule, format!("no record has a field `{}`", rule.left), Some(help)))
    }

    /// The process by which records are sorted, where they are.
    pub fn sequence(&self, line: &Line) -> Option<String> {
        find(&line.record, self.process_field()).filter(|value| !value.is_null()).map(plain)
    }

    /// What a record says; nothing where it is skipped.
    pub fn observe(&mut self, file: &str, line: Line) -> Result<Option<Observed>, CheckError> {
        let mapping = self.mapping;
        let process_field = self.process_field();
        let default = [EVENT.to_string()];
        let mapped: Vec<String> = mapping.event.iter().map(|rule| rule.left.clone()).collect();
        let event_fields = if mapped.is_empty() { &default[..] } else { &mapped[..] };
        for field in [process_field].into_iter().chain(event_fields.iter().map(String::as_str)) {
            if find(&line.record, field).is_some() && !self.met.contains(field) {
                self.met.insert(field.to_string());
            }
        }
        let said = |field: &String| find(&line.record, field).filter(|value| !value.is_null()).map(plain);
        let parts: Vec<String> = event_fields.iter().filter_map(said).collect();
        let event = (!parts.is_empty()).then(|| parts.join(" "));
        if event.as_deref().is_some_and(|event| mapping.skips(event)) {
            self.skipped += 1;
            return Ok(None);
        }
        let process = find(&line.record, process_field).filter(|value| !value.is_null()).map(plain);
        let kind = self.kind(file, &line, (event_fields, event), (process_field, process.clone()))?;
        let lanes = self.kinds[kind as usize].lanes.clone();
        let clock_field = match &mapping.order {
            Order::Clock(field) => Some(field.as_str()),
            _ => None,
        };
        let mut clock = None;
        if let Some(field) = clock_field {
            let found = find(&line.record, field).and_then(Clock::of);
            let message = format!("this record has no vector clock in its field `{field}`");
            let help = "a clock is an object of numbers, such as {\"P\": 3, \"Q\": 1}, or a list of numbers";
            clock = Some(found.ok_or_else(|| wrong(file, line.number, &line.text, 0..1, message, Some(help.into())))?);
        }
        let mut fields = Vec::new();
        flatten("", &line.record, clock_field, &mut fields);
        let mut values = Vec::new();
        for (field, value) in fields {
            if field == process_field || event_fields.contains(&field) {
                continue;
            }
            if !self.met.contains(&field) {
                self.met.insert(field.clone());
            }
            if value.is_null() {
                continue;
            }
            let Some(meaning) = self.meaning(&field, &lanes)? else { continue };
            self.expect(file, &line, (&field, value), &meaning, &mut values)?;
        }
        let observed = Observed { kind, values, clock, line: line.number, text: line.text.into() };
        let says_something = !observed.values.is_empty() || {
            let kind = &self.kinds[kind as usize];
            kind.spec.is_some() || !kind.lanes.is_empty()
        };
        if !says_something {
            let message = "this record says nothing of the model".to_string();
            let help = format!(
                "the fields `{process_field}` and `{}` name who acted and what happened, others are called like variables; \
                 --map FILE says what else fields mean",
                event_fields.join("`, `")
            );
            return Err(wrong(file, observed.line, &observed.text, 0..1, message, Some(help)).into());
        }
        Ok(Some(observed))
    }

    /// The kind of a record with this event, of this process.
    fn kind(
        &mut self,
        file: &str,
        line: &Line,
        (event_fields, event): (&[String], Option<String>),
        (process_field, process): (&str, Option<String>),
    ) -> Result<u32, CheckError> {
        let mapping = self.mapping;
        let missing = |field: String| {
            let message = format!("this record has no field `{field}`, which the mapping puts into the name");
            wrong(file, line.number, &line.text, 0..1, message, None)
        };
        let read = |(stands, rule): (&str, &'a Rule)| {
            let template = rule.template();
            template.values(stands, mapping, line).map(|values| (rule, template, values)).map_err(missing)
        };
        let by = event.as_deref().and_then(|event| mapping.event_of(event)).map(read).transpose()?;
        let said = by.as_ref().map(|(_, template, values)| filled(&template.text, values)).or_else(|| event.clone());
        let named = process.as_deref().and_then(|process| mapping.process_of(process)).map(read).transpose()?;
        let who = named.map(|(_, template, values)| filled(&template.text, &values)).or_else(|| process.clone());
        let key = match &by {
            Some((rule, _, values)) => Some(format!("={}\0{}", rule.number(), values.join("\0"))),
            None => said.as_ref().map(|said| format!(" {said}")),
        };
        let key = (key, who.clone());
        if let Some(number) = self.numbers.get(&key) {
            return Ok(*number);
        }
        let here = |field: &str, text: &str| place_of(&line.text, field, text);
        let lanes = match &who {
            None => Vec::new(),
            Some(who) => {
                let lanes = self.subject.processes(who);
                if lanes.is_empty() {
                    let at = here(process_field, process.as_deref().unwrap_or_default());
                    let message = format!("there is no process `{who}`");
                    let help = self.subject.process_help(who).unwrap_or_default();
                    let help =
                        and(&help, &format!("A line `process \"{who}\" = …` of a mapping says which one is meant"));
                    return Err(wrong(file, line.number, &line.text, at, message, Some(help)).into());
                }
                lanes
            }
        };
        let spec = match (&said, &by) {
            (None, _) => None,
            (Some(said), None) => Some(Spec::exactly(said)),
            (Some(_), Some((rule, template, values))) => {
                let spec = Spec::read(&template.text).map_err(|message| mapping.wrong_left(rule, message, None))?;
                Some(spec.filled(values))
            }
        };
        if let Some((said, (name, id))) = said.as_ref().and_then(|said| Some((said, self.subject.ambiguous(said)?))) {
            let at = here(&event_fields[0], event.as_deref().unwrap_or_default());
            let message = format!("`{said}` is the identifier of one transition and the name of another");
            let help =
                format!("the first is called `{name}` too, and the second `{id}`: `event \"{said}\" = …` says which");
            return Err(wrong(file, line.number, &line.text, at, message, Some(help)).into());
        }
        if let (Some(spec), Some(said)) = (&spec, &said)
            && !self.is_some_event(spec, &lanes)
        {
            let at = here(&event_fields[0], event.as_deref().unwrap_or_default());
            let (message, help) = match self.is_some_event(spec, &[]) {
                true => {
                    let who = who.as_deref().unwrap_or_default();
                    (format!("process `{who}` takes no part in an event `{said}`"), self.who_does(spec))
                }
                false => {
                    let help = self.event_help(said).unwrap_or_default();
                    let also =
                        "Lines `event \"NAME\" = EVENT` of a mapping say which is meant, `skip \"NAME\"` that none is";
                    (format!("the model has no event `{said}`"), Some(and(&help, also)))
                }
            };
            return Err(wrong(file, line.number, &line.text, at, message, help).into());
        }
        let number = self.kinds.len() as u32;
        self.kinds.push(Kind { spec, lanes, fits: HashMap::new() });
        self.numbers.insert(key, number);
        Ok(number)
    }

    /// The lines next to one in which no step is written.
    fn line_help(&self, line: u32) -> Option<String> {
        let codes = self.subject.codes()?;
        let lines: BTreeSet<u32> = codes
            .flat_map(|code| self.subject.event(code).lines.iter().map(|(_, line, _)| *line).collect::<Vec<_>>())
            .collect();
        let near = lines.range(..line).next_back().into_iter().chain(lines.range(line..).next());
        let near: Vec<String> = near.map(u32::to_string).collect();
        let all = (!near.is_empty()).then(|| format!("steps near it are in lines {}", near.join(" and ")));
        all.map(|all| {
            and(&all, "The end of a `for` is in the line of the `for`, which SPIN tells by its closing brace")
        })
    }

    /// The processes of the events that are meant.
    fn who_does(&self, spec: &Spec) -> Option<String> {
        let mut who: Vec<usize> = Vec::new();
        for code in self.subject.codes()? {
            let fit = spec.fit(self.subject, &[], code);
            if fit.message || fit.writers.whole {
                who.extend(&self.subject.event(code).lanes);
            }
            who.extend(fit.writers.lanes);
        }
        who.sort_unstable();
        who.dedup();
        let names = who.iter().filter_map(|lane| self.subject.lanes.get(*lane)).map(String::as_str);
        Some(format!("it is of {}", few(names)))
    }

    /// May a record of a kind be about this event?
    pub fn fit(&mut self, kind: u32, code: EventCode) -> Rc<Fit> {
        let subject = self.subject;
        let kind = &mut self.kinds[kind as usize];
        let find = || match &kind.spec {
            Some(spec) => spec.fit(subject, &kind.lanes, code),
            None => Fit { writers: Writers::of(&subject.event(code), &kind.lanes), message: false },
        };
        kind.fits.entry(code).or_insert_with(|| Rc::new(find())).clone()
    }

    /// Who may have written a record about the message of an event in this state.
    pub fn passes(&self, kind: u32, code: EventCode, state: &[u8]) -> Writers {
        let kind = &self.kinds[kind as usize];
        kind.spec.as_ref().map_or_else(Writers::default, |spec| spec.passes(self.subject, &kind.lanes, code, state))
    }

    /// What a field means in a record of these processes.
    fn meaning(&mut self, field: &str, lanes: &[usize]) -> Result<Option<Meaning>, CheckError> {
        let key = (field.to_string(), lanes.to_vec());
        if let Some(known) = self.meanings.get(&key) {
            return Ok(known.clone());
        }
        let rule = self.mapping.values.iter().find(|rule| rule.left == field);
        let name = rule.map_or(field, |rule| rule.right.as_str());
        let meant = match (rule, self.mapping.ignores(field)) {
            (None, true) => None,
            _ => self.subject.meant(name, lanes),
        };
        let meaning = match (meant, rule) {
            (Some(Meant::One(quantity)), _) => Some((vec![quantity], false)),
            (Some(Meant::Elements(quantities)), _) => Some((quantities, true)),
            (None, Some(rule)) if self.subject.owned(name) => {
                let message = format!("`{name}` belongs to processes, and no single one is named in this record");
                return Err(self.mapping.wrong(rule, message, Some(format!("write `PROCESS.{name}`"))));
            }
            (None, Some(rule)) => Some((vec![self.expression(rule)?], false)),
            (None, None) => None,
        };
        let before = rule.is_some_and(|rule| rule.before);
        let meaning = meaning.map(|(quantities, is_array)| Meaning { quantities, is_array, name: name.into(), before });
        if meaning.is_none() && !self.mapping.ignores(field) && !self.mapping.uses(field) {
            let near = self.subject.value_near(field).map(str::to_string);
            self.unknown.entry(field.to_string()).or_insert(near);
        }
        self.meanings.insert(key, meaning.clone());
        Ok(meaning)
    }

    /// Adds what a field says.
    fn expect(
        &self,
        file: &str,
        line: &Line,
        (field, value): (&str, &Value),
        meaning: &Meaning,
        out: &mut Vec<Expected>,
    ) -> Result<(), CheckError> {
        let fail = |message: String, help: Option<String>| {
            let at = place_of(&line.text, field.rsplit('.').next().unwrap_or(field), &plain(value));
            Err(wrong(file, line.number, &line.text, at, message, help).into())
        };
        let expected = |quantity: &Quantity, is: Is, name: Rc<str>| Expected {
            field: field.into(),
            name,
            quantity: quantity.clone(),
            is,
            before: meaning.before,
        };
        let values = Values { subject: self.subject, mapping: self.mapping };
        if meaning.is_array {
            let Value::Array(elements) = value else {
                return fail(format!("`{}` is an array, and this is none", meaning.name), None);
            };
            if elements.len() != meaning.quantities.len() {
                let (has, said) = (meaning.quantities.len(), elements.len());
                return fail(format!("`{}` has {has} elements, and these are {said}", meaning.name), None);
            }
            for (i, (quantity, element)) in meaning.quantities.iter().zip(elements).enumerate() {
                let name: Rc<str> = format!("{}[{i}]", meaning.name).into();
                match values.read(quantity, element) {
                    Ok(is) => out.push(expected(quantity, is, name)),
                    Err((message, help)) => return fail(format!("{name}: {message}"), help),
                }
            }
            return Ok(());
        }
        match values.read(&meaning.quantities[0], value) {
            Ok(is) => {
                out.push(expected(&meaning.quantities[0], is, meaning.name.clone()));
                Ok(())
            }
            Err((message, help)) => fail(format!("{}: {message}", meaning.name), help),
        }
    }
}
