//! Proves an automaton minimal and sound, by walking the whole of it.

use super::Automaton;
use super::nodes::{ACCEPT, Edge, Ref, SINK};
use std::collections::{BTreeSet, HashMap, HashSet};

impl Automaton {
    /// Panics unless the automaton holds exactly `words` and is minimal: the ranges of every node are ascending and maximal,
    /// none leads to the rejecting end, all paths have the length of a word, no two nodes have the same edges, each is
    /// referred to as often as it counts, and there are no others than those reached from the root.
    pub(super) fn prove(&self, words: &BTreeSet<Vec<u8>>) {
        let mut layer: HashSet<Ref> = HashSet::from([self.root]);
        layer.remove(&SINK);
        let mut references: HashMap<Ref, u32> = layer.iter().map(|&root| (root, 1)).collect();
        let (mut nodes, mut edges) = (0, 0);
        let mut everywhere: HashSet<Ref> = HashSet::new();
        for depth in 0..self.word_bytes {
            let mut lists: HashSet<Vec<(u8, u8, Ref)>> = HashSet::new();
            let mut next = HashSet::new();
            for &node in &layer {
                assert!(everywhere.insert(node), "a node of two layers");
                let list: Vec<Edge> = self.nodes.each_edge(node).collect();
                assert!(!list.is_empty(), "a node that leads nowhere");
                for edge in &list {
                    assert!(edge.low <= edge.high, "an empty range");
                    assert_ne!(edge.to, SINK, "an edge to the rejecting end");
                    assert_eq!(edge.to == ACCEPT, depth + 1 == self.word_bytes, "a word of another length");
                    *references.entry(edge.to).or_insert(0) += 1;
                    next.insert(edge.to);
                }
                for pair in list.windows(2) {
                    assert!(pair[0].high < pair[1].low, "ranges that are not ascending");
                    assert!(pair[0].high + 1 < pair[1].low || pair[0].to != pair[1].to, "ranges that should be one");
                }
                (nodes, edges) = (nodes + 1, edges + list.len());
                assert!(list.len() <= self.widest[depth] as usize, "a node wider than the widest");
                assert!(lists.insert(list.iter().map(|e| (e.low, e.high, e.to)).collect()), "two equal nodes");
            }
            layer = next;
        }
        for (&node, &count) in references.iter().filter(|(node, _)| **node != ACCEPT) {
            assert_eq!(self.nodes.references(node), count, "references to node {node}");
        }
        assert_eq!((self.nodes(), self.edges()), (nodes, edges), "nodes or edges that are not reached");
        self.nodes.prove_places(&everywhere);
        let mut expected = words.iter();
        assert!(self.each(&mut |word| expected.next().is_some_and(|w| w == word)), "a word that should not be there");
        assert_eq!((expected.next(), self.len()), (None, words.len() as u64), "words that are missing");
    }
}
