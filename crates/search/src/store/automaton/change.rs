//! Inserting and deleting words, so that the automaton is minimal again afterwards (section 3 of the paper).
//!
//! The paper's three phases generate the run of the word, look backwards from the end for nodes that already exist, and
//! duplicate those before them that others refer to as well. Here they happen on the way: the nodes of the run are opened
//! from the root on, that is, made into lists of edges. As long as every node has one reference it is taken apart; from the
//! first that has several, nodes stay and are copied. Then the lists are closed from the end on: each becomes the node with
//! these edges that there is already, or else a new one; before a new one, all are new. Deleting is the same with an edge
//! less at the end; an empty list becomes no node at all, which is what complementing the automaton twice amounts to.
//!
//! Of several words in ascending order, each opens only what it does not share with the one before, and where another word
//! has done the same to the same node, what came of it is [remembered](Memo).

use super::Automaton;
use super::memo::{LEAST_WORDS, Memo};
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
    /// An edge leads to a node that was made since this one was opened, so that no node can be equal to this one.
    fresh: bool,
    /// What this one was opened from, if what comes of it is to be remembered.
    remember: Option<Ref>,
}

/// The open nodes of a run, one for each layer.
pub(super) struct Change {
    layers: Vec<Open>,
    memo: Memo,
}

impl Change {
    pub fn new(word_bytes: usize) -> Change {
        Change { layers: vec![Open::default(); word_bytes], memo: Memo::default() }
    }

    pub fn bytes(&self) -> usize {
        self.memo.bytes()
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

/// How many bytes two words begin with in common.
#[inline(always)]
fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

impl Automaton {
    /// Inserts words that are not there, or deletes words that are: `word(i)` for all `i` below `count`. They are ascending,
    /// without repetition, and room was promised for them.
    pub(super) fn apply<'a, const INSERT: bool>(&mut self, count: usize, word: impl Fn(usize) -> &'a [u8]) {
        if count == 0 {
            return;
        }
        let last = self.word_bytes - 1;
        self.open(self.root, true, 0);
        // The layer down to which nodes are open.
        let mut shared = 0;
        for i in 0..count {
            let present = word(i);
            assert!(present.len() == self.word_bytes);
            let shared_after = if i + 1 < count { common(present, word(i + 1)) } else { 0 };
            debug_assert!(i + 1 == count || present < word(i + 1));
            // From here on no other of the words comes by.
            let alone = if INSERT && count >= LEAST_WORDS { shared.max(shared_after) + 1 } else { usize::MAX };
            if alone <= last {
                self.change.memo.begin(present, alone);
            }
            let bottom = self.run::<INSERT>(shared, alone, present, &word);
            self.len = if INSERT { self.len + 1 } else { self.len - 1 };
            self.close(bottom, shared_after, i);
            shared = shared_after;
        }
        self.root = self.closed(0, count - 1).0;
        self.change.memo.clear(&mut self.nodes);
        self.find_top();
        self.nodes.settle(if INSERT { self.bound(1) } else { 0 }, self.word_bytes);
    }

    /// Opens the run of a word from layer `shared` on, which is open, and inserts or deletes it. Answers the last layer that
    /// is open: where the rest is known from another word, it is not opened.
    #[inline(always)]
    fn run<'a, const INSERT: bool>(
        &mut self,
        shared: usize,
        alone: usize,
        present: &[u8],
        word: &impl Fn(usize) -> &'a [u8],
    ) -> usize {
        let last = self.word_bytes - 1;
        for layer in shared..last {
            let (to, counted) = self.change.layers[layer].take(&mut self.nodes, present[layer]);
            // Only one beginning leads to a node with one reference.
            let remember = layer + 1 >= alone && !(counted && self.nodes.references(to) == 1);
            if remember && let Some(known) = self.change.memo.ask(to, layer + 1, present, word) {
                self.nodes.share(known);
                self.change.layers[layer].put(&mut self.nodes, known);
                if counted {
                    self.nodes.release(to);
                }
                return layer;
            }
            self.open(to, counted, layer + 1);
            self.change.layers[layer + 1].remember = remember.then_some(to);
        }
        let layer = &mut self.change.layers[last];
        let (was, _) = layer.take(&mut self.nodes, present[last]);
        debug_assert!((was == SINK) == INSERT);
        if INSERT {
            layer.put(&mut self.nodes, ACCEPT);
        }
        last
    }

    #[inline(always)]
    fn open(&mut self, node: Ref, counted: bool, layer: usize) {
        let open = &mut self.change.layers[layer];
        open.held = self.nodes.open(node, counted, &mut open.list);
        open.fresh = false;
        open.remember = None;
    }

    /// Closes the open nodes from layer `from` back to the one after `to`, after word `number`.
    #[inline(always)]
    fn close(&mut self, from: usize, to: usize, number: usize) {
        for layer in (to + 1..=from).rev() {
            let (node, fresh) = self.closed(layer, number);
            let before = &mut self.change.layers[layer - 1];
            before.put(&mut self.nodes, node);
            before.fresh |= fresh;
        }
    }

    /// The node with the edges of an open one, after word `number`, and whether it was made.
    #[inline(always)]
    fn closed(&mut self, layer: usize, number: usize) -> (Ref, bool) {
        let Open { list, held, fresh, remember, .. } = &self.change.layers[layer];
        let (node, made) = if list.is_empty() { (SINK, false) } else { self.nodes.intern(list, *fresh) };
        self.widest[layer] = self.widest[layer].max(list.len() as u16);
        if let Some(before) = *remember {
            self.change.memo.tell(&mut self.nodes, before, layer, number, node);
        }
        // Last, for it may be the node that is remembered.
        if *held != SINK {
            self.nodes.release(*held);
        }
        (node, made)
    }
}
