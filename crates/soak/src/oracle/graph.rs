//! All states of a small model, one after the other, by a language's meaning and nothing else.

use crate::language::{Answer, Expected};
use std::collections::HashMap;
use std::hash::Hash;

/// What a model means: where it begins and how it goes on. Written from a language's manual; nothing of how Scrimp reads or runs
/// models is in it.
pub trait Meaning {
    type State: Clone + Eq + Hash;

    fn initial(&self) -> Self::State;

    /// What can happen in a state.
    fn steps(&self, state: &Self::State) -> Steps<Self::State>;
}

/// Who takes part in an event: first the one who makes it happen.
pub type Movers = Vec<usize>;

/// What can happen in a state.
#[derive(Debug, Clone)]
pub struct Steps<S> {
    /// Where each event leads to, and who takes part.
    pub moves: Vec<(S, Movers)>,
    /// Events that end in a run-time error.
    pub faults: usize,
    /// Events that the model itself forbids, and that happen all the same.
    pub forbidden: usize,
}

impl<S> Default for Steps<S> {
    fn default() -> Steps<S> {
        Steps { moves: Vec::new(), faults: 0, forbidden: 0 }
    }
}

/// The reachable states, in the order of a breadth-first search.
#[derive(Debug)]
pub struct Graph<S> {
    pub states: Vec<S>,
    pub numbers: HashMap<S, usize>,
    /// For each state, where its events lead to and who takes part.
    pub edges: Vec<Vec<(usize, Movers)>>,
    /// For each state, how many of its events end in an error.
    pub faults: Vec<usize>,
    /// For each state, how many of its events are forbidden.
    pub forbidden: Vec<usize>,
    /// How many events the shortest run to each state has.
    pub depth: Vec<usize>,
}

impl<S: Clone + Eq + Hash> Graph<S> {
    /// All states, unless they are more than `most`.
    pub fn of<M: Meaning<State = S>>(meaning: &M, most: usize) -> Option<Graph<S>> {
        let initial = meaning.initial();
        let mut graph = Graph {
            numbers: HashMap::from([(initial.clone(), 0)]),
            states: vec![initial],
            edges: Vec::new(),
            faults: Vec::new(),
            forbidden: Vec::new(),
            depth: vec![0],
        };
        while graph.edges.len() < graph.states.len() {
            let at = graph.edges.len();
            let steps = meaning.steps(&graph.states[at]);
            let mut edges = Vec::with_capacity(steps.moves.len());
            for (next, mover) in steps.moves {
                let fresh = graph.states.len();
                let number = *graph.numbers.entry(next.clone()).or_insert(fresh);
                if number == fresh {
                    graph.states.push(next);
                    graph.depth.push(graph.depth[at] + 1);
                }
                edges.push((number, mover));
            }
            graph.edges.push(edges);
            graph.faults.push(steps.faults);
            graph.forbidden.push(steps.forbidden);
            if graph.states.len() > most {
                return None;
            }
        }
        Some(graph)
    }

    pub fn is_dead(&self, state: usize) -> bool {
        self.edges[state].is_empty()
    }

    /// What there is, counted.
    pub fn counts(&self) -> Expected {
        let mut levels = vec![0; self.depth.iter().max().map_or(0, |most| most + 1)];
        self.depth.iter().for_each(|depth| levels[*depth] += 1);
        Expected {
            states: Some(self.states.len() as u64),
            transitions: Some(self.edges.iter().map(Vec::len).sum::<usize>() as u64),
            deadlocks: Some((0..self.states.len()).filter(|state| self.is_dead(*state)).count() as u64),
            faults: Some(self.faults.iter().chain(&self.forbidden).sum::<usize>() as u64),
            levels: Some(levels),
            answers: Vec::new(),
        }
    }

    /// The answer to a property that holds where no state is like this.
    pub fn never(&self, property: impl Into<String>, is_bad: impl Fn(usize) -> bool) -> Answer {
        let steps = self.distance(is_bad);
        Answer::new(property, steps.is_none()).shown_by(steps)
    }

    /// How far away the nearest state is that is like this.
    pub fn distance(&self, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        // States stand in the order of their distances.
        (0..self.states.len()).find(|state| is_wanted(*state)).map(|state| self.depth[state])
    }
}
