//! Puts the parts of a plan together and searches with them by the general loop: on one thread, or on several, each with a share
//! of the states and parts of its own.

use crate::check::Check;
use crate::engine::{self, Front, Parts, Rank, Saved, Share, Standing, Threads};
use crate::forget::{Cache, Forget, Nothing, Passing, PseudoRoot, Strategy, Sweep, Tree};
use crate::held::Held;
use crate::lts::Observer;
use crate::order::{Among, Levels, Order, Random, Ranked, Releasing, Sweeping, Width};
use crate::outcome::{Ended, Outcome};
use crate::plan::{CacheChoice, ForgetChoice, OrderChoice, Plan, ReduceChoice, StoreChoice};
use crate::reduce::{AllEvents, EdgeLean, Expansion, Reduce, Sleeping};
use crate::set_bfs::layers;
use crate::store::{Archived, Collapse, ComBack, IndexedTree, LayerOrder, Replaying, Store, Table};
use crate::sync::{Mutex, start, thread};
use crate::task::{Done, Guide, Guides, Task, invalid};
use scrimp_core::{Budget, Control, Limit};
use scrimp_system::Model;
use std::io;
use std::sync::{Arc, PoisonError};

/// Sources drawn at a time, where each thread draws its own.
const DRAWN: usize = 64;

/// States of each share at which a line stands together.
const WIDE: usize = 256;
/// Shares have numbers of one byte.
pub const MOST_SHARES: usize = 256;

/// What a search has of its own: one for each thread.
struct Kit<'a> {
    store: Box<dyn Store + Send + 'a>,
    order: Box<dyn Order + Send>,
    forget: Box<dyn Forget + Send + 'a>,
    reduce: Box<dyn Reduce>,
    sleeping: Option<Sleeping>,
    standing: Standing,
}

/// Who searches the rest of the states.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Nobody,
    Threads,
    Processes,
}

/// One of so many shares of the states.
#[derive(Clone, Copy)]
struct Part {
    number: usize,
    of: usize,
    others: Others,
}

impl Part {
    /// Its part of the states that may be stored.
    fn of_states(self, most: usize) -> usize {
        (most + self.number) / self.of
    }
}

pub(crate) fn search<'m>(task: &Task<'m, '_>, guides: Guides) -> io::Result<Done<'m>> {
    let Task { model, check, plan, control, budget, observer, .. } = *task;
    let Guides { progress, heuristic, front, .. } = guides;
    let of = plan.options().threads.min(MOST_SHARES);
    let layers = match plan.store() {
        StoreChoice::Automaton { .. } => layers(task, &LayerOrder::sample(model))?,
        _ => Vec::new(),
    };
    let others = if of == 1 { Others::Nobody } else { Others::Threads };
    let mut kits: Vec<Kit<'m>> =
        (0..of).map(|number| kit(task, Part { number, of, others }, &layers)).collect::<io::Result<_>>()?;
    let (scene, told) = (Scene { model, check, plan, control, budget, progress, heuristic }, Told { front, observer });
    take_up(task, scene, &mut kits)?;
    let outcome = loop {
        let outcome = match &mut kits[..] {
            [kit] => search_with(scene, kit, told, None)?,
            kits => divided(scene, kits, told)?,
        };
        save(task, &kits, &outcome.ended);
        if outcome.ended != Ended::Paused {
            break outcome;
        }
        control.paused();
    };
    let stage = task.plan.store().clone();
    let held = match kits.pop() {
        Some(kit) if of == 1 && !kit.store.regains() => Held::Store(kit.store),
        last => Held::Set(kits.iter().chain(&last).map(|kit| kit.store.bytes()).sum()),
    };
    Ok(Done { outcome, held, stage, instead: None })
}

/// Searches one share of the states, where other processes search the rest; with the bytes of its store.
pub(crate) fn search_share(task: &Task, guides: Guides, share: Share) -> io::Result<(Outcome, usize)> {
    let Task { model, check, plan, control, budget, .. } = *task;
    let Guides { progress, heuristic, .. } = guides;
    let part = Part { number: share.number, of: share.exchange.shares(), others: Others::Processes };
    let mut kit = kit(task, part, &[])?;
    let scene = Scene { model, check, plan, control, budget, progress, heuristic };
    let outcome = search_with(scene, &mut kit, Told::default(), Some(share))?;
    Ok((outcome, kit.store.bytes()))
}

