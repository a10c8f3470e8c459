//! Where a condition holds: tests of a few cells become relations, and what connects them becomes operations on sets.

use crate::action::{Action, Sought, condition};
use crate::diagram::{Halt, Set};
use crate::engine::Engine;
use crate::rule::Rule;
use scrimp_system::{BinaryOp, Expr, UnaryOp};

impl Engine<'_> {
    /// Those of these states where one of the actions happens.
    pub fn filter(&mut self, states: Set, list: &[Action]) -> Result<Set, Halt> {
        self.scope(|engine| {
            engine.held.push(states);
            let mut all = Set::EMPTY;
            for action in list {
                all = engine.attempt(&[all], |space, d| {
                    let mut rule = Rule::new(space, d, action)?;
                    rule.learn(space, d, states)?;
                    let part = d.domain(states, rule.relation)?;
                    d.union(all, part)
                })?;
            }
            Ok(all)
        })
    }

    /// Those of these states where a condition is as it is looked for.
    pub fn where_condition(&mut self, states: Set, expression: &Expr, sought: Sought) -> Result<Set, Halt> {
        if expression.may_fault(&self.system.variables) || !has_alternatives(expression) {
            return self.filter(states, &condition(&self.space, expression, sought));
        }
        self.scope(|engine| {
            engine.held.push(states);
            let holding = engine.holding(states, expression)?;
            match sought {
                Sought::Holds => Ok(holding),
                Sought::Fails | Sought::FailsOrFaults => engine.minus(states, holding),
            }
        })
    }

    /// Those of these states where a condition holds that is never a fault. As one relation, alternatives would tie all
    /// cells together that any of them reads.
    fn holding(&mut self, states: Set, expression: &Expr) -> Result<Set, Halt> {
        if states.is_empty() {
            return Ok(states);
        }
        match expression {
            _ if !has_alternatives(expression) => {
                let list = condition(&self.space, expression, Sought::Holds);
                self.filter(states, &list)
            }
            Expr::Unary(UnaryOp::Not, inner) => self.scope(|engine| {
                engine.held.push(states);
                let holding = engine.holding(states, inner)?;
                engine.minus(states, holding)
            }),
            Expr::Binary(BinaryOp::And, a, b) => self.scope(|engine| {
                let first = engine.holding(states, a)?;
                engine.held.push(first);
                engine.holding(first, b)
            }),
            Expr::Binary(BinaryOp::Or, a, b) => self.scope(|engine| {
                engine.held.push(states);
                let first = engine.holding(states, a)?;
                engine.held.push(first);
                let rest = engine.minus(states, first)?;
                engine.held.push(rest);
                let second = engine.holding(rest, b)?;
                engine.union(first, second)
            }),
            _ => {
                let list = condition(&self.space, expression, Sought::Holds);
                self.filter(states, &list)
            }
        }
    }
}

/// Is one of its connectives something else than "and"?
fn has_alternatives(expression: &Expr) -> bool {
    match expression {
        Expr::Binary(BinaryOp::Or, ..) => true,
        Expr::Binary(BinaryOp::And, a, b) => has_alternatives(a) || has_alternatives(b),
        Expr::Unary(UnaryOp::Not, a) => matches!(**a, Expr::Binary(BinaryOp::And, ..)) || has_alternatives(a),
        _ => false,
    }
}
