//! The answer to a property, and what shows it.

use crate::evidence::Evidence;
use crate::trace::{Step, Trace};
use scrimp_system::{Describe, EventCode, Fault, FaultRecord};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Verified,
    Violated,
    /// A limit, or another property's violation, ended the search first; or the store may have missed states.
    Undecided,
}

#[derive(Debug, Clone)]
pub struct PropertyResult {
    pub name: String,
    pub verdict: Verdict,
    /// The state that violates the property or, for a reachability property, fulfils it; and a run that leads there.
    pub state: Option<Vec<u8>>,
    pub trace: Option<Trace>,
    /// The run goes on for ever: after its last step it is where it was after so many, and begins again from there.
    pub cycle: Option<usize>,
    /// Is there no shorter run?
    pub shortest: bool,
    /// Why a formula about branching time holds or does not; the trace is then its run, as far as that does not branch.
    pub evidence: Option<Evidence>,
    /// The event that ends in a fault in the trace's last state.
    pub fault: Option<(EventCode, Fault)>,
    /// The fault met when the property itself was evaluated there.
    pub condition_fault: Option<Fault>,
    /// Conditions that never happen, so that what is demanded where they do is demanded nowhere.
    pub vacuous: Vec<String>,
    /// The answer, where it is more than yes or no.
    pub answer: Option<String>,
    /// How it was found, where that was not by visiting states.
    pub how: Option<String>,
}

impl PropertyResult {
    /// A property that nothing is known of.
    pub fn undecided(name: impl ToString) -> PropertyResult {
        PropertyResult {
            name: name.to_string(),
            verdict: Verdict::Undecided,
            state: None,
            trace: None,
            cycle: None,
            shortest: false,
            evidence: None,
            fault: None,
            condition_fault: None,
            vacuous: Vec::new(),
            answer: None,
            how: None,
        }
    }

    pub fn fault_record(&self) -> Option<FaultRecord> {
        self.fault.map(|(event, fault)| FaultRecord { event, fault })
    }

    /// The trace step by step, up to the event that ends in the fault if there is one.
    pub fn single_steps(&self, model: &dyn Describe) -> Option<Vec<Step>> {
        self.trace.as_ref().map(|trace| trace.single_steps(model, self.fault_record()))
    }

    /// Where the loop of a run that goes on for ever begins among its single steps: before this one, or behind the last
    /// where nothing more can happen.
    pub fn loop_among(&self, steps: &[Step]) -> Option<usize> {
        let completes = |edges: usize| steps.iter().enumerate().filter(|(_, step)| step.edge.is_some()).nth(edges);
        self.cycle.map(|cycle| match cycle.checked_sub(1) {
            None => 0,
            Some(edges) => completes(edges).map_or(steps.len(), |(last, _)| last + 1),
        })
    }
}
