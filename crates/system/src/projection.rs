//! What a few cells can hold together: the system seen through a window.
//!
//! A projection is an over-approximation of the reachable states as seen on some cells: all that these cells can be led
//! to when the others may have any value within their bounds. A fork with the two philosophers who use it is enough to
//! know that it lies on the table unless one of them holds it. Windows are chosen after who writes what: a process with
//! what only it writes, a shared cell with the places of its writers, a channel's level with its contents.

use crate::bounds::{Cells, Knowledge, bounds, writes};
use crate::expr::{BinaryOp, Expr};
use crate::system::{Role, System};
use crate::values::Values;
use std::collections::{HashMap, HashSet};

/// Tuples that a window may have.
const TUPLES: usize = 2_000;

/// Events that are run on tuples, for all windows together.
const WORK: usize = 200_000;

/// Bits in the table by which code asks for membership.
const TABLE: u64 = 1 << 17;

/// How often windows are computed anew with what the last round has taught.
const ROUNDS: usize = 2;

#[derive(Debug, Clone)]
pub struct Projection {
    pub cells: Vec<u32>,
    pub tuples: HashSet<Box<[i64]>>,
}

/// What is known of all reachable states.
#[derive(Debug, Clone)]
pub struct Invariants {
    pub cells: Cells,
    /// The values of each cell.
    pub base: Vec<Values>,
    pub windows: Vec<Projection>,
}

impl Projection {
    /// Could a state have these values, as far as this window shows them?
    pub fn allows(&self, known: &dyn Fn(u32) -> Option<i64>) -> bool {
        let known: Vec<(usize, i64)> =
            self.cells.iter().enumerate().filter_map(|(at, cell)| Some((at, known(*cell)?))).collect();
        if known.len() == self.cells.len() {
            let tuple: Box<[i64]> = known.iter().map(|(_, value)| *value).collect();
            return self.tuples.contains(&tuple);
        }
        known.is_empty() || self.tuples.iter().any(|tuple| known.iter().all(|(at, value)| tuple[*at] == *value))
    }

    /// "The values of these expressions, one for each cell, are a tuple of this window", unless the table for it would
    /// be too large. Values outside the bounds of their cells may get either answer.
    pub fn condition(&self, base: &[Values], cell: &dyn Fn(u32) -> Expr) -> Option<Expr> {
        let mut size = 1u64;
        let mut place = Expr::Const(0);
        let mut strides = Vec::new();
        for c in &self.cells {
            let (low, high) = base[*c as usize].hull();
            let value = Expr::binary(BinaryOp::Subtract, cell(*c), Expr::Const(low));
            let scaled = Expr::binary(BinaryOp::Multiply, value, Expr::Const(size as i64));
            place = match place {
                Expr::Const(0) => scaled,
                place => Expr::binary(BinaryOp::Add, place, scaled),
            };
            strides.push((low, size));
            let values = (high.wrapping_sub(low) as u64).checked_add(1)?;
            size = size.checked_mul(values).filter(|size| *size <= TABLE)?;
        }
        let mut words = vec![0u64; size.div_ceil(64) as usize];
        for tuple in &self.tuples {
            let at: u64 = tuple.iter().zip(&strides).map(|(v, (low, stride))| (v - low) as u64 * stride).sum();
            words[at as usize / 64] |= 1 << (at % 64);
        }
        let words: Vec<i64> = words.into_iter().map(|word| word as i64).collect();
        let binary = |op, a, b| Expr::binary(op, a, Expr::Const(b));
        let word = match &words[..] {
            [word] => Expr::Const(*word),
            _ => Expr::Table(words.into(), Box::new(binary(BinaryOp::ShiftRight, place.clone(), 6))),
        };
        let bit = Expr::binary(BinaryOp::ShiftRight, word, binary(BinaryOp::BitAnd, place, 63));
        Some(binary(BinaryOp::BitAnd, bit, 1))
    }
}

impl Invariants {
    pub fn new(system: &System) -> Invariants {
        let cells = Cells::new(system);
        let base = bounds(system, &cells);
        let mut invariants = Invariants { cells, base, windows: Vec::new() };
        let choice = windows(system, &invariants.cells);
        let mut work = WORK;
        for _ in 0..ROUNDS {
            invariants.look(system, &choice, &mut work);
        }
        invariants
    }

    /// Computes all windows, and sharpens the bounds by what they show.
    fn look(&mut self, system: &System, choice: &[Vec<u32>], work: &mut usize) {
        let written: Vec<Vec<u32>> = system.events.iter().map(|e| writes(system, &self.cells, e)).collect();
        let mut found: Vec<Projection> = Vec::new();
        for window in choice {
            let mut window = window.clone();
            // Where there are too many tuples, the cell with the most values goes, and it is tried again.
            while window.len() > 1 && *work > 0 {
                let share = (*work).min(WORK / 8);
                let mut left = share;
                let seen = self.project(system, &window, &written, &mut left);
                *work -= share - left;
                if let Some(projection) = seen {
                    found.push(projection);
                    break;
                }
                let largest = (0..window.len()).rev().max_by_key(|at| self.base[window[*at] as usize].count());
                window.remove(largest.unwrap_or(0));
            }
        }
        for projection in &found {
            for (at, cell) in projection.cells.iter().enumerate() {
                let seen = Values::collect(projection.tuples.iter().map(|tuple| tuple[at]));
                let base = &mut self.base[*cell as usize];
                *base = base.meet(&seen);
            }
        }
        found.dedup_by(|a, b| a.cells == b.cells);
        if !found.is_empty() {
            self.windows = found;
        }
    }

