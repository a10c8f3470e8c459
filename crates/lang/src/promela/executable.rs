//! When a statement can be executed, and what else must hold for it to be.
//!
//! A statement is executable or not by itself; what comes before it in its state's list can forbid it: an escape that is
//! executable, an earlier alternative in a `d_step`, and, for `else`, anything that is executable.

use super::channels::demands;
use super::core::{Alternative, State, Statement, Transition, Value};
use super::events::{Here, Receiver};
use super::lower::Lowering;
use super::values::{Bounded, Context, all, any, equal};
use crate::diagnostic::Problem;
use scrimp_system::{BinaryOp, Expr};

impl<'p> Lowering<'p> {
    /// Can a transition happen, the list before it aside? With `meeting`, a rendezvous needs a partner; without, it does not
    /// count.
    pub(super) fn executable(
        &self,
        transition: &Transition,
        state: &State,
        context: Context,
        sends: Sends,
    ) -> Result<Expr, Problem> {
        let mut conditions = Vec::new();
        for alternative in &transition.alternatives {
            conditions.push(self.can_run(&alternative.action.statement, state, transition, context, sends)?);
        }
        Ok(any(conditions))
    }

    pub(super) fn can_run(
        &self,
        statement: &Statement,
        state: &State,
        transition: &Transition,
        context: Context,
        sends: Sends,
    ) -> Result<Expr, Problem> {
        Ok(match statement {
            Statement::Nothing
            | Statement::Assign(..)
            | Statement::Assert(_)
            | Statement::Print { .. }
            | Statement::SetPriority(..) => Expr::TRUE,
            Statement::Condition(value) => self.condition(value, context)?,
            Statement::Else => self.nothing_before(state, transition, context)?,
            Statement::End => self.topmost(context),
            Statement::Send { channel, arguments, .. } => {
                let mut conditions = Vec::new();
                for (queue, is) in self.meant(channel, context)? {
                    let ready = match self.queues[queue].length {
                        Some(length) => room(length, self.queues[queue].capacity),
                        None => match sends {
                            Sends::Buffered => Expr::FALSE,
                            Sends::Any => Expr::TRUE,
                            Sends::Meeting => self.partner(queue, arguments, context)?,
                        },
                    };
                    conditions.push(all([is, ready]));
                }
                any(conditions)
            }
            Statement::Receive { channel, random, arguments, .. } => {
                let mut conditions = Vec::new();
                for (queue, is) in self.meant(channel, context)? {
                    let matching = self.matches(queue, &demands(arguments), context)?;
                    let found = match random {
                        true => self.any_match(queue, &matching),
                        false => self.match_at(queue, &matching, 0),
                    };
                    conditions.push(all([is, found]));
                }
                any(conditions)
            }
        })
    }

    /// When a claim can take a transition.
    pub fn observed(
        &self,
        state: &State,
        transition: &Transition,
        statement: &Statement,
        context: Context,
    ) -> Result<Expr, Problem> {
        self.can_run(statement, state, transition, context, Sends::Buffered)
    }

    /// Nothing before this transition in its list is executable.
    pub(super) fn nothing_before(
        &self,
        state: &State,
        transition: &Transition,
        context: Context,
    ) -> Result<Expr, Problem> {
        let mut conditions = Vec::new();
        for before in &state.transitions {
            if std::ptr::eq(before, transition) {
                break;
            }
            conditions.push(Expr::not(self.executable(before, state, context, Sends::Meeting)?));
        }
        Ok(all(conditions))
    }

    pub(super) fn topmost(&self, context: Context) -> Expr {
        let Some(instance) = context.instance else { return Expr::TRUE };
        let above = self.instance(instance).slot + 1;
        if self.slots().contains(&above) { Expr::equals(self.control(above), 0) } else { Expr::TRUE }
    }

    /// Some process can take this message.
    pub(super) fn partner(&self, queue: usize, arguments: &[Value], context: Context) -> Result<Expr, Problem> {
        let message = self.message(queue, arguments, context)?;
        let own = context.instance.map(|i| self.instance(i).slot);
        let mut conditions = Vec::new();
        for receiver in self.receivers.iter().filter(|r| r.queue == queue) {
            let slot = self.instance(receiver.instance).slot;
            if Some(slot) == own {
                continue;
            }
            let location = self.location(receiver.instance, receiver.site.state) as i64;
            let there = Expr::equals(self.control(slot), location);
            conditions.push(all([there, self.takes(receiver, &message, context.timeout)?]));
        }
        Ok(any(conditions))
    }

