//! The plainest breadth-first search there is, which engines are held against: states in a set of the standard library, one level after the
//! other.

use scrimp_core::{Property, PropertyKind};
use scrimp_native::NativeModel;
use scrimp_system::{Batch, Expr, Fault, Model};
use std::collections::HashSet;

/// What a plain search counts, and the level on which it meets what decides each goal.
#[derive(Debug, PartialEq, Eq)]
pub struct Reference {
    pub widths: Vec<u64>,
    pub initial: u64,
    pub transitions: u64,
    pub deadlocks: u64,
    pub faults: u64,
    pub degree: u64,
    pub decided: Vec<Option<usize>>,
}

/// `None` if there are more than `most` states, or the system is too small for its model.
pub fn reference(model: &NativeModel, goals: &[Property<Expr>], most: usize) -> Option<Reference> {
    let mut found = Reference {
        widths: Vec::new(),
        initial: 0,
        transitions: 0,
        deadlocks: 0,
        faults: 0,
        degree: 0,
        decided: vec![None; goals.len()],
    };
    let mut batch = Batch::new(model.state_bytes());
    model.initial(&mut batch);
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut level: Vec<Vec<u8>> = (0..batch.len()).map(|i| batch.state(i).to_vec()).collect();
    level.retain(|state| seen.insert(state.clone()));
    found.initial = level.len() as u64;
    while !level.is_empty() {
        found.widths.push(level.len() as u64);
        let mut next = Vec::new();
        for state in &level {
            batch.clear();
            model.expand(state, &mut batch);
            let count = batch.len();
            let deadlock = batch.take_deadlock(count);
            found.transitions += count as u64;
            found.degree = found.degree.max(count as u64);
            found.deadlocks += deadlock as u64;
            found.faults += batch.faults().len() as u64;
            let fault = |asserted| batch.faults().iter().any(|record| (record.fault == Fault::Assertion) == asserted);
            for (goal, decided) in goals.iter().zip(&mut found.decided) {
                let here = match &goal.kind {
                    PropertyKind::Deadlock => deadlock,
                    PropertyKind::Faults => fault(false),
                    PropertyKind::Assertions => fault(true),
                    PropertyKind::Invariant(e) => model.layout().holds(e, state) != Ok(true),
                    PropertyKind::Reach(e) => model.layout().holds(e, state) == Ok(true),
                    kind => panic!("{kind:?}"),
                };
                if here && decided.is_none() {
                    *decided = Some(found.widths.len() - 1);
                }
            }
            for i in 0..count {
                if seen.insert(batch.state(i).to_vec()) {
                    next.push(batch.state(i).to_vec());
                }
            }
        }
        if seen.len() > most || model.is_outgrown() {
            return None;
        }
        level = next;
    }
    Some(found)
}
