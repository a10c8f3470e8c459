//! The report of a formula of branching time that was decided state by state.

use super::check::CtlOutcome;
use crate::plan::Plan;
use scrimp_core::{Control, Evidence, Predicate, PropertyResult, Report, Verdict};
use scrimp_system::{Fault, Model};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The first fault that evaluating a condition ended in. What is decided with such a condition is not known.
#[derive(Debug, Default)]
pub struct FirstFault(Mutex<Option<Fault>>);

impl FirstFault {
    /// The same condition, whose faults are noted here.
    pub fn noting<'a>(&'a self, holds: Predicate<'a>) -> Predicate<'a> {
        Box::new(move |state| {
            let value = holds(state);
            if let Err(found) = &value {
                self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(*found);
            }
            value
        })
    }

    /// The fault, if there was one.
    pub fn get(&self) -> Option<Fault> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CtlOutcome {
    /// What was counted, in a search that began then.
    pub fn counted(&self, model: &dyn Model, begun: Instant) -> Report {
        let mut report = Report::of_nothing(model, begun.elapsed());
        report.limit = self.limit;
        report.exhaustive = self.exhaustive;
        report.facts.states = self.facts.states;
        report.facts.transitions = self.facts.transitions;
        report.facts.initial_states = self.facts.initial_states;
        report.visits = self.facts.expanded;
        report.forget.stored_peak = self.facts.states;
        report.store_bytes = self.facts.bytes;
        report.store = self.facts.store.clone();
        report
    }

    /// What this outcome says of the property with this name, unless evaluating its conditions ended in a fault.
    pub fn report(
        self,
        name: &str,
        model: &dyn Model,
        plan: &Plan,
        control: &Control,
        (begun, fault): (Instant, Option<Fault>),
    ) -> Report {
        let mut report = self.counted(model, begun);
        if let Some(fault) = fault {
            control.say(format!("{name}: evaluating it ended in a run-time error: {fault}"));
        }
        let mut result = PropertyResult::undecided(name);
        result.verdict = match self.verdict.filter(|_| fault.is_none()) {
            Some(true) => Verdict::Verified,
            Some(false) => Verdict::Violated,
            None => Verdict::Undecided,
        };
        if let Some((trace, cycle)) = self.evidence.as_ref().and_then(Evidence::run) {
            result.state = Some(trace.last().to_vec());
            (result.trace, result.cycle) = (Some(trace), cycle);
        }
        result.evidence = self.evidence.filter(|_| fault.is_none());
        report.ran = plan.parts();
        report.properties = vec![result];
        report.remarks = control.remarks();
        report
    }
}
