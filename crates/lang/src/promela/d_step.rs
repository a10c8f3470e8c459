//! The inside of a `d_step`: a graph of its own, in which the first thing that can happen does.

use super::core::{Action, Alternative, Next, State, Statement, Transition};
use super::element::{Id, Kinds};
use super::flow::{Assembly, MAX_HOPS, number_of};
use crate::diagnostic::Problem;
use std::sync::Arc;

impl Assembly<'_> {
    /// The deterministic choice at an element within a `d_step`, and all states behind it.
    pub(super) fn d_step(
        &mut self,
        d_step: Id,
        first: Id,
        exit: usize,
        then: Next,
    ) -> Result<Vec<Alternative>, Problem> {
        let mut pending: Vec<(Id, usize)> = Vec::new();
        let alternatives = self.choice(d_step, first, exit, then, &mut pending)?;
        while let Some((element, state)) = pending.pop() {
            let alternatives = self.choice(d_step, element, exit, then, &mut pending)?;
            self.flow.states[state].transitions = vec![Transition { alternatives, escape: 0 }];
        }
        Ok(alternatives)
    }

    fn choice(
        &mut self,
        d_step: Id,
        at: Id,
        exit: usize,
        then: Next,
        pending: &mut Vec<(Id, usize)>,
    ) -> Result<Vec<Alternative>, Problem> {
        let mut steps = Vec::new();
        self.inner_steps(at, &mut steps, 0)?;
        let mut alternatives = Vec::new();
        for step in steps {
            let mut action = self.action(step);
            // Of the alternatives in a selection the first that can is taken, so its `else` is whatever is left.
            if step != at && matches!(action.statement, Statement::Else) {
                let Action { place, text, .. } = &*action;
                action = Arc::new(Action { statement: Statement::Nothing, place: *place, text: text.clone() });
            }
            let Some(next) = self.body.next(step) else {
                return Err(Problem::new(self.body.elements[step].place, "a process cannot end within a d_step"));
            };
            let next = self.inner_hunt(next)?;
            alternatives.push(match next {
                None => Alternative { action, target: Some(exit), then, number: number_of(step) },
                Some(next) => {
                    let state = match self.inner.get(&(d_step, next)) {
                        Some(&state) => state,
                        None => {
                            let state = self.flow.states.len();
                            let place = self.body.elements[next].place;
                            self.flow.states.push(State {
                                place,
                                number: number_of(next),
                                inner: true,
                                ..State::default()
                            });
                            self.inner.insert((d_step, next), state);
                            pending.push((next, state));
                            state
                        }
                    };
                    Alternative { action, target: Some(state), then: Next::Bound, number: number_of(step) }
                }
            });
        }
        Ok(alternatives)
    }

    /// The first element within the `d_step` at which something happens; `None` when it is left.
    fn inner_hunt(&self, from: Id) -> Result<Option<Id>, Problem> {
        let mut at = from;
        for _ in 0..MAX_HOPS {
            let element = &self.body.elements[at];
            if element.in_d_step.is_none() {
                return Ok(None);
            }
            at = match &element.kind {
                Kinds::Goto(..) | Kinds::Leave(_) | Kinds::Dot | Kinds::Break => self.body.next(at).unwrap_or(at),
                Kinds::Unless(parts) => parts[0].first,
                _ => return Ok(Some(at)),
            };
        }
        Err(Problem::new(self.body.elements[from].place, "the jumps from here form a cycle without a statement"))
    }

    /// The steps that can be taken at an element within a `d_step`, in the order in which they are tried.
    fn inner_steps(&self, at: Id, into: &mut Vec<Id>, depth: usize) -> Result<(), Problem> {
        if depth > MAX_HOPS {
            return Err(Problem::new(
                self.body.elements[at].place,
                "the jumps from here form a cycle without a statement",
            ));
        }
        let element = &self.body.elements[at];
        match &element.kind {
            Kinds::Select(parts) => parts.iter().try_for_each(|part| self.inner_steps(part.first, into, depth + 1)),
            Kinds::Block(_, part) => self.inner_steps(part.first, into, depth + 1),
            Kinds::Unless(parts) => self.inner_steps(parts[0].first, into, depth + 1),
            Kinds::Dot | Kinds::Break if self.body.elements[self.body.behind(at)].in_d_step.is_some() => {
                self.inner_steps(self.body.behind(at), into, depth + 1)
            }
            _ => {
                into.push(at);
                Ok(())
            }
        }
    }
}
