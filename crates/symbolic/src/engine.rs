//! A system over diagrams: the rules of its events, the sets that must not be lost, and every operation within the limits.
//!
//! An operation that finds no room is done again after a collection. What a collection must leave is what the rules need
//! and what is held here; whoever computes with several sets holds those that a later operation needs.

use crate::action::{Action, actions};
use crate::diagram::{Diagrams, Halt, Kept, Relation, Set};
use crate::rule::Rule;
use crate::space::Space;
use scrimp_core::{Budget, Control};
use scrimp_system::{Layout, System};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Nodes that are worth a better order.
pub const REORDER_FROM: usize = 100_000;

/// Time for finding one, at least.
const REORDER_TIME: Duration = Duration::from_secs(2);

/// Unions that wait for each other.
const BLOCK: usize = 32;

/// What is known of one event.
pub struct EventRules {
    pub happens: Vec<Rule>,
    /// Where it ends in a fault; made when it is first needed.
    faults: Option<Vec<Rule>>,
    /// Cells of which new values make it look different.
    watched: Vec<u32>,
}

/// A system over diagrams.
pub struct Engine<'a> {
    pub system: &'a System,
    pub space: Space<'a>,
    pub diagrams: Diagrams,
    pub control: &'a Control,
    pub events: Vec<EventRules>,
    /// Sets that a collection leaves.
    pub held: Vec<Set>,
    /// Sets that it leaves too, whatever is held at the moment.
    pub pinned: Vec<Set>,
    /// Nodes from which on a better order of the levels is looked for; none where that is not wanted.
    pub reorder_at: Option<usize>,
    pub reorderings: u64,
    /// Relations that only change who goes on alone, by what they change.
    pub holder_changes: Vec<(Vec<(i64, i64)>, Relation)>,
    /// The relations of all events, as few as they can be, and the same turned round; where somebody asked for them.
    pub forwards: Vec<Relation>,
    pub backwards: Vec<Relation>,
    tick: u64,
}

