//! Automata while they are worked on: conditions are nodes of a diagram, so that they can be compared and combined.

use crate::automaton::{Automaton, Edge, Marks};
use crate::component::{Components, components};
use crate::diagram::{Diagram, NEVER, Node};
use crate::limits::TooLarge;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arc {
    pub to: u32,
    pub marks: Marks,
    pub label: Node,
}

#[derive(Debug, Clone)]
pub(crate) struct Graph {
    pub states: Vec<Vec<Arc>>,
    pub initial: u32,
    pub sets: usize,
}

/// All marks of so many sets.
pub(crate) fn every(sets: usize) -> Marks {
    if sets == 0 { 0 } else { Marks::MAX >> (Marks::BITS as usize - sets.min(Marks::BITS as usize)) }
}

impl Graph {
    /// The automaton that accepts nothing.
    pub fn nothing() -> Graph {
        Graph { states: vec![Vec::new()], initial: 0, sets: 0 }
    }

    pub fn of(automaton: &Automaton, diagram: &mut Diagram) -> Result<Graph, TooLarge> {
        let mut states = Vec::with_capacity(automaton.states.len());
        for edges in &automaton.states {
            let mut arcs = Vec::with_capacity(edges.len());
            for edge in edges {
                let label = diagram.of_guard(&edge.guard)?;
                if label != NEVER {
                    arcs.push(Arc { to: edge.to, marks: edge.marks & every(automaton.sets), label });
                }
            }
            states.push(arcs);
        }
        Ok(Graph { states, initial: automaton.initial, sets: automaton.sets })
    }

    pub fn automaton(&self, atoms: usize, diagram: &mut Diagram) -> Result<Automaton, TooLarge> {
        let mut states = Vec::with_capacity(self.states.len());
        for arcs in &self.states {
            let mut edges = Vec::with_capacity(arcs.len());
            for arc in arcs {
                edges.push(Edge { guard: diagram.guard(arc.label)?, to: arc.to, marks: arc.marks });
            }
            states.push(edges);
        }
        Ok(Automaton { atoms, states, initial: self.initial, sets: self.sets })
    }

    pub fn edges(&self) -> usize {
        self.states.iter().map(Vec::len).sum()
    }

    pub fn components(&self) -> Components {
        components(self.states.len(), |state, i| self.states[state].get(i).map(|arc| arc.to as usize))
    }

    /// For each component: does a run that stays in it accept?
    pub fn accepting(&self, components: &Components) -> Vec<bool> {
        let mut marks = vec![None; components.count];
        for (state, arcs) in self.states.iter().enumerate() {
            let own = components.of[state];
            for arc in arcs.iter().filter(|arc| components.of[arc.to as usize] == own) {
                let so_far = &mut marks[own as usize];
                *so_far = Some(so_far.unwrap_or(0) | arc.marks);
            }
        }
        let all = every(self.sets);
        marks.into_iter().map(|marks| marks.is_some_and(|marks| marks & all == all)).collect()
    }

    /// Keeps the states that are chosen and what leads from one to the other.
    pub fn keep(&mut self, chosen: &[bool]) {
        if !chosen[self.initial as usize] {
            *self = Graph::nothing();
            return;
        }
        let mut number = vec![u32::MAX; self.states.len()];
        let states = (0..self.states.len()).filter(|&state| chosen[state]);
        states.enumerate().for_each(|(new, state)| number[state] = new as u32);
        let mut old = std::mem::take(&mut self.states).into_iter().enumerate();
        self.states = old
            .by_ref()
            .filter(|(state, _)| chosen[*state])
            .map(|(_, mut arcs)| {
                arcs.retain(|arc| chosen[arc.to as usize]);
                arcs.iter_mut().for_each(|arc| arc.to = number[arc.to as usize]);
                arcs
            })
            .collect();
        self.initial = number[self.initial as usize];
    }

    pub fn keep_reachable(&mut self) {
        let mut reached = vec![false; self.states.len()];
        reached[self.initial as usize] = true;
        let mut open = vec![self.initial];
        while let Some(state) = open.pop() {
            for arc in &self.states[state as usize] {
                if !std::mem::replace(&mut reached[arc.to as usize], true) {
                    open.push(arc.to);
                }
            }
        }
        self.keep(&reached);
    }

    /// Keeps the states on runs that accept.
    pub fn trim(&mut self) {
        self.keep_reachable();
        let components = self.components();
        // Components are numbered against the direction of the edges: successors are decided first.
        let mut useful = self.accepting(&components);
        let mut order: Vec<usize> = (0..self.states.len()).collect();
        order.sort_by_key(|&state| components.of[state]);
        for state in order {
            if self.states[state].iter().any(|arc| useful[components.of[arc.to as usize] as usize]) {
                useful[components.of[state] as usize] = true;
            }
        }
        let chosen: Vec<bool> = components.of.iter().map(|&component| useful[component as usize]).collect();
        self.keep(&chosen);
    }

    /// Makes one edge of those that differ in their conditions only.
    pub fn merge_edges(&mut self, diagram: &mut Diagram) -> Result<(), TooLarge> {
        for arcs in &mut self.states {
            arcs.sort_unstable();
            let mut merged: Vec<Arc> = Vec::with_capacity(arcs.len());
            for &arc in arcs.iter() {
                match merged.last_mut() {
                    Some(last) if (last.to, last.marks) == (arc.to, arc.marks) => {
                        last.label = diagram.or(last.label, arc.label)?;
                    }
                    _ => merged.push(arc),
                }
            }
            *arcs = merged;
        }
        Ok(())
    }
}
