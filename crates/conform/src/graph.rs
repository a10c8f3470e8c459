//! The states that were met, each with its steps, which are worked out once: logs go over the same states again and again.

use scrimp_system::{Batch, DescribedModel, EventCode};
use std::collections::HashMap;
use std::rc::Rc;

/// A step of the model.
#[derive(Debug)]
pub(crate) struct Edge {
    /// The state that it leads to.
    pub to: u32,
    pub code: EventCode,
    /// Its single steps, where it has several: an atomic sequence.
    pub singles: Vec<Single>,
}

/// A single step, and the states between which it leads.
#[derive(Debug)]
pub(crate) struct Single {
    pub code: EventCode,
    pub before: Rc<[u8]>,
    pub after: Rc<[u8]>,
}

struct Met {
    state: Rc<[u8]>,
    edges: Option<Rc<[Edge]>>,
}

pub(crate) struct Graph<'m> {
    model: &'m dyn DescribedModel,
    numbers: HashMap<Rc<[u8]>, u32>,
    met: Vec<Met>,
    batch: Batch,
    bytes: usize,
}

/// Bytes that a state takes beside its own: in the table, in the list, and for its counters.
const BESIDE: usize = 80;

impl<'m> Graph<'m> {
    pub fn new(model: &'m dyn DescribedModel) -> Graph<'m> {
        let batch = Batch::new(model.state_bytes());
        Graph { model, numbers: HashMap::new(), met: Vec::new(), batch, bytes: 0 }
    }

    /// The initial states, in their order.
    pub fn initial(&mut self) -> Vec<u32> {
        let mut batch = Batch::new(self.model.state_bytes());
        self.model.initial(&mut batch);
        (0..batch.len()).map(|i| self.number(batch.state(i))).collect()
    }

    fn number(&mut self, state: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(state) {
            return *number;
        }
        let number = self.met.len() as u32;
        let state: Rc<[u8]> = state.into();
        self.bytes += state.len() + BESIDE;
        self.numbers.insert(state.clone(), number);
        self.met.push(Met { state, edges: None });
        number
    }

    pub fn state(&self, number: u32) -> &Rc<[u8]> {
        &self.met[number as usize].state
    }

    /// The steps from a state, in the order of the model.
    pub fn edges(&mut self, number: u32) -> Rc<[Edge]> {
        if let Some(edges) = &self.met[number as usize].edges {
            return edges.clone();
        }
        let state = self.state(number).clone();
        let mut batch = std::mem::replace(&mut self.batch, Batch::new(0));
        batch.clear();
        self.model.expand(&state, &mut batch);
        let edges: Vec<Edge> = (0..batch.len())
            .map(|i| {
                let (code, to) = (batch.event(i), self.number(batch.state(i)));
                let steps = self.model.steps(&state, code, batch.state(i));
                Edge { to, code, singles: if steps.len() > 1 { self.apart(&state, steps) } else { Vec::new() } }
            })
            .collect();
        self.batch = batch;
        self.bytes += edges.len() * size_of::<Edge>();
        let edges: Rc<[Edge]> = edges.into();
        self.met[number as usize].edges = Some(edges.clone());
        edges
    }

    fn apart(&mut self, state: &Rc<[u8]>, steps: Vec<(EventCode, Vec<u8>)>) -> Vec<Single> {
        let mut before = state.clone();
        let single = |(code, after): (EventCode, Vec<u8>)| {
            let after: Rc<[u8]> = after.into();
            self.bytes += size_of::<Single>() + after.len() + 2 * size_of::<usize>();
            Single { code, before: std::mem::replace(&mut before, after.clone()), after }
        };
        steps.into_iter().map(single).collect()
    }

    /// Bytes held, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Forgets all states but these, which get other numbers; answers the numbers by the old ones.
    pub fn keep(&mut self, kept: impl Iterator<Item = u32>) -> HashMap<u32, u32> {
        let old = std::mem::take(&mut self.met);
        self.numbers.clear();
        self.numbers.shrink_to_fit();
        self.bytes = 0;
        let mut named = HashMap::new();
        for number in kept {
            let state = old[number as usize].state.clone();
            named.entry(number).or_insert_with(|| self.number(&state));
        }
        named
    }
}
