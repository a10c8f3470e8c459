//! A DVE model as a tree. References are numbers; names are only for the text.

/// `byte` or `int`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Byte,
    Int,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Variable,
    Constant,
    Input,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub kind: Kind,
    pub ty: Type,
    /// The size of an array, and how it is written.
    pub size: Option<(usize, Expr)>,
    pub initial: Vec<Expr>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    pub name: String,
    pub types: Option<Vec<Type>>,
    /// The capacity, and how it is written; nothing is a rendezvous, and so is 0.
    pub capacity: Option<(usize, Expr)>,
}

impl Channel {
    pub fn room(&self) -> usize {
        self.capacity.as_ref().map_or(0, |(room, _)| *room)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub is_key: bool,
}

/// What a process does, or what the instances of a template do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    pub name: String,
    /// A template has some.
    pub parameters: Vec<Parameter>,
    pub variables: Vec<Variable>,
    pub states: Vec<String>,
    pub initial: usize,
    pub accepting: Vec<usize>,
    pub committed: Vec<usize>,
    pub assertions: Vec<(usize, Expr)>,
    pub transitions: Vec<Transition>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    pub from: usize,
    pub to: usize,
    /// Several sections of guards are allowed.
    pub guards: Vec<Expr>,
    pub sync: Option<Sync>,
    pub effects: Vec<(Reference, Expr)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sync {
    pub channel: usize,
    pub passed: Passed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passed {
    Sent(Vec<Expr>),
    Received(Vec<Reference>),
}

/// What makes processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The process of this body.
    Process(usize),
    /// `process template(arguments);`
    Instance(usize, Vec<Expr>),
    /// `for (name : low .. high) { … }`
    For(String, Expr, Expr, Vec<Item>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Global,
    /// Of the process in which it stands.
    Own,
    /// Of the process with this number.
    Of(usize),
}

/// A variable, constant or element. Without an index, an array stands for its first element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub scope: Scope,
    pub number: usize,
    pub index: Option<Box<Expr>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    Number(i64),
    Truth(bool),
    Read(Reference),
    /// A parameter of the template in which it stands.
    Parameter(usize),
    /// A variable of the loops around, the innermost last.
    Round(usize),
    /// The process with this number is in this state.
    At(usize, usize),
    /// How many messages wait in a channel. Only in properties.
    Waiting(usize),
    /// A component of a message that waits. Only in properties.
    Message(usize, usize, Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Minus,
    Complement,
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    Imply,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
}

impl Unary {
    pub const ALL: [Unary; 3] = [Unary::Minus, Unary::Complement, Unary::Not];
}

impl Binary {
    pub const ALL: [Binary; 19] = [
        Binary::Imply,
        Binary::Or,
        Binary::And,
        Binary::BitOr,
        Binary::BitXor,
        Binary::BitAnd,
        Binary::Equal,
        Binary::NotEqual,
        Binary::Less,
        Binary::LessEqual,
        Binary::Greater,
        Binary::GreaterEqual,
        Binary::ShiftLeft,
        Binary::ShiftRight,
        Binary::Plus,
        Binary::Minus,
        Binary::Times,
        Binary::Divide,
        Binary::Modulo,
    ];

    /// As it is written, and how strongly it binds.
    pub fn written(self) -> (&'static [&'static str], u8) {
        match self {
            Binary::Imply => (&["imply"], 1),
            Binary::Or => (&["or", "||"], 2),
            Binary::And => (&["and", "&&"], 3),
            Binary::BitOr => (&["|"], 4),
            Binary::BitXor => (&["^"], 5),
            Binary::BitAnd => (&["&"], 6),
            Binary::Equal => (&["=="], 7),
            Binary::NotEqual => (&["!="], 7),
            Binary::Less => (&["<"], 8),
            Binary::LessEqual => (&["<="], 8),
            Binary::Greater => (&[">"], 8),
            Binary::GreaterEqual => (&[">="], 8),
            Binary::ShiftLeft => (&["<<"], 9),
            Binary::ShiftRight => (&[">>"], 9),
            Binary::Plus => (&["+"], 10),
            Binary::Minus => (&["-"], 10),
            Binary::Times => (&["*"], 11),
            Binary::Divide => (&["/"], 11),
            Binary::Modulo => (&["%"], 11),
        }
    }
}

impl Expr {
    pub fn unary(op: Unary, a: Expr) -> Expr {
        Expr::Unary(op, Box::new(a))
    }

    pub fn binary(op: Binary, a: Expr, b: Expr) -> Expr {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// Is it true or false, whatever its parts are?
    pub fn is_condition(&self) -> bool {
        use Binary::*;
        match self {
            Expr::At(..) | Expr::Unary(Unary::Not, _) => true,
            Expr::Binary(op, ..) => {
                matches!(op, Imply | Or | And | Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
            }
            _ => false,
        }
    }

    /// Its direct parts.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Read(Reference { index: Some(index), .. }) | Expr::Message(_, _, index) => vec![index],
            Expr::Unary(_, a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            _ => Vec::new(),
        }
    }

    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Read(Reference { index: Some(index), .. }) | Expr::Message(_, _, index) => vec![index],
            Expr::Unary(_, a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            _ => Vec::new(),
        }
    }
}

/// A process of the model: a body, and the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub body: usize,
    pub arguments: Vec<i64>,
}

/// What is asked of a model besides what it asks itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    Invariant(Expr),
    Reach(Expr),
    /// Whether the formula over these conditions is one of branching time is in it; the last says whether it is asked of fair
    /// runs only.
    Formula {
        formula: crate::formula::Formula,
        branching: bool,
        atoms: Vec<Expr>,
        fair: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub variables: Vec<Variable>,
    pub channels: Vec<Channel>,
    pub bodies: Vec<Body>,
    pub items: Vec<Item>,
    /// `expression name() { … }`, which serve nobody.
    pub expressions: Vec<(String, Expr)>,
    /// The process that only watches, the last one, and whether it is declared as such or named in the last line.
    pub property: Option<bool>,
    pub processes: Vec<Process>,
    pub questions: Vec<Question>,
    /// Chooses among the ways to write the same.
    pub style: u64,
    /// How its questions were asked of the model that it is a twin of.
    pub before: Vec<String>,
}

impl Model {
    pub fn body(&self, process: usize) -> &Body {
        &self.bodies[self.processes[process].body]
    }

    /// The number of the process that only watches.
    pub fn watcher(&self) -> Option<usize> {
        self.property.map(|_| self.processes.len() - 1)
    }

    /// The name of a process: `p0`, or `t1(2)`.
    pub fn process_name(&self, process: usize) -> String {
        let Process { body, arguments } = &self.processes[process];
        let body = &self.bodies[*body];
        if body.parameters.is_empty() {
            return body.name.clone();
        }
        let keys = body.parameters.iter().any(|p| p.is_key);
        let chosen = body.parameters.iter().zip(arguments).filter(|(p, _)| p.is_key || !keys);
        let chosen: Vec<String> = chosen.map(|(_, value)| value.to_string()).collect();
        format!("{}({})", body.name, chosen.join(","))
    }
}
