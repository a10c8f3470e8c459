//! Breadth-first in the store that memory allows: a table while it fits, then something smaller.
//!
//! The search begins in a table, which knows a shortest run to each state. When the model turns out to be large, or the
//! budget to be small, its states move to a packed table, where they differ in few bits, or, when they must, to a tree: one
//! after the other, giving their place up as they go, and the search goes on where it stood. From the packed table states move
//! to a tree, and when the tree is full too, they move on: to sorted files where a directory was given for them, and else to a
//! minimized automaton. When that is full, the search starts over, forgetting.

mod moves;

use crate::estimate::{Estimate, SAMPLE, in_all};
use crate::external::{External, Resume};
use crate::held::Held;
use crate::open::Queue;
use crate::outcome::{Ended, Outcome};
use crate::plan::{CacheChoice, ForgetChoice, ModelFacts, StoreChoice};
use crate::reduce::Expansion;
use crate::set_bfs::SetBfs;
use crate::store::{StateId, Store, Table};
use crate::table_bfs::TableBfs;
use crate::task::{Done, Guides, Task, invalid};
use crate::{general, on_disk};
use scrimp_core::Limit;
use scrimp_system::Batch;
use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Models of so many states are searched with all events: that takes no time, gives shortest runs, and tells more of them.
const SMALL: u64 = 1 << 17;

/// States that are looked at together.
const LOOKED_AT: usize = 512;
/// States of so many bytes are short.
const SHORT: usize = 8;
/// Bytes that a state takes in a packed table, at most, when it has moved there.
const MOST_BYTES: usize = 14;
/// Models of so many states are large: a packed table is then faster than a table.
const LARGE: u64 = 1 << 18;

const AUTOMATON: StoreChoice = StoreChoice::Automaton { collapse: false };

pub(crate) fn search<'m>(task: &Task<'m, '_>, guides: Guides) -> io::Result<Done<'m>> {
    let table = Table::new(task.model.state_bytes(), task.budget.clone())?;
    let mut table = TableBfs::new(task, table, StoreChoice::Table);
    if let Some((stage, mut from)) = task.saved()? {
        if stage == on_disk::STAGE {
            let dir = task.plan.options().disk.as_ref();
            let dir =
                dir.ok_or_else(|| invalid("the search was saved when its states were on disk\nhelp: add --disk DIR"))?;
            return on_disk::resume(task, dir, &mut *from);
        }
        let unknown = |_| invalid(format!("a checkpoint with an unknown store '{stage}'"));
        match stage.parse().map_err(unknown)? {
            StoreChoice::Table => match table.resume(&mut *from) {
                Err(full) if full.kind() == io::ErrorKind::OutOfMemory => return resume_in_tree(task, guides),
                resumed => {
                    resumed?;
                    table.tell_taken_up(task);
                }
            },
            stage => return in_set(task, SetBfs::resume(task, stage, &mut *from)?, guides),
        }
    }
    let (mut sampled, mut may_reduce) = (false, task.plan.options().may_reduce);
    // A reduction leaves more out where it knows states by their numbers.
    let mut may_pack = (task.reduce)(Expansion::Stateful).is_none();
    task.control.pause_at_states(SAMPLE);
    loop {
        let ended = table.go_on(task)?;
        // Several threads count numbers that they have taken and not used.
        let reached = |states: u64| table.position.facts.states >= states / 4 * 3;
        let too_small = match ended {
            Ended::Paused if !sampled && reached(SAMPLE) => {
                sampled = true;
                task.control.paused();
                if may_reduce || may_pack {
                    task.control.pause_at_states(if may_reduce { SMALL } else { LARGE });
                }
                will_be_too_small(task, &table)
            }
            Ended::Paused if may_reduce && reached(SMALL) => {
                task.control.paused();
                may_reduce = false;
                if (task.offer)() {
                    return reduced(task, table, guides);
                }
                if may_pack {
                    task.control.pause_at_states(LARGE);
                }
                false
            }
            Ended::Paused if may_pack && reached(LARGE) => {
                task.control.paused();
                may_pack = false;
                if let Some(wide) = packed_for(task, table.store())? {
                    return to_set(task, table, wide, guides);
                }
                false
            }
            Ended::Paused => {
                table.save(task, &ended);
                // What was waited for before is still to come.
                task.control.pause_at_states(match () {
                    _ if !sampled => SAMPLE,
                    _ if may_reduce => SMALL,
                    _ if may_pack => LARGE,
                    _ => u64::MAX,
                });
                false
            }
            Ended::Limit(Limit::Memory) => true,
            _ => {
                table.save(task, &ended);
                return Ok(table.done(ended));
            }
        };
        if too_small && may_reduce && (task.offer)() {
            return reduced(task, table, guides);
        }
        if too_small {
            break;
        }
    }
    let packed = if may_pack { packed_for(task, table.store())? } else { None };
    let to = packed.map_or_else(|| SetBfs::new(task, StoreChoice::Tree), Ok)?;
    to_set(task, table, to, guides)
}

