//! Looks at a formula without insisting: a question that is not answered within a few states is left open, and others are asked.
//!
//! The [exact](super::local) search answers what it asks before it goes on, and where that takes all states nothing else is ever
//! looked at. Here an answer may be yes, no, or not known. What is found does not rest on what is not known:
//!
//! - some run: one that meets the goal, known to hold there, through states where the first operand is known to hold. There is
//!   none where all of them were followed and nothing was left open.
//! - all runs: one that fails goes through states where the goal is known not to hold, to its end, back to itself, or to where
//!   the first operand is known not to hold. There is none where all of them were followed and nothing was left open.
//!
//! The whole is repeated with more states for each question.

use super::check::{CtlFacts, CtlOutcome, CtlTask, label_holds};
use super::normal::{Node, Table};
use super::space::{Space, Stop};
use crate::lts::Number;
use crate::task::invalid;
use scrimp_core::{Budget, Limit};
use scrimp_system::Random;
use std::collections::{HashMap, HashSet};
use std::io;

/// States that a question may lead to, at first and at most, and how much fewer one about an operand may.
const FIRST: u32 = 32;
const MOST: u32 = 1 << 16;
const INNER: u32 = 4;
const LEAST: u32 = 8;
/// Bytes that an answer takes, and the part of the memory that answers may take.
const ANSWER: usize = 32;
const SHARE: usize = 16;

/// What can be seen of a formula until the task has to stop; nothing where that leaves it open, or where no operand is about
/// runs: the exact search does no worse then.
pub fn glance(task: &CtlTask) -> io::Result<Option<CtlOutcome>> {
    let table = Table::new(task.formula, false).map_err(invalid)?;
    let about_runs = |node: &Node| matches!(node, Node::ExistsNext(_) | Node::ExistsUntil(..) | Node::AllUntil(..));
    if !task.fairness.is_empty() || table.nodes().iter().filter(|node| about_runs(node)).count() < 2 {
        return Ok(None);
    }
    let budget = Budget::begin(task.plan.memory())?;
    let labels = table.labels();
    let holds = |label: usize, state: &[u8]| label_holds(task.atoms, &table, labels[label], state);
    let space = Space::new(task.model, (labels.len(), &holds), task.plan, task.control, &budget)?;
    let mut by_node = vec![None; table.nodes().len()];
    labels.iter().enumerate().for_each(|(label, &node)| by_node[node] = Some(label));
    let known = table.nodes().iter().map(|_| HashMap::new()).collect();
    let room = task.plan.memory() / SHARE / ANSWER;
    let mut glance =
        Glance { table: &table, labels: by_node, space, initial_states: 0, known, room, random: Random(1) };
    let Ok(Some(verdict)) = glance.rounds() else { return Ok(None) };
    if task.model.is_outgrown() {
        return Ok(None);
    }
    let space = &glance.space;
    let facts = CtlFacts {
        initial_states: glance.initial_states,
        states: space.states(),
        expanded: space.expanded(),
        transitions: space.transitions(),
        configurations: glance.known.iter().map(|known| known.len() as u64).sum(),
        bytes: space.bytes(),
        store: Some(task.plan.store().to_string()),
    };
    let exhaustive = facts.states == facts.expanded;
    Ok(Some(CtlOutcome { verdict: Some(verdict), evidence: None, facts, limit: None, exhaustive }))
}

struct Glance<'a, 'f> {
    table: &'a Table<'f>,
    /// The label that stands for a part about one state, by part.
    labels: Vec<Option<usize>>,
    space: Space<'a>,
    initial_states: u64,
    /// What is known, by part.
    known: Vec<HashMap<Number, bool>>,
    /// How many answers there is room for.
    room: usize,
    random: Random,
}

impl Glance<'_, '_> {
    fn rounds(&mut self) -> Result<Option<bool>, Stop> {
        let initial = self.space.initial()?;
        self.initial_states = initial.len() as u64;
        let mut states = FIRST;
        while states <= MOST {
            let mut all = Some(true);
            for &state in &initial {
                match self.holds(state, self.table.root(), states)? {
                    Some(true) => {}
                    Some(false) => return Ok(Some(false)),
                    None => all = None,
                }
            }
            if all.is_some() {
                return Ok(all);
            }
            states *= 2;
        }
        Ok(None)
    }

