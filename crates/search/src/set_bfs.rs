//! Searches over stores without numbers: makes the set that a plan asks for and goes through the states with it.

use crate::checkpoint::{get, get_facts, impossible, put, put_facts};
use crate::deep::{Deep, Path};
use crate::estimate;
use crate::held::Held;
use crate::outcome::{Ended, Outcome};
use crate::plan::{OrderChoice, StoreChoice};
use crate::queued::{BfsPosition, Queued};
use crate::reduce::Expansion;
use crate::store::{AutomatonSet, BitState, Compact, Folded, Folder, LayerOrder, PackedTable, Set, Tree, Whole};
use crate::task::{Done, Task, invalid};
use scrimp_core::{Budget, GraphFacts, Limit};
use scrimp_system::Batch;
use std::io::{self, Read};
use std::sync::Arc;

pub(crate) fn search<'m>(task: &Task<'m, '_>) -> io::Result<Done<'m>> {
    let stage = task.plan.store().clone();
    if task.plan.order() == OrderChoice::DepthFirst {
        let mut set = new_set(task, &stage)?;
        let mut outcome = search_deep(task, &mut *set)?;
        outcome.ended = as_suited(outcome.ended, &*set);
        return Ok(Done { outcome, held: Held::Set(set.bytes()), stage, instead: None });
    }
    let mut wide = match task.saved()? {
        Some((_, mut from)) => SetBfs::resume(task, stage, &mut *from)?,
        None => SetBfs::begin(task, stage)?,
    };
    let ended = as_suited(wide.go_on(task), &*wide.set);
    Ok(wide.done(ended))
}

/// How a search ended: memory is not what is lacking where a set cannot take the model's states.
fn as_suited(ended: Ended, set: &dyn Set) -> Ended {
    match (ended, set.unsuited()) {
        (Ended::Limit(Limit::Memory), Some(why)) => Ended::Unsuited(why),
        (ended, _) => ended,
    }
}

/// The set that keeps states in this way.
fn new_set(task: &Task, choice: &StoreChoice) -> io::Result<Box<dyn Set>> {
    let Task { model, budget, .. } = *task;
    let set: Box<dyn Set> = match choice {
        StoreChoice::Table => Box::new(Whole::new(model.state_bytes(), budget.clone())?),
        StoreChoice::Packed => Box::new(PackedTable::new(model.state_bytes(), budget)?),
        StoreChoice::Tree => Box::new(Tree::of_model(model, budget)?),
        StoreChoice::Compact(bits) => Box::new(Compact::new(model.state_bytes(), *bits, budget)?),
        StoreChoice::BitState(mib) => Box::new(BitState::new(model.state_bytes(), *mib, budget)?),
        StoreChoice::Automaton { collapse: false } => {
            let order = layers(task, &LayerOrder::sample(model))?;
            Box::new(AutomatonSet::new(model.state_bytes(), &order, budget).map_err(|_| no_memory())?)
        }
        StoreChoice::Automaton { collapse: true } => {
            let mut folder = Folder::new(model, budget)?;
            let mut tuples = Batch::new(folder.tuple_bytes());
            folder.fold_all(&LayerOrder::sample(model), &mut tuples).map_err(|_| no_memory())?;
            let order = layers(task, &tuples)?;
            let set = AutomatonSet::new(folder.tuple_bytes(), &order, budget).map_err(|_| no_memory())?;
            // Numbers are given as the search meets the components, not as the sample does.
            Box::new(Folded::new(Folder::new(model, budget)?, Box::new(set), model.state_bytes()))
        }
        other => return Err(invalid(format!("store {other} is no set"))),
    };
    Ok(set)
}

/// The order of an automaton's layers, chosen by a sample of its words.
pub(crate) fn layers(task: &Task, sample: &Batch) -> io::Result<Vec<u32>> {
    let order = &task.plan.options().layers;
    // What is tried out is gone before the search begins, and small.
    let budget = Arc::new(Budget::new(usize::MAX / 4));
    order.permutation(sample.state_bytes(), sample, &budget).map_err(|e| invalid(format!("--layers {order}: {e}")))
}

fn no_memory() -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, "there is not enough memory for an automaton")
}

/// A breadth-first search over a set, and where it stands.
pub(crate) struct SetBfs {
    pub set: Box<dyn Set>,
    pub course: BfsPosition,
    pub stage: StoreChoice,
    /// How it ended before it went on.
    ended: Option<Ended>,
}

impl SetBfs {
    /// An empty set.
    pub fn new(task: &Task, stage: StoreChoice) -> io::Result<SetBfs> {
        let set = new_set(task, &stage)?;
        let course = BfsPosition::new(&*set, task.budget)?;
        Ok(SetBfs { set, course, stage, ended: None })
    }

    /// A search that stands at its beginning.
    pub fn begin(task: &Task, stage: StoreChoice) -> io::Result<SetBfs> {
        let mut wide = SetBfs::new(task, stage)?;
        wide.ended = SetBfs::queued(task).begin(&mut *wide.set, &mut wide.course).err();
        Ok(wide)
    }