/// Moves the search from the table to a set and goes on there. It is saved before: what is cut short on its way is in
/// neither of them.
fn to_set<'m>(task: &Task<'m, '_>, table: TableBfs<Table>, to: SetBfs, guides: Guides) -> io::Result<Done<'m>> {
    table.save(task, &Ended::Paused);
    let (states, started, name) = (table.position.facts.states, Instant::now(), a_set(&to.stage));
    task.control.enter(Some(&format!("moving to {name}")));
    match moves::table_to(task, table, to) {
        Ok(wide) => {
            task.control.enter(Some(&format!("searching in {name}")));
            tell_move(task, states, &format!("the table to {name}"), &wide, started);
            in_set(task, wide, guides)
        }
        Err(full) if full.outcome.ended != Ended::Limit(Limit::Memory) => Ok(*full),
        Err(full) => {
            task.control.say(format!("{} states filled the table, and do not fit into {name}", grouped(states)));
            start_over(task, *full, guides)
        }
    }
}

fn a_set(set: &StoreChoice) -> &'static str {
    match set {
        StoreChoice::Packed => "a packed table",
        StoreChoice::Tree => "a tree",
        _ => "a minimized automaton",
    }
}

/// A packed table for the states of a table, if they differ in few bits, and there is memory for the move.
fn packed_for(task: &Task, table: &Table) -> io::Result<Option<SetBfs>> {
    // The index goes at once, and states as they move.
    if task.budget.left() + table.bytes() / 2 < MOST_BYTES * table.len() {
        return Ok(None);
    }
    let mut wide = SetBfs::new(task, StoreChoice::Packed)?;
    let mut batch = Batch::new(task.model.state_bytes());
    for first in (0..table.len()).step_by(LOOKED_AT) {
        batch.clear();
        (first..table.len().min(first + LOOKED_AT)).for_each(|id| table.load(id as StateId, batch.push_with(0)));
        if !wide.set.foresee(&batch) {
            return Ok(None);
        }
    }
    Ok(Some(wide))
}

/// Starts over with a reduction, which the model has turned out to be large enough for.
fn reduced<'m>(task: &Task<'m, '_>, table: TableBfs<Table>, guides: Guides) -> io::Result<Done<'m>> {
    let states = grouped(table.position.facts.states);
    drop(table);
    let plan = task.plan.reducing();
    let why = "the search starts over, leaving out events that do not influence each other (--reduce por)";
    task.control.say(format!("{states} states so far: {why}"));
    task.control.states.store(0, Ordering::Relaxed);
    task.control.foresee(None);
    task.control.enter(Some("starting over: partial-order reduction"));
    let done = search(&Task { plan: &plan, ..*task }, guides)?;
    let instead = done.instead.or(Some(plan));
    Ok(Done { instead, ..done })
}

/// Takes up a search in a table for which there is no memory any more.
fn resume_in_tree<'m>(task: &Task<'m, '_>, guides: Guides) -> io::Result<Done<'m>> {
    let Some((_, mut from)) = task.saved()? else { return Err(io::ErrorKind::OutOfMemory.into()) };
    let tree = SetBfs::new(task, StoreChoice::Tree)?;
    let moved = moves::saved_table_to(task, &mut *from, tree)?;
    let wide = match moved {
        Ok(wide) => wide,
        Err(full) if full.outcome.ended == Ended::Limit(Limit::Memory) => {
            let why = "there is not enough memory for the states of the checkpoint, not even in a tree";
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, why));
        }
        Err(stopped) => return Ok(*stopped),
    };
    task.control.say(format!(
        "{} states of the checkpoint went to a tree: there is no memory for a table",
        grouped(wide.set.len())
    ));
    in_set(task, wide, guides)
}

