//! What each cell can hold: the system run on sets of values instead of values.
//!
//! A [`Knowledge`] is what is known of the cells at one moment. Guards sharpen it, assignments change it. The bounds of
//! a system are the least sets that hold the initial values and that no event leads out of; every reachable state lies
//! within them.

use crate::event::{Assign, Event, Moment};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::system::{System, VarId};
use crate::values::Values;

/// How often the set of a cell may grow by itself before it becomes the whole domain: once more than a byte can count.
const PATIENCE: u32 = 300;

/// A choice between many things says little, and takes long to look into.
const LONG: usize = 100;

/// Operators and operands that are evaluated before all that still grows becomes the whole domain.
const EFFORT: usize = 2_000_000;

/// The cells of a system by number: the variables in order, an array's elements one after the other.
#[derive(Debug, Clone)]
pub struct Cells {
    first: Vec<u32>,
    variable: Vec<VarId>,
}

impl Cells {
    pub fn new(system: &System) -> Cells {
        let mut cells = Cells { first: Vec::new(), variable: Vec::new() };
        for (v, variable) in system.variables.iter().enumerate() {
            cells.first.push(cells.variable.len() as u32);
            cells.variable.extend(std::iter::repeat_n(VarId(v as u32), variable.cells()));
        }
        cells
    }

    pub fn count(&self) -> usize {
        self.variable.len()
    }

    pub fn variable(&self, cell: u32) -> VarId {
        self.variable[cell as usize]
    }

    /// The element's place in its array, 0 for a scalar.
    pub fn index(&self, cell: u32) -> u32 {
        cell - self.first[self.variable(cell).index()]
    }

    pub fn first(&self, variable: VarId) -> u32 {
        self.first[variable.index()]
    }

    /// The cell that an assignment or an expression with a known index means.
    pub fn at(&self, system: &System, variable: VarId, index: i64) -> Option<u32> {
        let length = system.variables[variable.index()].cells() as i64;
        (0..length).contains(&index).then(|| self.first(variable) + index as u32)
    }

    /// The cell as an expression.
    pub fn read(&self, system: &System, cell: u32) -> Expr {
        let variable = self.variable(cell);
        match system.variables[variable.index()].length {
            None => Expr::Var(variable),
            Some(_) => Expr::Element(variable, Box::new(Expr::Const(self.index(cell) as i64))),
        }
    }

    pub fn control(&self, system: &System, process: crate::ProcessId) -> u32 {
        self.first(system.processes[process.index()].control)
    }
}

/// What is known of the cells: `base`, and better for some.
#[derive(Debug, Clone)]
pub struct Knowledge<'a> {
    pub system: &'a System,
    pub cells: &'a Cells,
    pub base: &'a [Values],
    better: Vec<(u32, Values)>,
}

impl<'a> Knowledge<'a> {
    pub fn new(system: &'a System, cells: &'a Cells, base: &'a [Values]) -> Knowledge<'a> {
        Knowledge { system, cells, base, better: Vec::new() }
    }

    pub fn get(&self, cell: u32) -> &Values {
        self.better.iter().find(|(c, _)| *c == cell).map_or(&self.base[cell as usize], |(_, values)| values)
    }

    pub fn set(&mut self, cell: u32, values: Values) {
        match self.better.iter_mut().find(|(c, _)| *c == cell) {
            Some((_, old)) => *old = values,
            None => self.better.push((cell, values)),
        }
    }

    /// Cells of which more is known than the base says, or something else.
    pub fn changed(&self) -> impl Iterator<Item = (u32, &Values)> {
        self.better.iter().map(|(cell, values)| (*cell, values))
    }

    fn narrow(&mut self, cell: u32, values: Values) -> bool {
        let possible = !values.is_empty();
        if values != *self.get(cell) {
            self.set(cell, values);
        }
        possible
    }

    /// The values that an expression can have; empty if it is always a fault.
    pub fn eval(&self, e: &Expr) -> Values {
        match e {
            Expr::Const(value) => Values::one(*value),
            Expr::Var(v) => self.get(self.cells.first(*v)).clone(),
            Expr::Element(v, index) => {
                let length = self.system.variables[v.index()].cells() as i64;
                let index = self.eval(index).meet(&Values::between(0, length - 1));
                let first = self.cells.first(*v);
                index.iter().fold(Values::NONE, |all, i| all.join(self.get(first + i as u32)))
            }
            Expr::Table(values, index) => {
                let index = self.eval(index).meet(&Values::between(0, values.len() as i64 - 1));
                Values::collect(index.iter().map(|i| values[i as usize]))
            }
            Expr::Unary(op, a) => Values::unary(*op, &self.eval(a)),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                // Whether the second operand is read, the first decides.
                let (a, ends) = (self.eval(a), *op == BinaryOp::Or);
                let can = |values: &Values, truth: bool| match truth {
                    true => !values.is_empty() && values.only() != Some(0),
                    false => values.contains(0),
                };
                let mut result = Values::NONE;
                if can(&a, ends) {
                    result = Values::one(ends as i64);
                }
                if can(&a, !ends) {
                    let b = self.eval(b);
                    let found = [false, true].into_iter().filter(|t| can(&b, *t)).map(|t| t as i64);
                    result = result.join(&Values::collect(found));
                }
                result
            }
            Expr::Binary(op, a, b) => Values::binary(*op, &self.eval(a), &self.eval(b)),
            Expr::If(condition, a, b) => {
                let condition = self.eval(condition);
                let mut result = Values::NONE;
                if condition.only() != Some(0) && !condition.is_empty() {
                    result = self.eval(a);
                }
                if condition.contains(0) {
                    result = result.join(&self.eval(b));
                }
                result
            }
        }
    }