impl<'a> Engine<'a> {
    /// Diagrams for a system whose cells have their levels already.
    pub fn new(space: Space<'a>, budget: &Arc<Budget>, control: &'a Control) -> io::Result<Engine<'a>> {
        let diagrams = Diagrams::new(budget, control.stop())?;
        let system = space.system;
        Ok(Engine {
            system,
            space,
            diagrams,
            control,
            events: Vec::new(),
            held: Vec::new(),
            pinned: Vec::new(),
            reorder_at: None,
            reorderings: 0,
            holder_changes: Vec::new(),
            forwards: Vec::new(),
            backwards: Vec::new(),
            tick: 0,
        })
    }

    /// Looks for a better order of the levels where these sets, which are all that is held, have grown much since it last
    /// did. They get new numbers then.
    pub fn reorder(&mut self, sets: &mut [Set]) -> Result<(), Halt> {
        let Some(most) = self.reorder_at.filter(|most| self.diagrams.live() >= *most) else { return Ok(()) };
        self.collect();
        let nodes = self.diagrams.nodes(sets);
        if nodes < most / 2 {
            return Ok(());
        }
        let time = REORDER_TIME.max(self.control.elapsed() / 4);
        let from = match self.diagrams.sift(sets, time, self.control) {
            Ok(from) => from,
            Err(Halt::Full) => {
                self.reorder_at = None;
                return Ok(());
            }
            Err(halt) => return Err(halt),
        };
        self.reorderings += 1;
        self.held = sets.to_vec();
        self.reorder_at = Some(4 * self.diagrams.nodes(sets).max(REORDER_FROM));
        let order = from.iter().map(|level| self.space.cell(*level)).collect();
        self.space.arrange(order);
        self.prepare()
    }

    /// Makes the rules of all events.
    pub fn prepare(&mut self) -> Result<(), Halt> {
        self.events.clear();
        self.holder_changes.clear();
        self.forwards.clear();
        self.backwards.clear();
        // Where nobody can go on is looked at all the time then.
        let with_faults = self.has_holders() || self.system.events.iter().any(|event| event.late);
        for number in 0..self.system.events.len() {
            let rules = self.rules_of(number, with_faults)?;
            self.events.push(rules);
        }
        Ok(())
    }

    /// Makes the rules of an event.
    fn rules_of(&mut self, number: usize, with_faults: bool) -> Result<EventRules, Halt> {
        let found = actions(&self.space, &self.system.events[number]);
        let mut watched = found.split_by;
        let kinds = [(&found.happens, true), (&found.faults, with_faults)];
        let (mut rules, mut first_fault) = (Vec::new(), 0);
        for (list, wanted) in kinds {
            first_fault = rules.len();
            for action in list.iter().filter(|_| wanted) {
                let rule = self.rule(action, &rules)?;
                watched.extend(&rule.cells);
                if !rule.is_impossible() || rule.cells.iter().any(|cell| !self.space.is_complete(*cell)) {
                    rules.push(rule);
                }
            }
        }
        let faults = rules.split_off(first_fault);
        watched.sort_unstable();
        watched.dedup();
        watched.retain(|cell| !self.space.is_complete(*cell));
        Ok(EventRules { happens: rules, faults: with_faults.then_some(faults), watched })
    }

    fn rule(&mut self, action: &Action, beside: &[Rule]) -> Result<Rule, Halt> {
        match Rule::new(&mut self.space, &mut self.diagrams, action) {
            Err(Halt::Full) => {}
            made => return made,
        }
        let (mut sets, mut relations) = (Vec::new(), Vec::new());
        beside.iter().for_each(|rule| rule.roots(&mut sets, &mut relations));
        self.collect_beside(&sets, &relations);
        Rule::new(&mut self.space, &mut self.diagrams, action)
    }

    /// Frees what neither the rules nor those who hold sets need.
    pub fn collect(&mut self) {
        self.collect_beside(&[], &[]);
    }

    fn collect_beside(&mut self, sets: &[Set], relations: &[Relation]) {
        let (mut sets, mut relations) = (sets.to_vec(), relations.to_vec());
        self.roots(&mut sets, &mut relations);
        self.diagrams.collect(&sets, &relations);
    }

    fn roots(&self, sets: &mut Vec<Set>, relations: &mut Vec<Relation>) {
        sets.extend(self.held.iter().chain(&self.pinned));
        relations.extend(self.holder_changes.iter().map(|(_, relation)| *relation));
        relations.extend(self.forwards.iter().chain(&self.backwards));
        for event in &self.events {
            for rule in event.happens.iter().chain(event.faults.iter().flatten()) {
                rule.roots(sets, relations);
            }
        }
    }

    /// Does what may find no room, once more after a collection; these sets are among what it needs.
    pub fn attempt<T>(
        &mut self,
        operands: &[Set],
        mut work: impl FnMut(&mut Space<'a>, &mut Diagrams) -> Result<T, Halt>,
    ) -> Result<T, Halt> {
        self.tick += 1;
        self.control.nodes.store(self.diagrams.live() as u64, Ordering::Relaxed);
        if let Some(limit) = self.control.stopped(self.tick) {
            return Err(Halt::Limit(limit));
        }
        if self.diagrams.is_littered() {
            self.collect_beside(operands, &[]);
        }
        match work(&mut self.space, &mut self.diagrams) {
            Err(Halt::Full) => {}
            done => return done,
        }
        self.collect_beside(operands, &[]);
        work(&mut self.space, &mut self.diagrams)
    }

    /// Holds what is held now only, once the work is done.
    pub fn scope<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Halt>) -> Result<T, Halt> {
        let mark = self.held.len();
        let done = work(self);
        self.held.truncate(mark);
        done
    }

    /// The vectors of either.
    pub fn union(&mut self, a: Set, b: Set) -> Result<Set, Halt> {
        self.attempt(&[a, b], |_, d| d.union(a, b))
    }

    /// The vectors of both.
    pub fn intersect(&mut self, a: Set, b: Set) -> Result<Set, Halt> {
        self.attempt(&[a, b], |_, d| d.intersect(a, b))
    }

    /// The vectors of the first that are not in the second.
    pub fn minus(&mut self, a: Set, b: Set) -> Result<Set, Halt> {
        self.attempt(&[a, b], |_, d| d.minus(a, b))
    }

    /// The set of the initial states.
    pub fn initial(&mut self) -> Result<Set, Halt> {
        let system = self.system;
        self.attempt(&[], |space, d| {
            let mut vectors: Vec<Vec<u32>> = system.initial.iter().map(|valuation| space.vector(valuation)).collect();
            d.of_vectors(&mut vectors)
        })
    }

    /// The set with one state.
    pub fn single(&mut self, vector: &[u32]) -> Result<Set, Halt> {
        self.attempt(&[], |_, d| d.single(vector))
    }

    /// Makes the rules for faults, where they are not there yet.
    pub fn need_faults(&mut self) -> Result<(), Halt> {
        for number in 0..self.events.len() {
            if self.events[number].faults.is_none() {
                self.events[number] = self.rules_of(number, true)?;
            }
        }
        Ok(())
    }

    /// Takes up what these states show for the first time. Says whether there was anything.
    pub fn learn(&mut self, states: Set) -> Result<bool, Halt> {
        let mut grown = Vec::new();
        if !self.space.is_all_complete() {
            for (level, occurring) in self.diagrams.values_by_level(states).iter().enumerate() {
                let cell = self.space.cell(level);
                if !self.space.is_complete(cell) && self.space.learn(cell, occurring) {
                    grown.push(cell);
                }
            }
        }
        grown.sort_unstable();
        let mark = self.held.len();
        self.held.push(states);
        let mut learnt = !grown.is_empty();
        for number in 0..self.events.len() {
            let event = &self.events[number];
            if event.watched.iter().any(|cell| grown.binary_search(cell).is_ok()) {
                self.events[number] = self.rules_of(number, event.faults.is_some())?;
            }
            for kind in 0..2 {
                for at in 0.. {
                    let event = &mut self.events[number];
                    let list = if kind == 0 { Some(&mut event.happens) } else { event.faults.as_mut() };
                    let Some(rule) = list.and_then(|list| list.get_mut(at)) else { break };
                    if !rule.learns() {
                        continue;
                    }
                    match rule.learn(&mut self.space, &mut self.diagrams, states) {
                        Ok(new) => learnt |= new,
                        Err(Halt::Full) => {
                            self.collect();
                            let event = &mut self.events[number];
                            let list = if kind == 0 { Some(&mut event.happens) } else { event.faults.as_mut() };
                            let Some(rule) = list.and_then(|list| list.get_mut(at)) else { break };
                            learnt |= rule.learn(&mut self.space, &mut self.diagrams, states)?;
                        }
                        Err(halt) => return Err(halt),
                    }
                }
            }
        }
        self.held.truncate(mark);
        Ok(learnt)
    }

    /// The relations of the events that are chosen.
    pub fn relations(&self, chosen: impl Fn(usize) -> bool) -> Vec<Relation> {
        let chosen = self.events.iter().enumerate().filter(|(number, _)| chosen(*number));
        let rules = chosen.flat_map(|(_, event)| &event.happens).map(|rule| rule.relation);
        rules.filter(|relation| !relation.is_empty()).collect()
    }

    /// The relations that lead from the states where these events end in a fault; empty until they are needed.
    fn fault_relations(&self, chosen: impl Fn(usize) -> bool) -> Vec<Relation> {
        let chosen = self.events.iter().enumerate().filter(|(number, _)| chosen(*number));
        let rules = chosen.flat_map(|(_, event)| event.faults.iter().flatten()).map(|rule| rule.relation);
        rules.filter(|relation| !relation.is_empty()).collect()
    }

    /// The relations that lead from where an event happens or ends in a fault.
    pub fn moving(&self, event: usize) -> Vec<Relation> {
        let rules = &self.events[event];
        let all = rules.happens.iter().chain(rules.faults.iter().flatten()).map(|rule| rule.relation);
        all.filter(|relation| !relation.is_empty()).collect()
    }

    /// What all of these relations lead to together.
    pub fn images(&mut self, states: Set, relations: &[Relation]) -> Result<Set, Halt> {
        self.unions(states, relations, |d, set, relation| d.image(set, relation))
    }

    /// The states that any of these relations leads from.
    pub fn domains(&mut self, states: Set, relations: &[Relation]) -> Result<Set, Halt> {
        self.unions(states, relations, |d, set, relation| d.domain(set, relation))
    }

    /// The states of `within` that any of these relations leads from to one of `states`.
    pub fn preimages(&mut self, states: Set, relations: &[Relation], within: Set) -> Result<Set, Halt> {
        self.scope(|engine| {
            engine.held.push(within);
            engine.unions(states, relations, |d, set, relation| d.preimage(set, relation, within))
        })
    }

    fn unions(
        &mut self,
        states: Set,
        relations: &[Relation],
        mut part: impl FnMut(&mut Diagrams, Set, Relation) -> Result<Set, Halt>,
    ) -> Result<Set, Halt> {
        if states.is_empty() {
            return Ok(Set::EMPTY);
        }
        self.scope(|engine| {
            engine.held.push(states);
            let mark = engine.held.len();
            for &relation in relations {
                let found = engine.attempt(&[], |_, d| part(d, states, relation))?;
                engine.held.push(found);
                if engine.held.len() - mark >= BLOCK {
                    let parts = engine.held[mark..].to_vec();
                    let all = engine.attempt(&[], |_, d| d.union_all(parts.clone()))?;
                    engine.held.truncate(mark);
                    engine.held.push(all);
                }
            }
            let parts = engine.held[mark..].to_vec();
            engine.attempt(&[], |_, d| d.union_all(parts.clone()))
        })
    }

    /// Those of these states from which none of the relations leads anywhere.
    pub fn without(&mut self, states: Set, relations: &[Relation]) -> Result<Set, Halt> {
        let mut left = states;
        for &relation in relations {
            if left.is_empty() {
                break;
            }
            left = self.attempt(&[left], |_, d| {
                let some = d.domain(left, relation)?;
                d.minus(left, some)
            })?;
        }
        Ok(left)
    }

    /// Those of these states where no event that is chosen happens or, `with_faults`, ends in a fault.
    pub fn idle(&mut self, states: Set, with_faults: bool, chosen: impl Fn(usize) -> bool) -> Result<Set, Halt> {
        if states.is_empty() {
            return Ok(states);
        }
        self.scope(|engine| {
            engine.held.push(states);
            if with_faults {
                engine.need_faults()?;
            }
            engine.learn(states)?;
            let left = engine.without(states, &engine.relations(&chosen))?;
            match with_faults {
                true => engine.without(left, &engine.fault_relations(&chosen)),
                false => Ok(left),
            }
        })
    }

    /// Those of these states where events are tried that are, or are not, late.
    fn tried(&mut self, states: Set, late: bool) -> Result<Set, Halt> {
        let system = self.system;
        match late {
            false => Ok(states),
            true if !system.events.iter().any(|event| event.late) => Ok(Set::EMPTY),
            true => self.idle(states, true, |event| !system.events[event].late),
        }
    }

    /// Those of these states where an event ends in a fault.
    pub fn faulty(&mut self, states: Set) -> Result<Set, Halt> {
        let system = self.system;
        self.scope(|engine| {
            engine.held.push(states);
            engine.need_faults()?;
            engine.learn(states)?;
            let mut all = Set::EMPTY;
            for late in [false, true] {
                let here = engine.tried(states, late)?;
                let relations = engine.fault_relations(|event| system.events[event].late == late);
                let found = engine.domains(here, &relations)?;
                all = engine.union(all, found)?;
                engine.held.push(all);
            }
            Ok(all)
        })
    }

    /// Those of these states where an event violates its assertion.
    pub fn violating(&mut self, states: Set) -> Result<Set, Halt> {
        let system = self.system;
        self.scope(|engine| {
            let mut all = Set::EMPTY;
            for late in [false, true] {
                let events = system.events.iter().filter(|event| event.assertion.is_some() && event.late == late);
                let list: Vec<Action> = events.flat_map(|event| actions(&engine.space, event).violates).collect();
                let here = if list.is_empty() { Set::EMPTY } else { engine.tried(states, late)? };
                let found = engine.filter(here, &list)?;
                all = engine.union(all, found)?;
                engine.held.push(all);
            }
            Ok(all)
        })
    }

    /// Everything that can be reached from these states without leaving `within`; both are held by somebody.
    pub fn saturate_within(&mut self, states: Set, relations: &[Relation], within: Set) -> Result<Set, Halt> {
        let (mut sets, mut kept) = (Vec::new(), Vec::new());
        self.roots(&mut sets, &mut kept);
        self.diagrams.saturate_within(states, relations, within, Kept { sets: &sets, relations: &kept }, self.control)
    }

    /// Everything that can be reached from these states.
    pub fn saturate(&mut self, states: Set, relations: &[Relation]) -> Result<Set, Halt> {
        let (mut sets, mut kept) = (Vec::new(), Vec::new());
        self.roots(&mut sets, &mut kept);
        self.diagrams.saturate(states, relations, Kept { sets: &sets, relations: &kept }, self.control)
    }
}

