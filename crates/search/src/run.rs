//! Carries a plan out and says what came of it.

use crate::budget::{Budget, Control, Limit, peak_resident, resident};
use crate::check::{self, Audit, Check, Finding, Property, Safety, Target};
use crate::choices::{CacheChoice, ForgetChoice, OrderChoice, ReduceChoice, StoreChoice};
use crate::engine::{self, Front, Parts, Rank};
use crate::forget::{Cache, Forget, ForgetFacts, Nothing, Passing, PseudoRoot, Strategy, Sweep, Tree};
use crate::graph::{GraphFacts, InDegrees};
use crate::order::{Levels, Order, Random, Ranked, Releasing, Sweeping, Width};
use crate::outcome::{Ended, Outcome};
use crate::plan::Plan;
use crate::reduce::{AllEvents, EdgeLean, Reduce};
use crate::store::{ComBack, Replaying, Store, Table};
use crate::trace::Trace;
use crate::{breadth_first, parallel};
use scrimp_system::{Batch, EventCode, Fault, Model};
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
    /// The state that violates the property or, for a reachability property, fulfils it; and a run that leads there.
    pub state: Option<Vec<u8>>,
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
    /// True when no state was visited twice, so that the facts are those of the state space.
    pub once: bool,
    pub facts: GraphFacts,
    /// States expanded, each time counted.
    pub visits: u64,
    pub forget: ForgetFacts,
    /// Different states visited, where an audit was asked for.
    pub audited: Option<u64>,
    pub properties: Vec<PropertyResult>,
    pub state_bytes: usize,
    /// Bytes of the store, and of what is kept beside it, when the search ended.
    pub store_bytes: usize,
    pub peak_resident: Option<usize>,
    pub elapsed: Duration,
}

impl Report {
    /// Bytes of the store for each state that it held.
    pub fn bytes_per_state(&self) -> f64 {
        self.store_bytes as f64 / self.forget.stored_peak.max(1) as f64
    }
}

/// A value for each state.
pub type Guide<'a> = dyn Fn(&[u8]) -> u128 + 'a;

/// What a search may be guided by: functions of a state that the model's owner knows.
#[derive(Default)]
pub struct Guides<'a> {
    /// The progress measure.
    pub progress: Option<&'a Guide<'a>>,
    /// The heuristic for best-first order; low values come first.
    pub heuristic: Option<&'a Guide<'a>>,
    /// Is told whenever the sweep-line has moved.
    pub front: Option<&'a dyn Fn(Front)>,
}

/// Searches `model` by `plan` for what decides `properties`; with none, visits all states. Fails when the search cannot
/// begin: no memory for it, no threads, a model that does not suit the plan.
pub fn run(model: &dyn Model, properties: &[Property], plan: &Plan, control: &Control) -> io::Result<Report> {
    run_guided(model, properties, plan, control, Guides::default())
}

/// [`run`], for plans that follow a progress measure or a heuristic.
pub fn run_guided(
    model: &dyn Model,
    properties: &[Property],
    plan: &Plan,
    control: &Control,
    guides: Guides,
) -> io::Result<Report> {
    if model.state_bytes() == 0 {
        return Err(invalid("a model's states must have at least one byte"));
    }
    if let ForgetChoice::PseudoRoot(_) = plan.options.forget {
        // What runs the model backwards is made here, before the budget looks at what is used already.
        model.suits_predecessors().map_err(|e| invalid(format!("pseudo-root states need predecessors, but {e}")))?;
    }
    let budget = Arc::new(Budget::new(plan.memory));
    if budget.left() == 0 {
        let used = resident().unwrap_or(0).div_ceil(1 << 20);
        let message =
            format!("the program itself and the model use {used} MiB of memory already; allow more than that");
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, message));
    }
    let safety = Safety::new(properties, plan.options.keep_going);
    let check: &dyn Check = if properties.is_empty() { &check::Nothing } else { &safety };
    let audit = plan.options.audit.then(|| Audit::new(check));
    let check = audit.as_ref().map_or(check, |audit| audit);
    let comback = plan.options.store == StoreChoice::ComBack;
    let new_comback = || {
        let store = ComBack::new(model, plan.options.backedges, plan.options.cached, &budget)?;
        if plan.options.forget == ForgetChoice::Nothing { Ok(store) } else { store.sweeping() }
    };
    let new_table = || Table::new(model.state_bytes(), budget.clone());
    let (store, outcome): (Box<dyn Store>, _) = if !plan.is_plain() {
        let mut store: Box<dyn Store> = if comback {
            Box::new(new_comback()?)
        } else if plan.options.reconstruct {
            Box::new(Replaying::new(model, &budget)?)
        } else if plan.options.forget == ForgetChoice::Nothing {
            Box::new(new_table()?)
        } else {
            Box::new(new_table()?.removable()?)
        };
        let outcome = guided(model, &mut *store, check, plan, control, &budget, guides, !properties.is_empty())?;
        (store, outcome)
    } else if plan.options.threads == 1 {
        let mut in_degrees = InDegrees::new(plan.options.in_degrees, budget.clone());
        let mut store: Box<dyn Store> = if comback { Box::new(new_comback()?) } else { Box::new(new_table()?) };
        let outcome = breadth_first::search(model, &mut *store, check, control, &mut in_degrees);
        (store, outcome)
    } else {
        let (table, outcome) = parallel::search(model, new_table()?, check, control, plan.options.threads)?;
        (Box::new(table), outcome)
    };
    if let Ended::Unsuited(reason) = &outcome.ended {
        return Err(invalid(reason));
    }
    let elapsed = control.elapsed();
    let audited = audit.as_ref().map(Audit::distinct);
    drop(audit);
    let store_bytes = store.bytes() + outcome.beside_bytes;
    let properties = settle(model, store, properties, safety.into_findings(), &outcome, plan, control);
    control.finish();
    let limit = match outcome.ended {
        Ended::Limit(limit) => Some(limit),
        _ => None,
    };
    Ok(Report {
        limit,
        exhaustive: outcome.ended == Ended::Complete,
        once: outcome.once,
        facts: outcome.facts,
        visits: outcome.visits,
        forget: outcome.forget,
        audited,
        properties,
        state_bytes: model.state_bytes(),
        store_bytes,
        peak_resident: peak_resident(),
        elapsed,
    })
}

fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason.into())
}

/// Puts the parts of a plan together and searches with them.
#[allow(clippy::too_many_arguments)] // each is used once, here
fn guided(
    model: &dyn Model,
    store: &mut dyn Store,
    check: &dyn Check,
    plan: &Plan,
    control: &Control,
    budget: &Arc<Budget>,
    guides: Guides,
    with_traces: bool,
) -> io::Result<Outcome> {
    let Guides { progress, heuristic, front } = guides;
    let options = &plan.options;
    let comback = options.store == StoreChoice::ComBack;
    let mut order: Box<dyn Order> = match plan.order {
        OrderChoice::BreadthFirst => Box::new(Levels::new(Width::BREADTH_FIRST)),
        OrderChoice::DepthFirst => Box::new(Levels::new(Width::DEPTH_FIRST)),
        OrderChoice::Bounded(width) => Box::new(Levels::new(Width::Bounded(width))),
        OrderChoice::Alternating(breadth, depth) => Box::new(Levels::new(Width::Alternating { breadth, depth })),
        OrderChoice::Progress if matches!(options.forget, ForgetChoice::Sweep(_)) => {
            Box::new(if comback { Sweeping::returning() } else { Sweeping::new() })
        }
        OrderChoice::Progress | OrderChoice::Best { .. } => Box::new(Ranked::default()),
        OrderChoice::Random => Box::new(Random::new(options.seed)),
        OrderChoice::Releasing => Box::new(Releasing::default()),
    };
    let by_progress = |state: &[u8], _: u32| progress.map_or(0, |progress| progress(state));
    let by_heuristic = |state: &[u8], depth: u32| {
        let value = heuristic.map_or(0, |heuristic| heuristic(state));
        let depth = if plan.order == (OrderChoice::Best { a_star: true }) { depth } else { 0 };
        value.saturating_add(depth as u128)
    };
    let rank: Option<&Rank> = match plan.order {
        OrderChoice::Progress => Some(&by_progress),
        OrderChoice::Best { .. } => Some(&by_heuristic),
        _ => None,
    };
    let cache = |choice: &CacheChoice| {
        let most = choice.most.unwrap_or(usize::MAX);
        let tree = Tree { chains: options.chains, stride: plan.stride() };
        Cache::new(most, choice.strategy.clone(), tree, options.seed, budget)
    };
    let mut forget: Box<dyn Forget> = match &options.forget {
        // Backedges lead back by themselves.
        ForgetChoice::Nothing => Box::new(Nothing::new(with_traces && !comback, budget)?),
        ForgetChoice::Sweep(None) if comback => Box::new(Passing::default()),
        ForgetChoice::Cache(choice) if options.reconstruct => Box::new(cache(choice)?.stripping()),
        ForgetChoice::Cache(choice) => Box::new(cache(choice)?),
        ForgetChoice::Sweep(choice) => Box::new(Sweep::new(choice.as_ref().map(cache).transpose()?, budget)?),
        ForgetChoice::PseudoRoot(most) => {
            let cache = cache(&CacheChoice { most: *most, strategy: Strategy::default() })?;
            Box::new(PseudoRoot::new(model, cache, plan.order == OrderChoice::Releasing, budget)?)
        }
    };
    let mut reduce: Box<dyn Reduce> = match options.reduce {
        ReduceChoice::Nothing => Box::new(AllEvents),
        ReduceChoice::EdgeLean => {
            let unknown = "edge-lean search must know which events are independent, and this model does not say: a product with a property process, or very many events";
            Box::new(EdgeLean::new(model.independence().ok_or_else(|| invalid(unknown))?))
        }
    };
    engine::search(Parts {
        model,
        store,
        order: &mut *order,
        forget: &mut *forget,
        reduce: &mut *reduce,
        check,
        control,
        budget,
        rank,
        most_visits: options.visits.unwrap_or(u64::MAX),
        front,
    })
}