    /// Does a part of the formula hold in a state, as far as so many states tell?
    fn holds(&mut self, state: Number, node: usize, states: u32) -> Result<Option<bool>, Stop> {
        if let Some(label) = self.labels[node] {
            return Ok(Some(self.space.holds(label, state)));
        }
        if let Some(&known) = self.known[node].get(&state) {
            return Ok(Some(known));
        }
        if self.room == 0 {
            return Err(Stop::Limit(Limit::Memory));
        }
        let table = self.table;
        match &table.nodes()[node] {
            Node::Constant(value) => Ok(Some(*value)),
            // Atoms are labels, or parts of labels.
            Node::Atom(_) => Ok(Some(false)),
            Node::Not(a) => Ok(self.holds(state, *a, states)?.map(|holds| !holds)),
            Node::And(all) => self.joined(state, all, false, states),
            Node::Or(all) => self.joined(state, all, true, states),
            Node::ExistsNext(a) => {
                let (next, mut found) = (self.successors(state)?, Some(false));
                for next in next {
                    match self.holds(next, *a, states)? {
                        Some(true) => {
                            found = Some(true);
                            break;
                        }
                        Some(false) => {}
                        None => found = None,
                    }
                }
                Ok(self.note(node, [state], found))
            }
            Node::ExistsUntil(hold, goal) => self.exists_until(state, node, (*hold, *goal), states),
            Node::AllUntil(hold, goal) => self.all_until(state, node, (*hold, *goal), states),
        }
    }

    /// One that is `deciding` decides; all must be known otherwise.
    fn joined(&mut self, state: Number, nodes: &[usize], deciding: bool, states: u32) -> Result<Option<bool>, Stop> {
        let mut joined = Some(!deciding);
        for &node in nodes {
            match self.holds(state, node, states)? {
                Some(holds) if holds == deciding => return Ok(Some(deciding)),
                Some(_) => {}
                None => joined = None,
            }
        }
        Ok(joined)
    }

    /// The successors of a state, beginning with any of them.
    fn successors(&mut self, state: Number) -> Result<Vec<Number>, Stop> {
        self.space.step()?;
        let mut cursor = self.space.successors(state)?;
        let mut all: Vec<Number> = std::iter::from_fn(|| self.space.next(&mut cursor)).collect();
        if all.len() > 1 {
            let first = self.random.below(all.len());
            all.rotate_left(first);
        }
        Ok(all)
    }

    /// Keeps what was found out of these states.
    fn note(&mut self, node: usize, of: impl IntoIterator<Item = Number>, found: Option<bool>) -> Option<bool> {
        if let Some(holds) = found {
            let known = &mut self.known[node];
            let before = known.len();
            known.extend(of.into_iter().map(|state| (state, holds)));
            self.room = self.room.saturating_sub(known.len() - before);
        }
        found
    }

    fn exists_until(
        &mut self,
        root: Number,
        node: usize,
        (hold, goal): (usize, usize),
        states: u32,
    ) -> Result<Option<bool>, Stop> {
        let inner = (states / INNER).max(LEAST);
        let (mut seen, mut open, mut all_known) = (HashSet::from([root]), vec![root], true);
        let mut visited = 0;
        while let Some(state) = open.pop() {
            self.space.step()?;
            visited += 1;
            if visited > states {
                return Ok(None);
            }
            let known = self.known[node].get(&state).copied();
            let met = if known == Some(true) { known } else { self.holds(state, goal, inner)? };
            if met == Some(true) {
                return Ok(self.note(node, [root, state], Some(true)));
            }
            if known == Some(false) {
                continue;
            }
            let holds = self.holds(state, hold, inner)?;
            all_known &= met.is_some() && holds.is_some();
            if holds == Some(true) {
                let next = self.successors(state)?;
                open.extend(next.into_iter().filter(|&next| seen.insert(next)));
            }
        }
        Ok(self.note(node, seen, all_known.then_some(false)))
    }

    fn all_until(
        &mut self,
        root: Number,
        node: usize,
        (hold, goal): (usize, usize),
        states: u32,
    ) -> Result<Option<bool>, Stop> {
        let inner = (states / INNER).max(LEAST);
        let mut seen = HashSet::new();
        // The states of one run, each with the successors that were not followed yet.
        let mut run: Vec<(Number, Vec<Number>)> = Vec::new();
        let mut on_run: HashSet<Number> = HashSet::new();
        let (mut enter, mut all_known) = (Some(root), true);
        loop {
            let mut fails = false;
            if let Some(state) = enter.take() {
                self.space.step()?;
                if seen.len() as u32 >= states {
                    return Ok(None);
                }
                seen.insert(state);
                let known = self.known[node].get(&state).copied();
                let met = if known == Some(true) { known } else { self.holds(state, goal, inner)? };
                fails = known == Some(false);
                all_known &= met.is_some();
                if met == Some(false) && !fails {
                    let holds = self.holds(state, hold, inner)?;
                    all_known &= holds.is_some();
                    let next = self.successors(state)?;
                    fails = holds == Some(false) || next.is_empty();
                    run.push((state, next));
                    on_run.insert(state);
                }
            }
            if !fails {
                let Some((state, next)) = run.last_mut() else { break };
                match next.pop() {
                    Some(next) => {
                        fails = on_run.contains(&next);
                        enter = (!fails && !seen.contains(&next)).then_some(next);
                    }
                    None => {
                        on_run.remove(state);
                        run.pop();
                    }
                }
            }
            if fails {
                return Ok(self.note(node, run.into_iter().map(|(state, _)| state).chain([root]), Some(false)));
            }
        }
        Ok(self.note(node, seen, all_known.then_some(true)))
    }
}
