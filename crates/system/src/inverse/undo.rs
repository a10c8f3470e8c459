//! One event backwards.

use super::FAN_OUT;
use super::solve::{Equation, solve};
use super::symbolic::{Overlay, equal, wrapped, wraps};
use crate::bounds::{Cells, Knowledge};
use crate::event::{Assign, Event, Moment, Move};
use crate::expr::{BinaryOp, Expr};
use crate::invariants::Invariants;
use crate::system::{Domain, Overflow, System};
use crate::values::Values;

/// Operators and operands in a value that an effect stores, as an expression over the state before.
const LARGEST_VALUE: usize = 5_000;

/// Operators and operands in the guard of an inverse event.
const LARGEST_GUARD: usize = 20_000;

/// Windows that the guard of an inverse event asks.
const WINDOWS: usize = 6;

/// Values tried for one event, those that turn out impossible included.
const ATTEMPTS: usize = 8 * FAN_OUT;

pub struct Undo<'a> {
    pub(super) system: &'a System,
    pub(super) cells: &'a Cells,
    pub(super) invariants: &'a Invariants,
    /// What holds in all states, reachable or not.
    widest: Knowledge<'a>,
    event: &'a Event,
    /// The guard's conjuncts.
    conditions: Vec<&'a Expr>,
    attempts: usize,
    /// What may still be spent on finding out which invariants need not be tested.
    pub(super) work: &'a mut usize,
    out: Vec<Event>,
}

/// The event as run so far. All expressions are over the state before it.
#[derive(Clone, Default)]
struct Run {
    current: Overlay,
    /// The value last assigned to each cell, before it was cut to the cell's width.
    assigned: Overlay,
    /// What must be true for the run to have come this far.
    required: Vec<Expr>,
}

/// What is known of the state before. `known` is over the state after.
#[derive(Clone)]
pub(super) struct Before<'a> {
    pub(super) known: Overlay,
    unknown: Vec<u32>,
    view: Knowledge<'a>,
    /// Cells whose new value is the right one by the way in which an old one was found.
    settled: Vec<u32>,
}

