//! What can be said before a search: what it does when memory is used up, how many states there are at least, and what would help.

use crate::facts::facts;
use crate::properties;
use scrimp_core::Control;
use scrimp_native::NativeModel;
use scrimp_report::number::grouped;
use scrimp_search::estimate::Estimate;
use scrimp_search::plan::{EngineChoice, ReduceChoice, StrategyChoice, Way};
use scrimp_search::{ModelFacts, Options, Plan, run};
use scrimp_system::Model;
use std::io;

/// The most states of a sample, and what part of the memory they may take.
const SAMPLE: u64 = 1 << 18;
const SHARE: usize = 8;
/// States that are looked at for what a reduction would leave out.
const LOOK: u64 = 5_000;

/// What a search does when memory is used up, where it does anything.
pub fn fallback(plan: &Plan) -> Option<String> {
    let left_to_us = plan.options().store.is_none();
    match plan.way() {
        Way::Staged => Some(match &plan.options().disk {
            Some(dir) => format!("a tree, then files in {}", dir.display()),
            None => "a tree, then an automaton, then, starting over, forgetting what can be found again".into(),
        }),
        Way::Cycles if left_to_us => Some("starting over in a tree".into()),
        Way::Local if left_to_us => Some("starting over in store collapse, then in store comback".into()),
        _ => None,
    }
}

/// What a short look at the model shows.
pub struct Foresight {
    pub state_bytes: usize,
    pub estimate: Estimate,
    /// Options that would help, each with the reason.
    pub advice: Vec<String>,
}

impl Foresight {
    /// Looks at some states of a model that is to be searched by this plan.
    pub fn new(model: &NativeModel, plan: &Plan) -> io::Result<Foresight> {
        let state_bytes = model.state_bytes();
        let most = (plan.memory() / SHARE / (state_bytes + 16)) as u64;
        let estimate = Estimate::sample(model, SAMPLE.min(most).max(1))?;
        let advice = if estimate.complete { Vec::new() } else { advice(model, plan, &estimate) };
        Ok(Foresight { state_bytes, estimate, advice })
    }
}

/// What would help a model that a sample does not exhaust: only what would be accepted, and, of a reduction, what is seen to
/// leave events out.
fn advice(model: &NativeModel, plan: &Plan, estimate: &Estimate) -> Vec<String> {
    let mut advice = Vec::new();
    let options = plan.options();
    let facts = |change: &dyn Fn(&mut Options)| {
        let mut changed = options.clone();
        change(&mut changed);
        plan.instead("", &facts(model, &changed), |options| *options = changed.clone()).is_ok()
    };
    let por = |options: &mut Options| options.reduce = ReduceChoice::Persistent(None);
    if facts(&por)
        && let Some(left) = left_by_reduction(model)
        && left < 70
    {
        advice.push(format!("--reduce por: of the first {} states it explores {left} % of the events", grouped(LOOK)));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores > 1 && options.threads == 1 && facts(&|options| options.threads = cores) {
        advice.push(format!("--threads {cores}: as many as this machine has"));
    }
    let room = plan.memory() as f64 / estimate.in_tree.max(1.0);
    if (estimate.seen as f64) > room / 4.0 && facts(&|options| options.disk = Some(".".into())) {
        advice.push("--disk DIR: sorted files take over when memory is used up".into());
    }
    if estimate.expected.is_none() && facts(&|o| o.engine = EngineChoice::Symbolic(StrategyChoice::Automatic)) {
        advice.push("--engine symbolic: sets of states at once, where there are far too many to visit".into());
    }
    advice
}

/// How many of a hundred events a reduction explores in the first states.
fn left_by_reduction(model: &NativeModel) -> Option<u64> {
    let look = |reduce: ReduceChoice| {
        let options = Options { reduce, visits: Some(LOOK), ..Options::default() };
        let properties = properties::all(model);
        let plan = Plan::new(&options, &properties, &ModelFacts::of(model)).ok()?;
        let report = run(model, &properties, &plan, &Control::new(None)).ok()?;
        Some(report.facts.transitions as f64 / report.visits.max(1) as f64)
    };
    let (all, some) = (look(ReduceChoice::Nothing)?, look(ReduceChoice::Persistent(None))?);
    Some((100.0 * some / all.max(0.01)).round() as u64)
}
