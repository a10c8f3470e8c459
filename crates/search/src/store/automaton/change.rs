//! Inserting and deleting words, so that the automaton is minimal again afterwards (section 3 of the paper).
//!
//! The paper's three phases generate the run of the word, look backwards from the end for nodes that already exist, and
//! duplicate those before them that others refer to as well. Here they happen on the way: the nodes of the run are opened
//! from the root on, that is, made into lists of edges. As long as every node has one reference it is taken apart; from the
//! first that has several, nodes stay and are copied. Then the lists are closed from the end on: each becomes the node with
//! these edges that there is already, or else a new one. Deleting is the same with an edge less at the end; an empty list
//! becomes no node at all, which is what complementing the automaton twice amounts to.
//!
//! Of several words in ascending order, each opens only what it does not share with the one before.

use super::Automaton;
use super::nodes::{ACCEPT, Edge, Nodes, Ref, SINK};

/// An open node of a run.
#[derive(Clone, Default)]
struct Open {
    list: Vec<Edge>,
    /// The byte and the place of the edge that was taken out, behind which the next node of the run is open.
    byte: u8,
    at: u16,
    /// The reference that keeps alive what the list is a copy of.
    held: Ref,
}

/// The open nodes of a run, one for each layer.
pub(super) struct Change {
    layers: Vec<Open>,
}

impl Change {
    pub fn new(word_bytes: usize) -> Change {
        Change { layers: vec![Open::default(); word_bytes] }
    }
}

impl Open {
    /// Takes the edge for `byte` out of the list: where it leads, or [`SINK`], and whether that is a counted reference.
    #[inline(always)]
    fn take(&mut self, nodes: &mut Nodes, byte: u8) -> (Ref, bool) {
        let list = &mut self.list;
        let mut at = list.iter().position(|edge| edge.high >= byte).unwrap_or(list.len());
        self.byte = byte;
        self.at = at as u16;
        let Some(&edge) = list.get(at).filter(|edge| edge.low <= byte) else {
            return (SINK, false);
        };
        // What is left of the range needs references of its own.
        let mut parts = 0;
        if edge.low < byte {
            list[at].high = byte - 1;
            at += 1;
            parts += 1;
        }
        if byte < edge.high {
            let rest = Edge { low: byte + 1, ..edge };
            if parts == 0 {
                list[at] = rest
            } else {
                list.insert(at, rest)
            }
            parts += 1;
        }
        if parts == 0 {
            list.remove(at);
        } else if edge.counted {
            (0..parts).for_each(|_| nodes.share(edge.to));
        }
        self.at = at as u16;
        (edge.to, edge.counted)
    }

    /// Puts an edge to a node, with a counted reference, where one was taken out.
    #[inline(always)]
    fn put(&mut self, nodes: &mut Nodes, to: Ref) {
        if to == SINK {
            return;
        }
        let (list, byte, at) = (&mut self.list, self.byte, self.at as usize);
        let joins_left = at > 0 && list[at - 1].to == to && list[at - 1].high.checked_add(1) == Some(byte);
        let joins_right = at < list.len() && list[at].to == to && byte.checked_add(1) == Some(list[at].low);
        let mut edge = Edge { low: byte, high: byte, counted: true, to };
        // Of the references of edges that become one, one stays.
        let mut join = |other: Edge| {
            (edge.low, edge.high) = (edge.low.min(other.low), edge.high.max(other.high));
            if other.counted {
                nodes.release(to);
            }
        };
        match (joins_left, joins_right) {
            (false, false) => return list.insert(at, edge),
            (true, false) => join(list[at - 1]),
            (false, true) => join(list[at]),
            (true, true) => {
                join(list[at - 1]);
                join(list.remove(at));
            }
        }
        list[at - joins_left as usize] = edge;
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
                    self.open(self.root, true, 0);
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
                let (to, counted) = self.change.layers[layer].take(&mut self.nodes, word[layer]);
                self.open(to, counted, layer + 1);
            }
            let layer = &mut self.change.layers[last];
            let (was, _) = layer.take(&mut self.nodes, word[last]);
            debug_assert!((was == SINK) == INSERT);
            if INSERT {
                layer.put(&mut self.nodes, ACCEPT);
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

    #[inline(always)]
    fn open(&mut self, node: Ref, counted: bool, layer: usize) {
        let open = &mut self.change.layers[layer];
        open.held = self.nodes.open(node, counted, &mut open.list);
    }

    /// Closes the open nodes from layer `from` back to the one after `to`.
    #[inline(always)]
    fn close(&mut self, from: usize, to: usize) {
        for layer in (to + 1..=from).rev() {
            let node = self.closed(layer);
            self.change.layers[layer - 1].put(&mut self.nodes, node);
        }
    }

    /// The node with the edges of an open one.
    #[inline(always)]
    fn closed(&mut self, layer: usize) -> Ref {
        let Open { list, held, .. } = &self.change.layers[layer];
        let node = if list.is_empty() { SINK } else { self.nodes.intern(list) };
        self.widest[layer] = self.widest[layer].max(list.len() as u16);
        if *held != SINK {
            self.nodes.release(*held);
        }
        node
    }
}
