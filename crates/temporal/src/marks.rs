//! Marks that are needed: each component of an automaton gets as few sets as its cycles need.

use crate::automaton::Marks;
use crate::component::{Components, components};
use crate::graph::{Arc, Graph, every};

/// What marks edges outside of accepting components get: they mean nothing there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    None,
    All,
}

impl Graph {
    /// Numbers the sets anew in each component, without those that the others imply. What is accepted stays the same.
    pub fn settle_marks(&mut self, outside: Outside) {
        let found = self.components();
        let accepting = self.accepting(&found);
        let mut members = vec![Vec::new(); found.count];
        for (state, &component) in found.of.iter().enumerate() {
            members[component as usize].push(state);
        }
        let mut needed = vec![Vec::new(); found.count];
        let mut sets = 0;
        for component in 0..found.count {
            if accepting[component] {
                needed[component] = self.needed_sets(&found, &members[component]);
                sets = sets.max(needed[component].len());
            } else if sets == 0 && self.has_cycle(&found, &members[component]) {
                sets = 1;
            }
        }
        let (all, nowhere) = (every(sets), if outside == Outside::All { every(sets) } else { 0 });
        for (state, arcs) in self.states.iter_mut().enumerate() {
            let own = found.of[state];
            for arc in arcs {
                let inside = found.of[arc.to as usize] == own;
                arc.marks = match inside {
                    true if accepting[own as usize] => {
                        let kept = &needed[own as usize];
                        let missing = kept.iter().enumerate().filter(|(_, set)| arc.marks >> **set & 1 == 0);
                        missing.fold(all, |marks, (new, _)| marks & !(1 << new))
                    }
                    true => 0,
                    false => nowhere,
                };
            }
        }
        self.sets = sets;
    }

    fn has_cycle(&self, found: &Components, members: &[usize]) -> bool {
        members.len() > 1
            || members
                .iter()
                .any(|&state| self.states[state].iter().any(|arc| found.of[arc.to as usize] == found.of[state]))
    }

    /// Sets of an accepting component, without each that every cycle through the others has anyway.
    fn needed_sets(&self, found: &Components, members: &[usize]) -> Vec<usize> {
        let mut needed: Vec<usize> = (0..self.sets).collect();
        for set in (0..self.sets).rev() {
            let others = needed.iter().filter(|other| **other != set).fold(0, |all: Marks, other| all | 1 << other);
            if !self.has_cycle_without(found, members, set, others) {
                needed.retain(|other| *other != set);
            }
        }
        needed
    }

    /// Is there, among these states of one component, a cycle with all of these marks and without that set?
    fn has_cycle_without(&self, found: &Components, members: &[usize], set: usize, wanted: Marks) -> bool {
        let own = found.of[members[0]];
        let mut place = std::collections::HashMap::new();
        members.iter().enumerate().for_each(|(i, &state)| {
            place.insert(state as u32, i);
        });
        let kept = |arc: &Arc| found.of[arc.to as usize] == own && arc.marks >> set & 1 == 0;
        let inner: Vec<Vec<(usize, Marks)>> = members
            .iter()
            .map(|&state| {
                self.states[state].iter().filter(|arc| kept(arc)).map(|arc| (place[&arc.to], arc.marks)).collect()
            })
            .collect();
        let parts = components(members.len(), |state, i| inner[state].get(i).map(|&(to, _)| to));
        let mut marks = vec![None; parts.count];
        for (state, arcs) in inner.iter().enumerate() {
            for &(_, more) in arcs.iter().filter(|(to, _)| parts.of[*to] == parts.of[state]) {
                let so_far = &mut marks[parts.of[state] as usize];
                *so_far = Some(so_far.unwrap_or(0) | more);
            }
        }
        marks.into_iter().flatten().any(|marks| marks & wanted == wanted)
    }
}
