//! Branching time by sets: in which states each part of a CTL formula holds.
//!
//! What is asked is whether the initial states are among them. So the parts of a formula are looked at where they matter
//! only, from the outside in, as long as that is a small part of all states: an "until" in what is reached through its left
//! side, a "next" in the successors. Parts that matter everywhere are worked out for all reachable states, once.

mod evidence;
mod parts;

use crate::action::Sought;
use crate::diagram::{Halt, Set};
use crate::engine::Engine;
use crate::linear::Linear;
use crate::steps::Steps;
use parts::{Node, Part, Parts};
use scrimp_system::Expr;
use scrimp_temporal::Formula;

/// Formulas over the reachable states of one system.
pub struct Branching<'s> {
    steps: &'s Steps,
    parts: Parts,
    /// Where each part holds, as far as that was needed everywhere; pinned.
    sets: Vec<Option<Set>>,
    initial: Set,
    /// Where the conditions hold that a fair run meets again and again.
    fairness: Vec<Set>,
    /// The states where a fair run starts, unless every run is fair; held.
    fair: Option<Set>,
}

impl<'s> Branching<'s> {
    /// Nothing asked yet. A run counts where each of these conditions holds on it again and again; one that ends, where
    /// they hold in its last state.
    pub fn new(engine: &mut Engine, steps: &'s Steps, fairness: &[Expr]) -> Result<Branching<'s>, Halt> {
        let initial = engine.initial()?;
        engine.held.push(initial);
        let mut all =
            Branching { steps, parts: Parts::default(), sets: Vec::new(), initial, fairness: Vec::new(), fair: None };
        for condition in fairness {
            let set = engine.where_condition(all.steps.states, condition, Sought::Holds)?;
            engine.held.push(set);
            all.fairness.push(set);
        }
        if !fairness.is_empty() {
            let fair = all.staying(engine, all.steps.states, all.steps.states)?;
            engine.held.push(fair);
            all.fair = Some(fair);
        }
        Ok(all)
    }

    /// Does a formula of CTL hold in every initial state?
    pub fn holds(&mut self, engine: &mut Engine, formula: &Formula<Expr>) -> Result<bool, Halt> {
        let part = self.parts.enter(formula);
        self.sets.resize(self.parts.len(), None);
        engine.scope(|engine| Ok(self.among(engine, part, self.initial)? == self.initial))
    }

    /// Forgets what was worked out, so that it takes no room.
    pub fn forget(&mut self, engine: &mut Engine) {
        engine.pinned.clear();
        self.sets.iter_mut().for_each(|set| *set = None);
    }

    /// The states where a part holds; pinned.
    fn everywhere(&mut self, engine: &mut Engine, part: Part) -> Result<Set, Halt> {
        if let Some(known) = self.sets[part] {
            return Ok(known);
        }
        let states = self.steps.states;
        let found = match self.parts.node(part).clone() {
            Node::Constant(true) => states,
            Node::Constant(false) => Set::EMPTY,
            Node::Atom(number) => engine.where_condition(states, self.parts.atom(number), Sought::Holds)?,
            Node::Not(a) => {
                let a = self.everywhere(engine, a)?;
                engine.minus(states, a)?
            }
            Node::And(all) => self.conjunction(engine, &all, states)?,
            Node::Or(all) => self.disjunction(engine, &all, states)?,
            Node::Next(a) => {
                let a = self.everywhere(engine, a)?;
                let goal = self.counted(engine, a)?;
                self.steps.before(engine, goal, states)?
            }
            Node::Until(a, b) => {
                let (a, b) = (self.everywhere(engine, a)?, self.everywhere(engine, b)?);
                let goal = self.counted(engine, b)?;
                self.steps.until(engine, a, goal)?
            }
            Node::Always(a) => {
                let a = self.everywhere(engine, a)?;
                self.staying(engine, a, a)?
            }
        };
        engine.pinned.push(found);
        self.sets[part] = Some(found);
        Ok(found)
    }

    /// Those of these states, which are held, where a part holds.
    fn among(&mut self, engine: &mut Engine, part: Part, states: Set) -> Result<Set, Halt> {
        if states.is_empty() {
            return Ok(states);
        }
        if states == self.steps.states || self.sets[part].is_some() {
            let all = self.everywhere(engine, part)?;
            return engine.intersect(all, states);
        }
        engine.scope(|engine| match self.parts.node(part).clone() {
            Node::Constant(value) => Ok(if value { states } else { Set::EMPTY }),
            Node::Atom(number) => engine.where_condition(states, self.parts.atom(number), Sought::Holds),
            Node::Not(a) => {
                let a = self.among(engine, a, states)?;
                engine.minus(states, a)
            }
            Node::And(all) => self.conjunction(engine, &all, states),
            Node::Or(all) => self.disjunction(engine, &all, states),
            Node::Next(a) => {
                let after = self.steps.after(engine, states)?;
                engine.held.push(after);
                let a = self.among(engine, a, after)?;
                engine.held.push(a);
                let goal = self.counted(engine, a)?;
                self.steps.before(engine, goal, states)
            }
            Node::Until(a, b) => self.until_among(engine, (a, b), states),
            Node::Always(a) => {
                let left = self.everywhere(engine, a)?;
                let region = self.steps.onwards(engine, states, left)?;
                engine.held.push(region);
                let staying = self.staying(engine, region, states)?;
                engine.intersect(staying, states)
            }
        })
    }

    fn conjunction(&mut self, engine: &mut Engine, parts: &[Part], states: Set) -> Result<Set, Halt> {
        engine.scope(|engine| {
            let mut left = states;
            for &part in parts {
                engine.held.push(left);
                left = self.among(engine, part, left)?;
            }
            Ok(left)
        })
    }

    fn disjunction(&mut self, engine: &mut Engine, parts: &[Part], states: Set) -> Result<Set, Halt> {
        engine.scope(|engine| {
            let (mut found, mut left) = (Set::EMPTY, states);
            for &part in parts {
                engine.held.extend([found, left]);
                let more = self.among(engine, part, left)?;
                engine.held.push(more);
                left = engine.minus(left, more)?;
                engine.held.push(left);
                found = engine.union(found, more)?;
            }
            Ok(found)
        })
    }

    /// Those of these states from which the first part holds until the second comes.
    fn until_among(&mut self, engine: &mut Engine, (a, b): (Part, Part), states: Set) -> Result<Set, Halt> {
        let all = self.steps.states;
        let (region, shell) = match (self.parts.node(a), states == self.initial) {
            // Everything is reached from the initial states.
            (Node::Constant(true), true) => (all, all),
            _ => {
                let left = self.everywhere(engine, a)?;
                let region = self.steps.onwards(engine, states, left)?;
                engine.held.push(region);
                let after = self.steps.after(engine, region)?;
                engine.held.push(after);
                let shell = engine.union(after, states)?;
                engine.held.push(shell);
                (region, engine.union(shell, region)?)
            }
        };
        engine.held.push(shell);
        let b = self.among(engine, b, shell)?;
        engine.held.push(b);
        let goal = self.counted(engine, b)?;
        engine.held.push(goal);
        // From a state alone everything here is reached.
        if goal.is_empty() || engine.diagrams.count(states) == 1u32.into() {
            return Ok(if goal.is_empty() { goal } else { states });
        }
        let found = self.steps.until(engine, region, goal)?;
        engine.intersect(found, states)
    }

    /// Those of these states where a run starts that counts.
    fn counted(&self, engine: &mut Engine, states: Set) -> Result<Set, Halt> {
        match self.fair {
            Some(fair) => engine.intersect(states, fair),
            None => Ok(states),
        }
    }

    /// The states of a set from which a run that counts stays in it for ever; or some of them, where none of those that are
    /// `wanted` is one.
    fn staying(&self, engine: &mut Engine, set: Set, wanted: Set) -> Result<Set, Halt> {
        // Every run stays among all states.
        if self.fairness.is_empty() && set == self.steps.states {
            return Ok(set);
        }
        engine.scope(|engine| {
            engine.held.extend([set, wanted]);
            let mut again = Vec::with_capacity(self.fairness.len());
            for &condition in &self.fairness {
                let part = engine.intersect(set, condition)?;
                engine.held.push(part);
                again.push(part);
            }
            let runs = Linear::staying(self.steps, set, &again);
            let hull = runs.hull(engine, &runs.moves, vec![set], Some(&vec![wanted]))?;
            Ok(hull.first().copied().unwrap_or(Set::EMPTY))
        })
    }
}
