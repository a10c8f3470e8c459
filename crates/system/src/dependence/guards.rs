//! The conjuncts of guards, each with a number of its own however many events share it, ready to be evaluated.

use crate::bounds::{Cells, Knowledge, mirror, negation};
use crate::dependence::faults::{cells_read, faults};
use crate::event::Event;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::layout::Layout;
use crate::values::Values;
use std::collections::HashMap;

/// The number of one conjunct.
pub type Guard = u32;

/// What a conjunct says.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// A cell compares so with a number.
    Cell { cell: u32, op: BinaryOp, constant: i64 },
    /// Any other condition, the cells that it reads, and whether it can be a fault.
    Whole { condition: Expr, cells: Vec<u32>, faulty: bool },
    /// No other event is enabled.
    Late,
}

/// How a conjunct is evaluated on the bytes of a state.
#[derive(Debug, Clone)]
enum Test {
    /// These bits as a number, less `low`, are at most `span`; or not, if `inverted`.
    Within {
        offset: u32,
        shift: u8,
        spare: u8,
        signed: bool,
        low: i64,
        span: u64,
        inverted: bool,
    },
    /// The interpreter finds out; `fault` is what a fault counts as.
    Whole {
        condition: Expr,
        fault: bool,
    },
    Always(bool),
}

/// All conjuncts.
#[derive(Debug, Clone, Default)]
pub(super) struct Guards {
    shapes: Vec<Shape>,
    tests: Vec<Test>,
    cells: HashMap<(u32, BinaryOp, i64), Guard>,
    wholes: HashMap<String, Guard>,
    late: Option<Guard>,
}

/// The conjuncts of one event, those that can be a fault last and together: what comes behind a fault does not matter.
pub(super) struct Conjuncts {
    pub parts: Vec<Expr>,
    /// The last part can be a fault.
    pub faulty: bool,
    /// Could the event be enabled at all?
    pub possible: bool,
}

/// Splits the guard of an event and lets `known` take into account that it holds.
pub(super) fn conjuncts(event: &Event, known: &mut Knowledge<'_>) -> Conjuncts {
    let mut possible = true;
    for m in &event.moves {
        let control = known.cells.control(known.system, m.process);
        possible &= known.get(control).contains(m.from as i64);
        known.set(control, Values::one(m.from as i64));
    }
    let mut open = vec![(&event.guard, true)];
    let mut parts: Vec<Expr> = Vec::new();
    while let Some((e, truth)) = open.pop() {
        match e {
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if (*op == BinaryOp::And) == truth => {
                open.push((b, truth));
                open.push((a, truth));
            }
            Expr::Unary(UnaryOp::Not, a) => open.push((a, !truth)),
            Expr::Const(value) if (*value != 0) == truth => {}
            e => parts.push(if truth { e.clone() } else { Expr::not(e.clone()) }),
        }
    }
    let mut sure = parts.len();
    for (at, part) in parts.iter().enumerate() {
        if faults(part, known) {
            sure = at;
            break;
        }
        possible = possible && known.assume(part, true);
    }
    // What the end of a condition says can sharpen its beginning.
    possible = possible && parts[..sure].iter().all(|part| known.assume(part, true));
    let faulty = sure < parts.len();
    if faulty {
        let rest = parts.split_off(sure);
        parts.push(Expr::joined(BinaryOp::And, rest, Expr::TRUE));
    }
    Conjuncts { parts, faulty, possible }
}

/// A comparison of one cell with a number, if the condition is nothing but that.
fn simple(e: &Expr, known: &Knowledge<'_>) -> Option<(u32, BinaryOp, i64)> {
    let cell = |e: &Expr| match e {
        Expr::Var(v) => Some(known.cells.first(*v)),
        Expr::Element(v, index) => known.cells.at(known.system, *v, index.as_const()?),
        _ => None,
    };
    match e {
        Expr::Unary(UnaryOp::Not, a) => {
            let (cell, op, constant) = simple(a, known)?;
            Some((cell, negation(op)?, constant))
        }
        Expr::Binary(op, a, b) if negation(*op).is_some() => match (cell(a), b.as_const(), a.as_const(), cell(b)) {
            (Some(cell), Some(constant), _, _) => Some((cell, *op, constant)),
            (_, _, Some(constant), Some(cell)) => Some((cell, mirror(*op), constant)),
            _ => None,
        },
        e => Some((cell(e)?, BinaryOp::NotEqual, 0)),
    }
}

impl Guards {
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    pub fn shape(&self, guard: Guard) -> &Shape {
        &self.shapes[guard as usize]
    }

    /// The number of "no other event is enabled".
    pub fn late(&mut self) -> Guard {
        if let Some(guard) = self.late {
            return guard;
        }
        let guard = self.push(Shape::Late, Test::Always(false));
        *self.late.insert(guard)
    }

