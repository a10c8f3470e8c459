//! Moving a search to a store that takes less, while memory is short: what was moved gives its place up.

use crate::checkpoint::{get_position, impossible};
use crate::held::Held;
use crate::open::{KeyForm, Packed, Pool, Queue};
use crate::outcome::{Ended, Position};
use crate::plan::StoreChoice;
use crate::set_bfs::SetBfs;
use crate::store::{Full, NO_ORIGIN, Set, StateId, Store, Table};
use crate::table_bfs::TableBfs;
use crate::task::{Done, Task};
use scrimp_core::{Control, Limit};
use scrimp_system::Batch;
use std::io::{self, Read};

/// States that move together.
const AT_ONCE: usize = 512;

/// The search in its new store, or what is left to say when its states did not fit, or another limit was reached.
type Moved<'m> = Result<SetBfs, Box<Done<'m>>>;

/// From a table to a set.
pub fn table_to<'m>(task: &Task<'m, '_>, table: TableBfs<Table>, to: SetBfs) -> Moved<'m> {
    let (table, position) = table.into_parts();
    let (states, bytes) = (table.len(), table.bytes());
    numbered_to(Moving::new(task, to), position, (states, bytes), |show| table.drain(show))
}

/// From a table in a checkpoint to a set, where there is no memory for the table.
pub fn saved_table_to<'m>(task: &Task<'m, '_>, from: &mut dyn Read, to: SetBfs) -> io::Result<Moved<'m>> {
    let position = get_position(from)?;
    let states = Table::saved_states(task.model.state_bytes(), from)?;
    if states < position.level_end() as usize {
        return Err(impossible("more states than there are"));
    }
    let (mut state, mut failed) = (vec![0; task.model.state_bytes()], None);
    let each = |show: &mut dyn FnMut(StateId, &[u8]) -> bool| {
        (0..states as StateId).all(|id| match from.read_exact(&mut state) {
            Ok(()) => show(id, &state),
            Err(error) => {
                failed = Some(error);
                false
            }
        })
    };
    let moved = numbered_to(Moving::new(task, to), position, (states, 0), each);
    failed.map_or(Ok(moved), Err)
}

/// Puts so many states, of so many bytes, into a set; they are shown in the order of their numbers.
fn numbered_to<'m>(
    mut moving: Moving,
    position: Position,
    (states, bytes): (usize, usize),
    each: impl FnOnce(&mut dyn FnMut(StateId, &[u8]) -> bool) -> bool,
) -> Moved<'m> {
    let mut keys = Vec::new();
    let mut first: StateId = 0;
    let mut moved = each(&mut |id, state| {
        moving.batch.push(state, 0);
        moving.batch.len() < AT_ONCE || {
            let (from, kept) = (std::mem::replace(&mut first, id + 1), moving.flush(&mut keys));
            kept.and_then(|()| moving.open_numbers(from, &keys, &position)).is_ok()
        }
    });
    moved = moved
        && moving.flush(&mut keys).and_then(|()| moving.open_numbers(first, &keys, &position)).is_ok()
        && moving.wide.set.len() == states as u64;
    let mut facts = position.facts.clone();
    (facts.back_level_edges, facts.longest_back_level_edge, facts.max_in_degree) = (None, None, None);
    moving.wide.course.depth = position.depth();
    moving.wide.course.widths = position.widths();
    moving.wide.course.facts = facts;
    let ended = moving.ended();
    let wide = moving.finish();
    if moved {
        return Ok(wide);
    }
    let mut facts = position.facts.clone();
    facts.set_level_sizes(position.widths());
    let mut done = wide.done(ended);
    (done.stage, done.held) = (StoreChoice::Table, Held::Set(bytes));
    done.outcome.visits = facts.states.saturating_sub(facts.open);
    done.outcome.forget.stored_peak = facts.states;
    done.outcome.facts = facts;
    Err(Box::new(done))
}

/// From a set that can be drained to another one. States come with those that have most in common one after the other: in
/// any order they would make an automaton far larger on the way. Where states are not their own keys, those that are open
/// come first, as only new states tell their keys.
pub fn set_to<'m>(task: &Task<'m, '_>, from: SetBfs, to: SetBfs) -> Moved<'m> {
    let mut done = from.done(Ended::Limit(Limit::Memory));
    let SetBfs { mut set, mut course, .. } = from;
    let states = set.len();
    let mut moving = Moving::new(task, to);
    let mut keys = Vec::new();
    let by_state = moving.wide.set.key_form() == KeyForm::State;
    let mut open = |moving: &mut Moving, set: &mut dyn Set| {
        moving.open_keys(set, &mut course.pool, &mut course.now, true, by_state).is_ok()
            && moving.open_keys(set, &mut course.pool, &mut course.next, false, by_state).is_ok()
    };
    let mut moved = by_state || open(&mut moving, &mut *set);
    moved = moved
        && set.drain(by_state, &mut |state| {
            moving.batch.push(state, 0);
            moving.batch.len() < AT_ONCE || moving.flush(&mut keys).is_ok()
        }) == Some(true);
    moved = moved && moving.flush(&mut keys).is_ok() && moving.wide.set.len() == states;
    moved = moved && (!by_state || open(&mut moving, &mut *set));
    moving.wide.course.depth = course.depth;
    moving.wide.course.widths = course.widths;
    moving.wide.course.facts = course.facts;
    done.outcome.ended = moving.ended();
    if moved { Ok(moving.finish()) } else { Err(Box::new(done)) }
}