    fn queued<'a>(task: &Task<'a, 'a>) -> Queued<'a> {
        Queued {
            model: task.model,
            check: task.check,
            control: task.control,
            threads: task.plan.options().threads,
            reduce: task.reduce,
        }
    }

    /// A search that was saved.
    pub fn resume(task: &Task, stage: StoreChoice, from: &mut dyn Read) -> io::Result<SetBfs> {
        let mut wide = SetBfs::new(task, stage)?;
        let course = &mut wide.course;
        course.facts = get_facts(from)?;
        course.depth = get(from)?.try_into().map_err(|_| impossible("a depth"))?;
        course.widths = (0..get(from)?).map(|_| get(from)).collect::<io::Result<_>>()?;
        course.pool.restore(&mut course.now, from)?;
        course.pool.restore(&mut course.next, from)?;
        wide.set.restore(from)?;
        wide.prove()?;
        task.control.take_up(wide.set.len().saturating_sub(wide.course.open()));
        Ok(wide)
    }

    /// Refuses what was read from a file unless the search can go on from there.
    fn prove(&self) -> io::Result<()> {
        let SetBfs { set, course, .. } = self;
        let queues = [&course.now, &course.next];
        if !queues.into_iter().all(|queue| course.pool.each(queue, &mut |key| set.is_key(key))) {
            return Err(impossible("an open state that was not found"));
        }
        let begun = course.widths.iter().try_fold(0u64, |sum, &width| sum.checked_add(width));
        let found = set.len();
        if course.open() > found || begun.is_none_or(|begun| begun > found) {
            return Err(impossible("more states than there are"));
        }
        if course.widths.len() as u64 != course.depth as u64 + 1 {
            return Err(impossible("a depth without its levels"));
        }
        Ok(())
    }

    /// Goes on until the search ends, saving it where that is wanted.
    pub fn go_on(&mut self, task: &Task) -> Ended {
        if let Some(ended) = self.ended.take() {
            return ended;
        }
        loop {
            let ended = SetBfs::queued(task).search(&mut *self.set, &mut self.course);
            self.save(task, &ended);
            if ended != Ended::Paused {
                return ended;
            }
            task.control.paused();
        }
    }

    fn save(&self, task: &Task, ended: &Ended) {
        if let (Some(saver), Ended::Paused | Ended::Limit(_)) = (task.saver, ended) {
            let SetBfs { set, course, stage, .. } = self;
            saver.save(&stage.to_string(), &mut |to| {
                put_facts(to, &course.facts)?;
                put(to, course.depth as u64)?;
                put(to, course.widths.len() as u64)?;
                course.widths.iter().try_for_each(|&width| put(to, width))?;
                course.pool.save(&course.now, to)?;
                course.pool.save(&course.next, to)?;
                set.save(to)
            });
        }
    }

    pub fn done<'m>(&self, ended: Ended) -> Done<'m> {
        let SetBfs { set, course, stage, .. } = self;
        let mut facts = course.facts(set.len());
        facts.set_level_sizes(course.widths.iter().copied());
        let outcome = Outcome::of_plain(ended, facts, Vec::new());
        let expected = estimate::in_all(&course.widths).filter(|_| outcome.ended != Ended::Complete);
        let beside_bytes = course.pool.bytes();
        let outcome = Outcome { beside_bytes, expected, omission: set.omission(), ..outcome };
        Done { outcome, held: Held::Set(set.bytes()), stage: stage.clone(), instead: None }
    }
}

fn search_deep(task: &Task, set: &mut dyn Set) -> io::Result<Outcome> {
    let mut path = Path::new(set.key_bytes(), task.budget)?;
    if let Some((_, mut from)) = task.saved()? {
        path.facts = get_facts(&mut *from)?;
        path.roots = get(&mut *from)?;
        path.stack.restore(&mut *from)?;
        set.restore(&mut *from)?;
        let mut initial = Batch::new(task.model.state_bytes());
        task.model.initial(&mut initial);
        if path.roots > initial.len() as u64 || path.stack.len() > set.len() {
            return Err(impossible("more states than there are"));
        }
        if !path.stack.each(&mut |key| set.is_key(key)) {
            return Err(impossible("an open state that was not found"));
        }
        task.control.take_up(set.len() - path.stack.len());
    }
    let mut deep = Deep::new(task.model, task.check, task.control, (task.reduce)(Expansion::Stateless), task.budget);
    let ended = loop {
        let ended = deep.search(set, &mut path);
        if let (Some(saver), Ended::Paused | Ended::Limit(_)) = (task.saver, &ended) {
            saver.save(&task.plan.store().to_string(), &mut |to| {
                put_facts(to, &path.facts)?;
                put(to, path.roots)?;
                path.stack.save(to)?;
                set.save(to)
            });
        }
        if ended != Ended::Paused {
            break ended;
        }
    };
    let facts = GraphFacts { states: set.len(), open: path.stack.len(), ..path.facts };
    let outcome = Outcome::of_plain(ended, facts, Vec::new());
    Ok(Outcome { beside_bytes: path.stack.bytes(), omission: set.omission(), ..outcome })
}
