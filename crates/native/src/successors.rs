//! From the events of a state to its successors, for systems that have more to them than events: late ones, processes
//! that go on by themselves, a claim, ends that are no deadlocks; and for models whose events are watched.
//!
//! The code of a successor names the first of the steps that lead to it. If others follow, a step may have many outcomes
//! in one state; the code says by its multiple of [`Program::codes`](crate::program::Program::codes) which of them is meant.

use crate::NativeModel;
use crate::atomic::{Met, Walk, with_walk};
use crate::interpret::Interpreter;
use crate::product;
use scrimp_system::{Batch, EventCode, Fault, FaultRecord, Then};

/// Steps, each with the state that it leads to.
type Steps = Vec<(EventCode, Vec<u8>)>;

impl NativeModel {
    /// Appends the successors of `state`.
    pub(crate) fn expand_specially(&self, state: &[u8], out: &mut Batch) {
        let (first, faults) = (out.len(), out.faults().len());
        // A search of a system that is too small is of no use: it should end soon.
        if self.outgrown.get().is_some() {
            out.declare_deadlock(false);
            return;
        }
        let moved = self.first_steps(state, out);
        if self.program.held.is_some() {
            let held = (first..out.len()).find(|&i| self.program.then(out.event(i)) != Then::Free);
            if let Some(held) = held {
                self.follow_steps(out, held);
            }
        }
        if self.program.system.outgrown.is_some() || self.program.system.guessed {
            self.look_for_outgrown(state, &out.faults()[faults..]);
        }
        let end = || self.valid_end.as_ref().is_some_and(|end| end.holds(state) == Ok(true));
        // Where an event ends in a fault, something could move.
        out.declare_deadlock(!moved && out.faults().len() == faults && !end());
    }

    fn look_for_outgrown(&self, state: &[u8], faults: &[FaultRecord]) {
        let system = &self.program.system;
        for record in faults {
            let event = self.parts(record.event).0.and_then(|number| system.events.get(number as usize));
            let missing = record.fault == Fault::Model
                && system.outgrown.is_some()
                && event.is_some_and(|event| event.fault == system.outgrown);
            if missing || record.fault == Fault::Range && system.guessed {
                self.outgrown.get_or_init(|| (state.to_vec(), *record));
            }
        }
    }

    /// Appends what single steps lead to; says whether the system makes any.
    fn first_steps(&self, state: &[u8], out: &mut Batch) -> bool {
        let (first, faults) = (out.len(), out.faults().len());
        self.engine.expand(state, out);
        if self.program.late.is_some() && out.len() == first && out.faults().len() == faults {
            self.engine.expand_late(state, out);
        }
        let moved = out.len() > first;
        if moved {
            product::follow(&self.engine, &self.program, state, out, first);
        } else {
            product::alone(&self.engine, &self.program, state, out);
        }
        if let Some(watch) = self.watch.as_ref().filter(|watch| !watch.is_full()) {
            (first..out.len()).for_each(|i| watch.happened(&self.program, out.event(i)));
            // What ends in a run-time error was come to, too.
            out.faults()[faults..].iter().for_each(|record| watch.happened(&self.program, record.event));
        }
        moved
    }

    /// Replaces the steps in `out` from `held` on by what they lead to.
    fn follow_steps(&self, out: &mut Batch, held: usize) {
        with_walk(out.state_bytes(), |walk| {
            let mut firsts = walk.take_firsts();
            (held..out.len()).for_each(|i| firsts.push(out.state(i), out.event(i)));
            out.truncate(held);
            self.walk(walk, &firsts, |_, code, met| {
                match met {
                    Met::Outcome(state) => out.push(state, code),
                    Met::Fault(record) => out.push_fault(record.event, record.fault),
                }
                true
            });
            walk.give_firsts(firsts);
        });
    }

