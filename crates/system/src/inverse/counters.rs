//! The inverse of a system of counters: an event that compares with constants and adds constants is undone by one that
//! compares with other constants and subtracts, so that whatever runs the one runs the other.
//!
//! What was there before a variable was set is known where the guard fixes it. Where it does not, as when a place of a net
//! was emptied whatever it held, each value that it can have had gets an inverse event of its own.

use super::{FAN_OUT, Inverse};
use crate::event::{Assign, Event, Moment, Then};
use crate::expr::{BinaryOp, Expr};
use crate::intervals::{Intervals, intervals};
use crate::model::Unsuited;
use crate::system::{Domain, EventId, Overflow, System, VarId};

/// Inverse events that a system may have; they are small.
const EVENTS: usize = 4_000_000;

/// The inverse, or why there is none; `None` if the system is of another kind.
pub fn inverse(system: &System) -> Option<Result<Inverse, Unsuited>> {
    let plain = |event: &Event| event.moves.is_empty() && event.assertion.is_none() && event.then == Then::Free;
    let counted = |domain: Domain| domain.low >= 0 && domain.overflow == Overflow::Error;
    let variables = system.variables.iter().all(|v| v.length.is_none() && counted(v.domain));
    if !system.packed || !system.processes.is_empty() || !variables || !system.events.iter().all(plain) {
        return None;
    }
    let (mut events, mut origin) = (Vec::new(), Vec::new());
    for (number, event) in system.events.iter().enumerate().filter(|(_, event)| event.fault.is_none()) {
        let undo = Undo::new(system, event)?;
        let before = match undo.map_or(Ok(Vec::new()), |undo| undo.events(system)) {
            Ok(before) if events.len() + before.len() <= EVENTS => before,
            Ok(_) => {
                return Some(Err(unsuited(event, format!("more than {EVENTS} ways back from the events up to it"))));
            }
            Err(reason) => return Some(Err(unsuited(event, reason))),
        };
        origin.extend(std::iter::repeat_n(EventId(number as u32), before.len()));
        events.extend(before);
    }
    Some(Ok(Inverse {
        system: System { events, assertions: Vec::new(), ..system.clone() },
        origin,
        passing: Vec::new(),
    }))
}

fn unsuited(event: &Event, reason: String) -> Unsuited {
    Unsuited { event: event.label.clone(), line: event.span.line, reason }
}

/// An event that is being undone.
struct Undo {
    label: String,
    /// What variables are after the event.
    after: Intervals,
    effects: Vec<Assign>,
    /// Variables that can have had any of these values before.
    open: Vec<(VarId, i64, i64)>,
}

impl Undo {
    /// `None` within if the event never happens, `None` outside if it is of another kind.
    fn new(system: &System, event: &Event) -> Option<Option<Undo>> {
        let mut after = intervals(system, &event.guard)?;
        let mut undo = Undo { label: event.label.clone(), after: Intervals::new(), effects: vec![], open: vec![] };
        let mut happens = true;
        for assign in &event.effects {
            let variable = assign.target;
            if assign.index.is_some() || undo.after.contains_key(&variable) {
                return None;
            }
            let domain = system.variables[variable.index()].domain;
            let (low, high) = after.remove(&variable).unwrap_or((domain.low, domain.high));
            let (low, high) = (low.max(domain.low), high.min(domain.high));
            match &assign.value {
                Expr::Const(value) => {
                    happens &= domain.contains(*value) && low <= high;
                    undo.after.insert(variable, (*value, *value));
                    if low < high {
                        undo.open.push((variable, low, high));
                    } else if low != *value {
                        undo.effects.push(set(variable, Expr::Const(low)));
                    }
                }
                Expr::Binary(BinaryOp::Add, a, b) => {
                    let (Expr::Var(read), Expr::Const(amount)) = (&**a, &**b) else { return None };
                    let back = amount.checked_neg().filter(|_| *read == variable)?;
                    // What is too much for the domain is a fault, and leads nowhere.
                    let (low, high) = (low.checked_add(*amount)?, high.checked_add(*amount)?);
                    let (low, high) = (low.max(domain.low), high.min(domain.high));
                    happens &= low <= high;
                    undo.after.insert(variable, (low, high));
                    if back != 0 {
                        let value =
                            Expr::Binary(BinaryOp::Add, Box::new(Expr::Var(variable)), Box::new(Expr::Const(back)));
                        undo.effects.push(set(variable, value));
                    }
                }
                _ => return None,
            }
        }
        happens &= after.values().all(|(low, high)| low <= high);
        undo.after.extend(after);
        Some(happens.then_some(undo))
    }

    /// One event for each way in which what is open can have been.
    fn events(self, system: &System) -> Result<Vec<Event>, String> {
        let guard = self.guard(system);
        let mut ways: Vec<Vec<Assign>> = vec![self.effects];
        for (variable, low, high) in self.open {
            let values = high.abs_diff(low).saturating_add(1);
            if values.saturating_mul(ways.len() as u64) > FAN_OUT as u64 {
                let name = system.full_name(variable);
                return Err(format!("it sets `{name}`, which can have had too many values before"));
            }
            let each = |way: &Vec<Assign>| {
                let way = way.clone();
                (low..=high).map(move |value| {
                    let mut way = way.clone();
                    way.push(set(variable, Expr::Const(value)));
                    way
                })
            };
            ways = ways.iter().flat_map(each).collect();
        }
        let event = |effects| Event { label: self.label.clone(), guard: guard.clone(), effects, ..Event::default() };
        Ok(ways.into_iter().map(event).collect())
    }

    fn guard(&self, system: &System) -> Expr {
        let mut tests = Vec::new();
        for (&variable, &(low, high)) in &self.after {
            let domain = system.variables[variable.index()].domain;
            let mut test = |op, number| tests.push(Expr::binary(op, Expr::Var(variable), Expr::Const(number)));
            if low == high {
                test(BinaryOp::Equal, low);
                continue;
            }
            if low > domain.low {
                test(BinaryOp::GreaterEqual, low);
            }
            if high < domain.high {
                test(BinaryOp::LessEqual, high);
            }
        }
        // A tree that is not deep, however many there are.
        while tests.len() > 1 {
            let mut rest = std::mem::take(&mut tests).into_iter();
            while let Some(a) = rest.next() {
                tests.push(match rest.next() {
                    Some(b) => Expr::and(a, b),
                    None => a,
                });
            }
        }
        tests.pop().unwrap_or(Expr::TRUE)
    }
}

fn set(target: VarId, value: Expr) -> Assign {
    Assign { target, index: None, value, moment: Moment::Current }
}
