//! Breadth-first in the store that memory allows: a table while it fits, then something smaller.
//!
//! The search begins in a table. When the first states, or the budget, say that the table is too large, its states move to
//! a tree, one after the other, giving their place up as they go, and the search goes on where it stood. When the tree is
//! full too, sorted files take over where a directory was given for them; otherwise the search starts over, forgetting.

use crate::budget::Limit;
use crate::choices::StoreChoice;
use crate::estimate::{Estimate, SAMPLE};
use crate::open::Packed;
use crate::outcome::Ended;
use crate::plain::{self, Plain};
use crate::run::{Done, Guides, Task};
use crate::sets::Wide;
use crate::store::{Full, NO_ORIGIN, StateId};
use scrimp_system::Batch;
use std::io;
use std::time::Instant;

pub(crate) fn search<'m>(task: &Task<'m, '_>, guides: Guides) -> io::Result<Done<'m>> {
    let mut table = match task.saved()? {
        Some((stage, mut from)) if stage != plain::STAGE => {
            let wide = Wide::resume(task, StoreChoice::Tree, &mut *from)?;
            return in_tree(task, wide, guides);
        }
        Some((_, mut from)) => Plain::resume(task, &mut *from)?,
        None => Plain::new(task)?,
    };
    let mut sampled = false;
    task.control.pause_at_states(SAMPLE);
    loop {
        let ended = table.go_on(task)?;
        let full = match ended {
            Ended::Paused if !sampled && table.position.facts.states >= SAMPLE => {
                sampled = true;
                task.control.paused();
                begins_with_tree(task, &table)
            }
            Ended::Paused => {
                table.save(task, &ended);
                false
            }
            Ended::Limit(Limit::Memory) => true,
            _ => {
                table.save(task, &ended);
                return Ok(table.done(ended));
            }
        };
        if full {
            let (states, started) = (table.position.facts.states, Instant::now());
            let wide = match to_tree(task, table)? {
                Ok(wide) => wide,
                Err(done) => return Ok(*done),
            };
            let seconds = started.elapsed().as_secs_f64();
            let each = wide.set.bytes() as f64 / states.max(1) as f64;
            task.control.say(format!(
                "{} states moved from the table to a tree in {seconds:.1} s; they take {each:.1} bytes each there",
                grouped(states),
            ));
            return in_tree(task, wide, guides);
        }
    }
}

/// Do the first states say that the table will be too small?
fn begins_with_tree(task: &Task, table: &Plain) -> bool {
    let Some(store) = table.store() else {
        return false;
    };
    let estimate = Estimate::of(&table.position, store, task.model.state_bytes());
    let bytes = task.budget.left() + store.bytes();
    let wanted = estimate.wants_tree(bytes);
    if let Some(expected) = estimate.expected.filter(|_| wanted) {
        task.control.say(format!(
            "about {} states are to be expected from the first {}, and the table has room for {}: a tree instead",
            grouped(expected as u64),
            grouped(estimate.seen),
            grouped((bytes as f64 / estimate.in_table) as u64),
        ));
    }
    wanted
}

/// Moves the search from the table, which gives its memory up on the way, to a tree.
fn to_tree<'m>(task: &Task<'m, '_>, table: Plain) -> io::Result<Result<Wide, Box<Done<'m>>>> {
    let (table, position) = table.into_parts();
    let wide = Wide::new(task, StoreChoice::Tree)?;
    let key_bytes = wide.set.key_bytes();
    let mut moving = Moving {
        wide,
        batch: Batch::new(task.model.state_bytes()),
        now: Packed::new(key_bytes),
        next: Packed::new(key_bytes),
        first: 0,
        promise: 0,
    };
    let course = &mut moving.wide.course;
    (course.facts, course.depth) = (position.facts.clone(), position.depth());
    (course.facts.back_level_edges, course.facts.longest_back_level_edge) = (None, None);
    course.facts.max_in_degree = None;
    let is_open = |id: StateId| {
        if id >= position.level_end() {
            Some(false)
        } else {
            position.left.iter().any(|range| range.contains(&id)).then_some(true)
        }
    };
    let all = table.is_none_or(|table| {
        table.drain(&mut |id, state| {
            moving.batch.push(state, 0);
            moving.batch.len() < AT_ONCE || moving.flush(id + 1, &is_open).is_ok()
        })
    });
    let rest = moving.flush(moving.first + moving.batch.len() as StateId, &is_open);
    let Moving { mut wide, mut now, mut next, mut promise, .. } = moving;
    let course = &mut wide.course;
    course.pool.put(&mut course.now, &mut now, false);
    course.pool.put(&mut course.next, &mut next, false);
    course.pool.keep(&mut promise);
    if all && rest.is_ok() {
        return Ok(Ok(wide));
    }
    task.control.say("the states did not fit into a tree either");
    let mut done = wide.done(Ended::Limit(Limit::Memory));
    done.outcome.facts = position.facts;
    Ok(Err(Box::new(done)))
}

/// States that move together.
const AT_ONCE: usize = 512;

/// States on their way from the table to another store.
struct Moving {
    wide: Wide,
    batch: Batch,
    now: Packed,
    next: Packed,
    /// The number of the first state in the batch.
    first: StateId,
    promise: usize,
}

impl Moving {
    /// Puts the batch, which ends before number `end`, into the new store, and what is open of it into the open list.
    /// `is_open` says whether a state is, and whether on the level being expanded.
    fn flush(&mut self, end: StateId, is_open: &dyn Fn(StateId) -> Option<bool>) -> Result<(), Full> {
        let Moving { wide, batch, now, next, first, promise } = self;
        let (mut new, mut keys) = (Vec::new(), Vec::new());
        let course = &mut wide.course;
        course.pool.promise(2 * batch.len(), promise)?;
        let origins = vec![NO_ORIGIN; batch.len()];
        if wide.set.insert(batch, &origins, &mut new, &mut keys).is_err() {
            wide.set.make_room(batch.len())?;
            wide.set.insert(batch, &origins, &mut new, &mut keys)?;
        }
        for (key, id) in keys.chunks_exact(wide.set.key_bytes()).zip(*first..end) {
            let (packed, queue) = match is_open(id) {
                Some(true) => (&mut *now, &mut course.now),
                Some(false) => (&mut *next, &mut course.next),
                None => continue,
            };
            if packed.is_full() {
                course.pool.put(queue, packed, false);
            }
            packed.push(key);
        }
        batch.clear();
        *first = end;
        Ok(())
    }
}

/// Goes on in a tree, and beyond it when that is full.
fn in_tree<'m>(task: &Task<'m, '_>, mut wide: Wide, _guides: Guides) -> io::Result<Done<'m>> {
    let ended = wide.go_on(task);
    Ok(wide.done(ended))
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
