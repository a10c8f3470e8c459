//! What a model demands of infinite runs: LTL formulas, acceptance and progress.
//!
//! The expression that a formula was read as is taken apart, down to conditions without connectives, so that equal ones can be
//! seen to be equal.

use super::core::{Access, Formula as Named, Value};
use super::declare::Names;
use super::lower::Lowering;
use super::resolve::Scope;
use super::syntax::{Binary, Expression, ExpressionKind, Temporal, Unary};
use super::values::{Context, any};
use crate::diagnostic::Problem;
use crate::formula::constant_or_atom;
use crate::lines::Lines;
use scrimp_system::NamedFormula;
use scrimp_temporal::Formula;

/// The formula that an expression with temporal operators is. Expressions are not nested more deeply than formulas may be.
pub(crate) fn formula(names: &Names, e: &Expression) -> Result<Formula<Value>, Problem> {
    let part = part(names, e)?;
    whole(names, e, part)
}

/// What is known of a part of a formula.
enum Part {
    /// It has no temporal operator. If it is risky, evaluating it may be a fault, and what stands before a connective may be
    /// there to prevent that.
    Plain {
        risky: bool,
    },
    Temporal(Formula<Value>),
}

fn part(names: &Names, e: &Expression) -> Result<Part, Problem> {
    let boxed = |e: &Expression| formula(names, e).map(Box::new);
    let (operator, a, b) = match &*e.kind {
        ExpressionKind::Temporal(Temporal::Always, a, _) => return Ok(Part::Temporal(Formula::Globally(boxed(a)?))),
        ExpressionKind::Temporal(Temporal::Eventually, a, _) => return Ok(Part::Temporal(Formula::Finally(boxed(a)?))),
        ExpressionKind::Temporal(Temporal::Next, a, _) => return Ok(Part::Temporal(Formula::Next(boxed(a)?))),
        ExpressionKind::Unary(Unary::Not, a) => {
            return Ok(match part(names, a)? {
                Part::Temporal(a) => Part::Temporal(Formula::Not(Box::new(a))),
                plain => plain,
            });
        }
        ExpressionKind::Temporal(operator, a, Some(b)) => (connective(*operator), a, b),
        ExpressionKind::Binary(Binary::And, a, b) => (Connective::And, a, b),
        ExpressionKind::Binary(Binary::Or, a, b) => (Connective::Or, a, b),
        _ => {
            let value = Scope::new().value(names, e)?;
            if value.any(|value| matches!(value, Value::Run { .. })) {
                return Err(Problem::new(e.place, "`run` is not allowed in a formula: it would change the state"));
            }
            return Ok(Part::Plain { risky: value.any(is_risky) });
        }
    };
    let (left, right) = Problem::both(part(names, a), part(names, b))?;
    if let (Part::Plain { risky: left }, Part::Plain { risky: right }) = (&left, &right)
        && !operator.is_temporal()
    {
        return Ok(Part::Plain { risky: *left || *right });
    }
    Ok(Part::Temporal(operator.join(whole(names, a, left)?, whole(names, b, right)?)))
}

/// The formula that a part is.
fn whole(names: &Names, e: &Expression, part: Part) -> Result<Formula<Value>, Problem> {
    match part {
        Part::Temporal(formula) => Ok(formula),
        Part::Plain { risky: true } => Ok(Formula::Atom(condition(names, e)?)),
        Part::Plain { risky: false } => apart(names, e),
    }
}

/// A part without temporal operators, taken apart.
fn apart(names: &Names, e: &Expression) -> Result<Formula<Value>, Problem> {
    let (operator, a, b) = match &*e.kind {
        ExpressionKind::Unary(Unary::Not, a) => return Ok(Formula::Not(Box::new(apart(names, a)?))),
        ExpressionKind::Temporal(operator, a, Some(b)) => (connective(*operator), a, b),
        ExpressionKind::Binary(Binary::And, a, b) => (Connective::And, a, b),
        ExpressionKind::Binary(Binary::Or, a, b) => (Connective::Or, a, b),
        _ => return Ok(Formula::Atom(condition(names, e)?)),
    };
    Ok(operator.join(apart(names, a)?, apart(names, b)?))
}

