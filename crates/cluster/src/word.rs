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

impl Word {
    fn is_sound(&self, goals: usize, state_bytes: usize) -> bool {
        let found = self.findings.iter().flatten().map(|finding| &finding.state);
        let mut states = found.chain(&self.outgrown).chain(&self.predecessor);
        self.findings.len() == goals && states.all(|state| state.len() == state_bytes)
    }
}

/// All words together.
#[derive(Debug, Clone, Default)]
pub struct Sum {
    pub words: Vec<Word>,
    pub limit: Option<Limit>,
    pub findings: Vec<Option<Finding>>,
}

impl Sum {
    /// `None` where a worker has said nothing that makes sense, with so many goals and states of so many bytes.
    pub fn of(said: &[Vec<u8>], goals: usize, state_bytes: usize) -> Option<Sum> {
        let word =
            |word: &Vec<u8>| bincode::deserialize(word).ok().filter(|word: &Word| word.is_sound(goals, state_bytes));
        said.iter().map(word).collect::<Option<_>>().map(Sum::of_words)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_make_no_sense_are_none() {
        let finding = Finding { level: 1, state: vec![1, 2, 3] };
        let word = Word { findings: vec![None, Some(finding)], outgrown: Some(vec![0; 3]), ..Word::default() };
        let said = bincode::serialize(&word).unwrap();
        assert!(Sum::of(&[said.clone(), said.clone()], 2, 3).is_some());
        let one = std::slice::from_ref(&said);
        assert!(Sum::of(one, 1, 3).is_none() && Sum::of(one, 2, 4).is_none());
        for cut in 0..said.len() {
            assert!(Sum::of(&[said[..cut].to_vec()], 2, 3).is_none());
        }
        // A length that nothing follows takes no memory.
        let mut bomb = said.clone();
        let at = said.windows(8).position(|eight| eight == 2u64.to_le_bytes()).unwrap();
        bomb[at..at + 8].fill(0xff);
        assert!(Sum::of(&[bomb], 2, 3).is_none());
        assert!(Sum::of(&[vec![0xff; 500]], 2, 3).is_none());
    }
}
