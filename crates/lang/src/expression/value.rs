//! Trees as they are built: operations folded where constants decide them, long chains balanced.
//!
//! A chain of `&&`, `||` or `+` of n operands becomes a tree of depth log n, whichever way it grows. That changes neither
//! the order in which operands are evaluated nor which of them are.

use super::syntax::Operator;
use scrimp_system::{BinaryOp, Expr, UnaryOp};

/// An expression that may yet become part of a larger one.
#[derive(Debug)]
pub(crate) struct Value {
    pub expr: Expr,
    /// The tree is at most so deep.
    pub depth: u32,
    /// If the tree is a chain made by [`Value::join`], how many operands it has; else 1.
    count: u32,
    /// Depth of the deepest operand of the chain.
    operand_depth: u32,
}

impl Default for Value {
    /// Zero.
    fn default() -> Value {
        Value::new(Expr::Const(0), 1)
    }
}

impl Value {
    pub fn new(expr: Expr, depth: u32) -> Value {
        Value { expr, depth, count: 1, operand_depth: depth }
    }

    /// Makes this `self operator right`.
    pub fn join(&mut self, operator: Operator, right: Value) {
        let op = match operator {
            Operator::Plain(op) => op,
            Operator::Imply => {
                let premise = std::mem::replace(&mut self.expr, Expr::FALSE);
                *self = Value::new(Expr::unary(UnaryOp::Not, premise), self.depth + 1);
                BinaryOp::Or
            }
        };
        if is_neutral(op, &right.expr) && is_truth(&self.expr) {
            return;
        }
        if is_neutral(op, &self.expr) && is_truth(&right.expr) {
            *self = right;
            return;
        }
        let is_chain = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Add);
        if !is_chain || self.expr.as_const().is_some() {
            let left = std::mem::replace(&mut self.expr, Expr::FALSE);
            *self = Value::new(Expr::binary(op, left, right.expr), self.depth.max(right.depth) + 1);
            return;
        }
        if !matches!(&self.expr, Expr::Binary(own, ..) if *own == op) {
            (self.count, self.operand_depth) = (1, self.depth);
        }
        self.append(op, right);
    }

    /// Adds an operand to the chain. Down its right side a chain of n operands has full trees whose sizes are the bits of n,
    /// largest first. The smallest takes in the new operand, and so becomes the next full tree or makes room for it.
    fn append(&mut self, op: BinaryOp, right: Value) {
        let mut smallest = &mut self.expr;
        for _ in 1..self.count.count_ones() {
            let Expr::Binary(_, _, next) = smallest else { break };
            smallest = next;
        }
        let left = std::mem::replace(smallest, Expr::FALSE);
        *smallest = Expr::Binary(op, Box::new(left), Box::new(right.expr));
        self.operand_depth = self.operand_depth.max(right.depth);
        self.depth = self.operand_depth + u32::BITS - self.count.leading_zeros();
        self.count += 1;
    }
}

/// The value of an operation that its left operand decides.
pub(crate) fn decided(operator: Operator, left: &Expr) -> Option<Expr> {
    match (operator, left.as_const()? != 0) {
        (Operator::Plain(BinaryOp::And), false) => Some(Expr::FALSE),
        (Operator::Plain(BinaryOp::Or), true) => Some(Expr::TRUE),
        (Operator::Imply, false) => Some(Expr::TRUE),
        _ => None,
    }
}

/// True for the constants that decide nothing in a conjunction or disjunction.
pub(crate) fn is_neutral(op: BinaryOp, operand: &Expr) -> bool {
    match (op, operand) {
        (BinaryOp::And, Expr::Const(value)) => *value != 0,
        (BinaryOp::Or, Expr::Const(value)) => *value == 0,
        _ => false,
    }
}

/// True when the value is certainly 0 or 1.
pub(crate) fn is_truth(e: &Expr) -> bool {
    use BinaryOp::*;
    match e {
        Expr::Const(value) => matches!(value, 0 | 1),
        Expr::Unary(op, _) => *op == UnaryOp::Not,
        Expr::Binary(op, ..) => {
            matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | And | Or)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::VarId;

    fn leaves(e: &Expr, out: &mut Vec<u32>) -> u32 {
        match e {
            Expr::Binary(_, a, b) => 1 + leaves(a, out).max(leaves(b, out)),
            Expr::Var(v) => {
                out.push(v.0);
                1
            }
            _ => panic!("{e:?}"),
        }
    }

    #[test]
    fn chains_keep_their_order_and_stay_shallow() {
        for op in [BinaryOp::And, BinaryOp::Or, BinaryOp::Add] {
            let mut chain = Value::new(Expr::Var(VarId(0)), 1);
            for i in 1..2000 {
                chain.join(Operator::Plain(op), Value::new(Expr::Var(VarId(i)), 1));
                let mut order = Vec::new();
                let depth = leaves(&chain.expr, &mut order);
                assert!(order.iter().copied().eq(0..=i));
                assert!(depth <= chain.depth && chain.depth <= 2 + i.ilog2(), "{i}");
            }
        }
    }

    #[test]
    fn a_chain_within_a_chain_is_an_operand() {
        let var = |i| Value::new(Expr::Var(VarId(i)), 1);
        let (and, or) = (Operator::Plain(BinaryOp::And), Operator::Plain(BinaryOp::Or));
        let mut inner = var(2);
        inner.join(and, var(3));
        let mut outer = var(0);
        outer.join(and, var(1));
        outer.join(and, inner);
        outer.join(or, var(4));
        outer.join(or, var(5));
        outer.join(and, var(6));
        let mut order = Vec::new();
        assert!(leaves(&outer.expr, &mut order) <= outer.depth);
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn neutral_operands_disappear_where_the_value_stays_a_truth() {
        let value = |e: Expr| Value::new(e, 1);
        let truth = || value(Expr::equals(VarId(0), 3));
        let (and, or) = (Operator::Plain(BinaryOp::And), Operator::Plain(BinaryOp::Or));
        for (operator, neutral) in [(and, 7), (or, 0)] {
            let mut left = value(Expr::Const(neutral));
            left.join(operator, truth());
            assert_eq!(left.expr, truth().expr);
            left.join(operator, value(Expr::Const(neutral)));
            assert_eq!(left.expr, truth().expr);
            let mut number = value(Expr::Var(VarId(0)));
            number.join(operator, value(Expr::Const(neutral)));
            assert_ne!(number.expr, Expr::Var(VarId(0)));
        }
    }
}
