//! What invariants say of a state before an event.

use super::undo::{Before, Undo};
use crate::expr::Expr;
use crate::projection::Projection;

impl Undo<'_> {
    /// Could reading `e` read one of these cells?
    pub(super) fn reads_any(&self, e: &Expr, of: &[u32]) -> bool {
        let mut found = false;
        e.reads(&mut |variable, index| {
            let first = self.cells.first(variable);
            let length = self.system.variables[variable.index()].cells() as u32;
            found |= match index {
                Some(index) => self.cells.at(self.system, variable, index).is_some_and(|cell| of.contains(&cell)),
                None => of.iter().any(|cell| (first..first + length).contains(cell)),
            };
        });
        found
    }

    /// Does reading `e` read no cell but these?
    pub(super) fn reads_only(&self, e: &Expr, of: &[u32]) -> bool {
        let mut only = true;
        e.reads(&mut |variable, index| {
            let first = self.cells.first(variable);
            let length = self.system.variables[variable.index()].cells() as u32;
            only &= match index {
                Some(index) => self.cells.at(self.system, variable, index).is_none_or(|cell| of.contains(&cell)),
                None => (first..first + length).all(|cell| of.contains(&cell)),
            };
        });
        only
    }

    /// Could a reachable state have the values that are known by number, as far as they are seen along with `cell`?
    pub(super) fn allowed(&self, cell: u32, before: &Before) -> bool {
        let known = |cell: u32| before.known.get(cell).and_then(Expr::as_const);
        let mut showing = self.invariants.windows.iter().filter(|window| window.cells.contains(&cell));
        showing.all(|window| window.allows(&known))
    }

    /// How often, about, does a window not show the state before, from 0 to 1? `None` if it never does when the tests
    /// hold.
    pub(super) fn refuses(&mut self, window: &Projection, before: &Before, tests: &[Expr]) -> Option<f64> {
        if !window.cells.iter().any(|cell| before.known.get(*cell).is_some()) {
            return Some(0.0);
        }
        let affordable = *self.work >= window.tuples.len();
        *self.work -= if affordable { window.tuples.len() } else { 0 };
        let local = |e: &Expr| self.reads_only(e, &window.cells);
        let values: Vec<Expr> = window
            .cells
            .iter()
            .map(|cell| before.known.get(*cell).cloned().unwrap_or_else(|| self.read(*cell)))
            .collect();
        if !values.iter().all(local) || !affordable {
            let size: f64 = window.cells.iter().map(|c| self.invariants.base[*c as usize].count() as f64).product();
            return Some((1.0 - window.tuples.len() as f64 / size).max(0.01));
        }
        let tests: Vec<&Expr> = tests.iter().filter(|test| local(test)).collect();
        let (mut inside, mut outside) = (0, 0);
        for tuple in &window.tuples {
            let read = |variable, index| {
                let cell = self.cells.at(self.system, variable, index).ok_or(crate::Fault::Index)?;
                Ok(window.cells.iter().position(|c| *c == cell).map_or(0, |at| tuple[at]))
            };
            if tests.iter().all(|test| test.eval(&read).is_ok_and(|value| value != 0)) {
                let old: Result<Box<[i64]>, _> = values.iter().map(|e| e.eval(&read)).collect();
                match old.is_ok_and(|old| window.tuples.contains(&old)) {
                    true => inside += 1,
                    false => outside += 1,
                }
            }
        }
        (inside > 0).then(|| outside as f64 / (inside + outside) as f64)
    }
}
