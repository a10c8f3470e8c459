//! What is to be done: which search with which parts. The only place that knows.
//!
//! [`Options`] say what the user wants, a [`Question`] what is to be decided, [`ModelFacts`] what the model is like. A plan is a
//! combination that is sound: some search [declares](abilities) that it offers all of it together. What nobody offers is
//! [refused](Refusal), with the reason and the nearest choice that works.

pub mod abilities;
mod choices;
mod combinations;
mod fairness;
mod feature;
mod options;
mod question;
mod refusal;

pub use abilities::Way;
pub use choices::{
    BackedgeChoice, BoundChoice, CacheChoice, CardChoice, CycleChoice, EngineChoice, ForgetChoice, OrderChoice,
    ReduceChoice, StoreChoice, StrategyChoice, VariableChoice,
};
pub use combinations::combinations;
pub use fairness::{FairnessChoice, FairnessKind};
pub use feature::{Feature, Features};
pub use options::Options;
pub use question::{ModelFacts, Question};
pub use refusal::Refusal;

use crate::forget::Strategy;
use abilities::able;
use scrimp_core::{AsExpression, Control, Property, budget};
use std::time::Duration;

/// A sound combination, ready to run. It is made by [`Plan::new`] and changed by [`Plan::instead`] alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    way: Way,
    /// What the search is called.
    name: &'static str,
    order: OrderChoice,
    /// The store, or the first one where it is [chosen](Plan::is_automatic) on the way.
    store: StoreChoice,
    memory: usize,
    question: Question,
    /// Everything else is as it was asked for.
    options: Options,
    /// What was changed, and why.
    decisions: Vec<String>,
}

impl Plan {
    /// The plan of a search that decides these properties together: none, to count states; some of states; or one of runs.
    pub fn new<C: AsExpression>(
        options: &Options,
        properties: &[Property<C>],
        facts: &ModelFacts,
    ) -> Result<Plan, Refusal> {
        Plan::of(options, Question::of(properties, options, facts)?, facts)
    }

    /// The plan of a search that decides a question.
    pub fn of(options: &Options, question: Question, facts: &ModelFacts) -> Result<Plan, Refusal> {
        Plan::admit(options)?;
        let asked = options.features().and(question.asked);
        let Some(ability) = able(asked) else {
            return Err(Refusal::of_conflict(options, Some(&question), asked));
        };
        if let Some((core, why)) = facts.unsuited(asked, options) {
            return Err(Refusal::of_model(options, asked, core, &why));
        }
        let sweeps = options.sweeps();
        let deep = matches!(ability.way, Way::Cycles | Way::Swarm | Way::TogetherComponents | Way::Local);
        let order = options.order.unwrap_or(match () {
            _ if sweeps => OrderChoice::Progress,
            _ if deep => OrderChoice::DepthFirst,
            _ => OrderChoice::BreadthFirst,
        });
        let (mut options, mut decisions) = (options.clone(), Vec::new());
        if let (Some(StoreChoice::Automaton { .. }), Some(strategy)) = (&options.store, options.forget.strategy_mut())
            && *strategy != Strategy::by_chance()
        {
            *strategy = Strategy::by_chance();
            let why = "an automaton keeps no data with a state to choose by";
            decisions.push(format!("--forget {}: {why}", options.forget));
        }
        Ok(Plan {
            way: ability.way,
            name: ability.name,
            order,
            store: options.store.clone().unwrap_or(StoreChoice::Table),
            memory: options.memory.unwrap_or_else(budget::default_memory),
            question,
            options,
            decisions,
        })
    }

