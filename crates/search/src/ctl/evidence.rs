//! Why a formula holds or does not: runs that show it, with what holds along them, as a tree.
//!
//! That something happens on some run is shown by one, and so is that something does not happen on all. What is true of every
//! run is shown by none, and is only stated. So the tree is finite; nothing in it is explained twice.

use super::check::{CtlTask, Inquiry};
use super::normal::{Kind, Operator, Table};
use super::runs::{Maximal, Need, Runs, Spot, Steps, Target};
use scrimp_core::Evidence;
use std::collections::HashSet;

/// The most explanations in one tree, and the most states to look at for all of them.
const MOST: usize = 400;
const PATIENCE: usize = 1 << 22;

/// Why the verdict is as it is; `None` where a limit was reached before that was clear.
pub fn evidence(task: &CtlTask, inquiry: Inquiry) -> Option<Evidence> {
    let Inquiry { table, truth, initial, .. } = inquiry;
    let runs = Runs { task, table, truth, patience: PATIENCE };
    let mut builder = Builder { runs, explained: HashSet::new() };
    let start = builder.runs.initial()?.into_iter().nth(initial)?;
    builder.explain(table.subformulas().len().checked_sub(1)?, &start)
}

/// What a run must do to show something.
pub(super) enum Aim {
    /// Its second state meets this.
    Next(Need),
    /// All its states up to one that meets the second meet the first.
    Until(Vec<Need>, Vec<Need>),
    /// The same, or all of them meet the first.
    Weak(Vec<Need>, Option<Vec<Need>>),
}

/// What a run must do to show that a path formula is as it is: true where a run exists, false where not all do it.
pub(super) fn aim(value: bool, operator: Operator, operands: &[usize]) -> Aim {
    let (a, b) = (operands[0], operands[operands.len() - 1]);
    let is = |operand: usize| (operand, value);
    match (operator, value) {
        (Operator::Next, _) => Aim::Next(is(a)),
        (Operator::Finally, true) | (Operator::Globally, false) => Aim::Until(vec![], vec![is(a)]),
        (Operator::Finally, false) | (Operator::Globally, true) => Aim::Weak(vec![is(a)], None),
        (Operator::Until, true) => Aim::Until(vec![is(a)], vec![is(b)]),
        (Operator::Until, false) => Aim::Weak(vec![is(b)], Some(vec![is(b), is(a)])),
        (Operator::WeakUntil, true) => Aim::Weak(vec![is(a)], Some(vec![is(b)])),
        (Operator::WeakUntil, false) => Aim::Until(vec![is(b)], vec![is(b), is(a)]),
        (Operator::Release, true) => Aim::Weak(vec![is(b)], Some(vec![is(b), is(a)])),
        (Operator::Release, false) => Aim::Until(vec![is(a)], vec![is(b)]),
        (Operator::StrongRelease, true) => Aim::Until(vec![is(b)], vec![is(b), is(a)]),
        (Operator::StrongRelease, false) => Aim::Weak(vec![is(a)], Some(vec![is(b)])),
    }
}

struct Builder<'r, 'a> {
    runs: Runs<'r, 'a>,
    /// Subformulas and places that were explained.
    explained: HashSet<(usize, u32)>,
}

impl Builder<'_, '_> {
    fn explain(&mut self, subformula: usize, spot: &Spot) -> Option<Evidence> {
        self.explained.insert((subformula, spot.place));
        let table: &Table = self.runs.table;
        let part = &table.subformulas()[subformula];
        let holds = self.runs.holds(subformula, spot)?;
        let name = |&atom: &u32| self.runs.task.names.get(atom as usize).cloned().unwrap_or(format!("atom {atom}"));
        let mut told = Evidence {
            formula: part.formula.map(&mut |atom| name(atom)).to_string(),
            holds,
            initial: spot.state.clone(),
            steps: Vec::new(),
            cycle: None,
            ends: false,
            universal: false,
            parts: Vec::new(),
        };
        let reasons: Vec<usize> = match &part.kind {
            _ if part.formula.is_state() => Vec::new(),
            Kind::Leaf => Vec::new(),
            Kind::Not(a) => vec![*a],
            Kind::And(all) => self.reasons(all, (!holds).then_some(false), spot)?,
            Kind::Or(all) => self.reasons(all, holds.then_some(true), spot)?,
            Kind::Implies(a, b) if holds => vec![if self.runs.holds(*a, spot)? { *b } else { *a }],
            Kind::Implies(a, b) | Kind::Equivalent(a, b) => vec![*a, *b],
            Kind::Path { exists, operator, operands } => {
                match *exists == holds {
                    true => self.show((subformula, holds), aim(holds, *operator, operands), spot, &mut told)?,
                    false => told.universal = true,
                }
                Vec::new()
            }
        };
        for reason in reasons {
            self.add(&mut told, 0, reason, spot)?;
        }
        Some(told)
    }

