//! Carries a plan out and says what came of it.

use crate::budget::{Budget, Control, Limit, peak_resident, resident};
use crate::check::{self, Check, Finding, Property, Safety};
use crate::engine::{self, Ended, Outcome, Parts};
use crate::graph::{GraphFacts, InDegrees};
use crate::order::BreadthFirst;
use crate::plan::{OrderChoice, Plan};
use crate::store::{Store, Table};
use crate::trace::Trace;
use crate::{depth_first, forget, parallel, reduce};
use scrimp_system::{EventCode, Fault, Model};
use std::io;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Verified,
    Violated,
    /// A limit, or another property's violation, ended the search first.
    Undecided,
}

#[derive(Debug, Clone)]
pub struct PropertyResult {
    pub name: String,
    pub verdict: Verdict,
    /// The run that violates the property or, for a reachability property, fulfils it.
    pub trace: Option<Trace>,
    /// The event that ends in a fault in the trace's last state.
    pub fault: Option<(EventCode, Fault)>,
    /// The fault met when the property itself was evaluated there.
    pub condition_fault: Option<Fault>,
}

/// Everything a run has to say.
#[derive(Debug, Clone)]
pub struct Report {
    /// The limit that ended the search before its work was done.
    pub limit: Option<Limit>,
    /// True when every reachable state was visited.
    pub exhaustive: bool,
    pub facts: GraphFacts,
    pub properties: Vec<PropertyResult>,
    pub state_bytes: usize,
    /// Bytes of the store when the search ended.
    pub store_bytes: usize,
    pub peak_resident: Option<usize>,
    pub elapsed: Duration,
}

impl Report {
    /// Bytes of the store for each state.
    pub fn bytes_per_state(&self) -> f64 {
        self.store_bytes as f64 / self.facts.states.max(1) as f64
    }
}

/// Searches `model` by `plan` for what decides `properties`; with none, visits all states. Fails when the search cannot
/// begin: no memory for it, no threads.
pub fn run(model: &dyn Model, properties: &[Property], plan: &Plan, control: &Control) -> io::Result<Report> {
    if model.state_bytes() == 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a model's states must have at least one byte"));
    }
    let budget = Arc::new(Budget::new(plan.memory));
    if budget.left() == 0 {
        let used = resident().unwrap_or(0).div_ceil(1 << 20);
        let message =
            format!("the program itself and the model use {used} MiB of memory already; allow more than that");
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, message));
    }
    let safety = Safety::new(properties, plan.keep_going);
    let check: &dyn Check = if properties.is_empty() { &check::Nothing } else { &safety };
    let mut table = Table::new(model.state_bytes(), budget.clone())?;
    let outcome = match (plan.order, plan.threads) {
        (OrderChoice::DepthFirst, _) => depth_first::search(model, &mut table, check, control, &budget),
        (OrderChoice::BreadthFirst, 1) => engine::search(Parts {
            model,
            store: &mut table,
            order: &mut BreadthFirst::default(),
            forget: &mut forget::Nothing,
            reduce: &mut reduce::AllEvents,
            check,
            control,
            in_degrees: &mut InDegrees::new(plan.in_degrees, budget.clone()),
        }),
        (OrderChoice::BreadthFirst, threads) => {
            let (shared, outcome) = parallel::search(model, table, check, control, threads)?;
            table = shared;
            outcome
        }
    };
    let elapsed = control.elapsed();
    let results = settle(model, &table, properties, safety.into_findings(), &outcome);
    control.finish();
    let limit = match outcome.ended {
        Ended::Limit(limit) => Some(limit),
        _ => None,
    };
    Ok(Report {
        limit,
        exhaustive: outcome.ended == Ended::Complete,
        facts: outcome.facts,
        properties: results,
        state_bytes: model.state_bytes(),
        store_bytes: table.bytes(),
        peak_resident: peak_resident(),
        elapsed,
    })
}

/// The verdict on each property, with its trace where one state decided it.
fn settle(
    model: &dyn Model,
    store: &dyn Store,
    properties: &[Property],
    findings: Vec<Finding>,
    outcome: &Outcome,
) -> Vec<PropertyResult> {
    let result = |(i, property): (usize, &Property)| {
        let finding = findings.iter().find(|f| f.property == i);
        let violates = property.finding_violates();
        let verdict = match (finding.is_some(), outcome.ended) {
            (true, _) if violates => Verdict::Violated,
            (true, _) => Verdict::Verified,
            (false, Ended::Complete) if violates => Verdict::Verified,
            (false, Ended::Complete) => Verdict::Violated,
            (false, _) => Verdict::Undecided,
        };
        PropertyResult {
            name: property.name.clone(),
            verdict,
            trace: finding.and_then(|f| trace_to(model, store, f, outcome)),
            fault: finding.and_then(|f| f.fault),
            condition_fault: finding.and_then(|f| f.condition_fault),
        }
    };
    properties.iter().enumerate().map(result).collect()
}

fn trace_to(model: &dyn Model, store: &dyn Store, finding: &Finding, outcome: &Outcome) -> Option<Trace> {
    if let Some(path) = &finding.path {
        return Trace::along(model, store, path);
    }
    Trace::backwards(model, store, &outcome.levels, &finding.state, finding.depth)
}
