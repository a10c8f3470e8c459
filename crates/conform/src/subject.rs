//! The model as logs speak of it: processes, events and values by their names.

use crate::glob::squeezed;
use scrimp_checker::Explorable;
use scrimp_core::nearest;
use scrimp_lang::{Diagnostic, parse_condition};
use scrimp_native::NativeModel;
use scrimp_net::Net;
use scrimp_system::{ConstantValue, EventCode, Expr, ProcessId, Role, System, VarId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub(crate) struct Subject<'m> {
    pub model: &'m dyn Explorable,
    pub file: Option<&'m NativeModel>,
    pub lanes: Vec<String>,
    pub net: Option<&'m Net>,
    /// Other names of events, by their labels: a transition of a net has an identifier and a name.
    aliases: HashMap<String, Vec<String>>,
    /// All that a state consists of, by name.
    quantities: HashMap<String, Quantity>,
    names: Vec<String>,
    events: RefCell<HashMap<EventCode, Rc<Named>>>,
}

/// Something that has a value in every state.
#[derive(Debug, Clone)]
pub(crate) enum Quantity {
    /// A number, which may be shown by a name.
    Number { value: Expr, names: Names },
    /// What waits in a channel: the number of the entry.
    Channel(usize),
    /// What the model shows: the number of the entry.
    Shown(usize),
}

/// By which names numbers are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// Those of any constant.
    Any,
    Locations(usize),
    Table(u32),
}

/// What an event is called.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// All its names, squeezed: each with the process that calls it so, where that is not all of them.
    pub names: Vec<(String, Option<usize>)>,
    pub label: String,
    /// Lines with their files, each with the process that goes on there, where that is not all of them.
    pub lines: Vec<(String, u32, Option<usize>)>,
    /// The processes that take part.
    pub lanes: Vec<usize>,
    /// Who goes from where to where.
    pub moves: Vec<(usize, String, String)>,
}

/// What a name stands for: one quantity, or the elements of an array.
pub(crate) enum Meant {
    One(Quantity),
    Elements(Vec<Quantity>),
}

