//! Expressions as written, before names mean anything.
//!
//! Nodes live in one vector and refer to each other by number, operands before operators: nothing is allocated per node,
//! and however deep an expression is, dropping it needs no stack.

use crate::diagnostic::Place;
use crate::symbols::Symbol;
use scrimp_system::{BinaryOp, UnaryOp};

/// A name where it is used or declared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    pub symbol: Symbol,
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExprId(u32);

#[derive(Debug, Clone, Copy)]
pub(crate) enum Node {
    Number(i32),
    Variable {
        name: Symbol,
        index: Option<ExprId>,
    },
    /// Something of another process; the number of a [`Member`].
    Member(u32),
    Unary(UnaryOp, ExprId),
    Binary(Operator, ExprId, ExprId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Plain(BinaryOp),
    /// `a imply b`: false only when `a` holds and `b` does not.
    Imply,
}

/// `P.location`, `P@location`, `P->variable[index]`, where `P` may be an instance such as `node(2)`.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub process: Name,
    pub arguments: Option<Vec<ExprId>>,
    pub separator: Separator,
    pub name: Name,
    pub index: Option<ExprId>,
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
}

impl Expressions {
    pub fn add(&mut self, node: Node, place: Place) -> ExprId {
        self.nodes.push((node, place));
        ExprId(self.nodes.len() as u32 - 1)
    }

    pub fn add_member(&mut self, member: Member, place: Place) -> ExprId {
        self.members.push(member);
        self.add(Node::Member(self.members.len() as u32 - 1), place)
    }

    pub fn node(&self, id: ExprId) -> Node {
        self.nodes[id.0 as usize].0
    }

    pub fn place(&self, id: ExprId) -> Place {
        self.nodes[id.0 as usize].1
    }

    pub fn member(&self, number: u32) -> &Member {
        &self.members[number as usize]
    }
}
