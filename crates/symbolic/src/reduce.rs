//! Partial-order reduction of sets: which processes suffice, for all states of a ring at once.
//!
//! As in the paper on symbolic search with partial-order reduction: for each process the set of states in which it belongs
//! to what is looked at, closed under "where this one does, that one must too". An event that is enabled brings in whoever
//! does not accord with it, one that is not brings in whoever could make one of its false guards true. States in which
//! what is visible would be left out of order, or nothing new would be found, have all their events.
//!
//! Events without a process, as those of nets, are processes of their own.

use crate::action::Sought;
use crate::answers::is_plain;
use crate::co_enabled::together;
use crate::diagram::{Halt, Relation, Set};
use crate::engine::Engine;
use crate::reach::{Reached, Watch, followed, reordered, with_late};
use scrimp_core::{Property, PropertyKind};
use scrimp_system::dependence::{Dependence, Guard};
use scrimp_system::{EventId, System};
use scrimp_system::{Expr, invariants::Invariants};
use std::collections::HashMap;
use std::sync::Arc;

/// Processes that can be told apart.
const MOST_GROUPS: usize = 600;

/// Pairs of events that are looked at to find whether they can be enabled together.
const MOST_PAIRS: usize = 100_000;

/// What a reduced search needs to know of a system, for some questions.
pub struct Reduction {
    dependence: Dependence,
    /// The process of each event, and the events of each process.
    group: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// The events that do not accord with each event and may be enabled together with it.
    conflicts: Vec<Vec<u32>>,
    visible: Vec<bool>,
    /// Must every state either lead to a new one or have all its events?
    proviso: bool,
}

/// Where each process is looked at, and where all are.
struct Ample {
    chosen: Vec<Set>,
    all: Set,
}

impl Reduction {
    /// Why there can be no reduction.
    pub fn refused(system: &System) -> Option<String> {
        if let Some(reason) = Dependence::refused(system) {
            return Some(format!("--reduce por is not possible: {reason}"));
        }
        let groups = groups(system).1.len();
        (groups > MOST_GROUPS)
            .then(|| format!("events cannot be left out here: there are {groups} processes, or events without one"))
    }

    /// A reduction that leaves the answers to these questions as they are.
    pub fn new(system: &Arc<System>, questions: &[Property<Expr>]) -> Reduction {
        let dependence = Dependence::new(system);
        let (group, members) = groups(system);
        let mut visible = vec![false; system.events.len()];
        let mut proviso = false;
        for question in questions {
            match &question.kind {
                // Where a fault is no way out of a deadlock, what ends in one must not stand for what does not.
                PropertyKind::Deadlock if !is_plain(system) => {}
                PropertyKind::Deadlock | PropertyKind::Faults | PropertyKind::Assertions => {
                    for (event, visible) in visible.iter_mut().enumerate() {
                        let may_fault = dependence.may_fault(EventId(event as u32));
                        *visible |= may_fault;
                        proviso |= may_fault;
                    }
                }
                PropertyKind::Invariant(condition) | PropertyKind::Reach(condition) => {
                    for (visible, changes) in visible.iter_mut().zip(dependence.visible(condition)) {
                        *visible |= changes;
                    }
                    proviso = true;
                }
                // What is about runs is refused together with reduction.
                _ => {}
            }
        }
        // A system that is too small must be found out.
        for event in dependence.outgrown() {
            visible[event.index()] = true;
            proviso = true;
        }
        let conflicts = conflicts(system, &dependence, &group);
        Reduction { dependence, group, members, conflicts, visible, proviso }
    }

    fn groups(&self) -> usize {
        self.members.len()
    }

    /// The relations of a process's events.
    fn relations(&self, engine: &Engine, group: usize) -> Vec<Relation> {
        let members = &self.members[group];
        let system = engine.system;
        engine.relations(|event| members.binary_search(&(event as u32)).is_ok() && !system.events[event].late)
    }