impl<'m> Subject<'m> {
    pub fn new(model: &'m dyn Explorable, net: Option<&'m Net>) -> Subject<'m> {
        let file = model.file();
        let cells = file.map(|file| cells(file.system())).unwrap_or_default();
        let (mut quantities, mut names) = (HashMap::new(), Vec::new());
        for (number, entry) in model.entries().into_iter().enumerate() {
            let quantity = match (cells.get(&entry.name), file) {
                (Some(cell), _) => cell.clone(),
                (None, Some(_)) => Quantity::Channel(number),
                (None, None) => Quantity::Shown(number),
            };
            names.push(entry.name.clone());
            quantities.insert(entry.name, quantity);
        }
        let lanes = model.lanes();
        let mut aliases: HashMap<String, Vec<String>> = HashMap::new();
        for (net, group) in net.into_iter().flat_map(|net| net.transition_groups.iter().map(move |group| (net, group)))
        {
            for transition in group.members.iter().filter_map(|member| net.transitions.get(*member as usize)) {
                aliases.entry(transition.name.clone()).or_default().extend([group.id.clone(), group.name.clone()]);
            }
        }
        Subject { model, file, lanes, net, aliases, quantities, names, events: RefCell::default() }
    }

    pub fn system(&self) -> Option<&'m System> {
        self.file.map(|file| &**file.system())
    }

    /// The processes with this name, number or type.
    pub fn processes(&self, text: &str) -> Vec<usize> {
        if let Some(lane) = self.lanes.iter().position(|name| name == text) {
            return vec![lane];
        }
        let kinds = |lane: usize| -> Vec<&'m str> {
            let places = self.system().and_then(|system| system.outline.places.get(lane));
            places
                .into_iter()
                .flatten()
                .map(|place| place.process.trim_matches(':'))
                .filter(|p| !p.is_empty())
                .collect()
        };
        let (kind, number) = match text.rsplit_once(':') {
            Some((kind, number)) if number.parse::<usize>().is_ok() => (kind, number.parse().ok()),
            _ => (text, text.parse::<usize>().ok()),
        };
        let kind = kind.trim_matches(':');
        let there = |lane: &usize| *lane < self.lanes.len();
        match number.filter(there) {
            Some(lane) if kind == text || self.lanes[lane] == kind || kinds(lane).contains(&kind) => vec![lane],
            Some(_) => Vec::new(),
            None => (0..self.lanes.len()).filter(|lane| kinds(*lane).contains(&kind)).collect(),
        }
    }

    /// Which process may have been meant.
    pub fn process_help(&self, text: &str) -> Option<String> {
        match nearest(text, self.lanes.iter().map(String::as_str)) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if self.lanes.is_empty() => Some("this model has no processes".into()),
            None => Some(format!("processes are {}", few(self.lanes.iter().map(String::as_str)))),
        }
    }

    /// What a name stands for in a record of these processes.
    pub fn meant(&self, name: &str, lanes: &[usize]) -> Option<Meant> {
        let own = match lanes {
            [lane] => self.named(&format!("{}.{name}", self.lanes[*lane])),
            _ => None,
        };
        own.or_else(|| self.named(name)).or_else(|| match (name, lanes) {
            ("location", [lane]) => self.quantities.get(&self.lanes[*lane]).cloned().map(Meant::One),
            _ => None,
        })
    }

    fn named(&self, name: &str) -> Option<Meant> {
        if let Some(quantity) = self.quantities.get(name) {
            return Some(Meant::One(quantity.clone()));
        }
        let elements = (0..).map_while(|i| self.quantities.get(&format!("{name}[{i}]")).cloned());
        let elements: Vec<Quantity> = elements.collect();
        (!elements.is_empty()).then_some(Meant::Elements(elements))
    }

    /// An expression over the model's names.
    pub fn expression(&self, text: &str) -> Option<Result<Quantity, Diagnostic>> {
        let read = parse_condition(self.system()?, "value", text);
        Some(read.map(|value| Quantity::Number { value, names: Names::Any }))
    }

    /// Is this the name of some process's variable?
    pub fn owned(&self, name: &str) -> bool {
        name == "location" && !self.lanes.is_empty()
            || self.lanes.iter().any(|lane| self.named(&format!("{lane}.{name}")).is_some())
    }

    /// Which name of a value may have been meant.
    pub fn value_near(&self, name: &str) -> Option<&str> {
        let short = |full: &'_ str| full.split_once('.').map_or(full.len(), |(lane, _)| lane.len() + 1);
        let all = self.names.iter().map(String::as_str);
        nearest(name, all.clone()).or_else(|| nearest(name, all.map(|full| full.get(short(full)..).unwrap_or(full))))
    }

    /// What an event is called.
    pub fn event(&self, code: EventCode) -> Rc<Named> {
        if let Some(named) = self.events.borrow().get(&code) {
            return named.clone();
        }
        let named = Rc::new(self.describe(code));
        self.events.borrow_mut().insert(code, named.clone());
        named
    }

    fn describe(&self, code: EventCode) -> Named {
        let text = self.model.event(code);
        let event = self.system().zip(self.event_number(code)).map(|(system, event)| (system, &system.events[event]));
        let lanes = self.model.lanes_of(code);
        let mut names = vec![(squeezed(&text.label), None)];
        if let Some((head, tail)) = text.label.split_once(": ") {
            if !text.processes.iter().any(|process| process == head) {
                // A message before the colon is called so by who sends it.
                let sender = event.and_then(|(_, event)| event.message.as_ref()?.from);
                names.push((squeezed(head), sender.map(|sender| sender.index())));
            }
            names.push((squeezed(tail), None));
        }
        names.extend(text.steps.iter().map(|step| (squeezed(&step.statement), Some(step.process as usize))));
        names.extend(self.aliases.get(&text.label).into_iter().flatten().map(|name| (squeezed(name), None)));
        let partner = event.and_then(|(system, event)| Some((system, event.partner?)));
        // With a partner, each has a line of its own, and the first is that of who the event is called by.
        let apart = partner.is_some() || text.steps.len() > 1;
        let mut lines = vec![(text.file.clone(), text.line, lanes.first().copied().filter(|_| apart))];
        lines.extend(text.steps.iter().map(|step| (step.file.clone(), step.line, Some(step.process as usize))));
        let mut moves = Vec::new();
        if let Some((system, event)) = event {
            if let Some((_, span)) = partner {
                let file = system.source.file_name(span.part).to_string();
                lines.push((file, span.line, lanes.get(1).copied()));
            }
            moves.extend(event.moves.iter().map(|step| {
                let process = &system.processes[step.process.index()];
                let place = |number: u32| process.locations.get(number as usize).cloned().unwrap_or_default();
                (step.process.index(), place(step.from), place(step.to))
            }));
        }
        lines.retain(|(_, line, _)| *line > 0);
        Named { names, label: text.label, lines, lanes, moves }
    }

    /// Is this the identifier of one transition of a net, and the name of another? Answers what else the first is called,
    /// and the second.
    pub fn ambiguous(&self, text: &str) -> Option<(&'m str, &'m str)> {
        let groups = &self.net?.transition_groups;
        let one = groups.iter().find(|group| group.id == text)?;
        let other = groups.iter().find(|group| group.name == text && group.id != text)?;
        Some((&one.name, &other.id))
    }

    /// The number of the system's event that a code stands for.
    pub fn event_number(&self, code: EventCode) -> Option<usize> {
        let (file, system) = (self.file?, self.system()?);
        file.parts(code).0.map(|number| number as usize).filter(|number| *number < system.events.len())
    }

    /// The codes of all events, where they are known.
    pub fn codes(&self) -> Option<std::ops::Range<EventCode>> {
        self.system().map(|system| 0..system.events.len() as EventCode)
    }

    /// The channel of the message that an event passes, and who sends and receives it, where that is known; nothing where
    /// it passes none.
    #[allow(clippy::type_complexity)]
    pub fn message(&self, code: EventCode) -> Option<Option<(&'m str, Option<usize>, Option<usize>)>> {
        let Some((system, event)) = self.system().zip(self.event_number(code)) else { return Some(None) };
        let message = system.events[event].message.as_ref()?;
        let number = |process: ProcessId| process.index();
        Some(Some((&message.channel, message.from.map(number), message.to.map(number))))
    }

    /// Do two texts stand for the same value? One of them is a number then, or a truth.
    pub fn same(&self, one: &str, other: &str) -> bool {
        let number = |text: &str| text.parse::<i64>().ok().or_else(|| text.parse::<bool>().ok().map(i64::from));
        match (number(one), number(other)) {
            (Some(one), Some(other)) => one == other,
            (Some(number), None) => self.is_called(number, other),
            (None, Some(number)) => self.is_called(number, one),
            (None, None) => one == other,
        }
    }

    /// Is the number that of a constant with this name?
    fn is_called(&self, number: i64, name: &str) -> bool {
        let Some(system) = self.system() else { return false };
        let mut constants = system.constants.iter();
        constants.any(|constant| constant.name == name && constant.value == ConstantValue::Number(number))
            || system.outline.names.iter().flatten().any(|(other, called)| *other == number && called == name)
    }
}

