//! Event traces: `trace` and `notrace` as one more process, which moves with sends and receives.
//!
//! An event on a channel that the trace speaks of becomes one event for each state of the trace. The first transition that
//! matches is taken. If none does, a `trace` is violated; a `notrace` is violated when it comes to its end.

use super::core::{EventTrace, Field, State, Statement, Value};
use super::events::Wanted;
use super::lower::Lowering;
use super::values::{Context, all, any, equal};
use crate::diagnostic::Problem;
use crate::lines::Lines;
use scrimp_system::{Domain, Event, Expr, Move, Process, ProcessId, VarId, Variable};

/// A transition of the trace: which channel, which way, what the message must be.
struct Step {
    channel: String,
    receives: bool,
    wanted: Vec<Option<Expr>>,
    target: u32,
}

/// What the trace makes of a message: where it goes, under which condition, and whether that violates it.
struct Reaction {
    to: u32,
    condition: Expr,
    violation: bool,
}

impl Lowering<'_> {
    /// Adds the trace to the system, once all events are there.
    pub fn trace(&mut self, trace: &EventTrace, wanted: &mut [Wanted]) -> Result<(), Problem> {
        let source = self.program.source.clone();
        let mut lines = Lines::of(&source);
        let id = ProcessId(self.system.processes.len() as u32);
        let control = VarId(self.system.variables.len() as u32);
        let locations = super::lower::location_names(&trace.flow, &mut lines);
        let name = if trace.not { "notrace" } else { "trace" };
        self.system.variables.push(Variable {
            name: name.into(),
            owner: Some(id),
            domain: Domain::range(0, locations.len() as i64 - 1),
            ..Variable::control(id)
        });
        let span = lines.span(trace.place);
        self.system.processes.push(Process { name: name.into(), control, locations, accepting: vec![], span });
        for values in &mut self.system.initial {
            values.push(trace.flow.start as i64);
        }
        let mut steps = Vec::new();
        for state in &trace.flow.states {
            steps.push(self.trace_steps(state)?);
        }
        let ends: Vec<bool> = trace.flow.states.iter().map(|state| state.valid_end).collect();
        // Events are numbered anew; those that ask for room stay single.
        let mut numbers = Vec::new();
        for event in std::mem::take(&mut self.system.events) {
            numbers.push(self.system.events.len() as u32);
            self.traced(event, trace, &steps, &ends, id);
        }
        wanted.iter_mut().for_each(|w| w.event = numbers[w.event as usize]);
        if !trace.not {
            let done = any((0..ends.len()).filter(|i| ends[*i]).map(|i| Expr::equals(control, i as i64)));
            let valid = self.system.valid_end.take().unwrap_or(Expr::TRUE);
            let nobody = all(self.slots().map(|slot| Expr::not(self.alive(slot))));
            self.system.valid_end = Some(all([valid, any([done, nobody])]));
        }
        Ok(())
    }

    fn trace_steps(&self, state: &State) -> Result<Vec<Step>, Problem> {
        let context = Context { instance: None, timeout: false, started: None };
        let mut steps = Vec::new();
        for alternative in state.transitions.iter().flat_map(|t| &t.alternatives) {
            let place = alternative.action.place;
            self.here.set(place);
            let (channel, receives, arguments) = match &alternative.action.statement {
                Statement::Send { channel, arguments, .. } => {
                    // Only constants matter; names of variables stand for anything.
                    let wanted = arguments.iter().map(|a| a.number().map(Value::Number)).collect::<Vec<_>>();
                    (channel, false, wanted)
                }
                Statement::Receive { channel, arguments, .. } => {
                    let wanted = arguments.iter().map(|a| match a {
                        Field::Match(value) => Some(value.clone()),
                        Field::Store(_) | Field::Ignore => None,
                    });
                    (channel, true, wanted.collect::<Vec<_>>())
                }
                Statement::End => continue,
                _ => return Err(Problem::new(place, "an event trace consists of sends and receives")),
            };
            let Some(target) = alternative.target else { continue };
            let [(queue, _)] = self.meant(channel, context)?[..] else {
                return Err(Problem::new(place, "an event trace needs a channel that is known from the start"));
            };
            let wanted =
                arguments.iter().map(|a| a.as_ref().map(|v| self.value(v, context).map(|v| v.expr)).transpose());
            let wanted = wanted.collect::<Result<_, _>>()?;
            steps.push(Step { channel: self.channel_name(queue), receives, wanted, target: target as u32 });
        }
        Ok(steps)
    }

    /// The event with what the trace makes of it.
    fn traced(&mut self, event: Event, trace: &EventTrace, steps: &[Vec<Step>], ends: &[bool], id: ProcessId) {
        let message = event.message.clone();
        let watched = |receives: bool| {
            let here = message.as_ref().filter(|m| if receives { m.to.is_some() } else { m.from.is_some() });
            let mentioned = |m: &&scrimp_system::Message| {
                steps.iter().flatten().any(|s| s.channel == m.channel && s.receives == receives)
            };
            here.filter(mentioned)
        };
        let (send, receive) = (watched(false), watched(true));
        if send.is_none() && receive.is_none() || event.fault.is_some() {
            self.system.events.push(event);
            return;
        }
        // Where the text of the trace ends there is nothing to match.
        let end = (0..steps.len()).find(|i| ends[*i] && steps[*i].is_empty()).unwrap_or(0) as u32;
        for from in 0..steps.len() as u32 {
            let mut reactions = vec![Reaction { to: from, condition: Expr::TRUE, violation: false }];
            for (part, receives) in [(send, false), (receive, true)] {
                let Some(message) = part else { continue };
                let mut next = Vec::new();
                for before in reactions {
                    let at = &steps[before.to as usize];
                    let mut none = before.condition.clone();
                    for step in at.iter().filter(|s| s.channel == message.channel && s.receives == receives) {
                        let wanted = step.wanted.iter().zip(&message.values);
                        let same = wanted.filter_map(|(w, v)| w.as_ref().map(|w| equal(w.clone(), v.clone())));
                        let matches = all(same.collect::<Vec<_>>());
                        next.push(Reaction {
                            to: step.target,
                            condition: all([none.clone(), matches.clone()]),
                            violation: before.violation || trace.not && ends[step.target as usize],
                        });
                        none = all([none, Expr::not(matches)]);
                    }
                    // What does not fit violates a `trace`, and settles a `notrace`.
                    let violation = before.violation || !trace.not;
                    let to = if trace.not { end } else { before.to };
                    next.push(Reaction { to, condition: none, violation });
                }
                reactions = next;
            }
            for reaction in reactions {
                let guard = all([event.guard.clone(), reaction.condition]);
                if guard.as_const() == Some(0) {
                    continue;
                }
                let mut event = event.clone();
                event.guard = guard;
                event.moves.push(Move { process: id, from, to: reaction.to });
                if reaction.violation {
                    event.assertion = Some(Expr::FALSE);
                }
                self.system.events.push(event);
            }
        }
    }
}
