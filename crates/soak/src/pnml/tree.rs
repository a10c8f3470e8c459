//! A Petri net as a tree: places, transitions and arcs with their colours, and what is asked of it.

use crate::formula::Formula;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sort {
    Dot,
    Bool,
    Cyclic(usize),
    Enumeration(usize),
    Range(i64, i64),
    /// Of sorts that stand before it.
    Product(Vec<usize>),
}

/// A sort cut into parts: for each element, which part it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    pub sort: usize,
    pub parts: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub sort: usize,
    pub marking: Multiset,
    /// The page on which it stands.
    pub page: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    pub guard: Option<Guard>,
    pub page: usize,
    pub arcs: Vec<Arc>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Taking,
    Giving,
    Inhibitor,
    Reset,
    Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arc {
    pub place: usize,
    pub kind: Kind,
    pub term: Multiset,
    /// On which page it stands, by references to what stands elsewhere.
    pub page: usize,
}

/// One colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Variable(usize),
    Constant(usize, usize),
    Successor(Box<Value>),
    Predecessor(Box<Value>),
    Tuple(Vec<Value>),
    PartOf(usize, Box<Value>),
    Part(usize, usize),
}

/// Several colours, each some number of times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Multiset {
    /// So many tokens without a colour, as nets without colours write them.
    Plain(u64),
    One(Value),
    Times(u64, Box<Multiset>),
    Scaled(u64, Box<Multiset>),
    Add(Vec<Multiset>),
    Subtract(Box<Multiset>, Box<Multiset>),
    All(usize),
    Tuple(Vec<Multiset>),
    Empty(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    pub const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::Unequal,
        Comparison::Less,
        Comparison::AtMost,
        Comparison::Greater,
        Comparison::AtLeast,
    ];

    pub fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Comparison::Equal => a == b,
            Comparison::Unequal => a != b,
            Comparison::Less => a < b,
            Comparison::AtMost => a <= b,
            Comparison::Greater => a > b,
            Comparison::AtLeast => a >= b,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    Truth(bool),
    Compare(Comparison, Value, Value),
    Not(Box<Guard>),
    And(Vec<Guard>),
    Or(Vec<Guard>),
    Imply(Box<Guard>, Box<Guard>),
}

/// Tokens of places, each with a factor, and a constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    /// A place, one of its colours or all, and how often it counts.
    pub terms: Vec<(usize, Option<usize>, i64)>,
    pub constant: i64,
}

/// What is asked of a marking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    Truth(bool),
    Deadlock,
    Fireable(usize),
    Compare(Comparison, Sum, Sum),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Imply(Box<Condition>, Box<Condition>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    Deadlock,
    Invariant(Condition),
    Reach(Condition),
    Bound(Vec<usize>),
    Bounded,
    OneSafe,
    StableMarking,
    QuasiLive,
    Live,
    Formula { formula: Formula, branching: bool, atoms: Vec<Condition> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The first is that of dots.
    pub sorts: Vec<Sort>,
    pub partitions: Vec<Partition>,
    /// The sort of each variable.
    pub variables: Vec<usize>,
    pub places: Vec<Place>,
    pub transitions: Vec<Transition>,
    pub pages: usize,
    /// Is a page inside the one before it?
    pub nested: bool,
    /// Units of places, without overlap; whether they are what they are said to be is not known.
    pub units: Option<Vec<Vec<usize>>>,
    pub coloured: bool,
    pub questions: Vec<Question>,
    pub style: u64,
}

impl Model {
    /// How many colours a sort has.
    pub fn size(&self, sort: usize) -> usize {
        match &self.sorts[sort] {
            Sort::Dot => 1,
            Sort::Bool => 2,
            Sort::Cyclic(size) | Sort::Enumeration(size) => *size,
            Sort::Range(first, last) => (last - first + 1) as usize,
            Sort::Product(parts) => parts.iter().map(|part| self.size(*part)).product(),
        }
    }

    /// The parts of a colour of a product.
    pub fn parts(&self, sort: usize, colour: usize) -> Vec<usize> {
        let Sort::Product(parts) = &self.sorts[sort] else { return vec![colour] };
        let mut left = colour;
        let mut found: Vec<usize> = Vec::new();
        for part in parts.iter().rev() {
            found.push(left % self.size(*part));
            left /= self.size(*part);
        }
        found.reverse();
        found
    }

    /// A colour as it is shown.
    pub fn shown(&self, sort: usize, colour: usize) -> String {
        match &self.sorts[sort] {
            Sort::Dot => String::new(),
            Sort::Bool => if colour == 0 { "false" } else { "true" }.to_string(),
            Sort::Cyclic(_) | Sort::Enumeration(_) => format!("k{sort}_{colour}"),
            Sort::Range(first, _) => (first + colour as i64).to_string(),
            Sort::Product(parts) => {
                let colours = self.parts(sort, colour);
                let shown = parts.iter().zip(colours).map(|(part, colour)| self.shown(*part, colour));
                // Dots have no name.
                shown.filter(|shown| !shown.is_empty()).collect::<Vec<_>>().join(",")
            }
        }
    }
}
