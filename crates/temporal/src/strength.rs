//! How hard it is to find an accepting run, by the components of an automaton.

use crate::automaton::Automaton;
use crate::component::components;
use crate::diagram::{ALWAYS, Diagram, NEVER};
use crate::graph::{Graph, every};
use crate::limits::{Meter, TooLarge};

/// What the strongly connected component of a state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// On no cycle.
    Transient,
    /// On cycles, none of which accepts.
    Rejecting,
    /// Every cycle accepts.
    Weak,
    /// Every word is accepted from here: a run that comes here has decided, whether or not it is on a cycle.
    Terminal,
    /// Some cycles accept and some do not.
    General,
}

/// The hardest that the accepting components of an automaton are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Reaching a terminal state is enough. Also what accepts nothing.
    Terminal,
    /// Any cycle through an accepting component is enough.
    Weak,
    /// Cycles have to be looked at with their marks.
    General,
}

impl Automaton {
    /// The strongly connected component of each state, by number.
    pub fn components(&self) -> Vec<u32> {
        let successor = |state: usize, i: usize| Some(self.states[state].get(i)?.to as usize);
        crate::component::components(self.states.len(), successor).of
    }

    /// What the component of each state is.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut diagram = Diagram::new(Meter::free());
        match self.graph_kinds(&mut diagram) {
            Ok(kinds) => kinds,
            // Conditions larger than any diagram: nothing is known of them.
            Err(_) => vec![Kind::General; self.states.len()],
        }
    }

    fn graph_kinds(&self, diagram: &mut Diagram) -> Result<Vec<Kind>, TooLarge> {
        Graph::of(self, diagram)?.kinds(diagram)
    }

    /// The hardest of its accepting components.
    pub fn strength(&self) -> Strength {
        let of = |kind| match kind {
            Kind::Transient | Kind::Rejecting | Kind::Terminal => Strength::Terminal,
            Kind::Weak => Strength::Weak,
            Kind::General => Strength::General,
        };
        self.kinds().into_iter().map(of).max().unwrap_or(Strength::Terminal)
    }
}

impl Graph {
    /// What the component of each state is.
    pub fn kinds(&self, diagram: &mut Diagram) -> Result<Vec<Kind>, TooLarge> {
        let found = self.components();
        let accepting = self.accepting(&found);
        let mut members = vec![Vec::new(); found.count];
        for (state, &component) in found.of.iter().enumerate() {
            members[component as usize].push(state);
        }
        let mut kinds: Vec<Kind> = Vec::with_capacity(found.count);
        for (component, members) in members.iter().enumerate() {
            let inside = |to: u32| found.of[to as usize] as usize == component;
            let cyclic =
                members.len() > 1 || members.iter().any(|&state| self.states[state].iter().any(|arc| inside(arc.to)));
            let weak = accepting[component] && (0..self.sets).all(|set| !self.cycle_without(members, set, &inside));
            let mut terminal = weak || !cyclic;
            for &state in members {
                let mut covered = NEVER;
                for arc in &self.states[state] {
                    let to = found.of[arc.to as usize] as usize;
                    if terminal && (to == component || kinds[to] == Kind::Terminal) {
                        covered = diagram.or(covered, arc.label)?;
                    }
                }
                terminal &= covered == ALWAYS;
            }
            kinds.push(match cyclic {
                _ if terminal => Kind::Terminal,
                false => Kind::Transient,
                true if !accepting[component] => Kind::Rejecting,
                true if weak => Kind::Weak,
                true => Kind::General,
            });
        }
        Ok(found.of.iter().map(|&component| kinds[component as usize]).collect())
    }

    /// Is there a cycle inside of a component whose edges do not have the mark?
    fn cycle_without(&self, members: &[usize], set: usize, inside: &dyn Fn(u32) -> bool) -> bool {
        let mark = 1u64 << set & every(self.sets);
        let mut place = vec![usize::MAX; self.states.len()];
        members.iter().enumerate().for_each(|(i, &state)| place[state] = i);
        let inner: Vec<Vec<usize>> = members
            .iter()
            .map(|&state| {
                let arcs = self.states[state].iter().filter(|arc| inside(arc.to) && arc.marks & mark == 0);
                arcs.map(|arc| place[arc.to as usize]).collect()
            })
            .collect();
        let parts = components(members.len(), |state, i| inner[state].get(i).copied());
        inner.iter().enumerate().any(|(state, to)| to.iter().any(|&to| parts.of[to] == parts.of[state]))
    }
}
