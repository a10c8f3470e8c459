//! A walk that was gone in a model, gone again in the model that it has become: as far as the same events lead on.
//!
//! After a change, numbers of events and places mean nothing any more. An event is the same one where the same
//! processes say that they do the same; of several, the one after which most of what it changed has the same values.

use crate::EventCode;
use crate::walk::{Node, Walk};
use scrimp_system::Describe;
use std::collections::HashMap;

/// Where a walk has led.
#[derive(Debug, PartialEq, Eq)]
pub struct Carried {
    /// Nodes of the new walk, one for each of the old path as far as it goes.
    pub path: Vec<Node>,
    /// The label of the first event that does not happen any more.
    pub lost: Option<String>,
}

/// Goes the way to a node of one walk in another one.
pub fn carry(old: &Walk, end: Node, new: &mut Walk) -> Result<Carried, Box<dyn std::error::Error>> {
    let path = old.path(end);
    let start = start(old, path[0], new);
    let mut carried = Carried { path: vec![new.start(start)?], lost: None };
    for &next in &path[1..] {
        let steps = old.steps(next);
        let events: Vec<EventCode> = steps.iter().map(|step| step.event).collect();
        let before = steps.first().map_or(old.state(next), |step| &step.before);
        let labels = labels(old.model(), &events);
        let changed: HashMap<String, String> =
            old.model().changes(before, old.state(next)).into_iter().map(|c| (c.name, c.after)).collect();
        let here = carried.path[carried.path.len() - 1];
        new.choices(here)?;
        let state = new.state(here);
        let mut best: Option<(usize, usize)> = None;
        let batch = new.here(here).map(|choices| &choices.batch);
        for choice in 0..batch.map_or(0, |batch| batch.len()) {
            let Some(batch) = batch else { break };
            let model = new.model();
            let events: Vec<EventCode> = model
                .steps(state, batch.event(choice), batch.state(choice))
                .into_iter()
                .map(|(event, _)| event)
                .collect();
            if self::labels(model, &events) != labels {
                continue;
            }
            let changes = model.changes(state, batch.state(choice));
            let alike = changes.iter().filter(|c| changed.get(&c.name) == Some(&c.after)).count();
            if best.is_none_or(|(most, _)| alike > most) {
                best = Some((alike, choice));
            }
        }
        let Some((_, choice)) = best else {
            carried.lost = labels.into_iter().next_back().map(|(label, _)| label);
            return Ok(carried);
        };
        carried.path.push(new.step(here, choice)?);
    }
    Ok(carried)
}

/// The initial state that is most like that of the old walk.
fn start(old: &Walk, first: Node, new: &Walk) -> usize {
    let names = old.entries().iter().map(|entry| entry.name.as_str());
    let values = old.model().shown_values(old.state(first));
    let values: HashMap<&str, String> = names.zip(values).collect();
    let alike = |choice: usize| {
        let shown = new.model().shown_values(new.starts().state(choice));
        new.entries().iter().zip(&shown).filter(|(entry, value)| values.get(entry.name.as_str()) == Some(value)).count()
    };
    (0..new.starts().len()).max_by_key(|choice| (alike(*choice), std::cmp::Reverse(*choice))).unwrap_or(0)
}

/// What is done, and by whom.
fn labels(model: &(impl Describe + ?Sized), events: &[EventCode]) -> Vec<(String, Vec<String>)> {
    let one = |event: &EventCode| {
        let text = model.event(*event);
        (text.label, text.processes)
    };
    events.iter().map(one).collect()
}
