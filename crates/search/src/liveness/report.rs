//! The report of a search for a bad run.

use super::Answer;
use crate::plan::Plan;
use scrimp_core::{Control, PropertyResult, Report, Verdict};
use scrimp_system::Model;
use std::time::Instant;

impl Answer {
    /// What this answer says of the property with this name, in a search that began then: a run that the automaton accepts
    /// violates the property.
    pub fn report(self, name: &str, model: &dyn Model, plan: &Plan, control: &Control, begun: Instant) -> Report {
        let mut report = Report::of_nothing(model, begun.elapsed());
        if let Some(fault) = self.fault {
            report.remarks.push(format!("{name}: evaluating it ended in a run-time error: {fault}"));
        }
        let mut result = PropertyResult::undecided(name);
        result.verdict = match self.accepted {
            Some(true) => Verdict::Violated,
            Some(false) => Verdict::Verified,
            None => Verdict::Undecided,
        };
        if let Some(lasso) = self.lasso {
            result.state = Some(lasso.trace.last().to_vec());
            (result.cycle, result.trace) = (Some(lasso.cycle), Some(lasso.trace));
        }
        report.properties = vec![result];
        report.limit = self.limit;
        report.exhaustive = self.accepted == Some(false);
        report.visits = self.facts.states;
        report.forget.stored_peak = self.facts.states;
        report.facts = self.facts;
        report.state_bytes = self.state_bytes;
        report.store_bytes = self.store_bytes;
        report.ran = if self.reduced && plan.options().may_reduce { plan.reducing().parts() } else { plan.parts() };
        report.store = self.store;
        report.reduced = self.reduced;
        report.orbits = self.orbits;
        report.remarks.extend(control.remarks());
        report
    }
}
