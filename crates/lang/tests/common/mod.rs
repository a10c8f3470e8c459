//! A plain breadth-first search over a [`System`], the way the reference counter explores DVE models.

use scrimp_system::{Event, Fault, Layout, Moment, Overflow, System};
use std::collections::HashMap;

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Counts {
    pub states: usize,
    pub transitions: usize,
    pub deadlocks: usize,
    pub violations: usize,
}

/// Explores all states, up to `limit`. Events with a fault are dropped; a claim moves along with the system.
pub fn count(system: &System, limit: usize) -> Counts {
    system.validate().expect("a front end must produce valid systems");
    let layout = Layout::new(system);
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut states: Vec<Vec<u8>> = Vec::new();
    for values in &system.initial {
        let mut state = vec![0; layout.bytes()];
        layout.encode(values, &mut state);
        seen.insert(state.clone(), 0);
        states.push(state);
    }
    let mut counts = Counts { states: 0, transitions: 0, deadlocks: 0, violations: 0 };
    let mut at = 0;
    while at < states.len() && states.len() <= limit {
        let state = states[at].clone();
        at += 1;
        let violated = |a: &scrimp_system::Assertion| layout.holds(&a.condition, &state) != Ok(true);
        counts.violations += system.assertions.iter().any(violated) as usize;
        let mut successors: Vec<Vec<u8>> =
            system.events.iter().filter_map(|e| step(system, &layout, e, &state).ok().flatten()).collect();
        counts.deadlocks += successors.is_empty() as usize;
        if let Some(claim) = &system.claim {
            let control = system.processes[claim.process.index()].control;
            let here = layout.read(&state, control, 0).unwrap();
            let targets: Vec<u32> = claim
                .moves
                .iter()
                .filter(|m| m.from as i64 == here && layout.holds(&m.guard, &state) == Ok(true))
                .map(|m| m.to)
                .collect();
            if successors.is_empty() {
                successors.push(state.clone());
            }
            let product = successors.iter().flat_map(|s| targets.iter().map(move |to| (s.clone(), *to)));
            successors = product
                .map(|(mut s, to)| {
                    layout.write(&mut s, control, 0, to as i64);
                    s
                })
                .collect();
        }
        counts.transitions += successors.len();
        for successor in successors {
            if !seen.contains_key(&successor) {
                seen.insert(successor.clone(), states.len());
                states.push(successor);
            }
        }
    }
    counts.states = states.len();
    counts
}

fn step(system: &System, layout: &Layout, event: &Event, state: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
    for m in &event.moves {
        if layout.read(state, system.processes[m.process.index()].control, 0)? != m.from as i64 {
            return Ok(None);
        }
    }
    if !layout.holds(&event.guard, state)? {
        return Ok(None);
    }
    let mut next = state.to_vec();
    for m in &event.moves {
        layout.write(&mut next, system.processes[m.process.index()].control, 0, m.to as i64);
    }
    for a in &event.effects {
        let value = match a.moment {
            Moment::Source => layout.eval(&a.value, state)?,
            Moment::Current => layout.eval(&a.value, &next)?,
        };
        let index = a.index.as_ref().map_or(Ok(0), |index| layout.eval(index, &next))?;
        layout.read(&next, a.target, index)?;
        let domain = system.variables[a.target.index()].domain;
        if domain.overflow == Overflow::Error && !domain.contains(value) {
            return Err(Fault::Range);
        }
        layout.write(&mut next, a.target, index as usize, value);
    }
    Ok(Some(next))
}
