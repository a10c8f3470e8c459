//! The part of a product near its initial states, written out: which of its states are on cycles that accept, nearest first.
//!
//! A depth-first search finds a cycle early and far away. People want a short run, and most often there is one close by.

use super::lasso::Steps;
use super::product::{INSIDE, Mover, WEAK};
use scrimp_system::{Batch, EventCode, Model};
use scrimp_temporal::Marks;
use std::collections::HashMap;
use std::time::Instant;

const NONE: u32 = u32::MAX;

/// States found breadth-first.
struct Nearby {
    states: Vec<Vec<u8>>,
    /// Where each was found from, and by which event.
    parents: Vec<(u32, EventCode)>,
    /// The edges that can be on cycles.
    edges: Vec<Vec<(u32, Marks)>>,
}

/// The shortest ways to states on cycles that accept, with where they begin: `most` of them at most, nearest first.
pub(super) fn entries(mover: &mut Mover, room: usize, deadline: Instant, most: usize) -> Vec<(Vec<u8>, Steps)> {
    let nearby = Nearby::new(mover, room, deadline);
    let accepting = nearby.accepting(mover.product.all_marks());
    let found = (0..nearby.states.len()).filter(|&state| accepting[state]).take(most);
    found.map(|state| nearby.way_to(state)).collect()
}

impl Nearby {
    fn new(mover: &mut Mover, room: usize, deadline: Instant) -> Nearby {
        let mut all = Nearby { states: Vec::new(), parents: Vec::new(), edges: Vec::new() };
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let bytes = mover.product.state_bytes();
        let (mut found, mut marks) = (Batch::new(bytes), Vec::new());
        mover.product.initial(&mut found);
        for i in 0..found.len() {
            all.number(&mut numbers, found.state(i), (NONE, 0));
        }
        while all.edges.len() < all.states.len() && all.states.len() < room {
            let source = all.edges.len();
            if source.is_multiple_of(256) && Instant::now() > deadline {
                break;
            }
            found.clear();
            marks.clear();
            if mover.expand(&all.states[source], true, &mut found, &mut marks).is_err() {
                break;
            }
            let mut edges = Vec::new();
            for (i, &given) in marks.iter().enumerate() {
                let to = all.number(&mut numbers, found.state(i), (source as u32, found.event(i)));
                if given & INSIDE != 0 {
                    edges.push((to, given));
                }
            }
            all.edges.push(edges);
        }
        all.edges.resize(all.states.len(), Vec::new());
        all
    }

    fn number(&mut self, numbers: &mut HashMap<Vec<u8>, u32>, state: &[u8], parent: (u32, EventCode)) -> u32 {
        if let Some(&number) = numbers.get(state) {
            return number;
        }
        let number = self.states.len() as u32;
        numbers.insert(state.to_vec(), number);
        self.states.push(state.to_vec());
        self.parents.push(parent);
        number
    }

    /// For each state, whether it is in a component that has all marks.
    fn accepting(&self, all: Marks) -> Vec<bool> {
        let components = self.components();
        let count = components.iter().copied().max().map_or(0, |last| last as usize + 1);
        let mut met: Vec<Option<Marks>> = vec![None; count];
        for (state, edges) in self.edges.iter().enumerate() {
            for &(to, marks) in edges.iter().filter(|(to, _)| components[*to as usize] == components[state]) {
                let met = met[components[to as usize] as usize].get_or_insert(0);
                *met |= if marks & WEAK != 0 { all } else { marks & all };
            }
        }
        components.iter().map(|component| met[*component as usize].is_some_and(|met| met == all)).collect()
    }

    /// The strongly connected component of each state, after Tarjan.
    fn components(&self) -> Vec<u32> {
        let count = self.states.len();
        let (mut component, mut rank, mut lowest) = (vec![NONE; count], vec![NONE; count], vec![0u32; count]);
        let (mut live, mut path): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
        let (mut ranks, mut components) = (0, 0);
        for root in 0..count as u32 {
            if rank[root as usize] == NONE {
                path.push((root, 0));
            }
            while let Some((state, done)) = path.last_mut() {
                let at = *state as usize;
                if *done == 0 {
                    (rank[at], lowest[at]) = (ranks, ranks);
                    ranks += 1;
                    live.push(*state);
                }
                let next = self.edges[at].get(*done as usize).map(|(to, _)| *to as usize);
                *done += 1;
                match next {
                    Some(to) if rank[to] == NONE => path.push((to as u32, 0)),
                    Some(to) if component[to] == NONE => lowest[at] = lowest[at].min(rank[to]),
                    Some(_) => {}
                    None => {
                        path.pop();
                        if let Some((before, _)) = path.last() {
                            lowest[*before as usize] = lowest[*before as usize].min(lowest[at]);
                        }
                        if lowest[at] == rank[at] {
                            while let Some(member) = live.pop() {
                                component[member as usize] = components;
                                if member as usize == at {
                                    break;
                                }
                            }
                            components += 1;
                        }
                    }
                }
            }
        }
        component
    }

    fn way_to(&self, mut state: usize) -> (Vec<u8>, Steps) {
        let mut steps = Vec::new();
        while self.parents[state].0 != NONE {
            let (parent, event) = self.parents[state];
            steps.push((event, self.states[state].clone()));
            state = parent as usize;
        }
        steps.reverse();
        (self.states[state].clone(), steps)
    }
}
