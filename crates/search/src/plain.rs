//! Plain breadth-first search in a store with numbers, on one thread or several.

use crate::graph::InDegrees;
use crate::run::{Done, Task};
use crate::store::{Store, Table};
use crate::{breadth_first, parallel};
use std::io;

pub(crate) fn search<'m>(task: &Task<'m, '_>) -> io::Result<Done<'m>> {
    let Task { model, check, plan, control, budget, .. } = *task;
    let mut table = Table::new(model.state_bytes(), budget.clone())?;
    let outcome = if plan.options.threads == 1 {
        let mut in_degrees = InDegrees::new(plan.options.in_degrees, budget.clone());
        breadth_first::search(model, &mut table, check, control, &mut in_degrees)
    } else {
        let searched = parallel::search(model, table, check, control, plan.options.threads)?;
        table = searched.0;
        searched.1
    };
    Ok(Done { outcome, store_bytes: table.bytes(), store: Some(Box::new(table)) })
}
