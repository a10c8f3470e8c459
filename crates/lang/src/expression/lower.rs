//! Gives expressions their meaning: names become variables, constants are folded.
//!
//! What a name means is asked of a [`Names`]. Trees that come out of here are never deeper than [`MAX_DEPTH`], so that
//! everything behind may recurse over them; long chains of `&&`, `||` and `+` are balanced, which changes neither the order
//! in which operands are evaluated nor which of them are.

use super::syntax::{ExprId, Expressions, Name, Node, Operator, Separator};
use crate::diagnostic::{Place, Problem};
use crate::symbols::Symbols;
use scrimp_system::{BinaryOp, Expr, UnaryOp, VarId};
use std::cell::Cell;
use std::sync::Arc;

/// Deepest tree that is built from one expression.
const MAX_DEPTH: u32 = 1000;
/// Chains up to this length keep the shape that the grammar gives them.
const SHORT_CHAIN: usize = 16;

/// What a name can stand for.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    Constant(i64),
    Table(Arc<[i64]>),
    Scalar(VarId),
    Array(VarId),
    /// "This control variable has this value."
    Location(VarId, i64),
}

/// A name to be looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference<'r> {
    pub process: Option<ProcessReference<'r>>,
    pub name: Name,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessReference<'r> {
    pub name: Name,
    /// The values in parentheses that choose an instance.
    pub arguments: Option<&'r [i64]>,
    pub separator: Separator,
}

pub(crate) trait Names {
    fn look_up(&self, reference: Reference<'_>) -> Result<Meaning, Problem>;
}

/// Counts what is built, so that a small text cannot ask for more memory than there is.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Cell<u64>,
    total: u64,
}

impl Budget {
    pub fn new(total: u64) -> Budget {
        Budget { left: Cell::new(total), total }
    }

    pub fn spend(&self, amount: u64, place: Place) -> Result<(), Problem> {
        match self.left.get().checked_sub(amount) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                let message = format!("the model is too large once written out: more than {} operations", self.total);
                Err(Problem::new(place, message))
            }
        }
    }
}

/// Where an assignment stores.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub variable: VarId,
    pub index: Option<Expr>,
}

pub(crate) struct Lowering<'a, N> {
    pub expressions: &'a Expressions,
    pub symbols: &'a Symbols<'a>,
    pub names: N,
    pub budget: &'a Budget,
}

/// An expression and the depth of its tree.
type Deep = (Expr, u32);

