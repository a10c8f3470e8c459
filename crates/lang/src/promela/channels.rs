//! Channels as variables: a fill level, and an array for each field of a message.
//!
//! Slots that are not in use are zero, so that a channel's contents determine its variables. An operation on a channel
//! variable is one on each channel that it can be, guarded by its value.

use super::core::{Access, Field, Match, Value};
use super::lower::Lowering;
use super::values::{Bounded, Context, all, any, choose, equal, harmless, impossible};
use crate::diagnostic::Problem;
use scrimp_system::{Assign, BinaryOp, Expr, Moment, VarId};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(crate) struct Queue {
    /// The number that a channel variable has for it, from 1 on.
    pub id: u32,
    /// The type, a number in [`super::core::Program::channels`].
    pub kind: usize,
    pub capacity: u32,
    /// Whose channel it is; `None` for a global one.
    pub instance: Option<usize>,
    /// None for a rendezvous channel.
    pub length: Option<VarId>,
    pub fields: Vec<VarId>,
    pub name: String,
    /// The number by which traces know what is in it; none for a rendezvous channel.
    pub place: Option<u32>,
}

/// What a channel expression means in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A channel, by its place in [`Lowering::queues`].
    Queue(usize),
    Uninitialised,
    /// A number that is not, or no longer, that of a channel.
    Gone,
}

/// `target = value`, read where the assignment runs.
pub(crate) fn set(target: VarId, index: Option<Expr>, value: Expr) -> Assign {
    Assign { target, index, value, moment: Moment::Current }
}

/// `target = value`, read in the state that is left.
pub(crate) fn set_from_source(target: VarId, index: Option<Expr>, value: Expr) -> Assign {
    Assign { target, index, value, moment: Moment::Source }
}

fn element(variable: VarId, index: i64) -> Expr {
    Expr::Element(variable, Box::new(Expr::Const(index)))
}

