//! A Promela model as it is written, after the preprocessor and with inlines expanded: names are not looked up yet.
//!
//! Places are bytes of the model's whole text: the main file with the files that it includes behind it.

use crate::diagnostic::Place;
pub(crate) use scrimp_system::{BinaryOp as Binary, UnaryOp as Unary};
use std::sync::Arc;

/// A name and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ident {
    pub name: Arc<str>,
    pub place: Place,
}

/// The whole model, in the order of its text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Specification {
    pub items: Vec<Item>,
}

#[derive(Debug, Clone)]
pub(crate) enum Item {
    /// `mtype = { a, b }`, or `mtype:kind = { a, b }`.
    Mtype {
        kind: Option<Ident>,
        values: Vec<Ident>,
    },
    Typedef(Typedef),
    Variables(Vec<Declaration>),
    Process(Process),
    Never(Never),
    Trace(Trace),
    Ltl(Ltl),
}

#[derive(Debug, Clone)]
pub(crate) struct Typedef {
    pub name: Ident,
    pub fields: Vec<Declaration>,
}

#[derive(Debug, Clone)]
pub(crate) struct Declaration {
    pub name: Ident,
    pub kind: Type,
    /// `x[length]`.
    pub length: Option<Expression>,
    pub initial: Option<Initial>,
    /// Declared `hidden`: not a part of the state.
    pub hidden: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    /// `unsigned x : bits`.
    Unsigned(u32),
    /// With the name of its kind, if it has one.
    Mtype(Option<Ident>),
    Chan,
    /// A typedef.
    Record(Ident),
}

#[derive(Debug, Clone)]
pub(crate) enum Initial {
    Value(Expression),
    /// `{ a, b, c }`, for an array.
    List(Vec<Expression>),
    /// `[capacity] of { fields }`.
    Channel {
        capacity: Expression,
        fields: Vec<(Type, Place)>,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Process {
    /// `init` for the initial process.
    pub name: Ident,
    pub is_init: bool,
    /// `active` or `active [n]`: how many there are at first. `init` is active once.
    pub active: Option<Active>,
    /// Declared `D_proctype`.
    pub deterministic: bool,
    pub parameters: Vec<Declaration>,
    pub priority: Option<Expression>,
    pub provided: Option<Expression>,
    pub body: Sequence,
    /// The closing brace.
    pub end: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum Active {
    Once,
    Times(Expression),
}

#[derive(Debug, Clone)]
pub(crate) struct Never {
    pub body: Sequence,
    pub place: Place,
    pub end: Place,
}

#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub not: bool,
    pub body: Sequence,
    pub place: Place,
    pub end: Place,
}

#[derive(Debug, Clone)]
pub(crate) struct Ltl {
    pub name: Option<Ident>,
    pub formula: Expression,
}

pub(crate) type Sequence = Vec<Step>;

/// A statement or a declaration, with the labels before it.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub labels: Vec<Ident>,
    pub kind: StepKind,
    /// From the first token to the last; where an inline is expanded, the tokens in the inline's body.
    pub place: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum StepKind {
    Declaration(Vec<Declaration>),
    /// `xr c, d` or `xs c`.
    Exclusive {
        receive: bool,
        channels: Vec<Reference>,
    },
    /// An expression as a statement; `skip` is the number 1.
    Condition(Expression),
    /// Also `x++` and `x--`, as `x = x + 1` and `x = x - 1`.
    Assign {
        target: Reference,
        value: Expression,
    },
    /// `c!a,b`, sorted with `!!`. `c!a(b)` is the same as `c!a,b`.
    Send {
        channel: Reference,
        sorted: bool,
        arguments: Vec<Expression>,
    },
    /// `c?x,y`, any message with `??`, leaving the message in the channel with `<x,y>`.
    Receive {
        channel: Reference,
        random: bool,
        keep: bool,
        arguments: Vec<Argument>,
    },
    Assert(Expression),
    /// `printf`; the text is without its quotes, escapes still in it.
    Print {
        format: Arc<str>,
        arguments: Vec<Expression>,
    },
    /// `printm(x)`.
    PrintName(Expression),
    SetPriority {
        process: Expression,
        priority: Expression,
    },
    Else,
    Break,
    Goto(Ident),
    If(Vec<Sequence>),
    Do(Vec<Sequence>),
    Atomic(Sequence),
    DStep(Sequence),
    /// `{ ... }`.
    Block(Sequence),
    Unless {
        main: Sequence,
        escape: Sequence,
    },
    /// `for (x : from .. to) { body }`.
    ForRange {
        variable: Reference,
        from: Expression,
        to: Expression,
        body: Sequence,
    },
    /// `for (x in container) { body }`: an array, or a channel of records.
    ForIn {
        variable: Reference,
        container: Reference,
        body: Sequence,
    },
    /// `select (x : from .. to)`.
    Select {
        variable: Reference,
        from: Expression,
        to: Expression,
    },
}

/// What a receive does with a field.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    /// A constant (a number or a name of an mtype), which must match; or a variable that takes the value; `_` takes nothing.
    /// Which of these a name is, is not known before names are looked up.
    Plain(Expression),
    /// `eval(e)`, which must match.
    Eval(Expression),
}

/// `x`, `x[i]`, `x.f[j].g`.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub name: Ident,
    pub index: Option<Box<Expression>>,
    pub field: Option<Box<Reference>>,
}

impl Reference {
    /// The name that it ends with: the variable's, or the last field's.
    pub fn last_name(&self) -> &Ident {
        self.field.as_ref().map_or(&self.name, |field| field.last_name())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub kind: Box<ExpressionKind>,
    pub place: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum ExpressionKind {
    Number(i64),
    /// A variable, the name of an mtype value, or a predefined name such as `_pid`.
    Name(Reference),
    Unary(Unary, Expression),
    Binary(Binary, Expression, Expression),
    /// `(c -> a : b)`.
    Conditional(Expression, Expression, Expression),
    /// `len(c)`, `empty(c)`, ...
    Channel(ChannelTest, Reference),
    /// `c?[x]` and `c??[x]`.
    Poll {
        channel: Reference,
        random: bool,
        arguments: Vec<Argument>,
    },
    Timeout,
    /// `np_`.
    NonProgress,
    Run {
        process: Ident,
        arguments: Vec<Expression>,
        priority: Option<Expression>,
    },
    /// `P[e]:x` and `P:x`.
    RemoteVariable {
        process: Ident,
        pid: Option<Expression>,
        variable: Reference,
    },
    /// `P[e]@l` and `P@l`.
    RemoteLabel {
        process: Ident,
        pid: Option<Expression>,
        label: Ident,
    },
    Enabled(Expression),
    PcValue(Expression),
    GetPriority(Expression),
    /// Only in LTL formulas.
    Temporal(Temporal, Expression, Option<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChannelTest {
    Length,
    Empty,
    NotEmpty,
    Full,
    NotFull,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Temporal {
    Always,
    Eventually,
    Next,
    Until,
    WeakUntil,
    Release,
    Implies,
    Equivalent,
}
