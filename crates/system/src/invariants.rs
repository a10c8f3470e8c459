//! What holds in all reachable states: the bounds of each cell, and what windows show of several.
//!
//! The windows are computed together. A tuple of a window leads on by an event if the cells that it does not show may
//! have such values within their bounds, and if all other windows show what is then known of the state. A step that
//! another window does not allow is put off: it may do so later. When no more steps are possible, no reachable state is
//! outside any window: each step of a run was allowed by all of them.

use crate::bounds::{Cells, Knowledge, bounds, writes};
use crate::event::Event;
use crate::projection::Projection;
use crate::system::System;
use crate::values::Values;
use crate::windows::windows;
use std::collections::HashSet;

/// Tuples that a window may have.
const TUPLES: usize = 1_500;

/// Windows that show more are not asked about part of what they show.
const SHORT: usize = 200;

/// How often windows are computed anew with what was learnt before.
const ROUNDS: usize = 2;

/// Steps that are tried before the windows that took most of them are given up.
const WORK: usize = 250_000;

/// Operators and operands of an event that make a step as costly as one more.
const LIGHT: usize = 32;

/// How often that may happen before all are given up.
const PATIENCE: usize = 3;

#[derive(Debug, Clone)]
pub struct Invariants {
    pub cells: Cells,
    /// The values of each cell.
    pub base: Vec<Values>,
    pub windows: Vec<Projection>,
}

type Tuple = Box<[i64]>;

/// A window while it is computed.
struct Window {
    seen: Projection,
    /// Events that write a cell of it.
    events: Vec<u32>,
    open: Vec<Tuple>,
    /// Steps that another window does not allow yet: which one, and how many tuples it had.
    put_off: Vec<(Tuple, u32, usize, usize)>,
    /// Steps tried.
    work: usize,
}

struct Search<'a> {
    system: &'a System,
    base: &'a [Values],
    /// What is known whenever an event is enabled; nothing for those that never are.
    entered: Vec<Option<Knowledge<'a>>>,
    written: Vec<Vec<u32>>,
    windows: Vec<Window>,
    /// The windows that show a cell.
    showing: Vec<Vec<usize>>,
    work: usize,
    /// What it was to begin with.
    most: usize,
    /// Has anything changed that could let a step happen that was put off?
    changed: bool,
}

impl Invariants {
    pub fn new(system: &System) -> Invariants {
        Invariants::within(system, WORK)
    }

    /// The same, from a look at the system that takes a tenth of the time at most.
    pub fn at_a_glance(system: &System) -> Invariants {
        Invariants::within(system, WORK / 10)
    }

    /// Gives windows up that take more than so many steps.
    fn within(system: &System, work: usize) -> Invariants {
        let cells = Cells::new(system);
        let base = bounds(system, &cells);
        let mut known = Invariants { cells, base, windows: Vec::new() };
        for _ in 0..ROUNDS {
            let mut search = Search::new(system, &known, work);
            search.run();
            let spent: usize = search.windows.iter().map(|window| window.work).sum();
            let windows: Vec<Projection> = search.windows.into_iter().map(|window| window.seen).collect();
            known.learn(windows);
            if spent > work / 4 {
                break;
            }
        }
        known
    }

    fn learn(&mut self, windows: Vec<Projection>) {
        let base = &mut self.base;
        self.windows = windows;
        self.windows.retain(|window| window.cells.len() > 1);
        // A value that one window does not show goes from all of them, and other values may go with it.
        let mut sharper = true;
        while std::mem::take(&mut sharper) {
            for window in &mut self.windows {
                window
                    .tuples
                    .retain(|t| t.iter().zip(&window.cells).all(|(v, cell)| base[*cell as usize].contains(*v)));
                for (at, cell) in window.cells.iter().enumerate() {
                    let seen = Values::collect(window.tuples.iter().map(|tuple| tuple[at]));
                    let seen = base[*cell as usize].meet(&seen);
                    sharper |= seen != base[*cell as usize];
                    base[*cell as usize] = seen;
                }
            }
        }
    }

    /// What is known when an event is enabled; nothing if it never is.
    pub fn enter<'a>(&'a self, system: &'a System, event: &Event) -> Option<Knowledge<'a>> {
        let mut source = Knowledge::new(system, &self.cells, &self.base);
        if !source.enter(event) {
            return None;
        }
        let touched: Vec<u32> = source.changed().map(|(cell, _)| cell).collect();
        let meets = |window: &&Projection| window.cells.iter().any(|cell| touched.contains(cell));
        let shown = self.windows.iter().filter(meets).all(|window| window.narrow(&mut source));
        (shown && source.assume(&event.guard, true)).then_some(source)
    }
}

