//! From transitions of instances to events of the system.
//!
//! A statement is executable or not; what comes before it in its state's list can forbid it: an escape that is executable,
//! an earlier alternative in a `d_step`, and, for `else`, anything that is executable. A rendezvous is one event for each
//! pair of statements that can meet.

use super::channels::{Meaning, demands, set};
use super::core::{Access, Alternative, Field, Next, State, Statement, Transition, Value};
use super::executable::{Sends, room};
use super::instances::{Instance, Site};
use super::lower::Lowering;
use super::values::{Bounded, Context, all, both, harmless};
use crate::diagnostic::Problem;
use crate::lines::Lines;
use scrimp_system::{Assign, BinaryOp, Event, Expr, Message, Moment, Move, Print, ProcessId, Then};

/// Events that a model may have once it is written out.
const MAX_EVENTS: usize = 1 << 21;

/// A receive statement that can take part in a rendezvous.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Receiver {
    pub(super) instance: usize,
    pub(super) site: Site,
    pub(super) queue: usize,
}

/// An event whose guard says that a process is started for which there is no room yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub event: u32,
    pub from: Instance,
    pub site: Site,
    pub process: usize,
    pub priority: i64,
}

/// A statement of an instance, about to become events.
pub(super) struct Here<'p> {
    pub(super) instance: usize,
    pub(super) site: Site,
    pub(super) state: &'p State,
    pub(super) alternative: &'p Alternative,
    pub(super) context: Context,
    pub(super) late: bool,
}

impl<'p> Lowering<'p> {
    /// Makes all events; gives those that ask for room.
    pub fn events(&mut self) -> Result<Vec<Wanted>, Problem> {
        self.find_receivers()?;
        let mut wanted = Vec::new();
        let source = self.program.source.clone();
        let mut lines = Lines::of(&source);
        for instance in 0..self.instances.all.len() {
            for (number, state) in self.flow(instance).states.iter().enumerate() {
                for (t, transition) in state.transitions.iter().enumerate() {
                    for (a, alternative) in transition.alternatives.iter().enumerate() {
                        let site = Site { state: number, transition: t, alternative: a };
                        self.here.set(alternative.action.place);
                        let first = self.system.events.len();
                        let provided = &self.program.processes[self.instance(instance).process].provided;
                        let is_timeout = |value: &Value| matches!(value, Value::Timeout);
                        let waits =
                            provided.as_ref().is_some_and(|value| value.any(is_timeout)) || mentions_timeout(state);
                        let timeouts: &[bool] = if waits { &[false, true] } else { &[false] };
                        for &timeout in timeouts {
                            let context = Context { instance: Some(instance), timeout, started: None };
                            let here = Here { instance, site, state, alternative, context, late: timeout };
                            self.statement(&here, &mut wanted)?;
                        }
                        let span = lines.span(alternative.action.place);
                        for event in &mut self.system.events[first..] {
                            event.span = span;
                        }
                        if self.system.events.len() > MAX_EVENTS {
                            return Err(Problem::new(alternative.action.place, "the model has too many events"));
                        }
                    }
                }
            }
        }
        Ok(wanted)
    }

    fn find_receivers(&mut self) -> Result<(), Problem> {
        let mut receivers = Vec::new();
        for instance in 0..self.instances.all.len() {
            let context = Context { instance: Some(instance), timeout: false, started: None };
            for (number, state) in self.flow(instance).states.iter().enumerate() {
                for (t, transition) in state.transitions.iter().enumerate() {
                    for (a, alternative) in transition.alternatives.iter().enumerate() {
                        if let Statement::Receive { channel, keep: false, .. } = &alternative.action.statement {
                            let site = Site { state: number, transition: t, alternative: a };
                            let queues = self.meant(channel, context)?.into_iter().map(|(queue, _)| queue);
                            let rendezvous = queues.filter(|q| self.queues[*q].capacity == 0);
                            receivers.extend(rendezvous.map(|queue| Receiver { instance, site, queue }));
                        }
                    }
                }
            }
        }
        self.receivers = receivers;
        Ok(())
    }

    pub(super) fn site(&self, instance: usize, site: Site) -> (&'p State, &'p Transition, &'p Alternative) {
        let state = &self.flow(instance).states[site.state];
        let transition = &state.transitions[site.transition];
        (state, transition, &transition.alternatives[site.alternative])
    }

