//! What adding the end of a word to a node has led to before.
//!
//! Words that are added together often differ at their beginning only: after different beginnings they come to the same
//! node, with the same rest to be added. The first of them finds the node that results, and the others are told. The memory
//! is a small table with one place for every hash; it lasts as long as one change of the automaton, and holds references
//! to the nodes that it speaks of, so that they stay what they were.

use super::nodes::{Nodes, Ref, SINK};

/// Places in the table.
const PLACES: usize = 1 << 11;
/// With fewer words it is not worth while.
pub(super) const LEAST_WORDS: usize = 128;

#[derive(Clone, Copy, Default)]
struct Entry {
    node: Ref,
    result: Ref,
    /// The number of a word that ends so, and the layer from which on its end counts. Layer 0 means that there is no entry.
    word: u32,
    layer: u32,
}

#[derive(Default)]
pub(super) struct Memo {
    /// Empty until it is first used.
    entries: Vec<Entry>,
    /// For every layer, a hash of the present word from there on.
    ends: Vec<u64>,
}

impl Memo {
    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>()
    }

    /// From now on the rests of this word, from layer `first` on, are asked for.
    #[inline(always)]
    pub fn begin(&mut self, word: &[u8], first: usize) {
        if self.entries.is_empty() {
            self.entries.resize(PLACES, Entry::default());
        }
        self.ends.resize(word.len(), 0);
        let mut sum = 0u64;
        for layer in (first..word.len()).rev() {
            sum = (sum ^ word[layer] as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
            self.ends[layer] = sum;
        }
    }

    #[inline(always)]
    fn place(&self, node: Ref, layer: usize) -> usize {
        let mixed = (self.ends[layer] ^ node as u64).wrapping_mul(0x2d35_8dcc_aa6c_78a5);
        (mixed >> (64 - PLACES.ilog2())) as usize
    }

    /// The node that results from adding the rest of the present word to a node of this layer, not 0, if it is known.
    #[inline(always)]
    pub fn ask<'a>(&self, node: Ref, layer: usize, word: &[u8], words: impl Fn(usize) -> &'a [u8]) -> Option<Ref> {
        let entry = self.entries[self.place(node, layer)];
        let known =
            entry.node == node && entry.layer == layer as u32 && words(entry.word as usize)[layer..] == word[layer..];
        known.then_some(entry.result)
    }

    /// Remembers a result for the present word.
    #[inline(always)]
    pub fn tell(&mut self, nodes: &mut Nodes, node: Ref, layer: usize, word: usize, result: Ref) {
        let place = self.place(node, layer);
        nodes.share(node);
        nodes.share(result);
        let old =
            std::mem::replace(&mut self.entries[place], Entry { node, result, word: word as u32, layer: layer as u32 });
        nodes.release(old.node);
        nodes.release(old.result);
    }

    /// Forgets everything.
    pub fn clear(&mut self, nodes: &mut Nodes) {
        for entry in &mut self.entries {
            if entry.layer > 0 {
                let old = std::mem::take(entry);
                nodes.release(old.node);
                nodes.release(old.result);
            }
        }
    }
}

// An entry that was never written speaks of the sink, whose references are not counted.
const _: () = assert!(SINK == 0);
