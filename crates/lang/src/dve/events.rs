//! From transitions to events.
//!
//! A transition without synchronisation, or on a buffered channel, is one event. On a rendezvous channel every pair of a
//! sending and a receiving transition of two processes is one. Events stand in the order process by process, transition by
//! transition, a rendezvous where its sender stands.

use super::committed::Committed;
use super::declare::{Channel, Declarations};
use super::scope::{Instance, View};
use super::syntax::{Direction, Sync, Transition, Type};
use crate::diagnostic::{Place, Problem};
use crate::expression::lower::{Lowering, Target, all_of};
use scrimp_system::outline::TextTransition;
use scrimp_system::{
    Assign, BinaryOp, Domain, Event, Expr, Message, Moment, Move, ProcessId, UnaryOp, VarId, Variable,
};

/// Transitions that are wrong, after which no more are looked at.
const MOST_PROBLEMS: usize = 100;
/// More events than this are refused.
const MAX_EVENTS: usize = 1_000_000;

pub(crate) struct Events<'a> {
    text: &'a str,
    d: &'a Declarations<'a>,
    committed: Committed,
    /// For each channel, the first use that passes values: how many, and where.
    arities: Vec<Option<(usize, Place)>>,
    events: Vec<Event>,
}

/// A transition with its names resolved.
struct Half<'a> {
    step: Move,
    guard: Expr,
    effects: Vec<Assign>,
    /// What a receiving transition stores into.
    targets: Vec<Target>,
    /// What a sending transition passes.
    sent: Vec<Expr>,
    transition: &'a Transition,
    /// The size of all this, for the budget.
    weight: u64,
}

/// The events of all processes but `claim`, and the transitions that these are made of.
pub(crate) fn events(
    text: &str,
    d: &Declarations<'_>,
    claim: Option<u32>,
) -> Result<(Vec<Event>, Vec<TextTransition>), Problem> {
    let mut builder =
        Events { text, d, committed: committed(d, claim)?, arities: vec![None; d.channels.len()], events: Vec::new() };
    let mut receivers: Vec<Vec<Half<'_>>> = d.channels.iter().map(|_| Vec::new()).collect();
    let instances = || d.scopes.instances.iter().enumerate().filter(|(i, _)| Some(*i as u32) != claim);
    let mut problems = Vec::new();
    for (process, instance) in instances() {
        for transition in &d.model.bodies[instance.body].transitions {
            let received = builder.received(process as u32, instance, transition);
            if let Some(Some((channel, half))) = Problem::noted(received, &mut problems) {
                receivers[channel].push(half);
            }
        }
    }
    let mut written = Vec::new();
    for (process, instance) in instances() {
        for transition in &d.model.bodies[instance.body].transitions {
            let done = builder.transition(process as u32, instance, transition, &receivers);
            Problem::noted(done, &mut problems);
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
            written.push(builder.written(instance, transition));
        }
    }
    Problem::all(problems)?;
    Ok((builder.events, written))
}

/// The committed states of all processes; none when only the property has any, for it restrains nothing by itself.
fn committed(d: &Declarations<'_>, claim: Option<u32>) -> Result<Committed, Problem> {
    let mut committed = Committed::default();
    let mut of_system = false;
    for (process, instance) in d.scopes.instances.iter().enumerate() {
        let body = &d.model.bodies[instance.body];
        let states = body.committed.iter().map(|s| d.scopes.state(instance.body, *s)).collect::<Result<Vec<_>, _>>()?;
        if !states.is_empty() {
            committed.add(process as u32, instance.control, body.states.len(), &states);
            of_system |= Some(process as u32) != claim;
        }
    }
    Ok(if of_system { committed } else { Committed::default() })
}

impl<'a> Events<'a> {
    fn lowering(&self, process: u32) -> Lowering<'a, View<'a>> {
        let d = self.d;
        let names = d.scopes.view(Some(process));
        Lowering { expressions: d.expressions, symbols: d.scopes.symbols, names, budget: d.budget }
    }

    /// A channel carries the tuple of its type, or without a type always equally many values; or none, as a mere signal.
    fn check_arity(&mut self, channel: usize, sync: &Sync) -> Result<(), Problem> {
        let declaration = self.d.channels[channel].declaration;
        let count = sync.values.len();
        if count == 0 {
            return Ok(());
        }
        let (expected, place) = match (&declaration.types, self.arities[channel]) {
            (Some(types), _) => (types.len(), declaration.name.place),
            (None, Some(first)) => first,
            (None, None) => *self.arities[channel].insert((count, sync.place)),
        };
        if count == expected {
            return Ok(());
        }
        let values = |n: usize| if n == 1 { "1 value".to_string() } else { format!("{n} values") };
        let word = self.d.scopes.spell(declaration.name);
        let message = format!("channel `{word}` passes {} here but {}", values(count), values(expected));
        Err(Problem::new(sync.place, message).on_line_of(place))
    }

