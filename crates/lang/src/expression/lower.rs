//! Gives expressions their meaning: names become variables, constants are folded.
//!
//! What a name means is asked of a [`Names`]. Trees that come out of here are never deeper than [`MAX_DEPTH`], so that
//! everything behind may recurse over them. What a constant makes unreachable is checked but not built.

use super::ranking::Locations;
use super::syntax::{ExprId, Expressions, Member, Name, Node, Operator, Separator};
use super::value::{Value, decided, is_neutral, is_truth};
use crate::diagnostic::{Place, Problem};
use crate::symbols::Symbols;
use scrimp_system::{BinaryOp, Expr, UnaryOp, VarId};
use std::cell::Cell;
use std::sync::Arc;

/// Deepest tree that is built from one expression.
const MAX_DEPTH: u32 = 1000;
const INSTANCE: &str = "the number of an instance";

/// What a name can stand for.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    Constant(i64),
    Table(Arc<[i64]>),
    Scalar(VarId),
    Array(VarId),
    /// "This control variable has this value."
    Location(VarId, i64),
    /// What a system shows instead of variables.
    View(Expr),
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

    /// Told of an array that stands at `place` without an index: true if its first element is meant, false if it is wrong.
    fn allows_unindexed(&self, place: Place) -> bool;

    /// Is what has a meaning and is never meant an error?
    fn is_strict(&self) -> bool {
        false
    }

    /// The locations of a process, for rankings; models have none.
    fn locations(&self, process: Name, _arguments: Option<&[i64]>) -> Result<Locations<'_>, Problem> {
        Err(Problem::new(process.place, "locations can only be ranked in a progress measure"))
    }
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
                let message = format!("the model expands to more than {} operations", self.total);
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

