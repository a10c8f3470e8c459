//! `count`: visits every state and says how many there are.

use crate::check::Setting;
use crate::error::CheckError;
use crate::facts::{examined, facts_of};
use crate::load::Loaded;
use crate::net::PetriNet;
use crate::search::{Found, Host, Searcher};
use crate::{engines, files, guides};
use scrimp_search::plan::ReduceChoice;
use scrimp_search::{Plan, Question};
use scrimp_system::{Stop, System};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A model whose states are to be counted.
pub struct Count {
    loaded: Loaded,
    setting: Setting,
    plan: Plan,
}

impl Count {
    /// Plans the search; refuses what cannot be done.
    pub fn new(mut loaded: Loaded, setting: &Setting) -> Result<Count, CheckError> {
        files::admit(&setting.options)?;
        engines::admit(&setting.options)?;
        if matches!(setting.options.reduce, ReduceChoice::Symmetry { .. }) {
            loaded.keep_alike()?;
        }
        guides::admit(&loaded.system, &setting.options)?;
        let model = examined(&loaded.system, &setting.options)?;
        let facts = facts_of(&loaded.system, model.as_ref(), &setting.options);
        let plan = setting.open.decide(Plan::of(&setting.options, Question::count(), &facts)?, &facts);
        drop(facts);
        Ok(Count { loaded, setting: setting.clone(), plan })
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn system(&self) -> &Arc<System> {
        &self.loaded.system
    }

    /// Why a net has infinitely many markings; `None` where that is not so, or not known.
    pub fn infinite(&mut self, stop: &Stop) -> Option<String> {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let patience = stop.deadline().map_or(Duration::MAX, left);
        let why = self.loaded.net.as_mut()?.why_unbounded(patience, self.plan.memory())?;
        Some(format!("there are infinitely many states: {why}"))
    }

    pub fn run(self, host: &mut dyn Host) -> Result<(), CheckError> {
        let Count { mut loaded, setting, mut plan } = self;
        let mut searcher = Searcher { host, mode: setting.mode, cluster: setting.cluster.clone() };
        let searched = loaded.states(&mut searcher, &setting, false, &mut plan, |_| Ok(Vec::new()))?;
        let (model, mut report) = (searched.model, searched.report);
        // Sets of states tell it by themselves; what was visited before a search was taken up was not counted.
        if report.ran_the_model() {
            report.tokens = model.most_tokens().filter(|_| setting.options.resume.is_none());
        }
        report.remarks.extend(loaded.net.as_ref().map(PetriNet::told));
        searcher.host.found(Found {
            model: &model,
            plan: &plan,
            report,
            with_claim: false,
            coverage: None,
            graph: searched.graph,
            searches: None,
            for_graph: false,
            beside: false,
            left: Vec::new(),
        });
        Ok(())
    }
}