/// A search on its way to another store.
struct Moving<'a> {
    control: &'a Control,
    stopped: Option<Limit>,
    wide: SetBfs,
    batch: Batch,
    now: Packed,
    next: Packed,
    promise: usize,
}

impl<'a> Moving<'a> {
    fn new(task: &Task<'_, 'a>, wide: SetBfs) -> Moving<'a> {
        let (now, next) = (wide.course.pool.buffer(), wide.course.pool.buffer());
        Moving {
            control: task.control,
            stopped: None,
            wide,
            batch: Batch::new(task.model.state_bytes()),
            now,
            next,
            promise: 0,
        }
    }

    /// Puts the batch into the new store, unless the search is to end; `keys` are then those of its states, which were not
    /// there.
    fn flush(&mut self, keys: &mut Vec<u8>) -> Result<(), Full> {
        keys.clear();
        self.stopped = self.control.stopped(0);
        if self.stopped.is_some() {
            return Err(Full);
        }
        let mut new = Vec::new();
        let (set, origins) = (&mut self.wide.set, vec![NO_ORIGIN; self.batch.len()]);
        if set.insert(&self.batch, &origins, &mut new, keys).is_err() {
            set.make_room(self.batch.len())?;
            set.insert(&self.batch, &origins, &mut new, keys)?;
        }
        self.batch.clear();
        Ok(())
    }

    /// How a search ends that did not move.
    fn ended(&self) -> Ended {
        Ended::Limit(self.stopped.unwrap_or(Limit::Memory))
    }

    /// Opens those of the states with these keys, numbered from `first` on, that were open.
    fn open_numbers(&mut self, first: StateId, keys: &[u8], position: &Position) -> Result<(), Full> {
        let (key_bytes, level_end) = (self.wide.set.key_bytes(), position.level_end());
        self.wide.course.pool.promise(2 * AT_ONCE, usize::MAX, &mut self.promise)?;
        for (key, id) in keys.chunks_exact(key_bytes).zip(first..) {
            if id >= level_end {
                self.open(key, false);
            } else if position.left.iter().any(|range| range.contains(&id)) {
                self.open(key, true);
            }
        }
        Ok(())
    }

    /// Opens the states that were open, by the keys of the set they come from: where states are their own keys, or by adding them
    /// before all others.
    fn open_keys(
        &mut self,
        from: &mut dyn Set,
        pool: &mut Pool,
        queue: &mut Queue,
        now: bool,
        by_state: bool,
    ) -> Result<(), Full> {
        let (mut packed, mut keys) = (pool.buffer(), Vec::new());
        let mut states = Batch::new(self.batch.state_bytes());
        while pool.take(queue, false, &mut packed) {
            keys.clear();
            packed.unpack(&mut keys);
            states.clear();
            from.load(&keys, &mut states);
            self.wide.course.pool.promise(2 * states.len(), usize::MAX, &mut self.promise)?;
            if by_state {
                (0..states.len()).for_each(|i| self.open(states.state(i), now));
                continue;
            }
            std::mem::swap(&mut self.batch, &mut states);
            let (key_bytes, mut keys) = (self.wide.set.key_bytes(), Vec::new());
            self.flush(&mut keys)?;
            keys.chunks_exact(key_bytes).for_each(|key| self.open(key, now));
        }
        Ok(())
    }

    /// Opens a state, on the level being expanded or on the next one. Room was promised.
    fn open(&mut self, key: &[u8], now: bool) {
        let course = &mut self.wide.course;
        let (packed, queue) = if now { (&mut self.now, &mut course.now) } else { (&mut self.next, &mut course.next) };
        if packed.is_full() {
            course.pool.put(queue, packed, false);
        }
        packed.push(key);
    }

    fn finish(mut self) -> SetBfs {
        let course = &mut self.wide.course;
        course.pool.put(&mut course.now, &mut self.now, false);
        course.pool.put(&mut course.next, &mut self.next, false);
        course.pool.keep(&mut self.promise);
        self.wide
    }
}
