//! `run`: the start of a process, at the place of the stack that is free when it happens.

use super::channels::set_from_source;
use super::core::{Statement, Value, VariableId};
use super::events::{Here, Wanted};
use super::executable::Sends;
use super::instances::{Launch, count_channels, own_channels};
use super::lower::{Lowering, Storage};
use super::program::MAX_PROCESSES;
use super::values::{Context, all, equal, harmless};
use crate::diagnostic::Problem;
use scrimp_system::{BinaryOp, Expr, Moment, Move, ProcessId};

impl<'p> Lowering<'p> {
    pub(super) fn run(
        &mut self,
        here: &Here<'p>,
        process: usize,
        arguments: &[Value],
        priority: Option<i64>,
        wanted: &mut Vec<Wanted>,
    ) -> Result<(), Problem> {
        let from = *self.instance(here.instance);
        // The priority of a declaration is for processes that are active from the start.
        let priority = priority.unwrap_or(1);
        let launches: Vec<Launch> =
            self.instances.launches.iter().filter(|l| l.from == from && l.site == here.site).copied().collect();
        let transition = &here.state.transitions[here.site.transition];
        let statement = &here.alternative.action.statement;
        let mut prepared = Vec::new();
        for launch in &launches {
            let slot = launch.to.slot;
            let Some(target) = self.find(&launch.to) else { continue };
            let free = Expr::equals(self.control(slot), 0);
            let below = match slot.checked_sub(1) {
                Some(below) if below != from.slot => self.alive(below),
                _ => Expr::TRUE,
            };
            let channels = self.channels_before(launch);
            prepared.push(all([free, below.clone(), channels.clone()]));
            let context = Context { started: Some(slot as i64), ..here.context };
            let can = self.can_run(statement, here.state, transition, context, Sends::Meeting)?;
            let (mut effects, mut constants) = (Vec::new(), Vec::new());
            for (parameter, argument) in arguments.iter().enumerate() {
                let local = &self.program.processes[process].locals[parameter];
                let value = self.keep(&local.leaves[0].scalar, self.value(argument, context)?);
                let id = VariableId::Local(parameter);
                match self.storage(id, 0, Some(target)) {
                    Storage::Variable(v) => effects.push(set_from_source(*v, None, value.expr)),
                    Storage::Constant(_) => constants.push(value.expr),
                }
            }
            effects.extend(self.begin(&self.program.processes[process].locals, Some(target))?);
            effects.extend(self.begin_priority(slot, priority));
            self.here.set(here.alternative.action.place);
            if let Statement::Assign(access, value) = statement {
                let value = self.value(value, context)?;
                effects.push(self.store(access, value, Moment::Current, context)?);
            }
            let start = self.location(target, self.flow(target).start);
            let step = Move { process: ProcessId(slot as u32), from: 0, to: start };
            self.push(
                here,
                all([can, below, channels, harmless(&self.system.variables, &constants)]),
                effects,
                |event| event.moves.push(step),
            )?;
        }
        // What there is no room for yet; at the last place there never will be.
        let none = all(prepared.into_iter().map(Expr::not));
        let context = Context { started: Some(1), ..here.context };
        let can = self.can_run(statement, here.state, transition, context, Sends::Meeting)?;
        let mut missing = all([can.clone(), none]);
        if self.slots().len() == MAX_PROCESSES {
            let full = self.alive(MAX_PROCESSES - 1);
            missing = all([missing, Expr::not(full.clone())]);
            self.push_fault(here, all([can, full]), &format!("there are more than {MAX_PROCESSES} processes"))?;
        }
        if let Some(event) = self.push_fault(here, missing, "there is no room for another process")? {
            self.system.outgrown = self.system.events[event as usize].fault;
            wanted.push(Wanted { event, from, site: here.site, process, priority });
        }
        Ok(())
    }

    /// As many channels exist as the new process expects, where that can vary.
    pub(super) fn channels_before(&self, launch: &Launch) -> Expr {
        if own_channels(self.program, launch.to.process) == 0 {
            return Expr::TRUE;
        }
        let mut sum = Expr::Const(count_channels(&self.program.globals) as i64);
        let mut fixed = true;
        for slot in 0..launch.to.slot {
            let here: Vec<usize> = (0..self.instances.all.len()).filter(|i| self.instance(*i).slot == slot).collect();
            let counts: Vec<i64> =
                here.iter().map(|i| own_channels(self.program, self.instance(*i).process) as i64).collect();
            let part = match counts.first() {
                Some(first) if counts.iter().all(|c| c == first) => Expr::Const(*first),
                _ => {
                    fixed = false;
                    let mut part = Expr::Const(0);
                    for (instance, count) in here.iter().zip(counts) {
                        let present = Box::new(self.present(*instance));
                        part = Expr::If(present, Box::new(Expr::Const(count)), Box::new(part));
                    }
                    part
                }
            };
            sum = Expr::binary(BinaryOp::Add, sum, part);
        }
        let same = equal(sum, Expr::Const(launch.to.channels as i64));
        if fixed { Expr::TRUE } else { same }
    }
}
