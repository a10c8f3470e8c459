//! The obvious implementation of a program: it walks the expressions, state by state.
//!
//! It is what a large model runs on until its machine code is ready, and the oracle that the machine code is tested
//! against: same successors, same events, same faults, in the same order.

use crate::program::{Program, Rules};
use scrimp_system::{Assign, Batch, Event, Expr, Fault, Layout, Moment, Overflow, ProcessId, System};

/// Borrows a program and runs it.
#[derive(Clone, Copy)]
pub struct Interpreter<'a> {
    system: &'a System,
    layout: &'a Layout,
    silent: bool,
}

impl<'a> Interpreter<'a> {
    pub fn new(program: &'a Program) -> Interpreter<'a> {
        Interpreter { system: &program.system, layout: &program.layout, silent: program.silent }
    }

    /// Appends the successors of `state` by the events of `rules`, of one process or of all, and their faults.
    pub fn expand(self, rules: &Rules, only: Option<ProcessId>, state: &[u8], out: &mut Batch) {
        self.candidates(rules, only, state, &mut |number, event| match self.enabled(event, state) {
            Ok(false) => {}
            Ok(true) => {
                let first = out.len();
                if let Err(fault) = self.happen(number, event, state, out) {
                    out.truncate(first);
                    self.report(number, fault, out);
                }
            }
            Err(fault) => self.report(number, fault, out),
        });
    }

    /// Appends what an enabled event leads to.
    fn happen(self, number: u32, event: &Event, state: &[u8], out: &mut Batch) -> Result<(), Fault> {
        if event.fault.is_some() {
            return Err(Fault::Model);
        }
        if let Some(assertion) = &event.assertion
            && !self.layout.holds(assertion, state)?
        {
            self.report(number, Fault::Assertion, out);
        }
        out.push(state, number);
        let last = out.len() - 1;
        self.run(event, state, out.state_mut(last))
    }

    fn report(self, number: u32, fault: Fault, out: &mut Batch) {
        if !self.silent {
            out.push_fault(number, fault);
        }
    }

    /// The numbers of the enabled events of `rules`, and the faults of guards.
    pub fn select(self, rules: &Rules, state: &[u8], enabled: &mut Vec<u32>, faults: &mut Vec<(u32, Fault)>) {
        self.candidates(rules, None, state, &mut |number, event| match self.enabled(event, state) {
            Ok(true) => enabled.push(number),
            Ok(false) => {}
            Err(fault) => faults.push((number, fault)),
        });
    }

    /// Visits the events whose first move leaves the place where its process is, and those without moves.
    fn candidates(self, rules: &Rules, only: Option<ProcessId>, state: &[u8], visit: &mut dyn FnMut(u32, &Event)) {
        let events = rules.events(self.system);
        let wanted = only.map_or(0..self.system.processes.len(), |process| process.index()..process.index() + 1);
        for (process, locations) in self.system.processes[wanted.clone()].iter().zip(&rules.by_location[wanted]) {
            let location = self.layout.read(state, process.control, 0).unwrap_or(-1);
            for &number in usize::try_from(location).ok().and_then(|l| locations.get(l)).into_iter().flatten() {
                visit(number, &events[number as usize]);
            }
        }
        for &number in rules.always.iter().filter(|_| only.is_none()) {
            visit(number, &events[number as usize]);
        }
    }

    fn enabled(self, event: &Event, state: &[u8]) -> Result<bool, Fault> {
        for m in event.moves.iter().skip(1) {
            let control = self.system.processes[m.process.index()].control;
            if self.layout.read(state, control, 0)? != m.from as i64 {
                return Ok(false);
            }
        }
        self.layout.holds(&event.guard, state)
    }

    /// What one event of the system leads to, whatever is run with it.
    pub fn single(self, number: u32, state: &[u8]) -> Option<Vec<u8>> {
        let mut copy = state.to_vec();
        self.run(self.system.events.get(number as usize)?, state, &mut copy).ok()?;
        Some(copy)
    }

    /// Turns `copy`, a copy of `source`, into the successor.
    fn run(self, event: &Event, source: &[u8], copy: &mut [u8]) -> Result<(), Fault> {
        for m in &event.moves {
            self.layout.write(copy, self.system.processes[m.process.index()].control, 0, m.to as i64);
        }
        event.effects.iter().try_for_each(|a| self.assign(a, source, copy))
    }

    /// The index comes first, then the value, then the check that it fits: the order in which faults are met.
    fn assign(self, a: &Assign, source: &[u8], copy: &mut [u8]) -> Result<(), Fault> {
        let variable = &self.system.variables[a.target.index()];
        let index = match &a.index {
            Some(index) => self.layout.eval(index, copy)?,
            None => 0,
        };
        if !(0..variable.cells() as i64).contains(&index) {
            return Err(Fault::Index);
        }
        let value = match a.moment {
            Moment::Source => self.layout.eval(&a.value, source)?,
            Moment::Current => self.layout.eval(&a.value, copy)?,
        };
        if variable.domain.overflow == Overflow::Error && !variable.domain.contains(value) {
            return Err(Fault::Range);
        }
        self.layout.write(copy, a.target, index as usize, value);
        Ok(())
    }

    pub fn holds(self, condition: &Expr, state: &[u8]) -> Result<bool, Fault> {
        self.layout.holds(condition, state)
    }
}
