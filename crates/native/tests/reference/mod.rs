//! Successors as their definition has them: recursively, from the results of single events.

use scrimp_native::{Mode, NativeModel};
use scrimp_system::{Batch, Fault, Model, Move, ProcessId, System, Then};
use std::collections::HashSet;
use std::sync::Arc;

/// States with their codes, and faults with theirs.
pub type Successors = (Vec<(Vec<u8>, u32)>, Vec<(u32, Fault)>);

pub struct Reference {
    system: Arc<System>,
    /// The same events, each by itself.
    single: NativeModel,
}

/// More steps than there is patience for.
struct TooMany;

impl Reference {
    pub fn new(system: Arc<System>) -> Reference {
        let mut single = System { claim: None, ..System::clone(&system) };
        for event in &mut single.events {
            (event.late, event.then) = (false, Then::Free);
        }
        Reference { system, single: NativeModel::new(Arc::new(single), Mode::Interpreted).unwrap() }
    }

    fn events(&self, state: &[u8], wanted: impl Fn(u32) -> bool) -> Successors {
        let mut out = Batch::new(state.len());
        self.single.expand(state, &mut out);
        let states = (0..out.len()).map(|i| (out.state(i).to_vec(), out.event(i))).filter(|(_, e)| wanted(*e));
        let faults = out.faults().iter().map(|f| (f.event, f.fault)).filter(|(event, _)| wanted(*event));
        (states.collect(), faults.collect())
    }

    fn number_of_events(&self) -> u32 {
        self.system.events.len() as u32
    }

    fn codes(&self) -> u32 {
        let events = self.number_of_events();
        self.system.claim.as_ref().map_or(events, |claim| (events + 1) * (claim.moves.len() as u32 + 1))
    }

    fn then(&self, code: u32) -> Then {
        let event = if self.system.claim.is_some() { code % (self.number_of_events() + 1) } else { code };
        self.system.events.get(event as usize).map_or(Then::Free, |event| event.then)
    }

    /// Pairs steps with the moves of the claim.
    fn with_claim(&self, state: &[u8], (states, mut faults): Successors) -> Successors {
        let Some(claim) = &self.system.claim else { return (states, faults) };
        let layout = self.single.layout();
        let control = self.system.processes[claim.process.index()].control;
        let events = self.number_of_events();
        let mut enabled = Vec::new();
        for (number, m) in (1..).zip(&claim.moves) {
            if layout.read(state, control, 0) == Ok(m.from as i64) {
                match layout.holds(&m.guard, state) {
                    Ok(true) => enabled.push((number, m.to)),
                    Ok(false) => {}
                    Err(fault) => faults.push((number * (events + 1) + events, fault)),
                }
            }
        }
        let pairs = states.iter().flat_map(|pair| enabled.iter().map(move |to| (pair, to)));
        let pairs = pairs.map(|((state, event), (number, to))| {
            let mut state = state.clone();
            layout.write(&mut state, control, 0, *to as i64);
            (state, number * (events + 1) + event)
        });
        (pairs.collect(), faults)
    }

    /// The first steps from a state.
    fn first(&self, state: &[u8]) -> Successors {
        let late = |event: u32| self.system.events[event as usize].late;
        let mut found = self.events(state, |event| !late(event));
        if found.0.is_empty() && found.1.is_empty() {
            found = self.events(state, late);
        }
        if found.0.is_empty() && self.system.claim.is_some() {
            found.0.push((state.to_vec(), self.number_of_events()));
        }
        self.with_claim(state, found)
    }

    /// What a process does by itself; `None` where it can do nothing.
    fn held(&self, state: &[u8], process: ProcessId) -> Option<Successors> {
        let found = self.events(state, |event| {
            let event = &self.system.events[event as usize];
            !event.late && event.moves.first().is_some_and(|m: &Move| m.process == process)
        });
        (!found.0.is_empty() || !found.1.is_empty()).then_some(found)
    }

    /// Successors and faults in order; `None` where that takes more than about so many steps, or ways are long.
    pub fn successors(&self, state: &[u8], most: usize) -> Option<Successors> {
        let (firsts, mut faults) = self.first(state);
        let mut out = Vec::new();
        let mut fuel = most;
        for (state, code) in firsts {
            let mut outcomes = Vec::new();
            self.follow(&state, code, 0, &mut fuel, &mut outcomes, &mut faults).ok()?;
            out.extend(outcomes.into_iter().zip(0..).map(|(state, k)| (state, code + k * self.codes())));
        }
        Some((out, faults))
    }

    fn follow(
        &self,
        state: &[u8],
        code: u32,
        depth: usize,
        fuel: &mut usize,
        outcomes: &mut Vec<Vec<u8>>,
        faults: &mut Vec<(u32, Fault)>,
    ) -> Result<(), TooMany> {
        let then = self.then(code);
        let (Then::Atomic(process) | Then::DStep(process)) = then else {
            outcomes.push(state.to_vec());
            return Ok(());
        };
        if depth > 60 || *fuel == 0 {
            return Err(TooMany);
        }
        *fuel -= 1;
        let bound = matches!(then, Then::DStep(_));
        match self.held(state, process) {
            None if bound => faults.push((self.event_of(code), Fault::Stuck)),
            None => outcomes.push(state.to_vec()),
            Some((next, met)) => {
                faults.extend(met);
                for (state, code) in next {
                    self.follow(&state, code, depth + 1, fuel, outcomes, faults)?;
                }
            }
        }
        Ok(())
    }

    fn event_of(&self, code: u32) -> u32 {
        if self.system.claim.is_some() { code % (self.number_of_events() + 1) } else { code }
    }

    /// The successors as a set, however many ways lead to them.
    pub fn outcomes(&self, state: &[u8]) -> HashSet<Vec<u8>> {
        let mut outcomes = HashSet::new();
        let mut seen = HashSet::new();
        let mut open: Vec<(Vec<u8>, Then)> =
            self.first(state).0.into_iter().map(|(state, code)| (state, self.then(code))).collect();
        while let Some((state, then)) = open.pop() {
            let mark = match then {
                Then::Free => {
                    outcomes.insert(state);
                    continue;
                }
                Then::Atomic(p) => (0, p),
                Then::DStep(p) => (1, p),
            };
            if !seen.insert((state.clone(), mark)) {
                continue;
            }
            match self.held(&state, mark.1) {
                None if mark.0 == 1 => {}
                None => drop(outcomes.insert(state)),
                Some((next, _)) => open.extend(next.into_iter().map(|(state, code)| (state, self.then(code)))),
            }
        }
        outcomes
    }

    /// Each of these steps leads from the state before it to its own.
    pub fn check_steps(&self, state: &[u8], steps: &[(u32, Vec<u8>)]) {
        let mut next = self.first(state).0;
        for (code, state) in steps {
            assert!(next.contains(&(state.clone(), *code)), "{steps:?}");
            next = match self.then(*code) {
                Then::Free => vec![],
                Then::Atomic(p) | Then::DStep(p) => self.held(state, p).unwrap_or_default().0,
            };
        }
    }

    /// An event ends in this fault there, by itself or by leading to where nothing goes on.
    pub fn has_fault(&self, state: &[u8], fault: (u32, Fault)) -> bool {
        let single = self.events(state, |_| true);
        let claim = self.with_claim(state, Successors::default());
        matches!(fault.1, Fault::Stuck | Fault::Endless) && single.0.iter().any(|(_, event)| *event == fault.0)
            || single.1.contains(&fault)
            || claim.1.contains(&fault)
    }
}
