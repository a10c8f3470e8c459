//! Asking for words: walking from the root, byte by byte.
//!
//! Every step waits for the one before it. So several words are walked side by side, and their waits overlap.

use super::Automaton;
use super::nodes::{Ref, SINK};
use scrimp_system::Random;
use std::collections::HashSet;

/// Words that are walked side by side.
pub(super) const LANES: usize = 8;

impl Automaton {
    /// Is this word there?
    pub fn contains(&self, word: &[u8]) -> bool {
        assert!(word.len() == self.word_bytes);
        self.after(word.iter().copied()) != SINK
    }

    /// The node after these bytes, at most as many as a word has.
    pub(super) fn after(&self, bytes: impl Iterator<Item = u8>) -> Ref {
        let mut node = self.root;
        for byte in bytes {
            if node == SINK {
                break;
            }
            node = self.nodes.step(node, byte);
        }
        node
    }

    /// Which of these words, [`LANES`] one after the other, are there?
    pub(super) fn contains_each(&self, words: &[u8]) -> [bool; LANES] {
        assert!(words.len() == LANES * self.word_bytes);
        let mut at = [SINK; LANES];
        for (word, node) in words.chunks_exact(self.word_bytes).zip(&mut at) {
            if word.starts_with(&self.trunk) {
                *node = self.top;
            }
        }
        for layer in self.trunk.len()..self.word_bytes {
            let mut alive = 0;
            for (lane, node) in at.iter_mut().enumerate() {
                // SAFETY: within the words, whose length was compared.
                let byte = unsafe { *words.get_unchecked(lane * self.word_bytes + layer) };
                *node = self.nodes.step(*node, byte);
                alive |= *node;
            }
            if alive == SINK {
                break;
            }
        }
        at.map(|node| node != SINK)
    }

    /// Follows the edges from the root as long as there is only one.
    pub(super) fn find_top(&mut self) {
        self.trunk.clear();
        self.top = self.root;
        while self.top != SINK && self.trunk.len() < self.word_bytes {
            let mut edges = self.nodes.each_edge(self.top);
            match (edges.next(), edges.next()) {
                (Some(edge), None) if edge.low == edge.high => {
                    self.trunk.push(edge.low);
                    self.top = edge.to;
                }
                _ => break,
            }
        }
    }

    /// A word by chance: any edge of each node, and any byte of it.
    pub(super) fn draw(&self, random: &mut Random) -> Option<Vec<u8>> {
        let mut node = Some(self.root).filter(|&root| root != SINK)?;
        let mut word = Vec::with_capacity(self.word_bytes);
        while word.len() < self.word_bytes {
            let edge = self.nodes.each_edge(node).nth(random.below(self.nodes.ranges(node)))?;
            word.push(edge.low + random.below((edge.high - edge.low) as usize + 1) as u8);
            node = edge.to;
        }
        Some(word)
    }

    /// Shows every word, in ascending order, until `show` answers `false`; was every word shown?
    pub fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.each_passing(&|_| true, show)
    }

    /// Shows every word all of whose nodes pass.
    pub(super) fn each_passing(&self, passes: &dyn Fn(Ref) -> bool, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        if self.root == SINK || !passes(self.root) {
            return true;
        }
        let last = self.word_bytes - 1;
        let mut word = vec![0u8; self.word_bytes];
        // The node of each layer, its present range, and the byte of it that comes next.
        let mut path = vec![(self.root, 0usize, None::<u8>)];
        while let Some((node, range, next)) = path.last_mut() {
            let Some(edge) = self.nodes.each_edge(*node).nth(*range) else {
                path.pop();
                continue;
            };
            let byte = next.unwrap_or(edge.low);
            *next = if byte < edge.high { Some(byte + 1) } else { None };
            *range += (byte == edge.high) as usize;
            let layer = path.len() - 1;
            word[layer] = byte;
            if layer == last {
                if !show(&word) {
                    return false;
                }
            } else if passes(edge.to) {
                path.push((edge.to, 0, None));
            }
        }
        true
    }

    /// The nodes of the last layer that are `wanted`, and all nodes from which these are reached.
    pub(super) fn leading_to(&self, wanted: &dyn Fn(Ref) -> bool) -> HashSet<Ref> {
        let (mut leading, mut known) = (HashSet::new(), HashSet::new());
        // A node is looked at when it is found and again after the nodes behind it.
        let mut stack = vec![(self.root, 0, false)];
        while let Some((node, layer, again)) = stack.pop() {
            if node == SINK || !(again || known.insert(node)) {
                continue;
            }
            if layer + 1 == self.word_bytes {
                if wanted(node) {
                    leading.insert(node);
                }
            } else if again {
                if self.nodes.each_edge(node).any(|edge| leading.contains(&edge.to)) {
                    leading.insert(node);
                }
            } else {
                stack.push((node, layer, true));
                stack.extend(self.nodes.each_edge(node).map(|edge| (edge.to, layer + 1, false)));
            }
        }
        leading
    }
}