/// Takes up the search that was saved, if one is to be: each share reads of all states those that are its own.
fn take_up(task: &Task, scene: Scene, kits: &mut [Kit]) -> io::Result<()> {
    let exchange = &Threads::new(kits.len(), scene.model.state_bytes());
    let alone = kits.len() == 1;
    let mut visits = 0;
    for (number, kit) in kits.iter_mut().enumerate() {
        if let Some((_, mut from)) = task.saved()? {
            let share = (!alone).then_some(Share { exchange, number });
            let mut standing = Standing::default();
            with_parts(scene, kit, Told::default(), share, |parts| engine::restore(parts, &mut standing, &mut *from))?;
            visits += standing.visits();
            kit.standing = standing;
        }
    }
    task.control.take_up(visits);
    Ok(())
}

/// Saves the search, if it paused for that or a limit was reached. One that ran out of memory was in the midst of its sources: its
/// last checkpoint stands.
fn save(task: &Task, kits: &[Kit], ended: &Ended) {
    let midst = matches!(ended, Ended::Limit(Limit::Memory | Limit::Cache));
    if let (Some(saver), true) = (task.saver, midst) {
        saver.tell_unsaved();
    }
    if let (Some(saver), Ended::Paused | Ended::Limit(_), false) = (task.saver, ended, midst) {
        let shares: Vec<Saved> = kits
            .iter()
            .map(|kit| Saved { store: &*kit.store, order: &*kit.order, forget: &*kit.forget, standing: &kit.standing })
            .collect();
        saver.save("general", &mut |to| engine::save(&shares, task.model.state_bytes(), to));
    }
}

/// The parts of one share; `layers` are those of an automaton, where that is the store.
fn kit<'m>(task: &Task<'m, '_>, part: Part, layers: &[u32]) -> io::Result<Kit<'m>> {
    let sleeping = (task.plan.options().reduce == ReduceChoice::PersistentSleep)
        .then(|| Sleeping::new(task.model.dependence().map_err(invalid)?, task.budget))
        .transpose()?;
    Ok(Kit {
        store: store(task, part, layers)?,
        order: if part.others == Others::Nobody { order(task) } else { order_of_share(task, part) },
        forget: forget(task, part)?,
        reduce: reduce(task)?,
        sleeping,
        standing: Standing::default(),
    })
}

fn store<'m>(task: &Task<'m, '_>, part: Part, layers: &[u32]) -> io::Result<Box<dyn Store + Send + 'm>> {
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
    if let StoreChoice::Automaton { .. } = plan.store() {
        let seed = plan.options().seed ^ part.number as u64;
        return Ok(Box::new(Archived::new(model, layers, seed, budget)?));
    }
    let table = Table::new(model.state_bytes(), budget.clone())?;
    Ok(Box::new(if keeps { table } else { table.removable()? }))
}

fn order(task: &Task) -> Box<dyn Order + Send> {
    let (plan, seed) = (task.plan, task.plan.options().seed);
    match plan.order() {
        order if plan.options().sweeps() => {
            let sweeping = Sweeping::new(match order {
                OrderChoice::DepthFirst => Among::Newest,
                OrderChoice::Random => Among::Random { seed, most: 1 },
                _ => Among::Oldest,
            });
            let comback = *plan.store() == StoreChoice::ComBack;
            Box::new(if comback { sweeping.returning() } else { sweeping })
        }
        OrderChoice::BreadthFirst => Box::new(Levels::new(Width::BREADTH_FIRST)),
        OrderChoice::DepthFirst => Box::new(Levels::new(Width::DEPTH_FIRST)),
        OrderChoice::Bounded(width) => Box::new(Levels::new(Width::Bounded(width))),
        OrderChoice::Alternating(breadth, depth) => Box::new(Levels::new(Width::Alternating { breadth, depth })),
        OrderChoice::Progress | OrderChoice::Best { .. } => Box::new(Ranked::default()),
        OrderChoice::Random => Box::new(Random::new(seed)),
        OrderChoice::Releasing => Box::new(Releasing::default()),
    }
}

