//! Whether evaluating an expression could be a fault, where something is known of the cells.

use crate::bounds::Knowledge;
use crate::expr::{BinaryOp, Expr};
use crate::values::Values;

/// Could `e` be a fault in a state of which this is known?
pub(super) fn faults(e: &Expr, known: &Knowledge<'_>) -> bool {
    let variables = &known.system.variables;
    if !e.may_fault(variables) {
        return false;
    }
    let outside = |index: &Expr, length: usize| {
        let (low, high) = known.eval(index).hull();
        low <= high && (low < 0 || high >= length as i64)
    };
    let after = |condition: &Expr, truth: bool, e: &Expr| {
        let mut then = known.clone();
        e.may_fault(variables) && then.assume(condition, truth) && faults(e, &then)
    };
    match e {
        Expr::Const(_) | Expr::Var(_) => false,
        Expr::Element(v, index) => faults(index, known) || outside(index, variables[v.index()].cells()),
        Expr::Table(values, index) => faults(index, known) || outside(index, values.len()),
        Expr::Unary(_, a) => faults(a, known),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            faults(a, known) || after(a, *op == BinaryOp::And, b)
        }
        Expr::Binary(op, a, b) => {
            let divides = matches!(op, BinaryOp::Divide | BinaryOp::Remainder);
            faults(a, known) || faults(b, known) || divides && known.eval(b).contains(0)
        }
        Expr::If(condition, a, b) => {
            faults(condition, known) || after(condition, true, a) || after(condition, false, b)
        }
    }
}

/// The cells that `e` reads in such a state.
pub(super) fn cells_read(e: &Expr, known: &Knowledge<'_>, visit: &mut dyn FnMut(u32)) {
    match e {
        Expr::Const(_) => {}
        Expr::Var(v) => visit(known.cells.first(*v)),
        Expr::Element(v, index) => {
            let length = known.system.variables[v.index()].cells() as i64;
            let possible = known.eval(index).meet(&Values::between(0, length - 1));
            possible.iter().for_each(|i| visit(known.cells.first(*v) + i as u32));
            cells_read(index, known, visit);
        }
        Expr::Table(_, a) | Expr::Unary(_, a) => cells_read(a, known, visit),
        Expr::Binary(_, a, b) => {
            cells_read(a, known, visit);
            cells_read(b, known, visit);
        }
        Expr::If(a, b, c) => {
            cells_read(a, known, visit);
            cells_read(b, known, visit);
            cells_read(c, known, visit);
        }
    }
}
