//! Pairs of items: one is executed by a step, and the other by the next step of the run.
//!
//! What a step covers then depends on the step before it. So a node is a state with the set of the edge by which it is entered,
//! and an edge covers every pair of what led to the state and what leads on.

use super::graph::{Graph, NOBODY};
use scrimp_core::{Budget, Limit};
use scrimp_search::store::Full;
use scrimp_system::Stop;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Bytes that a node takes beside the graph, about, and nodes for which they are asked for at once.
const EACH: usize = 48;
const AT_ONCE: usize = 1024;

pub struct Pairs {
    pub graph: Graph,
    pub limit: Option<Limit>,
    /// The items of each pair.
    pub pairs: Vec<(u32, u32)>,
    /// For each node, the state and the set of the edge by which it is entered.
    entered: Vec<(u32, u32)>,
}

/// The pairs of a graph, as far as there is time and memory.
pub fn pairs(base: &Graph, memory: usize, stop: &Stop) -> io::Result<Pairs> {
    let budget = Budget::begin(memory)?;
    let mut pairs = Pairs { graph: Graph::new(&budget)?, limit: None, pairs: Vec::new(), entered: Vec::new() };
    pairs.limit = pairs.build(base, &budget, stop).unwrap_or(Some(Limit::Memory));
    Ok(pairs)
}

impl Pairs {
    fn build(&mut self, base: &Graph, budget: &Arc<Budget>, stop: &Stop) -> Result<Option<Limit>, Full> {
        let mut nodes: HashMap<(u32, u32), u32> = HashMap::new();
        let (mut sets, mut numbers) = (HashMap::new(), HashMap::new());
        for &(state, set) in &base.initial {
            let node = self.graph.add(NOBODY, 0)?;
            nodes.insert((state, set), node);
            self.entered.push((state, set));
            self.graph.initial.push((node, 0));
        }
        let mut edges = Vec::new();
        while self.graph.expanded() < self.graph.nodes() {
            let source = self.graph.expanded();
            if (source as usize).is_multiple_of(AT_ONCE) {
                // Where states were visited until the last moment, some pairs of theirs are found all the same.
                if let Some(cause) = stop.due().filter(|_| source > 0) {
                    return Ok(Some(cause.into()));
                }
                if !budget.may_take(EACH * AT_ONCE) {
                    return Err(Full);
                }
                budget.take(EACH * AT_ONCE);
            }
            let (state, entered) = self.entered[source as usize];
            edges.clear();
            for (target, leaving) in base.successors(state) {
                let (graph, pairs) = (&mut self.graph, &mut self.pairs);
                let covers = *sets.entry((entered, leaving)).or_insert_with(|| {
                    let mut both = Vec::new();
                    for &first in base.items(entered) {
                        for &second in base.items(leaving) {
                            both.push(*numbers.entry((first, second)).or_insert_with(|| {
                                pairs.push((first, second));
                                pairs.len() as u32 - 1
                            }));
                        }
                    }
                    graph.intern(both)
                });
                let node = match nodes.get(&(target, leaving)) {
                    Some(&node) => node,
                    None => {
                        let node = self.graph.add(source, covers)?;
                        nodes.insert((target, leaving), node);
                        self.entered.push((target, leaving));
                        node
                    }
                };
                edges.push((node, covers));
            }
            edges.sort_unstable();
            edges.dedup();
            self.graph.expand(&edges)?;
        }
        Ok(None)
    }

    /// The same way through states.
    pub fn through_states(&self, steps: &[(u32, u32)]) -> Vec<(u32, u32)> {
        steps.iter().map(|(node, _)| self.entered[*node as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_pairs_are_found_without_time() {
        let budget = Arc::new(Budget::apart(1 << 30));
        let mut base = Graph::new(&budget).unwrap();
        base.add(NOBODY, 0).ok().unwrap();
        base.initial.push((0, 0));
        let sets = [base.intern(vec![0]), base.intern(vec![1])];
        base.add(0, sets[0]).ok().unwrap();
        base.expand(&[(1, sets[0])]).ok().unwrap();
        base.expand(&[(0, sets[1])]).ok().unwrap();
        let found = pairs(&base, 1 << 30, &Stop::at(Some(std::time::Instant::now()))).unwrap();
        assert_eq!((found.pairs, found.limit), (vec![(0, 1), (1, 0)], None));
    }
}
