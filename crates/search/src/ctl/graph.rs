//! Decides a formula in all states of a graph that was built: part by part, each by going backwards once.
//!
//! The graph may be an unfolding, such as the sweep-line builds: it is bisimilar to the reachability graph, and CTL does not
//! tell the two apart. Where only fair runs count, each condition must hold on them again and again; a run that ends is fair
//! if all hold in its last state, as if that went on for ever.

use super::normal::{Node, Table};
use super::space::Stop;
use crate::column::{Column, Stack};
use crate::lts::{Components, Lts, Number, Reverse};
use crate::store::Full;
use scrimp_core::{Budget, Control};
use std::sync::Arc;

/// A set of states.
struct Set {
    words: Column<u64>,
}

impl Set {
    fn new(states: u32, budget: &Arc<Budget>) -> Result<Set, Stop> {
        let mut words = Column::new(budget).map_err(|_| Full)?;
        words.ensure(states as usize / 64 + 1)?;
        Ok(Set { words })
    }

    #[inline]
    fn has(&self, state: Number) -> bool {
        self.words[state / 64] >> (state % 64) & 1 == 1
    }

    /// Was it not there yet?
    #[inline]
    fn insert(&mut self, state: Number) -> bool {
        let (word, bit) = (&mut self.words[state / 64], 1 << (state % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn bytes(&self) -> usize {
        self.words.bytes()
    }
}

/// The states that fulfil each part of a formula.
pub(crate) struct Solved<'a, 'f> {
    pub table: &'a Table<'f>,
    /// The label that stands for a part about one state, by part.
    labels: Vec<Option<usize>>,
    pub graph: Lts,
    /// By part, for those about successors and runs.
    sets: Vec<Option<Set>>,
    /// States from which a fair run starts, if not all runs are.
    fair: Option<Set>,
    bytes: usize,
}

/// What it takes to find out more.
struct Work<'a> {
    reverse: Reverse,
    stack: Stack,
    control: &'a Control,
    budget: &'a Arc<Budget>,
    ticks: u64,
}

impl Work<'_> {
    #[inline]
    fn step(&mut self) -> Result<(), Stop> {
        self.ticks += 1;
        match self.ticks.is_multiple_of(4096).then(|| self.control.stopped(0)) {
            Some(Some(limit)) => Err(Stop::Limit(limit)),
            _ => Ok(()),
        }
    }

    fn push(&mut self, state: Number) -> Result<(), Stop> {
        self.stack.ensure(self.stack.len() + 1)?;
        self.stack.push(state);
        Ok(())
    }
}

impl<'a, 'f> Solved<'a, 'f> {
    /// Finds out for all states of a graph, every one of which was expanded. Its first labels are `table.labels()`; behind
    /// them stand `conditions` that must hold again and again on the runs that count.
    pub fn new(
        table: &'a Table<'f>,
        graph: Lts,
        conditions: usize,
        control: &Control,
        budget: &Arc<Budget>,
    ) -> Result<Solved<'a, 'f>, Stop> {
        let mut labels = vec![None; table.nodes().len()];
        let wanted = table.labels();
        wanted.iter().enumerate().for_each(|(label, &node)| labels[node] = Some(label));
        let sets = table.nodes().iter().map(|_| None).collect();
        let mut solved = Solved { table, labels, graph, sets, fair: None, bytes: 0 };
        let reverse = Reverse::new(&solved.graph, budget)?;
        let stack = Stack::new(budget).map_err(|_| Full)?;
        let mut work = Work { reverse, stack, control, budget, ticks: 0 };
        let conditions = wanted.len()..wanted.len() + conditions;
        if !conditions.is_empty() {
            solved.fair = Some(solved.fair_for_ever(&|_, _| true, conditions.clone(), &mut work)?);
        }
        for (node, kind) in table.nodes().iter().enumerate() {
            let set = match *kind {
                Node::ExistsNext(a) => solved.exists_next(a, &mut work)?,
                Node::ExistsUntil(hold, goal) => {
                    let holds = |all: &Solved, state| all.holds(state, hold);
                    let ends = |all: &Solved, state| all.holds(state, goal) && all.is_fair(state);
                    solved.exists_until(&holds, &ends, &mut work)?
                }
                Node::AllUntil(hold, goal) if solved.fair.is_none() => solved.all_until(hold, goal, &mut work)?,
                Node::AllUntil(hold, goal) => {
                    // There is no fair run on which the goal never comes, or too late.
                    let waits = |all: &Solved, state| !all.holds(state, goal);
                    let fails =
                        |all: &Solved, state| !all.holds(state, goal) && !all.holds(state, hold) && all.is_fair(state);
                    let never = solved.fair_for_ever(&waits, conditions.clone(), &mut work)?;
                    let late = solved.exists_until(&waits, &fails, &mut work)?;
                    let mut set = Set::new(solved.graph.states(), budget)?;
                    for state in (0..solved.graph.states()).filter(|&state| !never.has(state) && !late.has(state)) {
                        set.insert(state);
                    }
                    set
                }
                _ => continue,
            };
            solved.bytes += set.bytes();
            solved.sets[node] = Some(set);
        }
        Ok(solved)
    }

