//! The cells of a system as levels of diagrams: which values each can have, the number that stands for each value, and
//! how a vector of such numbers is a state.
//!
//! A cell with one value has no level. For every other there is a list of values that it is known to take, or may: events
//! are looked at for those. The list of a cell with few possible values is complete; a longer one grows with what occurs.

use scrimp_system::bounds::{Cells, bounds};
use scrimp_system::values::Values;
use scrimp_system::{Layout, ProcessId, System, Then};
use std::collections::HashMap;

/// Values up to which all are taken into account from the start.
const FEW: u64 = 64;

/// The same for nets, whose events look at one cell at a time.
const FEW_TOKENS: u64 = 1 << 12;

/// Values of all cells of all events together up to which those of nets are.
const FEW_IN_ALL: u64 = 4 << 20;

/// No level.
pub const NOWHERE: u32 = u32::MAX;

/// What is known of the cells.
pub struct Space<'a> {
    pub system: &'a System,
    pub layout: &'a Layout,
    pub cells: Cells,
    /// The cell that says who goes on alone, behind all others; none where nobody ever does.
    pub holder: Option<u32>,
    /// The only value of a cell.
    constant: Vec<Option<i64>>,
    hull: Vec<(i64, i64)>,
    known: Vec<Vec<i64>>,
    complete: Vec<bool>,
    numbers: Vec<HashMap<i64, u32>>,
    values: Vec<Vec<i64>>,
    level: Vec<u32>,
    cell: Vec<u32>,
}

/// Who goes on, as the value of the holder's cell.
pub fn holder_value(then: Then) -> i64 {
    match then {
        Then::Free => 0,
        Then::Atomic(process) => 1 + 2 * process.0 as i64,
        Then::DStep(process) => 2 + 2 * process.0 as i64,
    }
}

