//! Which words an automaton accepts: single ones, any, and those of two automata.

use crate::automaton::{Automaton, Cube, Edge, Guard, Letter, MOST_SETS, Marks};
use crate::component::components;
use crate::graph::every;
use std::collections::HashMap;

/// A state of an automaton and a position in a word.
type Place = (u32, usize);
/// Shows where an edge leads, and its marks.
type Show<'s> = dyn FnMut(Place, Marks) + 's;

impl Guard {
    /// Both conditions.
    pub fn and(&self, other: &Guard) -> Guard {
        let pairs = self.cubes.iter().flat_map(|a| other.cubes.iter().map(move |b| (a, b)));
        let both = pairs.map(|(a, b)| Cube { positive: a.positive | b.positive, negative: a.negative | b.negative });
        Guard { cubes: both.filter(|cube| cube.positive & cube.negative == 0).collect() }
    }

    /// Is there a letter for which it holds?
    pub fn is_satisfiable(&self) -> bool {
        self.cubes.iter().any(|cube| cube.positive & cube.negative == 0)
    }
}

impl Automaton {
    /// Does it accept the word that begins with the stem and repeats the cycle for ever? An empty cycle makes no infinite
    /// word.
    pub fn accepts(&self, stem: &[Letter], cycle: &[Letter]) -> bool {
        let letters: Vec<Letter> = stem.iter().chain(cycle).copied().collect();
        if cycle.is_empty() {
            return false;
        }
        let after = |position: usize| if position + 1 < letters.len() { position + 1 } else { stem.len() };
        self.some_cycle((self.initial, 0), &|(state, position), show| {
            for edge in &self.states[state as usize] {
                if edge.guard.holds(letters[position]) {
                    show((edge.to, after(position)), edge.marks);
                }
            }
        })
    }

    /// Does it accept no word at all?
    pub fn is_empty(&self) -> bool {
        !self.some_cycle((self.initial, 0), &|(state, _), show| {
            for edge in self.states[state as usize].iter().filter(|edge| edge.guard.is_satisfiable()) {
                show((edge.to, 0), edge.marks);
            }
        })
    }

    /// Is there, among what can be reached from the root, a cycle with all marks?
    fn some_cycle(&self, root: Place, successors: &dyn Fn(Place, &mut Show<'_>)) -> bool {
        let mut number = HashMap::from([(root, 0)]);
        let mut nodes = vec![root];
        let mut edges: Vec<Vec<(usize, Marks)>> = Vec::new();
        while edges.len() < nodes.len() {
            let mut own = Vec::new();
            successors(nodes[edges.len()], &mut |to, marks| {
                let to = *number.entry(to).or_insert_with(|| {
                    nodes.push(to);
                    nodes.len() - 1
                });
                own.push((to, marks));
            });
            edges.push(own);
        }
        let parts = components(nodes.len(), |node, i| edges[node].get(i).map(|&(to, _)| to));
        let mut marks = vec![None; parts.count];
        for (node, own) in edges.iter().enumerate() {
            for &(_, more) in own.iter().filter(|(to, _)| parts.of[*to] == parts.of[node]) {
                let so_far = &mut marks[parts.of[node] as usize];
                *so_far = Some(so_far.unwrap_or(0) | more);
            }
        }
        let all = every(self.sets);
        marks.into_iter().flatten().any(|marks| marks & all == all)
    }

    /// The automaton of the words that both accept; none when together they have more than 64 sets.
    pub fn intersection(&self, other: &Automaton) -> Option<Automaton> {
        let sets = self.sets + other.sets;
        if sets > MOST_SETS {
            return None;
        }
        let root = (self.initial, other.initial);
        let mut number = HashMap::from([(root, 0)]);
        let mut nodes = vec![root];
        let mut states: Vec<Vec<Edge>> = Vec::new();
        while states.len() < nodes.len() {
            let (first, second) = nodes[states.len()];
            let mut edges = Vec::new();
            for a in &self.states[first as usize] {
                for b in &other.states[second as usize] {
                    let guard = a.guard.and(&b.guard);
                    if guard.cubes.is_empty() {
                        continue;
                    }
                    let to = *number.entry((a.to, b.to)).or_insert_with(|| {
                        nodes.push((a.to, b.to));
                        nodes.len() as u32 - 1
                    });
                    let more = if self.sets < MOST_SETS { b.marks << self.sets } else { 0 };
                    edges.push(Edge { guard, to, marks: a.marks & every(self.sets) | more });
                }
            }
            states.push(edges);
        }
        Some(Automaton { atoms: self.atoms.max(other.atoms), states, initial: 0, sets })
    }
}
