//! Words with a tag as their last byte (sections 5.1 and 5.3 of the paper): where in a search a state is, and what else is
//! to be known of it.
//!
//! A state on the stack has one tag, and one that has left it another; a proviso bit of a reduction is a tag as well. A
//! state that has several tags at a time, or moves from one to another, shares all but the last layer with itself.

use super::nodes::{Ref, SINK};
use super::{Automaton, Full};
use scrimp_core::Budget;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// A set of states, each with one or more tags.
pub struct Tagged {
    /// For every layer but the last the byte of the state that it stands for.
    order: Vec<u32>,
    automaton: Automaton,
    word: Vec<u8>,
}

impl Tagged {
    /// A set of states of so many bytes; `order` is a permutation of them.
    pub fn new(state_bytes: usize, order: &[u32], budget: &Arc<Budget>) -> Result<Tagged, Full> {
        assert!(super::order::is_permutation(order, state_bytes), "an order of layers has every byte once");
        let automaton = Automaton::new(state_bytes + 1, budget)?;
        Ok(Tagged { order: order.to_vec(), automaton, word: vec![0; state_bytes + 1] })
    }

    /// The automaton of the words.
    pub fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    fn set_word(&mut self, state: &[u8], tag: u8) {
        assert!(state.len() == self.order.len());
        self.word.iter_mut().zip(&self.order).for_each(|(value, &byte)| *value = state[byte as usize]);
        self.word[self.order.len()] = tag;
    }

    /// The node that knows the tags of a state.
    fn node_of(&self, state: &[u8]) -> Ref {
        assert!(state.len() == self.order.len());
        self.automaton.after(self.order.iter().map(|&byte| state[byte as usize]))
    }

    /// Gives a state a tag; is that new? When it fails, nothing was changed.
    pub fn insert_tagged(&mut self, state: &[u8], tag: u8) -> Result<bool, Full> {
        self.set_word(state, tag);
        self.automaton.insert(&self.word)
    }

    pub fn contains_tagged(&self, state: &[u8], tag: u8) -> bool {
        self.automaton.nodes.step(self.node_of(state), tag) != SINK
    }

    /// Has this state any tag?
    pub fn contains(&self, state: &[u8]) -> bool {
        self.node_of(state) != SINK
    }

    /// Takes a tag from a state; did it have it? When it fails, nothing was changed.
    pub fn remove_tagged(&mut self, state: &[u8], tag: u8) -> Result<bool, Full> {
        self.set_word(state, tag);
        self.automaton.remove(&self.word)
    }

    /// Moves a state from one tag to another; did it have the first? When it fails, it still has.
    pub fn retag(&mut self, state: &[u8], from: u8, to: u8) -> Result<bool, Full> {
        if !self.contains_tagged(state, from) {
            return Ok(false);
        }
        self.insert_tagged(state, to)?;
        if from != to {
            self.remove_tagged(state, from)?;
        }
        Ok(true)
    }

    /// Removes every state that has the tag `on` and not the tag `off`: those that were on the stack when a search was cut
    /// short, which begins again without them. Answers how many there were. When it fails, some of them are still there.
    ///
    /// As in the paper, their paths are found first, backwards from the nodes before the end, and then deleted.
    pub fn drop_stack(&mut self, on: u8, off: u8) -> Result<u64, Full> {
        let nodes = &self.automaton.nodes;
        let open = |node: Ref| nodes.step(node, on) != SINK && nodes.step(node, off) == SINK;
        let leading = self.automaton.leading_to(&open);
        let mut words = Vec::new();
        self.automaton.each_passing(&|node| leading.contains(&node), &mut |word| {
            if word.last() == Some(&on) {
                words.extend_from_slice(word);
            }
            true
        });
        let mut dropped = 0;
        for word in words.chunks_exact(self.word.len()) {
            dropped += self.automaton.remove(word)? as u64;
        }
        Ok(dropped)
    }

    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.automaton.save(to)
    }

    /// Fills an empty set with what was saved of one with the same order of layers.
    pub fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.automaton.restore(from)
    }
}
