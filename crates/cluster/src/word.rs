//! What every worker says at the end of a level, and what all of them together make of it.

use crate::signals::limit_of;
use scrimp_core::Limit;
use serde::{Deserialize, Serialize};

/// A state that decides a goal, and its level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub level: u32,
    pub state: Vec<u8>,
}

/// What one worker has to say. Figures are of all levels so far, unless they say otherwise.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Word {
    /// States that it keeps, those of the next level, and those of this level that it has not expanded.
    pub states: u64,
    pub fresh: u64,
    pub left: u64,
    pub visits: u64,
    pub transitions: u64,
    pub deadlocks: u64,
    pub faults: u64,
    pub degree: u64,
    /// What ended its search, as a number.
    pub limit: u8,
    /// States came that it had no memory for.
    pub lost: bool,
    /// A state for which the model is too small.
    pub outgrown: Option<Vec<u8>>,
    /// For each goal the first state that decides it.
    pub findings: Vec<Option<Finding>>,
    /// The search should be saved now.
    pub save: bool,
    pub in_tree: bool,
    pub kept_bytes: u64,
    /// Bytes of its process, and the most there were.
    pub peak_bytes: u64,
    pub sent_bytes: u64,
    pub sent_states: u64,
    pub waited_ms: u64,
    pub elapsed_ms: u64,
    /// On the way back: has it the level that is asked for, and a predecessor on it?
    pub has_level: bool,
    pub predecessor: Option<Vec<u8>>,
    /// What went wrong.
    pub wrong: Option<String>,
}

/// All words together.
#[derive(Debug, Clone, Default)]
pub struct Sum {
    pub words: Vec<Word>,
    pub limit: Option<Limit>,
    pub findings: Vec<Option<Finding>>,
}

impl Sum {
    /// `None` where a worker has said nothing that makes sense.
    pub fn of(said: &[Vec<u8>]) -> Option<Sum> {
        said.iter().map(|word| bincode::deserialize(word).ok()).collect::<Option<_>>().map(Sum::of_words)
    }

    pub fn of_words(words: Vec<Word>) -> Sum {
        let goals = words.iter().map(|word| word.findings.len()).max().unwrap_or(0);
        let first = |goal: usize| {
            let all = words.iter().filter_map(|word| word.findings.get(goal)?.as_ref());
            all.min_by_key(|finding| finding.level).cloned()
        };
        let findings = (0..goals).map(first).collect();
        // Whoever is out of memory says more than those who were told to stop.
        let limit = words.iter().map(|word| word.limit).filter(|limit| *limit > 0).min().and_then(limit_of);
        Sum { limit, findings, words }
    }

    pub fn total(&self, figure: impl Fn(&Word) -> u64) -> u64 {
        self.words.iter().map(figure).sum()
    }

    pub fn any(&self, what: impl Fn(&Word) -> bool) -> bool {
        self.words.iter().any(what)
    }

    pub fn outgrown(&self) -> Option<&Vec<u8>> {
        self.words.iter().find_map(|word| word.outgrown.as_ref())
    }
}