    /// The plans of all searches of a run. An option that serves no question is refused; one that is a permission, such as a
    /// reduction, is not used where it cannot be, and the plan says so. More threads than can be used change nothing.
    pub fn all(options: &Options, questions: &[Question], facts: &ModelFacts) -> Result<Vec<Plan>, Refusal> {
        let (mut plans, mut dropped) = (Vec::new(), Vec::new());
        let (mut options, mut unsaved) = (options.clone(), None);
        for question in questions {
            let (mut plan, left_out) = Plan::as_far_as_possible(&options, question.clone(), facts)?;
            plan.decisions.extend(unsaved.clone());
            let Options { checkpoint, resume, .. } = &plan.options;
            if checkpoint.is_some() || resume.is_some() {
                let flag = if checkpoint.is_some() { Feature::Checkpoint } else { Feature::Resume };
                unsaved = Some(format!("{flag} is not used: a file holds one search, the first that can be saved"));
                (options.checkpoint, options.every, options.resume) = (None, None, None);
            }
            plans.push(plan);
            dropped.extend(left_out);
        }
        let serves_none = |(feature, refusal): &&(Feature, Refusal)| {
            let flags = refusal.core.iter().filter(|flag| flag.is_flag()).count();
            (*feature != Feature::Threads || flags > 1)
                && dropped.iter().filter(|(other, _)| other == feature).count() == questions.len()
        };
        match dropped.iter().find(serves_none) {
            Some((_, refusal)) => Err(refusal.clone()),
            None => Ok(plans),
        }
    }

    /// The plan of a search that does without the permissions that it cannot use, and without what is no matter of its
    /// question; and these, each with the reason.
    pub fn as_far_as_possible(
        options: &Options,
        question: Question,
        facts: &ModelFacts,
    ) -> Result<(Plan, Vec<(Feature, Refusal)>), Refusal> {
        let about_runs = question.is_about_runs();
        let no_matter = |f: &Feature| f.is_about_runs() && !about_runs || f.is_about_states() && about_runs;
        let (mut left, mut decisions, mut dropped) = (options.clone(), Vec::new(), Vec::new());
        loop {
            let refusal = match Plan::of(&left, question.clone(), facts) {
                Ok(mut plan) => {
                    plan.decisions.splice(0..0, decisions);
                    return Ok((plan, dropped));
                }
                Err(refusal) => refusal,
            };
            let flags = || refusal.core.iter().filter(|feature| feature.is_flag());
            let Some(feature) = flags().find(no_matter).or_else(|| flags().find(|flag| flag.is_permission())) else {
                return Err(refusal);
            };
            if !no_matter(&feature) {
                decisions.push(format!("{} is not used: {}", left.written(feature), refusal.reason));
            }
            left = left.without(feature);
            dropped.push((feature, refusal));
        }
    }

    /// Refuses options that no question could be answered with.
    pub fn admit(options: &Options) -> Result<(), Refusal> {
        let Options { threads, stride, .. } = options;
        if !(1..=1024).contains(threads) {
            return Err(Refusal::new(
                format!("--threads {threads}: expected a number from 1 to 1024"),
                "leave out --threads: all cores are used where that helps",
            ));
        }
        if let Some(stride) = stride.filter(|stride| !(1..=255).contains(stride)) {
            return Err(Refusal::new(
                format!("--stride {stride}: expected a number from 1 to 255"),
                "use --stride with a number from 1 to 255",
            ));
        }
        let asked = options.features();
        if let Some(refusal) = Refusal::of_needs(options, asked) {
            return Err(refusal);
        }
        match able(asked) {
            Some(_) => Ok(()),
            // What belongs to different questions of one run is told with these.
            None if apart_by_question(options) => Ok(()),
            None => Err(Refusal::of_conflict(options, None, asked)),
        }
    }

    /// Another plan for the same question, with some options changed; says why. Refused like any other.
    pub fn instead(
        &self,
        why: impl Into<String>,
        facts: &ModelFacts,
        change: impl FnOnce(&mut Options),
    ) -> Result<Plan, Refusal> {
        self.for_question(self.question.clone(), why, facts, change)
    }

    /// The same for another question, which has to be answered on the way.
    pub fn for_question(
        &self,
        question: Question,
        why: impl Into<String>,
        facts: &ModelFacts,
        change: impl FnOnce(&mut Options),
    ) -> Result<Plan, Refusal> {
        let mut options = Options { memory: Some(self.memory), ..self.options.clone() };
        change(&mut options);
        let mut plan = Plan::of(&options, question, facts)?;
        plan.options.memory = self.options.memory;
        plan.decisions = self.decisions.clone();
        let why = why.into();
        if !why.is_empty() {
            plan.decisions.push(why);
        }
        Ok(plan)
    }

    /// The same plan with another limit of time: a limit changes nothing of what is done.
    pub fn within(&self, time: Option<Duration>) -> Plan {
        Plan { options: Options { time, ..self.options.clone() }, ..self.clone() }
    }