    /// The one cell that an expression reads, if it is nothing but that.
    pub fn cell(&self, e: &Expr) -> Option<u32> {
        match e {
            Expr::Var(v) => Some(self.cells.first(*v)),
            Expr::Element(v, index) => self.cells.at(self.system, *v, self.eval(index).only()?),
            _ => None,
        }
    }

    /// Takes into account that `e` is true, or false. `false` if that cannot be.
    pub fn assume(&mut self, e: &Expr, truth: bool) -> bool {
        match e {
            Expr::Unary(UnaryOp::Not, a) => self.assume(a, !truth),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                if (*op == BinaryOp::And) == truth {
                    return self.assume(a, truth) && self.assume(b, truth);
                }
                if e.size() > LONG {
                    return !self
                        .eval(e)
                        .restricted(if truth { BinaryOp::NotEqual } else { BinaryOp::Equal }, &Values::one(0))
                        .is_empty();
                }
                let mut first = self.clone();
                let first_possible = first.assume(a, truth);
                let second_possible = self.assume(a, !truth) && self.assume(b, truth);
                match (first_possible, second_possible) {
                    (true, true) => {
                        let cells: Vec<u32> = self.changed().map(|(cell, _)| cell).collect();
                        for cell in cells {
                            self.set(cell, self.get(cell).join(first.get(cell)));
                        }
                    }
                    (true, false) => *self = first,
                    _ => {}
                }
                first_possible || second_possible
            }
            Expr::Binary(op, a, b) if negation(*op).is_some() => {
                let op = if truth { *op } else { negation(*op).unwrap_or(*op) };
                let (x, y) = (self.eval(a), self.eval(b));
                let (narrow_x, narrow_y) = (x.restricted(op, &y), y.restricted(mirror(op), &x));
                if narrow_x.is_empty() || narrow_y.is_empty() {
                    return false;
                }
                let cells = [(self.cell(a), narrow_x), (self.cell(b), narrow_y)];
                cells.into_iter().all(|(cell, values)| cell.is_none_or(|cell| self.narrow(cell, values)))
            }
            _ => {
                let values = self.eval(e);
                let op = if truth { BinaryOp::NotEqual } else { BinaryOp::Equal };
                let values = values.restricted(op, &Values::one(0));
                match self.cell(e) {
                    Some(cell) => self.narrow(cell, values),
                    None => !values.is_empty(),
                }
            }
        }
    }

    /// Takes into account that `event` is enabled. `false` if it cannot be.
    pub fn enter(&mut self, event: &Event) -> bool {
        for m in &event.moves {
            let control = self.cells.control(self.system, m.process);
            if !self.get(control).contains(m.from as i64) {
                return false;
            }
            self.set(control, Values::one(m.from as i64));
        }
        // What the end of a condition says can sharpen its beginning.
        self.assume(&event.guard, true) && self.assume(&event.guard, true)
    }

    /// What is known after `event`, if this is what is known when it is enabled; `None` if it cannot end well.
    pub fn after(&self, event: &Event) -> Option<Knowledge<'a>> {
        let mut after = self.clone();
        for m in &event.moves {
            after.set(self.cells.control(self.system, m.process), Values::one(m.to as i64));
        }
        event.effects.iter().all(|a| after.store(self, a)).then_some(after)
    }

    /// Takes into account that an assignment was run, `source` being what is known of the state that the event leaves.
    /// `false` if it always ends in a fault.
    pub fn store(&mut self, source: &Knowledge<'a>, a: &Assign) -> bool {
        let variable = &self.system.variables[a.target.index()];
        let index = a.index.as_ref().map_or(Values::one(0), |index| self.eval(index));
        let index = index.meet(&Values::between(0, variable.cells() as i64 - 1));
        let value = match a.moment {
            Moment::Source => source.eval(&a.value),
            Moment::Current => self.eval(&a.value),
        };
        let value = value.stored(variable.domain);
        if index.is_empty() || value.is_empty() {
            return false;
        }
        let first = self.cells.first(a.target);
        for i in index.iter() {
            let cell = first + i as u32;
            let values = if index.only().is_some() { value.clone() } else { self.get(cell).join(&value) };
            self.set(cell, values);
        }
        true
    }
}

