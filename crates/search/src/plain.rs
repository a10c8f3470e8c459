//! Plain breadth-first search in a store with numbers, on one thread or several.

use crate::choices::StoreChoice;
use crate::graph::InDegrees;
use crate::outcome::{Outcome, Position};
use crate::run::{Done, Task};
use crate::store::table::Concurrent;
use crate::store::{Collapse, Table};
use crate::{breadth_first, parallel};
use std::io;

pub(crate) fn search<'m>(task: &Task<'m, '_>) -> io::Result<Done<'m>> {
    let Task { model, plan, budget, .. } = *task;
    match plan.options.store {
        StoreChoice::Collapse => search_in(task, Collapse::new(model, budget)?),
        _ => search_in(task, Table::new(model.state_bytes(), budget.clone())?),
    }
}

fn search_in<'m, S: Concurrent + 'm>(task: &Task<'m, '_>, mut store: S) -> io::Result<Done<'m>> {
    let Task { model, check, plan, control, budget, .. } = *task;
    let threads = plan.options.threads;
    let mut position = Position::default();
    let ended = if threads == 1 {
        let mut in_degrees = InDegrees::new(plan.options.in_degrees, budget.clone());
        breadth_first::search(model, &mut store, check, control, &mut in_degrees, &mut position)
    } else {
        let (searched, ended) = parallel::search(model, store, check, control, threads, &mut position)?;
        store = searched;
        ended
    };
    let outcome = Outcome::of_plain(ended, position.facts, position.levels);
    Ok(Done { outcome, store_bytes: store.bytes(), store: Some(Box::new(store)), omission: None })
}
