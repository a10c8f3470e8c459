//! Which events can make a condition true, make it false, or change a value.

use crate::bounds::Knowledge;
use crate::dependence::access::{Access, Change};
use crate::dependence::faults::{cells_read, faults};
use crate::dependence::guards::{Guard, Shape, others, those};
use crate::dependence::independence::Pairs;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::values::Values;

impl<'a> Pairs<'a> {
    /// What is known of some cells where an event is enabled.
    fn before(&self, edge: &Access, cells: &[u32]) -> Knowledge<'a> {
        let mut known = Knowledge::new(self.system, self.cells, self.base);
        cells.iter().for_each(|&cell| known.set(cell, edge.source(self.base, cell).clone()));
        known
    }

    /// And what is known of them afterwards, if that was known before.
    fn after(&self, edge: &Access, before: &Knowledge<'a>, cells: &[u32]) -> Knowledge<'a> {
        let mut known = Knowledge::new(self.system, self.cells, self.base);
        for &cell in cells {
            let held = before.get(cell).clone();
            let values = match edge.write(cell).map(|write| write.change) {
                Some(Change::Add(k)) => self.increased(cell, &held, k),
                _ => edge.after(cell, held),
            };
            known.set(cell, values);
        }
        known
    }

    fn increased(&self, cell: u32, values: &Values, by: i64) -> Values {
        let domain = self.system.variables[self.cells.variable(cell).index()].domain;
        Values::binary(BinaryOp::Add, values, &Values::one(by)).stored(domain)
    }

    /// Could an event, where it is enabled and this does not hold, make it hold? `unknown` if it may also have been a
    /// fault that does not count as holding.
    pub fn may_enable(&self, event: usize, guard: Guard, unknown: bool) -> bool {
        let edge = &self.edges[event];
        if !edge.possible {
            return false;
        }
        match self.guards.shape(guard) {
            Shape::Cell { cell, op, constant } => {
                let Some(write) = edge.write(*cell) else { return false };
                let before = others(edge.source(self.base, *cell), *op, *constant);
                let after = match write.change {
                    Change::Add(k) => self.increased(*cell, &before, k),
                    _ => write.after.clone(),
                };
                !before.is_empty() && !those(&after, *op, *constant).is_empty()
            }
            Shape::Whole { condition, cells, .. } => {
                if !cells.iter().any(|cell| edge.write(*cell).is_some()) {
                    return false;
                }
                let mut before = self.before(edge, cells);
                if !unknown && !before.assume(condition, false) {
                    return false;
                }
                let mut after = self.after(edge, &before, cells);
                faults(condition, &after) || after.assume(condition, true)
            }
            Shape::Late => true,
        }
    }

    /// Could an event, where it is enabled and this holds, make it not hold?
    pub fn may_falsify(&self, event: usize, guard: Guard) -> bool {
        let edge = &self.edges[event];
        if !edge.possible {
            return false;
        }
        match self.guards.shape(guard) {
            Shape::Cell { cell, op, constant } => {
                let Some(write) = edge.write(*cell) else { return false };
                let before = those(edge.source(self.base, *cell), *op, *constant);
                let after = match write.change {
                    Change::Add(k) => self.increased(*cell, &before, k),
                    _ => write.after.clone(),
                };
                !before.is_empty() && !others(&after, *op, *constant).is_empty()
            }
            Shape::Whole { condition, cells, faulty } => {
                if !cells.iter().any(|cell| edge.write(*cell).is_some()) {
                    return false;
                }
                let mut before = self.before(edge, cells);
                if !faulty && !before.assume(condition, true) {
                    return false;
                }
                let mut after = self.after(edge, &before, cells);
                *faulty || faults(condition, &after) || after.assume(condition, false)
            }
            Shape::Late => true,
        }
    }

    /// Could an event change the value of an expression?
    pub fn may_change(&self, event: usize, e: &Expr) -> bool {
        let edge = &self.edges[event];
        if !edge.possible || edge.writes.is_empty() {
            return false;
        }
        let mut cells = Vec::new();
        cells_read(e, &Knowledge::new(self.system, self.cells, self.base), &mut |cell| cells.push(cell));
        if !cells.iter().any(|cell| edge.write(*cell).is_some()) {
            return false;
        }
        cells.sort_unstable();
        cells.dedup();
        let before = self.before(edge, &cells);
        let after = self.after(edge, &before, &cells);
        let fixed = |known: &Knowledge<'_>| if faults(e, known) { None } else { known.eval(e).only() };
        if fixed(&before).is_some_and(|value| fixed(&after) == Some(value)) {
            return false;
        }
        match e {
            Expr::Unary(UnaryOp::Not | UnaryOp::Negate | UnaryOp::Complement, a) | Expr::Table(_, a) => {
                self.may_change(event, a)
            }
            Expr::Binary(_, a, b) => self.may_change(event, a) || self.may_change(event, b),
            Expr::If(a, b, c) => [a, b, c].into_iter().any(|e| self.may_change(event, e)),
            Expr::Const(_) | Expr::Var(_) | Expr::Element(..) => true,
        }
    }
}
