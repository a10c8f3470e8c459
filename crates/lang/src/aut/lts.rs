//! A labelled transition system: numbered states, and edges with a label between them.

/// What CADP and mCRL2 call the label that nobody sees.
pub(super) const INVISIBLE: [&str; 2] = ["i", "tau"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: u32,
    pub label: u32,
    pub to: u32,
}

#[derive(Debug, Default)]
pub(super) struct Lts {
    pub initial: u32,
    pub states: u32,
    pub labels: Vec<String>,
    /// In the order of the file; one that stands there twice is there twice.
    pub edges: Vec<Edge>,
    /// The line of each edge, where lines are worth showing.
    pub lines: Vec<u32>,
}

pub(super) fn is_invisible(label: &str) -> bool {
    INVISIBLE.contains(&label)
}

/// A label begins with its gate; the rest are offers: `G !1 ?x` has the gate `G`.
pub(super) fn gate(label: &str) -> &str {
    let end = label.find(|c: char| c.is_whitespace() || matches!(c, '!' | '?' | '(')).unwrap_or(label.len());
    &label[..end]
}

impl Lts {
    /// For each label, how many edges have it.
    pub fn edges_of(&self) -> Vec<u64> {
        let mut counts = vec![0; self.labels.len()];
        self.edges.iter().for_each(|edge| counts[edge.label as usize] += 1);
        counts
    }

    /// For each label, how many edges with it leave one state at most.
    pub fn ranks(&self) -> Vec<u64> {
        let mut most = vec![0; self.labels.len()];
        self.ranked(|edge, rank| {
            let most = &mut most[edge.label as usize];
            *most = rank.saturating_add(1).max(*most);
        });
        most
    }

    /// Visits the edges by source and label, each with how many of the same source and label came before it.
    pub fn ranked(&self, mut visit: impl FnMut(&Edge, u64)) {
        let key = |at: &u32| {
            let edge = &self.edges[*at as usize];
            (edge.from, edge.label, *at)
        };
        let mut order: Vec<u32> = (0..self.edges.len() as u32).collect();
        order.sort_unstable_by_key(key);
        let (mut last, mut rank) = (None, 0);
        for at in order {
            let edge = &self.edges[at as usize];
            rank = if last == Some((edge.from, edge.label)) { rank + 1 } else { 0 };
            last = Some((edge.from, edge.label));
            visit(edge, rank);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_begin_with_their_gates() {
        assert_eq!(["G !1 ?x", "G!1", "send(2, 3)", "a", ""].map(gate), ["G", "G", "send", "a", ""]);
    }
}
