//! The states of a model, breadth-first, as the graph in which runs are looked for: each edge with the items that it covers.

use super::graph::{Graph, NOBODY};
use super::wish::Wanted;
use scrimp_core::{Budget, Limit, Trace};
use scrimp_native::NativeModel;
use scrimp_search::store::{Full, Store, Table};
use scrimp_system::{Batch, Model, Stop};
use std::io;
use std::sync::Arc;

/// States that are expanded between two looks at the clock.
const GLANCE: u32 = 64;

/// What was explored.
pub struct Explored {
    pub graph: Graph,
    pub limit: Option<Limit>,
    states: Table,
    bytes: usize,
}

/// Visits all states, as long as there is time and memory and the model has room for what is met.
pub fn explore(model: &NativeModel, wanted: &mut Wanted, memory: usize, stop: &Stop) -> io::Result<Explored> {
    let budget = Budget::begin(memory)?;
    let (graph, states) = (Graph::new(&budget)?, Table::new(model.state_bytes(), budget.clone())?);
    let bytes = model.state_bytes();
    let mut explored = Explored { graph, limit: None, states, bytes };
    explored.limit = explored.run(model, wanted, &budget, stop).unwrap_or(Some(Limit::Memory));
    Ok(explored)
}

impl Explored {
    /// The state of a node.
    pub fn state(&self, node: u32) -> Vec<u8> {
        let mut state = vec![0; self.bytes];
        self.states.load(node, &mut state);
        state
    }

    fn run(
        &mut self,
        model: &NativeModel,
        wanted: &mut Wanted,
        budget: &Arc<Budget>,
        stop: &Stop,
    ) -> Result<Option<Limit>, Full> {
        let (mut batch, mut found) = (Batch::new(self.bytes), Vec::new());
        let (mut before, mut edges) = (vec![0; self.bytes], Vec::new());
        model.initial(&mut batch);
        self.states.offer(&batch, 0..batch.len(), &mut found)?;
        for (i, offered) in found.iter().enumerate().filter(|(_, offered)| offered.new) {
            let set = wanted.initially(&mut self.graph, batch.state(i));
            let node = self.graph.add(NOBODY, set)?;
            debug_assert_eq!(node, offered.id);
            self.graph.initial.push((node, set));
        }
        while self.graph.expanded() < self.graph.nodes() {
            let source = self.graph.expanded();
            if source.is_multiple_of(GLANCE) {
                // Some are visited in any case: what is told of should be more than nothing.
                if let Some(cause) = stop.due().filter(|_| source > 0) {
                    return Ok(Some(cause.into()));
                }
                if budget.left() == 0 {
                    return Ok(Some(Limit::Memory));
                }
            }
            self.states.load(source, &mut before);
            batch.clear();
            found.clear();
            edges.clear();
            model.expand(&before, &mut batch);
            batch.take_deadlock(batch.len());
            if model.outgrown().is_some() {
                return Ok(Some(Limit::Tokens));
            }
            self.states.offer(&batch, 0..batch.len(), &mut found)?;
            for (i, offered) in found.iter().enumerate() {
                let set = wanted.of_edge(&mut self.graph, model, &before, (batch.event(i), batch.state(i)));
                if offered.new {
                    let node = self.graph.add(source, set)?;
                    debug_assert_eq!(node, offered.id);
                }
                edges.push((offered.id, set));
            }
            edges.sort_unstable();
            edges.dedup();
            self.graph.expand(&edges)?;
        }
        Ok(None)
    }

    /// The run of the model that goes so: the model itself makes every step once more.
    pub fn replayed(&mut self, model: &NativeModel, wanted: &mut Wanted, steps: &[(u32, u32)]) -> Option<Trace> {
        let (first, rest) = steps.split_first()?;
        let mut trace = Trace { initial: self.state(first.0), steps: Vec::with_capacity(rest.len()) };
        let mut batch = Batch::new(self.bytes);
        for &(node, set) in rest {
            let (before, after) = (trace.last().to_vec(), self.state(node));
            batch.clear();
            model.expand(&before, &mut batch);
            batch.take_deadlock(batch.len());
            let mut choices = (0..batch.len()).filter(|&i| batch.state(i) == after);
            let graph = &mut self.graph;
            let choice = choices.find(|&i| wanted.of_edge(graph, model, &before, (batch.event(i), &after)) == set)?;
            trace.steps.push((batch.event(choice), after));
        }
        Some(trace)
    }
}
