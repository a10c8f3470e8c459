//! Expressions over another state: some cells have become expressions, the rest is read where it stood.

use crate::bounds::Cells;
use crate::expr::{BinaryOp, Expr};
use crate::system::{Domain, Overflow, System};

/// What some cells have become, by cell, in the order in which they were first written.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    entries: Vec<(u32, Expr)>,
}

impl Overlay {
    pub fn get(&self, cell: u32) -> Option<&Expr> {
        self.entries.iter().find(|(c, _)| *c == cell).map(|(_, e)| e)
    }

    pub fn set(&mut self, cell: u32, value: Expr) {
        match self.entries.iter_mut().find(|(c, _)| *c == cell) {
            Some((_, old)) => *old = value,
            None => self.entries.push((cell, value)),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &Expr)> {
        self.entries.iter().map(|(cell, e)| (*cell, e))
    }

    /// `e` with every read of a cell replaced by what the cell has become.
    pub fn apply(&self, system: &System, cells: &Cells, e: &Expr) -> Expr {
        let through = |e: &Expr| self.apply(system, cells, e);
        match e {
            Expr::Const(_) => e.clone(),
            Expr::Var(v) => self.get(cells.first(*v)).unwrap_or(e).clone(),
            Expr::Element(v, index) => {
                let index = through(index);
                let length = system.variables[v.index()].cells() as u32;
                let first = cells.first(*v);
                if let Some(known) = index.as_const() {
                    let Some(cell) = cells.at(system, *v, known) else { return fault() };
                    return self.get(cell).cloned().unwrap_or_else(|| Expr::Element(*v, Box::new(index)));
                }
                let changed = self.iter().filter(|(cell, _)| (first..first + length).contains(cell));
                changed.fold(Expr::Element(*v, Box::new(index.clone())), |rest, (cell, value)| {
                    let here = equal(system, index.clone(), Expr::Const((cell - first) as i64));
                    Expr::If(Box::new(here), Box::new(value.clone()), Box::new(rest))
                })
            }
            Expr::Table(values, index) => {
                let index = through(index);
                match index.as_const().map(|i| usize::try_from(i).ok().and_then(|i| values.get(i))) {
                    None => Expr::Table(values.clone(), Box::new(index)),
                    Some(None) => fault(),
                    Some(Some(value)) => Expr::Const(*value),
                }
            }
            Expr::Unary(op, a) => Expr::unary(*op, through(a)),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = through(a);
                match a.as_const() {
                    Some(k) if (k != 0) == (*op == BinaryOp::Or) => Expr::Const((k != 0) as i64),
                    Some(_) => truth(through(b)),
                    None => Expr::binary(*op, a, through(b)),
                }
            }
            Expr::Binary(op, a, b) => Expr::binary(*op, through(a), through(b)),
            Expr::If(condition, a, b) => {
                let condition = through(condition);
                match condition.as_const() {
                    Some(0) => through(b),
                    Some(_) => through(a),
                    None => Expr::If(Box::new(condition), Box::new(through(a)), Box::new(through(b))),
                }
            }
        }
    }
}

/// An expression that is a fault for certain, and looks it.
fn fault() -> Expr {
    Expr::binary(BinaryOp::Divide, Expr::Const(1), Expr::Const(0))
}

/// 0 or 1, as a condition's value.
fn truth(e: Expr) -> Expr {
    use BinaryOp::*;
    match &e {
        Expr::Const(k) => Expr::Const((*k != 0) as i64),
        Expr::Unary(crate::UnaryOp::Not, _) => e,
        Expr::Binary(Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | And | Or, ..) => e,
        _ => Expr::binary(NotEqual, e, Expr::Const(0)),
    }
}

/// `a == b`, decided where both are the same and cannot be a fault.
pub fn equal(system: &System, a: Expr, b: Expr) -> Expr {
    if a == b && !a.may_fault(&system.variables) { Expr::TRUE } else { Expr::binary(BinaryOp::Equal, a, b) }
}

/// What a variable of this domain keeps of a value that may not fit.
pub fn wrapped(domain: Domain, e: Expr) -> Expr {
    let bits = 8 * domain.width() as i64;
    match (e, bits) {
        (Expr::Const(value), _) => Expr::Const(domain.wrap(value)),
        (_, 0) => Expr::Const(domain.low),
        (e, 64) => e,
        (e, _) if domain.is_signed() => {
            let up = Expr::binary(BinaryOp::ShiftLeft, e, Expr::Const(64 - bits));
            Expr::binary(BinaryOp::ShiftRight, up, Expr::Const(64 - bits))
        }
        (e, _) => Expr::binary(BinaryOp::BitAnd, e, Expr::Const((1i64 << bits) - 1)),
    }
}

/// Does storing a value outside this domain keep the low bits?
pub fn wraps(domain: Domain) -> bool {
    domain.overflow == Overflow::Wrap
}