    /// The same plan for a trial, which may use so much memory: a search for cycles ends there instead of going on in a slower store.
    pub fn tried_within(&self, memory: usize) -> Plan {
        let mut plan = Plan { memory, ..self.clone() };
        if matches!(self.way, Way::Cycles | Way::Swarm | Way::TogetherComponents) {
            plan.options.store.get_or_insert(self.store.clone());
        }
        plan
    }

    /// The same plan for a search that begins again: what was taken up was taken up.
    pub fn afresh(&self) -> Plan {
        Plan { options: Options { resume: None, ..self.options.clone() }, ..self.clone() }
    }

    /// The same plan, which now says which measure was found.
    pub fn measured(&self, measure: String) -> Plan {
        Plan { options: Options { progress: Some(measure), ..self.options.clone() }, ..self.clone() }
    }

    /// The same plan, whose search was seen to gain by a reduction that it [might use](Options::may_reduce).
    pub fn reducing(&self) -> Plan {
        let options = Options { reduce: ReduceChoice::Persistent(None), may_reduce: false, ..self.options.clone() };
        Plan { options, ..self.clone() }
    }

    /// Is it about how many states there are?
    pub fn counts(&self) -> bool {
        self.question.asked.has(Feature::Count)
    }

    pub fn way(&self) -> Way {
        self.way
    }

    pub fn order(&self) -> OrderChoice {
        self.order
    }

    pub fn store(&self) -> &StoreChoice {
        &self.store
    }

    pub fn memory(&self) -> usize {
        self.memory
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    pub fn decisions(&self) -> &[String] {
        &self.decisions
    }

    /// Tells what was changed before the search, so that its report says so.
    pub fn say_decisions(&self, control: &Control) {
        self.decisions.iter().for_each(|decision| control.say(decision.clone()));
    }

    /// Does it go level by level, so that the depth of a state is that of its level?
    pub fn is_by_level(&self) -> bool {
        self.way != Way::General && self.order == OrderChoice::BreadthFirst
    }

    /// Is the store chosen by how much memory there is, and changed when there is not enough?
    pub fn is_automatic(&self) -> bool {
        self.way == Way::Staged
    }

    /// How often the search is saved.
    pub fn every(&self) -> Duration {
        self.options.every.unwrap_or(Duration::from_secs(600))
    }

    /// What must agree when a search is taken up again: all but limits, threads and files.
    pub fn essence(&self) -> String {
        let Options { progress, heuristic, keep_going, forget, reduce, .. } = &self.options;
        if self.way == Way::General {
            // It saves states one by one, whatever they lie in: how many are kept, and which, may be another matter then.
            let text = forget.to_string();
            let method = text.split([':', '+']).next().unwrap_or_default();
            return format!("general {} {method} {reduce} {progress:?} {heuristic:?} {keep_going}", self.order);
        }
        let Options { seed, layers, backedges, engine, cycles, fair, fair_conditions, .. } = &self.options;
        if self.way == Way::Cycles {
            return format!("cycles {cycles:?} {reduce} {fair} {fair_conditions}");
        }
        let store = match &self.store {
            _ if self.is_automatic() => "automatic".to_string(),
            StoreChoice::Disk(_) => "disk".to_string(),
            store => store.to_string(),
        };
        format!("{} {store} {reduce} {engine} {keep_going} {seed} {layers} {backedges}", self.order)
    }

    /// The same for what is looked at beside the search itself: a file is of one search.
    pub fn unsaved(&self) -> Plan {
        let mut plan = self.clone();
        (plan.options.checkpoint, plan.options.every, plan.options.resume) = (None, None, None);
        plan
    }

    /// Which ancestors a cache's tree keeps: every n-th. To replay states, it must keep all.
    pub fn stride(&self) -> u32 {
        self.options.stride.unwrap_or(if self.options.reconstruct { 1 } else { 8 })
    }

    /// The plan in short words, part by part.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        let options = &self.options;
        let mut parts = vec![
            ("search", self.name.to_string()),
            ("order", self.order.to_string()),
            ("store", self.store.to_string()),
            ("forget", options.forget.to_string()),
            ("reduce", options.reduce.to_string()),
            ("engine", options.engine.to_string()),
            ("threads", options.threads.to_string()),
            ("memory", self.memory.to_string()),
        ];
        if options.engine != EngineChoice::Explicit {
            let by_threads = matches!(self.way, Way::Cluster | Way::ClusterCycles | Way::ClusterShares);
            let forgets = self.way == Way::ClusterShares;
            let told = ["search", "reduce", "engine", "memory"];
            parts.retain(|(part, _)| {
                told.contains(part) || by_threads && *part == "threads" || forgets && *part == "forget"
            });
        }
        if self.way == Way::Gpu && options.memory.is_none() {
            // What is free on the card is known to the card.
            parts.retain(|(part, _)| *part != "memory");
        }
        if matches!(options.engine, EngineChoice::Symbolic(_)) {
            parts.push(("variables", options.variables.to_string()));
            parts.push(("reorder", if options.reorder { "auto" } else { "never" }.to_string()));
            parts.extend(options.dont_care.then(|| ("dont-care", "yes".to_string())));
        }
        parts.extend((options.cycles != CycleChoice::Automatic).then(|| ("cycles", options.cycles.to_string())));
        parts.extend((!options.fair.is_empty()).then(|| ("fair", options.fair.to_string())));
        parts.extend(options.progress.iter().map(|text| ("progress", text.clone())));
        parts.extend(options.heuristic.iter().map(|text| ("heuristic", text.clone())));
        parts.extend(options.chains.then(|| ("chains", "yes".to_string())));
        if matches!(options.forget, ForgetChoice::Cache(_) | ForgetChoice::Sweep(Some(_))) {
            parts.push(("stride", self.stride().to_string()));
        }
        parts.extend(options.reconstruct.then(|| ("reconstruct", "yes".to_string())));
        if matches!(self.store, StoreChoice::Automaton { .. }) {
            parts.push(("layers", options.layers.to_string()));
        }
        parts.extend(options.time.map(|time| ("time", format!("{}s", time.as_secs_f64()))));
        parts.extend(options.visits.map(|visits| ("visits", visits.to_string())));
        parts
    }

