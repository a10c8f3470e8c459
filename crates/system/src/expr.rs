//! Expressions over the variables of a system, and what each operator means.
//!
//! Arithmetic is on 64-bit two's complement integers and wraps; a variable's domain decides what happens when a value
//! is stored. `And`, `Or` and `If` evaluate only the operands they need, so that `i < N && a[i] == 0` has no fault.

use crate::system::{VarId, Variable};
use std::fmt;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Expr {
    Const(i64),
    /// A scalar variable.
    Var(VarId),
    /// An element of an array variable; an index outside it is [`Fault::Index`].
    Element(VarId, Box<Expr>),
    /// An element of a constant table; an index outside it is [`Fault::Index`].
    Table(Arc<[i64]>, Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `If(condition, then, otherwise)`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum UnaryOp {
    Negate,
    /// Bitwise complement.
    Complement,
    /// 1 for zero, 0 for anything else.
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    /// Rounds towards zero as in C; by zero is [`Fault::Division`].
    Divide,
    /// Has the sign of the dividend as in C; by zero is [`Fault::Division`].
    Remainder,
    /// A negative distance, or one of 64 and more, shifts everything out.
    ShiftLeft,
    /// Arithmetic; distances as for `ShiftLeft`, leaving 0 or -1.
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// Short-circuit; the value is 0 or 1.
    And,
    /// Short-circuit; the value is 0 or 1.
    Or,
}

/// What can go wrong when an event runs. An event with a fault has no successor; the fault itself is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum Fault {
    Index = 1,
    Division = 2,
    /// A value outside the domain of a variable whose overflow is an error.
    Range = 3,
    /// An assertion that an event makes does not hold; the only fault with which the event happens all the same.
    Assertion = 4,
    /// A process that had to go on by itself could not.
    Stuck = 5,
    /// What the model itself declares to be a fault; the event has the message.
    Model = 6,
    /// A process that goes on by itself passes through more than there is patience for; what it leads to is incomplete.
    Endless = 7,
}

impl Fault {
    pub const ALL: [Fault; 7] =
        [Fault::Index, Fault::Division, Fault::Range, Fault::Assertion, Fault::Stuck, Fault::Model, Fault::Endless];

    /// The fault with this number, as machine code reports it.
    pub fn from_code(code: u32) -> Option<Fault> {
        Fault::ALL.into_iter().find(|f| *f as u32 == code)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Index => "array index out of range",
            Fault::Division => "division by zero",
            Fault::Range => "value out of range",
            Fault::Assertion => "assertion violated",
            Fault::Stuck => "a d_step is blocked",
            Fault::Endless => "an atomic sequence does not end",
            Fault::Model => "an error state of the model",
        })
    }
}

impl UnaryOp {
    pub fn apply(self, a: i64) -> i64 {
        match self {
            UnaryOp::Negate => a.wrapping_neg(),
            UnaryOp::Complement => !a,
            UnaryOp::Not => (a == 0) as i64,
        }
    }
}

impl BinaryOp {
    /// The operator on two known values: the one definition that interpreter, constant folding and machine code follow.
    pub fn apply(self, a: i64, b: i64) -> Result<i64, Fault> {
        Ok(match self {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Subtract => a.wrapping_sub(b),
            BinaryOp::Multiply => a.wrapping_mul(b),
            BinaryOp::Divide if b == 0 => return Err(Fault::Division),
            BinaryOp::Divide => a.wrapping_div(b),
            BinaryOp::Remainder if b == 0 => return Err(Fault::Division),
            BinaryOp::Remainder => a.wrapping_rem(b),
            BinaryOp::ShiftLeft => {
                if (0..64).contains(&b) {
                    a << b
                } else {
                    0
                }
            }
            BinaryOp::ShiftRight => a >> if (0..64).contains(&b) { b } else { 63 },
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitOr => a | b,
            BinaryOp::BitXor => a ^ b,
            BinaryOp::Equal => (a == b) as i64,
            BinaryOp::NotEqual => (a != b) as i64,
            BinaryOp::Less => (a < b) as i64,
            BinaryOp::LessEqual => (a <= b) as i64,
            BinaryOp::Greater => (a > b) as i64,
            BinaryOp::GreaterEqual => (a >= b) as i64,
            BinaryOp::And => (a != 0 && b != 0) as i64,
            BinaryOp::Or => (a != 0 || b != 0) as i64,
        })
    }
}

