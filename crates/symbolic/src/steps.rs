//! Steps between reachable states, taken backwards: where one leads to a set, where none leads anywhere, from where a set is
//! reached through others, and where one can stay for ever.
//!
//! A step is what the model makes: where a process goes on alone, all that it does until somebody else may move is one step,
//! and an event that is late makes one only where no other is enabled. An event that ends in a fault makes none.

use crate::diagram::{Halt, Relation, Set};
use crate::engine::Engine;
use crate::reach::Reached;

/// All steps between the reachable states. Its sets are held as long as it is in use.
pub struct Steps {
    /// The reachable states.
    pub states: Set,
    /// What processes that go on alone pass through.
    between: Set,
    /// Where late events are tried.
    idle: Set,
    /// The states without a successor.
    pub dead: Set,
}

impl Steps {
    /// The steps between all states that were reached, which must be all there are. Holds what it needs.
    pub fn new(engine: &mut Engine, reached: &Reached) -> Result<Steps, Halt> {
        let (states, between) = (reached.states(), reached.between());
        engine.held.extend([states, between]);
        engine.learn(states)?;
        engine.learn(between)?;
        let system = engine.system;
        let mut idle = Set::EMPTY;
        if system.events.iter().any(|event| event.late) {
            idle = engine.idle(states, true, |event| !system.events[event].late)?;
            engine.held.push(idle);
        }
        let mut steps = Steps { states, between, idle, dead: Set::EMPTY };
        let moving = match steps.are_relations(engine) {
            true => {
                steps.turn(engine)?;
                let left = engine.without(states, &engine.forwards.clone())?;
                engine.held.push(left);
                engine.minus(states, left)?
            }
            false => steps.before(engine, states, states)?,
        };
        engine.held.push(moving);
        steps.dead = engine.minus(states, moving)?;
        engine.held.push(steps.dead);
        Ok(steps)
    }

    /// Is every step what one relation says?
    fn are_relations(&self, engine: &Engine) -> bool {
        !engine.has_holders() && !engine.system.events.iter().any(|event| event.late)
    }

    /// Gathers the relations of all events and turns them round.
    fn turn(&self, engine: &mut Engine) -> Result<(), Halt> {
        let relations = engine.relations(|_| true);
        (engine.forwards, engine.backwards) = engine.attempt(&[], |_, d| {
            let forwards = d.gather(&relations)?;
            let mut backwards = Vec::with_capacity(forwards.len());
            for &relation in &forwards {
                backwards.push(d.inverse(relation)?);
            }
            Ok((forwards, backwards))
        })?;
        Ok(())
    }

    /// Those of these states from which one step leads into `target`.
    pub fn before(&self, engine: &mut Engine, target: Set, within: Set) -> Result<Set, Halt> {
        if target.is_empty() || within.is_empty() {
            return Ok(Set::EMPTY);
        }
        let system = engine.system;
        engine.scope(|engine| {
            engine.held.extend([target, within]);
            if self.are_relations(engine) {
                let relations = engine.forwards.clone();
                return engine.preimages(target, &relations, within);
            }
            let relations = engine.relations(|event| !system.events[event].late);
            let mut goal = target;
            if !self.between.is_empty() {
                let passed = self.passed(engine, target, &relations)?;
                engine.held.push(passed);
                goal = engine.union(target, passed)?;
                engine.held.push(goal);
            }
            let found = engine.preimages(goal, &relations, within)?;
            if self.idle.is_empty() {
                return Ok(found);
            }
            engine.held.push(found);
            let idle = engine.intersect(self.idle, within)?;
            engine.held.push(idle);
            let late = engine.relations(|event| system.events[event].late);
            let more = engine.preimages(goal, &late, idle)?;
            engine.union(found, more)
        })
    }

    /// What is passed through on the way into `target`.
    fn passed(&self, engine: &mut Engine, target: Set, relations: &[Relation]) -> Result<Set, Halt> {
        engine.scope(|engine| {
            let first = engine.preimages(target, relations, self.between)?;
            engine.held.push(first);
            let released = engine.releasing(target, self.between)?;
            let mut all = engine.union(first, released)?;
            let mut open = all;
            let mark = engine.held.len();
            while !open.is_empty() {
                engine.held.truncate(mark);
                engine.held.extend([all, open]);
                let before = engine.preimages(open, relations, self.between)?;
                engine.held.push(before);
                open = engine.minus(before, all)?;
                engine.held.push(open);
                all = engine.union(all, open)?;
            }
            Ok(all)
        })
    }

    /// The states from which `right` is reached through states of `left`, those of `right` among them.
    pub fn until(&self, engine: &mut Engine, left: Set, right: Set) -> Result<Set, Halt> {
        if right.is_empty() || left.is_empty() {
            return Ok(right);
        }
        engine.scope(|engine| {
            engine.held.extend([left, right]);
            if self.are_relations(engine) {
                let within = engine.union(left, right)?;
                engine.held.push(within);
                let backwards = engine.backwards.clone();
                return engine.saturate_within(right, &backwards, within);
            }
            let (mut all, mut open) = (right, right);
            let mark = engine.held.len();
            while !open.is_empty() {
                engine.held.truncate(mark);
                engine.held.extend([all, open]);
                let before = self.before(engine, open, left)?;
                engine.held.push(before);
                open = engine.minus(before, all)?;
                engine.held.push(open);
                all = engine.union(all, open)?;
            }
            Ok(all)
        })
    }

    /// Those of these states from which a step leads into `target`, or that are in it and have no successor.
    pub fn lasting(&self, engine: &mut Engine, target: Set, within: Set) -> Result<Set, Halt> {
        engine.scope(|engine| {
            engine.held.extend([target, within]);
            let ends = engine.intersect(target, self.dead)?;
            engine.held.push(ends);
            let ends = engine.intersect(ends, within)?;
            engine.held.push(ends);
            let before = self.before(engine, target, within)?;
            engine.union(before, ends)
        })
    }

    /// What is reached from `from` without leaving `within`, with those of `from` that are in it.
    pub fn onwards(&self, engine: &mut Engine, from: Set, within: Set) -> Result<Set, Halt> {
        engine.scope(|engine| {
            engine.held.extend([from, within]);
            if self.are_relations(engine) {
                let relations = engine.forwards.clone();
                return engine.saturate_within(from, &relations, within);
            }
            let mut all = engine.intersect(from, within)?;
            let mut open = all;
            let mark = engine.held.len();
            while !open.is_empty() {
                engine.held.truncate(mark);
                engine.held.extend([all, open]);
                let after = self.after(engine, open)?;
                engine.held.push(after);
                let after = engine.intersect(after, within)?;
                engine.held.push(after);
                open = engine.minus(after, all)?;
                engine.held.push(open);
                all = engine.union(all, open)?;
            }
            Ok(all)
        })
    }

    /// The states that one step leads to from these.
    pub fn after(&self, engine: &mut Engine, states: Set) -> Result<Set, Halt> {
        engine.scope(|engine| {
            engine.held.push(states);
            if self.are_relations(engine) {
                let relations = engine.forwards.clone();
                return engine.images(states, &relations);
            }
            // Nothing has been passed through yet: whatever is leads to states that count.
            crate::reach::step(engine, states, &mut None)
        })
    }
}