    /// Does a part of the formula hold in a state? Not for parts of labels.
    pub fn holds(&self, state: Number, node: usize) -> bool {
        if let Some(label) = self.labels[node] {
            return self.graph.holds(label, state);
        }
        match &self.table.nodes()[node] {
            Node::Constant(value) => *value,
            // Atoms are labels, or parts of labels.
            Node::Atom(_) => false,
            Node::Not(a) => !self.holds(state, *a),
            Node::And(all) => all.iter().all(|&a| self.holds(state, a)),
            Node::Or(all) => all.iter().any(|&a| self.holds(state, a)),
            Node::ExistsNext(_) | Node::ExistsUntil(..) | Node::AllUntil(..) => {
                self.sets[node].as_ref().is_some_and(|set| set.has(state))
            }
        }
    }

    /// Does a run that counts start in a state?
    pub fn is_fair(&self, state: Number) -> bool {
        self.fair.as_ref().is_none_or(|fair| fair.has(state))
    }

    fn exists_next(&self, a: usize, work: &mut Work) -> Result<Set, Stop> {
        let mut set = Set::new(self.graph.states(), work.budget)?;
        for state in 0..self.graph.states() {
            work.step()?;
            if self.graph.successors(state).any(|(next, _)| self.holds(next, a) && self.is_fair(next)) {
                set.insert(state);
            }
        }
        Ok(set)
    }

    fn exists_until(&self, hold: &Test, goal: &Test, work: &mut Work) -> Result<Set, Stop> {
        let mut set = Set::new(self.graph.states(), work.budget)?;
        for state in 0..self.graph.states() {
            work.step()?;
            if goal(self, state) && set.insert(state) {
                work.push(state)?;
                self.backwards(hold, &mut set, work)?;
            }
        }
        Ok(set)
    }

    /// Adds all states that lead through states that hold to those on the stack.
    fn backwards(&self, hold: &Test, set: &mut Set, work: &mut Work) -> Result<(), Stop> {
        while let Some(state) = work.stack.pop() {
            for at in 0..work.reverse.predecessors(state).len() {
                work.step()?;
                let before = work.reverse.predecessors(state)[at];
                if !set.has(before) && hold(self, before) {
                    set.insert(before);
                    work.push(before)?;
                }
            }
        }
        Ok(())
    }

    fn all_until(&self, hold: usize, goal: usize, work: &mut Work) -> Result<Set, Stop> {
        let states = self.graph.states();
        let mut set = Set::new(states, work.budget)?;
        // How many events of a state lead to states that are in the set, each counted once.
        let mut inside: Column<u32> = Column::new(work.budget).map_err(|_| Full)?;
        inside.ensure(states as usize)?;
        for goal in (0..states).filter(|&state| self.holds(state, goal)) {
            if !set.insert(goal) {
                continue;
            }
            work.push(goal)?;
            while let Some(state) = work.stack.pop() {
                for at in 0..work.reverse.predecessors(state).len() {
                    work.step()?;
                    let before = work.reverse.predecessors(state)[at];
                    inside[before] += 1;
                    let all = inside[before] as usize == self.graph.successors(before).len();
                    if all && self.holds(before, hold) && set.insert(before) {
                        work.push(before)?;
                    }
                }
            }
        }
        Ok(set)
    }

    /// The states from which a fair run stays for ever among those that hold: it leads to a component there in which every
    /// condition holds somewhere, or ends where all do.
    fn fair_for_ever(&self, hold: &Test, conditions: std::ops::Range<usize>, work: &mut Work) -> Result<Set, Stop> {
        let states = self.graph.states();
        let components = Components::within(&self.graph, &|state| hold(self, state), work.budget)?;
        // Components that have an event within themselves, and in which all conditions so far hold somewhere.
        let mut good = Set::new(components.count(), work.budget)?;
        let inside = |state: Number| {
            let own = components.of(state);
            self.graph.successors(state).any(|(next, _)| hold(self, next) && components.of(next) == own)
        };
        for state in (0..states).filter(|&state| hold(self, state)) {
            work.step()?;
            if inside(state) {
                good.insert(components.of(state));
            }
        }
        for condition in conditions.clone() {
            let mut better = Set::new(components.count(), work.budget)?;
            for state in (0..states).filter(|&state| hold(self, state) && self.graph.holds(condition, state)) {
                work.step()?;
                if good.has(components.of(state)) {
                    better.insert(components.of(state));
                }
            }
            good = better;
        }
        let mut set = Set::new(states, work.budget)?;
        for state in (0..states).filter(|&state| hold(self, state)) {
            let ends = self.graph.successors(state).len() == 0
                && conditions.clone().all(|condition| self.graph.holds(condition, state));
            if (ends || good.has(components.of(state))) && set.insert(state) {
                work.push(state)?;
                self.backwards(hold, &mut set, work)?;
            }
        }
        Ok(set)
    }

    /// How many pairs of a state and a part were decided, beside those about one state.
    pub fn configurations(&self) -> u64 {
        self.sets.iter().flatten().count() as u64 * self.graph.states() as u64
    }

    pub fn bytes(&self) -> usize {
        self.graph.bytes() + self.bytes + self.fair.as_ref().map_or(0, Set::bytes)
    }
}

/// A test of states, given what was found out before.
type Test<'t> = dyn Fn(&Solved, Number) -> bool + 't;