    /// What decides a conjunction or a disjunction: all operands, or the simplest one that has the value that decides it.
    fn reasons(&mut self, operands: &[usize], decisive: Option<bool>, spot: &Spot) -> Option<Vec<usize>> {
        let Some(value) = decisive else { return Some(operands.to_vec()) };
        let table: &Table = self.runs.table;
        let mut by_size = operands.to_vec();
        by_size.sort_by_key(|&operand| table.subformulas()[operand].formula.size());
        for operand in by_size {
            if self.runs.holds(operand, spot)? == value {
                return Some(vec![operand]);
            }
        }
        Some(Vec::new())
    }

    fn add(&mut self, told: &mut Evidence, at: usize, subformula: usize, spot: &Spot) -> Option<()> {
        if self.explained.len() < MOST && !self.explained.contains(&(subformula, spot.place)) {
            let part = self.explain(subformula, spot)?;
            told.parts.push((at, part));
        }
        Some(())
    }

    /// Finds a run that shows a subformula to be as it is, and explains what must be along it.
    fn show(&mut self, itself: Need, aim: Aim, from: &Spot, told: &mut Evidence) -> Option<()> {
        let (steps, along, at_end) = match &aim {
            Aim::Next(need) => {
                let needs = [*need];
                let target = Target::Needs(&needs);
                let mut found = None;
                for (event, next) in self.runs.successors(from)? {
                    if self.runs.is_target(&target, &[], &next)? {
                        found = Some(vec![(event, next)]);
                        break;
                    }
                }
                (found?, Vec::new(), needs.to_vec())
            }
            Aim::Until(hold, goal) => {
                (self.runs.shortest(from, hold, &Target::Needs(goal))??, hold.clone(), goal.clone())
            }
            Aim::Weak(hold, goal) => {
                let to_goal = match goal {
                    Some(goal) => self.runs.shortest(from, hold, &Target::Needs(goal))?,
                    None => None,
                };
                match (to_goal, goal) {
                    (Some(steps), Some(goal)) => (steps, hold.clone(), goal.clone()),
                    _ => {
                        let mut through = hold.clone();
                        through.push(itself);
                        let Maximal { steps, cycle } = self.runs.for_ever(from, &through)?;
                        (told.cycle, told.ends) = (cycle, cycle.is_none());
                        // Where it goes round, its last state was there before.
                        (steps, hold.clone(), if cycle.is_none() { hold.clone() } else { Vec::new() })
                    }
                }
            }
        };
        told.steps = steps.iter().map(|(event, spot)| (*event, spot.state.clone())).collect();
        self.annotate(from, &steps, &along, &at_end, told)
    }

    /// Explains what holds along a run, and at its end, unless that can be seen in the states.
    fn annotate(
        &mut self,
        from: &Spot,
        steps: &Steps,
        along: &[Need],
        at_end: &[Need],
        told: &mut Evidence,
    ) -> Option<()> {
        for at in 0..=steps.len() {
            let spot = if at == 0 { from } else { &steps[at - 1].1 };
            let last = at == steps.len();
            for &(subformula, _) in if last { at_end } else { along } {
                let plain = self.runs.table.subformulas()[subformula].formula.is_state();
                if last || !plain {
                    self.add(told, at, subformula, spot)?;
                }
            }
        }
        Some(())
    }
}