impl<N: Names> Lowering<'_, N> {
    pub fn value(&self, id: ExprId) -> Result<Expr, Problem> {
        Ok(self.deep(id)?.0)
    }

    /// The value of an expression that must be constant; `what` says what it is for.
    pub fn constant(&self, id: ExprId, what: &str) -> Result<i64, Problem> {
        let place = self.expressions.place(id);
        match self.value(id)? {
            Expr::Const(value) => Ok(value),
            Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, _, b) if *b == Expr::Const(0) => {
                Err(Problem::new(place, "division by zero"))
            }
            other => {
                let mut reads = false;
                other.reads(&mut |_, _| reads = true);
                let problem = match reads {
                    true => Problem::new(place, format!("{what} must be constant")),
                    false => Problem::new(place, format!("{what} has no value: division by zero or an index outside")),
                };
                Err(problem)
            }
        }
    }

    /// The variable or array element that an expression names.
    pub fn target(&self, id: ExprId) -> Result<Target, Problem> {
        let place = self.expressions.place(id);
        let (meaning, index) = match self.expressions.node(id) {
            Node::Variable { name, index } => (self.plain(name, place)?, index),
            Node::Member(number) => (self.member(number)?, self.expressions.member(number).index),
            _ => return Err(Problem::new(place, "expected a variable to store into")),
        };
        let refuse = |why: &str| Err(Problem::new(place, format!("`{}` {why}", self.spelling(id))));
        match (meaning, index) {
            (Meaning::Scalar(variable), None) => Ok(Target { variable, index: None }),
            (Meaning::Array(variable), Some(index)) => Ok(Target { variable, index: Some(self.value(index)?) }),
            (Meaning::Constant(_) | Meaning::Table(_), _) => refuse("is a constant and cannot be assigned"),
            (Meaning::Location(..), _) => refuse("is a location and cannot be assigned"),
            (meaning, index) => Err(self.wrong_index(id, &meaning, index)),
        }
    }

    fn deep(&self, id: ExprId) -> Result<Deep, Problem> {
        let place = self.expressions.place(id);
        self.budget.spend(1, place)?;
        match self.expressions.node(id) {
            Node::Number(value) => Ok((Expr::Const(value as i64), 1)),
            Node::Variable { name, index } => self.read(id, self.plain(name, place)?, index),
            Node::Member(number) => self.read(id, self.member(number)?, self.expressions.member(number).index),
            Node::Unary(op, operand) => {
                let (operand, depth) = self.deep(operand)?;
                self.checked(Expr::unary(op, operand), depth + 1, place)
            }
            Node::Binary(Operator::Plain(op), left, right)
                if !matches!(self.expressions.node(left), Node::Binary(..)) =>
            {
                let (left, right) = (self.deep(left)?, self.deep(right)?);
                self.checked(Expr::binary(op, left.0, right.0), left.1.max(right.1) + 1, place)
            }
            Node::Binary(..) => self.chain(id),
        }
    }

    /// Binary operators, down the left side in a loop: only right operands recurse, and the parser bounds those.
    fn chain(&self, id: ExprId) -> Result<Deep, Problem> {
        let mut links = Vec::new();
        let mut first = id;
        while let Node::Binary(operator, left, right) = self.expressions.node(first) {
            links.push((operator, right, self.expressions.place(first)));
            first = left;
        }
        self.budget.spend(links.len() as u64, self.expressions.place(id))?;
        let mut whole = self.deep(first)?;
        while let Some((operator, right, place)) = links.pop() {
            let Operator::Plain(op) = operator else {
                let right = self.deep(right)?;
                let depth = whole.1.max(right.1) + 2;
                let premise = Expr::unary(UnaryOp::Not, whole.0);
                whole = self.checked(Expr::binary(BinaryOp::Or, premise, right.0), depth, place)?;
                continue;
            };
            let is_long = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Add)
                && links.len() >= SHORT_CHAIN
                && links[links.len() - SHORT_CHAIN..].iter().all(|link| link.0 == operator);
            if !is_long {
                let right = self.deep(right)?;
                whole = self.checked(Expr::binary(op, whole.0, right.0), whole.1.max(right.1) + 1, place)?;
                continue;
            }
            let mut operands = vec![whole, self.deep(right)?];
            while let Some((_, right, _)) = links.pop_if(|link| link.0 == operator) {
                operands.push(self.deep(right)?);
            }
            let (expr, depth) = balanced(op, operands);
            whole = self.checked(expr, depth, place)?;
        }
        Ok(whole)
    }

    fn checked(&self, expr: Expr, depth: u32, place: Place) -> Result<Deep, Problem> {
        if depth <= MAX_DEPTH {
            return Ok((expr, depth));
        }
        Err(Problem::new(place, format!("this expression is more than {MAX_DEPTH} operators deep")))
    }

    fn plain(&self, symbol: crate::symbols::Symbol, place: Place) -> Result<Meaning, Problem> {
        // The place of the node includes the index; the name is what stands at its start.
        let end = place.start + self.symbols.name(symbol).len() as u32;
        let name = Name { symbol, place: Place { start: place.start, end } };
        self.names.look_up(Reference { process: None, name })
    }

    fn member(&self, number: u32) -> Result<Meaning, Problem> {
        let member = self.expressions.member(number);
        let arguments = match &member.arguments {
            None => None,
            Some(list) => Some(
                list.iter().map(|&e| self.constant(e, "the number of an instance")).collect::<Result<Vec<_>, _>>()?,
            ),
        };
        let process = Some(ProcessReference {
            name: member.process,
            arguments: arguments.as_deref(),
            separator: member.separator,
        });
        self.names.look_up(Reference { process, name: member.name })
    }

    fn read(&self, id: ExprId, meaning: Meaning, index: Option<ExprId>) -> Result<Deep, Problem> {
        match (meaning, index) {
            (Meaning::Constant(value), None) => Ok((Expr::Const(value), 1)),
            (Meaning::Scalar(variable), None) => Ok((Expr::Var(variable), 1)),
            (Meaning::Location(control, location), None) => Ok((Expr::equals(control, location), 2)),
            (Meaning::Array(variable), Some(index)) => {
                let (index, depth) = self.deep(index)?;
                self.checked(Expr::Element(variable, Box::new(index)), depth + 1, self.expressions.place(id))
            }
            (Meaning::Table(values), Some(index)) => {
                let (index, depth) = self.deep(index)?;
                let known = index.as_const().and_then(|i| usize::try_from(i).ok()).and_then(|i| values.get(i));
                match known {
                    Some(&value) => Ok((Expr::Const(value), 1)),
                    None => self.checked(Expr::Table(values, Box::new(index)), depth + 1, self.expressions.place(id)),
                }
            }
            (meaning, index) => Err(self.wrong_index(id, &meaning, index)),
        }
    }

    fn wrong_index(&self, id: ExprId, meaning: &Meaning, index: Option<ExprId>) -> Problem {
        let spelling = self.spelling(id);
        match (index, meaning) {
            (None, _) => {
                Problem::new(self.expressions.place(id), format!("array `{spelling}` is used without an index"))
                    .help(format!("choose an element: `{spelling}[0]`"))
            }
            (Some(_), Meaning::Location(..)) => {
                Problem::new(self.expressions.place(id), format!("`{spelling}` is a location and has no index"))
            }
            (Some(_), _) => Problem::new(self.expressions.place(id), format!("`{spelling}` is not an array")),
        }
    }

    /// The name that a reference is written with, without its index.
    fn spelling(&self, id: ExprId) -> String {
        match self.expressions.node(id) {
            Node::Variable { name, .. } => self.symbols.name(name).to_string(),
            Node::Member(number) => {
                let member = self.expressions.member(number);
                let separator = match member.separator {
                    Separator::Dot => ".",
                    Separator::Arrow => "->",
                    Separator::At => "@",
                };
                let name = |n: Name| self.symbols.name(n.symbol);
                format!("{}{separator}{}", name(member.process), name(member.name))
            }
            _ => "expression".into(),
        }
    }
}

/// Joins operands with an associative operator into a tree of logarithmic depth.
fn balanced(op: BinaryOp, mut operands: Vec<Deep>) -> Deep {
    while operands.len() > 1 {
        let mut pairs = operands.into_iter();
        let mut next = Vec::with_capacity(pairs.len().div_ceil(2));
        while let Some(left) = pairs.next() {
            next.push(match pairs.next() {
                Some(right) => (Expr::binary(op, left.0, right.0), left.1.max(right.1) + 1),
                None => left,
            });
        }
        operands = next;
    }
    operands.pop().unwrap_or((Expr::TRUE, 1))
}

/// The conjunction of conditions, evaluated in their order; of many, a balanced one.
pub(crate) fn all_of(conditions: Vec<Expr>) -> Expr {
    if conditions.len() <= SHORT_CHAIN {
        return conditions.into_iter().fold(Expr::TRUE, Expr::and);
    }
    let kept = conditions.into_iter().filter(|c| !matches!(c, Expr::Const(k) if *k != 0));
    balanced(BinaryOp::And, kept.map(|c| (c, 1)).collect()).0
}