    /// For these states, in all of which some event that is not late is enabled, what suffices.
    fn ample(&self, engine: &mut Engine, states: Set) -> Result<Ample, Halt> {
        engine.need_faults()?;
        engine.learn(states)?;
        let system = engine.system;
        let none = || vec![Set::EMPTY; self.groups()];
        // Where each event is enabled, and where one of each process is.
        let (mut enabled, mut some) = (vec![Set::EMPTY; self.group.len()], none());
        for event in (0..self.group.len()).filter(|event| !system.events[*event].late) {
            let relations = engine.moving(event);
            enabled[event] = engine.domains(states, &relations)?;
            engine.held.push(enabled[event]);
            let group = self.group[event] as usize;
            some[group] = engine.union(some[group], enabled[event])?;
            engine.held.push(some[group]);
        }
        let brings = self.brings(engine, states, &enabled)?;
        let mut left = states;
        let mut ample = Ample { chosen: none(), all: Set::EMPTY };
        // First the processes that suffice by themselves, then those that do with others.
        for alone in [true, false] {
            for seed in 0..self.groups() {
                let begin = engine.intersect(left, some[seed])?;
                if begin.is_empty() {
                    continue;
                }
                engine.held.push(begin);
                let mut chosen = none();
                if alone {
                    let mut here = begin;
                    for other in brings[seed].values() {
                        here = engine.minus(here, *other)?;
                        engine.held.push(here);
                    }
                    chosen[seed] = here;
                } else {
                    chosen = self.closure(engine, seed, begin, &brings)?;
                }
                let useful = self.useful(engine, chosen[seed], &chosen, &enabled, &some)?;
                engine.held.push(useful);
                for (group, &chosen) in chosen.iter().enumerate() {
                    let part = engine.intersect(chosen, useful)?;
                    ample.chosen[group] = engine.union(ample.chosen[group], part)?;
                    engine.held.push(ample.chosen[group]);
                }
                left = engine.minus(left, useful)?;
                engine.held.push(left);
            }
        }
        ample.all = left;
        Ok(ample)
    }

    /// For each process the others that it brings in, and where.
    fn brings(&self, engine: &mut Engine, states: Set, enabled: &[Set]) -> Result<Vec<HashMap<u32, Set>>, Halt> {
        let mut brings: Vec<HashMap<u32, Set>> = vec![HashMap::new(); self.groups()];
        let mut failing: HashMap<Guard, Set> = HashMap::new();
        for (event, &enabled) in enabled.iter().enumerate() {
            let (id, own) = (EventId(event as u32), self.group[event]);
            let others = |events: &[u32]| {
                let mut groups: Vec<u32> = events.iter().map(|event| self.group[*event as usize]).collect();
                groups.sort_unstable();
                groups.dedup();
                groups.retain(|group| *group != own);
                groups
            };
            let mut bring = |engine: &mut Engine, groups: &[u32], here: Set| -> Result<(), Halt> {
                for group in groups.iter().filter(|_| !here.is_empty()) {
                    let before = brings[own as usize].get(group).copied().unwrap_or(Set::EMPTY);
                    let both = engine.union(before, here)?;
                    engine.held.push(both);
                    brings[own as usize].insert(*group, both);
                }
                Ok(())
            };
            bring(engine, &others(&self.conflicts[event]), enabled)?;
            // Where it is not enabled, one of its guards fails; which of those that do is free to choose.
            let mut disabled = engine.minus(states, enabled)?;
            let mut guards: Vec<(Vec<u32>, Guard)> =
                self.dependence.guards(id).iter().map(|g| (others(self.dependence.enabling(*g)), *g)).collect();
            guards.sort_by_key(|(groups, guard)| (groups.len(), *guard));
            for (groups, guard) in guards {
                if disabled.is_empty() {
                    break;
                }
                let fails = match (failing.get(&guard), self.dependence.expression(guard)) {
                    (Some(known), _) => *known,
                    (None, Some(expression)) => {
                        engine.held.push(disabled);
                        let found = engine.where_condition(states, &expression, Sought::Fails)?;
                        engine.held.push(found);
                        failing.insert(guard, found);
                        found
                    }
                    // No other event is enabled: that never holds here.
                    (None, None) => states,
                };
                let here = engine.intersect(disabled, fails)?;
                engine.held.push(here);
                bring(engine, &groups, here)?;
                disabled = engine.minus(disabled, here)?;
                engine.held.push(disabled);
            }
            let all: Vec<u32> = (0..self.groups() as u32).filter(|group| *group != own).collect();
            bring(engine, &all, disabled)?;
        }
        Ok(brings)
    }

