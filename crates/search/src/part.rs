//! Searches one share of the states by the general loop, where other processes search the rest.

use crate::check::{self, Check, Finding, Safety};
use crate::engine::Share;
use crate::general;
use crate::outcome::Outcome;
use crate::plan::{Plan, Way};
use crate::reduce::PorConfig;
use crate::task::{Guides, Task, invalid};
use scrimp_core::{Budget, Condition, Control, Property};
use scrimp_system::Model;
use std::io;
use std::sync::Arc;

pub use crate::general::MOST_SHARES;
pub use crate::outcome::Ended;

/// What came of a share.
#[derive(Debug)]
pub struct OfShare {
    pub outcome: Outcome,
    /// The states that decide properties.
    pub findings: Vec<Finding>,
    pub store_bytes: usize,
}

/// Searches a share of the states of `model` by `plan`, within a budget that others may spend from, too. Whoever searches the rest goes
/// by a plan that is the same; what is between them ends the search of all where one of them cannot go on.
pub fn run_share(
    model: &dyn Model,
    properties: &[Property<Condition>],
    plan: &Plan,
    control: &Control,
    budget: &Arc<Budget>,
    guides: Guides,
    share: Share,
) -> io::Result<OfShare> {
    if !matches!(plan.way(), Way::General | Way::Staged) {
        return Err(invalid("internal error: no plan for one share of the states"));
    }
    let safety = Safety::new(properties, plan.options().keep_going);
    let reduction = PorConfig::of_plan(model, properties, plan)?;
    let reduce = move |manner| reduction.as_ref().map(|reduction| reduction.make(manner));
    let task = Task {
        model,
        check: if properties.is_empty() { &check::Nothing as &dyn Check } else { &safety },
        plan,
        control,
        budget,
        saver: None,
        observer: None,
        with_traces: false,
        reduce: &reduce,
        offer: &|| false,
    };
    let (outcome, store_bytes) = general::search_share(&task, guides, share)?;
    Ok(OfShare { outcome, findings: safety.into_findings(), store_bytes })
}