impl<'a> Space<'a> {
    /// The cells of a system, without an order yet.
    pub fn new(system: &'a System, layout: &'a Layout) -> Space<'a> {
        let cells = Cells::new(system);
        let mut base = bounds(system, &cells);
        let holds = system.events.iter().any(|event| event.then.exclusive().is_some());
        let holder = holds.then_some(cells.count() as u32);
        if holds {
            let thens = system.events.iter().map(|event| holder_value(event.then)).chain([0]);
            base.push(Values::collect(thens));
        }
        let accesses: usize = system.events.iter().map(|event| event.size()).sum();
        let mut space = Space {
            system,
            layout,
            cells,
            holder,
            constant: base.iter().map(Values::only).collect(),
            hull: base.iter().map(Values::hull).collect(),
            known: Vec::new(),
            complete: Vec::new(),
            numbers: vec![HashMap::new(); base.len()],
            values: vec![Vec::new(); base.len()],
            level: vec![NOWHERE; base.len()],
            cell: Vec::new(),
        };
        for (cell, values) in base.iter().enumerate() {
            let count = values.count();
            let tokens = system.packed
                && count <= FEW_TOKENS
                && count.saturating_mul(accesses as u64 / base.len().max(1) as u64) * 4 <= FEW_IN_ALL;
            let few = count <= FEW || tokens;
            let known: Vec<i64> = match few {
                true => values.iter().collect(),
                false => {
                    let mut initial: Vec<i64> =
                        system.initial.iter().map(|valuation| valuation.get(cell).copied().unwrap_or(0)).collect();
                    initial.sort_unstable();
                    initial.dedup();
                    initial
                }
            };
            known.iter().for_each(|value| {
                space.number(cell as u32, *value);
            });
            space.known.push(known);
            space.complete.push(few);
        }
        space
    }

    /// Number of cells, that of the holder included.
    pub fn count(&self) -> usize {
        self.constant.len()
    }

    /// The only value that a cell can have.
    pub fn constant(&self, cell: u32) -> Option<i64> {
        self.constant[cell as usize]
    }

    /// The values that are taken into account, ascending.
    pub fn known(&self, cell: u32) -> &[i64] {
        &self.known[cell as usize]
    }

    /// The least and the largest value that a cell can have.
    pub fn hull(&self, cell: u32) -> (i64, i64) {
        self.hull[cell as usize]
    }

    /// Are those all the values that the cell can ever have?
    pub fn is_complete(&self, cell: u32) -> bool {
        self.complete[cell as usize]
    }

    /// Are the values of all cells known?
    pub fn is_all_complete(&self) -> bool {
        self.complete.iter().all(|complete| *complete)
    }

    /// Takes more values into account; `false` if these all were already.
    pub fn learn(&mut self, cell: u32, occurring: &[u32]) -> bool {
        let at = cell as usize;
        let mut new: Vec<i64> = occurring.iter().map(|number| self.values[at][*number as usize]).collect();
        new.retain(|value| self.known[at].binary_search(value).is_err());
        let (Some(&low), Some(&high)) = (new.iter().min(), new.iter().max()) else { return false };
        let known = &mut self.known[at];
        known.extend(&new);
        known.sort_unstable();
        // Where they lie close to each other, more are likely to follow.
        let (first, last) = (known[0], known[known.len() - 1]);
        let width = last.abs_diff(first);
        if width <= 4 * known.len() as u64 + 16 {
            let reach = (width as i64).clamp(16, 1 << 12);
            let from = if low == first { first.saturating_sub(reach).max(self.hull[at].0) } else { first };
            let to = if high == last { last.saturating_add(reach).min(self.hull[at].1) } else { last };
            known.extend(from..=to);
            known.sort_unstable();
            known.dedup();
        }
        for value in self.known[at].clone() {
            self.number(cell, value);
        }
        true
    }

    /// The number that stands for a value at a cell's level.
    pub fn number(&mut self, cell: u32, value: i64) -> u32 {
        let (numbers, values) = (&mut self.numbers[cell as usize], &mut self.values[cell as usize]);
        *numbers.entry(value).or_insert_with(|| {
            values.push(value);
            values.len() as u32 - 1
        })
    }

    /// The value that a number stands for.
    pub fn value(&self, cell: u32, number: u32) -> i64 {
        self.values[cell as usize][number as usize]
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.cell.len()
    }

    /// The level of a cell that has one.
    pub fn level(&self, cell: u32) -> usize {
        self.level[cell as usize] as usize
    }

    /// The cell at a level.
    pub fn cell(&self, level: usize) -> u32 {
        self.cell[level]
    }

    /// Gives the cells their levels: these from top to bottom.
    pub fn arrange(&mut self, order: Vec<u32>) {
        self.level.fill(NOWHERE);
        for (level, cell) in order.iter().enumerate() {
            self.level[*cell as usize] = level as u32;
        }
        self.cell = order;
    }

    /// The cells that need a level, the holder's left out.
    pub fn varying(&self) -> Vec<u32> {
        (0..self.cells.count() as u32).filter(|cell| self.constant(*cell).is_none()).collect()
    }

    /// The cell of a process's location.
    pub fn control(&self, process: ProcessId) -> u32 {
        self.cells.control(self.system, process)
    }

    /// An initial state as a vector.
    pub fn vector(&mut self, valuation: &[i64]) -> Vec<u32> {
        let cells = self.cell.clone();
        cells.iter().map(|&cell| self.number(cell, valuation.get(cell as usize).copied().unwrap_or(0))).collect()
    }

    /// The state that a vector is.
    pub fn state(&self, vector: &[u32]) -> Vec<u8> {
        let valuation: Vec<i64> = (0..self.cells.count())
            .map(|cell| match self.constant[cell] {
                Some(value) => value,
                None => self.value(cell as u32, vector[self.level[cell] as usize]),
            })
            .collect();
        let mut state = vec![0; self.layout.bytes()];
        self.layout.encode(&valuation, &mut state);
        state
    }

    /// The vector of a state, with nobody going on alone; `None` where it has a value never seen.
    pub fn vector_of(&self, state: &[u8]) -> Option<Vec<u32>> {
        let number = |&cell: &u32| {
            if Some(cell) == self.holder {
                return self.numbers[cell as usize].get(&0).copied();
            }
            let (variable, index) = (self.cells.variable(cell), self.cells.index(cell));
            let value = self.layout.read(state, variable, index as i64).ok()?;
            self.numbers[cell as usize].get(&value).copied()
        };
        self.cell.iter().map(number).collect()
    }

    /// Bytes that all this takes, roughly.
    pub fn bytes(&self) -> usize {
        let lists: usize = self.known.iter().chain(&self.values).map(|list| list.capacity() * 8).sum();
        let numbers: usize = self.numbers.iter().map(|map| map.capacity() * 16).sum();
        lists + numbers + self.count() * 64
    }
}
