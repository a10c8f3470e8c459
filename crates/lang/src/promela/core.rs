//! A Promela model with its names looked up: variables, channel types, and processes as control graphs.
//!
//! This is independent of how many processes there are: [`super::lower`] makes a system of it for a given set of instances.

pub(crate) use super::syntax::ChannelTest;
use crate::diagnostic::Place;
use scrimp_system::{BinaryOp, Source, UnaryOp};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Program {
    pub source: Source,
    pub globals: Vec<Variable>,
    pub channels: Vec<ChannelType>,
    /// The names of all mtype values; number `i` is the value `i + 1` of its kind.
    pub mtypes: Vec<Mtype>,
    pub processes: Vec<Proctype>,
    /// The proctypes of the processes that exist at first, in the order of their numbers, with their priorities.
    pub active: Vec<usize>,
    pub never: Option<Flow>,
    pub trace: Option<EventTrace>,
    pub formulas: Vec<Formula>,
    /// Something refers to `_last`.
    pub uses_last: bool,
    /// Priorities are used, so they matter.
    pub uses_priority: bool,
    /// Priorities change.
    pub sets_priority: bool,
    pub warnings: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Mtype {
    pub name: Arc<str>,
    pub kind: Option<Arc<str>>,
    pub value: i64,
}

/// An LTL formula over conditions.
#[derive(Debug)]
pub(crate) struct Formula {
    pub name: String,
    pub text: String,
    pub formula: scrimp_temporal::Formula<Value>,
    pub place: Place,
}

#[derive(Debug)]
pub(crate) struct EventTrace {
    pub not: bool,
    pub flow: Flow,
    pub place: Place,
}

/// A variable with its leaves: one for a scalar, one for each field of a record, in the order of declaration.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub name: Arc<str>,
    pub leaves: Vec<Leaf>,
    /// A parameter of a proctype.
    pub parameter: bool,
    pub place: Place,
}

#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    /// What follows the variable's name: empty, or `.field.field`.
    pub suffix: String,
    pub scalar: Scalar,
    /// Lengths of the arrays on the way to it, the outermost first.
    pub dimensions: Vec<u32>,
    pub initial: LeafInitial,
}

impl Leaf {
    pub fn cells(&self) -> u64 {
        self.dimensions.iter().map(|d| *d as u64).product()
    }
}

