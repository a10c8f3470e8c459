//! Plain breadth-first search in a table, on one thread or several.

use crate::checkpoint::{get_position, put_position};
use crate::choices::StoreChoice;
use crate::graph::InDegrees;
use crate::outcome::{Ended, Outcome, Position};
use crate::run::{Done, Task};
use crate::store::{Store, Table};
use crate::{breadth_first, parallel};
use std::io::{self, Read};

/// A table, and where the search in it stands.
pub(crate) struct Plain {
    table: Option<Table>,
    pub position: Position,
    in_degrees: InDegrees,
}

/// The name of this store in a checkpoint.
pub(crate) const STAGE: &str = "table";

pub(crate) fn search<'m>(task: &Task<'m, '_>) -> io::Result<Done<'m>> {
    let mut plain = match task.saved()? {
        Some((_, mut from)) => Plain::resume(task, &mut *from)?,
        None => Plain::new(task)?,
    };
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
        let Task { model, plan, budget, .. } = *task;
        Ok(Plain {
            table: Some(Table::new(model.state_bytes(), budget.clone())?),
            position: Position::default(),
            in_degrees: InDegrees::new(plan.options.in_degrees, budget.clone()),
        })
    }

    /// A search that was saved.
    pub fn resume(task: &Task, from: &mut dyn Read) -> io::Result<Plain> {
        let mut plain = Plain::new(task)?;
        plain.position = get_position(from)?;
        plain.table().refill(from)?;
        plain.in_degrees.give_up();
        if plain.table().len() < plain.position.level_end() as usize {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a checkpoint without its states"));
        }
        Ok(plain)
    }

    fn table(&mut self) -> &mut Table {
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
        let Plain { table, position, in_degrees } = self;
        let table = table.as_mut().expect("the table is away only while threads share it");
        Ok(breadth_first::search(model, table, check, control, in_degrees, position))
    }

    /// Saves the search, if it paused for that or a limit was reached.
    pub fn save(&mut self, task: &Task, ended: &Ended) {
        if let (Some(saver), Ended::Paused | Ended::Limit(_)) = (task.saver, ended) {
            let Plain { table, position, .. } = self;
            saver.save(STAGE, &mut |to| {
                put_position(to, position)?;
                table.as_ref().map_or(Ok(()), |table| table.save(to))
            });
        }
    }

    pub fn done<'m>(mut self, ended: Ended) -> Done<'m> {
        let store_bytes = self.table().bytes();
        let outcome = Outcome::of_plain(ended, self.position.facts, self.position.levels);
        let store = self.table.map(|table| Box::new(table) as Box<dyn Store>);
        Done { outcome, store, store_bytes, stage: StoreChoice::Table }
    }

    /// Takes the search apart. The table has no other handle.
    pub fn into_parts(mut self) -> (Option<Table>, Position) {
        (self.table.take(), self.position)
    }
}