    /// Why a part of the plan is as it is.
    pub fn reason(&self, part: &str) -> &'static str {
        match part {
            "order" if self.options.sweeps() => match self.order {
                OrderChoice::DepthFirst => "lowest progress first; of those with equal progress, the one found last",
                OrderChoice::Random => "lowest progress first; among equal progress, any at random",
                _ => OrderChoice::Progress.reason(),
            },
            "order" => self.order.reason(),
            "store" => self.store.reason(),
            "forget" => self.options.forget.reason(),
            "reduce" if self.options.may_reduce => {
                "every event is explored, unless the first states of a large model show that leaving some out pays"
            }
            "reduce" => self.options.reduce.reason(),
            "engine" => self.options.engine.reason(),
            "variables" if self.options.variables == VariableChoice::Given => "in the order of their declarations",
            "variables" => "those that events touch together stand together",
            "reorder" if self.options.reorder => "the order changes when diagrams grow",
            "dont-care" => "any set between the reduced step and the whole one will do: the one with fewest nodes",
            "cycles" => self.options.cycles.reason(),
            "fair" => match self.options.fair.strongest() {
                Some(FairnessKind::Strong) if self.options.fair.chosen.is_empty() => {
                    "strong fairness: a process that is enabled again and again moves again and again"
                }
                _ if self.options.fair.chosen.is_empty() => {
                    "weak fairness: a process that stays enabled moves again and again"
                }
                _ => {
                    "WF: a process that stays enabled moves again and again; SF: one that is enabled again and again does"
                }
            },
            "chains" => "states with one successor do not stay for the cache's sake",
            "stride" => "the cache's tree keeps some ancestors of open states, not all",
            "reconstruct" => "closed ancestors of open states are kept as an event and what it led from",
            "layers" => "which byte of a state each layer of the automaton stands for",
            "memory" if self.options.memory.is_some() => "as asked for",
            "memory" => "nine tenths of what is free now",
            _ => "",
        }
    }
}

/// Do these options go together once those that are about runs, and those about states, are held apart?
fn apart_by_question(options: &Options) -> bool {
    let without = |spare: fn(Feature) -> bool| {
        let left = options.features().iter().filter(|f| !spare(*f));
        left.fold(Features::default(), Features::with)
    };
    able(without(Feature::is_about_runs)).is_some() || able(without(Feature::is_about_states)).is_some()
}