/// Starts over, on disk where that is allowed and else in an automaton, when states did not fit where they were to move.
fn start_over<'m>(task: &Task<'m, '_>, full: Done<'m>, guides: Guides) -> io::Result<Done<'m>> {
    let Task { model, control, budget, with_traces, .. } = *task;
    if let Some(dir) = &task.plan.options().disk {
        control.say(format!("the search starts over with files in {}", dir.display()));
        control.enter(Some("starting over: on disk"));
        let again = on_disk::go_on(task, External::new(model, dir, with_traces, budget, None)?, dir);
        return Ok(farther(task, full, again));
    }
    control.say("the search starts over in a minimized automaton");
    control.enter(Some("starting over: automaton"));
    let again = in_set(task, SetBfs::begin(task, AUTOMATON)?, guides)?;
    Ok(farther(task, full, again))
}

fn tell_move(task: &Task, states: u64, way: &str, wide: &SetBfs, started: Instant) {
    let (seconds, each) = (started.elapsed().as_secs_f64(), wide.set.bytes() as f64 / states.max(1) as f64);
    let states = grouped(states);
    task.control.say(format!("{states} states moved from {way} in {seconds:.1} s and take {each:.1} bytes each there"));
}

/// Do the first states say that the table will be too small?
fn will_be_too_small(task: &Task, table: &TableBfs<Table>) -> bool {
    let store = table.store();
    let bytes = task.budget.left() + store.bytes();
    if !Estimate::outgrows_table(&table.position, task.model.state_bytes(), bytes) {
        return false;
    }
    let estimate = Estimate::of(&table.position, store, task.model);
    let wanted = estimate.wants_tree(bytes);
    if wanted {
        let room = grouped((bytes as f64 / estimate.in_table) as u64);
        let seen = grouped(estimate.seen);
        let all = match in_all(&table.position.widths()) {
            Some(all) => format!("about {} states are to be expected after the first {seen}", grouped(all as u64)),
            None => format!("at least {seen} states, and the levels keep growing"),
        };
        task.control.say(format!("{all}; a table has room for {room}, so states go to a smaller store now"));
    }
    wanted
}

/// Goes on in a set, and beyond it when that is full.
fn in_set<'m>(task: &Task<'m, '_>, mut wide: SetBfs, guides: Guides) -> io::Result<Done<'m>> {
    // Moving on takes a little memory to begin with.
    let next = match wide.stage {
        // A tree of short states is no smaller.
        StoreChoice::Packed if task.model.state_bytes() > SHORT => Some(StoreChoice::Tree),
        StoreChoice::Packed => Some(AUTOMATON),
        StoreChoice::Tree => Some(AUTOMATON),
        _ => None,
    };
    let moves_on = task.plan.options().disk.is_some() || next.is_some();
    // So does taking up a search that was saved when it was full.
    let held = task.budget.memory() / if wide.stage == StoreChoice::Packed { 16 } else { 32 };
    task.budget.hold(if moves_on { held } else { 0 });
    let ended = wide.go_on(task);
    task.budget.hold(0);
    if ended != Ended::Limit(Limit::Memory) {
        return Ok(wide.done(ended));
    }
    if let (Some(dir), true) = (&task.plan.options().disk, next != Some(StoreChoice::Tree)) {
        return to_disk(task, wide, dir);
    }
    let Some(next) = next else {
        let full = wide.done(ended);
        drop(wide);
        return forgetting(task, full, guides);
    };
    let (states, started, to) = (wide.set.len(), Instant::now(), a_set(&next));
    let from = a_set(&wide.stage).replacen("a ", "the ", 1);
    task.control.say(format!("{} states filled {from}", grouped(states)));
    task.control.enter(Some(&format!("moving to {to}")));
    match moves::set_to(task, wide, SetBfs::new(task, next)?) {
        Ok(wide) => {
            task.control.enter(Some(&format!("searching in {to}")));
            tell_move(task, states, &format!("{from} to {to}"), &wide, started);
            in_set(task, wide, guides)
        }
        Err(full) if full.outcome.ended != ended => Ok(*full),
        Err(full) => start_over(task, *full, guides),
    }
}

