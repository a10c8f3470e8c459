//! Inserting and deleting words, so that the automaton is minimal again afterwards (section 3 of the paper).
//!
//! The paper's three phases generate the run of the word, look backwards from the end for nodes that already exist, and
//! duplicate those before them that others refer to as well. Here they happen on the way: the nodes of the run are opened
//! from the root on, that is, taken apart into lists of edges: a node with one reference is used up, one with several stays
//! and is copied. Then the lists are closed from the end on: each becomes the node with these edges that there is already,
//! or else a new one. Deleting is the same with an edge less at the end; an empty list becomes no node at all, which is what
//! complementing the automaton twice amounts to.
//!
//! Of several words in ascending order, each opens only what it does not share with the one before.

use super::Automaton;
use super::nodes::{ACCEPT, Edge, Nodes, Ref, SINK};

/// The open nodes of a run, and for each but the last the byte and the place of the edge that was taken out of it.
pub(super) struct Change {
    lists: Vec<Vec<Edge>>,
    taken: Vec<(u8, u16)>,
}

impl Change {
    pub fn new(word_bytes: usize) -> Change {
        Change { lists: vec![Vec::new(); word_bytes], taken: vec![(0, 0); word_bytes] }
    }
}

/// Takes the edge for `byte` out of a list: where it leads, or [`SINK`], and its place in the list.
#[inline(always)]
fn take(nodes: &mut Nodes, list: &mut Vec<Edge>, byte: u8) -> (Ref, usize) {
    let at = list.iter().position(|edge| edge.high >= byte).unwrap_or(list.len());
    let Some(&Edge { low, high, to }) = list.get(at).filter(|edge| edge.low <= byte) else {
        return (SINK, at);
    };
    match (low < byte, byte < high) {
        (false, false) => {
            list.remove(at);
            (to, at)
        }
        (true, false) => {
            nodes.share(to);
            list[at].high = byte - 1;
            (to, at + 1)
        }
        (false, true) => {
            nodes.share(to);
            list[at].low = byte + 1;
            (to, at)
        }
        (true, true) => {
            nodes.share(to);
            nodes.share(to);
            list[at].high = byte - 1;
            list.insert(at + 1, Edge { low: byte + 1, high, to });
            (to, at + 1)
        }
    }
}

/// Puts an edge for `byte` to its place in a list.
#[inline(always)]
fn put(nodes: &mut Nodes, list: &mut Vec<Edge>, at: usize, byte: u8, to: Ref) {
    if to == SINK {
        return;
    }
    let joins_left = at > 0 && list[at - 1].to == to && list[at - 1].high.checked_add(1) == Some(byte);
    let joins_right = at < list.len() && list[at].to == to && byte.checked_add(1) == Some(list[at].low);
    match (joins_left, joins_right) {
        (false, false) => list.insert(at, Edge { low: byte, high: byte, to }),
        (true, false) => {
            list[at - 1].high = byte;
            nodes.release(to);
        }
        (false, true) => {
            list[at].low = byte;
            nodes.release(to);
        }
        (true, true) => {
            list[at - 1].high = list[at].high;
            list.remove(at);
            nodes.release(to);
            nodes.release(to);
        }
    }
}

impl Automaton {
    /// Inserts words that are not there, or deletes words that are. They are ascending, without repetition, and room was
    /// promised for them.
    pub(super) fn apply<'a, const INSERT: bool>(&mut self, words: impl Iterator<Item = &'a [u8]>) {
        let last = self.word_bytes - 1;
        // The word whose run is open, down to the last layer.
        let mut open: Option<&[u8]> = None;
        for word in words {
            assert!(word.len() == self.word_bytes);
            let shared = match open {
                None => {
                    self.nodes.open(self.root, &mut self.change.lists[0]);
                    0
                }
                Some(before) => {
                    let shared = before.iter().zip(word).take_while(|(a, b)| a == b).count();
                    debug_assert!(shared < word.len() && before < word);
                    self.close(last, shared);
                    shared
                }
            };
            for layer in shared..last {
                let (to, at) = take(&mut self.nodes, &mut self.change.lists[layer], word[layer]);
                self.change.taken[layer] = (word[layer], at as u16);
                self.nodes.open(to, &mut self.change.lists[layer + 1]);
            }
            let list = &mut self.change.lists[last];
            let (was, at) = take(&mut self.nodes, list, word[last]);
            debug_assert!((was == SINK) == INSERT);
            if INSERT {
                put(&mut self.nodes, list, at, word[last], ACCEPT);
                self.len += 1;
            } else {
                self.len -= 1;
            }
            open = Some(word);
        }
        if open.is_some() {
            self.close(last, 0);
            self.root = self.closed(0);
        }
        self.nodes.settle();
    }

    /// Closes the open lists from layer `from` back to the one after `to`.
    #[inline(always)]
    fn close(&mut self, from: usize, to: usize) {
        for layer in (to + 1..=from).rev() {
            let node = self.closed(layer);
            let (byte, at) = self.change.taken[layer - 1];
            put(&mut self.nodes, &mut self.change.lists[layer - 1], at as usize, byte, node);
        }
    }

    /// The node with the edges of an open list.
    #[inline(always)]
    fn closed(&mut self, layer: usize) -> Ref {
        let list = &self.change.lists[layer];
        if list.is_empty() {
            return SINK;
        }
        self.widest[layer] = self.widest[layer].max(list.len() as u16);
        self.nodes.intern(list)
    }
}