    /// The statement by its number in the outline.
    fn statement_of(&self, instance: usize, alternative: &Alternative) -> Vec<u32> {
        let key = (self.instance(instance).process, std::sync::Arc::as_ptr(&alternative.action));
        self.statements.get(&key).copied().into_iter().collect()
    }

    pub(super) fn process(&self, instance: usize) -> ProcessId {
        ProcessId(self.instance(instance).slot as u32)
    }

    /// Where control goes, and who may move then.
    fn going(&self, instance: usize, state: usize, alternative: &Alternative) -> (Move, Then) {
        let process = self.process(instance);
        let to = alternative.target.map_or(0, |target| self.location(instance, target));
        let then = match alternative.then {
            Next::Free => Then::Free,
            Next::Atomic => Then::Atomic(process),
            Next::Bound => Then::DStep(process),
        };
        (Move { process, from: self.location(instance, state), to }, then)
    }

    fn statement(&mut self, here: &Here<'p>, wanted: &mut Vec<Wanted>) -> Result<(), Problem> {
        let context = here.context;
        let statement = &here.alternative.action.statement;
        let transition = &here.state.transitions[here.site.transition];
        if let Some((process, arguments, priority)) = statement.run() {
            return self.run(here, process, arguments, priority, wanted);
        }
        match statement {
            Statement::Send { channel, sorted, arguments } => self.send_events(here, channel, *sorted, arguments),
            Statement::Receive { channel, random, keep, arguments } => {
                self.receive_events(here, channel, *random, *keep, arguments)
            }
            _ => {
                let can = self.can_run(statement, here.state, transition, context, Sends::Meeting)?;
                let mut effects = Vec::new();
                let mut assertion = None;
                match statement {
                    Statement::Assign(access, value) => {
                        let value = self.value(value, context)?;
                        effects.push(self.store(access, value, Moment::Current, context)?);
                    }
                    Statement::Assert(value) => assertion = Some(self.condition(value, context)?),
                    Statement::End => effects = self.clear(here.instance),
                    Statement::SetPriority(process, priority) => {
                        let (process, priority) = (self.value(process, context)?, self.value(priority, context)?);
                        for slot in self.slots() {
                            let Some(variable) = self.priority_variable(slot) else { continue };
                            let this = super::values::equal(process.expr.clone(), Expr::Const(slot as i64));
                            let chosen = all([this, self.alive(slot)]);
                            let value = match chosen.as_const() {
                                Some(0) => continue,
                                _ => Expr::If(
                                    Box::new(chosen),
                                    Box::new(priority.expr.clone()),
                                    Box::new(Expr::Var(variable)),
                                ),
                            };
                            effects.push(set(variable, None, value));
                        }
                    }
                    _ => {}
                }
                let mut print = None;
                if let Statement::Print { format, arguments } = statement {
                    let values = arguments.iter().map(|a| self.value(a, context).map(|v| v.expr));
                    let values = values.collect::<Result<_, _>>()?;
                    let shown_by = arguments.iter().map(|a| self.printed_by(a, context)).collect();
                    print = Some(Print { format: format.to_string(), values, shown_by });
                }
                let can = match &print {
                    Some(print) => all([can, harmless(&self.system.variables, &print.values)]),
                    None => can,
                };
                self.push(here, can, effects, |event| {
                    event.assertion = assertion;
                    event.print = print;
                })
            }
        }
    }

    /// Adds the event of a statement that a single process executes.
    pub(super) fn push(
        &mut self,
        here: &Here<'p>,
        can: Expr,
        effects: Vec<Assign>,
        more: impl FnOnce(&mut Event),
    ) -> Result<(), Problem> {
        // What may not be executed is not evaluated either: it would be a run-time error where there is none.
        let guard = both(&self.system.variables, self.allowed(here)?, can);
        if guard.as_const() == Some(0) || here.late && !self.differs(here)? {
            return Ok(());
        }
        let (step, then) = self.going(here.instance, here.site.state, here.alternative);
        let mut event = Event {
            label: here.alternative.action.text.clone(),
            moves: vec![step],
            guard,
            effects,
            then,
            late: here.late,
            statements: self.statement_of(here.instance, here.alternative),
            ..Event::default()
        };
        more(&mut event);
        self.finish(event, here.instance);
        Ok(())
    }

