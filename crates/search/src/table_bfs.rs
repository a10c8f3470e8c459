//! Plain breadth-first search in a table, on one thread or several.

use crate::breadth_first::Worker;
use crate::checkpoint::{get_position, impossible, put_position};
use crate::estimate;
use crate::graph::InDegrees;
use crate::held::Held;
use crate::outcome::{Ended, Outcome, Position};
use crate::plan::StoreChoice;
use crate::reduce::{Expansion, Grounded};
use crate::store::table::Concurrent;
use crate::store::{Collapse, ComBack, Store, Table};
use crate::task::{Done, Task};
use crate::{breadth_first, parallel};
use std::io::{self, Read};

/// A store with numbers, and where the search in it stands.
pub(crate) struct TableBfs<S> {
    store: Option<S>,
    stage: StoreChoice,
    pub position: Position,
    in_degrees: InDegrees,
    grounded: Grounded,
}

pub(crate) fn search<'m>(task: &Task<'m, '_>) -> io::Result<Done<'m>> {
    let Task { model, plan, budget, .. } = *task;
    match plan.store() {
        StoreChoice::Collapse => search_in(task, Collapse::new(model, budget)?),
        StoreChoice::ComBack => {
            search_in(task, ComBack::new(model, plan.options().backedges, plan.options().cached, budget)?)
        }
        _ => search_in(task, Table::new(model.state_bytes(), budget.clone())?),
    }
}

fn search_in<'m, S: Threaded + 'm>(task: &Task<'m, '_>, store: S) -> io::Result<Done<'m>> {
    let mut plain = TableBfs::new(task, store, task.plan.store().clone());
    if let Some((_, mut from)) = task.saved()? {
        plain.resume(&mut *from)?;
        plain.tell_taken_up(task);
    }
    loop {
        let ended = plain.go_on(task)?;
        plain.save(task, &ended);
        if ended != Ended::Paused {
            return Ok(plain.done(ended));
        }
    }
}

/// A store that can be searched by several threads.
pub(crate) trait Threaded: Store + Sized {
    fn search(self, task: &Task, position: &mut Position, grounded: &Grounded) -> io::Result<(Self, Ended)>;
}

impl Threaded for Table {
    fn search(self, task: &Task, position: &mut Position, grounded: &Grounded) -> io::Result<(Table, Ended)> {
        in_parallel(self, task, position, grounded)
    }
}

impl Threaded for Collapse {
    fn search(self, task: &Task, position: &mut Position, grounded: &Grounded) -> io::Result<(Collapse, Ended)> {
        in_parallel(self, task, position, grounded)
    }
}

fn in_parallel<S: Concurrent>(
    store: S,
    task: &Task,
    position: &mut Position,
    grounded: &Grounded,
) -> io::Result<(S, Ended)> {
    let Task { model, check, plan, control, reduce, .. } = *task;
    parallel::search(model, store, check, control, plan.options().threads, position, (reduce, grounded))
}

impl Threaded for ComBack<'_> {
    /// States are rebuilt one after the other: there is no work for a second thread.
    fn search(mut self, task: &Task, position: &mut Position, grounded: &Grounded) -> io::Result<(Self, Ended)> {
        let Task { model, check, control, budget, reduce, .. } = *task;
        control.say("states are rebuilt one after the other: one thread searches");
        let mut in_degrees = InDegrees::new(false, budget.clone());
        in_degrees.give_up();
        let worker = Worker::new(model, check).reducing(reduce(Expansion::Stateful), true).remembering(grounded);
        let ended = breadth_first::search(worker, &mut self, control, &mut in_degrees, position, None);
        Ok((self, ended))
    }
}

impl<S: Threaded> TableBfs<S> {
    pub fn new(task: &Task, store: S, stage: StoreChoice) -> TableBfs<S> {
        let in_degrees = InDegrees::new(task.plan.options().in_degrees, task.budget.clone());
        let grounded = Grounded::new(task.budget.clone());
        TableBfs { store: Some(store), stage, position: Position::default(), in_degrees, grounded }
    }

    /// Becomes the search that was saved.
    pub fn resume(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.position = get_position(from)?;
        self.in_degrees.give_up();
        let store = self.store.as_mut().expect(AWAY);
        store.refill(from)?;
        if store.len() < self.position.level_end() as usize {
            return Err(impossible("more states than there are"));
        }
        Ok(())
    }

    /// Tells those who watch how far the search had come that was taken up.
    pub fn tell_taken_up(&self, task: &Task) {
        let facts = &self.position.facts;
        task.control.take_up(facts.states.saturating_sub(facts.open));
    }

    pub fn store(&self) -> &S {
        self.store.as_ref().expect(AWAY)
    }

    /// Goes on until the search ends or pauses.
    pub fn go_on(&mut self, task: &Task) -> io::Result<Ended> {
        let Task { model, check, plan, control, reduce, .. } = *task;
        let TableBfs { store, position, in_degrees, grounded, .. } = self;
        let (threads, alone_until) = (plan.options().threads, plan.options().alone_until);
        let alone = (store.as_ref().expect(AWAY).len() as u64) < alone_until;
        if threads > 1 && alone {
            control.pause_by_states(alone_until);
        }
        let ended = if threads == 1 || alone {
            let store = store.as_mut().expect(AWAY);
            let observer = task.observer;
            let worker = Worker::new(model, check).reducing(reduce(Expansion::Stateful), true).remembering(grounded);
            breadth_first::search(worker, store, control, in_degrees, position, observer)
        } else {
            let (searched, ended) = store.take().expect(AWAY).search(task, position, grounded)?;
            *store = Some(searched);
            // Nobody counts how often threads come to a state.
            in_degrees.give_up();
            position.facts.max_in_degree = None;
            ended
        };
        if self.store().is_damaged() {
            return Err(impossible("a state that cannot be replayed"));
        }
        Ok(ended)
    }

    /// Saves the search, if it paused for that or a limit was reached.
    pub fn save(&self, task: &Task, ended: &Ended) {
        if let (Some(saver), Ended::Paused | Ended::Limit(_)) = (task.saver, ended) {
            saver.save(&self.stage.to_string(), &mut |to| {
                put_position(to, &self.position)?;
                self.store().save(to)
            });
        }
        task.control.paused();
    }

    pub fn done<'m>(self, ended: Ended) -> Done<'m>
    where
        S: 'm,
    {
        let TableBfs { store, stage, mut position, .. } = self;
        let widths = position.widths();
        position.facts.set_level_sizes(widths.iter().copied());
        let expected = estimate::in_all(&widths).filter(|_| ended != Ended::Complete);
        let outcome = Outcome { expected, ..Outcome::of_plain(ended, position.facts, position.levels) };
        Done { outcome, held: Held::Store(Box::new(store.expect(AWAY))), stage, instead: None }
    }

    /// Takes the search apart.
    pub fn into_parts(self) -> (S, Position) {
        (self.store.expect(AWAY), self.position)
    }
}

const AWAY: &str = "the store is away only while threads share it";
