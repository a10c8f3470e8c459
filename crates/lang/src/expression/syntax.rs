//! Expressions as written, before names mean anything.
//!
//! All expressions of a text are one vector of nodes in postfix order, operands before operators, so that giving them
//! meaning is one walk along the vector with a stack of values: nothing is allocated per node, nothing recurses.

use super::ranking::Ranking;
use super::temporal::TemporalOperator;
use crate::diagnostic::Place;
use crate::symbols::Symbol;
use scrimp_system::{BinaryOp, UnaryOp};

/// A name where it is used or declared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    pub symbol: Symbol,
    pub place: Place,
}

/// An expression: the nodes from the first to the last, which is its outermost operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExprId {
    first: u32,
    last: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Node {
    Number(i32),
    Variable(Symbol),
    /// An element of an array, after its index.
    Element(Symbol),
    /// Something of another process, after the arguments and the index; the number of a [`Member`].
    Member(u32),
    /// The rank of a process's location, after the arguments, or of the operand before.
    Ranking(u32),
    Unary(UnaryOp),
    /// Between the operands of an operator whose left operand can decide: the number of the operator's node.
    Left(Operator, u32),
    Binary(Operator),
    /// After its operands, the number of a temporal operator.
    Temporal(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Plain(BinaryOp),
    /// `a imply b`: false only when `a` holds and `b` does not.
    Imply,
}

impl Operator {
    /// True when the right operand is not always evaluated.
    fn is_lazy(self) -> bool {
        matches!(self, Operator::Plain(BinaryOp::And | BinaryOp::Or) | Operator::Imply)
    }
}

/// `P.location`, `P@location`, `P->variable[index]`, where `P` may be an instance such as `node(2)`.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub process: Name,
    pub arguments: Option<Vec<ExprId>>,
    pub separator: Separator,
    pub name: Name,
    pub has_index: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    Dot,
    Arrow,
    At,
}

#[derive(Debug, Default)]
pub(crate) struct Expressions {
    nodes: Vec<(Node, Place)>,
    members: Vec<Member>,
    rankings: Vec<Ranking>,
    /// Temporal operators, each with the place of itself alone.
    temporal: Vec<(TemporalOperator, Place)>,
}

impl Expressions {
    fn add(&mut self, node: Node, place: Place) -> u32 {
        self.nodes.push((node, place));
        self.nodes.len() as u32 - 1
    }

    pub fn add_number(&mut self, value: i32, place: Place) -> ExprId {
        let node = self.add(Node::Number(value), place);
        ExprId { first: node, last: node }
    }

    pub fn add_variable(&mut self, name: Symbol, index: Option<ExprId>, place: Place) -> ExprId {
        let node = if index.is_some() { Node::Element(name) } else { Node::Variable(name) };
        let last = self.add(node, place);
        ExprId { first: index.map_or(last, |index| index.first), last }
    }

    pub fn add_member(&mut self, member: Member, index: Option<ExprId>, place: Place) -> ExprId {
        let argument = member.arguments.as_ref().and_then(|list| list.first());
        let inner = argument.or(index.as_ref()).map(|e| e.first);
        self.members.push(member);
        let last = self.add(Node::Member(self.members.len() as u32 - 1), place);
        ExprId { first: inner.unwrap_or(last), last }
    }

    pub fn add_ranking(&mut self, ranking: Ranking, operand: Option<ExprId>, place: Place) -> ExprId {
        let arguments = ranking.process.as_ref().and_then(|(_, list)| list.as_ref());
        let inner = operand.or(arguments.and_then(|list| list.first().copied())).map(|e| e.first);
        self.rankings.push(ranking);
        let last = self.add(Node::Ranking(self.rankings.len() as u32 - 1), place);
        ExprId { first: inner.unwrap_or(last), last }
    }

    pub fn add_unary(&mut self, op: UnaryOp, operand: ExprId, place: Place) -> ExprId {
        ExprId { first: operand.first, last: self.add(Node::Unary(op), place) }
    }

    /// A temporal operator, written at `at`, before its operand or between its two operands.
    pub fn add_temporal(
        &mut self,
        operator: TemporalOperator,
        at: Place,
        left: Option<ExprId>,
        right: ExprId,
    ) -> ExprId {
        let (first, start) = match left {
            Some(left) => (left.first, self.place(left)),
            None => (right.first, at),
        };
        self.temporal.push((operator, at));
        let node = Node::Temporal(self.temporal.len() as u32 - 1);
        ExprId { first, last: self.add(node, start.to(self.place(right))) }
    }