    /// What a transition receives by rendezvous, and on which channel.
    fn received(
        &mut self,
        process: u32,
        instance: &Instance,
        transition: &'a Transition,
    ) -> Result<Option<(usize, Half<'a>)>, Problem> {
        let Some(sync) = &transition.sync else { return Ok(None) };
        let channel = self.d.scopes.channel(sync.channel)?;
        self.check_arity(channel, sync)?;
        let is_rendezvous = sync.direction == Direction::Receive && self.d.channels[channel].capacity == 0;
        is_rendezvous.then(|| Ok((channel, self.half(process, instance, transition)?))).transpose()
    }

    fn half(&self, process: u32, instance: &Instance, transition: &'a Transition) -> Result<Half<'a>, Problem> {
        let lowering = self.lowering(process);
        let mut problems = Vec::new();
        let state = |name| self.d.scopes.state(instance.body, name);
        let states = Problem::both(state(transition.from), state(transition.to));
        let (from, to) = Problem::noted(states, &mut problems).unwrap_or_default();
        let step = Move { process: ProcessId(process), from, to };
        let mut guards = Vec::with_capacity(transition.guards.len());
        for guard in &transition.guards {
            guards.extend(Problem::noted(lowering.value(*guard), &mut problems));
        }
        let guard = all_of(guards);
        let mut effects = Vec::with_capacity(transition.effects.len());
        for (target, value) in &transition.effects {
            let both = Problem::both(lowering.target(*target), lowering.value(*value));
            let effect = Problem::noted(both, &mut problems);
            effects.extend(effect.map(|(target, value)| store(target, value, Moment::Current)));
        }
        let (mut targets, mut sent) = (Vec::new(), Vec::new());
        for value in transition.sync.iter().flat_map(|s| &s.values) {
            match transition.sync.as_ref().map(|s| s.direction) {
                Some(Direction::Receive) => targets.extend(Problem::noted(lowering.target(*value), &mut problems)),
                _ => sent.extend(Problem::noted(lowering.value(*value), &mut problems)),
            }
        }
        Problem::all(problems)?;
        let assigned = effects.iter().map(|a| size(&a.value) + a.index.as_ref().map_or(0, size) + 2);
        let stored = targets.iter().map(|t| t.index.as_ref().map_or(0, size) + 2);
        let weight = size(&guard) + assigned.sum::<u64>() + stored.sum::<u64>() + sent.iter().map(size).sum::<u64>();
        Ok(Half { step, guard, effects, targets, sent, transition, weight })
    }

    fn transition(
        &mut self,
        process: u32,
        instance: &Instance,
        transition: &'a Transition,
        receivers: &[Vec<Half<'a>>],
    ) -> Result<(), Problem> {
        let d = self.d;
        let Some(sync) = &transition.sync else {
            let half = self.half(process, instance, transition)?;
            let label = self.path(&half.step, ": ");
            return self.add(half, Expr::TRUE, label, Vec::new(), None);
        };
        let number = d.scopes.channel(sync.channel)?;
        let channel = &d.channels[number];
        if channel.capacity > 0 {
            let half = self.half(process, instance, transition)?;
            return self.buffered(half, channel, sync);
        }
        if sync.direction == Direction::Receive {
            return Ok(());
        }
        let half = self.half(process, instance, transition)?;
        for receiver in &receivers[number] {
            if receiver.step.process != half.step.process {
                self.rendezvous(&half, receiver, channel, sync)?;
            }
        }
        Ok(())
    }

    /// `P: a -> b`, with `separator` after the name of the process.
    fn path(&self, step: &Move, separator: &str) -> String {
        let instance = &self.d.scopes.instances[step.process.index()];
        let states = &self.d.model.bodies[instance.body].states;
        let state = |number: u32| self.d.scopes.spell(states[number as usize]);
        format!("{}{separator}{} -> {}", instance.name, state(step.from), state(step.to))
    }

    /// A transition as the text has it.
    fn written(&self, instance: &Instance, transition: &Transition) -> TextTransition {
        let path = format!("{} -> {}", self.d.scopes.spell(transition.from), self.d.scopes.spell(transition.to));
        let text = match &transition.sync {
            Some(sync) => format!("{}: {path}", self.sync_text(sync)),
            None => path,
        };
        TextTransition { process: instance.name.clone(), text, span: transition.span }
    }

    fn sync_text(&self, sync: &Sync) -> String {
        one_line(&self.text[sync.place.start as usize..sync.place.end as usize], 40)
    }

    /// An event of a single process, whose own effects come after `before`.
    fn add(
        &mut self,
        half: Half<'_>,
        condition: Expr,
        label: String,
        before: Vec<Assign>,
        message: Option<Message>,
    ) -> Result<(), Problem> {
        let moves = vec![half.step];
        let Some(allowed) = self.committed.allows(&moves) else { return Ok(()) };
        let guard = all_of(vec![allowed, condition, half.guard]);
        let mut effects = before;
        effects.extend(half.effects);
        self.push(
            Event { label, moves, guard, effects, span: half.transition.span, message, ..Event::default() },
            half.transition,
        )
    }

    fn push(&mut self, event: Event, transition: &Transition) -> Result<(), Problem> {
        let place = transition.from.place.to(transition.to.place);
        if self.events.len() >= MAX_EVENTS {
            let message = format!("the model has more than {MAX_EVENTS} events");
            let help = "every sending transition meets every receiving one on the same channel";
            return Err(Problem::new(place, message).maybe_help(transition.sync.as_ref().map(|_| help.to_string())));
        }
        self.d.budget.spend(4 + event.label.len() as u64 / 32, place)?;
        self.events.push(event);
        Ok(())
    }

    fn buffered(&mut self, half: Half<'a>, channel: &Channel<'_>, sync: &Sync) -> Result<(), Problem> {
        let d = self.d;
        let [level, slots @ ..] = channel.variables.as_slice() else { return Ok(()) };
        let capacity = channel.capacity as i64;
        let label = format!("{}: {}", self.sync_text(sync), self.path(&half.step, " "));
        let name = d.scopes.spell(channel.declaration.name).to_string();
        let process = Some(half.step.process);
        let step_level = |by: i64| Assign {
            target: *level,
            index: None,
            value: Expr::binary(BinaryOp::Add, Expr::Var(*level), Expr::Const(by)),
            moment: Moment::Current,
        };
        let mut before = Vec::new();
        if sync.direction == Direction::Send {
            for (slot, value) in slots.iter().zip(&half.sent) {
                let target = Target { variable: *slot, index: Some(Expr::Var(*level)) };
                before.push(store(target, value.clone(), Moment::Source));
            }
            before.push(step_level(1));
            let room = Expr::binary(BinaryOp::Less, Expr::Var(*level), Expr::Const(capacity));
            let values = self.carried(&half.sent, channel);
            let message =
                Message { channel: name, queue: channel.queue, from: process, to: None, values, shown_by: vec![] };
            return self.add(half, room, label, before, Some(message));
        }
        d.budget.spend(4 * slots.len() as u64 * capacity as u64, sync.place)?;
        for (slot, target) in slots.iter().zip(&half.targets) {
            let target = self.before_moves(target, &[half.step]);
            before.push(store(target, element(*slot, 0), Moment::Source));
        }
        for slot in slots {
            for at in 1..capacity {
                let target = Target { variable: *slot, index: Some(Expr::Const(at - 1)) };
                before.push(store(target, element(*slot, at), Moment::Current));
            }
            let freed = Target { variable: *slot, index: Some(Expr::Const(capacity - 1)) };
            before.push(store(freed, Expr::Const(0), Moment::Current));
        }
        before.push(step_level(-1));
        let filled = Expr::binary(BinaryOp::Greater, Expr::Var(*level), Expr::Const(0));
        let values = slots.iter().map(|slot| element(*slot, 0)).collect();
        let message =
            Message { channel: name, queue: channel.queue, from: None, to: process, values, shown_by: vec![] };
        self.add(half, filled, label, before, Some(message))
    }

    fn rendezvous(
        &mut self,
        sender: &Half<'_>,
        receiver: &Half<'_>,
        channel: &Channel<'_>,
        sync: &Sync,
    ) -> Result<(), Problem> {
        let moves = vec![sender.step, receiver.step];
        let Some(allowed) = self.committed.allows(&moves) else { return Ok(()) };
        self.d.budget.spend(sender.weight + receiver.weight, sync.place)?;
        let mut effects = Vec::with_capacity(receiver.targets.len() + sender.effects.len() + receiver.effects.len());
        for (position, (value, target)) in sender.sent.iter().zip(&receiver.targets).enumerate() {
            let ty = channel.declaration.types.as_ref().map(|types| types[position]);
            let value = self.cast(value.clone(), ty, target.variable);
            effects.push(store(self.before_moves(target, &moves), value, Moment::Source));
        }
        effects.extend(sender.effects.iter().chain(&receiver.effects).cloned());
        let (from, to) = (self.path(&sender.step, " "), self.path(&receiver.step, " "));
        let event = Event {
            label: format!("{}: {from}, {to}", self.sync_text(sync)),
            guard: all_of(vec![allowed, sender.guard.clone(), receiver.guard.clone()]),
            effects,
            span: sender.transition.span,
            partner: Some(receiver.transition.span),
            message: Some(Message {
                channel: self.d.scopes.spell(channel.declaration.name).to_string(),
                queue: None,
                from: Some(sender.step.process),
                to: Some(receiver.step.process),
                values: self.carried(&sender.sent, channel),
                shown_by: vec![],
            }),
            moves,
            ..Event::default()
        };
        self.push(event, sender.transition)
    }

    /// What is sent, as a typed channel carries it, for people.
    fn carried(&self, sent: &[Expr], channel: &Channel<'_>) -> Vec<Expr> {
        let types = channel.declaration.types.as_deref().unwrap_or_default();
        let is_byte = |position: usize| types.get(position) == Some(&Type::Byte);
        let value = |(position, value): (usize, &Expr)| match is_byte(position) && !fits_byte(value, &self.d.variables)
        {
            true => Expr::binary(BinaryOp::BitAnd, value.clone(), Expr::Const(255)),
            false => value.clone(),
        };
        sent.iter().enumerate().map(value).collect()
    }

    /// The value as a typed channel carries it. Storing wraps at the target's width, so only a value that goes through a
    /// `byte` into an `int` can tell the difference.
    fn cast(&self, value: Expr, ty: Option<Type>, target: VarId) -> Expr {
        let into_int = self.d.variables[target.index()].domain != Domain::BYTE;
        if ty != Some(Type::Byte) || !into_int || fits_byte(&value, &self.d.variables) {
            return value;
        }
        Expr::binary(BinaryOp::BitAnd, value, Expr::Const(255))
    }

    /// The target of a received value: its index is read before the processes move, while effects run after they did.
    fn before_moves(&self, target: &Target, moves: &[Move]) -> Target {
        let known = |v: VarId| {
            let from = |m: &&Move| self.d.scopes.instances[m.process.index()].control == v;
            moves.iter().find(from).map(|m| m.from as i64)
        };
        let index = target.index.as_ref().map(|index| substitute(index, &known));
        Target { variable: target.variable, index }
    }
}

fn store(target: Target, value: Expr, moment: Moment) -> Assign {
    Assign { target: target.variable, index: target.index, value, moment }
}

fn element(array: VarId, index: i64) -> Expr {
    Expr::Element(array, Box::new(Expr::Const(index)))
}

/// Replaces variables whose value is known.
fn substitute(e: &Expr, known: &dyn Fn(VarId) -> Option<i64>) -> Expr {
    let boxed = |e: &Expr| Box::new(substitute(e, known));
    match e {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Var(v) => known(*v).map_or(Expr::Var(*v), Expr::Const),
        Expr::Element(v, index) => Expr::Element(*v, boxed(index)),
        Expr::Table(values, index) => Expr::Table(values.clone(), boxed(index)),
        Expr::Unary(op, a) => Expr::unary(*op, substitute(a, known)),
        Expr::Binary(op, a, b) => Expr::binary(*op, substitute(a, known), substitute(b, known)),
        Expr::If(a, b, c) => Expr::If(boxed(a), boxed(b), boxed(c)),
    }
}

/// True when the value is certainly one of 0..=255.
fn fits_byte(e: &Expr, variables: &[Variable]) -> bool {
    let byte = |v: &VarId| {
        let domain = variables[v.index()].domain;
        domain.low >= 0 && domain.high <= 255
    };
    use BinaryOp::*;
    match e {
        Expr::Const(value) => (0..=255).contains(value),
        Expr::Var(v) | Expr::Element(v, _) => byte(v),
        Expr::Unary(UnaryOp::Not, _) => true,
        Expr::Binary(op, ..) => {
            matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | And | Or)
        }
        _ => false,
    }
}

/// Number of nodes.
fn size(e: &Expr) -> u64 {
    match e {
        Expr::Const(_) | Expr::Var(_) => 1,
        Expr::Element(_, a) | Expr::Table(_, a) | Expr::Unary(_, a) => 1 + size(a),
        Expr::Binary(_, a, b) => 1 + size(a) + size(b),
        Expr::If(a, b, c) => 1 + size(a) + size(b) + size(c),
    }
}

/// A piece of the text with its white space evened out, cut to `longest` characters.
pub(crate) fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(longest) {
            line.truncate(end);
            line.push_str("...");
            break;
        }
    }
    line
}