/// The comparison that is true when `op` is false; none if `op` is not a comparison.
pub(crate) fn negation(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        _ => return None,
    })
}

/// The comparison with its sides exchanged.
pub(crate) fn mirror(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        op => op,
    }
}

/// The cells that an event could write, controls that stay where they are left out.
pub fn writes(system: &System, cells: &Cells, event: &Event) -> Vec<u32> {
    let mut written = Vec::new();
    let moved = event.moves.iter().filter(|m| m.from != m.to || event.moves.len() > 1);
    written.extend(moved.map(|m| cells.control(system, m.process)));
    for a in &event.effects {
        match a.index.as_ref().map_or(Some(0), Expr::as_const) {
            Some(index) => written.extend(cells.at(system, a.target, index)),
            None => written
                .extend((0..system.variables[a.target.index()].cells()).map(|i| cells.first(a.target) + i as u32)),
        }
    }
    written.sort_unstable();
    written.dedup();
    written
}

/// The cells that an event's outcome could depend on.
fn reads(system: &System, cells: &Cells, event: &Event) -> Vec<u32> {
    let mut read: Vec<u32> = event.moves.iter().map(|m| cells.control(system, m.process)).collect();
    let mut visit = |variable: VarId, index: Option<i64>| match index {
        Some(index) => read.extend(cells.at(system, variable, index)),
        None => read.extend((0..system.variables[variable.index()].cells()).map(|i| cells.first(variable) + i as u32)),
    };
    event.guard.reads(&mut visit);
    for a in &event.effects {
        a.value.reads(&mut visit);
        a.index.iter().for_each(|index| index.reads(&mut visit));
    }
    read
}

/// For each cell the values that it can have in reachable states, and perhaps more.
pub fn bounds(system: &System, cells: &Cells) -> Vec<Values> {
    let mut base = vec![Values::NONE; cells.count()];
    for valuation in &system.initial {
        base.iter_mut().zip(valuation).for_each(|(set, value)| *set = set.join(&Values::one(*value)));
    }
    let mut readers = vec![Vec::new(); cells.count()];
    for (number, event) in system.events.iter().enumerate() {
        reads(system, cells, event).into_iter().for_each(|cell| readers[cell as usize].push(number));
    }
    let mut growth = vec![0u32; cells.count()];
    let mut effort = EFFORT;
    let mut due = vec![true; system.events.len()];
    while due.contains(&true) {
        for (number, event) in system.events.iter().enumerate() {
            if !std::mem::take(&mut due[number]) {
                continue;
            }
            effort = effort.saturating_sub(event.size());
            let mut source = Knowledge::new(system, cells, &base);
            let Some(after) = source.enter(event).then(|| source.after(event)).flatten() else { continue };
            let changed: Vec<(u32, Values)> = after.changed().map(|(cell, values)| (cell, values.clone())).collect();
            for (cell, values) in changed {
                let at = cell as usize;
                let mut joined = base[at].join(&values);
                if joined != base[at] {
                    growth[at] += 1;
                    if growth[at] > PATIENCE || effort == 0 {
                        joined = Values::of(system.variables[cells.variable(cell).index()].domain);
                    }
                    base[at] = joined;
                    readers[at].iter().for_each(|event| due[*event] = true);
                }
            }
        }
    }
    base
}