    /// Where each process is looked at if this one is, in these states.
    fn closure(
        &self,
        engine: &mut Engine,
        seed: usize,
        states: Set,
        brings: &[HashMap<u32, Set>],
    ) -> Result<Vec<Set>, Halt> {
        let mut chosen = vec![Set::EMPTY; self.groups()];
        let mut new = vec![Set::EMPTY; self.groups()];
        (chosen[seed], new[seed]) = (states, states);
        while let Some(from) = (0..self.groups()).find(|group| !new[*group].is_empty()) {
            let shown = std::mem::replace(&mut new[from], Set::EMPTY);
            engine.held.push(shown);
            for (&to, &here) in &brings[from] {
                let to = to as usize;
                let both = engine.intersect(shown, here)?;
                engine.held.push(both);
                let more = engine.minus(both, chosen[to])?;
                if more.is_empty() {
                    continue;
                }
                engine.held.push(more);
                chosen[to] = engine.union(chosen[to], more)?;
                engine.held.push(chosen[to]);
                new[to] = engine.union(new[to], more)?;
                engine.held.push(new[to]);
            }
        }
        Ok(chosen)
    }

    /// Those of these states where the choice leaves something out, and nothing that is visible is in it.
    fn useful(
        &self,
        engine: &mut Engine,
        states: Set,
        chosen: &[Set],
        enabled: &[Set],
        some: &[Set],
    ) -> Result<Set, Halt> {
        let mut less = Set::EMPTY;
        for (group, enabled) in some.iter().enumerate() {
            let here = engine.intersect(states, *enabled)?;
            engine.held.push(here);
            let left_out = engine.minus(here, chosen[group])?;
            less = engine.union(less, left_out)?;
            engine.held.push(less);
        }
        for (event, enabled) in enabled.iter().enumerate().filter(|(event, _)| self.visible[*event]) {
            let seen = engine.intersect(*enabled, chosen[self.group[event] as usize])?;
            less = engine.minus(less, seen)?;
            engine.held.push(less);
        }
        Ok(less)
    }

    /// The states that these lead to, by what suffices; the second set is what all events lead to, where that is wanted.
    fn step(
        &self,
        engine: &mut Engine,
        frontier: Set,
        reached: &mut Reached,
        dont_care: bool,
    ) -> Result<(Set, Option<Set>), Halt> {
        let system = engine.system;
        engine.learn(frontier)?;
        let mut moving = frontier;
        if system.events.iter().any(|event| event.late) {
            let idle = engine.idle(frontier, true, |event| !system.events[event].late)?;
            moving = engine.minus(frontier, idle)?;
            engine.held.push(moving);
        }
        let mut ample = self.ample(engine, moving)?;
        let mut passed = reached.between();
        let mut next = Set::EMPTY;
        for group in 0..self.groups() {
            let more = engine.images(ample.chosen[group], &self.relations(engine, group))?;
            next = engine.union(next, more)?;
            engine.held.push(next);
        }
        if engine.has_holders() {
            next = followed(engine, next, &mut passed)?;
            engine.held.extend([next, passed]);
        }
        if self.proviso {
            // Where nothing new is found, everything is looked at.
            let new = engine.minus(next, reached.states())?;
            engine.held.push(new);
            let mut goals = new;
            if engine.has_holders() {
                let through = leading(engine, new, passed)?;
                goals = engine.union(goals, through)?;
                engine.held.push(goals);
            }
            let mut rest = engine.minus(moving, ample.all)?;
            for group in 0..self.groups() {
                let relations = self.relations(engine, group);
                let progress = engine.preimages(goals, &relations, ample.chosen[group])?;
                rest = engine.minus(rest, progress)?;
                engine.held.push(rest);
            }
            ample.all = engine.union(ample.all, rest)?;
            engine.held.push(ample.all);
        }
        let every = engine.relations(|event| !system.events[event].late);
        let more = engine.images(ample.all, &every)?;
        next = engine.union(next, more)?;
        engine.held.push(next);
        next = with_late(engine, frontier, next)?;
        engine.held.push(next);
        let mut full = None;
        if dont_care {
            let all = engine.images(frontier, &every)?;
            engine.held.push(all);
            full = Some(with_late(engine, frontier, all)?);
        }
        if engine.has_holders() {
            next = followed(engine, next, &mut passed)?;
            engine.held.extend([next, passed]);
            if let Some(all) = full {
                engine.held.push(all);
                // What was passed through on the way to `next` is not passed through again.
                let all = followed(engine, all, &mut passed)?;
                engine.held.extend([all, passed]);
                full = Some(engine.union(all, next)?);
            }
        }
        reached.between = Some(passed);
        Ok((next, full))
    }
}

