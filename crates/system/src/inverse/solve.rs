//! Solving an equation for the one cell in it that is not known.
//!
//! Sums, differences, exclusive or and complements can be undone. Where a value was cut to fewer bits, so is what is
//! learnt: enough for a cell that has no more bits.

use crate::bounds::Knowledge;
use crate::expr::{BinaryOp, Expr, UnaryOp};

/// `left == right` in the low `bits` bits, with `left` over the state before and `right` over the state after.
pub struct Equation {
    pub left: Expr,
    pub right: Expr,
    pub bits: u32,
}

/// Reads cells of the state before that are not known.
pub type Unknown<'a> = &'a dyn Fn(&Expr) -> bool;

/// Turns an expression without unknowns into one over the state after.
pub type Translate<'a> = &'a dyn Fn(&Expr) -> Expr;

/// What the unknown cell on the left must be, in how many bits. `widest` knows only what holds in all states.
pub fn solve(
    equation: Equation,
    unknown: Unknown,
    translate: Translate,
    widest: &Knowledge,
) -> Option<(u32, Expr, u32)> {
    let Equation { left, right, bits } = equation;
    let go_on = |left: &Expr, right: Expr, bits: u32| {
        solve(Equation { left: left.clone(), right, bits }, unknown, translate, widest)
    };
    if let Expr::Var(_) | Expr::Element(..) = &left {
        let known_index = match &left {
            Expr::Element(_, index) => index.as_const().is_some(),
            _ => true,
        };
        return widest.cell(&left).filter(|_| known_index).map(|cell| (cell, right, bits));
    }
    match &left {
        Expr::Unary(op @ (UnaryOp::Negate | UnaryOp::Complement), a) => go_on(a, Expr::unary(*op, right), bits),
        Expr::Binary(op, a, b) => {
            let (in_a, in_b) = (unknown(a), unknown(b));
            let combine = |op: BinaryOp, x: Expr, y: Expr| Some(Expr::binary(op, x, y));
            use BinaryOp::*;
            let (rest, value) = match (op, in_a, in_b) {
                (_, true, true) | (_, false, false) => return None,
                (Add, true, _) => (a, combine(Subtract, right, translate(b))),
                (Add, _, true) => (b, combine(Subtract, right, translate(a))),
                (Subtract, true, _) => (a, combine(Add, right, translate(b))),
                (Subtract, _, true) => (b, combine(Subtract, translate(a), right)),
                (BitXor, true, _) => (a, combine(BitXor, right, translate(b))),
                (BitXor, _, true) => (b, combine(BitXor, right, translate(a))),
                _ => {
                    let (inner, kept) = cut(*op, a, b)?;
                    let (low, high) = widest.eval(inner).hull();
                    let fits = *op == BitAnd && low >= 0 && kept < 63 && high < 1 << kept;
                    return go_on(inner, right, if fits { bits } else { bits.min(kept) });
                }
            };
            go_on(rest, value?, bits)
        }
        _ => None,
    }
}

/// For an operator that keeps low bits and nothing else: what it cuts, and how many bits it keeps.
fn cut<'e>(op: BinaryOp, a: &'e Expr, b: &Expr) -> Option<(&'e Expr, u32)> {
    let k = b.as_const()?;
    match op {
        BinaryOp::BitAnd if (1..i64::MAX).contains(&k) && (k + 1).count_ones() == 1 => {
            Some((a, (k + 1).trailing_zeros()))
        }
        // Up and down by the same distance.
        BinaryOp::ShiftRight if (0..64).contains(&k) => match a {
            Expr::Binary(BinaryOp::ShiftLeft, inner, up) if up.as_const() == Some(k) => Some((inner, 64 - k as u32)),
            _ => None,
        },
        _ => None,
    }
}
