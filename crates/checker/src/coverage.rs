//! From events that happened to what of a model's text was executed, in every language.

use scrimp_native::NativeModel;
use scrimp_net::{Group, Net};
use scrimp_report::coverage::{Coverage, Item, Kind, Part};
use scrimp_system::outline::{Statement, TextTransition};
use scrimp_system::{Event, Span, System};
use std::collections::{BTreeMap, HashMap};

/// What was executed of a model whose events were watched; nothing where they were not.
pub(crate) fn coverage(model: &NativeModel, net: Option<&Net>) -> Option<Coverage> {
    let happened = model.happened();
    (!happened.is_empty()).then(|| of_events(model.system(), net, &happened))
}

/// What was executed, if these are the events that happened.
pub(crate) fn of_events(system: &System, net: Option<&Net>, happened: &[bool]) -> Coverage {
    let parts = match net {
        Some(net) => net_parts(net, &system.source.name, happened),
        None if !system.outline.statements.is_empty() => vec![statements(system, happened)],
        None if !system.outline.transitions.is_empty() => vec![transitions(system, happened)],
        None => vec![labels(system, happened)],
    };
    Coverage { parts }
}

/// The events that happened.
fn executed<'s>(system: &'s System, happened: &'s [bool]) -> impl Iterator<Item = &'s Event> {
    system.events.iter().zip(happened).filter(|(_, happened)| **happened).map(|(event, _)| event)
}

/// Statements of Promela.
fn statements(system: &System, happened: &[bool]) -> Part {
    let outline = &system.outline.statements;
    let mut reached = vec![false; outline.len()];
    for event in executed(system, happened) {
        event.statements.iter().for_each(|statement| reached[*statement as usize] = true);
    }
    let listed = outline.iter().zip(reached).filter(|(statement, _)| !statement.passes);
    let item = |(statement, reached): (&Statement, bool)| Item {
        owner: statement.process.clone(),
        file: system.source.file_name(statement.span.part).to_string(),
        line: statement.span.line,
        number: Some(statement.number),
        text: statement.text.clone(),
        reached,
        times: None,
    };
    Part { kind: Kind::Statement, items: listed.map(item).collect() }
}

/// Transitions of processes. A rendezvous is an event of two of them.
fn transitions(system: &System, happened: &[bool]) -> Part {
    let outline = &system.outline.transitions;
    let mut reached = vec![false; outline.len()];
    let place = |span: Span| (span.part, span.start, span.end);
    let number: HashMap<_, usize> =
        outline.iter().enumerate().map(|(i, t)| ((t.process.as_str(), place(t.span)), i)).collect();
    for event in executed(system, happened) {
        let spans = [Some(event.span), event.partner];
        for (step, span) in event.moves.iter().zip(spans.into_iter().flatten()) {
            let process = system.processes[step.process.index()].name.as_str();
            if let Some(&i) = number.get(&(process, place(span))) {
                reached[i] = true;
            }
        }
    }
    let item = |(transition, reached): (&TextTransition, bool)| Item {
        owner: transition.process.clone(),
        file: system.source.file_name(transition.span.part).to_string(),
        line: transition.span.line,
        number: None,
        text: transition.text.clone(),
        reached,
        times: None,
    };
    Part { kind: Kind::Transition, items: outline.iter().zip(reached).map(item).collect() }
}

/// Transitions and places of a net, as the text has them: one of a coloured net is reached with any of its colours.
///
/// A place is marked first, or by a transition that puts tokens there, so that events tell of it too.
fn net_parts(net: &Net, file: &str, happened: &[bool]) -> Vec<Part> {
    let mut marked: Vec<bool> = net.places.iter().map(|place| place.initial > 0).collect();
    for (transition, _) in net.transitions.iter().zip(happened).filter(|(_, happened)| **happened) {
        transition.outputs.iter().for_each(|arc| marked[arc.place as usize] = true);
    }
    let part = |kind: Kind, groups: &[Group], reached: &[bool]| {
        let item = |group: &Group| Item {
            file: file.to_string(),
            line: group.line,
            text: if group.name.is_empty() { group.id.clone() } else { group.name.clone() },
            reached: group.members.iter().any(|&member| reached.get(member as usize).copied().unwrap_or(false)),
            ..Item::default()
        };
        Part { kind, items: groups.iter().map(item).collect() }
    };
    vec![part(Kind::NetTransition, &net.transition_groups, happened), part(Kind::Place, &net.place_groups, &marked)]
}

/// Labels of a labelled transition system or a network of such.
fn labels(system: &System, happened: &[bool]) -> Part {
    let mut reached: BTreeMap<&str, (u32, bool)> = BTreeMap::new();
    for (event, happened) in system.events.iter().zip(happened) {
        reached.entry(&event.label).or_insert((event.span.line, false)).1 |= happened;
    }
    let item = |(label, (line, reached)): (&str, (u32, bool))| Item {
        file: system.source.name.clone(),
        line,
        text: label.to_string(),
        reached,
        ..Item::default()
    };
    Part { kind: Kind::Label, items: reached.into_iter().map(item).collect() }
}
