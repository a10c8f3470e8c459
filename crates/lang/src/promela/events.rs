//! From transitions of instances to events of the system.
//!
//! A statement is executable or not; what comes before it in its state's list can forbid it: an escape that is executable,
//! an earlier alternative in a `d_step`, and, for `else`, anything that is executable. A rendezvous is one event for each
//! pair of statements that can meet.

use super::channels::{demands, set, set_from_source};
use super::core::{Access, Alternative, Field, Next, State, Statement, Transition, Value};
use super::instances::{Instance, Launch, Site, own_channels};
use super::lower::Lowering;
use super::program::MAX_PROCESSES;
use super::values::{Bounded, Context, all, any};
use crate::diagnostic::Problem;
use crate::lines::Lines;
use scrimp_system::{Assign, BinaryOp, Event, Expr, Message, Moment, Move, Print, ProcessId, Then};

/// Events that a model may have once it is written out.
const MAX_EVENTS: usize = 1 << 20;

/// A receive statement that can take part in a rendezvous.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Receiver {
    instance: usize,
    site: Site,
    queue: usize,
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
struct Here<'p> {
    instance: usize,
    site: Site,
    state: &'p State,
    alternative: &'p Alternative,
    context: Context,
    late: bool,
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
                        let timeouts: &[bool] = if mentions_timeout(state) { &[false, true] } else { &[false] };
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
                            let queues = self.candidates(channel, context)?;
                            let rendezvous = queues.into_iter().filter(|q| self.queues[*q].capacity == 0);
                            receivers.extend(rendezvous.map(|queue| Receiver { instance, site, queue }));
                        }
                    }
                }
            }
        }
        self.receivers = receivers;
        Ok(())
    }

    fn site(&self, instance: usize, site: Site) -> (&'p State, &'p Transition, &'p Alternative) {
        let state = &self.flow(instance).states[site.state];
        let transition = &state.transitions[site.transition];
        (state, transition, &transition.alternatives[site.alternative])
    }

    /// Can a transition happen, the list before it aside? With `meeting`, a rendezvous needs a partner; without, it does not
    /// count.
    fn executable(
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

    fn can_run(
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
                for queue in self.candidates(channel, context)? {
                    let is = self.is_queue(channel, queue, context)?;
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
                for queue in self.candidates(channel, context)? {
                    let is = self.is_queue(channel, queue, context)?;
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
    fn nothing_before(&self, state: &State, transition: &Transition, context: Context) -> Result<Expr, Problem> {
        let mut conditions = Vec::new();
        for before in &state.transitions {
            if std::ptr::eq(before, transition) {
                break;
            }
            conditions.push(Expr::not(self.executable(before, state, context, Sends::Meeting)?));
        }
        Ok(all(conditions))
    }

    fn topmost(&self, context: Context) -> Expr {
        let Some(instance) = context.instance else { return Expr::TRUE };
        let above = self.instance(instance).slot + 1;
        if self.slots().contains(&above) { Expr::equals(self.control(above), 0) } else { Expr::TRUE }
    }

    /// Some process can take this message.
    fn partner(&self, queue: usize, arguments: &[Value], context: Context) -> Result<Expr, Problem> {
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
    fn takes(&self, receiver: &Receiver, message: &[Bounded], timeout: bool) -> Result<Expr, Problem> {
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

    fn accepts(
        &self,
        alternative: &Alternative,
        queue: usize,
        message: &[Bounded],
        context: Context,
    ) -> Result<Expr, Problem> {
        let Statement::Receive { channel, keep: false, arguments, .. } = &alternative.action.statement else {
            return Ok(Expr::FALSE);
        };
        if !self.candidates(channel, context)?.contains(&queue) {
            return Ok(Expr::FALSE);
        }
        let mut conditions = vec![self.is_queue(channel, queue, context)?];
        for (wanted, value) in self.matches(queue, &demands(arguments), context)?.into_iter().zip(message) {
            if let Some(wanted) = wanted {
                conditions.push(super::values::equal(wanted, value.expr.clone()));
            }
        }
        Ok(all(conditions))
    }

    fn provided(&self, instance: usize, context: Context) -> Result<Expr, Problem> {
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

    /// What the rest of the model allows of a statement: escapes and alternatives before it, `provided`, priorities.
    fn allowed(&self, here: &Here<'p>) -> Result<Expr, Problem> {
        let context = here.context;
        let mut conditions = Vec::new();
        if !here.state.inner {
            conditions.push(self.provided(here.instance, context)?);
        }
        let transition = &here.state.transitions[here.site.transition];
        for before in &here.state.transitions[..here.site.transition] {
            if before.escape != 0 && before.escape != transition.escape {
                conditions.push(Expr::not(self.executable(before, here.state, context, Sends::Meeting)?));
            }
        }
        for other in &transition.alternatives[..here.site.alternative] {
            let can = self.can_run(&other.action.statement, here.state, transition, context, Sends::Meeting)?;
            conditions.push(Expr::not(can));
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
        Ok(all(conditions))
    }

    /// The statement by its number in the outline.
    fn statement_of(&self, instance: usize, alternative: &Alternative) -> Vec<u32> {
        let key = (self.instance(instance).process, std::sync::Arc::as_ptr(&alternative.action));
        self.statements.get(&key).copied().into_iter().collect()
    }

    fn process(&self, instance: usize) -> ProcessId {
        ProcessId(self.instance(instance).slot as u32)
    }

    /// Where control goes, and who may move then.
    fn going(&self, instance: usize, state: usize, alternative: &Alternative) -> (Move, Then) {
        let process = self.process(instance);
        let to = alternative.target.map_or(0, |target| self.location(instance, target));
        let then = match alternative.then {
            Next::Free => Then::Free,
            Next::Atomic => Then::Alone(process),
            Next::Bound => Then::Bound(process),
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
                self.push(here, can, effects, |event| {
                    event.assertion = assertion;
                    event.print = print;
                })
            }
        }
    }

    /// Adds the event of a statement that a single process executes.
    fn push(
        &mut self,
        here: &Here<'p>,
        can: Expr,
        effects: Vec<Assign>,
        more: impl FnOnce(&mut Event),
    ) -> Result<(), Problem> {
        let guard = all([can, self.allowed(here)?]);
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
        let others = before.iter().flat_map(|t| &t.alternatives).any(|a| a.action.statement.any(is_timeout));
        Ok(statement.any(is_timeout) || others && !matches!(statement, Statement::Else))
    }

    /// What every event has in common, at its end.
    fn finish(&mut self, mut event: Event, instance: usize) {
        if let Some(last) = self.last {
            let slot = self.instance(instance).slot as i64;
            event.effects.push(set(last, None, Expr::Const(slot)));
        }
        if event.then == Then::Free {
            event.effects.extend(self.forget_hidden(instance));
        }
        self.system.events.push(event);
    }

    /// Hidden variables are no part of a state: they keep their values only within a step.
    fn forget_hidden(&self, instance: usize) -> Vec<Assign> {
        let mut effects = Vec::new();
        for (v, variable) in self.program.globals.iter().enumerate().filter(|(_, v)| v.hidden) {
            let process = self.instance(instance).process;
            for leaf in 0..variable.leaves.len() {
                if super::known::writes_global(self.program, process, v, leaf) {
                    effects.extend(self.zero_global(v, leaf));
                }
            }
        }
        effects
    }

    /// An event that is a fault wherever its guard holds.
    fn push_fault(&mut self, here: &Here<'p>, can: Expr, message: &str) -> Result<Option<u32>, Problem> {
        let messages = &mut self.system.fault_messages;
        let number = messages.iter().position(|m| m == message).unwrap_or_else(|| {
            messages.push(message.to_string());
            messages.len() - 1
        });
        let before = self.system.events.len();
        self.push(here, can, vec![], |event| event.fault = Some(number as u32))?;
        Ok((self.system.events.len() > before).then_some(before as u32))
    }

    fn run(
        &mut self,
        here: &Here<'p>,
        process: usize,
        arguments: &[Value],
        priority: Option<i64>,
        wanted: &mut Vec<Wanted>,
    ) -> Result<(), Problem> {
        let from = *self.instance(here.instance);
        let priority = priority.unwrap_or(self.program.processes[process].priority);
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
            let mut effects = Vec::new();
            for (parameter, argument) in arguments.iter().enumerate() {
                let local = &self.program.processes[process].locals[parameter];
                let value = self.keep(&local.leaves[0].scalar, self.value(argument, context)?);
                let id = super::core::VariableId::Local(parameter);
                if let super::lower::Storage::Variable(v) = self.storage(id, 0, Some(target)) {
                    effects.push(set_from_source(*v, None, value.expr));
                }
            }
            effects.extend(self.begin(&self.program.processes[process].locals, Some(target))?);
            effects.extend(self.begin_priority(target));
            self.here.set(here.alternative.action.place);
            if let Statement::Assign(access, value) = statement {
                let value = self.value(value, context)?;
                effects.push(self.store(access, value, Moment::Current, context)?);
            }
            let start = self.location(target, self.flow(target).start);
            let step = Move { process: ProcessId(slot as u32), from: 0, to: start };
            self.push(here, all([can, below, channels]), effects, |event| event.moves.push(step))?;
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
    fn channels_before(&self, launch: &Launch) -> Expr {
        if own_channels(self.program, launch.to.process) == 0 {
            return Expr::TRUE;
        }
        let mut sum = Expr::Const(super::instances::count_channels(&self.program.globals) as i64);
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
        let same = super::values::equal(sum, Expr::Const(launch.to.channels as i64));
        if fixed { Expr::TRUE } else { same }
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
        for queue in self.candidates(channel, context)? {
            let is = self.is_queue(channel, queue, context)?;
            let message = self.message(queue, arguments, context)?;
            let raw = self.unkept(arguments, context)?;
            if self.too_many_fields(here, queue, arguments.len(), &is)? {
                continue;
            }
            match self.queues[queue].length {
                Some(length) => {
                    let can = all([is, room(length, self.queues[queue].capacity)]);
                    let effects = self.send(queue, sorted.then_some(&raw[..]), &message);
                    let name = self.queues[queue].name.clone();
                    let from = Some(self.process(here.instance));
                    let values = message.iter().map(|value| value.expr.clone()).collect();
                    let shown_by = self.field_tables(queue);
                    self.push(here, can, effects, |event| {
                        event.message = Some(Message { channel: name, from, to: None, values, shown_by });
                    })?;
                }
                None if here.alternative.then == Next::Bound || here.state.inner => {
                    let can = all([is, self.partner(queue, arguments, context)?]);
                    self.push_fault(here, can, "a rendezvous in a d_step")?;
                }
                None => self.rendezvous(here, queue, is, &message)?,
            }
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
            let guard = all([is.clone(), takes, allowed.clone()]);
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
            let name = self.queues[queue].name.clone();
            let values = message.iter().map(|value| value.expr.clone()).collect();
            let shown_by = self.field_tables(queue);
            let message = Message { channel: name, from: Some(from.process), to: Some(to.process), values, shown_by };
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
        for queue in self.candidates(channel, context)? {
            let is = self.is_queue(channel, queue, context)?;
            if self.too_many_fields(here, queue, arguments.len(), &is)? || self.queues[queue].capacity == 0 {
                continue;
            }
            let matching = self.matches(queue, &demands(arguments), context)?;
            let found = match random {
                true => self.any_match(queue, &matching),
                false => self.match_at(queue, &matching, 0),
            };
            let effects = self.receive(queue, random, keep, arguments, &matching, context)?;
            let name = self.queues[queue].name.clone();
            let to = Some(self.process(here.instance));
            let values = self.received(queue, random, &matching);
            let shown_by = self.field_tables(queue);
            self.push(here, all([is, found]), effects, |event| {
                event.message = (!keep).then_some(Message { channel: name, from: None, to, values, shown_by });
            })?;
        }
        Ok(())
    }

    fn refuse_uninitialised(&mut self, here: &Here<'p>, channel: &Access, does: &str) -> Result<(), Problem> {
        if self.may_be_none(channel, here.context)? && !here.late {
            let chosen = self.read(channel, here.context)?.expr;
            let none = super::values::equal(chosen, Expr::Const(0));
            self.push_fault(here, none, &format!("a process {does} a channel that is not initialised"))?;
        }
        Ok(())
    }

    /// SPIN goes on with zeros for what is missing, so do we; more than there is room for is a fault.
    fn too_many_fields(&mut self, here: &Here<'p>, queue: usize, given: usize, is: &Expr) -> Result<bool, Problem> {
        let fields = self.program.channels[self.queues[queue].kind].fields.len();
        let too_many = given > fields;
        if too_many && !here.late {
            let name = &self.queues[queue].name;
            let message = format!("a message of {given} fields for channel {name}, which has {fields}");
            self.push_fault(here, is.clone(), &message)?;
        }
        Ok(too_many)
    }
}

/// How a send counts that must meet a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sends {
    /// It does not.
    Buffered,
    /// As always possible.
    Any,
    /// If there is a partner.
    Meeting,
}

fn room(length: scrimp_system::VarId, capacity: u32) -> Expr {
    match capacity {
        1 => Expr::equals(length, 0),
        _ => Expr::binary(BinaryOp::Less, Expr::Var(length), Expr::Const(capacity as i64)),
    }
}

fn mentions_timeout(state: &State) -> bool {
    let alternatives = state.transitions.iter().flat_map(|t| &t.alternatives);
    alternatives.into_iter().any(|a| a.action.statement.any(|value| matches!(value, Value::Timeout)))
}