impl<'a> Undo<'a> {
    pub fn new(
        system: &'a System,
        invariants: &'a Invariants,
        widest: &'a [Values],
        event: &'a Event,
        work: &'a mut usize,
    ) -> Undo<'a> {
        let cells = &invariants.cells;
        let widest = Knowledge::new(system, cells, widest);
        let mut conditions = Vec::new();
        split(&event.guard, &mut conditions);
        Undo { system, cells, invariants, widest, event, conditions, attempts: 0, work, out: Vec::new() }
    }

    /// The inverse events.
    pub fn run(mut self) -> Result<Vec<Event>, String> {
        let Some(view) = self.invariants.enter(self.system, self.event) else { return Ok(Vec::new()) };
        if view.after(self.event).is_none() {
            return Ok(Vec::new());
        }
        let mut run = Run::default();
        run.required.extend(self.event.assertion.as_ref().and_then(|e| self.no_fault(e)));
        let mut known = Overlay::default();
        for m in &self.event.moves {
            let control = self.cells.control(self.system, m.process);
            run.current.set(control, Expr::Const(m.to as i64));
            known.set(control, Expr::Const(m.from as i64));
        }
        let before = Before { known, unknown: Vec::new(), view, settled: Vec::new() };
        self.assign(0, run, before)?;
        Ok(self.out)
    }

    fn domain(&self, cell: u32) -> Domain {
        self.system.variables[self.cells.variable(cell).index()].domain
    }

    pub(super) fn read(&self, cell: u32) -> Expr {
        self.cells.read(self.system, cell)
    }

    fn apply(&self, overlay: &Overlay, e: &Expr) -> Expr {
        overlay.apply(self.system, self.cells, e)
    }

    fn attempt(&mut self) -> Result<(), String> {
        self.attempts += 1;
        if self.attempts > ATTEMPTS {
            return Err(format!("more than {ATTEMPTS} combinations of values can have been overwritten"));
        }
        Ok(())
    }

    /// Runs the effects from number `at` on, once for each element that an index can mean.
    fn assign(&mut self, at: usize, run: Run, before: Before<'a>) -> Result<(), String> {
        let Some(a) = self.event.effects.get(at) else {
            let mut before = before;
            before.unknown = run.assigned.iter().map(|(cell, _)| cell).collect();
            before.unknown.retain(|cell| before.known.get(*cell).is_none());
            return self.find(&run, before);
        };
        let index = a.index.as_ref().map_or(Expr::Const(0), |index| self.apply(&run.current, index));
        for place in before.view.eval(&index).iter() {
            let Some(cell) = self.cells.at(self.system, a.target, place) else { continue };
            let (mut run, mut before) = (run.clone(), before.clone());
            if index.as_const().is_none() {
                self.attempt()?;
                let here = equal(self.system, index.clone(), Expr::Const(place));
                if !before.view.assume(&here, true) {
                    continue;
                }
                run.required.push(here);
            }
            self.store(&mut run, a, cell)?;
            self.assign(at + 1, run, before)?;
        }
        Ok(())
    }

    fn store(&self, run: &mut Run, a: &Assign, cell: u32) -> Result<(), String> {
        let value = match a.moment {
            Moment::Source => a.value.clone(),
            Moment::Current => self.apply(&run.current, &a.value),
        };
        if value.size() > LARGEST_VALUE {
            return Err("its effects depend on each other in too many ways".into());
        }
        let domain = self.domain(cell);
        if let Some(lost) = run.assigned.get(cell) {
            // A value that is overwritten is not seen in the end, but it must have been one.
            run.required.extend(self.no_fault(lost));
            if domain.overflow == Overflow::Error {
                run.required.extend(self.inside(lost, (domain.low, domain.high)));
            }
        }
        let fits = !wraps(domain) || self.widest.eval(&value).within(domain);
        run.current.set(cell, if fits { value.clone() } else { wrapped(domain, value.clone()) });
        run.assigned.set(cell, value);
        Ok(())
    }

    /// "The value is no fault", as far as that is not certain.
    fn no_fault(&self, e: &Expr) -> Option<Expr> {
        e.may_fault(&self.system.variables).then(|| Expr::binary(BinaryOp::BitOr, e.clone(), Expr::Const(1)))
    }

    /// "The value lies between these", as far as that is not certain.
    fn inside(&self, e: &Expr, (low, high): (i64, i64)) -> Vec<Expr> {
        let (least, most) = self.widest.eval(e).hull();
        let mut tests = Vec::new();
        if least < low {
            tests.push(Expr::binary(BinaryOp::GreaterEqual, e.clone(), Expr::Const(low)));
        }
        if most > high {
            tests.push(Expr::binary(BinaryOp::LessEqual, e.clone(), Expr::Const(high)));
        }
        tests
    }

    /// Finds out what the overwritten cells held: by solving, or one value after the other.
    fn find(&mut self, run: &Run, mut before: Before<'a>) -> Result<(), String> {
        while let Some((cell, value, settled)) = self.next(run, &before) {
            before.unknown.retain(|c| *c != cell);
            if let Expr::Const(value) = value {
                before.view.set(cell, Values::one(value));
            }
            before.known.set(cell, value);
            before.settled.extend(settled);
        }
        let Some(cell) = before.unknown.iter().copied().min_by_key(|cell| before.view.get(*cell).count()) else {
            return self.emit(run, &before);
        };
        let values = before.view.get(cell).clone();
        if values.count() > FAN_OUT as u64 {
            let variable = self.system.full_name(self.cells.variable(cell));
            return Err(format!("{variable} can have held any of {} values before", values.count()));
        }
        for value in values.iter() {
            self.attempt()?;
            let mut before = before.clone();
            before.unknown.retain(|c| *c != cell);
            before.known.set(cell, Expr::Const(value));
            before.view.set(cell, Values::one(value));
            if before.view.assume(&self.event.guard, true) && self.allowed(cell, &before) {
                self.find(run, before)?;
            }
        }
        Ok(())
    }

    /// The next cell whose old value follows from what is known; with it, a cell whose new value is then right.
    fn next(&self, run: &Run, before: &Before) -> Option<(u32, Expr, Option<u32>)> {
        for cell in &before.unknown {
            if let Some(value) = before.view.get(*cell).only() {
                return Some((*cell, Expr::Const(value), None));
            }
        }
        let unknown = |e: &Expr| self.reads_any(e, &before.unknown);
        let translate = |e: &Expr| self.apply(&before.known, e);
        let solved = |left: &Expr, right: Expr, bits: u32| {
            if !unknown(left) {
                return None;
            }
            let equation = Equation { left: left.clone(), right, bits };
            let (cell, value, bits) = solve(equation, &unknown, &translate, &self.widest)?;
            let domain = self.domain(cell);
            let fits = bits == 64 && (!wraps(domain) || self.widest.eval(&value).within(domain));
            let enough = bits >= 8 * domain.width() as u32;
            (enough && before.unknown.contains(&cell))
                .then(|| (cell, if fits { value } else { wrapped(domain, value) }, bits, fits))
        };
        for condition in &self.conditions {
            let Expr::Binary(BinaryOp::Equal, a, b) = condition else { continue };
            for (a, b) in [(a, b), (b, a)] {
                if !unknown(b)
                    && let Some((cell, value, ..)) = solved(a, translate(b), 64)
                {
                    return Some((cell, value, None));
                }
            }
        }
        for (target, assigned) in run.assigned.iter() {
            let domain = self.domain(target);
            let exact = !wraps(domain) || before.view.eval(assigned).within(domain);
            let bits = if exact { 64 } else { 8 * domain.width() as u32 };
            if let Some((cell, value, bits, fits)) = solved(assigned, self.read(target), bits) {
                let from = self.domain(cell);
                let alike = wraps(domain) && wraps(from) && from.width() == domain.width();
                let settled = fits || alike && bits >= 8 * domain.width() as u32;
                return Some((cell, value, settled.then_some(target)));
            }
        }
        let mut looked_up = run.assigned.iter().filter_map(|(target, assigned)| {
            let cell = before.unknown.iter().copied().find(|cell| self.reads_only(assigned, &[*cell]))?;
            Some((cell, self.looked_up(cell, before.view.get(cell), target, assigned)?, None))
        });
        looked_up.next()
    }

    /// The old value of `cell` by the new value of `target`, where that depends on it alone and tells all its values
    /// apart. A new value that none of them leads to may find any.
    fn looked_up(&self, cell: u32, values: &Values, target: u32, assigned: &Expr) -> Option<Expr> {
        if values.count() > 256 || !self.reads_any(assigned, &[cell]) {
            return None;
        }
        let new = |old: i64| assigned.eval(&|_, _| Ok(old)).map(|value| self.domain(target).wrap(value));
        let pairs: Vec<(i64, i64)> = values.iter().filter_map(|old| Some((new(old).ok()?, old))).collect();
        let (low, high) = (pairs.iter().map(|p| p.0).min()?, pairs.iter().map(|p| p.0).max()?);
        let mut table = vec![None; usize::try_from(high.checked_sub(low)?).ok().filter(|size| *size < 1024)? + 1];
        for (new, old) in &pairs {
            if table[(new - low) as usize].replace(*old).is_some() {
                return None;
            }
        }
        let table: Vec<i64> = table.into_iter().map(|old| old.unwrap_or(pairs[0].1)).collect();
        let place = Expr::binary(BinaryOp::Subtract, self.read(target), Expr::Const(low));
        Some(Expr::Table(table.into(), Box::new(place)))
    }

    fn emit(&mut self, run: &Run, before: &Before) -> Result<(), String> {
        let mut tests: Vec<Expr> = Vec::new();
        for (cell, _) in run.assigned.iter().filter(|(cell, _)| !before.settled.contains(cell)) {
            let value = run.current.get(cell).map(|value| self.apply(&before.known, value));
            tests.extend(value.map(|value| equal(self.system, self.read(cell), value)));
        }
        for condition in self.conditions.iter().copied().chain(&run.required) {
            let condition = self.apply(&before.known, condition);
            let mut parts = Vec::new();
            split(&condition, &mut parts);
            tests.extend(parts.into_iter().map(|part| simpler(self.system, part)));
        }
        for (cell, value) in before.known.iter() {
            if *value != self.read(cell) {
                tests.extend(self.inside(value, self.invariants.base[cell as usize].hull()));
            }
        }
        if tests.iter().any(|test| test.as_const() == Some(0)) {
            return Ok(());
        }
        let mut moves: Vec<Move> = Vec::new();
        for m in self.event.moves.iter().rev() {
            let control = self.cells.control(self.system, m.process);
            let to = Expr::Const(m.to as i64);
            if run.assigned.get(control).is_some() || moves.iter().any(|other| other.process == m.process) {
                continue;
            }
            moves.push(Move { process: m.process, from: m.to, to: m.from });
            tests.push(equal(self.system, self.read(control), to));
        }
        moves.reverse();
        let mut asked: Vec<(f64, Expr)> = Vec::new();
        for window in &self.invariants.windows {
            let Some(refuses) = self.refuses(window, before, &tests) else { return Ok(()) };
            let old = |cell: u32| before.known.get(cell).cloned().unwrap_or_else(|| self.read(cell));
            if refuses > 0.0 {
                asked.extend(window.condition(&self.invariants.base, &old).map(|condition| (refuses, condition)));
            }
        }
        // Those that refuse most say most of what all would say together.
        asked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        asked.truncate(WINDOWS);
        let there = |test: &Expr| moves.iter().any(|m| *test == self.system.at(m.process, m.from));
        tests.retain(|test| test.as_const().is_none() && !there(test));
        tests.sort_by_key(Expr::size);
        tests.dedup();
        tests.extend(asked.into_iter().map(|(_, condition)| condition));
        if tests.iter().map(Expr::size).sum::<usize>() > LARGEST_GUARD {
            return Err("the conditions on the state before it are too large".into());
        }
        let effects = before
            .known
            .iter()
            .filter(|(cell, value)| **value != self.read(*cell) && run.assigned.get(*cell).is_some());
        let effects = effects.map(|(cell, value)| {
            let target = self.cells.variable(cell);
            let array = self.system.variables[target.index()].length.is_some();
            let index = array.then(|| Expr::Const(self.cells.index(cell) as i64));
            Assign { target, index, value: value.clone(), moment: Moment::Source }
        });
        self.out.push(Event {
            label: self.event.label.clone(),
            moves,
            effects: effects.collect(),
            guard: tests.into_iter().rev().fold(Expr::TRUE, |rest, test| Expr::and(test, rest)),
            span: self.event.span,
            ..Event::default()
        });
        if self.out.len() > FAN_OUT {
            return Err(format!("more than {FAN_OUT} combinations of values can have been overwritten"));
        }
        Ok(())
    }
}

/// The operands of a conjunction, whatever its nesting.
fn split<'e>(e: &'e Expr, into: &mut Vec<&'e Expr>) {
    match e {
        Expr::Binary(BinaryOp::And, a, b) => {
            split(a, into);
            split(b, into);
        }
        _ => into.push(e),
    }
}

/// A condition with the constant on the right, where machine code wants it, and decided if both sides are the same.
fn simpler(system: &System, e: &Expr) -> Expr {
    match e {
        Expr::Binary(BinaryOp::Equal, a, b) if a.as_const().is_some() => equal(system, (**b).clone(), (**a).clone()),
        Expr::Binary(BinaryOp::Equal, a, b) => equal(system, (**a).clone(), (**b).clone()),
        _ => e.clone(),
    }
}