    /// The number of a comparison.
    pub fn cell(&mut self, known: &Knowledge<'_>, layout: &Layout, cell: u32, op: BinaryOp, constant: i64) -> Guard {
        if let Some(&guard) = self.cells.get(&(cell, op, constant)) {
            return guard;
        }
        let test = compared(known.cells, layout, cell, op, constant);
        let guard = self.push(Shape::Cell { cell, op, constant }, test);
        self.cells.insert((cell, op, constant), guard);
        guard
    }

    /// The number of a condition; `fault` is what a fault counts as.
    pub fn intern(&mut self, known: &Knowledge<'_>, layout: &Layout, e: &Expr, faulty: bool, fault: bool) -> Guard {
        if let Some((cell, op, constant)) = simple(e, known) {
            return self.cell(known, layout, cell, op, constant);
        }
        let key = format!("{faulty} {fault} {e:?}");
        if let Some(&guard) = self.wholes.get(&key) {
            return guard;
        }
        let mut cells = Vec::new();
        cells_read(e, known, &mut |cell| cells.push(cell));
        cells.sort_unstable();
        cells.dedup();
        let test = match e.as_const() {
            Some(value) => Test::Always(value != 0),
            None => Test::Whole { condition: e.clone(), fault },
        };
        let guard = self.push(Shape::Whole { condition: e.clone(), cells, faulty }, test);
        self.wholes.insert(key, guard);
        guard
    }

    fn push(&mut self, shape: Shape, test: Test) -> Guard {
        self.shapes.push(shape);
        self.tests.push(test);
        self.shapes.len() as Guard - 1
    }

    /// The cells that a conjunct reads.
    pub fn cells_of(&self, guard: Guard) -> &[u32] {
        match self.shape(guard) {
            Shape::Cell { cell, .. } => std::slice::from_ref(cell),
            Shape::Whole { cells, .. } => cells,
            Shape::Late => &[],
        }
    }

    #[inline]
    pub fn holds(&self, guard: Guard, layout: &Layout, state: &[u8]) -> bool {
        match &self.tests[guard as usize] {
            Test::Within { offset, shift, spare, signed, low, span, inverted } => {
                let at = *offset as usize;
                let bits = match state.get(at..at + 8) {
                    Some(bytes) => u64::from_le_bytes(bytes.try_into().unwrap_or_default()),
                    None => {
                        let mut bytes = [0; 8];
                        let rest = state.get(at..).unwrap_or_default();
                        bytes[..rest.len()].copy_from_slice(rest);
                        u64::from_le_bytes(bytes)
                    }
                };
                // Bits above and below the number are shifted out.
                let top = bits << (spare - shift);
                let value = if *signed { (top as i64) >> spare } else { (top >> spare) as i64 };
                (value.wrapping_sub(*low) as u64 <= *span) != *inverted
            }
            Test::Whole { condition, fault } => layout.holds(condition, state).unwrap_or(*fault),
            Test::Always(truth) => *truth,
        }
    }

    pub fn bytes(&self) -> usize {
        let wholes: usize = self.wholes.keys().map(|key| 4 * key.len()).sum();
        self.shapes.capacity() * (size_of::<Shape>() + size_of::<Test>()) + self.cells.capacity() * 32 + wholes
    }
}

/// How a comparison of a cell is evaluated.
fn compared(cells: &Cells, layout: &Layout, cell: u32, op: BinaryOp, constant: i64) -> Test {
    let variable = cells.variable(cell);
    let slot = layout.slot(variable);
    let (low, high, inverted) = match op {
        BinaryOp::Equal => (constant, constant, false),
        BinaryOp::NotEqual => (constant, constant, true),
        BinaryOp::LessEqual => (i64::MIN, constant, false),
        BinaryOp::Greater => (i64::MIN, constant, true),
        BinaryOp::GreaterEqual => (constant, i64::MAX, false),
        _ => (constant, i64::MAX, true),
    };
    if slot.width == 0 {
        // A variable without room has only one value.
        let value = layout.read(&[], variable, 0).unwrap_or(0);
        return Test::Always((low..=high).contains(&value) != inverted);
    }
    let bits = slot.field.map_or(8 * slot.width as u32, |field| field.mask.count_ones());
    let shift = slot.field.map_or(0, |field| field.shift);
    let offset = (slot.offset + slot.width * cells.index(cell) as usize) as u32;
    let span = high.wrapping_sub(low) as u64;
    Test::Within { offset, shift: shift as u8, spare: (64 - bits) as u8, signed: slot.signed, low, span, inverted }
}

/// The members of `values` for which a comparison holds.
pub(super) fn those(values: &Values, op: BinaryOp, constant: i64) -> Values {
    values.restricted(op, &Values::one(constant))
}

/// Those for which it does not.
pub(super) fn others(values: &Values, op: BinaryOp, constant: i64) -> Values {
    negation(op).map_or_else(|| values.clone(), |op| those(values, op, constant))
}