impl<N: Names> Lowering<'_, N> {
    pub fn value(&self, id: ExprId) -> Result<Expr, Problem> {
        let mut unknown = Vec::new();
        let value = self.value_noting(id, &mut unknown);
        // What else is wrong may follow from these.
        Problem::all(unknown)?;
        value
    }

    /// The value, with something in the place of names that are unknown, so that one does not hide the others.
    fn value_noting(&self, id: ExprId, unknown: &mut Vec<Problem>) -> Result<Expr, Problem> {
        let mut note = |problem: Problem| {
            unknown.push(problem);
            Value::new(Expr::Var(VarId(u32::MAX)), 1)
        };
        let nodes = self.expressions.nodes(id);
        self.budget.spend(nodes.len() as u64, self.expressions.place(id))?;
        let mut values: Vec<Value> = Vec::new();
        let mut at = 0;
        while let Some(&(node, place)) = nodes.get(at) {
            at += 1;
            match node {
                Node::Number(value) => values.push(Value::new(Expr::Const(value as i64), 1)),
                Node::Variable(name) => values.push(match self.plain(name, place) {
                    Ok(Meaning::Constant(value)) => Value::new(Expr::Const(value), 1),
                    Ok(Meaning::Scalar(variable)) => Value::new(Expr::Var(variable), 1),
                    Ok(meaning) => self.read(meaning, None, node, place)?,
                    Err(problem) => note(problem),
                }),
                Node::Element(name) => {
                    let index = values.pop();
                    values.push(match self.plain(name, place) {
                        Ok(meaning) => self.read(meaning, index, node, place)?,
                        Err(problem) => note(problem),
                    });
                }
                Node::Member(number) => {
                    let member = self.expressions.member(number);
                    let index = if member.has_index { values.pop() } else { None };
                    let meaning = match &member.arguments {
                        None => self.member(member, None),
                        Some(list) => {
                            let given = values.split_off(values.len() - list.len());
                            let known =
                                given.iter().zip(list).map(|(value, id)| self.known(&value.expr, *id, INSTANCE));
                            self.member(member, Some(&known.collect::<Result<Vec<_>, _>>()?))
                        }
                    };
                    values.push(match meaning {
                        Ok(meaning) => self.read(meaning, index, node, place)?,
                        Err(problem) => note(problem),
                    });
                }
                Node::Ranking(number) => {
                    let ranking = self.expressions.ranking(number);
                    let given = match &ranking.process {
                        Some((_, list)) => values.split_off(values.len() - list.as_ref().map_or(0, Vec::len)),
                        None => values.split_off(values.len() - 1),
                    };
                    let list = ranking.process.as_ref().and_then(|(_, list)| list.as_ref());
                    let known = match list {
                        Some(list) => {
                            let known =
                                given.iter().zip(list).map(|(value, id)| self.known(&value.expr, *id, INSTANCE));
                            Some(known.collect::<Result<Vec<_>, _>>()?)
                        }
                        None => None,
                    };
                    let depth = given.first().map_or(1, |value| value.depth) + 4;
                    let operand = given.into_iter().next().map(|value| value.expr);
                    values.push(Value::new(self.rank(ranking, operand, known.as_deref(), place)?, depth));
                }
                Node::Unary(op) => {
                    let operand = values.pop().unwrap_or_default();
                    let is_condition = is_truth(&operand.expr) && !matches!(operand.expr, Expr::Const(_));
                    if op == UnaryOp::Complement && self.names.is_strict() && is_condition {
                        let message = "`~` complements the bits of a number, but this is a condition";
                        return Err(Problem::new(place, message).help("for \"not\", write `!`"));
                    }
                    values.push(Value::new(Expr::unary(op, operand.expr), operand.depth + 1));
                }
                Node::Left(operator, end) => {
                    if let Some(left) = values.last_mut()
                        && let Some(decided) = decided(operator, &left.expr)
                    {
                        *left = Value::new(decided, 1);
                        let end = (end - self.expressions.first(id)) as usize;
                        self.check_names(&nodes[at..end])?;
                        at = end + 1;
                    }
                }
                Node::Temporal(number) => {
                    let at = self.expressions.temporal(number).1;
                    let problem =
                        Problem::new(at, "a temporal operator cannot stand within a comparison or a calculation");
                    return Err(problem.help("put what it is about in parentheses: `F (x == 1)`"));
                }
                Node::Binary(operator) => {
                    let right = values.pop().unwrap_or_default();
                    if let Some(left) = values.last_mut() {
                        left.join(operator, right);
                    }
                }
            }
            if values.last().is_some_and(|value| value.depth > MAX_DEPTH) {
                return Err(Problem::new(place, format!("this expression is more than {MAX_DEPTH} operators deep")));
            }
        }
        Ok(values.pop().unwrap_or_default().expr)
    }

    /// The value of an expression that must be constant; `what` says what it is for.
    pub fn constant(&self, id: ExprId, what: &str) -> Result<i64, Problem> {
        self.known(&self.value(id)?, id, what)
    }

    fn known(&self, value: &Expr, id: ExprId, what: &str) -> Result<i64, Problem> {
        let place = self.expressions.place(id);
        match value {
            Expr::Const(value) => Ok(*value),
            other => {
                let mut reads = false;
                other.reads(&mut |_, _| reads = true);
                // What reads nothing and is not folded is a fault.
                let problem = match other.eval(&|_, _| Ok(0)) {
                    Err(fault) if !reads => Problem::new(place, format!("{what} cannot be computed: {fault}")),
                    _ => Problem::new(place, format!("{what} must be constant")),
                };
                Err(problem)
            }
        }
    }

    /// The variable or array element that an expression names.
    pub fn target(&self, id: ExprId) -> Result<Target, Problem> {
        let (node, place) = (self.expressions.root(id), self.expressions.place(id));
        let (meaning, has_index) = match node {
            Node::Variable(name) => (self.plain(name, place)?, false),
            Node::Element(name) => (self.plain(name, place)?, true),
            Node::Member(number) => {
                let member = self.expressions.member(number);
                (self.member_with_arguments(member)?, member.has_index)
            }
            _ => return Err(Problem::new(place, "expected a variable to store into")),
        };
        let refuse = |why: &str| Err(Problem::new(place, format!("`{}` {why}", self.spelling(node))));
        match (meaning, has_index) {
            (Meaning::Constant(_) | Meaning::Table(_), _) => refuse("is a constant and cannot be assigned"),
            (Meaning::Location(..), _) => refuse("is a location and cannot be assigned"),
            (Meaning::View(_), _) => refuse("cannot be assigned"),
            (Meaning::Scalar(variable), false) => Ok(Target { variable, index: None }),
            (Meaning::Scalar(_), true) => refuse("is not an array"),
            (Meaning::Array(variable), true) => {
                Ok(Target { variable, index: Some(self.value(self.expressions.index_of(id))?) })
            }
            (Meaning::Array(variable), false) => {
                Ok(Target { variable, index: Some(self.first_element(node, place)?.expr) })
            }
        }
    }

    /// Looks up every name among these nodes, for operands that are never evaluated.
    fn check_names(&self, nodes: &[(Node, Place)]) -> Result<(), Problem> {
        for &(node, place) in nodes {
            let (meaning, has_index) = match node {
                Node::Number(_)
                | Node::Unary(_)
                | Node::Left(..)
                | Node::Binary(_)
                | Node::Ranking(_)
                | Node::Temporal(_) => {
                    continue;
                }
                Node::Variable(name) => match self.plain(name, place)? {
                    Meaning::Constant(_) | Meaning::Scalar(_) => continue,
                    meaning => (meaning, false),
                },
                Node::Element(name) => (self.plain(name, place)?, true),
                Node::Member(number) => {
                    let member = self.expressions.member(number);
                    (self.member_with_arguments(member)?, member.has_index)
                }
            };
            self.read(meaning, has_index.then(Value::default), node, place)?;
        }
        Ok(())
    }

    fn plain(&self, symbol: crate::symbols::Symbol, place: Place) -> Result<Meaning, Problem> {
        // The place of the node includes the index; the name is what stands at its start.
        let length = self.symbols.name(symbol).len() as u32;
        let end = place.end.min(place.start + length).max(place.start);
        let name = Name { symbol, place: Place { start: place.start, end } };
        self.names.look_up(Reference { process: None, name })
    }

    fn member(&self, member: &Member, arguments: Option<&[i64]>) -> Result<Meaning, Problem> {
        let process = Some(ProcessReference { name: member.process, arguments, separator: member.separator });
        self.names.look_up(Reference { process, name: member.name })
    }

    fn member_with_arguments(&self, member: &Member) -> Result<Meaning, Problem> {
        let arguments = member.arguments.iter().flatten().map(|e| self.constant(*e, INSTANCE));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        self.member(member, member.arguments.is_some().then_some(&arguments))
    }

    /// The value of what a name means, with an index if there is one.
    fn read(&self, meaning: Meaning, index: Option<Value>, node: Node, place: Place) -> Result<Value, Problem> {
        match (meaning, index) {
            (Meaning::Constant(value), None) => Ok(Value::new(Expr::Const(value), 1)),
            (Meaning::View(value), None) => {
                self.budget.spend(value.size() as u64, place)?;
                let depth = value.depth();
                Ok(Value::new(value, depth))
            }
            (Meaning::Scalar(variable), None) => Ok(Value::new(Expr::Var(variable), 1)),
            (Meaning::Location(control, location), None) => Ok(Value::new(Expr::equals(control, location), 2)),
            (meaning @ (Meaning::Array(_) | Meaning::Table(_)), None) => {
                self.read(meaning, Some(self.first_element(node, place)?), node, place)
            }
            (Meaning::Array(variable), Some(index)) => {
                Ok(Value::new(Expr::Element(variable, Box::new(index.expr)), index.depth + 1))
            }
            (Meaning::Table(values), Some(index)) => {
                let known = index.expr.as_const().and_then(|i| usize::try_from(i).ok()).and_then(|i| values.get(i));
                Ok(match known {
                    Some(&value) => Value::new(Expr::Const(value), 1),
                    None => Value::new(Expr::Table(values, Box::new(index.expr)), index.depth + 1),
                })
            }
            (meaning, Some(_)) => {
                let is_location = matches!(meaning, Meaning::Location(..));
                let why = if is_location { "is a location and has no index" } else { "is not an array" };
                Err(Problem::new(place, format!("`{}` {why}", self.spelling(node))))
            }
        }
    }

    /// The index of an array that is named without one.
    fn first_element(&self, node: Node, place: Place) -> Result<Value, Problem> {
        if self.names.allows_unindexed(place) {
            return Ok(Value::default());
        }
        let spelling = self.spelling(node);
        Err(Problem::new(place, format!("array `{spelling}` is used without an index"))
            .help(format!("choose an element: `{spelling}[0]`")))
    }

    /// The name that a reference is written with, without its index.
    fn spelling(&self, node: Node) -> String {
        match node {
            Node::Variable(name) | Node::Element(name) => self.symbols.name(name).to_string(),
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

/// The conjunction of conditions, evaluated in their order.
pub(crate) fn all_of(conditions: Vec<Expr>) -> Expr {
    let mut whole: Option<Value> = None;
    for condition in conditions.into_iter().filter(|c| !is_neutral(BinaryOp::And, c)) {
        let next = Value::new(condition, 1);
        match &mut whole {
            Some(whole) => whole.join(Operator::Plain(BinaryOp::And), next),
            None => whole = Some(next),
        }
    }
    whole.map_or(Expr::TRUE, |whole| whole.expr)
}
