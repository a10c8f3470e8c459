//! From expressions to words: what `Expr::eval` does with numbers, done with circuits.
//!
//! A fault is a bit beside the value; where it is true, the value means nothing. Operands that are not evaluated have no
//! fault.

use crate::arithmetic::{add, bitwise, complement, divide, multiply, negate, shift_left, shift_right, subtract};
use crate::circuit::{Bit, Circuit};
use crate::word::Word;
use scrimp_system::{BinaryOp, Expr, UnaryOp, VarId};

/// The value of an expression, and whether there is none.
#[derive(Debug, Clone)]
pub struct Value {
    /// The number, where there is no fault.
    pub word: Word,
    /// Evaluation ends in a fault.
    pub fault: Bit,
}

impl Value {
    fn sound(word: Word) -> Value {
        Value { word, fault: Bit::FALSE }
    }

    /// It has a value, and that is not zero.
    pub fn holds(&self, circuit: &mut Circuit) -> Bit {
        let truth = self.word.is_true(circuit);
        circuit.and(truth, !self.fault)
    }
}

/// Where the values of variables come from: the cells of each variable, one for a scalar.
pub trait Cells {
    /// The cells of a variable.
    fn cells(&self, variable: VarId) -> &[Word];
}

/// The value of `e`.
pub fn evaluate(circuit: &mut Circuit, e: &Expr, read: &dyn Cells) -> Value {
    match e {
        Expr::Const(value) => Value::sound(Word::constant(*value)),
        Expr::Var(v) => Value::sound(read.cells(*v).first().cloned().unwrap_or_else(|| Word::constant(0))),
        Expr::Element(v, index) => {
            let index = evaluate(circuit, index, read);
            let cells = read.cells(*v);
            element(circuit, index, cells.len(), |i| cells[i].clone())
        }
        Expr::Table(values, index) => {
            let index = evaluate(circuit, index, read);
            element(circuit, index, values.len(), |i| Word::constant(values[i]))
        }
        Expr::Unary(op, a) => {
            let Value { word, fault } = evaluate(circuit, a, read);
            let word = match op {
                UnaryOp::Negate => negate(circuit, &word),
                UnaryOp::Complement => complement(&word),
                UnaryOp::Not => Word::truth(!word.is_true(circuit)),
            };
            Value { word, fault }
        }
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            let a = evaluate(circuit, a, read);
            let first = a.word.is_true(circuit);
            let goes_on = if *op == BinaryOp::And { first } else { !first };
            if goes_on == Bit::FALSE {
                return Value { word: Word::truth(first), fault: a.fault };
            }
            let b = evaluate(circuit, b, read);
            let second = b.word.is_true(circuit);
            let later = circuit.and(goes_on, b.fault);
            let both = if *op == BinaryOp::And { circuit.and(first, second) } else { circuit.or(first, second) };
            Value { word: Word::truth(both), fault: circuit.or(a.fault, later) }
        }
        Expr::Binary(op, a, b) => {
            let (a, b) = (evaluate(circuit, a, read), evaluate(circuit, b, read));
            let fault = circuit.or(a.fault, b.fault);
            binary(circuit, *op, &a.word, &b.word, fault)
        }
        Expr::If(condition, a, b) => {
            let condition = evaluate(circuit, condition, read);
            let which = condition.word.is_true(circuit);
            let chosen = match which.known() {
                Some(true) => evaluate(circuit, a, read),
                Some(false) => evaluate(circuit, b, read),
                None => {
                    let (a, b) = (evaluate(circuit, a, read), evaluate(circuit, b, read));
                    let word = Word::choose(circuit, which, &a.word, &b.word);
                    Value { word, fault: circuit.choose(which, a.fault, b.fault) }
                }
            };
            Value { fault: circuit.or(condition.fault, chosen.fault), ..chosen }
        }
    }
}

/// One of `length` words; an index outside is a fault.
fn element(circuit: &mut Circuit, index: Value, length: usize, at: impl Fn(usize) -> Word) -> Value {
    let (low, high) = index.word.hull();
    let last = length as i64 - 1;
    if high < 0 || low > last {
        return Value { word: Word::constant(0), fault: Bit::TRUE };
    }
    let inside = index.word.is_within(circuit, 0, last);
    let fault = circuit.or(index.fault, !inside);
    let (from, to) = (low.max(0), high.min(last));
    if from == to {
        return Value { word: at(from as usize), fault };
    }
    // Where the index cannot be, anything may stand: best what stands next to it.
    let words = (0..=to).map(|i| at(i.max(from) as usize)).collect();
    Value { word: Word::select(circuit, &index.word, words), fault }
}

fn binary(circuit: &mut Circuit, op: BinaryOp, a: &Word, b: &Word, fault: Bit) -> Value {
    let word = match op {
        BinaryOp::Add => add(circuit, a, b),
        BinaryOp::Subtract => subtract(circuit, a, b),
        BinaryOp::Multiply => multiply(circuit, a, b),
        BinaryOp::Divide | BinaryOp::Remainder => {
            let (quotient, rest) = divide(circuit, a, b);
            let by_zero = !b.is_true(circuit);
            let word = if op == BinaryOp::Divide { quotient } else { rest };
            return Value { word, fault: circuit.or(fault, by_zero) };
        }
        BinaryOp::ShiftLeft => shift_left(circuit, a, b),
        BinaryOp::ShiftRight => shift_right(circuit, a, b),
        BinaryOp::BitAnd => bitwise(a, b, |x, y| circuit.and(x, y)),
        BinaryOp::BitOr => bitwise(a, b, |x, y| circuit.or(x, y)),
        BinaryOp::BitXor => bitwise(a, b, |x, y| circuit.xor(x, y)),
        BinaryOp::Equal => Word::truth(Word::equal(circuit, a, b)),
        BinaryOp::NotEqual => Word::truth(!Word::equal(circuit, a, b)),
        BinaryOp::Less => Word::truth(Word::less(circuit, a, b)),
        BinaryOp::LessEqual => Word::truth(!Word::less(circuit, b, a)),
        BinaryOp::Greater => Word::truth(Word::less(circuit, b, a)),
        BinaryOp::GreaterEqual => Word::truth(!Word::less(circuit, a, b)),
        // These two are not always asked for both operands; whoever calls has seen to that.
        BinaryOp::And => {
            let (x, y) = (a.is_true(circuit), b.is_true(circuit));
            Word::truth(circuit.and(x, y))
        }
        BinaryOp::Or => {
            let (x, y) = (a.is_true(circuit), b.is_true(circuit));
            Word::truth(circuit.or(x, y))
        }
    };
    Value { word, fault }
}
