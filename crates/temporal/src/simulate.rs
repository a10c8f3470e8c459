//! Smaller automata by simulation: states that can do the same, or that can be come to in the same ways, become one, and
//! edges go where a better one stands beside them.
//!
//! A state simulates another when to every edge of the other, for every letter, it has one with at least its marks to a
//! state that simulates the other's. Read against the edges this is the simulation of pasts.

use crate::diagram::{Diagram, NEVER};
use crate::graph::{Arc, Graph};
use crate::limits::TooLarge;

/// Automata with more states than this are left as they are.
const MOST_STATES: usize = 700;

/// Which state simulates which: `(below, above)` by number.
struct Order {
    states: usize,
    above: Vec<bool>,
}

impl Order {
    fn simulated(&self, below: u32, above: u32) -> bool {
        self.above[below as usize * self.states + above as usize]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Future,
    Past,
}

impl Graph {
    /// Merges what simulates each other, and removes edges beside better ones. Says whether there are fewer states, or
    /// fewer edges. With `uniform`, all edges of a state have the same marks, and still have so afterwards.
    pub fn simulate(&mut self, direction: Direction, uniform: bool, diagram: &mut Diagram) -> Result<bool, TooLarge> {
        let count = self.states.len();
        if count > MOST_STATES {
            return Ok(false);
        }
        let before = (count, self.edges());
        let arcs = match direction {
            Direction::Future => self.states.clone(),
            Direction::Past => self.reversed(),
        };
        let own_marks = |state: usize| self.states[state].first().map_or(0, |arc| arc.marks);
        let may = |below: usize, above: usize| {
            direction == Direction::Future
                || (below != self.initial as usize || above == below)
                    && (!uniform || own_marks(below) == own_marks(above))
        };
        let order = simulation(&arcs, may, diagram)?;
        // The first of those that simulate each other stands for all.
        let chosen: Vec<u32> = (0..count as u32)
            .map(|state| {
                let same = |other: &u32| order.simulated(state, *other) && order.simulated(*other, state);
                (0..state).find(same).unwrap_or(state)
            })
            .collect();
        let mut merged = vec![Vec::new(); count];
        for (state, arcs) in arcs.iter().enumerate().filter(|(state, _)| chosen[*state] == *state as u32) {
            merged[state] = without_worse(arcs, &order, diagram)?;
            merged[state].iter_mut().for_each(|arc| arc.to = chosen[arc.to as usize]);
        }
        self.initial = chosen[self.initial as usize];
        self.states = merged;
        if direction == Direction::Past {
            self.states = self.reversed();
        }
        self.merge_edges(diagram)?;
        self.trim();
        Ok((self.states.len(), self.edges()) < before)
    }

    fn reversed(&self) -> Vec<Vec<Arc>> {
        let mut reversed = vec![Vec::new(); self.states.len()];
        for (state, arcs) in self.states.iter().enumerate() {
            for arc in arcs {
                reversed[arc.to as usize].push(Arc { to: state as u32, ..*arc });
            }
        }
        reversed
    }
}

/// The largest simulation among the pairs that may be.
fn simulation(arcs: &[Vec<Arc>], may: impl Fn(usize, usize) -> bool, diagram: &mut Diagram) -> Result<Order, TooLarge> {
    let states = arcs.len();
    let above = (0..states * states).map(|pair| may(pair / states, pair % states)).collect();
    let mut order = Order { states, above };
    loop {
        let mut changed = false;
        for below in 0..states {
            for above in 0..states {
                let pair = below * states + above;
                if below != above && order.above[pair] && !follows(&arcs[below], &arcs[above], &order, diagram)? {
                    order.above[pair] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return Ok(order);
        }
    }
}

/// Is the second edge at least as good, for letters that both take?
fn better(worse: &Arc, better: &Arc, order: &Order) -> bool {
    worse.marks & !better.marks == 0 && order.simulated(worse.to, better.to)
}

/// Has each edge, for every letter, a counterpart that is as good?
fn follows(below: &[Arc], above: &[Arc], order: &Order, diagram: &mut Diagram) -> Result<bool, TooLarge> {
    for arc in below {
        let mut left = arc.label;
        for other in above {
            diagram.meter.tick()?;
            if better(arc, other, order) {
                left = diagram.minus(left, other.label)?;
            }
            if left == NEVER {
                break;
            }
        }
        if left != NEVER {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The edges without the letters for which there is a better one; of equally good ones the first stays.
fn without_worse(arcs: &[Arc], order: &Order, diagram: &mut Diagram) -> Result<Vec<Arc>, TooLarge> {
    let mut kept = Vec::with_capacity(arcs.len());
    for (i, arc) in arcs.iter().enumerate() {
        let mut label = arc.label;
        for (j, other) in arcs.iter().enumerate() {
            diagram.meter.tick()?;
            if i != j && better(arc, other, order) && (j < i || !better(other, arc, order)) {
                label = diagram.minus(label, other.label)?;
            }
        }
        if label != NEVER {
            kept.push(Arc { label, ..*arc });
        }
    }
    Ok(kept)
}