impl Expr {
    pub const TRUE: Expr = Expr::Const(1);
    pub const FALSE: Expr = Expr::Const(0);

    /// `op a`, folded when `a` is a constant.
    pub fn unary(op: UnaryOp, a: Expr) -> Expr {
        match a {
            Expr::Const(a) => Expr::Const(op.apply(a)),
            a => Expr::Unary(op, Box::new(a)),
        }
    }

    /// `a op b`, folded when both are constants (unless that is a fault) or when `a` decides a short-circuit operator.
    pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
        match (op, &a, &b) {
            (BinaryOp::And, Expr::Const(0), _) => Expr::FALSE,
            (BinaryOp::Or, Expr::Const(k), _) if *k != 0 => Expr::TRUE,
            (_, Expr::Const(x), Expr::Const(y)) => match op.apply(*x, *y) {
                Ok(value) => Expr::Const(value),
                Err(_) => Expr::Binary(op, Box::new(a), Box::new(b)),
            },
            _ => Expr::Binary(op, Box::new(a), Box::new(b)),
        }
    }

    #[allow(clippy::should_implement_trait)]
    pub fn not(a: Expr) -> Expr {
        Expr::unary(UnaryOp::Not, a)
    }

    /// Conjunction of two conditions; a constant condition disappears.
    pub fn and(a: Expr, b: Expr) -> Expr {
        match (a, b) {
            (Expr::Const(k), b) if k != 0 => b,
            (a, Expr::Const(k)) if k != 0 => a,
            (a, b) => Expr::binary(BinaryOp::And, a, b),
        }
    }

    /// All parts joined by an operator, as a tree that is not deep; `none` where there are none.
    pub fn joined(op: BinaryOp, mut parts: Vec<Expr>, none: Expr) -> Expr {
        while parts.len() > 1 {
            let mut halved = Vec::with_capacity(parts.len().div_ceil(2));
            let mut rest = parts.into_iter();
            while let Some(a) = rest.next() {
                halved.push(match rest.next() {
                    Some(b) if op == BinaryOp::And => Expr::and(a, b),
                    Some(b) => Expr::binary(op, a, b),
                    None => a,
                });
            }
            parts = halved;
        }
        parts.pop().unwrap_or(none)
    }

    /// `variable == value`, which is also how "process P is at location L" is written.
    pub fn equals(variable: VarId, value: i64) -> Expr {
        Expr::binary(BinaryOp::Equal, Expr::Var(variable), Expr::Const(value))
    }

    /// The constant's value, if this is one.
    pub fn as_const(&self) -> Option<i64> {
        match self {
            Expr::Const(value) => Some(*value),
            _ => None,
        }
    }

    /// Number of operators and operands.
    pub fn size(&self) -> usize {
        1 + match self {
            Expr::Const(_) | Expr::Var(_) => 0,
            Expr::Element(_, a) | Expr::Table(_, a) | Expr::Unary(_, a) => a.size(),
            Expr::Binary(_, a, b) => a.size() + b.size(),
            Expr::If(a, b, c) => a.size() + b.size() + c.size(),
        }
    }

    /// How many operators are within each other.
    pub fn depth(&self) -> u32 {
        1 + match self {
            Expr::Const(_) | Expr::Var(_) => 0,
            Expr::Element(_, a) | Expr::Table(_, a) | Expr::Unary(_, a) => a.depth(),
            Expr::Binary(_, a, b) => a.depth().max(b.depth()),
            Expr::If(a, b, c) => a.depth().max(b.depth()).max(c.depth()),
        }
    }

    /// Could evaluating this be a fault, in a system of these variables? Only divisors other than zero and indices within
    /// their arrays, where they are constants, are known to be harmless.
    pub fn may_fault(&self, variables: &[Variable]) -> bool {
        let inside = |index: &Expr, length: usize| index.as_const().is_some_and(|i| (0..length as i64).contains(&i));
        match self {
            Expr::Const(_) | Expr::Var(_) => false,
            Expr::Element(v, index) => !inside(index, variables[v.index()].cells()),
            Expr::Table(values, index) => !inside(index, values.len()),
            Expr::Unary(_, a) => a.may_fault(variables),
            Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, a, b) => {
                a.may_fault(variables) || b.as_const().is_none_or(|divisor| divisor == 0)
            }
            Expr::Binary(_, a, b) => a.may_fault(variables) || b.may_fault(variables),
            Expr::If(a, b, c) => [a, b, c].into_iter().any(|e| e.may_fault(variables)),
        }
    }

    /// Calls `visit` for each variable read, with the constant index for an array element where it is known.
    pub fn reads(&self, visit: &mut dyn FnMut(VarId, Option<i64>)) {
        match self {
            Expr::Const(_) => {}
            Expr::Var(v) => visit(*v, None),
            Expr::Element(v, index) => {
                visit(*v, index.as_const());
                index.reads(visit);
            }
            Expr::Table(_, a) | Expr::Unary(_, a) => a.reads(visit),
            Expr::Binary(_, a, b) => {
                a.reads(visit);
                b.reads(visit);
            }
            Expr::If(a, b, c) => {
                a.reads(visit);
                b.reads(visit);
                c.reads(visit);
            }
        }
    }

    /// Evaluates with `read(variable, index)` supplying the variables' values; scalars are read at index 0.
    /// `read` answers [`Fault::Index`] for an index outside the array.
    pub fn eval(&self, read: &dyn Fn(VarId, i64) -> Result<i64, Fault>) -> Result<i64, Fault> {
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Var(v) => read(*v, 0),
            Expr::Element(v, index) => read(*v, index.eval(read)?),
            Expr::Table(values, index) => {
                let index = index.eval(read)?;
                usize::try_from(index).ok().and_then(|i| values.get(i)).copied().ok_or(Fault::Index)
            }
            Expr::Unary(op, a) => Ok(op.apply(a.eval(read)?)),
            Expr::Binary(BinaryOp::And, a, b) => Ok((a.eval(read)? != 0 && b.eval(read)? != 0) as i64),
            Expr::Binary(BinaryOp::Or, a, b) => Ok((a.eval(read)? != 0 || b.eval(read)? != 0) as i64),
            Expr::Binary(op, a, b) => op.apply(a.eval(read)?, b.eval(read)?),
            Expr::If(c, a, b) => {
                if c.eval(read)? != 0 {
                    a.eval(read)
                } else {
                    b.eval(read)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_follows_c() {
        assert_eq!(BinaryOp::Divide.apply(-7, 2), Ok(-3));
        assert_eq!(BinaryOp::Remainder.apply(-7, 2), Ok(-1));
        assert_eq!(BinaryOp::Divide.apply(i64::MIN, -1), Ok(i64::MIN));
        assert_eq!(BinaryOp::Remainder.apply(i64::MIN, -1), Ok(0));
        assert_eq!(BinaryOp::Divide.apply(1, 0), Err(Fault::Division));
    }

    #[test]
    fn shifts_never_trap() {
        assert_eq!(BinaryOp::ShiftLeft.apply(1, 64), Ok(0));
        assert_eq!(BinaryOp::ShiftLeft.apply(1, -1), Ok(0));
        assert_eq!(BinaryOp::ShiftRight.apply(-8, 100), Ok(-1));
        assert_eq!(BinaryOp::ShiftRight.apply(-8, 1), Ok(-4));
    }

    #[test]
    fn short_circuit_hides_a_fault() {
        let fault = Expr::Binary(BinaryOp::Divide, Box::new(Expr::Const(1)), Box::new(Expr::Const(0)));
        let read = |_: VarId, _: i64| Ok(0);
        let and = Expr::Binary(BinaryOp::And, Box::new(Expr::Var(VarId(0))), Box::new(fault.clone()));
        assert_eq!(and.eval(&read), Ok(0));
        let or = Expr::Binary(BinaryOp::Or, Box::new(Expr::Var(VarId(0))), Box::new(fault));
        assert_eq!(or.eval(&read), Err(Fault::Division));
    }
}
