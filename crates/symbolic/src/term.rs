//! Expressions over the cells of a state of which some values are known already.
//!
//! Putting a value in for a cell simplifies a term, and terms that mean the same should then be the same: what is left of
//! an event after some cells is what tells the nodes of its relation apart.

use scrimp_system::{BinaryOp, Domain, Fault, Overflow, UnaryOp};
use std::rc::Rc;
use std::sync::Arc;

/// An expression over cells, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Term {
    Const(i64),
    /// Evaluating it ends in this fault.
    Fault(Fault),
    Cell(u32),
    /// The one of these that the index names.
    Select(Rc<[Term]>, Rc<Term>),
    /// An element of a constant table.
    Table(Arc<[i64]>, Rc<Term>),
    Unary(UnaryOp, Rc<Term>),
    Binary(BinaryOp, Rc<Term>, Rc<Term>),
    /// Condition, then, otherwise.
    If(Rc<[Term; 3]>),
    /// Terms with factors, and a number, added up.
    Sum(Rc<[(i64, Term)]>, i64),
    /// What a variable keeps of a value.
    Stored(Store, Rc<Term>),
}

/// What becomes of a value that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Store {
    low: i64,
    high: i64,
    wraps: bool,
}

impl Store {
    /// Storing into a variable of this domain.
    pub fn new(domain: Domain) -> Store {
        Store { low: domain.low, high: domain.high, wraps: domain.overflow == Overflow::Wrap }
    }

    fn domain(self) -> Domain {
        let overflow = if self.wraps { Overflow::Wrap } else { Overflow::Error };
        Domain { low: self.low, high: self.high, overflow }
    }

    fn apply(self, value: i64) -> Result<i64, Fault> {
        let domain = self.domain();
        match self.wraps {
            true => Ok(domain.wrap(value)),
            false if domain.contains(value) => Ok(value),
            false => Err(Fault::Range),
        }
    }
}

fn of(result: Result<i64, Fault>) -> Term {
    result.map_or_else(Term::Fault, Term::Const)
}

impl Term {
    /// `op a`, simplified.
    pub fn unary(op: UnaryOp, a: Term) -> Term {
        match (op, a) {
            (_, Term::Const(a)) => Term::Const(op.apply(a)),
            (_, fault @ Term::Fault(_)) => fault,
            (UnaryOp::Negate, a) => Term::scaled(-1, a),
            (_, a) => Term::Unary(op, Rc::new(a)),
        }
    }

    /// `a op b`, simplified.
    pub fn binary(op: BinaryOp, a: Term, b: Term) -> Term {
        match (op, &a, &b) {
            (_, Term::Fault(_), _) => a,
            (BinaryOp::And, Term::Const(0), _) => Term::Const(0),
            (BinaryOp::And, Term::Const(_), _) => b.truth(),
            (BinaryOp::Or, Term::Const(0), _) => b.truth(),
            (BinaryOp::Or, Term::Const(_), _) => Term::Const(1),
            (BinaryOp::And, _, Term::Const(0)) | (BinaryOp::Or, _, Term::Const(1)) if !a.may_fault() => b,
            (BinaryOp::And, _, Term::Const(k)) if *k != 0 => a.truth(),
            (BinaryOp::Or, _, Term::Const(0)) => a.truth(),
            (BinaryOp::And | BinaryOp::Or, _, _) => Term::Binary(op, Rc::new(a), Rc::new(b)),
            (_, _, Term::Fault(_)) => b,
            (_, Term::Const(x), Term::Const(y)) => of(op.apply(*x, *y)),
            (BinaryOp::Add, _, _) => Term::sum([a, b]),
            (BinaryOp::Subtract, _, _) => {
                let b = Term::scaled(-1, b);
                Term::sum([a, b])
            }
            (BinaryOp::Multiply, Term::Const(k), _) => Term::scaled(*k, b),
            (BinaryOp::Multiply, _, Term::Const(k)) => Term::scaled(*k, a),
            _ => Term::Binary(op, Rc::new(a), Rc::new(b)),
        }
    }

    /// 1 where this is not zero, and 0 where it is.
    pub fn truth(self) -> Term {
        use BinaryOp::*;
        match self {
            Term::Const(k) => Term::Const((k != 0) as i64),
            Term::Binary(Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | And | Or, ..)
            | Term::Unary(UnaryOp::Not, _)
            | Term::Fault(_) => self,
            other => Term::Binary(NotEqual, Rc::new(other), Rc::new(Term::Const(0))),
        }
    }