impl Lowering<'_> {
    /// All that a channel expression can mean, each with its condition. In every state exactly one of the conditions holds.
    pub fn meanings(&self, channel: &Access, context: Context) -> Result<Vec<(Meaning, Expr)>, Problem> {
        let chosen = self.read(channel, context)?.expr;
        let known = match chosen.as_const() {
            Some(id) => Some(BTreeSet::from([id])),
            None => self.known_values(channel, context),
        };
        let possible = |id: i64| known.as_ref().is_none_or(|known| known.contains(&id));
        let is = |id: i64| equal(chosen.clone(), Expr::Const(id));
        let mut meanings = Vec::new();
        let mut always_there = BTreeSet::from([0]);
        for (number, queue) in self.queues.iter().enumerate().filter(|(_, queue)| possible(queue.id as i64)) {
            let id = queue.id as i64;
            let condition = match queue.instance {
                Some(instance) if Some(instance) != context.instance => all([is(id), self.present(instance)]),
                _ => {
                    always_there.insert(id);
                    is(id)
                }
            };
            meanings.push((Meaning::Queue(number), condition));
        }
        if possible(0) {
            meanings.push((Meaning::Uninitialised, is(0)));
        }
        if known.is_none_or(|known| !known.is_subset(&always_there)) {
            let none = all(meanings.iter().map(|(_, condition)| Expr::not(condition.clone())));
            meanings.push((Meaning::Gone, none));
        }
        Ok(meanings)
    }

    /// The channels that a channel expression can mean, by their place in `queues`, with their conditions.
    pub fn meant(&self, channel: &Access, context: Context) -> Result<Vec<(usize, Expr)>, Problem> {
        let queue = |(meaning, condition)| match meaning {
            Meaning::Queue(queue) => Some((queue, condition)),
            Meaning::Uninitialised | Meaning::Gone => None,
        };
        Ok(self.meanings(channel, context)?.into_iter().filter_map(queue).collect())
    }

    /// What a question about a channel comes to; asking about what is no channel is a fault.
    pub fn asked(
        &self,
        channel: &Access,
        context: Context,
        answer: impl Fn(usize) -> Result<Expr, Problem>,
    ) -> Result<Expr, Problem> {
        let mut result: Option<Expr> = None;
        for (meaning, condition) in self.meanings(channel, context)?.into_iter().rev() {
            let value = match meaning {
                Meaning::Queue(queue) => answer(queue)?,
                Meaning::Uninitialised | Meaning::Gone => impossible(),
            };
            // Where no other condition holds, the last does.
            result = Some(match result {
                None => value,
                Some(other) => choose(condition, value, other),
            });
        }
        Ok(result.unwrap_or_else(impossible))
    }

    /// What the fields of a message must be, `None` for anything.
    pub fn matches(&self, queue: usize, arguments: &[Match], context: Context) -> Result<Vec<Option<Expr>>, Problem> {
        let fields = self.queues[queue].fields.len().max(self.program.channels[self.queues[queue].kind].fields.len());
        let wanted = arguments.iter().take(fields);
        wanted.map(|a| a.as_ref().map(|value| self.value(value, context).map(|v| v.expr)).transpose()).collect()
    }

    /// A message that matches is in this slot.
    pub fn match_at(&self, queue: usize, matching: &[Option<Expr>], slot: u32) -> Expr {
        let queue = &self.queues[queue];
        let Some(length) = queue.length else { return Expr::FALSE };
        let there = match slot {
            0 => Expr::not(Expr::equals(length, 0)),
            _ => Expr::binary(BinaryOp::Greater, Expr::Var(length), Expr::Const(slot as i64)),
        };
        let fields = matching.iter().zip(&queue.fields).filter_map(|(wanted, field)| {
            wanted.as_ref().map(|wanted| equal(wanted.clone(), element(*field, slot as i64)))
        });
        all(std::iter::once(there).chain(fields))
    }

    /// A message that matches is in some slot. As in SPIN, all that is demanded of the fields is evaluated before any is compared.
    pub fn any_match(&self, queue: usize, matching: &[Option<Expr>]) -> Expr {
        if matching.iter().all(Option::is_none) {
            return self.match_at(queue, matching, 0);
        }
        let found = any((0..self.queues[queue].capacity).map(|slot| self.match_at(queue, matching, slot)));
        let evaluated = harmless(&self.system.variables, matching.iter().flatten());
        match evaluated.as_const() {
            Some(_) => found,
            None => all([self.match_at(queue, &[], 0), evaluated, found]),
        }
    }

    /// The values that are sent, as the fields keep them; zero where the statement has too few.
    pub fn message(&self, queue: usize, arguments: &[Value], context: Context) -> Result<Vec<Bounded>, Problem> {
        let kinds = &self.program.channels[self.queues[queue].kind].fields;
        let mut message = Vec::new();
        for (number, scalar) in kinds.iter().enumerate() {
            message.push(match arguments.get(number) {
                Some(value) => self.keep(scalar, self.value(value, context)?),
                None => Bounded::constant(0),
            });
        }
        Ok(message)
    }

    /// The values that are sent, before the fields keep what they can of them.
    pub fn unkept(&self, arguments: &[Value], context: Context) -> Result<Vec<Bounded>, Problem> {
        arguments.iter().map(|value| self.value(value, context)).collect()
    }

    /// What a send does to a channel that has room. With `sorted`, which are the values before they are kept, the message
    /// takes its place among the others.
    pub fn send(&self, queue: usize, sorted: Option<&[Bounded]>, message: &[Bounded]) -> Vec<Assign> {
        let queue = &self.queues[queue];
        let Some(length) = queue.length else { return vec![] };
        let mut effects = Vec::new();
        if let Some(raw) = sorted.filter(|_| queue.capacity > 1) {
            // Before the first message that is larger, the first field being the most significant.
            let less = |slot: i64| {
                let mut less = Expr::FALSE;
                for (value, field) in raw.iter().zip(&queue.fields).rev() {
                    let there = element(*field, slot);
                    let smaller = Expr::binary(BinaryOp::Less, value.expr.clone(), there.clone());
                    less = match less.as_const() {
                        Some(0) => smaller,
                        _ => any([smaller, all([equal(value.expr.clone(), there), less])]),
                    };
                }
                less
            };
            let mut position = Expr::Var(length);
            for slot in (0..queue.capacity as i64 - 1).rev() {
                let there = Expr::binary(BinaryOp::Greater, Expr::Var(length), Expr::Const(slot));
                let here = all([there, less(slot)]);
                position = Expr::If(Box::new(here), Box::new(Expr::Const(slot)), Box::new(position));
            }
            for (value, field) in message.iter().zip(&queue.fields) {
                for slot in 0..queue.capacity as i64 {
                    let shifted = if slot > 0 { element(*field, slot - 1) } else { Expr::Const(0) };
                    let at = |op| Expr::binary(op, position.clone(), Expr::Const(slot));
                    let kept = Expr::If(
                        Box::new(at(BinaryOp::Greater)),
                        Box::new(element(*field, slot)),
                        Box::new(Expr::If(
                            Box::new(at(BinaryOp::Equal)),
                            Box::new(value.expr.clone()),
                            Box::new(shifted),
                        )),
                    );
                    effects.push(set_from_source(*field, Some(Expr::Const(slot)), kept));
                }
            }
        } else {
            let place = if queue.capacity == 1 { Expr::Const(0) } else { Expr::Var(length) };
            for (value, field) in message.iter().zip(&queue.fields) {
                effects.push(set_from_source(*field, Some(place.clone()), value.expr.clone()));
            }
        }
        let more = match queue.capacity {
            1 => Expr::Const(1),
            _ => Expr::binary(BinaryOp::Add, Expr::Var(length), Expr::Const(1)),
        };
        effects.push(set(length, None, more));
        effects
    }

    /// What a receive does where a message matches.
    pub fn receive(
        &self,
        queue: usize,
        random: bool,
        keep: bool,
        arguments: &[Field],
        matching: &[Option<Expr>],
        context: Context,
    ) -> Result<Vec<Assign>, Problem> {
        let number = queue;
        let queue = &self.queues[queue];
        let Some(length) = queue.length else { return Ok(vec![]) };
        let capacity = queue.capacity;
        let position = self.position(number, random, matching);
        let mut effects = Vec::new();
        for (argument, field) in arguments.iter().zip(&queue.fields) {
            if let Field::Store(access) = argument {
                let value = match &position {
                    None => element(*field, 0),
                    Some(position) => Expr::Element(*field, Box::new(position.clone())),
                };
                let scalar = &self.program.channels[queue.kind].fields[self.field_number(queue, *field)];
                let (low, high) = scalar.range();
                effects.push(self.store(access, Bounded { expr: value, low, high }, Moment::Source, context)?);
            }
        }
        if keep {
            return Ok(effects);
        }
        for field in &queue.fields {
            for slot in 0..capacity as i64 {
                let last = slot + 1 == capacity as i64;
                let next = if last { Expr::Const(0) } else { element(*field, slot + 1) };
                let value = match &position {
                    Some(position) if !last => {
                        let before = Expr::binary(BinaryOp::Less, Expr::Const(slot), position.clone());
                        Expr::If(Box::new(before), Box::new(element(*field, slot)), Box::new(next))
                    }
                    _ => next,
                };
                effects.push(set_from_source(*field, Some(Expr::Const(slot)), value));
            }
        }
        let fewer = match capacity {
            1 => Expr::Const(0),
            _ => Expr::binary(BinaryOp::Subtract, Expr::Var(length), Expr::Const(1)),
        };
        effects.push(set(length, None, fewer));
        Ok(effects)
    }

    /// The slot of the message that a receive takes, where it is not the first.
    fn position(&self, queue: usize, random: bool, matching: &[Option<Expr>]) -> Option<Expr> {
        let capacity = self.queues[queue].capacity;
        (random && matching.iter().any(Option::is_some) && capacity > 1).then(|| {
            let mut position = Expr::Const(capacity as i64 - 1);
            for slot in (0..capacity - 1).rev() {
                let here = self.match_at(queue, matching, slot);
                position = Expr::If(Box::new(here), Box::new(Expr::Const(slot as i64)), Box::new(position));
            }
            position
        })
    }

    /// The message that a receive takes.
    pub fn received(&self, queue: usize, random: bool, matching: &[Option<Expr>]) -> Vec<Expr> {
        let position = self.position(queue, random, matching).unwrap_or(Expr::Const(0));
        let fields = self.queues[queue].fields.iter();
        fields.map(|field| Expr::Element(*field, Box::new(position.clone()))).collect()
    }

    fn field_number(&self, queue: &Queue, field: VarId) -> usize {
        queue.fields.iter().position(|f| *f == field).unwrap_or(0)
    }
}

/// What a receive demands of the fields.
pub(crate) fn demands(arguments: &[Field]) -> Vec<Match> {
    let demand = |argument: &Field| match argument {
        Field::Match(value) => Some(value.clone()),
        Field::Store(_) | Field::Ignore => None,
    };
    arguments.iter().map(demand).collect()
}
