//! Which cells are worth looking at together: those that events bind to each other.
//!
//! A process with what only it writes; a shared cell with the places of those who write it (a fork and the two
//! philosophers who use it: it lies on the table unless one of them holds it); a channel's level with its contents; a
//! cell that is overwritten unseen with each cell that the event tests or writes besides; and processes in pairs.

use crate::bounds::{Cells, Knowledge, writes};
use crate::event::Event;
use crate::system::{Role, System, VarId};
use crate::values::Values;
use std::collections::{BTreeMap, BTreeSet};

/// How many times as many combinations of values as it may show a process's window may seem to have.
const OPTIMISM: u64 = 50;

/// Pairs of cells.
const PAIRS: usize = 600;

pub fn windows(system: &System, cells: &Cells, base: &[Values], most: u64) -> Vec<Vec<u32>> {
    // For each cell the processes that take part in events that write it, and those that take part in all of them.
    let mut writers: BTreeMap<u32, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
    for event in &system.events {
        let moved: Vec<u32> = event.moves.iter().map(|m| cells.control(system, m.process)).collect();
        for cell in writes(system, cells, event) {
            let (some, all) = writers.entry(cell).or_insert_with(|| (Vec::new(), moved.clone()));
            some.extend(&moved);
            all.retain(|control| moved.contains(control));
        }
    }
    let role = |cell: u32| system.variables[cells.variable(cell).index()].role;
    let size = |window: &[u32]| window.iter().fold(1u64, |n, c| n.saturating_mul(base[*c as usize].count()));
    let mut windows = channels(system, cells);
    for process in &system.processes {
        let control = cells.first(process.control);
        let own =
            writers.iter().filter(|(cell, (_, all))| matches!(role(**cell), Role::Data) && all.contains(&control));
        let mut own: Vec<u32> = own.map(|(cell, _)| *cell).collect();
        own.sort_by_key(|cell| base[*cell as usize].count());
        let mut window = vec![control];
        for cell in own {
            if size(&window).saturating_mul(base[cell as usize].count()) <= OPTIMISM * most {
                window.push(cell);
            }
        }
        windows.push(window);
    }
    for (cell, (writers, _)) in writers.iter().filter(|(cell, _)| !matches!(role(**cell), Role::Control(_))) {
        let mut writers = writers.clone();
        writers.sort_unstable();
        writers.dedup();
        let window: Vec<u32> = std::iter::once(*cell).chain(writers.iter().copied()).collect();
        if size(&window) <= most {
            windows.push(window);
        } else {
            windows.extend(writers.iter().map(|writer| vec![*cell, *writer]));
        }
    }
    let mut pairs: BTreeSet<Vec<u32>> = BTreeSet::new();
    for event in &system.events {
        blind(system, cells, base, event, &mut pairs);
    }
    if pairs.len() <= PAIRS {
        windows.extend(pairs);
    }
    if system.processes.len() * system.processes.len() <= 2 * PAIRS {
        for (i, a) in system.processes.iter().enumerate() {
            let a = cells.first(a.control);
            windows.extend(system.processes[i + 1..].iter().map(|b| vec![a, cells.first(b.control)]));
        }
    }
    prune(windows, &|window| size(window) <= most)
}

/// Each cell whose old value neither the guard nor the bounds tell, with all that the event tests or writes.
fn blind(system: &System, cells: &Cells, base: &[Values], event: &Event, pairs: &mut BTreeSet<Vec<u32>>) {
    let mut source = Knowledge::new(system, cells, base);
    if !source.enter(event) {
        return;
    }
    let written = writes(system, cells, event);
    let unseen: Vec<u32> = written.iter().copied().filter(|cell| source.get(*cell).only().is_none()).collect();
    let tested = source.changed().map(|(cell, _)| cell);
    for other in tested.chain(written) {
        for cell in unseen.iter().copied().filter(|cell| *cell != other) {
            pairs.insert(vec![cell.min(other), cell.max(other)]);
        }
    }
}

/// A channel is a level and the arrays that come behind it.
fn channels(system: &System, cells: &Cells) -> Vec<Vec<u32>> {
    let mut windows: Vec<Vec<u32>> = Vec::new();
    let mut level = None;
    for (v, variable) in system.variables.iter().enumerate() {
        let first = cells.first(VarId(v as u32));
        match (variable.role, variable.length, level) {
            (Role::Channel, None, _) => level = Some(first),
            (Role::Channel, Some(length), Some(level)) if length <= 4 => {
                windows.push(std::iter::once(level).chain(first..first + length).collect());
            }
            (Role::Channel, Some(length), Some(level)) => {
                windows.extend((first..first + length).map(|cell| vec![level, cell]));
            }
            _ => level = None,
        }
    }
    windows
}

/// Without windows that others contain which are sure to stay whole, and those through which one sees but one cell.
fn prune(mut windows: Vec<Vec<u32>>, safe: &dyn Fn(&[u32]) -> bool) -> Vec<Vec<u32>> {
    for window in &mut windows {
        window.sort_unstable();
        window.dedup();
    }
    windows.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    windows.dedup();
    let mut kept: Vec<Vec<u32>> = Vec::new();
    for window in windows {
        let contained = |other: &Vec<u32>| window.iter().all(|cell| other.contains(cell)) && safe(other);
        if window.len() > 1 && !kept.iter().any(contained) {
            kept.push(window);
        }
    }
    kept
}
