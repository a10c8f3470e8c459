//! Nodes that were read from a file. Nothing is taken for granted of them: a reference beyond the arena would be read, and
//! a chain that ends in itself followed for ever.
//!
//! What can be computed is computed again: how often a node is referred to, and the chains of the buckets. All else must be
//! as it would be after the same words were added: places without gaps between them, the free ones listed once each,
//! ranges in order, and every way to the end of a length that depends on the node alone. This takes one pass after the other
//! over the nodes, and a bit for each word of the arena.

use super::labels::hash;
use super::nodes::{ACCEPT, FIRST, MANY, Nodes, ONE, Ref, SINK, edge_words, label_words};
use scrimp_system::Set;

/// More nodes in one bucket than ever come together by chance: there are no fewer buckets than nodes.
const LONGEST_CHAIN: usize = 100;

impl Nodes {
    /// Makes these nodes, as they were read, those of an automaton with this root, whose layers have nodes of so many ranges
    /// at most. `None` where there is no such automaton.
    pub(super) fn make_sound(&mut self, root: Ref, widest: &[u16]) -> Option<()> {
        let used = self.used_places()?;
        for node in used.iter() {
            let first = self.get(node as Ref);
            self.set(node as Ref, if first < MANY { first % ONE } else { first });
            self.set_height(node as Ref, 0);
        }
        for node in used.iter() {
            self.measure(node as Ref, &used, widest)?;
        }
        if root != SINK {
            let whole = used.contains(root as usize) && self.height(root) as usize == widest.len();
            whole.then(|| self.share(root))?;
        }
        // Nobody would ever take away a node that nobody refers to.
        used.iter().all(|node| self.get(node as Ref) >= ONE).then_some(())?;
        self.fill_buckets(&used)
    }

    /// The first words of the nodes; `None` unless places follow each other and each is a node or free.
    fn used_places(&self) -> Option<Set> {
        let end = self.arena.used() / 4;
        let mut used = Set::new(end);
        let mut at = FIRST as usize;
        while at < end {
            used.insert(at);
            at += 2 + edge_words(self.ranges(at as Ref));
        }
        let mut free_words = 0;
        for (i, &first) in self.free.iter().enumerate() {
            let mut place = first;
            while place != SINK {
                // A place that is listed twice is not there the second time.
                (used.remove(place as usize) && self.ranges(place) == i + 1).then_some(())?;
                free_words += 2 + edge_words(i + 1);
                place = self.get(place + 1);
            }
        }
        (at == end && free_words == self.free_words).then_some(used)
    }

    /// How many bytes lead from a node to the end; 0 while that is not known. It stands where the chain will be.
    fn height(&self, node: Ref) -> u32 {
        if node == ACCEPT { 0 } else { self.get(node + 1) }
    }

    fn set_height(&mut self, node: Ref, height: u32) {
        self.set(node + 1, height);
    }

    /// Finds the height of a node and of all behind it, and counts the references that they have.
    fn measure(&mut self, node: Ref, used: &Set, widest: &[u16]) -> Option<()> {
        if self.height(node) > 0 {
            return Some(());
        }
        // Nodes on the way, each with how many of its ranges were followed.
        let mut way = vec![(node, 0)];
        while let Some((node, followed)) = way.last_mut() {
            let (node, i) = (*node, *followed);
            if i == self.ranges(node) {
                let height = self.height(self.edge(node, 0).to) as usize + 1;
                let widest = widest[widest.len().checked_sub(height)?];
                (i <= widest as usize && self.has_sound_ranges(node)).then_some(())?;
                self.set_height(node, height as u32);
                way.pop();
                continue;
            }
            let to = self.edge(node, i).to;
            if to != ACCEPT {
                used.contains(to as usize).then_some(())?;
                if self.height(to) == 0 {
                    // A way that comes back to where it was has no end either.
                    (way.len() < widest.len()).then(|| way.push((to, 0)))?;
                    continue;
                }
            }
            (self.height(to) == self.height(self.edge(node, 0).to)).then_some(())?;
            self.share(to);
            *followed += 1;
        }
        Some(())
    }

    /// Are the ranges of a node ascending and as long as they can be, with zeros behind them?
    fn has_sound_ranges(&self, node: Ref) -> bool {
        let ranges = self.ranges(node);
        let labels = self.edges_of(node)[..label_words(ranges)].iter().flat_map(|word| word.to_ne_bytes());
        let mut before = None;
        let ascending = self.each_edge(node).all(|edge| {
            let before = before.replace(edge);
            edge.low <= edge.high
                && before
                    .is_none_or(|before| before.high < edge.low && (before.to != edge.to || before.high + 1 < edge.low))
        });
        ascending && labels.skip(2 * ranges).all(|byte| byte == 0)
    }

    /// Puts all nodes into the buckets, whatever was there; `None` if there are not as many as was said, or two are equal.
    fn fill_buckets(&mut self, used: &Set) -> Option<()> {
        self.buckets.content_mut().fill(0);
        let (mut count, mut edges) = (0, 0);
        for node in used.iter() {
            let node = node as Ref;
            let bucket = self.bucket_of(hash(self.edges_of(node)));
            self.is_new(node, bucket).then_some(())?;
            self.set(node + 1, self.head(bucket));
            self.set_head(bucket, node);
            count += 1;
            edges += self.ranges(node);
        }
        ((count, edges) == (self.count, self.edges) && count <= self.buckets.used() / 4).then_some(())
    }

    /// Has a bucket few nodes, and none that equals this one?
    fn is_new(&self, node: Ref, bucket: usize) -> bool {
        let edges = self.edges_of(node);
        let chain = |&other: &Ref| Some(self.get(other + 1));
        let mut chain = std::iter::successors(Some(self.head(bucket)), chain).take_while(|&other| other != SINK);
        let differ = chain.by_ref().take(LONGEST_CHAIN).all(|other| self.edges_of(other) != edges);
        differ && chain.next().is_none()
    }
}