/// The layout of a system's cells as levels: the order that was asked for, the holder's cell at the bottom.
pub fn arranged<'a>(system: &'a System, layout: &'a Layout, given: bool) -> Space<'a> {
    let mut space = Space::new(system, layout);
    let varying = space.varying();
    let mut order = varying.clone();
    if !given {
        let mut number = vec![u32::MAX; space.count()];
        varying.iter().enumerate().for_each(|(at, cell)| number[*cell as usize] = at as u32);
        let mut groups = Vec::new();
        for event in &system.events {
            for action in actions(&space, event).happens {
                let mut cells: Vec<u32> = action.sets.iter().map(|(cell, _)| *cell).collect();
                action.sets.iter().for_each(|(_, term)| term.cells(&mut |cell| cells.push(cell)));
                action.tests.iter().for_each(|test| test.term().cells(&mut |cell| cells.push(cell)));
                cells.retain(|cell| number[*cell as usize] != u32::MAX);
                groups.push(cells.iter().map(|cell| number[*cell as usize]).collect());
            }
        }
        order = crate::order::force(varying.len(), &groups).into_iter().map(|at| varying[at as usize]).collect();
    }
    order.extend(space.holder.filter(|holder| space.constant(*holder).is_none()));
    space.arrange(order);
    space
}