/// A part without temporal operators as one condition.
fn condition(names: &Names, e: &Expression) -> Result<Value, Problem> {
    let boxed = |e: &Expression| condition(names, e).map(Box::new);
    let contrary = |a: Box<Value>| Box::new(Value::Unary(Unary::Not, a));
    Ok(match &*e.kind {
        ExpressionKind::Unary(Unary::Not, a) => *contrary(boxed(a)?),
        ExpressionKind::Binary(op @ (Binary::And | Binary::Or), a, b) => Value::Binary(*op, boxed(a)?, boxed(b)?),
        ExpressionKind::Temporal(Temporal::Implies, a, Some(b)) => {
            Value::Binary(Binary::Or, contrary(boxed(a)?), boxed(b)?)
        }
        ExpressionKind::Temporal(Temporal::Equivalent, a, Some(b)) => {
            Value::Binary(Binary::Equal, contrary(boxed(a)?), contrary(boxed(b)?))
        }
        _ => Scope::new().value(names, e)?,
    })
}

/// May evaluating this be a fault?
fn is_risky(value: &Value) -> bool {
    let indexed = |access: &Access| access.indices.iter().any(|index| index.number().is_none());
    match value {
        Value::Binary(Binary::Divide | Binary::Remainder, _, divisor) => divisor.number().is_none(),
        Value::Read(access) => indexed(access),
        Value::Channel(_, access) => indexed(access),
        Value::Poll { channel, .. } => indexed(channel),
        Value::Remote { access, .. } => indexed(access),
        _ => false,
    }
}

/// An operator between two formulas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Connective {
    And,
    Or,
    Implies,
    Equivalent,
    Until,
    WeakUntil,
    Release,
}

fn connective(operator: Temporal) -> Connective {
    match operator {
        Temporal::Implies => Connective::Implies,
        Temporal::Equivalent => Connective::Equivalent,
        Temporal::WeakUntil => Connective::WeakUntil,
        Temporal::Release => Connective::Release,
        _ => Connective::Until,
    }
}

impl Connective {
    fn is_temporal(self) -> bool {
        matches!(self, Connective::Until | Connective::WeakUntil | Connective::Release)
    }

    fn join(self, left: Formula<Value>, right: Formula<Value>) -> Formula<Value> {
        match (self, left) {
            (Connective::And, Formula::And(mut parts)) => {
                parts.push(right);
                Formula::And(parts)
            }
            (Connective::Or, Formula::Or(mut parts)) => {
                parts.push(right);
                Formula::Or(parts)
            }
            (Connective::And, left) => Formula::And(vec![left, right]),
            (Connective::Or, left) => Formula::Or(vec![left, right]),
            (Connective::Implies, left) => Formula::Implies(Box::new(left), Box::new(right)),
            (Connective::Equivalent, left) => Formula::Equivalent(Box::new(left), Box::new(right)),
            (Connective::Until, left) => Formula::Until(Box::new(left), Box::new(right)),
            (Connective::WeakUntil, left) => Formula::WeakUntil(Box::new(left), Box::new(right)),
            (Connective::Release, left) => Formula::Release(Box::new(left), Box::new(right)),
        }
    }
}

impl Named {
    /// Is there such a value in it?
    pub fn any(&self, wanted: fn(&Value) -> bool) -> bool {
        let mut found = false;
        self.formula.atoms(&mut |atom| found |= atom.any(wanted));
        found
    }
}

impl Lowering<'_> {
    /// Adds to the system what is asked about infinite runs.
    pub fn temporal(&mut self) -> Result<(), Problem> {
        let context = Context { instance: None, timeout: false, started: None };
        let source = self.program.source.clone();
        let mut lines = Lines::of(&source);
        for named in &self.program.formulas {
            self.here.set(named.place);
            let formula =
                named.formula.try_replace(&mut |value| self.condition(value, context).map(constant_or_atom))?;
            let (name, text, span) = (named.name.clone(), named.text.clone(), lines.span(named.place));
            self.system.formulas.push(NamedFormula { name, text, formula, span });
        }
        let accepting = any(self.slots().map(|slot| self.slot_flag(slot, |state| state.accept)));
        // A label to which no run comes says something too: that no run passes it for ever.
        let mut labels = self.program.processes.iter().flat_map(|process| process.flow.label_names());
        self.system.accepting = labels.any(|name| name.starts_with("accept")).then_some(accepting);
        self.system.no_progress = Some(self.condition(&Value::NonProgress, context)?);
        Ok(())
    }
}