    fn scaled(factor: i64, term: Term) -> Term {
        match term {
            Term::Const(k) => Term::Const(factor.wrapping_mul(k)),
            Term::Fault(_) => term,
            // What is multiplied by zero may still end in a fault.
            Term::Sum(parts, constant) => {
                let parts = parts.iter().map(|(f, t)| (f.wrapping_mul(factor), t.clone())).collect();
                Term::of_parts(parts, constant.wrapping_mul(factor))
            }
            term => Term::of_parts(vec![(factor, term)], 0),
        }
    }

    fn sum(terms: [Term; 2]) -> Term {
        let (mut parts, mut constant) = (Vec::new(), 0i64);
        for term in terms {
            match term {
                Term::Const(k) => constant = constant.wrapping_add(k),
                Term::Fault(_) => return term,
                Term::Sum(more, k) => {
                    parts.extend(more.iter().cloned());
                    constant = constant.wrapping_add(k);
                }
                term => parts.push((1, term)),
            }
        }
        Term::of_parts(parts, constant)
    }

    fn of_parts(mut parts: Vec<(i64, Term)>, constant: i64) -> Term {
        parts.retain(|(factor, term)| *factor != 0 || term.may_fault());
        match &parts[..] {
            [] => Term::Const(constant),
            [(1, term)] if constant == 0 => term.clone(),
            _ => Term::Sum(parts.into(), constant),
        }
    }

    /// The element that `index` names.
    pub fn select(elements: &Rc<[Term]>, index: Term) -> Term {
        match index {
            Term::Const(i) => {
                usize::try_from(i).ok().and_then(|i| elements.get(i)).cloned().unwrap_or(Term::Fault(Fault::Index))
            }
            Term::Fault(_) => index,
            index => Term::Select(elements.clone(), Rc::new(index)),
        }
    }

    /// An element of a constant table.
    pub fn table(values: &Arc<[i64]>, index: Term) -> Term {
        match index {
            Term::Const(i) => {
                let value = usize::try_from(i).ok().and_then(|i| values.get(i)).copied();
                value.map_or(Term::Fault(Fault::Index), Term::Const)
            }
            Term::Fault(_) => index,
            index => Term::Table(values.clone(), Rc::new(index)),
        }
    }

    /// One of two, after a condition.
    pub fn choice(condition: Term, then: Term, otherwise: Term) -> Term {
        match condition {
            Term::Const(0) => otherwise,
            Term::Const(_) => then,
            Term::Fault(_) => condition,
            condition if then == otherwise && !condition.may_fault() => then,
            condition => Term::If(Rc::new([condition, then, otherwise])),
        }
    }

    /// What a variable keeps of this.
    pub fn stored(store: Store, value: Term) -> Term {
        match value {
            Term::Const(k) => of(store.apply(k)),
            Term::Fault(_) => value,
            value => Term::Stored(store, Rc::new(value)),
        }
    }

    /// Could evaluating this end in a fault, for all that is known without looking at values?
    pub fn may_fault(&self) -> bool {
        match self {
            Term::Const(_) | Term::Cell(_) => false,
            Term::Fault(_) | Term::Select(..) | Term::Table(..) => true,
            Term::Unary(_, a) => a.may_fault(),
            Term::Binary(BinaryOp::Divide | BinaryOp::Remainder, a, b) => {
                a.may_fault() || !matches!(**b, Term::Const(k) if k != 0)
            }
            Term::Binary(_, a, b) => a.may_fault() || b.may_fault(),
            Term::If(parts) => parts.iter().any(Term::may_fault),
            Term::Sum(parts, _) => parts.iter().any(|(_, term)| term.may_fault()),
            Term::Stored(store, a) => !store.wraps || a.may_fault(),
        }
    }

    /// Calls `visit` for each cell in it, perhaps more than once.
    pub fn cells(&self, visit: &mut dyn FnMut(u32)) {
        match self {
            Term::Const(_) | Term::Fault(_) => {}
            Term::Cell(cell) => visit(*cell),
            Term::Select(elements, index) => {
                elements.iter().for_each(|element| element.cells(visit));
                index.cells(visit);
            }
            Term::Table(_, a) | Term::Unary(_, a) | Term::Stored(_, a) => a.cells(visit),
            Term::Binary(_, a, b) => {
                a.cells(visit);
                b.cells(visit);
            }
            Term::If(parts) => parts.iter().for_each(|part| part.cells(visit)),
            Term::Sum(parts, _) => parts.iter().for_each(|(_, term)| term.cells(visit)),
        }
    }