impl<'a> Search<'a> {
    fn new(system: &'a System, known: &'a Invariants, work: usize) -> Search<'a> {
        let (cells, base) = (&known.cells, &known.base);
        let mut search = Search {
            system,
            base,
            entered: system.events.iter().map(|event| known.enter(system, event)).collect(),
            written: system.events.iter().map(|event| writes(system, cells, event)).collect(),
            windows: Vec::new(),
            showing: vec![Vec::new(); cells.count()],
            work,
            most: work,
            changed: true,
        };
        for window in windows(system, cells, base, TUPLES as u64) {
            window.iter().for_each(|cell| search.showing[*cell as usize].push(search.windows.len()));
            let of = |valuation: &Vec<i64>| window.iter().map(|cell| valuation[*cell as usize]).collect();
            let tuples: HashSet<Tuple> = system.initial.iter().map(of).collect();
            let open = tuples.iter().cloned().collect();
            let seen = Projection { cells: window, tuples };
            let events = search.events(&seen.cells);
            search.windows.push(Window { seen, events, open, put_off: Vec::new(), work: 0 });
        }
        search
    }

    fn events(&self, window: &[u32]) -> Vec<u32> {
        let writes = |event: &usize| self.written[*event].iter().any(|cell| window.contains(cell));
        (0..self.system.events.len()).filter(writes).map(|event| event as u32).collect()
    }

    fn run(&mut self) {
        let mut patience = PATIENCE;
        while std::mem::take(&mut self.changed) {
            for number in 0..self.windows.len() {
                for (tuple, event, other, size) in std::mem::take(&mut self.windows[number].put_off) {
                    if self.windows[other].seen.tuples.len() == size {
                        self.windows[number].put_off.push((tuple, event, other, size));
                    } else {
                        self.step(number, tuple, event);
                    }
                }
                while let Some(tuple) = self.windows[number].open.pop() {
                    for at in 0..self.windows[number].events.len() {
                        let Some(event) = self.windows[number].events.get(at) else { break };
                        self.step(number, tuple.clone(), *event);
                    }
                }
            }
            if self.work == 0 {
                let mut order: Vec<usize> = (0..self.windows.len()).collect();
                order.sort_by_key(|number| std::cmp::Reverse(self.windows[*number].work));
                order.truncate(if patience > 0 { order.len().div_ceil(4) } else { order.len() });
                order.into_iter().for_each(|number| self.shrink(number, true));
                patience = patience.saturating_sub(1);
                self.work = self.most / 2;
            }
        }
    }

    fn step(&mut self, number: usize, tuple: Tuple, event: u32) {
        let window = &mut self.windows[number];
        let Some(entered) = &self.entered[event as usize] else { return };
        let mut shown = window.seen.cells.iter().zip(&tuple);
        // A window that has lost a cell begins again with shorter tuples.
        if window.seen.cells.len() != tuple.len()
            || !shown.clone().all(|(cell, value)| entered.get(*cell).contains(*value))
        {
            return;
        }
        if self.work == 0 {
            self.changed = true;
            window.put_off.push((tuple, event, number, usize::MAX));
            return;
        }
        let cost = 1 + self.system.events[event as usize].size() / LIGHT;
        self.work = self.work.saturating_sub(cost);
        window.work += cost;
        let mut source = entered.clone();
        shown.by_ref().for_each(|(cell, value)| source.set(*cell, Values::one(*value)));
        let rule = &self.system.events[event as usize];
        if !source.assume(&rule.guard, true) {
            return;
        }
        if let Some(other) = self.refuses(number, &source) {
            let size = self.windows[other].seen.tuples.len();
            self.windows[number].put_off.push((tuple, event, other, size));
            return;
        }
        let Some(after) = source.after(rule) else { return };
        let window = &self.windows[number];
        let sets: Vec<Values> =
            window.seen.cells.iter().map(|cell| after.get(*cell).meet(&self.base[*cell as usize])).collect();
        let count = sets.iter().fold(1u64, |n, set| n.saturating_mul(set.count()));
        if count > TUPLES as u64 {
            return self.shrink(number, false);
        }
        let mut tuples: Vec<Vec<i64>> = vec![Vec::new()];
        for set in &sets {
            tuples = tuples.iter().flat_map(|t| set.iter().map(move |v| [&t[..], &[v]].concat())).collect();
        }
        let window = &mut self.windows[number];
        for tuple in tuples {
            if !window.seen.tuples.contains(&tuple[..]) {
                window.seen.tuples.insert(tuple.clone().into());
                window.open.push(tuple.into());
                self.changed = true;
            }
        }
        if window.seen.tuples.len() > TUPLES {
            self.shrink(number, false);
        }
    }

    /// Another window that does not show what is known.
    fn refuses(&self, number: usize, source: &Knowledge) -> Option<usize> {
        let known = |cell: u32| source.get(cell).only();
        let shown = source.changed().filter(|(_, values)| values.only().is_some());
        let others = shown.flat_map(|(cell, _)| self.showing[cell as usize].iter().map(move |other| (cell, *other)));
        let mut others = others.filter(|(cell, other)| {
            if *other == number {
                return false;
            }
            let seen = &self.windows[*other].seen;
            // Each window is asked once, at the first of its cells that is known.
            if seen.cells.iter().find(|cell| known(**cell).is_some()) != Some(cell) {
                return false;
            }
            let asked = seen.tuples.len() <= SHORT || seen.cells.iter().all(|cell| known(*cell).is_some());
            asked && !seen.allows(&known)
        });
        others.next().map(|(_, other)| other)
    }

    /// Takes a cell with the most values out of a window, or all. What it has shown so far it still shows; that others
    /// grow with fewer conditions on them is no harm.
    fn shrink(&mut self, number: usize, wholly: bool) {
        let window = &mut self.windows[number];
        let cells = &mut window.seen.cells;
        let largest = (0..cells.len()).max_by_key(|at| self.base[cells[*at] as usize].count());
        let Some(at) = largest else { return };
        self.changed = true;
        let gone = if wholly || cells.len() == 2 { std::mem::take(cells) } else { vec![cells.remove(at)] };
        window.put_off.clear();
        window.open.clear();
        if cells.is_empty() {
            window.seen.tuples.clear();
            window.events.clear();
        } else {
            let without = |tuple: &Tuple| [&tuple[..at], &tuple[at + 1..]].concat().into();
            window.seen.tuples = window.seen.tuples.iter().map(without).collect();
            window.open = window.seen.tuples.iter().cloned().collect();
            let cells = window.seen.cells.clone();
            self.windows[number].events = self.events(&cells);
        }
        for cell in gone {
            self.showing[cell as usize].retain(|other| *other != number);
        }
    }
}