#[derive(Debug, Clone)]
pub(crate) enum LeafInitial {
    Zero,
    /// Every element gets this value.
    Value(Value),
    /// The elements get these values, those beyond the list the last of them.
    List(Vec<Value>),
    /// A new channel of this type for each element.
    Channel(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scalar {
    /// An unsigned number of so many bits; also `bit` and `bool`.
    Bits(u32),
    Byte,
    Short,
    Int,
    Pid,
    Chan,
    Mtype(Option<Arc<str>>),
}

#[derive(Debug, Clone)]
pub(crate) struct ChannelType {
    /// 0 for a rendezvous channel.
    pub capacity: u32,
    pub fields: Vec<Scalar>,
}

#[derive(Debug)]
pub(crate) struct Proctype {
    pub name: Arc<str>,
    pub is_init: bool,
    /// Parameters first.
    pub locals: Vec<Variable>,
    /// How many of its locals are parameters.
    pub parameters: usize,
    pub priority: i64,
    pub provided: Option<Value>,
    pub flow: Flow,
    pub place: Place,
}

/// A control graph.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    pub states: Vec<State>,
    pub start: usize,
    /// Labels by name, with the state that they stand before.
    pub labels: Vec<(Arc<str>, usize)>,
    /// Statements to which nothing leads, with SPIN's numbers.
    pub dead: Vec<(Arc<Action>, u32)>,
    /// The names of labels before statements that control never reaches.
    pub unreachable: Vec<Arc<str>>,
}

impl Flow {
    /// The names of all labels, also of those that control never reaches.
    pub fn label_names(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(|(name, _)| &**name).chain(self.unreachable.iter().map(|name| &**name))
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub place: Place,
    /// SPIN's number.
    pub number: u32,
    /// In the order in which they are tried.
    pub transitions: Vec<Transition>,
    pub valid_end: bool,
    pub progress: bool,
    pub accept: bool,
    /// Within a `d_step`.
    pub inner: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Transition {
    /// The first that can happen does; only a `d_step` has more than one.
    pub alternatives: Vec<Alternative>,
    /// 0 for the ordinary transitions, another number for those of an escape sequence (`unless`).
    pub escape: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Alternative {
    pub action: Arc<Action>,
    /// `None`: the process is gone.
    pub target: Option<usize>,
    pub then: Next,
    /// SPIN's number of the statement.
    pub number: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Free,
    /// Still within `atomic`.
    Atomic,
    /// Still within `d_step`.
    Bound,
}

#[derive(Debug)]
pub(crate) struct Action {
    pub statement: Statement,
    pub place: Place,
    /// As `spin -p` shows it.
    pub text: String,
}

#[derive(Debug, Clone)]
pub(crate) enum Statement {
    /// Always possible, changes nothing: `skip`, `goto`.
    Nothing,
    Condition(Value),
    Assign(Access, Value),
    Send {
        channel: Access,
        sorted: bool,
        arguments: Vec<Value>,
    },
    Receive {
        channel: Access,
        random: bool,
        keep: bool,
        arguments: Vec<Field>,
    },
    Assert(Value),
    Print {
        format: Arc<str>,
        arguments: Vec<Value>,
    },
    SetPriority(Value, Value),
    Else,
    /// The end of a process's body.
    End,
}

#[derive(Debug, Clone)]
pub(crate) enum Field {
    Match(Value),
    Store(Access),
    Ignore,
}

/// A cell of a variable: which leaf, and an index for each of its dimensions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Access {
    pub variable: VariableId,
    pub leaf: usize,
    pub indices: Vec<Value>,
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum VariableId {
    Global(usize),
    /// Of the process that runs.
    Local(usize),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Number(i64),
    Read(Access),
    Unary(UnaryOp, Box<Value>),
    Binary(BinaryOp, Box<Value>, Box<Value>),
    Conditional(Box<Value>, Box<Value>, Box<Value>),
    Channel(ChannelTest, Box<Access>),
    Poll {
        channel: Box<Access>,
        random: bool,
        arguments: Vec<Match>,
    },
    /// `_`, where any value will do.
    Anything,
    Timeout,
    NonProgress,
    /// `_pid`.
    Pid,
    /// `_nr_pr`.
    Processes,
    /// `_last`.
    Last,
    /// `_priority` of the process that runs.
    Priority,
    Run {
        process: usize,
        arguments: Vec<Value>,
        priority: Option<i64>,
        place: Place,
    },
    /// A local variable of another process; without a number, of the only process of that type.
    Remote {
        process: usize,
        pid: Option<Box<Value>>,
        access: Box<Access>,
    },
    /// Is a process at a label?
    At {
        process: usize,
        pid: Option<Box<Value>>,
        label: Arc<str>,
        place: Place,
    },
    Enabled(Box<Value>),
    Counter(Box<Value>),
    GetPriority(Box<Value>),
}

/// What a poll demands of a field; `None` is anything.
pub(crate) type Match = Option<Value>;

impl Value {
    pub fn number(&self) -> Option<i64> {
        match self {
            Value::Number(n) => Some(*n),
            _ => None,
        }
    }

    /// Calls `visit` for this value and all within it.
    pub fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        visit(self);
        match self {
            Value::Number(_)
            | Value::Anything
            | Value::Timeout
            | Value::NonProgress
            | Value::Pid
            | Value::Processes
            | Value::Last
            | Value::Priority => {}
            Value::Read(access) => access.visit(visit),
            Value::Channel(_, access) => access.visit(visit),
            Value::Unary(_, a) | Value::Enabled(a) | Value::Counter(a) | Value::GetPriority(a) => a.visit(visit),
            Value::Binary(_, a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
            Value::Conditional(a, b, c) => {
                a.visit(visit);
                b.visit(visit);
                c.visit(visit);
            }
            Value::Poll { channel, arguments, .. } => {
                channel.visit(visit);
                arguments.iter().flatten().for_each(|a| a.visit(visit));
            }
            Value::Run { arguments, .. } => arguments.iter().for_each(|a| a.visit(visit)),
            Value::Remote { pid, access, .. } => {
                pid.iter().for_each(|p| p.visit(visit));
                access.visit(visit);
            }
            Value::At { pid, .. } => pid.iter().for_each(|p| p.visit(visit)),
        }
    }

    /// The `run` within, if there is one.
    pub fn run(&self) -> Option<(usize, &[Value], Option<i64>)> {
        match self {
            Value::Run { process, arguments, priority, .. } => Some((*process, arguments, *priority)),
            Value::Unary(_, a) => a.run(),
            Value::Binary(_, a, b) => a.run().or_else(|| b.run()),
            Value::Conditional(a, b, c) => a.run().or_else(|| b.run()).or_else(|| c.run()),
            _ => None,
        }
    }

    /// Does anything within satisfy `test`?
    pub fn any(&self, test: impl Fn(&Value) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |value| found |= test(value));
        found
    }
}

impl Access {
    /// The same cell, wherever it is written.
    pub fn is_same(&self, other: &Access) -> bool {
        (self.variable, self.leaf) == (other.variable, other.leaf) && self.indices == other.indices
    }

    pub fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        self.indices.iter().for_each(|i| i.visit(visit));
    }
}

impl Statement {
    /// Calls `visit` for every value in the statement.
    pub fn visit(&self, visit: &mut dyn FnMut(&Value)) {
        match self {
            Statement::Nothing | Statement::Else | Statement::End => {}
            Statement::Condition(value) | Statement::Assert(value) => value.visit(visit),
            Statement::Assign(access, value) => {
                access.visit(visit);
                value.visit(visit);
            }
            Statement::Send { channel, arguments, .. } => {
                channel.visit(visit);
                arguments.iter().for_each(|a| a.visit(visit));
            }
            Statement::Receive { channel, arguments, .. } => {
                channel.visit(visit);
                for argument in arguments {
                    match argument {
                        Field::Match(value) => value.visit(visit),
                        Field::Store(access) => access.visit(visit),
                        Field::Ignore => {}
                    }
                }
            }
            Statement::Print { arguments, .. } => arguments.iter().for_each(|a| a.visit(visit)),
            Statement::SetPriority(a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
        }
    }

    pub fn any(&self, test: impl Fn(&Value) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |value| found |= test(value));
        found
    }

