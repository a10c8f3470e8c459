//! What a network's text says, name by name and without a look at the files.

use super::lts::gate;
use crate::diagnostic::Place;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct Program {
    pub components: Vec<Component>,
    pub behaviour: Option<Tree>,
    pub forbidden: LabelSet,
}

#[derive(Debug)]
pub(super) struct Component {
    pub name: String,
    pub file: String,
    /// Of the name of the file.
    pub place: Place,
}

/// A set of labels: some that are written out, and all that have certain gates; or all but these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LabelSet {
    pub labels: BTreeSet<String>,
    pub gates: BTreeSet<String>,
    pub all_but: bool,
}

impl LabelSet {
    pub fn contains(&self, label: &str) -> bool {
        (self.labels.contains(label) || self.gates.contains(gate(label))) != self.all_but
    }

    pub fn join(&mut self, other: &LabelSet) {
        self.labels.extend(other.labels.iter().cloned());
        self.gates.extend(other.gates.iter().cloned());
    }
}

/// A label that is written out, or a gate, which stands for every label that it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    Label(String),
    Gate(String),
}

/// Who takes part, in the order of the operands, and what the others see.
#[derive(Debug)]
pub(super) struct Vector {
    pub parts: Vec<Option<Word>>,
    pub result: Word,
    pub place: Place,
}

#[derive(Debug)]
pub(super) enum Change {
    Hide(LabelSet),
    Cut(LabelSet),
    Rename(Vec<(Word, Word)>),
}

#[derive(Debug)]
pub(super) enum Rule {
    /// Labels in the set happen in all operands at the same time, others in one.
    On(LabelSet),
    /// What the vectors say happens, and labels of this set that no vector names happen in one operand.
    Using(Vec<Vector>, LabelSet),
}

#[derive(Debug)]
pub(super) enum Tree {
    Component(usize),
    Parallel { rule: Rule, operands: Vec<Tree>, place: Place },
    Changed { change: Change, inner: Box<Tree> },
}
