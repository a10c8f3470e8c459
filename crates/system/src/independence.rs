//! Which edges can be swapped, each called by its first event.
//!
//! Two edges can be swapped if neither writes what the other reads or writes. Where a process goes on by itself, an edge is
//! all that it can do until everybody may move, and reads and writes what any of these steps does: the guards of later steps
//! as well, for they decide which way it goes and where an atomic sequence blocks. So if edge b follows edge a, each
//! step of b finds before a what it finds after it; b can come first, by the same steps, and a then finds what it found.
//! That is more than the events of both being independent, for nobody else moves within an edge.
//!
//! An event that is tried late cannot be swapped with anything: that nothing else is enabled depends on every other event. It
//! does not keep others from being swapped, for whether these are enabled does not depend on it.

use crate::event::Event;
use crate::facts::{Facts, Set};
use crate::system::{EventId, ProcessId, System};
use std::collections::HashMap;

/// For each event, those that it can be swapped with.
pub fn independence(system: &System) -> Vec<Set> {
    let facts = Facts::new(system);
    let mut steps_of: HashMap<ProcessId, Vec<(u32, usize)>> = HashMap::new();
    for (number, event) in system.events.iter().enumerate().filter(|(_, event)| !event.late) {
        if let Some(m) = event.moves.first() {
            steps_of.entry(m.process).or_default().push((m.from, number));
        }
    }
    let id = |event: usize| EventId(event as u32);
    let reads_and_writes = |first: usize| {
        let (mut reads, mut writes) = (facts.reads(id(first)).clone(), facts.writes(id(first)).clone());
        for step in edge(system, &steps_of, first) {
            reads.join(facts.reads(id(step)));
            writes.join(facts.writes(id(step)));
        }
        (reads, writes)
    };
    let edges: Vec<(Set, Set)> = (0..system.events.len()).map(reads_and_writes).collect();
    let apart = |a: usize, b: usize| !edges[a].1.meets(&edges[b].0) && !edges[a].1.meets(&edges[b].1);
    let late = |event: usize| system.events[event].late;
    let row = |a: usize| {
        let mut row = Set::new(edges.len());
        let can = |b: &usize| !late(a) && !late(*b) && apart(a, *b) && apart(*b, a);
        (0..edges.len()).filter(can).for_each(|b| row.insert(b));
        row
    };
    (0..edges.len()).map(row).collect()
}

/// The events that can be steps of an edge.
fn edge(system: &System, steps_of: &HashMap<ProcessId, Vec<(u32, usize)>>, first: usize) -> Vec<usize> {
    let mut seen = Set::new(system.events.len());
    seen.insert(first);
    let mut all = vec![first];
    let mut at = 0;
    while let Some(event) = all.get(at).map(|&step| &system.events[step]) {
        at += 1;
        let Some(holder) = event.then.exclusive() else { continue };
        let place = place_after(system, event, holder);
        for &(from, step) in steps_of.get(&holder).into_iter().flatten() {
            if place.is_none_or(|place| place == from) && !seen.contains(step) {
                seen.insert(step);
                all.push(step);
            }
        }
    }
    all
}

/// Where a process is after an event, if the event says so.
fn place_after(system: &System, event: &Event, process: ProcessId) -> Option<u32> {
    let control = system.processes[process.index()].control;
    let moved = event.moves.iter().rfind(|m| m.process == process)?;
    event.effects.iter().all(|a| a.target != control).then_some(moved.to)
}
