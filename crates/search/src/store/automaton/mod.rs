//! The minimized automaton: the set of states as the smallest deterministic automaton that accepts exactly their words.
//!
//! After G. J. Holzmann and A. Puri, "A Minimized Automaton Representation of Reachable States" (STTT, 1999). A word is a
//! state's bytes in a fixed order, and every byte is one layer of the automaton. States that begin or end alike share the
//! nodes of what is alike; bytes that lead to the same node share an edge; edges that would lead to the rejecting end are
//! left out. Inserting and deleting keep the automaton minimal ([`change`]).
//!
//! [`Automaton`] holds words of one length. [`AutomatonSet`] is the store of states made of it: new states wait in a buffer
//! and go into the automaton many at a time, sorted, so that a node that many of them pass is rebuilt once. [`Tagged`]
//! words carry one more byte, which tells where in a search the state is.

mod arena;
mod change;
#[cfg(test)]
mod check;
mod labels;
mod memo;
mod nodes;
mod order;
mod pending;
mod recent;
mod restored;
mod saved;
mod set;
mod shared;
mod tags;
#[cfg(test)]
mod tests;
mod unknown;
mod walk;

pub use order::LayerOrder;
pub use set::AutomatonSet;
pub use tags::Tagged;

use super::Full;
use change::Change;
use nodes::{Nodes, Ref, SINK, node_bytes};
use scrimp_core::Budget;
use std::sync::Arc;

/// A set of words of one length, not 0.
pub struct Automaton {
    word_bytes: usize,
    nodes: Nodes,
    root: Ref,
    len: u64,
    /// The most ranges that a node of each layer ever had.
    widest: Vec<u16>,
    /// What all words begin with, and the node after it.
    trunk: Vec<u8>,
    top: Ref,
    change: Change,
    budget: Arc<Budget>,
}

/// Words are added in portions whose bound is at most this, or as much as the automaton has already.
const PORTION: usize = 4 << 20;

impl Automaton {
    pub fn new(word_bytes: usize, budget: &Arc<Budget>) -> Result<Automaton, Full> {
        assert!(word_bytes > 0, "words have at least one byte");
        Ok(Automaton {
            word_bytes,
            nodes: Nodes::new(budget)?,
            root: SINK,
            len: 0,
            widest: vec![0; word_bytes],
            trunk: Vec::new(),
            top: SINK,
            change: Change::new(word_bytes),
            budget: budget.clone(),
        })
    }

    /// Length of a word.
    pub fn word_bytes(&self) -> usize {
        self.word_bytes
    }

    /// Number of words.
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of nodes, without the two ends.
    pub fn nodes(&self) -> usize {
        self.nodes.count()
    }

    /// Number of edges: ranges of bytes that lead from one node to another.
    pub fn edges(&self) -> usize {
        self.nodes.edges()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.nodes.bytes() + self.change.bytes()
    }

    /// Bytes held of which no use is made now.
    pub fn free_bytes(&self) -> usize {
        self.nodes.free_bytes()
    }

    /// Adds a word; was it new? When it fails, nothing was changed.
    pub fn insert(&mut self, word: &[u8]) -> Result<bool, Full> {
        if self.contains(word) {
            return Ok(false);
        }
        self.promise(2)?;
        self.apply::<true>(1, |_| word);
        Ok(true)
    }

    /// Removes a word; was it there? When it fails, nothing was changed: removing a word may take more nodes. Room for
    /// that is kept whenever words are added.
    pub fn remove(&mut self, word: &[u8]) -> Result<bool, Full> {
        if !self.contains(word) {
            return Ok(false);
        }
        self.promise(1)?;
        self.apply::<false>(1, |_| word);
        Ok(true)
    }

    /// Adds words that are ascending, without repetition, none of which is there: `word(i)` for the first `count` numbers.
    /// Answers how many were added: all, unless the budget does not allow more.
    pub(super) fn insert_sorted<'a>(&mut self, count: usize, word: impl Fn(usize) -> &'a [u8]) -> usize {
        let mut done = 0;
        while done < count {
            let mut portion = (PORTION.max(self.bytes()) / self.bound(1)).clamp(1, count - done);
            // Where the budget does not allow that many, as many as it does, about.
            while self.promise(portion + 1).is_err() {
                if portion == 1 {
                    return done;
                }
                portion /= 2;
            }
            self.apply::<true>(portion, |i| word(done + i));
            done += portion;
        }
        done
    }

    /// The most bytes that changing so many words takes. A change makes one new node for every different beginning of its
    /// words, with the ranges of the old node and at most two more for each word.
    fn bound(&self, words: usize) -> usize {
        let node = |&widest: &u16| node_bytes(widest as usize) + 16;
        words.saturating_mul(self.widest.iter().map(node).sum())
    }

    /// Makes sure that so many words can be changed.
    fn promise(&mut self, words: usize) -> Result<(), Full> {
        let (bytes, count) = (self.bound(words), words.saturating_mul(self.word_bytes));
        self.nodes.promise(&self.budget, bytes, count)
    }
}
