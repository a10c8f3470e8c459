//! States from which nothing is put off for ever, by their numbers.
//!
//! An event that was left out in a state may be left out again in the next, and the next, and so all the way round a cycle. That
//! cannot be where some state on the way explores all that matters. Such a state is *grounded*: it was explored whole, or by
//! attraction; or one of the successors explored leads to a state that was grounded before. What is left out on condition may
//! stay out where a successor is grounded, even if it was expanded long ago: from one to the next, such successors lead to a
//! state that leaves nothing out. A state becomes grounded only once its successors are in the store, and stays so.

use crate::store::StateId;
use crate::sync::atomic::{AtomicU64, Ordering};
use scrimp_core::Budget;
use std::sync::{Arc, OnceLock};

/// States of one part.
const PART: usize = 1 << 21;

/// The words of one part.
type Words = Box<[AtomicU64]>;

/// Which states are grounded, for all threads.
pub struct Grounded {
    /// Parts are made when they are needed; none where there is no memory for it.
    parts: Box<[OnceLock<Option<Words>>]>,
    budget: Arc<Budget>,
}

impl Grounded {
    pub fn new(budget: Arc<Budget>) -> Grounded {
        let parts = (0..(StateId::MAX as usize).div_ceil(PART)).map(|_| OnceLock::new()).collect();
        Grounded { parts, budget }
    }

    pub fn contains(&self, state: StateId) -> bool {
        let (part, word, bit) = place(state);
        let words = self.parts.get(part).and_then(OnceLock::get).and_then(Option::as_ref);
        words.is_some_and(|words| words[word].load(Ordering::Relaxed) & bit != 0)
    }

    /// A state is grounded from now on.
    pub fn insert(&self, state: StateId) {
        let (part, word, bit) = place(state);
        let Some(part) = self.parts.get(part) else { return };
        let words = part.get_or_init(|| {
            self.budget.may_take(PART / 8).then(|| {
                self.budget.take(PART / 8);
                (0..PART / 64).map(|_| AtomicU64::new(0)).collect()
            })
        });
        if let Some(words) = words {
            words[word].fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.parts.iter().filter(|part| part.get().is_some_and(Option::is_some)).count() * (PART / 8)
    }
}

impl Drop for Grounded {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes());
    }
}

fn place(state: StateId) -> (usize, usize, u64) {
    let state = state as usize;
    (state / PART, state % PART / 64, 1 << (state % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_told_apart_and_memory_is_given_back() {
        let budget = Arc::new(Budget::apart(1 << 30));
        let left = budget.left();
        let grounded = Grounded::new(budget.clone());
        let far = 5 * PART as StateId + 70;
        for state in [0, 63, 64, far] {
            assert!(!grounded.contains(state));
            grounded.insert(state);
        }
        assert!([0, 63, 64, far].into_iter().all(|state| grounded.contains(state)));
        assert!([1, 62, 65, far + 1, far - 1, StateId::MAX].into_iter().all(|state| !grounded.contains(state)));
        assert_eq!(grounded.bytes(), 2 * PART / 8);
        drop(grounded);
        assert_eq!(budget.left(), left);
    }

    #[test]
    fn without_memory_nothing_is_grounded() {
        let grounded = Grounded::new(Arc::new(Budget::new(0)));
        grounded.insert(7);
        assert!(!grounded.contains(7));
    }
}