/// The order in one share of the states. All shares stand at one line: the sweep-line, a level, or nothing in particular.
fn order_of_share(task: &Task, part: Part) -> Box<dyn Order + Send> {
    let seed = task.plan.options().seed ^ (part.number as u64) << 32;
    let order = Sweeping::new(match task.plan.order() {
        OrderChoice::Random => Among::Random { seed, most: DRAWN },
        _ => Among::Oldest,
    });
    // Levels are kept apart; of other ranks, so many come together that a round is worth its while. Processes visit what one of them
    // would visit alone.
    let by_level = task.plan.order() == OrderChoice::BreadthFirst && !task.plan.options().sweeps();
    let order = if by_level || part.others == Others::Processes { order } else { order.wide(WIDE) };
    Box::new(if task.plan.options().sweeps() { order } else { order.returning() })
}

fn forget<'m>(task: &Task<'m, '_>, part: Part) -> io::Result<Box<dyn Forget + Send + 'm>> {
    let Task { model, plan, budget, with_traces, .. } = *task;
    let options = plan.options();
    let comback = *plan.store() == StoreChoice::ComBack;
    let archives = matches!(plan.store(), StoreChoice::Automaton { .. });
    let cache = |choice: &CacheChoice| {
        let most = choice.most.map_or(usize::MAX, |most| part.of_states(most));
        let tree = Tree { chains: options.chains, stride: plan.stride() };
        let cache = Cache::new(most, choice.strategy.clone(), tree, options.seed, budget)?;
        if part.others == Others::Nobody { Ok(cache) } else { cache.shared(part.number as u8, budget) }
    };
    Ok(match &options.forget {
        // Backedges lead back by themselves; links between shares, and to states without ids, are not kept.
        ForgetChoice::Nothing => {
            // A search that was taken up does not know how it found what it had found.
            let known = !comback && !archives && part.others == Others::Nobody && options.resume.is_none();
            Box::new(Nothing::new(with_traces && known, budget)?)
        }
        ForgetChoice::Sweep(None) if comback => Box::new(Passing::default()),
        ForgetChoice::Cache(choice) if options.reconstruct => Box::new(cache(choice)?.stripping()),
        ForgetChoice::Cache(choice) if archives => Box::new(cache(choice)?.archiving()),
        ForgetChoice::Cache(choice) => Box::new(cache(choice)?),
        ForgetChoice::Sweep(choice) => Box::new(Sweep::new(choice.as_ref().map(cache).transpose()?, budget)?),
        ForgetChoice::PseudoRoot(most) => {
            let cache = cache(&CacheChoice { most: *most, strategy: Strategy::default() })?;
            Box::new(
                PseudoRoot::new(model, cache, options.reduce != ReduceChoice::Nothing, budget)?
                    .releasing(plan.order() == OrderChoice::Releasing),
            )
        }
    })
}

fn reduce(task: &Task) -> io::Result<Box<dyn Reduce>> {
    Ok(match task.plan.options().reduce {
        ReduceChoice::Nothing | ReduceChoice::Symmetry { .. } => Box::new(AllEvents),
        ReduceChoice::Persistent(_) | ReduceChoice::PersistentSleep => {
            (task.reduce)(Expansion::Stateless).unwrap_or(Box::new(AllEvents))
        }
        ReduceChoice::EdgeLean => {
            Box::new(EdgeLean::new(task.model.independence().ok_or_else(|| invalid(EdgeLean::UNSUITED))?))
        }
    })
}

/// What all threads have in common.
#[derive(Clone, Copy)]
struct Scene<'a> {
    model: &'a dyn Model,
    check: &'a dyn Check,
    plan: &'a Plan,
    control: &'a Control,
    budget: &'a Arc<Budget>,
    progress: Option<&'a Guide<'a>>,
    heuristic: Option<&'a Guide<'a>>,
}

/// Who is told of what the first thread does.
#[derive(Clone, Copy, Default)]
struct Told<'a> {
    front: Option<&'a dyn Fn(Front)>,
    observer: Option<&'a dyn Observer>,
}

