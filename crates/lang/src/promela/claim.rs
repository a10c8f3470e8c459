//! A `never` claim as the claim of a system.
//!
//! The claim reads the state that is left and moves with every step. Whether it runs to its end is a question about finite
//! runs, so that is an assertion of the system; acceptance is kept for whoever decides about infinite ones.

use super::core::{Flow, Statement};
use super::lower::Lowering;
use super::values::{Context, all, any};
use crate::diagnostic::Problem;
use crate::lines::Lines;
use scrimp_system::{Assertion, Claim, ClaimMove, Domain, Expr, Process, ProcessId, VarId, Variable};

impl Lowering<'_> {
    /// Adds the claim to the system.
    pub fn claim(&mut self, flow: &Flow) -> Result<(), Problem> {
        let source = self.program.source.clone();
        let mut lines = Lines::of(&source);
        let id = ProcessId(self.system.processes.len() as u32);
        let control = VarId(self.system.variables.len() as u32);
        let locations = super::lower::location_names(flow, &mut lines);
        let numbered = |wanted: fn(&super::core::State) -> bool| -> Vec<u32> {
            (0..flow.states.len() as u32).filter(|state| wanted(&flow.states[*state as usize])).collect()
        };
        let span = flow.states.first().map(|s| lines.span(s.place)).unwrap_or_default();
        self.system.variables.push(Variable {
            name: "never".into(),
            owner: Some(id),
            domain: Domain::range(0, locations.len() as i64 - 1),
            ..Variable::control(id)
        });
        let accepting = numbered(|state| state.accept);
        self.system.processes.push(Process { name: "never".into(), control, locations, accepting, span });
        for values in &mut self.system.initial {
            values.push(flow.start as i64);
        }
        let mut moves = Vec::new();
        let mut demands = Vec::new();
        for (number, state) in flow.states.iter().enumerate() {
            for transition in &state.transitions {
                for alternative in &transition.alternatives {
                    self.here.set(alternative.action.place);
                    let Some(target) = alternative.target else { continue };
                    let statement = &alternative.action.statement;
                    match statement {
                        Statement::Nothing | Statement::Condition(_) | Statement::Else | Statement::Assert(_) => {}
                        Statement::Print { .. } => {}
                        _ => {
                            let message = "a `never` claim only observes: this statement would change the state";
                            return Err(Problem::new(alternative.action.place, message));
                        }
                    }
                    let context = Context { instance: None, timeout: false, started: None };
                    let guard = self.observed(state, transition, statement, context)?;
                    if let Statement::Assert(value) = statement {
                        let here = Expr::equals(control, number as i64);
                        demands.push(any([Expr::not(here), self.condition(value, context)?]));
                    }
                    let span = lines.span(alternative.action.place);
                    if guard.as_const() != Some(0) {
                        moves.push(ClaimMove { from: number as u32, to: target as u32, guard, span });
                    }
                }
            }
        }
        let ends = numbered(|state| state.valid_end);
        // Having come to its end, the claim stays there, so that a run can be followed to a state that is kept.
        for &end in &ends {
            moves.retain(|m| m.from != end);
            let span = lines.span(flow.states[end as usize].place);
            moves.push(ClaimMove { from: end, to: end, guard: Expr::TRUE, span });
        }
        let at_end = any(ends.iter().map(|end| Expr::equals(control, *end as i64)));
        // A claim may make assertions of its own, wherever it stands.
        let condition = all(demands.into_iter().chain([Expr::not(at_end)]));
        self.system.assertions.push(Assertion { name: "never claim".into(), condition, span });
        self.system.claim = Some(Claim { process: id, moves });
        Ok(())
    }

    /// Nothing can move: what `timeout` means to a claim.
    pub fn nothing_moves(&self) -> Result<Expr, Problem> {
        let context = Context { instance: None, timeout: false, started: None };
        let mut conditions = Vec::new();
        for instance in 0..self.instances.all.len() {
            conditions.push(Expr::not(self.can_move(instance, context)?));
        }
        Ok(all(conditions))
    }
}

/// Is acceptance what the claim is about?
pub(crate) fn accepts(flow: &Flow) -> bool {
    flow.states.iter().any(|state| state.accept)
}
