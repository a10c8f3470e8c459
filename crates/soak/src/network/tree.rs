//! Labelled transition systems and networks of them, as trees.

use crate::formula::Formula;

/// A label: its gate and its offers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    pub gate: String,
    pub offers: String,
}

impl Label {
    pub fn hidden() -> Label {
        Label { gate: "i".into(), offers: String::new() }
    }

    /// Is it the one that nobody sees?
    pub fn is_hidden(&self) -> bool {
        matches!(self.gate.as_str(), "i" | "tau") && self.offers.is_empty()
    }

    pub fn text(&self) -> String {
        format!("{}{}", self.gate, self.offers)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lts {
    pub initial: usize,
    pub states: usize,
    pub edges: Vec<(usize, Label, usize)>,
}

/// Some labels, as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    Gate(String),
    Exactly(Label),
    /// A declared set, by its number.
    Set(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    These(Vec<Pattern>),
    All,
    AllBut(Vec<Pattern>),
}

/// What each component contributes, and what is seen. All gates, or all labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    pub parts: Vec<Option<Pattern>>,
    pub seen: Pattern,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// The component of this number.
    Component(usize),
    /// `|||`
    Beside(Vec<Behaviour>),
    /// `||`
    Together(Vec<Behaviour>),
    /// `|[…]|`
    On(Vec<Pattern>, Box<Behaviour>, Box<Behaviour>),
    /// `par … in`
    Par(Vec<Pattern>, Vec<Behaviour>),
    /// `par using … alone … in`
    Using(Vec<Vector>, Option<Labels>, Vec<Behaviour>),
    Hide(Labels, Box<Behaviour>),
    Cut(Labels, Box<Behaviour>),
    Rename(Vec<(Pattern, Pattern)>, Box<Behaviour>),
}

/// A line of a network that is no behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Sync(Vector),
    Alone(Labels),
    Hide(Labels),
    Cut(Labels),
    Rename(Vec<(Pattern, Pattern)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    Lines(Vec<Line>),
    Behaviour(Behaviour),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    Invariant(usize, usize),
    Reach(usize, usize),
    Formula { formula: Formula, branching: bool, atoms: Vec<(usize, usize)>, fair: bool },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The files, and for each component which file it is.
    pub files: Vec<Lts>,
    pub components: Vec<usize>,
    pub sets: Vec<Vec<Pattern>>,
    pub body: Body,
    pub forbid: Option<Labels>,
    pub questions: Vec<Question>,
}