    /// The receiver takes the message if it is offered.
    pub(super) fn takes(&self, receiver: &Receiver, message: &[Bounded], timeout: bool) -> Result<Expr, Problem> {
        let context = Context { instance: Some(receiver.instance), timeout, started: None };
        let (state, transition, alternative) = self.site(receiver.instance, receiver.site);
        let mut conditions = vec![self.provided(receiver.instance, context)?];
        // Escapes come first, and earlier alternatives, if they take it too.
        for before in &state.transitions {
            if std::ptr::eq(before, transition) {
                break;
            }
            if before.escape != 0 && before.escape != transition.escape {
                for other in &before.alternatives {
                    conditions.push(Expr::not(self.accepts(other, receiver.queue, message, context)?));
                }
            }
        }
        for other in &transition.alternatives[..receiver.site.alternative] {
            conditions.push(Expr::not(self.accepts(other, receiver.queue, message, context)?));
        }
        conditions.push(self.accepts(alternative, receiver.queue, message, context)?);
        Ok(all(conditions))
    }

    pub(super) fn accepts(
        &self,
        alternative: &Alternative,
        queue: usize,
        message: &[Bounded],
        context: Context,
    ) -> Result<Expr, Problem> {
        let Statement::Receive { channel, keep: false, arguments, .. } = &alternative.action.statement else {
            return Ok(Expr::FALSE);
        };
        let meant = self.meant(channel, context)?.into_iter().find(|(meant, _)| *meant == queue);
        let Some((_, is)) = meant else { return Ok(Expr::FALSE) };
        let mut conditions = vec![is];
        for (wanted, value) in self.matches(queue, &demands(arguments), context)?.into_iter().zip(message) {
            if let Some(wanted) = wanted {
                conditions.push(equal(wanted, value.expr.clone()));
            }
        }
        Ok(all(conditions))
    }

    pub(super) fn provided(&self, instance: usize, context: Context) -> Result<Expr, Problem> {
        match &self.program.processes[self.instance(instance).process].provided {
            Some(value) => self.condition(value, context),
            None => Ok(Expr::TRUE),
        }
    }

    /// Some statement of the instance is executable.
    pub fn can_move(&self, instance: usize, context: Context) -> Result<Expr, Problem> {
        let context = Context { instance: Some(instance), ..context };
        let slot = self.instance(instance).slot;
        let mut conditions = Vec::new();
        for (number, state) in self.flow(instance).states.iter().enumerate().filter(|(_, s)| !s.inner) {
            let here = Expr::equals(self.control(slot), self.location(instance, number) as i64);
            let mut ways = Vec::new();
            for transition in &state.transitions {
                ways.push(self.executable(transition, state, context, Sends::Any)?);
            }
            conditions.push(all([here, any(ways)]));
        }
        Ok(all([self.provided(instance, context)?, any(conditions)]))
    }

    /// Is this the send of a rendezvous?
    pub(super) fn meets(&self, transition: &Transition, context: Context) -> Result<bool, Problem> {
        for alternative in &transition.alternatives {
            if let Statement::Send { channel, .. } = &alternative.action.statement {
                let queues = self.meant(channel, context)?;
                return Ok(queues.iter().any(|(q, _)| self.queues[*q].capacity == 0));
            }
        }
        Ok(false)
    }

    /// What the rest of the model allows of a statement, in the order in which it is asked: `provided`, priorities, escapes and
    /// alternatives before it.
    pub(super) fn allowed(&self, here: &Here<'p>) -> Result<Expr, Problem> {
        let context = here.context;
        let mut conditions = Vec::new();
        if !here.state.inner {
            conditions.push(self.provided(here.instance, context)?);
        }
        if self.program.uses_priority && !here.state.inner {
            let own = self.instance(here.instance);
            for other in 0..self.instances.all.len() {
                if self.instance(other).slot != own.slot {
                    let higher = Expr::binary(BinaryOp::Greater, self.priority(other), self.priority(here.instance));
                    if higher.as_const() != Some(0) {
                        conditions.push(Expr::not(all([higher, self.can_move(other, context)?])));
                    }
                }
            }
        }
        let transition = &here.state.transitions[here.site.transition];
        for (number, before) in here.state.transitions[..here.site.transition].iter().enumerate() {
            if before.escape != 0 && before.escape != transition.escape {
                let mut escapes = self.executable(before, here.state, context, Sends::Meeting)?;
                // SPIN forgets that an escape was possible when a rendezvous of the same escape fails after it.
                for after in &here.state.transitions[number + 1..here.site.transition] {
                    if after.escape == before.escape && self.meets(after, context)? {
                        let met = self.executable(after, here.state, context, Sends::Meeting)?;
                        escapes = all([escapes, met]);
                    }
                }
                conditions.push(Expr::not(escapes));
            }
        }
        for other in &transition.alternatives[..here.site.alternative] {
            let can = self.can_run(&other.action.statement, here.state, transition, context, Sends::Meeting)?;
            conditions.push(Expr::not(can));
        }
        Ok(all(conditions))
    }
}

/// How a send counts that must meet a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sends {
    /// It does not.
    Buffered,
    /// As always possible.
    Any,
    /// If there is a partner.
    Meeting,
}

pub(super) fn room(length: scrimp_system::VarId, capacity: u32) -> Expr {
    match capacity {
        1 => Expr::equals(length, 0),
        _ => Expr::binary(BinaryOp::Less, Expr::Var(length), Expr::Const(capacity as i64)),
    }
}