    /// Does `timeout` make a difference to this statement? Otherwise it is not tried again when nothing can move.
    fn differs(&self, here: &Here<'p>) -> Result<bool, Problem> {
        let statement = &here.alternative.action.statement;
        let is_timeout = |value: &Value| matches!(value, Value::Timeout);
        let before = &here.state.transitions[..=here.site.transition];
        let provided = &self.program.processes[self.instance(here.instance).process].provided;
        if provided.as_ref().is_some_and(|value| value.any(is_timeout)) {
            return Ok(true);
        }
        let others = before.iter().flat_map(|t| &t.alternatives).any(|a| a.action.statement.any(is_timeout));
        Ok(statement.any(is_timeout) || others && !matches!(statement, Statement::Else))
    }

    /// What every event has in common, at its end.
    fn finish(&mut self, mut event: Event, instance: usize) {
        // A d_step is one step, so it was the last one when it is over.
        if let Some(last) = self.last.filter(|_| !matches!(event.then, Then::DStep(_))) {
            let slot = self.instance(instance).slot as i64;
            event.effects.push(set(last, None, Expr::Const(slot)));
        }
        self.system.events.push(event);
    }

    /// An event that is a fault wherever its guard holds.
    pub(super) fn push_fault(&mut self, here: &Here<'p>, can: Expr, message: &str) -> Result<Option<u32>, Problem> {
        let messages = &mut self.system.fault_messages;
        let number = messages.iter().position(|m| m == message).unwrap_or_else(|| {
            messages.push(message.to_string());
            messages.len() - 1
        });
        let before = self.system.events.len();
        self.push(here, can, vec![], |event| event.fault = Some(number as u32))?;
        Ok((self.system.events.len() > before).then_some(before as u32))
    }

    fn send_events(
        &mut self,
        here: &Here<'p>,
        channel: &Access,
        sorted: bool,
        arguments: &[Value],
    ) -> Result<(), Problem> {
        let context = here.context;
        self.refuse_uninitialised(here, channel, "sends to")?;
        for (queue, is) in self.meant(channel, context)? {
            let message = self.message(queue, arguments, context)?;
            let raw = self.unkept(arguments, context)?;
            if self.too_many_fields(here, queue, arguments.len(), &is)? {
                continue;
            }
            match self.queues[queue].length {
                Some(length) => {
                    let can = all([is, room(length, self.queues[queue].capacity)]);
                    let effects = self.send(queue, sorted.then_some(&raw[..]), &message);
                    let (channel, place) = (self.channel_name(queue), self.queues[queue].place);
                    let from = Some(self.process(here.instance));
                    let values = message.iter().map(|value| value.expr.clone()).collect();
                    let shown_by = self.field_tables(queue);
                    self.push(here, can, effects, |event| {
                        event.message = Some(Message { channel, queue: place, from, to: None, values, shown_by });
                    })?;
                }
                None if here.alternative.then == Next::Bound || here.state.inner => {
                    let can = all([is, self.partner(queue, arguments, context)?]);
                    self.push_fault(here, can, "a rendezvous in a d_step")?;
                }
                None => {
                    self.evaluated(here, &is, &raw)?;
                    self.rendezvous(here, queue, is, &message)?
                }
            }
        }
        Ok(())
    }

    /// What a rendezvous send passes is evaluated whether or not somebody receives, as in SPIN: an event that never happens, and
    /// whose guard is a run-time error where the evaluation is one.
    fn evaluated(&mut self, here: &Here<'p>, is: &Expr, message: &[Bounded]) -> Result<(), Problem> {
        if here.late {
            return Ok(());
        }
        let risky: Vec<&Expr> =
            message.iter().map(|value| &value.expr).filter(|e| e.may_fault(&self.system.variables)).collect();
        for value in risky {
            let never = Expr::binary(BinaryOp::And, value.clone(), Expr::FALSE);
            self.push(here, all([is.clone(), never]), vec![], |_| {})?;
        }
        Ok(())
    }

