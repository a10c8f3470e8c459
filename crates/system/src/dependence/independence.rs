//! Whether two events accord: where both are enabled, neither disables or changes the other, and either order leads to the
//! same states.

use crate::bounds::{Cells, Knowledge};
use crate::dependence::access::{Access, Change, Write};
use crate::dependence::ends::End;
use crate::dependence::faults::faults;
use crate::dependence::guards::{Guard, Guards, Shape, others};
use crate::dependence::rows::Rows;
use crate::expr::BinaryOp;
use crate::system::{Overflow, System};
use crate::values::Values;

/// All that is known of the events.
pub(super) struct Pairs<'a> {
    pub system: &'a System,
    pub cells: &'a Cells,
    pub base: &'a [Values],
    pub edges: &'a [Access],
    pub guards: &'a Guards,
    pub of_event: &'a Rows,
    /// Is a value outside its domain a fault, rather than something that cannot be?
    pub ranges_fault: bool,
}

/// One event beside another: what both being enabled says of a cell, and the channels of which they use the two ends.
struct Beside<'a> {
    one: &'a Access,
    other: &'a Access,
    other_number: usize,
    channels: &'a [(&'a End, &'a End)],
}

impl Pairs<'_> {
    /// What a cell can hold where both are enabled.
    fn both(&self, a: &Access, b: &Access, cell: u32) -> Values {
        a.source(self.base, cell).meet(b.source(self.base, cell))
    }

    /// Could both be enabled in one state?
    fn together(&self, a: &Access, b: &Access) -> bool {
        let (mut i, mut j) = (0, 0);
        while let (Some((x, left)), Some((y, right))) = (a.source.get(i), b.source.get(j)) {
            if x == y {
                let apart = match (left.only(), right.only()) {
                    (Some(left), Some(right)) => left != right,
                    (Some(left), None) => !right.contains(left),
                    (None, Some(right)) => !left.contains(right),
                    (None, None) => left.meet(right).is_empty(),
                };
                if apart {
                    return false;
                }
            }
            i += (x <= y) as usize;
            j += (y <= x) as usize;
        }
        true
    }

    /// Do two different events not accord?
    pub fn conflict(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.edges[a], &self.edges[b]);
        if !x.possible || !y.possible || !self.together(x, y) {
            return false;
        }
        let mut channels: Vec<(&End, &End)> = Vec::new();
        for one in &x.ends {
            for other in y.ends.iter().filter(|other| other.fill == one.fill && other.receives != one.receives) {
                let (send, receive) = if one.receives { (other, one) } else { (one, other) };
                let (low, high) = self.both(x, y, one.fill).hull();
                let same = send.arrays.iter().all(|array| receive.arrays.contains(array));
                if same && low >= 1 && high <= send.room() {
                    channels.push((send, receive));
                }
            }
        }
        let disturbs = |one: &Access, other: &Access, number: usize| {
            let beside = Beside { one, other, other_number: number, channels: &channels };
            one.writes.iter().any(|write| self.disturbs(&beside, write))
        };
        disturbs(x, y, b) || disturbs(y, x, a)
    }

    /// Could this write of one event make a difference to the other?
    fn disturbs(&self, beside: &Beside<'_>, write: &Write) -> bool {
        let Beside { one, other, other_number, channels } = *beside;
        let cell = write.cell;
        if write.end
            && let Some(send) = one.ends.iter().find(|end| !end.receives && end.owns(cell))
            && let Some(place) = send.place(cell)
            && !self.both(one, other, send.fill).contains(place as i64)
        {
            // It stores a message, but not there while the other is enabled.
            return false;
        }
        let passes = |cell: u32| channels.iter().any(|(send, _)| send.owns(cell));
        let is_fill = |cell: u32| channels.iter().any(|(send, _)| send.fill == cell);
        if let Some(read) = other.read(cell)
            && !(read.end && (write.end && passes(cell) || is_fill(cell)))
        {
            return true;
        }
        if let Some(theirs) = other.write(cell) {
            let same = match (write.change, theirs.change) {
                (Change::Add(k), Change::Add(l)) => !self.leaves_domain(one, other, cell, k, l),
                (Change::Set(k), Change::Set(l)) => k == l,
                _ => write.end && theirs.end && passes(cell),
            };
            if !same {
                return true;
            }
        }
        let guards = self.of_event.get(other_number).iter();
        guards
            .filter(|guard| self.guards.cells_of(**guard).contains(&cell))
            .any(|guard| self.falsifies(beside, write, *guard))
    }

    /// Could adding both numbers, or one of them, be a fault?
    fn leaves_domain(&self, a: &Access, b: &Access, cell: u32, k: i64, l: i64) -> bool {
        let domain = self.system.variables[self.cells.variable(cell).index()].domain;
        if domain.overflow == Overflow::Wrap || !self.ranges_fault {
            return false;
        }
        let (low, high) = self.both(a, b, cell).hull();
        let inside =
            |by: i128| low > high || low as i128 + by >= domain.low as i128 && high as i128 + by <= domain.high as i128;
        !(inside(k as i128) && inside(l as i128) && inside(k as i128 + l as i128))
    }

    /// Could one event make this guard of the other false, or a fault?
    fn falsifies(&self, beside: &Beside<'_>, write: &Write, guard: Guard) -> bool {
        let Beside { one, other, .. } = *beside;
        match self.guards.shape(guard) {
            Shape::Cell { cell, op, constant } => {
                let domain = self.system.variables[self.cells.variable(*cell).index()].domain;
                let after = match write.change {
                    Change::Set(value) => Values::one(value),
                    Change::Add(k) => {
                        let before = self.both(one, other, *cell);
                        Values::binary(BinaryOp::Add, &before, &Values::one(k)).stored(domain)
                    }
                    Change::Any => write.after.clone(),
                };
                !others(&after, *op, *constant).is_empty()
            }
            Shape::Whole { condition, cells, .. } => {
                // What each cell can have in a state where both are enabled, and once the event has happened there.
                let mut before = Knowledge::new(self.system, self.cells, self.base);
                cells.iter().for_each(|&cell| before.set(cell, self.both(one, other, cell)));
                let mut after = before.clone();
                cells.iter().for_each(|&cell| after.set(cell, one.after(cell, before.get(cell).clone())));
                faults(condition, &before) || faults(condition, &after) || after.eval(condition).contains(0)
            }
            Shape::Late => false,
        }
    }
}
