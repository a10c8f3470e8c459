//! The two ends of a buffered channel, recognised by what an event does.
//!
//! A channel is a fill level and arrays. A send stores at the place that the fill level says and adds one to it; a receive
//! moves everything down by one place and takes one from it. Where both can happen there is a message and there is room,
//! and then their order does not matter: with n messages, the new one is stored at n and moved to n - 1, or stored at n - 1
//! at once. That holds for any array of which one event does exactly the one and another exactly the other, so that nobody
//! has to be believed.

use crate::bounds::Knowledge;
use crate::event::{Assign, Event};
use crate::expr::{BinaryOp, Expr};
use crate::system::VarId;

/// One end of a channel, as one event uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    pub receives: bool,
    /// The cell of the fill level.
    pub fill: u32,
    /// The first cell and the length of each array.
    pub arrays: Vec<(u32, u32)>,
}

impl End {
    /// Is this the cell of one of the arrays?
    pub fn owns(&self, cell: u32) -> bool {
        self.place(cell).is_some()
    }

    /// Which element it is.
    pub fn place(&self, cell: u32) -> Option<u32> {
        let array = self.arrays.iter().find(|(first, length)| (*first..first + length).contains(&cell))?;
        Some(cell - array.0)
    }

    /// Is this where the message lies that a receive takes?
    pub fn is_front(&self, cell: u32) -> bool {
        self.place(cell) == Some(0)
    }

    /// The largest fill level at which a message more still has a place in all arrays, less one.
    pub fn room(&self) -> i64 {
        self.arrays.iter().map(|(_, length)| *length as i64 - 1).min().unwrap_or(0)
    }
}

/// By how much an assignment steps a scalar.
fn step(a: &Assign) -> Option<i64> {
    let Expr::Binary(op, x, y) = &a.value else { return None };
    let by = y.as_const()?;
    match (op, &**x) {
        (BinaryOp::Add, Expr::Var(v)) if *v == a.target && a.index.is_none() => Some(by),
        (BinaryOp::Subtract, Expr::Var(v)) if *v == a.target && a.index.is_none() => by.checked_neg(),
        _ => None,
    }
}

/// Every element gets what the next one has, in order, and the last one a constant.
fn shifts(event: &Event, array: VarId, length: u32) -> bool {
    let effects: Vec<&Assign> = event.effects.iter().filter(|a| a.target == array).collect();
    let shifted = |(at, a): (usize, &&Assign)| {
        let here = a.index.as_ref().and_then(Expr::as_const) == Some(at as i64);
        let next = match &a.value {
            Expr::Element(v, index) => {
                *v == array && index.as_const() == Some(at as i64 + 1) && at + 1 < length as usize
            }
            value => at + 1 == length as usize && value.as_const().is_some(),
        };
        here && next
    };
    effects.len() == length as usize && effects.iter().enumerate().all(shifted)
}

/// The ends of channels that an event uses.
pub(super) fn ends(event: &Event, known: &Knowledge<'_>) -> Vec<End> {
    let mut found = Vec::new();
    let once = |variable: VarId| event.effects.iter().filter(|a| a.target == variable).count() == 1;
    for (at, a) in event.effects.iter().enumerate() {
        let receives = match step(a) {
            Some(1) => false,
            Some(-1) => true,
            _ => continue,
        };
        if !once(a.target) {
            continue;
        }
        let mut arrays: Vec<VarId> = Vec::new();
        for (place, other) in event.effects.iter().enumerate() {
            let variable = &known.system.variables[other.target.index()];
            let Some(length) = variable.length else { continue };
            let is_end = if receives {
                shifts(event, other.target, length)
            } else {
                place < at && once(other.target) && other.index == Some(Expr::Var(a.target))
            };
            if is_end && !arrays.contains(&other.target) {
                arrays.push(other.target);
            }
        }
        if !arrays.is_empty() {
            let array = |v: &VarId| (known.cells.first(*v), known.system.variables[v.index()].cells() as u32);
            let arrays = arrays.iter().map(array).collect();
            found.push(End { receives, fill: known.cells.first(a.target), arrays });
        }
    }
    found
}
