//! Guards that only compare variables with constants: what they allow each variable to be.

use crate::expr::{BinaryOp, Expr};
use crate::system::{System, VarId};
use std::collections::BTreeMap;

/// What each variable that is compared can be, from the first number to the second; nothing if the first is larger.
pub type Intervals = BTreeMap<VarId, (i64, i64)>;

/// The intervals of a conjunction of comparisons with constants; `None` if the guard is anything else.
pub fn intervals(system: &System, guard: &Expr) -> Option<Intervals> {
    let mut intervals = Intervals::new();
    let mut parts = vec![guard];
    while let Some(part) = parts.pop() {
        match part {
            Expr::Const(0) => {
                // Any variable will do to say that it never holds; without one there is no state to tell apart.
                if system.variables.is_empty() {
                    return None;
                }
                intervals.insert(VarId(0), (1, 0));
            }
            Expr::Const(_) => {}
            Expr::Binary(BinaryOp::And, a, b) => parts.extend([&**b, &**a]),
            Expr::Binary(op, a, b) => {
                let (Expr::Var(variable), Expr::Const(k)) = (&**a, &**b) else { return None };
                let domain = system.variables[variable.index()].domain;
                let interval = intervals.entry(*variable).or_insert((domain.low, domain.high));
                match op {
                    BinaryOp::Equal => *interval = (interval.0.max(*k), interval.1.min(*k)),
                    BinaryOp::GreaterEqual => interval.0 = interval.0.max(*k),
                    BinaryOp::LessEqual => interval.1 = interval.1.min(*k),
                    BinaryOp::Greater => interval.0 = interval.0.max(k.saturating_add(1)),
                    BinaryOp::Less => interval.1 = interval.1.min(k.saturating_sub(1)),
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    Some(intervals)
}
