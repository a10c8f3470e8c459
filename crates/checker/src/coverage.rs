//! From events that happened to what of a model's text was executed, in every language.

use scrimp_native::NativeModel;
use scrimp_net::{Group, Net, Transition};
use scrimp_report::coverage::{Coverage, Item, Kind, Part};
use scrimp_system::outline::{Statement, TextTransition};
use scrimp_system::{Event, Move, Span, System};
use std::collections::{BTreeMap, HashMap};

/// What was executed of a model whose events were watched; nothing where they were not.
pub(crate) fn coverage(model: &NativeModel, net: Option<&Net>) -> Option<Coverage> {
    let happened = model.happened();
    (!happened.is_empty()).then(|| of_events(model.system(), net, &happened))
}

/// What was executed, if these are the events that happened.
pub(crate) fn of_events(system: &System, net: Option<&Net>, happened: &[bool]) -> Coverage {
    Coverage { parts: coverable(system, net).into_iter().map(|part| part.after(happened)).collect() }
}

/// All parts of a model's text that are of one kind, and which of them each event executes.
pub(crate) struct Coverable {
    pub part: Part,
    /// For each event, the numbers of its items.
    pub by_event: Vec<Vec<u32>>,
}

impl Coverable {
    /// What was reached, once these events have happened.
    pub fn after(mut self, happened: &[bool]) -> Part {
        for (items, _) in self.by_event.iter().zip(happened).filter(|(_, happened)| **happened) {
            items.iter().for_each(|&item| self.part.items[item as usize].reached = true);
        }
        self.part
    }
}

/// What of a model can be executed, kind by kind, and by which events.
pub(crate) fn coverable(system: &System, net: Option<&Net>) -> Vec<Coverable> {
    match net {
        Some(net) => net_parts(net, &system.source.name),
        None if !system.outline.statements.is_empty() => vec![statements(system)],
        None if !system.outline.transitions.is_empty() => vec![transitions(system)],
        None => vec![labels(system)],
    }
}

/// Statements of Promela.
fn statements(system: &System) -> Coverable {
    let outline = &system.outline.statements;
    // Those that are only a way to others are not listed.
    let mut items = Vec::new();
    let mut number: Vec<Option<u32>> = Vec::with_capacity(outline.len());
    let item = |statement: &Statement| Item {
        owner: statement.process.clone(),
        file: system.source.file_name(statement.span.part).to_string(),
        line: statement.span.line,
        number: Some(statement.number),
        text: statement.text.clone(),
        ..Item::default()
    };
    for statement in outline {
        number.push((!statement.passes).then_some(items.len() as u32));
        items.extend((!statement.passes).then(|| item(statement)));
    }
    let of = |event: &Event| event.statements.iter().filter_map(|&statement| number[statement as usize]).collect();
    Coverable { part: Part { kind: Kind::Statement, items }, by_event: system.events.iter().map(of).collect() }
}

/// Transitions of processes. A rendezvous is an event of two of them.
fn transitions(system: &System) -> Coverable {
    let outline = &system.outline.transitions;
    let place = |span: Span| (span.part, span.start, span.end);
    let number: HashMap<_, u32> = (0..).zip(outline).map(|(i, t)| ((t.process.as_str(), place(t.span)), i)).collect();
    let of = |event: &Event| {
        let spans = [Some(event.span), event.partner];
        let steps = event.moves.iter().zip(spans.into_iter().flatten());
        let known = |(step, span): (&Move, Span)| {
            let process = system.processes[step.process.index()].name.as_str();
            number.get(&(process, place(span))).copied()
        };
        steps.filter_map(known).collect()
    };
    let item = |transition: &TextTransition| Item {
        owner: transition.process.clone(),
        file: system.source.file_name(transition.span.part).to_string(),
        line: transition.span.line,
        text: transition.text.clone(),
        ..Item::default()
    };
    let part = Part { kind: Kind::Transition, items: outline.iter().map(item).collect() };
    Coverable { part, by_event: system.events.iter().map(of).collect() }
}

/// Transitions and places of a net, as the text has them: one of a coloured net is reached with any of its colours.
///
/// A place is marked first, or by a transition that puts tokens there, so that events tell of it too.
fn net_parts(net: &Net, file: &str) -> Vec<Coverable> {
    let items = |groups: &[Group], reached: &dyn Fn(u32) -> bool| {
        let item = |group: &Group| Item {
            file: file.to_string(),
            line: group.line,
            text: if group.name.is_empty() { group.id.clone() } else { group.name.clone() },
            reached: group.members.iter().any(|&member| reached(member)),
            ..Item::default()
        };
        groups.iter().map(item).collect()
    };
    let groups_of = |groups: &[Group], members: usize| {
        let mut of: Vec<Vec<u32>> = vec![Vec::new(); members];
        for (number, group) in (0..).zip(groups) {
            for &member in group.members.iter().filter(|&&member| (member as usize) < members) {
                of[member as usize].push(number);
            }
        }
        of
    };
    let of_transition = groups_of(&net.transition_groups, net.transitions.len());
    let of_place = groups_of(&net.place_groups, net.places.len());
    let marks = |transition: &Transition| {
        transition.outputs.iter().flat_map(|arc| of_place[arc.place as usize].iter().copied()).collect()
    };
    let is_marked = |place: u32| net.places.get(place as usize).is_some_and(|place| place.initial > 0);
    let fired = Part { kind: Kind::NetTransition, items: items(&net.transition_groups, &|_| false) };
    let marked = Part { kind: Kind::Place, items: items(&net.place_groups, &is_marked) };
    vec![
        Coverable { part: fired, by_event: of_transition },
        Coverable { part: marked, by_event: net.transitions.iter().map(marks).collect() },
    ]
}

/// Labels of a labelled transition system or a network of such.
fn labels(system: &System) -> Coverable {
    let mut lines: BTreeMap<&str, u32> = BTreeMap::new();
    for event in &system.events {
        lines.entry(&event.label).or_insert(event.span.line);
    }
    let number: HashMap<&str, u32> = lines.keys().copied().zip(0..).collect();
    let by_event = system.events.iter().map(|event| vec![number[event.label.as_str()]]).collect();
    let item = |(label, line): (&str, u32)| Item {
        file: system.source.name.clone(),
        line,
        text: label.to_string(),
        ..Item::default()
    };
    Coverable { part: Part { kind: Kind::Label, items: lines.into_iter().map(item).collect() }, by_event }
}
