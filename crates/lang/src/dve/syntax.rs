//! A DVE model as written: the declarations in their order, with names not yet resolved.

use crate::diagnostic::Place;
use crate::expression::syntax::{ExprId, Name};
use scrimp_system::Span;

#[derive(Debug, Default)]
pub(crate) struct Model {
    pub variables: Vec<VariableDeclaration>,
    pub channels: Vec<ChannelDeclaration>,
    /// Bodies of processes and of process templates, in the order of the text.
    pub bodies: Vec<Body>,
    /// What makes processes of bodies, in the order of the text.
    pub items: Vec<Item>,
    /// `expression name() { ... }`
    pub expressions: Vec<(Name, ExprId)>,
    /// The process named by `system async property P`.
    pub property: Option<Name>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Byte,
    Int,
}

#[derive(Debug)]
pub(crate) struct VariableDeclaration {
    pub name: Name,
    pub kind: Kind,
    pub ty: Type,
    pub size: Option<ExprId>,
    pub initial: InitialValue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Variable,
    Constant,
    /// A constant that other tools let the user choose; here it has its default.
    Input,
}

#[derive(Debug)]
pub(crate) enum InitialValue {
    None,
    Single(ExprId),
    List(Vec<ExprId>),
}

#[derive(Debug)]
pub(crate) struct ChannelDeclaration {
    pub name: Name,
    /// The tuple that is passed; `None` for an untyped channel.
    pub types: Option<Vec<Type>>,
    pub capacity: Option<ExprId>,
}

#[derive(Debug)]
pub(crate) struct Body {
    pub name: Name,
    /// `Some` for a template, which is no process until it is instantiated.
    pub parameters: Option<Vec<Parameter>>,
    /// Declared as `property process`.
    pub is_property: bool,
    pub variables: Vec<VariableDeclaration>,
    pub states: Vec<Name>,
    pub initial: Option<Name>,
    pub accepting: Vec<Name>,
    pub committed: Vec<Name>,
    pub assertions: Vec<AssertionLine>,
    pub transitions: Vec<Transition>,
    /// The heading, `process P`.
    pub span: Span,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub name: Name,
    /// Marked `key`: part of the instance's name.
    pub is_key: bool,
}

#[derive(Debug)]
pub(crate) struct AssertionLine {
    pub state: Name,
    pub condition: ExprId,
    pub span: Span,
}

#[derive(Debug)]
pub(crate) struct Transition {
    pub from: Name,
    pub to: Name,
    pub guards: Vec<ExprId>,
    pub sync: Option<Sync>,
    pub effects: Vec<(ExprId, ExprId)>,
    pub span: Span,
}

#[derive(Debug)]
pub(crate) struct Sync {
    pub channel: Name,
    pub direction: Direction,
    /// Sent expressions, or the variables that receive.
    pub values: Vec<ExprId>,
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Send,
    Receive,
}

#[derive(Debug)]
pub(crate) enum Item {
    /// The process whose body has this number.
    Process(usize),
    /// `process template(arguments);`
    Instance { template: Name, arguments: Vec<ExprId> },
    /// `for (variable : low .. high) { items }`
    For { variable: Name, low: ExprId, high: ExprId, items: Vec<Item> },
}
