//! Why a formula holds or does not, where one run says it: a run to where an "until" is fulfilled, or a lasso on which
//! something stays as it is.

use super::Branching;
use super::parts::{Node, Part};
use crate::diagram::{Halt, Set};
use crate::engine::Engine;
use crate::linear::Linear;
use crate::trace::Lost;
use scrimp_core::Trace;
use scrimp_system::{Expr, Model};
use scrimp_temporal::Formula;

/// A run that shows why.
pub struct Evidence {
    pub trace: Trace,
    /// The run goes on for ever: from its end it goes on as after so many steps.
    pub cycle: Option<usize>,
}

impl Branching<'_> {
    /// A run that shows why a formula holds, or why it does not, as it was found to be; none where it takes more than one
    /// run to see that.
    pub fn evidence(
        &mut self,
        engine: &mut Engine,
        model: &dyn Model,
        formula: &Formula<Expr>,
        holds: bool,
    ) -> Result<Option<Evidence>, Lost> {
        let part = self.parts.enter(formula);
        self.sets.resize(self.parts.len(), None);
        let mark = engine.held.len();
        let found = self.beginning_at_the_start(engine, model, part, holds);
        engine.held.truncate(mark);
        found
    }

    fn beginning_at_the_start(
        &mut self,
        engine: &mut Engine,
        model: &dyn Model,
        part: Part,
        holds: bool,
    ) -> Result<Option<Evidence>, Lost> {
        let fulfilling = self.among(engine, part, self.initial)?;
        engine.held.push(fulfilling);
        let deciding = if holds { fulfilling } else { engine.minus(self.initial, fulfilling)? };
        let Some(vector) = engine.diagrams.first(deciding) else { return Err(Lost::Mismatch) };
        let start = engine.single(&vector)?;
        engine.held.push(start);
        let Some((part, holds)) = self.reason(engine, part, holds, start)? else { return Ok(None) };
        match (self.parts.node(part).clone(), holds) {
            (Node::Next(a), true) => self.run_to(engine, model, (start, start), self.steps.states, a).map(Some),
            (Node::Until(a, b), true) => {
                let left = self.everywhere(engine, a)?;
                self.run_to(engine, model, (start, left), left, b).map(Some)
            }
            (Node::Always(a), true) => {
                let left = self.everywhere(engine, a)?;
                let mut again = Vec::new();
                for &condition in &self.fairness {
                    again.push(engine.intersect(left, condition)?);
                    engine.held.extend(&again);
                }
                let runs = Linear::staying(self.steps, left, &again);
                let (reached, hull) = runs.accepting(engine, start)?.ok_or(Lost::Mismatch)?;
                let lasso = runs.lasso(engine, model, (start, &reached, &hull))?;
                Ok(Some(Evidence { trace: lasso.trace, cycle: Some(lasso.cycle) }))
            }
            _ => Ok(None),
        }
    }

    /// A run through `within` to where a part holds.
    fn run_to(
        &mut self,
        engine: &mut Engine,
        model: &dyn Model,
        (start, within): (Set, Set),
        guard: Set,
        part: Part,
    ) -> Result<Evidence, Lost> {
        let goal = self.everywhere(engine, part)?;
        let goal = self.counted(engine, goal)?;
        engine.held.push(goal);
        let runs = Linear::staying(self.steps, guard, &[]);
        let trace = runs.path(engine, model, (start, &vec![within], &vec![goal]))?;
        Ok(Evidence { trace, cycle: None })
    }

    /// The part that alone decides that another holds in a state, or does not.
    fn reason(
        &mut self,
        engine: &mut Engine,
        part: Part,
        holds: bool,
        state: Set,
    ) -> Result<Option<(Part, bool)>, Halt> {
        let (mut part, mut holds) = (part, holds);
        loop {
            match (self.parts.node(part).clone(), holds) {
                (Node::Not(inner), _) => (part, holds) = (inner, !holds),
                (Node::Or(all), true) | (Node::And(all), false) => {
                    let mut deciding = None;
                    for other in all {
                        if self.among(engine, other, state)?.is_empty() != holds {
                            deciding = Some(other);
                            break;
                        }
                    }
                    let Some(other) = deciding else { return Ok(None) };
                    part = other;
                }
                (Node::Next(_) | Node::Until(..) | Node::Always(_), true) => return Ok(Some((part, holds))),
                _ => return Ok(None),
            }
        }
    }
}