    /// The different cells in it, in order.
    pub fn support(&self) -> Vec<u32> {
        let mut cells = Vec::new();
        self.cells(&mut |cell| cells.push(cell));
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// This with a value put in for a cell; `None` where the cell is not in it.
    pub fn with(&self, cell: u32, value: i64) -> Option<Term> {
        match self {
            Term::Const(_) | Term::Fault(_) => None,
            Term::Cell(c) => (*c == cell).then_some(Term::Const(value)),
            Term::Select(elements, index) => {
                let changed: Vec<Option<Term>> = elements.iter().map(|element| element.with(cell, value)).collect();
                let new_index = index.with(cell, value);
                if new_index.is_none() && changed.iter().all(Option::is_none) {
                    return None;
                }
                let list =
                    changed.into_iter().zip(elements.iter()).map(|(new, old)| new.unwrap_or_else(|| old.clone()));
                let elements: Rc<[Term]> = list.collect();
                Some(Term::select(&elements, new_index.unwrap_or_else(|| (**index).clone())))
            }
            Term::Table(values, index) => Some(Term::table(values, index.with(cell, value)?)),
            Term::Unary(op, a) => Some(Term::unary(*op, a.with(cell, value)?)),
            Term::Binary(op, a, b) => match (a.with(cell, value), b.with(cell, value)) {
                (None, None) => None,
                (x, y) => {
                    let x = x.unwrap_or_else(|| (**a).clone());
                    Some(Term::binary(*op, x, y.unwrap_or_else(|| (**b).clone())))
                }
            },
            Term::If(parts) => {
                let changed = [0, 1, 2].map(|i: usize| parts[i].with(cell, value));
                if changed.iter().all(Option::is_none) {
                    return None;
                }
                let [condition, then, otherwise] = changed;
                Some(Term::choice(
                    condition.unwrap_or_else(|| parts[0].clone()),
                    then.unwrap_or_else(|| parts[1].clone()),
                    otherwise.unwrap_or_else(|| parts[2].clone()),
                ))
            }
            Term::Sum(parts, constant) => {
                let changed: Vec<Option<Term>> = parts.iter().map(|(_, term)| term.with(cell, value)).collect();
                if changed.iter().all(Option::is_none) {
                    return None;
                }
                let (mut left, mut constant) = (Vec::new(), *constant);
                for (new, (factor, old)) in changed.into_iter().zip(parts.iter()) {
                    match new {
                        None => left.push((*factor, old.clone())),
                        Some(Term::Const(k)) => constant = constant.wrapping_add(factor.wrapping_mul(k)),
                        Some(fault @ Term::Fault(_)) => return Some(fault),
                        Some(term) => left.push((*factor, term)),
                    }
                }
                Some(Term::of_parts(left, constant))
            }
            Term::Stored(store, a) => Some(Term::stored(*store, a.with(cell, value)?)),
        }
    }

    /// The value where every cell has one.
    pub fn eval(&self, read: &dyn Fn(u32) -> i64) -> Result<i64, Fault> {
        match self {
            Term::Const(value) => Ok(*value),
            Term::Fault(fault) => Err(*fault),
            Term::Cell(cell) => Ok(read(*cell)),
            Term::Select(elements, index) => {
                let index = index.eval(read)?;
                usize::try_from(index).ok().and_then(|i| elements.get(i)).ok_or(Fault::Index)?.eval(read)
            }
            Term::Table(values, index) => {
                let index = index.eval(read)?;
                usize::try_from(index).ok().and_then(|i| values.get(i)).copied().ok_or(Fault::Index)
            }
            Term::Unary(op, a) => Ok(op.apply(a.eval(read)?)),
            Term::Binary(BinaryOp::And, a, b) => Ok((a.eval(read)? != 0 && b.eval(read)? != 0) as i64),
            Term::Binary(BinaryOp::Or, a, b) => Ok((a.eval(read)? != 0 || b.eval(read)? != 0) as i64),
            Term::Binary(op, a, b) => op.apply(a.eval(read)?, b.eval(read)?),
            Term::If(parts) => {
                let which = if parts[0].eval(read)? != 0 { 1 } else { 2 };
                parts[which].eval(read)
            }
            Term::Sum(parts, constant) => {
                let mut sum = *constant;
                for (factor, term) in parts.iter() {
                    sum = sum.wrapping_add(factor.wrapping_mul(term.eval(read)?));
                }
                Ok(sum)
            }
            Term::Stored(store, a) => store.apply(a.eval(read)?),
        }
    }
}
