//! Moving a search from the table to a store that takes less, while memory is short: what was moved gives its place up.

use crate::checkpoint::get_position;
use crate::open::Packed;
use crate::outcome::{Ended, Position};
use crate::plan::StoreChoice;
use crate::set_bfs::SetBfs;
use crate::store::{Full, NO_ORIGIN, StateId, Store, Table};
use crate::table_bfs::TableBfs;
use crate::task::{Done, Task};
use scrimp_core::{GraphFacts, Limit};
use scrimp_system::Batch;
use std::io::{self, Read};

/// States that move together.
const AT_ONCE: usize = 512;

/// The search in its new store, or what is left to say when its states did not fit.
type Moved<'m> = Result<SetBfs, Box<Done<'m>>>;

/// From a table to a set.
pub fn table_to<'m>(task: &Task<'m, '_>, table: TableBfs<Table>, to: StoreChoice) -> io::Result<Moved<'m>> {
    let (table, position) = table.into_parts();
    let states = table.len();
    numbered_to(task, position, states, to, |show| table.drain(show))
}

/// From a table in a checkpoint to a set, where there is no memory for the table.
pub fn saved_table_to<'m>(task: &Task<'m, '_>, from: &mut dyn Read, to: StoreChoice) -> io::Result<Moved<'m>> {
    let position = get_position(from)?;
    let states = Table::saved_states(task.model.state_bytes(), from)?;
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
    let moved = numbered_to(task, position, states, to, each)?;
    failed.map_or(Ok(moved), Err)
}

/// Puts so many states, which are shown in the order of their numbers, into a set.
fn numbered_to<'m>(
    task: &Task<'m, '_>,
    position: Position,
    states: usize,
    to: StoreChoice,
    each: impl FnOnce(&mut dyn FnMut(StateId, &[u8]) -> bool) -> bool,
) -> io::Result<Moved<'m>> {
    let mut moving = Moving::new(task, to)?;
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
    let wide = moving.finish();
    if moved {
        return Ok(Ok(wide));
    }
    let mut facts = position.facts.clone();
    facts.set_level_sizes(position.widths());
    Ok(Err(Box::new(without_room(wide, facts))))
}

/// The end of a search whose states did not fit into their new store.
fn without_room<'m>(wide: SetBfs, facts: GraphFacts) -> Done<'m> {
    let mut done = wide.done(Ended::Limit(Limit::Memory));
    done.outcome.visits = facts.states - facts.open;
    done.outcome.forget.stored_peak = facts.states;
    done.outcome.facts = facts;
    done
}

/// A search on its way to another store.
struct Moving {
    wide: SetBfs,
    batch: Batch,
    now: Packed,
    next: Packed,
    promise: usize,
}

impl Moving {
    fn new(task: &Task, to: StoreChoice) -> io::Result<Moving> {
        let wide = SetBfs::new(task, to)?;
        let key_bytes = wide.set.key_bytes();
        Ok(Moving {
            wide,
            batch: Batch::new(task.model.state_bytes()),
            now: Packed::new(key_bytes),
            next: Packed::new(key_bytes),
            promise: 0,
        })
    }

    /// Puts the batch into the new store; `keys` are then those of its states, which were not there.
    fn flush(&mut self, keys: &mut Vec<u8>) -> Result<(), Full> {
        keys.clear();
        let mut new = Vec::new();
        let (set, origins) = (&mut self.wide.set, vec![NO_ORIGIN; self.batch.len()]);
        if set.insert(&self.batch, &origins, &mut new, keys).is_err() {
            set.make_room(self.batch.len())?;
            set.insert(&self.batch, &origins, &mut new, keys)?;
        }
        self.batch.clear();
        Ok(())
    }

    /// Opens those of the states with these keys, numbered from `first` on, that were open.
    fn open_numbers(&mut self, first: StateId, keys: &[u8], position: &Position) -> Result<(), Full> {
        let (key_bytes, level_end) = (self.wide.set.key_bytes(), position.level_end());
        self.wide.course.pool.promise(2 * AT_ONCE, &mut self.promise)?;
        for (key, id) in keys.chunks_exact(key_bytes).zip(first..) {
            if id >= level_end {
                self.open(key, false);
            } else if position.left.iter().any(|range| range.contains(&id)) {
                self.open(key, true);
            }
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
