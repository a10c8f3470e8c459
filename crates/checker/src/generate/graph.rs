//! The graph in which runs are looked for: nodes are numbers, edges say where they lead and which set of items they cover.
//!
//! Nodes have their numbers in breadth-first order, and each knows the edge by which it was found: so the nearest edge of all
//! that cover an item is the first, and the shortest way there is known. Sets are interned, and set 0 is empty.

use scrimp_core::Budget;
use scrimp_search::Column;
use scrimp_search::store::Full;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// No node.
pub const NOBODY: u32 = u32::MAX;

/// A run as it goes through the graph: the node where it begins with the set that this covers, and each node that follows with
/// the set of the edge to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    pub steps: Vec<(u32, u32)>,
}

impl Way {
    pub fn end(&self) -> u32 {
        self.steps.last().map_or(NOBODY, |(node, _)| *node)
    }
}

pub struct Graph {
    /// Nodes, of which the first ones are expanded.
    nodes: u32,
    expanded: u32,
    pub initial: Vec<(u32, u32)>,
    /// Where the edges of each expanded node begin; those of the last end where all end.
    starts: Column<u32>,
    targets: Column<u32>,
    sets: Column<u32>,
    edges: u32,
    /// From where each node was found; of initial ones nobody.
    parents: Column<u32>,
    /// The set of that edge.
    via: Column<u32>,
    /// What is in each set, in order.
    contents: Vec<Vec<u32>>,
    known: HashMap<Vec<u32>, u32>,
    /// For who goes through it: memory that is there once the graph is.
    pub scratch: Scratch,
}

/// What a breadth-first search through the graph needs: for each node when it was visited and from where, and a queue.
pub struct Scratch {
    pub stamps: Column<u32>,
    pub from: Column<u32>,
    pub by: Column<u32>,
    pub queue: Column<u32>,
    pub round: u32,
}

impl Graph {
    pub fn new(budget: &Arc<Budget>) -> io::Result<Graph> {
        let column = || Column::new(budget);
        let scratch = Scratch { stamps: column()?, from: column()?, by: column()?, queue: column()?, round: 0 };
        Ok(Graph {
            nodes: 0,
            expanded: 0,
            initial: Vec::new(),
            starts: column()?,
            targets: column()?,
            sets: column()?,
            edges: 0,
            parents: column()?,
            via: column()?,
            contents: vec![Vec::new()],
            known: HashMap::from([(Vec::new(), 0)]),
            scratch,
        })
    }

    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// How many nodes have all their edges.
    pub fn expanded(&self) -> u32 {
        self.expanded
    }

    pub fn edges(&self) -> u32 {
        self.edges
    }

    pub fn sets(&self) -> u32 {
        self.contents.len() as u32
    }

    /// The items of a set.
    pub fn items(&self, set: u32) -> &[u32] {
        &self.contents[set as usize]
    }

    /// The number of a set.
    pub fn intern(&mut self, mut items: Vec<u32>) -> u32 {
        items.sort_unstable();
        items.dedup();
        let next = self.contents.len() as u32;
        *self.known.entry(items).or_insert_with_key(|items| {
            self.contents.push(items.clone());
            next
        })
    }

    /// Adds a node that was found so.
    pub fn add(&mut self, parent: u32, via: u32) -> Result<u32, Full> {
        let (node, many) = (self.nodes, self.nodes as usize + 1);
        if node == NOBODY - 1 {
            return Err(Full);
        }
        let Scratch { stamps, from, by, queue, .. } = &mut self.scratch;
        for column in [&mut self.starts, &mut self.parents, &mut self.via, stamps, from, by, queue] {
            column.ensure(many)?;
        }
        (self.parents[node], self.via[node]) = (parent, via);
        self.nodes += 1;
        Ok(node)
    }

    /// Adds the edges of the next node that has none yet.
    pub fn expand(&mut self, edges: &[(u32, u32)]) -> Result<(), Full> {
        let all = self.edges.checked_add(edges.len() as u32).ok_or(Full)?;
        self.targets.ensure(all as usize)?;
        self.sets.ensure(all as usize)?;
        self.starts[self.expanded] = self.edges;
        for &(target, set) in edges {
            (self.targets[self.edges], self.sets[self.edges]) = (target, set);
            self.edges += 1;
        }
        self.expanded += 1;
        Ok(())
    }

    /// The edges of a node, by their numbers.
    pub fn range(&self, node: u32) -> Range<u32> {
        let start = |node: u32| if node < self.expanded { self.starts[node] } else { self.edges };
        if node < self.expanded { start(node)..start(node + 1) } else { 0..0 }
    }

    /// Where an edge leads, and its set.
    pub fn edge(&self, edge: u32) -> (u32, u32) {
        (self.targets[edge], self.sets[edge])
    }

    /// Where the edges of a node lead, and the set of each; none of one that was not expanded.
    pub fn successors(&self, node: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.range(node).map(|edge| self.edge(edge))
    }

    /// The way on which a node was found: a shortest one.
    pub fn way_to(&self, node: u32) -> Way {
        let mut steps = vec![(node, self.via[node])];
        let mut at = self.parents[node];
        while at != NOBODY {
            steps.push((at, self.via[at]));
            at = self.parents[at];
        }
        steps.reverse();
        Way { steps }
    }
}
