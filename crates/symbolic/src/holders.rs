//! Processes that go on alone: vectors in which one does are no states, and lead to some.

use crate::diagram::{Halt, Relation, Set};
use crate::engine::Engine;
use crate::space::holder_value;
use scrimp_system::{ProcessId, System, Then};

impl Engine<'_> {
    /// Does anybody ever go on alone?
    pub fn has_holders(&self) -> bool {
        self.space.holder.is_some_and(|holder| self.space.constant(holder).is_none())
    }

    /// The relation that changes who goes on alone in this way.
    fn holders(&mut self, changed: &[(i64, i64)]) -> Result<Relation, Halt> {
        let Some(holder) = self.space.holder else { return Ok(Relation::IDENTITY) };
        if let Some((_, known)) = self.holder_changes.iter().find(|(changes, _)| changes == changed) {
            return Ok(*known);
        }
        let level = self.space.level(holder);
        let made = self.attempt(&[], |space, d| {
            let mut number = |value| vec![space.number(holder, value)];
            let pairs: Vec<(Vec<u32>, Vec<u32>)> = changed.iter().map(|(a, b)| (number(*a), number(*b))).collect();
            d.relation(&[level], &pairs)
        })?;
        self.holder_changes.push((changed.to_vec(), made));
        Ok(made)
    }

    /// Those of these vectors in which nobody goes on alone: the states of the system.
    pub fn free(&mut self, vectors: Set) -> Result<Set, Halt> {
        if !self.has_holders() {
            return Ok(vectors);
        }
        self.scope(|engine| {
            engine.held.push(vectors);
            let test = engine.holders(&[(0, 0)])?;
            engine.attempt(&[], |_, d| d.image(vectors, test))
        })
    }

    /// The processes after which somebody goes on alone, with what they may do then.
    fn kinds(&self) -> Vec<Then> {
        let mut kinds: Vec<Then> = Vec::new();
        for event in self.system.events.iter().filter(|event| event.then.exclusive().is_some()) {
            if !kinds.contains(&event.then) {
                kinds.push(event.then);
            }
        }
        kinds
    }

    /// Of vectors in which somebody goes on alone, where that one cannot: as states in which everybody may move, and those
    /// that are stuck for good.
    pub fn released(&mut self, vectors: Set) -> Result<(Set, Set), Halt> {
        let (mut states, mut stuck) = (Set::EMPTY, Set::EMPTY);
        for then in self.kinds() {
            let (Then::Atomic(process) | Then::DStep(process)) = then else { continue };
            (states, stuck) = self.scope(|engine| {
                engine.held.extend([vectors, states, stuck]);
                let value = holder_value(then);
                let test = engine.holders(&[(value, value)])?;
                let these = engine.attempt(&[], |_, d| d.image(vectors, test))?;
                let system = engine.system;
                let own = |number: usize| own_event(system, number, process);
                let ended = engine.idle(these, true, own)?;
                if let Then::DStep(_) = then {
                    let stuck = engine.union(stuck, ended)?;
                    return Ok((states, stuck));
                }
                engine.held.push(ended);
                let release = engine.holders(&[(value, 0)])?;
                let freed = engine.attempt(&[], |_, d| d.image(ended, release))?;
                let states = engine.union(states, freed)?;
                Ok((states, stuck))
            })?;
        }
        Ok((states, stuck))
    }

    /// Of vectors in which somebody goes on alone and cannot, those that are one of these states after all.
    pub fn releasing(&mut self, states: Set, within: Set) -> Result<Set, Halt> {
        let mut all = Set::EMPTY;
        // One after the other: where somebody else would go on from the same state, it need not be a state.
        for then in self.kinds() {
            let Then::Atomic(process) = then else { continue };
            all = self.scope(|engine| {
                engine.held.extend([states, within, all]);
                let release = engine.holders(&[(holder_value(then), 0)])?;
                let back = engine.preimages(states, &[release], within)?;
                let system = engine.system;
                let ended = engine.idle(back, true, |number| own_event(system, number, process))?;
                engine.union(all, ended)
            })?;
        }
        Ok(all)
    }
}

/// Is this an event by which the process goes on alone?
fn own_event(system: &System, number: usize, process: ProcessId) -> bool {
    let event = &system.events[number];
    !event.late && event.moves.first().is_some_and(|m| m.process == process)
}
