//! Puts the parts of a plan together and searches with them by the general loop.

use crate::engine::{self, Parts, Rank};
use crate::forget::{Cache, Forget, Nothing, Passing, PseudoRoot, Strategy, Sweep, Tree};
use crate::held::Held;
use crate::order::{Among, Levels, Order, Random, Ranked, Releasing, Sweeping, Width};
use crate::outcome::Outcome;
use crate::plan::{CacheChoice, ForgetChoice, OrderChoice, ReduceChoice, StoreChoice};
use crate::reduce::{AllEvents, EdgeLean, Expansion, Reduce, Sleeping};
use crate::store::{Collapse, ComBack, IndexedTree, Replaying, Store, Table};
use crate::task::{Done, Guides, Task, invalid};
use std::io;

pub(crate) fn search<'m>(task: &Task<'m, '_>, guides: Guides) -> io::Result<Done<'m>> {
    let mut store = store(task)?;
    let outcome = search_in(task, &mut *store, guides)?;
    let stage = task.plan.store().clone();
    Ok(Done { outcome, held: Held::Store(store), stage, instead: None })
}

fn store<'m>(task: &Task<'m, '_>) -> io::Result<Box<dyn Store + 'm>> {
    let Task { model, plan, budget, .. } = *task;
    if plan.options().reconstruct {
        return Ok(Box::new(Replaying::new(model, budget)?));
    }
    let keeps = plan.options().forget == ForgetChoice::Nothing;
    if *plan.store() == StoreChoice::ComBack {
        let store = ComBack::new(model, plan.options().backedges, plan.options().cached, budget)?;
        return Ok(Box::new(if keeps { store } else { store.sweeping()? }));
    }
    if *plan.store() == StoreChoice::Collapse {
        let store = Collapse::new(model, budget)?;
        return Ok(Box::new(if keeps { store } else { store.removable()? }));
    }
    if *plan.store() == StoreChoice::Tree {
        let store = IndexedTree::of_model(model, budget)?;
        return Ok(Box::new(if keeps { store } else { store.removable()? }));
    }
    let table = Table::new(model.state_bytes(), budget.clone())?;
    Ok(Box::new(if keeps { table } else { table.removable()? }))
}

fn search_in(task: &Task, store: &mut dyn Store, guides: Guides) -> io::Result<Outcome> {
    let Task { model, check, plan, control, budget, with_traces, .. } = *task;
    let Guides { progress, heuristic, front, .. } = guides;
    let options = &plan.options();
    let comback = *plan.store() == StoreChoice::ComBack;
    let sweeps = options.sweeps();
    let mut order: Box<dyn Order> = match plan.order() {
        order if sweeps => {
            let sweeping = Sweeping::new(match order {
                OrderChoice::DepthFirst => Among::Newest,
                OrderChoice::Random => Among::Random { seed: options.seed },
                _ => Among::Oldest,
            });
            Box::new(if comback { sweeping.returning() } else { sweeping })
        }
        OrderChoice::BreadthFirst => Box::new(Levels::new(Width::BREADTH_FIRST)),
        OrderChoice::DepthFirst => Box::new(Levels::new(Width::DEPTH_FIRST)),
        OrderChoice::Bounded(width) => Box::new(Levels::new(Width::Bounded(width))),
        OrderChoice::Alternating(breadth, depth) => Box::new(Levels::new(Width::Alternating { breadth, depth })),
        OrderChoice::Progress | OrderChoice::Best { .. } => Box::new(Ranked::default()),
        OrderChoice::Random => Box::new(Random::new(options.seed)),
        OrderChoice::Releasing => Box::new(Releasing::default()),
    };
    let by_progress = |state: &[u8], _: u32| progress.map_or(0, |progress| progress(state));
    let by_heuristic = |state: &[u8], depth: u32| {
        let value = heuristic.map_or(0, |heuristic| heuristic(state));
        let depth = if plan.order() == (OrderChoice::Best { a_star: true }) { depth } else { 0 };
        value.saturating_add(depth as u128)
    };
    let rank: Option<&Rank> = match plan.order() {
        _ if sweeps => Some(&by_progress),
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
            Box::new(
                PseudoRoot::new(model, cache, options.reduce != ReduceChoice::Nothing, budget)?
                    .releasing(plan.order() == OrderChoice::Releasing),
            )
        }
    };
    let persistent = (task.reduce)(Expansion::Stateless);
    let sleeping = (options.reduce == ReduceChoice::PersistentSleep)
        .then(|| Sleeping::new(model.dependence().map_err(invalid)?, budget))
        .transpose()?;
    let mut reduce: Box<dyn Reduce> = match options.reduce {
        ReduceChoice::Nothing => Box::new(AllEvents),
        ReduceChoice::Persistent(_) | ReduceChoice::PersistentSleep => persistent.unwrap_or(Box::new(AllEvents)),
        ReduceChoice::EdgeLean => {
            let unknown = "edge-lean search must know which events are independent, and this model does not say: a product with a property process, one with events that are tried late or that let a process go on by itself, or very many events";
            Box::new(EdgeLean::new(model.independence().ok_or_else(|| invalid(unknown))?))
        }
    };
    engine::search(Parts {
        model,
        store,
        order: &mut *order,
        forget: &mut *forget,
        reduce: &mut *reduce,
        sleeping,
        check,
        control,
        budget,
        rank,
        most_visits: options.visits.unwrap_or(u64::MAX),
        front,
        observer: task.observer,
        by_level: plan.order() == OrderChoice::BreadthFirst
            && matches!(options.forget, ForgetChoice::Nothing | ForgetChoice::PseudoRoot(_)),
    })
}