/// The variables of a system, or what is shown instead of them.
fn cells(system: &System) -> HashMap<String, Quantity> {
    if !system.views.is_empty() {
        let view = |value: &Expr| Quantity::Number { value: value.clone(), names: Names::Any };
        return system.views.iter().map(|shown| (shown.name.clone(), view(&shown.value))).collect();
    }
    let mut cells = HashMap::new();
    for variable in (0..system.variables.len() as u32).map(VarId) {
        let (declared, name) = (&system.variables[variable.index()], system.full_name(variable));
        let table = system.outline.shown_by.get(&variable);
        let names = match declared.role {
            Role::Control(process) => Names::Locations(process.index()),
            _ => table.map_or(Names::Any, |table| Names::Table(*table)),
        };
        match declared.length {
            None => drop(cells.insert(name, Quantity::Number { value: Expr::Var(variable), names })),
            Some(length) => cells.extend((0..i64::from(length)).map(|i| {
                let value = Expr::Element(variable, Box::new(Expr::Const(i)));
                (format!("{name}[{i}]"), Quantity::Number { value, names })
            })),
        }
    }
    cells
}

/// Some names, where there are many.
pub(crate) fn few<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const FEW: usize = 12;
    let all: Vec<&str> = names.take(FEW + 1).collect();
    match all.len() > FEW {
        true => format!("{}, …", all[..FEW].join(", ")),
        false => all.join(", "),
    }
}
