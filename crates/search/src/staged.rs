//! Breadth-first in the store that memory allows: a table while it fits, then something smaller.
//!
//! The search begins in a table. When the first states, or the budget, say that the table is too large, its states move to
//! a tree, one after the other, giving their place up as they go, and the search goes on where it stood. When the tree is
//! full too, sorted files take over where a directory was given for them; otherwise the search starts over, forgetting.

use crate::budget::Limit;
use crate::choices::{CacheChoice, ForgetChoice, StoreChoice};
use crate::estimate::{Estimate, SAMPLE};
use crate::external::{External, Resume};
use crate::guided;
use crate::held::Held;
use crate::open::{Packed, Queue};
use crate::outcome::Ended;
use crate::plain::Plain;
use crate::plan::Plan;
use crate::run::{Done, Guides, Task, invalid};
use crate::sets::Wide;
use crate::store::{Full, NO_ORIGIN, StateId, Store, Table};
use scrimp_system::Batch;
use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::time::Instant;

pub(crate) fn search<'m>(task: &Task<'m, '_>, guides: Guides) -> io::Result<Done<'m>> {
    let saved = task.saved()?;
    if let Some((stage, mut from)) = saved.filter(|(stage, _)| *stage != StoreChoice::Table.to_string()) {
        let stage = stage.parse().map_err(|_| invalid(format!("a checkpoint with an unknown store '{stage}'")))?;
        return in_tree(task, Wide::resume(task, stage, &mut *from)?, guides);
    }
    let table = Table::new(task.model.state_bytes(), task.budget.clone())?;
    let mut table = Plain::new(task, table, StoreChoice::Table);
    if let Some((_, mut from)) = task.saved()? {
        table.resume(&mut *from)?;
    }
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
fn begins_with_tree(task: &Task, table: &Plain<Table>) -> bool {
    let store = table.store();
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
fn to_tree<'m>(task: &Task<'m, '_>, table: Plain<Table>) -> io::Result<Result<Wide, Box<Done<'m>>>> {
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
    let all = table.drain(&mut |id, state| {
        moving.batch.push(state, 0);
        moving.batch.len() < AT_ONCE || moving.flush(id + 1, &is_open).is_ok()
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
fn in_tree<'m>(task: &Task<'m, '_>, mut wide: Wide, guides: Guides) -> io::Result<Done<'m>> {
    let ended = wide.go_on(task);
    if ended != Ended::Limit(Limit::Memory) {
        return Ok(wide.done(ended));
    }
    match &task.plan.options.disk {
        Some(dir) => to_disk(task, wide, dir),
        None => forgetting(task, wide, guides),
    }
}

/// Starts over, dropping what lies behind the progress of the search and what led to no open state. A search that is to be
/// saved ends here: it can be taken up with more memory, and one that forgets could not.
fn forgetting<'m>(task: &Task<'m, '_>, wide: Wide, guides: Guides) -> io::Result<Done<'m>> {
    let (states, each) = (wide.set.len(), wide.set.bytes() as f64 / wide.set.len().max(1) as f64);
    let mut full = wide.done(Ended::Limit(Limit::Memory));
    let full_after = format!("{} states filled the tree, at {each:.1} bytes each", grouped(states));
    if task.saver.is_some() {
        task.control.say(full_after);
        return Ok(full);
    }
    let found = guides.find_measure.map(|find| find());
    let mut options = task.plan.options.clone();
    options.threads = 1;
    options.store = Some(StoreChoice::Table);
    options.forget = match found {
        Some(_) => ForgetChoice::Sweep(Some(CacheChoice::default())),
        None => ForgetChoice::Cache(CacheChoice::default()),
    };
    options.progress = found.as_ref().map(|found| found.text.clone());
    let Ok(plan) = Plan::new(&options) else {
        return Ok(full);
    };
    let method = match &found {
        Some(found) => format!("--forget {} --progress '{}'", options.forget, found.text),
        None => format!("--forget {}", options.forget),
    };
    task.control.say(format!("{full_after}: the search starts over with {method}"));
    let progress = found.as_ref().map(|found| &*found.measure);
    let task = Task { plan: &plan, saver: None, ..*task };
    let done = guided::search(&task, Guides { progress, ..guides })?;
    if let Ended::Limit(Limit::Memory | Limit::Cache) = done.outcome.ended {
        task.control.say("forgetting was not enough either");
        full.outcome.visits += done.outcome.visits;
        return Ok(full);
    }
    Ok(done)
}

/// Moves the search to sorted files and goes on there.
fn to_disk<'m>(task: &Task<'m, '_>, wide: Wide, dir: &Path) -> io::Result<Done<'m>> {
    let Task { model, check, control, budget, .. } = *task;
    let started = Instant::now();
    let mut external = External::new(model, dir, false, budget, None)?;
    let Wide { set, course, .. } = wide;
    let states = set.len();
    let (facts, depth) = (course.facts.clone(), course.depth);
    let set = RefCell::new(set);
    let each_open = |queue: &Queue, show: &mut dyn FnMut(&[u8]) -> bool| {
        let mut state = Batch::new(model.state_bytes());
        course.pool.each(queue, &mut |key| {
            state.clear();
            set.borrow_mut().load(key, &mut state);
            show(state.state(0))
        })
    };
    external.resume(Resume {
        visited: &mut |show| set.borrow().each(show),
        now: &mut |show| each_open(&course.now, show),
        next: &mut |show| each_open(&course.next, show),
        depth,
        facts,
    })?;
    drop((set, course));
    control.say(format!(
        "{} states moved from the tree to files in {} in {:.1} s",
        grouped(states),
        dir.display(),
        started.elapsed().as_secs_f64(),
    ));
    let outcome = external.search(check, control);
    Ok(Done { outcome, held: Held::Disk(Box::new(external)), stage: StoreChoice::Disk(dir.into()) })
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