    /// Announces `operator` once its left operand is added, before the right one is.
    pub fn begin_binary(&mut self, operator: Operator) {
        if operator.is_lazy() {
            self.add(Node::Left(operator, 0), Place::default());
        }
    }

    /// `left operator right`. Numbers are folded right away, for generated models compare them by the ten thousand, unless
    /// that is a fault or gives no number that could be written.
    pub fn add_binary(&mut self, operator: Operator, left: ExprId, right: ExprId) -> ExprId {
        let place = self.place(left).to(self.place(right));
        if let (Operator::Plain(op), Node::Number(a), Node::Number(b)) = (operator, self.root(left), self.root(right))
            && let Ok(Ok(value)) = op.apply(a as i64, b as i64).map(i32::try_from)
        {
            self.nodes.truncate(left.first as usize);
            return self.add_number(value, place);
        }
        let last = self.add(Node::Binary(operator), place);
        if operator.is_lazy() {
            self.nodes[left.last as usize + 1].0 = Node::Left(operator, last);
        }
        ExprId { first: left.first, last }
    }

    /// The outermost operator.
    pub fn root(&self, id: ExprId) -> Node {
        self.nodes[id.last as usize].0
    }

    pub fn place(&self, id: ExprId) -> Place {
        self.nodes[id.last as usize].1
    }

    /// The nodes of an expression with their places.
    pub fn nodes(&self, id: ExprId) -> &[(Node, Place)] {
        &self.nodes[id.first as usize..=id.last as usize]
    }

    /// The number of the first node, from which [`Node::Left`] counts.
    pub fn first(&self, id: ExprId) -> u32 {
        id.first
    }

    /// The number of the outermost operator.
    pub fn last(&self, id: ExprId) -> u32 {
        id.last
    }

    /// The index of an expression whose root is an array element.
    pub fn index_of(&self, id: ExprId) -> ExprId {
        let first = match self.root(id) {
            // Arguments come first; the index is what is left.
            Node::Member(number) => {
                let last_argument = self.member(number).arguments.as_ref().and_then(|list| list.last());
                last_argument.map_or(id.first, |argument| argument.last + 1)
            }
            _ => id.first,
        };
        ExprId { first, last: id.last - 1 }
    }

    /// For each node of an expression the number of the first node that belongs to it, from the expression's first on.
    pub fn beginnings(&self, id: ExprId) -> Vec<u32> {
        let mut open: Vec<u32> = Vec::new();
        let mut beginnings = Vec::with_capacity((id.last - id.first) as usize + 1);
        for (number, (node, _)) in (id.first..=id.last).zip(self.nodes(id)) {
            let operands = match *node {
                Node::Number(_) | Node::Variable(_) => 0,
                Node::Element(_) | Node::Unary(_) => 1,
                Node::Binary(_) => 2,
                Node::Member(m) => {
                    let member = self.member(m);
                    member.arguments.as_ref().map_or(0, Vec::len) + member.has_index as usize
                }
                Node::Ranking(r) => match &self.ranking(r).process {
                    Some((_, list)) => list.as_ref().map_or(0, Vec::len),
                    None => 1,
                },
                Node::Temporal(t) => self.temporal(t).0.operands(),
                // It belongs to what comes before it, and is no operand.
                Node::Left(..) => {
                    beginnings.push(number);
                    continue;
                }
            };
            let kept = open.len().saturating_sub(operands);
            let first = open.get(kept).copied().unwrap_or(number);
            open.truncate(kept);
            open.push(first);
            beginnings.push(first);
        }
        beginnings
    }

    /// The part of an expression from one node to another.
    pub fn part(first: u32, last: u32) -> ExprId {
        ExprId { first, last }
    }

    pub fn temporal(&self, number: u32) -> (TemporalOperator, Place) {
        self.temporal[number as usize]
    }

    pub fn ranking(&self, number: u32) -> &Ranking {
        &self.rankings[number as usize]
    }

    pub fn member(&self, number: u32) -> &Member {
        &self.members[number as usize]
    }
}
