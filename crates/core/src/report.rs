//! Everything a run has to say.

use crate::budget::{Limit, peak_resident};
use crate::facts::{CardFacts, ClusterFacts, DiskFacts, ForgetFacts, FormulaFacts, OrbitFacts, SetFacts};
use crate::graph::GraphFacts;
use crate::omission::Omission;
use crate::verdict::PropertyResult;
use scrimp_system::Model;
use std::time::Duration;

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Report {
    /// The limit that ended the search before its work was done.
    pub limit: Option<Limit>,
    /// True when every reachable state was visited.
    pub exhaustive: bool,
    /// What the store has probably missed, where it may take different states for one: counts are then lower bounds.
    pub omission: Option<Omission>,
    /// True when no state was visited twice, so that the facts are those of the state space.
    pub once: bool,
    pub facts: GraphFacts,
    /// True when deadlocks, run-time errors, open states and degrees were counted: who looks for runs does not.
    pub detailed: bool,
    /// States expanded, each time counted.
    pub visits: u64,
    pub forget: ForgetFacts,
    /// Different states visited, where an audit was asked for.
    pub audited: Option<u64>,
    pub properties: Vec<PropertyResult>,
    pub state_bytes: usize,
    /// Bytes of the store, and of what is kept beside it, when the search ended.
    pub store_bytes: usize,
    /// How many states there may be in all, from how the levels grew, where the search did not come to its end.
    pub expected: Option<f64>,
    /// Of the visits, those that a saved search had made before it was taken up.
    pub visits_before: u64,
    /// What a search on disk has to say about the disk.
    pub disk: Option<DiskFacts>,
    /// Events or states were left out.
    pub reduced: bool,
    /// The states that were counted are orbits of symmetries.
    pub orbits: Option<OrbitFacts>,
    /// What ran, part by part: order, store, forgetting and so on of the search that came to the end.
    pub ran: Vec<(&'static str, String)>,
    /// The store in which the search ended, where states were stored, and what was decided on the way.
    pub store: Option<String>,
    pub remarks: Vec<String>,
    /// Options that would help a search that ran out of memory, each with the reason.
    pub advice: Vec<String>,
    /// The most tokens in one place and in all places of a marking, where a net's states were counted.
    pub tokens: Option<(u64, u64)>,
    /// What was counted by an engine that computes with sets of states, or with formulas: then no state was visited.
    pub sets: Option<SetFacts>,
    pub formulas: Option<FormulaFacts>,
    /// What a search on a graphics card has to say of the card.
    pub card: Option<CardFacts>,
    /// What a search by several processes has to say of them.
    pub cluster: Option<ClusterFacts>,
    pub peak_resident: Option<usize>,
    pub elapsed: Duration,
}

impl Report {
    /// The report of no search at all: what was to be known was known without one.
    pub fn of_nothing(model: &dyn Model, elapsed: Duration) -> Report {
        Report {
            limit: None,
            exhaustive: false,
            omission: None,
            once: true,
            facts: GraphFacts::default(),
            detailed: false,
            visits: 0,
            forget: ForgetFacts::default(),
            audited: None,
            properties: Vec::new(),
            state_bytes: model.state_bytes(),
            store_bytes: 0,
            expected: None,
            visits_before: 0,
            disk: None,
            reduced: false,
            orbits: None,
            ran: Vec::new(),
            store: None,
            remarks: Vec::new(),
            advice: Vec::new(),
            tokens: None,
            sets: None,
            formulas: None,
            card: None,
            cluster: None,
            peak_resident: peak_resident(),
            elapsed,
        }
    }

    /// Did the model itself make every successor, so that what it noted on the way is all there was?
    pub fn ran_the_model(&self) -> bool {
        self.sets.is_none() && self.formulas.is_none() && self.card.is_none() && self.cluster.is_none()
    }

    /// The memory that the process took for the states found so far, and, where the levels shrink, what all states may need in
    /// the store that the search ended in. Where memory was what ended the search.
    pub fn memory_needed(&self) -> Option<(usize, Option<usize>)> {
        let at_least = self.peak_resident.unwrap_or(0).max(self.store_bytes);
        // The size of an automaton says nothing of that of a larger one.
        let in_proportion = !self.store.as_ref().is_some_and(|store| store.starts_with("dfa"));
        let more = self
            .expected
            .filter(|_| in_proportion)
            .map(|expected| (expected / self.facts.states.max(1) as f64 - 1.0).max(0.0));
        let all = more.map(|more| at_least + (self.store_bytes as f64 * more) as usize);
        matches!(self.limit, Some(Limit::Memory | Limit::Cache)).then_some((at_least, all))
    }

    /// Bytes of the store for each state that it held.
    pub fn bytes_per_state(&self) -> f64 {
        self.store_bytes as f64 / self.forget.stored_peak.max(1) as f64
    }
}