/// The verdict on each property, with its trace where one state decided it.
fn settle(
    model: &dyn Model,
    store: Box<dyn Store + '_>,
    properties: &[Property],
    findings: Vec<Finding>,
    outcome: &Outcome,
    plan: &Plan,
    control: &Control,
) -> Vec<PropertyResult> {
    let at_hand = |f: &Finding| match &f.path {
        Some(path) => Trace::through(model, path),
        None if let Some(path) = way_to(model, &*store, &f.state) => Trace::through(model, &path),
        None if outcome.levels.is_empty() => None,
        None => Trace::backwards(model, &*store, &outcome.levels, &f.state, f.depth),
    };
    let mut traces: Vec<Option<Trace>> = findings.iter().map(at_hand).collect();
    // What the first search held makes room for the second.
    drop(store);
    for (finding, trace) in findings.iter().zip(&mut traces) {
        if trace.is_none() {
            *trace = search_again(model, &finding.state, plan, control);
        }
    }
    let result = |(i, property): (usize, &Property)| {
        let found = findings.iter().position(|f| f.property == i);
        let finding = found.map(|at| &findings[at]);
        let violates = property.finding_violates();
        let verdict = match (finding.is_some(), &outcome.ended) {
            (true, _) if violates => Verdict::Violated,
            (true, _) => Verdict::Verified,
            (false, Ended::Complete) if violates => Verdict::Verified,
            (false, Ended::Complete) => Verdict::Violated,
            (false, _) => Verdict::Undecided,
        };
        PropertyResult {
            name: property.name.clone(),
            verdict,
            state: finding.map(|f| f.state.clone()),
            trace: found.and_then(|at| traces[at].clone()),
            fault: finding.and_then(|f| f.fault),
            condition_fault: finding.and_then(|f| f.condition_fault),
        }
    };
    properties.iter().enumerate().map(result).collect()
}

/// The states on the way to a state, where the store knows them.
fn way_to(model: &dyn Model, store: &dyn Store, state: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut batch = Batch::new(model.state_bytes());
    batch.push(state, 0);
    let id = store.find(&batch, 0)?;
    let mut way = store.ancestors(id)?;
    way.reverse();
    way.push(id);
    let load = |id| {
        let mut state = vec![0; model.state_bytes()];
        store.load(id, &mut state);
        state
    };
    Some(way.into_iter().map(load).collect())
}

/// A run to a state that a search found and whose ancestors it forgot: found by a second search within the same memory,
/// whose cache keeps the ancestors of what is open. Breadth-first, for a short run; depth-first where that takes too much.
fn search_again(model: &dyn Model, state: &[u8], plan: &Plan, control: &Control) -> Option<Trace> {
    for width in [Width::BREADTH_FIRST, Width::Bounded(256), Width::DEPTH_FIRST] {
        let budget = Arc::new(Budget::new(plan.memory));
        let target = Target::new(state);
        let mut store = Table::new(model.state_bytes(), budget.clone()).and_then(Table::removable).ok()?;
        let tree = Tree { chains: false, stride: 1 };
        let mut cache = Cache::new(usize::MAX, Strategy::default(), tree, plan.options.seed, &budget).ok()?;
        let outcome = engine::search(Parts {
            model,
            store: &mut store,
            order: &mut Levels::new(width),
            forget: &mut cache,
            reduce: &mut AllEvents,
            check: &target,
            control,
            budget: &budget,
            rank: None,
            most_visits: u64::MAX,
            front: None,
        })
        .ok()?;
        drop((store, cache));
        match outcome.ended {
            Ended::Decided => return target.into_path().and_then(|path| Trace::through(model, &path)),
            Ended::Limit(Limit::Memory) => continue,
            _ => return None,
        }
    }
    None
}
