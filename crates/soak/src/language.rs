//! What the soak has to know of a language.

use crate::coverage::{Grammar, Written};
use scrimp_system::Random;
use std::path::Path;

/// A language: models at random, an oracle for them, and how to make them smaller.
///
/// Everything is a function of the numbers it gets: the same seed, the same model.
pub trait Language {
    /// A model as a tree, before it is text.
    type Model: Clone;

    const NAME: &'static str;
    const GRAMMAR: &'static Grammar;

    /// Writes a model, noting each production that it writes inside another.
    fn generate(random: &mut Random, written: &mut Written) -> Self::Model;

    /// The files of a model by their names, the first one that which is opened. They refer to each other by these names.
    fn files(model: &Self::Model, stem: &str) -> Vec<(String, String)>;

    /// What is true of the model, by somebody else's word. The folder is empty, and of this call alone. In `doubt`, because
    /// something else was found, the oracle takes the way that is surest.
    fn judge(model: &Self::Model, folder: &Path, doubt: bool) -> Oracle;

    /// A model of which the same is true, written otherwise, and in which way.
    fn twin(model: &Self::Model, random: &mut Random) -> Option<Twin<Self::Model>>;

    /// The text of a file with a remark in its first line.
    fn remarked(text: &str, remark: &str) -> String {
        format!("// {remark}\n{text}")
    }

    /// The model after its `number`th possible step to a smaller one; `None` where it has no more.
    fn smaller(model: &Self::Model, number: usize) -> Option<Self::Model>;
}

/// What an oracle says of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Oracle {
    Known(Expected),
    /// It does not come to an end, or cannot tell: for this reason, in a few words that are counted.
    Incomparable(String),
    /// It does not take the model.
    Refused(String),
}

/// What is true of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expected {
    pub states: Option<u64>,
    pub transitions: Option<u64>,
    /// States without successors.
    pub deadlocks: Option<u64>,
    /// Events that end in a fault, or violate an assertion.
    pub faults: Option<u64>,
    /// How many states are how far away.
    pub levels: Option<Vec<u64>>,
    pub answers: Vec<Answer>,
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The property, in the words of `--property`.
    pub property: String,
    /// Do only runs count on which no process waits for ever?
    pub fair: bool,
    pub holds: bool,
    /// How many events the shortest run has that shows it.
    pub steps: Option<usize>,
    /// The answer itself, where it is more than yes or no.
    pub value: Option<String>,
}

impl Answer {
    pub fn new(property: impl Into<String>, holds: bool) -> Answer {
        Answer { property: property.into(), fair: false, holds, steps: None, value: None }
    }

    /// As the shortest run of so many events shows.
    pub fn shown_by(self, steps: Option<usize>) -> Answer {
        Answer { steps, ..self }
    }

    /// For runs on which no process that could always move waits for ever.
    pub fn fairly(property: impl Into<String>, holds: bool) -> Answer {
        Answer { fair: true, ..Answer::new(property, holds) }
    }
}

/// A model that means the same.
#[derive(Debug, Clone)]
pub struct Twin<M> {
    pub model: M,
    /// How it was made, in a word: `renamed`.
    pub how: &'static str,
    /// Is the graph the same too, state for state?
    pub same_counts: bool,
    /// The same question in terms of the twin, where its names are others; `None` where it cannot be asked of it.
    pub property: fn(&M, &str) -> Option<String>,
}