    fn project(&self, system: &System, window: &[u32], written: &[Vec<u32>], work: &mut usize) -> Option<Projection> {
        let relevant: Vec<usize> =
            (0..system.events.len()).filter(|e| written[*e].iter().any(|cell| window.contains(cell))).collect();
        let mut tuples: HashSet<Box<[i64]>> = HashSet::new();
        let mut open: Vec<Box<[i64]>> = Vec::new();
        for valuation in &system.initial {
            let tuple: Box<[i64]> = window.iter().map(|cell| valuation[*cell as usize]).collect();
            if tuples.insert(tuple.clone()) {
                open.push(tuple);
            }
        }
        while let Some(tuple) = open.pop() {
            for number in &relevant {
                let event = &system.events[*number];
                *work = work.checked_sub(1)?;
                let mut source = Knowledge::new(system, &self.cells, &self.base);
                window.iter().zip(&tuple).for_each(|(cell, value)| source.set(*cell, Values::one(*value)));
                if !source.enter(event) || !self.allows(window, &source) {
                    continue;
                }
                let Some(after) = source.after(event) else { continue };
                let sets: Vec<Values> =
                    window.iter().map(|cell| after.get(*cell).meet(&self.base[*cell as usize])).collect();
                let count = sets.iter().try_fold(1u64, |n, set| n.checked_mul(set.count()))?;
                if count > TUPLES as u64 {
                    return None;
                }
                for mut place in 0..count {
                    let pick = |set: &Values| {
                        let values = set.count();
                        let value = set.iter().nth((place % values) as usize);
                        place /= values;
                        value
                    };
                    let next: Box<[i64]> = sets.iter().map(pick).collect::<Option<_>>()?;
                    if !tuples.contains(&next) {
                        tuples.insert(next.clone());
                        open.push(next);
                    }
                }
                if tuples.len() > TUPLES {
                    return None;
                }
            }
        }
        Some(Projection { cells: window.to_vec(), tuples })
    }

    /// Do the windows of the last round allow what is known?
    fn allows(&self, window: &[u32], source: &Knowledge) -> bool {
        let known = |cell: u32| source.get(cell).only();
        let meets = |other: &&Projection| other.cells.iter().any(|cell| window.contains(cell));
        self.windows.iter().filter(meets).all(|other| other.allows(&known))
    }
}

/// The sets of cells that are worth looking at together.
fn windows(system: &System, cells: &Cells) -> Vec<Vec<u32>> {
    let mut writers: HashMap<u32, Vec<u32>> = HashMap::new();
    for event in &system.events {
        for cell in writes(system, cells, event) {
            let known = writers.entry(cell).or_default();
            for m in &event.moves {
                let control = cells.control(system, m.process);
                if !known.contains(&control) {
                    known.push(control);
                }
            }
        }
    }
    let controls: Vec<u32> = system.processes.iter().map(|p| cells.first(p.control)).collect();
    let role = |cell: u32| system.variables[cells.variable(cell).index()].role;
    let mut windows = Vec::new();
    for control in &controls {
        let mut own: Vec<u32> = vec![*control];
        own.extend((0..cells.count() as u32).filter(|cell| {
            matches!(role(*cell), Role::Data) && writers.get(cell).is_some_and(|w| w[..] == [*control])
        }));
        windows.push(own);
    }
    for cell in 0..cells.count() as u32 {
        let Some(writers) = writers.get(&cell).filter(|w| w.len() > 1 && !matches!(role(cell), Role::Control(_)))
        else {
            continue;
        };
        let mut shared = vec![cell];
        shared.extend(writers);
        windows.push(shared);
    }
    windows.extend(channels(system, cells));
    for window in &mut windows {
        window.truncate(24);
    }
    windows
}

/// A channel is a level and the arrays that events write along with it.
fn channels(system: &System, cells: &Cells) -> Vec<Vec<u32>> {
    let mut windows: Vec<Vec<u32>> = Vec::new();
    let mut level = None;
    for (v, variable) in system.variables.iter().enumerate() {
        let first = cells.first(crate::VarId(v as u32));
        match (variable.role, variable.length) {
            (Role::Channel, None) => level = Some(first),
            (Role::Channel, Some(length)) => {
                if let Some(level) = level {
                    windows.push(std::iter::once(level).chain(first..first + length).collect());
                }
            }
            _ => level = None,
        }
    }
    windows
}
