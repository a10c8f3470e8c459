//! Plain breadth-first search in a table, or in one of collapsed states, on one thread or several.

use crate::checkpoint::{get_position, put_position};
use crate::choices::StoreChoice;
use crate::graph::InDegrees;
use crate::outcome::{Ended, Outcome, Position};
use crate::run::{Done, Task};
use crate::store::table::Concurrent;
use crate::store::{Collapse, Store, Table};
use crate::{breadth_first, parallel};
use std::io::{self, Read};

/// A table, and where the search in it stands.
pub(crate) struct Plain<S = Table> {
    table: Option<S>,
    stage: StoreChoice,
    pub position: Position,
    in_degrees: InDegrees,
}

/// The name of this store in a checkpoint.
pub(crate) const STAGE: &str = "table";

pub(crate) fn search<'m>(task: &Task<'m, '_>) -> io::Result<Done<'m>> {
    match task.plan.store {
        StoreChoice::Collapse => {
            search_with(task, Plain::with(task, Collapse::new(task.model, task.budget)?, StoreChoice::Collapse))
        }
        _ => search_with(task, Plain::new(task)?),
    }
}

fn search_with<'m, S: Concurrent + 'm>(task: &Task<'m, '_>, mut plain: Plain<S>) -> io::Result<Done<'m>> {
    if let Some((_, mut from)) = task.saved()? {
        plain.refill(&mut *from)?;
    }
    loop {
        let ended = plain.go_on(task)?;
        plain.save(task, &ended);
        if ended != Ended::Paused {
            return Ok(plain.done(ended));
        }
    }
}

impl Plain {
    pub fn new(task: &Task) -> io::Result<Plain> {
        Ok(Plain::with(task, Table::new(task.model.state_bytes(), task.budget.clone())?, StoreChoice::Table))
    }

    /// A search that was saved.
    pub fn resume(task: &Task, from: &mut dyn Read) -> io::Result<Plain> {
        let mut plain = Plain::new(task)?;
        plain.refill(from)?;
        Ok(plain)
    }
}

impl<S: Concurrent> Plain<S> {
    fn with(task: &Task, store: S, stage: StoreChoice) -> Plain<S> {
        let in_degrees = InDegrees::new(task.plan.options.in_degrees, task.budget.clone());
        Plain { table: Some(store), stage, position: Position::default(), in_degrees }
    }

    /// Takes up a search that was saved.
    fn refill(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.position = get_position(from)?;
        self.table().refill(from)?;
        self.in_degrees.give_up();
        if self.table().len() < self.position.level_end() as usize {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a checkpoint without its states"));
        }
        Ok(())
    }

    fn table(&mut self) -> &mut S {
        self.table.as_mut().expect("the table is away only while threads share it")
    }

    pub fn store(&self) -> Option<&dyn Store> {
        self.table.as_ref().map(|table| table as &dyn Store)
    }

    /// Goes on until the search ends or pauses.
    pub fn go_on(&mut self, task: &Task) -> io::Result<Ended> {
        let Task { model, check, plan, control, .. } = *task;
        if plan.options.threads > 1 {
            let table = self.table.take().expect("the table is away only while threads share it");
            let position = &mut self.position;
            let (table, ended) = parallel::search(model, table, check, control, plan.options.threads, position)?;
            self.table = Some(table);
            return Ok(ended);
        }
        let Plain { table, position, in_degrees, .. } = self;
        let table = table.as_mut().expect("the table is away only while threads share it");
        Ok(breadth_first::search(model, table, check, control, in_degrees, position))
    }

    /// Saves the search, if it paused for that or a limit was reached.
    pub fn save(&mut self, task: &Task, ended: &Ended) {
        if let (Some(saver), Ended::Paused | Ended::Limit(_)) = (task.saver, ended) {
            let Plain { table, position, stage, .. } = self;
            saver.save(&stage.to_string(), &mut |to| {
                put_position(to, position)?;
                table.as_ref().map_or(Ok(()), |table| table.save(to))
            });
        }
    }

    pub fn done<'m>(mut self, ended: Ended) -> Done<'m>
    where
        S: 'm,
    {
        let store_bytes = self.table().bytes();
        let outcome = Outcome::of_plain(ended, self.position.facts, self.position.levels);
        let store = self.table.map(|table| Box::new(table) as Box<dyn Store>);
        Done { outcome, store, store_bytes, stage: self.stage, omission: None }
    }

    /// Takes the search apart. The table has no other handle.
    pub fn into_parts(mut self) -> (Option<S>, Position) {
        (self.table.take(), self.position)
    }
}
