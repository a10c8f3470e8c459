//! Strongly connected components, by Tarjan's algorithm without recursion.

use super::{Lts, Number, Successors};
use crate::store::Full;
use scrimp_core::Budget;
use std::sync::Arc;

const NONE: u32 = u32::MAX;

/// The strongly connected components of a graph. What a component leads to has a lower number.
pub struct Components {
    of: Vec<u32>,
    count: u32,
    bytes: usize,
    budget: Arc<Budget>,
}

impl Components {
    pub fn new(graph: &Lts, budget: &Arc<Budget>) -> Result<Components, Full> {
        Components::within(graph, &|_| true, budget)
    }

    /// Those of the part of a graph that has these states only.
    pub fn within(graph: &Lts, has: &dyn Fn(Number) -> bool, budget: &Arc<Budget>) -> Result<Components, Full> {
        let states = graph.states();
        // Two numbers a state, the stack of a component, and the path at its longest.
        let bytes = states as usize * (3 * size_of::<u32>() + size_of::<(Number, Successors)>());
        if !budget.may_take(bytes) {
            return Err(Full);
        }
        budget.take(bytes);
        let mut components = Components { of: vec![NONE; states as usize], count: 0, bytes, budget: budget.clone() };
        // The order in which states were met, and the earliest one that each can reach on the stack.
        let mut low = vec![NONE; states as usize];
        let (mut met, mut stack, mut path) = (0, Vec::new(), Vec::<(Number, u32, Successors)>::new());
        for root in 0..states {
            if low[root as usize] != NONE || !has(root) {
                continue;
            }
            let mut enter = Some(root);
            loop {
                if let Some(state) = enter.take() {
                    low[state as usize] = met;
                    stack.push(state);
                    path.push((state, met, graph.successors(state)));
                    met += 1;
                }
                let Some((state, number, successors)) = path.last_mut() else { break };
                let (state, number) = (*state, *number);
                if let Some((next, _)) = successors.next() {
                    if low[next as usize] == NONE {
                        enter = has(next).then_some(next);
                    } else if components.of[next as usize] == NONE {
                        low[state as usize] = low[state as usize].min(low[next as usize]);
                    }
                    continue;
                }
                path.pop();
                if low[state as usize] == number {
                    while let Some(member) = stack.pop() {
                        components.of[member as usize] = components.count;
                        if member == state {
                            break;
                        }
                    }
                    components.count += 1;
                }
                if let Some((parent, ..)) = path.last() {
                    // A component that is complete has nothing to do with the parent's.
                    if components.of[state as usize] == NONE {
                        low[*parent as usize] = low[*parent as usize].min(low[state as usize]);
                    }
                }
            }
        }
        Ok(components)
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    /// The component of a state, one that the part has.
    pub fn of(&self, state: Number) -> u32 {
        self.of[state as usize]
    }

    /// Are two states in one component?
    pub fn together(&self, a: Number, b: Number) -> bool {
        self.of(a) == self.of(b)
    }
}

impl Drop for Components {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}