    /// One event for each receive that can meet this send.
    fn rendezvous(&mut self, here: &Here<'p>, queue: usize, is: Expr, message: &[Bounded]) -> Result<(), Problem> {
        if here.late && !self.differs(here)? {
            return Ok(());
        }
        let own = self.instance(here.instance).slot;
        let allowed = self.allowed(here)?;
        let receivers: Vec<Receiver> = self.receivers.iter().filter(|r| r.queue == queue).copied().collect();
        for receiver in receivers {
            if self.instance(receiver.instance).slot == own {
                continue;
            }
            let takes = self.takes(&receiver, message, here.context.timeout)?;
            let guard = all([allowed.clone(), is.clone(), takes]);
            if guard.as_const() == Some(0) {
                continue;
            }
            let (_, _, alternative) = self.site(receiver.instance, receiver.site);
            let Statement::Receive { arguments, .. } = &alternative.action.statement else { continue };
            let context = Context { instance: Some(receiver.instance), timeout: here.context.timeout, started: None };
            let mut effects = Vec::new();
            for (argument, value) in arguments.iter().zip(message) {
                if let Field::Store(access) = argument {
                    effects.push(self.store(access, value.clone(), Moment::Source, context)?);
                }
            }
            let (from, _) = self.going(here.instance, here.site.state, here.alternative);
            let (to, then) = self.going(receiver.instance, receiver.site.state, alternative);
            let label = format!("{} -> {}", here.alternative.action.text, alternative.action.text);
            let channel = self.channel_name(queue);
            let values = message.iter().map(|value| value.expr.clone()).collect();
            let shown_by = self.field_tables(queue);
            let (sender, receiving) = (Some(from.process), Some(to.process));
            let message = Message { channel, queue: None, from: sender, to: receiving, values, shown_by };
            let mut statements = self.statement_of(here.instance, here.alternative);
            statements.extend(self.statement_of(receiver.instance, alternative));
            let event = Event {
                label,
                moves: vec![from, to],
                guard,
                effects,
                then,
                late: here.late,
                message: Some(message),
                statements,
                ..Event::default()
            };
            self.finish(event, receiver.instance);
        }
        Ok(())
    }

    fn receive_events(
        &mut self,
        here: &Here<'p>,
        channel: &Access,
        random: bool,
        keep: bool,
        arguments: &[Field],
    ) -> Result<(), Problem> {
        let context = here.context;
        self.refuse_uninitialised(here, channel, "receives from")?;
        for (queue, is) in self.meant(channel, context)? {
            if self.too_many_fields(here, queue, arguments.len(), &is)? || self.queues[queue].capacity == 0 {
                continue;
            }
            let matching = self.matches(queue, &demands(arguments), context)?;
            let found = match random {
                true => self.any_match(queue, &matching),
                false => self.match_at(queue, &matching, 0),
            };
            let effects = self.receive(queue, random, keep, arguments, &matching, context)?;
            let (channel, place) = (self.channel_name(queue), self.queues[queue].place);
            let to = Some(self.process(here.instance));
            let values = self.received(queue, random, &matching);
            let shown_by = self.field_tables(queue);
            self.push(here, all([is, found]), effects, |event| {
                event.message = (!keep).then_some(Message { channel, queue: place, from: None, to, values, shown_by });
            })?;
        }
        Ok(())
    }

    /// A channel variable may be no channel, or one that went with its process.
    fn refuse_uninitialised(&mut self, here: &Here<'p>, channel: &Access, does: &str) -> Result<(), Problem> {
        if here.late {
            return Ok(());
        }
        for (meaning, condition) in self.meanings(channel, here.context)? {
            let what = match meaning {
                Meaning::Queue(_) => continue,
                Meaning::Uninitialised => "a channel that is not initialised",
                Meaning::Gone => "a channel of a process that has ended",
            };
            self.push_fault(here, condition, &format!("a process {does} {what}"))?;
        }
        Ok(())
    }

    /// SPIN goes on with zeros for what is missing, so do we; more than there is room for is a fault.
    fn too_many_fields(&mut self, here: &Here<'p>, queue: usize, given: usize, is: &Expr) -> Result<bool, Problem> {
        let fields = self.program.channels[self.queues[queue].kind].fields.len();
        let too_many = given > fields;
        if too_many && !here.late {
            let name = &self.queues[queue].name;
            let message = format!("a message of {given} fields is sent to channel {name}, which has {fields}");
            self.push_fault(here, is.clone(), &message)?;
        }
        Ok(too_many)
    }
}

fn mentions_timeout(state: &State) -> bool {
    let alternatives = state.transitions.iter().flat_map(|t| &t.alternatives);
    alternatives.into_iter().any(|a| a.action.statement.any(|value| matches!(value, Value::Timeout)))
}