/// Of two searches that were cut short, the one that came farther; what the other found counts all the same.
fn farther<'m>(task: &Task, mut full: Done<'m>, again: Done<'m>) -> Done<'m> {
    let (before, after) = (full.outcome.facts.states, again.outcome.facts.states);
    let cut = matches!(again.outcome.ended, Ended::Limit(_));
    // A checkpoint has the second one.
    if !cut || after >= before || task.plan.options().checkpoint.is_some() {
        return again;
    }
    let (after, stage) = (grouped(after), full.stage.to_string());
    let store = if full.stage == StoreChoice::Packed { "packed table" } else { &stage };
    task.control.say(format!("the second search stored only {after} states; the figures are those of the {store}"));
    (full.outcome.ended, full.outcome.by_level) = (again.outcome.ended, false);
    full
}

/// Starts over, dropping what lies behind the progress of the search and what led to no open state. A search that is to be
/// saved ends here: it can be taken up with more memory, and what it has found is not lost.
fn forgetting<'m>(task: &Task<'m, '_>, mut full: Done<'m>, guides: Guides) -> io::Result<Done<'m>> {
    let full_after = format!("{} states filled all memory", grouped(full.outcome.facts.states));
    if task.plan.options().checkpoint.is_some() {
        task.control.say(full_after);
        return Ok(full);
    }
    task.control.enter(Some("looking for a progress measure"));
    let found = guides.find_measure.map(|find| find());
    let forget = match found {
        Some(_) => ForgetChoice::Sweep(Some(CacheChoice::default())),
        None => ForgetChoice::Cache(CacheChoice::default()),
    };
    let method = match &found {
        Some(found) => format!("--forget {forget} --progress '{}'", found.text),
        None => format!("--forget {forget}"),
    };
    let why = format!("{full_after}: the search starts over with {method}");
    let changed = task.plan.instead(&why, &ModelFacts::of(task.model), |options| {
        if found.is_some() {
            // Where few states are open at a time, as is usual behind a line, several threads wait for each other.
            options.threads = 1;
        }
        options.store = Some(StoreChoice::Table);
        options.forget = forget;
        options.progress = found.as_ref().map(|found| found.text.clone());
    });
    let Ok(plan) = changed else {
        return Ok(full);
    };
    task.control.say(why);
    task.control.foresee(None);
    task.control.enter(Some("starting over: forgetting"));
    let progress = found.as_ref().map(|found| &*found.measure);
    let task = Task { plan: &plan, saver: None, ..*task };
    let mut done = general::search(&task, Guides { progress, ..guides })?;
    if let Ended::Limit(Limit::Memory | Limit::Cache) = done.outcome.ended {
        task.control.say("forgetting states was not enough either");
        // What was found may come from the second search.
        full.outcome.by_level = false;
        return Ok(full);
    }
    done.instead = Some(plan.clone());
    Ok(farther(&task, full, done))
}

/// Moves the search to sorted files and goes on there.
fn to_disk<'m>(task: &Task<'m, '_>, wide: SetBfs, dir: &Path) -> io::Result<Done<'m>> {
    let Task { model, control, budget, .. } = *task;
    let started = Instant::now();
    control.enter(Some("moving to disk"));
    let mut external = External::new(model, dir, false, budget, None)?;
    let SetBfs { set, course, .. } = wide;
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
    let resumed = external.resume(Resume {
        visited: &mut |show| set.borrow().each(show),
        now: &mut |show| each_open(&course.now, show),
        next: &mut |show| each_open(&course.next, show),
        depth,
        facts,
        widths: course.widths.clone(),
    });
    let mut known = course.facts(states);
    known.set_level_sizes(course.widths.iter().copied());
    drop((set, course));
    if let Err(error) = resumed {
        external.fail(&error);
        let outcome = Outcome::of_plain(Ended::Limit(Limit::Disk), known, Vec::new());
        return Ok(Done {
            outcome,
            held: Held::Disk(Box::new(external)),
            stage: StoreChoice::Disk(dir.into()),
            instead: None,
        });
    }
    control.say(format!(
        "{} states moved to files in {} in {:.1} s",
        grouped(states),
        dir.display(),
        started.elapsed().as_secs_f64(),
    ));
    control.enter(Some("searching on disk"));
    Ok(on_disk::go_on(task, external, dir))
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