fn search_with(scene: Scene, kit: &mut Kit, told: Told, share: Option<Share>) -> io::Result<Outcome> {
    let mut standing = std::mem::take(&mut kit.standing);
    let outcome = with_parts(scene, kit, told, share, |parts| engine::search(parts, &mut standing));
    kit.standing = standing;
    outcome
}

/// Does something with the parts of a search.
fn with_parts<T>(scene: Scene, kit: &mut Kit, told: Told, share: Option<Share>, work: impl FnOnce(Parts) -> T) -> T {
    let Scene { model, check, plan, control, budget, progress, heuristic } = scene;
    let order = plan.order();
    let by_progress = |state: &[u8], _: u32| progress.map_or(0, |progress| progress(state));
    let by_heuristic = |state: &[u8], depth: u32| {
        let value = heuristic.map_or(0, |heuristic| heuristic(state));
        let depth = if order == (OrderChoice::Best { a_star: true }) { depth } else { 0 };
        value.saturating_add(depth as u128)
    };
    let by_depth = |_: &[u8], depth: u32| depth as u128;
    let rank: Option<&Rank> = match order {
        _ if plan.options().sweeps() => Some(&by_progress),
        OrderChoice::Progress => Some(&by_progress),
        OrderChoice::Best { .. } => Some(&by_heuristic),
        OrderChoice::BreadthFirst if share.is_some() => Some(&by_depth),
        _ => None,
    };
    work(Parts {
        model,
        store: &mut *kit.store,
        order: &mut *kit.order,
        forget: &mut *kit.forget,
        reduce: &mut *kit.reduce,
        sleeping: kit.sleeping.as_mut(),
        check,
        control,
        budget,
        rank,
        most_visits: plan.options().visits.unwrap_or(u64::MAX),
        front: told.front,
        observer: told.observer,
        by_level: order == OrderChoice::BreadthFirst
            && matches!(plan.options().forget, ForgetChoice::Nothing | ForgetChoice::PseudoRoot(_)),
        share,
    })
}

/// Searches on one thread for each kit.
fn divided(scene: Scene, kits: &mut [Kit], told: Told) -> io::Result<Outcome> {
    let exchange = &Threads::new(kits.len(), scene.model.state_bytes());
    // Nobody begins before all are there.
    let gate = &Mutex::new(false);
    let outcomes = thread::scope(|scope| {
        let mut opened = gate.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, rest) = kits.split_first_mut().expect("at least one thread");
        let mut threads = Vec::new();
        for (kit, number) in rest.iter_mut().zip(1..) {
            let work = move || {
                let opened = *gate.lock().unwrap_or_else(PoisonError::into_inner);
                opened.then(|| search_with(scene, kit, Told::default(), Some(Share { exchange, number })))
            };
            threads.push(start(scope, work)?);
        }
        *opened = true;
        drop(opened);
        let first = search_with(scene, first, told, Some(Share { exchange, number: 0 }));
        let joined = threads.into_iter().filter_map(|thread| thread.join().ok().flatten());
        std::iter::once(first).chain(joined).collect::<io::Result<Vec<_>>>()
    });
    exchange.pass_on_panics();
    Ok(outcomes?.into_iter().reduce(together).expect("at least one thread"))
}

/// What two shares found out.
fn together(mut one: Outcome, other: Outcome) -> Outcome {
    one.facts.add(&other.facts);
    one.forget.add(&other.forget);
    one.visits += other.visits;
    one.once &= other.once;
    one.beside_bytes += other.beside_bytes;
    if !one.once || one.facts.level_sizes.iter().sum::<u64>() != one.facts.states {
        one.facts.level_sizes.clear();
    }
    // One that has decided ends the search of all; so does one that cannot go on.
    let weight = |ended: &Ended| match ended {
        Ended::Decided => 4,
        Ended::Unsuited(_) => 3,
        // Then nothing of it can be saved, whatever limit another one has met.
        Ended::Limit(Limit::Memory | Limit::Cache) => 2,
        Ended::Limit(_) | Ended::Paused => 1,
        Ended::Complete => 0,
    };
    if weight(&other.ended) > weight(&one.ended) {
        one.ended = other.ended;
    }
    one
}
