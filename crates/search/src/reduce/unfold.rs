//! From a run through representatives back to a run of the model.
//!
//! A representative's successor is the representative of what its state leads to. So the run is walked once more with real
//! states: at each step some event leads into the next orbit. A cycle of orbits closes after so many rounds that the state at
//! its beginning has come before. Where a condition holds in another state of the last orbit, the whole run is renamed.

use super::orbits::Orbits;
use crate::liveness::STUTTER;
use scrimp_core::{Condition, Evidence, Property, PropertyKind, PropertyResult, Trace};
use scrimp_system::{Batch, EventCode};

/// Events and what they lead to.
type Steps = Vec<(EventCode, Vec<u8>)>;

impl Orbits<'_> {
    /// Puts a real run in place of each result's run through representatives.
    pub fn unfold_results(&self, properties: &[Property<Condition>], results: &mut [PropertyResult]) {
        let mut number = 0;
        for (property, result) in properties.iter().zip(results) {
            let own = number;
            number += property.condition().is_some() as usize;
            self.unfold_result(property, own, result);
        }
    }

    fn unfold_result(&self, property: &Property<Condition>, number: usize, result: &mut PropertyResult) {
        let run = result.trace.take().and_then(|trace| self.run_through(&trace));
        let (sought, condition) = match &property.kind {
            PropertyKind::Invariant(condition) => (false, Some(condition)),
            PropertyKind::Reach(condition) => (true, Some(condition)),
            _ => (false, None),
        };
        let Some(condition) = condition else {
            if let Some(run) = run {
                result.state = Some(run.last().to_vec());
                result.fault = result.fault.and_then(|(_, fault)| self.fault_like(run.last(), fault));
                result.trace = Some(run);
            }
            return;
        };
        let last = run.as_ref().map(|run| run.last().to_vec()).or_else(|| result.state.take());
        let Some(last) = last else { return };
        let decides = |image: &usize| {
            let value = (condition.holds)(&self.symmetry.seen_from(number, *image, &last));
            value.map_or(!sought, |holds| holds == sought)
        };
        let image = (0..self.symmetry.images(number)).find(decides).unwrap_or(0);
        let seen = |state: &[u8]| self.symmetry.seen_from(number, image, state);
        result.state = Some(seen(&last));
        result.condition_fault = result.state.as_ref().and_then(|state| (condition.holds)(state).err());
        result.trace = run.and_then(|run| {
            let states: Vec<Vec<u8>> = run.steps.iter().map(|(_, state)| seen(state)).collect();
            self.run_along(seen(&run.initial), &states)
        });
    }

    /// The event of a run-time error of this kind in a state.
    fn fault_like(&self, state: &[u8], fault: scrimp_system::Fault) -> Option<(EventCode, scrimp_system::Fault)> {
        let mut batch = Batch::new(self.model.state_bytes());
        self.model.expand(state, &mut batch);
        let found = {
            // Where operands change places, another one of them may be the first to fail.
            let assertion = |fault| fault == scrimp_system::Fault::Assertion;
            let same = batch.faults().iter().find(|record| record.fault == fault);
            same.or_else(|| batch.faults().iter().find(|record| assertion(record.fault) == assertion(fault)))
        };
        found.map(|record| (record.event, record.fault))
    }

    /// The run through exactly these states.
    fn run_along(&self, initial: Vec<u8>, states: &[Vec<u8>]) -> Option<Trace> {
        let mut steps: Steps = Vec::with_capacity(states.len());
        let mut now = initial.clone();
        for next in states {
            let (event, state) = self.step(&now, &|state| state == next)?;
            now = state.clone();
            steps.push((event, state));
        }
        Some(Trace { initial, steps })
    }

    /// A real run through the orbits of a run.
    fn run_through(&self, run: &Trace) -> Option<Trace> {
        let initial = self.start(&run.initial)?;
        let steps = self.walk(&initial, &run.steps)?;
        Some(Trace { initial, steps })
    }

    /// A real infinite run through the orbits of one, with the beginning of its cycle.
    pub fn unfold_lasso(&self, run: &Trace, cycle: usize) -> Option<(Trace, usize)> {
        if cycle == run.steps.len() {
            return self.run_through(run).map(|run| (run, cycle));
        }
        let initial = self.start(&run.initial)?;
        let (steps, cycle, _) = self.walk_round(&initial, &run.steps, cycle)?;
        Some((Trace { initial, steps }, cycle))
    }

    fn start(&self, representative: &[u8]) -> Option<Vec<u8>> {
        let mut batch = Batch::new(self.model.state_bytes());
        self.model.initial(&mut batch);
        let found = (0..batch.len()).find(|&i| self.represented(batch.state(i)) == representative);
        found.map(|i| batch.state(i).to_vec())
    }

    /// A real run from a state, through the orbits of these steps.
    fn walk(&self, from: &[u8], steps: &[(EventCode, Vec<u8>)]) -> Option<Steps> {
        let mut now = from.to_vec();
        let mut real = Vec::with_capacity(steps.len());
        for (event, next) in steps {
            // A run that cannot go on repeats its last state.
            let step = match *event {
                STUTTER => (STUTTER, now.clone()),
                _ => self.step(&now, &|state| self.represented(state) == *next)?,
            };
            now = step.1.clone();
            real.push(step);
        }
        Some(real)
    }

    /// The same where the steps from `cycle` on are repeated for ever; answers how many rounds it takes too.
    fn walk_round(&self, from: &[u8], steps: &[(EventCode, Vec<u8>)], cycle: usize) -> Option<(Steps, usize, usize)> {
        let mut real = self.walk(from, &steps[..cycle])?;
        let mut begins = vec![real.last().map_or(from, |(_, state)| state).to_vec()];
        loop {
            let round = self.walk(&begins[begins.len() - 1], &steps[cycle..])?;
            real.extend(round);
            let now = &real.last()?.1;
            if let Some(first) = begins.iter().position(|begin| begin == now) {
                return Some((real, cycle + first * (steps.len() - cycle), begins.len()));
            }
            begins.push(now.clone());
        }
    }

    fn step(&self, from: &[u8], fits: &dyn Fn(&[u8]) -> bool) -> Option<(EventCode, Vec<u8>)> {
        let mut batch = Batch::new(self.model.state_bytes());
        self.model.expand(from, &mut batch);
        let found = (0..batch.len()).find(|&i| fits(batch.state(i)));
        found.map(|i| (batch.event(i), batch.state(i).to_vec()))
    }

    /// Puts real runs in place of those through representatives, in all that explains a formula.
    pub fn unfold_evidence(&self, evidence: &Evidence) -> Option<Evidence> {
        self.evidence_from(&self.start(&evidence.initial)?, evidence)
    }

    fn evidence_from(&self, from: &[u8], evidence: &Evidence) -> Option<Evidence> {
        let Evidence { steps, cycle, parts, .. } = evidence;
        let (real, closed, rounds) = match cycle {
            Some(cycle) => {
                let (real, closed, rounds) = self.walk_round(from, steps, *cycle)?;
                (real, Some(closed), rounds)
            }
            None => (self.walk(from, steps)?, None, 1),
        };
        let mut told = Vec::new();
        for round in 0..rounds {
            for (at, part) in parts {
                // What belongs to the way to the cycle is told once.
                let shift = round * (steps.len() - cycle.unwrap_or(0));
                if round > 0 && cycle.is_some_and(|cycle| *at <= cycle) {
                    continue;
                }
                let at = at + shift;
                let state = if at == 0 { from } else { &real.get(at - 1)?.1 };
                told.push((at, self.evidence_from(state, part)?));
            }
        }
        Some(Evidence {
            initial: from.to_vec(),
            steps: real,
            cycle: closed,
            parts: told,
            formula: evidence.formula.clone(),
            ..*evidence
        })
    }
}