    /// The `run` in a condition or an assignment: the proctype, its arguments and its priority.
    pub fn run(&self) -> Option<(usize, &[Value], Option<i64>)> {
        let value = match self {
            Statement::Condition(value) | Statement::Assign(_, value) => value,
            _ => return None,
        };
        value.run()
    }
}

impl Scalar {
    /// The type where SPIN does not pack bits.
    pub fn unpacked(&self) -> Scalar {
        if *self == Scalar::Bits(1) { Scalar::Byte } else { self.clone() }
    }

    /// The value that a variable of this type keeps of `value`.
    pub fn keep(&self, value: i64) -> i64 {
        match self {
            Scalar::Bits(32) | Scalar::Int => value as i32 as i64,
            Scalar::Bits(bits) => value & ((1 << bits) - 1),
            Scalar::Byte | Scalar::Pid | Scalar::Chan | Scalar::Mtype(_) => value as u8 as i64,
            Scalar::Short => value as i16 as i64,
        }
    }

    /// The smallest and the largest value.
    pub fn range(&self) -> (i64, i64) {
        match self {
            Scalar::Bits(32) | Scalar::Int => (i32::MIN as i64, i32::MAX as i64),
            Scalar::Bits(bits) => (0, (1 << bits) - 1),
            Scalar::Byte | Scalar::Pid | Scalar::Chan | Scalar::Mtype(_) => (0, 255),
            Scalar::Short => (i16::MIN as i64, i16::MAX as i64),
        }
    }
}
