//! What can be said before a search: what it does when memory is used up, how many states there are at least, and what would help;
//! and after one that ran out of memory, what would have.

use crate::facts::facts;
use crate::properties;
use scrimp_core::{Control, Limit, Report, cores};
use scrimp_gpu::{Card, Fit};
use scrimp_native::NativeModel;
use scrimp_report::number::grouped;
use scrimp_search::estimate::Estimate;
use scrimp_search::plan::{CardChoice, EngineChoice, FairnessKind, ReduceChoice, StoreChoice, StrategyChoice, Way};
use scrimp_search::{ModelFacts, Options, Plan, run};
use scrimp_system::Model;
use std::io;

/// The most states of a sample, and what part of the memory they may take.
const SAMPLE: u64 = 1 << 18;
const SHARE: usize = 8;
/// States that are looked at for what a reduction would leave out: at most, and at least to say anything.
const LOOK: u64 = 5_000;
const FEWEST: u64 = 500;
/// What these find may take this part of the memory, if each has so many successors.
const PART: usize = 16;
const SUCCESSORS: usize = 8;

/// What a search does when memory is used up, where it does anything.
pub fn fallback(plan: &Plan) -> Option<String> {
    let left_to_us = plan.options().store.is_none();
    match plan.way() {
        Way::Staged => Some(match &plan.options().disk {
            Some(dir) => format!("a tree, then files in {}", dir.display()),
            None => "a tree, then an automaton, then, starting over, forgetting what can be found again".into(),
        }),
        // A tree gives no state ids, which strong fairness needs.
        Way::Cycles if plan.options().fair.strongest() == Some(FairnessKind::Strong) => None,
        Way::ClusterCycles => Some("starting over in trees".into()),
        Way::Cycles if left_to_us => Some("starting over in a tree".into()),
        Way::Local if left_to_us => Some("starting over in store collapse, then in store comback".into()),
        _ => None,
    }
}

/// What a short look at the model shows.
pub struct Foresight {
    pub state_bytes: usize,
    pub estimate: Estimate,
    /// How states lie on a graphics card, where one is to search.
    pub card: Option<Fit>,
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
        let fit = || scrimp_gpu::fit(model, model.system(), model.layout(), plan.memory());
        let card = (plan.way() == Way::Gpu).then(fit).transpose().map_err(io::Error::other)?;
        Ok(Foresight { state_bytes, estimate, card, advice })
    }
}

/// What would help a model that a sample does not exhaust: only what would be accepted, and, of a reduction, what is seen to
/// leave events out.
fn advice(model: &NativeModel, plan: &Plan, estimate: &Estimate) -> Vec<String> {
    let mut advice = Vec::new();
    let may = |change: &dyn Fn(&mut Options)| may(model, plan, change);
    advice.extend(reduction(model, plan));
    let cores = cores();
    if cores > 1 && plan.options().threads == 1 && may(&|options| options.threads = cores) {
        advice.push(format!("--threads {cores}: as many as this machine has"));
    }
    let room = plan.memory() as f64 / estimate.in_tree.max(1.0);
    if (estimate.seen as f64) > room / 4.0 && may(&on_disk) {
        advice.push(DISK.into());
    }
    let on_a_card = |options: &mut Options| {
        (options.engine, options.threads) = (EngineChoice::Gpu(CardChoice::Number(0)), 1);
    };
    if may(&on_a_card) && Card::find(0).is_ok() {
        advice.push("--engine gpu: this machine has a graphics card".into());
    }
    if estimate.expected.is_none() && may(&|o| o.engine = EngineChoice::Symbolic(StrategyChoice::Automatic)) {
        advice.push("--engine symbolic: sets of states at once, where there are far too many to visit".into());
    }
    advice
}

/// What would help a search that ran out of memory, beside more of it: only what it was not told, and would be accepted.
pub(crate) fn remedies(model: &NativeModel, plan: &Plan, report: &Report) -> Vec<String> {
    let out_of_memory = matches!(report.limit, Some(Limit::Memory | Limit::Cache));
    let Options { engine, disk, store, .. } = plan.options();
    if !out_of_memory || *engine != EngineChoice::Explicit {
        return Vec::new();
    }
    let may = |change: &dyn Fn(&mut Options)| may(model, plan, change);
    let mut advice: Vec<String> = reduction(model, plan).into_iter().collect();
    if disk.is_none() && !matches!(store, Some(StoreChoice::Disk(_))) && may(&on_disk) {
        advice.push(DISK.into());
    }
    // Some automata take hardly more than a few bits a state.
    let bits = StoreChoice::BitState((plan.memory() >> 20) * 3 / 4);
    let with_bits = |options: &mut Options| (options.store, options.disk) = (Some(bits.clone()), None);
    if report.omission.is_none() && report.bytes_per_state() > 1.0 && may(&with_bits) {
        advice.push(format!("--store {bits}: a few bits a state; states may be missed, so that nothing is verified"));
    }
    advice
}

/// Would this change of the options be accepted?
fn may(model: &NativeModel, plan: &Plan, change: &dyn Fn(&mut Options)) -> bool {
    let mut changed = plan.options().clone();
    change(&mut changed);
    plan.instead("", &facts(model, &changed), |options| *options = changed.clone()).is_ok()
}

const DISK: &str = "--disk DIR: sorted files take over when memory is used up";

fn on_disk(options: &mut Options) {
    options.disk = Some(".".into());
}

/// A reduction that was not asked for, where it is seen to leave events out.
fn reduction(model: &NativeModel, plan: &Plan) -> Option<String> {
    let por = |options: &mut Options| options.reduce = ReduceChoice::Persistent(None);
    let wanted = plan.options().reduce == ReduceChoice::Nothing && may(model, plan, &por);
    let room = plan.memory() / PART / SUCCESSORS / (model.state_bytes() + 16);
    let visits = Some(LOOK.min(room as u64)).filter(|&visits| wanted && visits >= FEWEST)?;
    let left = left_by_reduction(model, visits).filter(|&left| left < 70)?;
    Some(format!("--reduce por: of the first {} states it explores {left} % of the events", grouped(visits)))
}

/// How many of a hundred events a reduction explores in so many states.
fn left_by_reduction(model: &NativeModel, visits: u64) -> Option<u64> {
    let look = |reduce: ReduceChoice| {
        let options = Options { reduce, visits: Some(visits), ..Options::default() };
        let properties = properties::all(model);
        let plan = Plan::new(&options, &properties, &ModelFacts::of(model)).ok()?;
        let report = run(model, &properties, &plan, &Control::new(None)).ok()?;
        Some(report.facts.transitions as f64 / report.visits.max(1) as f64)
    };
    let (all, some) = (look(ReduceChoice::Nothing)?, look(ReduceChoice::Persistent(None))?);
    Some((100.0 * some / all.max(0.01)).round() as u64)
}
