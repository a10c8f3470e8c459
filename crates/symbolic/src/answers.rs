//! What a set of states says: where there are deadlocks and faults, where conditions hold, how many steps there are.

use crate::action::{Sought, actions};
use crate::diagram::{Halt, Set};
use crate::engine::Engine;
use crate::reach::Reached;
use num_bigint::BigUint;
use scrimp_core::PropertyKind;
use scrimp_system::{Expr, System};

/// Are a state's successors nothing but what single events lead to? A state is a deadlock then if it has none; otherwise an
/// event that ends in a fault is something that can happen.
pub fn is_plain(system: &System) -> bool {
    let simple = system.events.iter().all(|event| !event.late && event.then.exclusive().is_none());
    simple && system.valid_end.is_none() && system.outgrown.is_none() && !system.guessed
}

/// Those of these states that decide a question. What lies between states is looked at too where faults are asked for.
pub fn deciding(engine: &mut Engine, kind: &PropertyKind<Expr>, states: Set, between: Set) -> Result<Set, Halt> {
    engine.scope(|engine| {
        engine.held.extend([states, between]);
        match kind {
            PropertyKind::Deadlock => deadlocks(engine, states),
            PropertyKind::Invariant(condition) => engine.where_condition(states, condition, Sought::FailsOrFaults),
            PropertyKind::Reach(condition) => engine.where_condition(states, condition, Sought::Holds),
            PropertyKind::Faults => {
                let here = engine.faulty(states)?;
                if between.is_empty() {
                    return Ok(here);
                }
                engine.held.push(here);
                let passed = engine.faulty(between)?;
                engine.held.push(passed);
                let (_, stuck) = engine.released(between)?;
                let bad = engine.union(passed, stuck)?;
                engine.held.push(bad);
                let before = origins(engine, bad, states, between)?;
                engine.union(here, before)
            }
            PropertyKind::Assertions => {
                let here = engine.violating(states)?;
                if between.is_empty() {
                    return Ok(here);
                }
                engine.held.push(here);
                let passed = engine.violating(between)?;
                engine.held.push(passed);
                let before = origins(engine, passed, states, between)?;
                engine.union(here, before)
            }
            // What is about runs is decided by no single state.
            _ => Ok(Set::EMPTY),
        }
    })
}

/// The deadlocks among these states.
pub fn deadlocks(engine: &mut Engine, states: Set) -> Result<Set, Halt> {
    let faults_count = !is_plain(engine.system);
    let idle = engine.idle(states, faults_count, |_| true)?;
    match &engine.system.valid_end {
        None => Ok(idle),
        Some(end) => engine.scope(|engine| {
            engine.held.push(idle);
            let ended = engine.where_condition(idle, end, Sought::Holds)?;
            engine.minus(idle, ended)
        }),
    }
}

/// The states from which processes that go on alone come to these vectors.
pub fn origins(engine: &mut Engine, vectors: Set, states: Set, between: Set) -> Result<Set, Halt> {
    let mut found = Set::EMPTY;
    let (mut seen, mut open) = (vectors, vectors);
    while !open.is_empty() {
        (found, seen, open) = engine.scope(|engine| {
            engine.held.extend([vectors, states, between, found, seen, open]);
            let relations = engine.relations(|_| true);
            let before = engine.preimages(open, &relations, states)?;
            let found = engine.union(found, before)?;
            engine.held.push(found);
            let passed = engine.preimages(open, &relations, between)?;
            engine.held.push(passed);
            let open = engine.minus(passed, seen)?;
            engine.held.push(open);
            let seen = engine.union(seen, open)?;
            Ok((found, seen, open))
        })?;
    }
    Ok(found)
}

/// States where an event has no room: the system was made too small.
pub fn outgrown(engine: &mut Engine, reached: &Reached) -> Result<Set, Halt> {
    let system = engine.system;
    let (states, between) = (reached.states(), reached.between());
    if system.guessed {
        return engine.faulty(states);
    }
    let Some(message) = system.outgrown else { return Ok(Set::EMPTY) };
    let mut list = Vec::new();
    for event in system.events.iter().filter(|event| event.fault == Some(message)) {
        list.extend(actions(&engine.space, event).faults);
    }
    engine.scope(|engine| {
        engine.held.extend([states, between]);
        let here = engine.filter(states, &list)?;
        if between.is_empty() {
            return Ok(here);
        }
        engine.held.push(here);
        let passed = engine.filter(between, &list)?;
        engine.held.push(passed);
        let before = origins(engine, passed, states, between)?;
        engine.union(here, before)
    })
}

/// States from which a process that goes on alone may go round for ever, without coming to a state or to a fault.
pub fn endless(engine: &mut Engine, reached: &Reached) -> Result<Set, Halt> {
    let (states, between) = (reached.states(), reached.between());
    if between.is_empty() {
        return Ok(Set::EMPTY);
    }
    engine.scope(|engine| {
        engine.held.extend([states, between]);
        let relations = engine.relations(|_| true);
        // What comes to something: a state, an end that is one, a fault; and whatever leads there.
        let (freed, stuck) = engine.released(between)?;
        engine.held.extend([freed, stuck]);
        let ending = engine.releasing(freed, between)?;
        engine.held.push(ending);
        let faulty = engine.faulty(between)?;
        engine.held.push(faulty);
        let leaving = engine.preimages(states, &relations, between)?;
        let mut good = Set::EMPTY;
        for part in [stuck, ending, faulty, leaving] {
            good = engine.union(good, part)?;
            engine.held.push(good);
        }
        let mut open = good;
        while !open.is_empty() {
            let before = engine.preimages(open, &relations, between)?;
            engine.held.push(before);
            open = engine.minus(before, good)?;
            engine.held.push(open);
            good = engine.union(good, open)?;
            engine.held.push(good);
        }
        let bad = engine.minus(between, good)?;
        engine.held.push(bad);
        engine.preimages(bad, &relations, states)
    })
}

/// The number of steps: states with the events that happen in them. `None` where a step is more than one event.
pub fn transitions(engine: &mut Engine, states: Set) -> Result<Option<BigUint>, Halt> {
    if engine.has_holders() {
        return Ok(None);
    }
    let system = engine.system;
    let mut sum = BigUint::ZERO;
    engine.scope(|engine| {
        engine.held.push(states);
        engine.learn(states)?;
        let mut idle = Set::EMPTY;
        if system.events.iter().any(|event| event.late) {
            idle = engine.idle(states, true, |event| !system.events[event].late)?;
            engine.held.push(idle);
        }
        for (late, from) in [(false, states), (true, idle)] {
            for relation in engine.relations(|event| system.events[event].late == late) {
                let some = engine.attempt(&[], |_, d| d.domain(from, relation))?;
                sum += engine.diagrams.count(some);
            }
        }
        Ok(Some(sum))
    })
}
