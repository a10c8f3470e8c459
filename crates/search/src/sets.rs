//! Searches over stores without numbers: makes the set that a plan asks for and goes through the states with it.

use crate::choices::{OrderChoice, StoreChoice};
use crate::deep::{Deep, Path};
use crate::graph::GraphFacts;
use crate::outcome::Outcome;
use crate::queued::{Course, Queued};
use crate::run::{Done, Task, invalid};
use crate::store::{BitState, Compact, Locked, Set, Tree, Whole};
use std::io;

pub(crate) fn search<'m>(task: &Task<'m, '_>) -> io::Result<Done<'m>> {
    let mut set = new_set(task)?;
    if task.plan.options.threads > 1 && set.share().is_none() {
        set = Box::new(Locked::new(set));
    }
    let outcome =
        if task.plan.order == OrderChoice::DepthFirst { deep(task, &mut *set)? } else { queued(task, &mut *set)? };
    Ok(Done { outcome, store_bytes: set.bytes(), store: None, omission: set.omission() })
}

fn new_set(task: &Task) -> io::Result<Box<dyn Set>> {
    let Task { model, plan, budget, .. } = *task;
    match &plan.options.store {
        StoreChoice::Table => Ok(Box::new(Whole::new(model.state_bytes(), budget.clone())?)),
        StoreChoice::Tree => Ok(Box::new(Tree::new(model.state_bytes(), budget)?)),
        StoreChoice::Compact(bits) => Ok(Box::new(Compact::new(model.state_bytes(), *bits, budget)?)),
        StoreChoice::BitState(mib) => Ok(Box::new(BitState::new(model.state_bytes(), *mib, budget)?)),
        other => Err(invalid(format!("store {other} is no set"))),
    }
}

fn queued(task: &Task, set: &mut dyn Set) -> io::Result<Outcome> {
    let Task { model, check, plan, control, budget, .. } = *task;
    let mut course = Course::new(set.key_bytes(), budget)?;
    let search = Queued { model, check, control, threads: plan.options.threads };
    let ended = match search.begin(set, &mut course) {
        Ok(()) => search.search(set, &mut course),
        Err(ended) => ended,
    };
    Ok(Outcome { beside_bytes: course.pool.bytes(), ..Outcome::of_plain(ended, course.facts(set.len()), Vec::new()) })
}

fn deep(task: &Task, set: &mut dyn Set) -> io::Result<Outcome> {
    let mut path = Path::new(set.key_bytes(), task.budget)?;
    let ended = Deep::new(task.model, task.check, task.control).search(set, &mut path);
    let facts = GraphFacts { states: set.len(), open: path.stack.len(), ..path.facts };
    Ok(Outcome { beside_bytes: path.stack.bytes(), ..Outcome::of_plain(ended, facts, Vec::new()) })
}
