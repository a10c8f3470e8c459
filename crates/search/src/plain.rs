//! Plain breadth-first search in a store with numbers, on one thread or several.

use crate::graph::InDegrees;
use crate::outcome::{Outcome, Position};
use crate::run::{Done, Task};
use crate::store::{Store, Table};
use crate::{breadth_first, parallel};
use std::io;

pub(crate) fn search<'m>(task: &Task<'m, '_>) -> io::Result<Done<'m>> {
    let Task { model, check, plan, control, budget, .. } = *task;
    let threads = plan.options.threads;
    let mut table = Table::new(model.state_bytes(), budget.clone())?;
    let mut position = Position::default();
    let ended = if threads == 1 {
        let mut in_degrees = InDegrees::new(plan.options.in_degrees, budget.clone());
        breadth_first::search(model, &mut table, check, control, &mut in_degrees, &mut position)
    } else {
        let (searched, ended) = parallel::search(model, table, check, control, threads, &mut position)?;
        table = searched;
        ended
    };
    let outcome = Outcome::of_plain(ended, position.facts, position.levels);
    Ok(Done { outcome, store_bytes: table.bytes(), store: Some(Box::new(table)) })
}