/// The process of each event, and the events of each process. A late event is by itself: where it is tried all others are
/// known to be disabled.
fn groups(system: &System) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let (mut group, mut members): (Vec<u32>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
    for (event, found) in system.events.iter().enumerate() {
        let owner = found.moves.first().filter(|_| !found.late).map(|m| m.process.0);
        let fresh = members.len() as u32;
        let number = owner.map_or(fresh, |owner| *numbers.entry(owner).or_insert(fresh));
        if number == fresh {
            members.push(Vec::new());
        }
        members[number as usize].push(event as u32);
        group.push(number);
    }
    (group, members)
}

/// The events that do not accord with each, without those that are never enabled together with it. Those of one process are
/// looked at together in any case.
fn conflicts(system: &System, dependence: &Dependence, group: &[u32]) -> Vec<Vec<u32>> {
    let events = system.events.len();
    let mut lists: Vec<Vec<u32>> =
        (0..events).map(|event| dependence.conflicts(EventId(event as u32)).to_vec()).collect();
    if lists.iter().map(Vec::len).sum::<usize>() > MOST_PAIRS {
        return lists;
    }
    let invariants = Invariants::at_a_glance(system);
    for (event, list) in lists.iter_mut().enumerate() {
        list.retain(|&other| {
            let (a, b) = (event.min(other as usize), event.max(other as usize));
            group[a] != group[b] && together(system, &invariants, &system.events[a], &system.events[b])
        });
    }
    lists
}

/// The vectors through which processes that go on alone come to these states.
fn leading(engine: &mut Engine, states: Set, between: Set) -> Result<Set, Halt> {
    let relations = engine.relations(|_| true);
    let first = engine.preimages(states, &relations, between)?;
    engine.held.push(first);
    let released = engine.releasing(states, between)?;
    let mut all = engine.union(first, released)?;
    let mut open = all;
    while !open.is_empty() {
        engine.held.extend([all, open]);
        let before = engine.preimages(open, &relations, between)?;
        engine.held.push(before);
        open = engine.minus(before, all)?;
        engine.held.push(open);
        all = engine.union(all, open)?;
    }
    Ok(all)
}

/// Reaches enough to answer the questions that the reduction was made for.
pub fn reach_reduced<'a>(
    engine: &mut Engine<'a>,
    reduction: &Reduction,
    dont_care: bool,
    watch: &mut Watch<'_, 'a>,
) -> Reached {
    let mut reached = Reached::default();
    let mark = engine.held.len();
    let end = rings(engine, reduction, dont_care, &mut reached, watch);
    engine.held.truncate(mark);
    reached.halt = end.err();
    reached
}

fn rings<'a>(
    engine: &mut Engine<'a>,
    reduction: &Reduction,
    dont_care: bool,
    reached: &mut Reached,
    watch: &mut Watch<'_, 'a>,
) -> Result<(), Halt> {
    let mark = engine.held.len();
    let mut frontier = engine.initial()?;
    reached.states = Some(frontier);
    reached.between = Some(Set::EMPTY);
    while !frontier.is_empty() {
        reached.rings.push(frontier);
        engine.held.truncate(mark);
        engine.held.extend(reached.sets());
        if mark == 0 {
            frontier = reordered(engine, reached)?;
        }
        // What is asked of these states is answered from what is known of their values.
        engine.learn(frontier)?;
        if !watch(engine, frontier)? {
            reached.stopped = true;
            return Ok(());
        }
        let before = reached.states();
        let (next, full) = reduction.step(engine, frontier, reached, dont_care)?;
        engine.held.truncate(mark);
        engine.held.extend(reached.sets());
        engine.held.push(next);
        engine.held.extend(full);
        let mut after = engine.union(before, next)?;
        if let Some(full) = full {
            engine.held.push(after);
            let most = engine.union(before, full)?;
            after = engine.attempt(&[after, most], |_, d| d.least_between(after, most))?;
        }
        engine.held.push(after);
        frontier = engine.minus(after, before)?;
        reached.states = Some(after);
    }
    Ok(())
}