    /// Goes on after each of these first steps, until `meet`, which is told an outcome's code, has met enough.
    fn walk(&self, walk: &mut Walk, firsts: &Batch, mut meet: impl FnMut(&Walk, EventCode, Met) -> bool) {
        let codes = self.program.codes();
        // Where there are more outcomes than codes, the last ones share one; the greatest number is no code.
        let last = (EventCode::MAX - codes) / codes;
        for i in 0..firsts.len() {
            let code = firsts.event(i);
            // Each remembers for itself: what one leads to must not be missing from what another does.
            walk.begin();
            let (mut outcome, mut nothing) = (0, true);
            let mut go_on = walk.run(self, code, firsts.state(i), |walk, met| {
                nothing = false;
                let code = outcome * codes + code;
                if let Met::Outcome(_) = met {
                    outcome = last.min(outcome + 1);
                }
                meet(walk, code, met)
            });
            // Without a claim that may forbid to go on, only going round for ever comes to nothing.
            if go_on && nothing && self.program.claim.is_none() {
                let event = self.program.parts(code).0.unwrap_or(code);
                go_on = meet(walk, code, Met::Fault(FaultRecord { event, fault: Fault::Endless }));
            }
            if !go_on {
                return;
            }
        }
    }

    /// The way to the first thing met that is wanted.
    fn way_to(&self, state: &[u8], mut wanted: impl FnMut(EventCode, Met) -> bool) -> Option<Steps> {
        let mut firsts = Batch::new(state.len());
        self.first_steps(state, &mut firsts);
        let mut found = None;
        with_walk(state.len(), |walk| {
            self.walk(walk, &firsts, |walk, code, met| {
                if wanted(code, met) {
                    found = Some(walk.way());
                }
                found.is_none()
            });
        });
        found
    }

    /// The single steps of an edge.
    pub(crate) fn steps_of(&self, state: &[u8], code: EventCode, successor: &[u8]) -> Steps {
        let whole = || vec![(code, successor.to_vec())];
        if self.program.then(code) == Then::Free {
            return self.single_steps(state, whole());
        }
        let way = self.way_to(state, |found, met| match met {
            Met::Outcome(outcome) => found == code && outcome == successor,
            Met::Fault(_) => false,
        });
        self.single_steps(state, way.unwrap_or_else(whole))
    }

    /// Takes steps that were run as one apart.
    fn single_steps(&self, from: &[u8], steps: Steps) -> Steps {
        let interpreter = Interpreter::new(&self.program);
        let mut single = Vec::new();
        let mut at = from.to_vec();
        for (code, state) in steps {
            let followers = self.program.parts(code).0.map_or(&[][..], |event| self.program.followers(event));
            let mut number = self.program.parts(code).0;
            let mut code = code;
            for &next in followers {
                let Some(between) = number.and_then(|event| interpreter.single(event, &at)) else { break };
                // The claim has moved with the first of them.
                let mut between = between;
                if let Some(claim) = &self.program.system.claim {
                    let control = self.program.system.processes[claim.process.index()].control;
                    let location = self.program.layout.read(&state, control, 0).unwrap_or(0);
                    self.program.layout.write(&mut between, control, 0, location);
                }
                at.clone_from(&between);
                single.push((code, between));
                (code, number) = (next, Some(next));
            }
            at.clone_from(&state);
            single.push((code, state));
        }
        single
    }

    /// The single steps from a state to the event that ends in a fault.
    pub(crate) fn steps_to(&self, state: &[u8], record: FaultRecord) -> Steps {
        let mut firsts = Batch::new(state.len());
        self.first_steps(state, &mut firsts);
        if self.program.held.is_none() || firsts.faults().contains(&record) {
            return Vec::new();
        }
        let way = self.way_to(state, |_, met| match met {
            Met::Outcome(_) => false,
            Met::Fault(found) => found == record,
        });
        let mut steps = self.single_steps(state, way.unwrap_or_default());
        // The step after which there was no going on is the one at fault.
        if matches!(record.fault, Fault::Stuck | Fault::Endless) {
            steps.pop();
        }
        steps
    }
}
