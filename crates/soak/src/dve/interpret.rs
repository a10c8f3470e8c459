//! What a DVE model means, by its manual: a state is the places of all processes, all values and all messages that wait.

use super::tree::*;
use crate::oracle::graph::{Meaning, Steps};
use std::collections::VecDeque;

/// An index out of range, or a division by zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    pub places: Vec<usize>,
    /// All values, of global variables first, then process by process.
    values: Vec<i64>,
    messages: Vec<VecDeque<Vec<i64>>>,
}

/// Where a variable's values are.
#[derive(Debug, Clone, Copy)]
struct Room {
    first: usize,
    length: usize,
    ty: Type,
}

#[derive(Debug)]
pub struct Interpreter<'m> {
    model: &'m Model,
    globals: Vec<Room>,
    locals: Vec<Vec<Room>>,
    initial: State,
    /// Does the process that only watches move along?
    with_watcher: bool,
}

impl<'m> Interpreter<'m> {
    pub fn new(model: &'m Model, with_watcher: bool) -> Interpreter<'m> {
        let mut new = Interpreter {
            model,
            globals: Vec::new(),
            locals: Vec::new(),
            initial: State {
                places: (0..model.processes.len()).map(|p| model.body(p).initial).collect(),
                values: Vec::new(),
                messages: vec![VecDeque::new(); model.channels.len()],
            },
            with_watcher,
        };
        for variable in &model.variables {
            let room = new.declare(variable, None);
            new.globals.push(room);
        }
        for process in 0..model.processes.len() {
            new.locals.push(Vec::new());
            for variable in &model.body(process).variables {
                let room = new.declare(variable, Some(process));
                new.locals[process].push(room);
            }
        }
        new
    }

    /// Makes room for a variable, and gives it its first values: 0 where none are written, none beyond its size.
    fn declare(&mut self, variable: &Variable, process: Option<usize>) -> Room {
        let length = variable.size.as_ref().map_or(1, |(size, _)| *size);
        let room = Room { first: self.initial.values.len(), length, ty: variable.ty };
        let values: Vec<i64> =
            variable.initial.iter().map(|e| self.eval(e, &self.initial, process).unwrap_or(0)).collect();
        for at in 0..length {
            self.initial.values.push(wrapped(variable.ty, values.get(at).copied().unwrap_or(0)));
        }
        room
    }

    fn room(&self, reference: &Reference, process: Option<usize>) -> Room {
        match (reference.scope, process) {
            (Scope::Of(process), _) | (Scope::Own, Some(process)) => self.locals[process][reference.number],
            _ => self.globals[reference.number],
        }
    }

    /// The place of a value.
    fn place(&self, reference: &Reference, state: &State, process: Option<usize>) -> Result<usize, Error> {
        let room = self.room(reference, process);
        let at = match &reference.index {
            Some(index) => self.eval(index, state, process)?,
            None => 0,
        };
        if at < 0 || at >= room.length as i64 {
            return Err(Error);
        }
        Ok(room.first + at as usize)
    }

    pub fn eval(&self, e: &Expr, state: &State, process: Option<usize>) -> Result<i64, Error> {
        Ok(match e {
            Expr::Number(value) => *value,
            Expr::Truth(value) => *value as i64,
            Expr::Read(reference) => state.values[self.place(reference, state, process)?],
            Expr::Parameter(number) => process.map_or(0, |p| self.model.processes[p].arguments[*number]),
            Expr::Round(_) => 0,
            Expr::At(process, place) => (state.places[*process] == *place) as i64,
            Expr::Waiting(channel) => state.messages[*channel].len() as i64,
            Expr::Message(channel, component, index) => {
                let at = self.eval(index, state, process)?;
                let room = self.model.channels[*channel].room() as i64;
                if at < 0 || at >= room {
                    return Err(Error);
                }
                // Places where no message waits hold zeros.
                state.messages[*channel].get(at as usize).map_or(0, |message| message[*component])
            }
            Expr::Unary(op, a) => {
                let a = self.eval(a, state, process)?;
                match op {
                    Unary::Minus => a.wrapping_neg(),
                    Unary::Complement => !a,
                    Unary::Not => (a == 0) as i64,
                }
            }
            Expr::Binary(op, a, b) => {
                let a = self.eval(a, state, process)?;
                // What decides already is not asked further.
                match op {
                    Binary::And if a == 0 => return Ok(0),
                    Binary::Or if a != 0 => return Ok(1),
                    Binary::Imply if a == 0 => return Ok(1),
                    _ => {}
                }
                calculated(*op, a, self.eval(b, state, process)?)?
            }
        })
    }

    fn assign(&self, target: &Reference, value: i64, state: &mut State, process: usize) -> Result<(), Error> {
        let place = self.place(target, state, Some(process))?;
        state.values[place] = wrapped(self.room(target, Some(process)).ty, value);
        Ok(())
    }

    fn guard(&self, transition: &Transition, state: &State, process: usize) -> Result<bool, Error> {
        for guard in &transition.guards {
            if self.eval(guard, state, Some(process))? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn effects(&self, transition: &Transition, state: &mut State, process: usize) -> Result<(), Error> {
        for (target, e) in &transition.effects {
            let value = self.eval(e, state, Some(process))?;
            self.assign(target, value, state, process)?;
        }
        Ok(())
    }

    /// Whether a process in this place may move: where somebody is committed, only those who are.
    fn committed(&self, state: &State, process: usize) -> bool {
        self.model.body(process).committed.contains(&state.places[process])
    }

    /// Assigns what was received, in its order; where is read before anybody moves.
    fn receive(
        &self,
        targets: &[Reference],
        values: &[i64],
        before: &State,
        after: &mut State,
        process: usize,
    ) -> Result<(), Error> {
        for (target, value) in targets.iter().zip(values) {
            // Indices see the values received so far, but processes where they were.
            let standing = State { places: before.places.clone(), ..after.clone() };
            let place = self.place(target, &standing, Some(process))?;
            after.values[place] = wrapped(self.room(target, Some(process)).ty, *value);
        }
        Ok(())
    }

    /// One process moves by itself: `None` where it cannot.
    fn alone(&self, state: &State, process: usize, transition: &Transition) -> Result<Option<State>, Error> {
        let mut after = state.clone();
        after.places[process] = transition.to;
        match &transition.sync {
            None => {
                if !self.guard(transition, state, process)? {
                    return Ok(None);
                }
            }
            Some(Sync { channel, passed }) => {
                let declared = &self.model.channels[*channel];
                let waiting = state.messages[*channel].len();
                match passed {
                    Passed::Sent(values) => {
                        if waiting == declared.room() || !self.guard(transition, state, process)? {
                            return Ok(None);
                        }
                        let types: Vec<Type> = declared.types.iter().flatten().copied().collect();
                        let mut message = vec![0; types.len()];
                        for (number, e) in values.iter().enumerate() {
                            message[number] = wrapped(types[number], self.eval(e, state, Some(process))?);
                        }
                        after.messages[*channel].push_back(message);
                    }
                    Passed::Received(targets) => {
                        if waiting == 0 || !self.guard(transition, state, process)? {
                            return Ok(None);
                        }
                        let message = after.messages[*channel].pop_front().unwrap_or_default();
                        self.receive(targets, &message, state, &mut after, process)?;
                    }
                }
            }
        }
        self.effects(transition, &mut after, process)?;
        Ok(Some(after))
    }

    /// Two processes move together.
    fn together(
        &self,
        state: &State,
        (sender, sends): (usize, &Transition),
        (receiver, receives): (usize, &Transition),
    ) -> Result<Option<State>, Error> {
        if !self.guard(sends, state, sender)? || !self.guard(receives, state, receiver)? {
            return Ok(None);
        }
        let (Some(sent), Some(received)) = (&sends.sync, &receives.sync) else { return Ok(None) };
        let (Passed::Sent(values), Passed::Received(targets)) = (&sent.passed, &received.passed) else {
            return Ok(None);
        };
        let types = self.model.channels[sent.channel].types.as_deref().unwrap_or_default();
        let mut after = state.clone();
        after.places[sender] = sends.to;
        after.places[receiver] = receives.to;
        let mut passed = Vec::new();
        // What nobody takes is not computed.
        for (number, (e, _)) in values.iter().zip(targets).enumerate() {
            let value = self.eval(e, state, Some(sender))?;
            passed.push(types.get(number).map_or(value, |ty| wrapped(*ty, value)));
        }
        self.receive(targets, &passed, state, &mut after, receiver)?;
        self.effects(sends, &mut after, sender)?;
        self.effects(receives, &mut after, receiver)?;
        Ok(Some(after))
    }

    /// What the processes do without the one that watches.
    fn system_steps(&self, state: &State) -> Steps<State> {
        let mut steps = Steps::default();
        let processes: Vec<usize> = (0..state.places.len()).filter(|p| Some(*p) != self.model.watcher()).collect();
        let anybody = processes.iter().any(|p| self.committed(state, *p));
        let may = |p: usize| !anybody || self.committed(state, p);
        let mut add = |outcome: Result<Option<State>, Error>, movers: &[usize]| match outcome {
            Ok(Some(next)) => steps.moves.push((next, movers.to_vec())),
            Ok(None) => {}
            Err(Error) => steps.faults += 1,
        };
        for &process in processes.iter().filter(|p| may(**p)) {
            for transition in self.leaving(state, process) {
                let handshake = transition.sync.as_ref().filter(|s| self.model.channels[s.channel].room() == 0);
                let Some(sync) = handshake else {
                    add(self.alone(state, process, transition), &[process]);
                    continue;
                };
                if matches!(sync.passed, Passed::Received(_)) {
                    continue;
                }
                for &other in processes.iter().filter(|p| **p != process && may(**p)) {
                    let meets = |t: &&Transition| {
                        let same = |s: &Sync| s.channel == sync.channel && matches!(s.passed, Passed::Received(_));
                        t.sync.as_ref().is_some_and(same)
                    };
                    for partner in self.leaving(state, other).filter(meets) {
                        add(self.together(state, (process, transition), (other, partner)), &[process, other]);
                    }
                }
            }
        }
        steps
    }

    /// Can everything that the one who watches asks in this state be evaluated?
    pub fn watches(&self, state: &State, watcher: usize) -> bool {
        self.leaving(state, watcher).all(|t| self.guard(t, state, watcher).is_ok())
    }

    fn leaving<'s>(&'s self, state: &State, process: usize) -> impl Iterator<Item = &'s Transition> {
        let place = state.places[process];
        self.model.body(process).transitions.iter().filter(move |t| t.from == place)
    }
}

impl Meaning for Interpreter<'_> {
    type State = State;

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn steps(&self, state: &State) -> Steps<State> {
        let mut steps = self.system_steps(state);
        let Some(watcher) = self.model.watcher().filter(|_| self.with_watcher) else { return steps };
        // It moves in step with the others, or alone where they are stuck; what it asks is read in the state that is left.
        if steps.moves.is_empty() {
            steps.moves.push((state.clone(), vec![watcher]));
        }
        let places: Vec<usize> = (self.leaving(state, watcher))
            .filter(|t| self.guard(t, state, watcher) == Ok(true))
            .map(|t| t.to)
            .collect();
        steps.moves = (steps.moves.into_iter())
            .flat_map(|(next, movers)| {
                let moved = |place: &usize| {
                    let mut next = next.clone();
                    next.places[watcher] = *place;
                    (next, movers.clone())
                };
                places.iter().map(moved).collect::<Vec<_>>()
            })
            .collect();
        steps
    }
}

/// The value as it is stored: the low bits of what was computed.
fn wrapped(ty: Type, value: i64) -> i64 {
    match ty {
        Type::Byte => value as u8 as i64,
        Type::Int => value as i16 as i64,
    }
}

/// What an operator makes of two values, as in C.
fn calculated(op: Binary, a: i64, b: i64) -> Result<i64, Error> {
    let truth = |value: bool| value as i64;
    Ok(match op {
        Binary::Imply => truth(a == 0 || b != 0),
        Binary::Or => truth(a != 0 || b != 0),
        Binary::And => truth(a != 0 && b != 0),
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        Binary::BitAnd => a & b,
        Binary::Equal => truth(a == b),
        Binary::NotEqual => truth(a != b),
        Binary::Less => truth(a < b),
        Binary::LessEqual => truth(a <= b),
        Binary::Greater => truth(a > b),
        Binary::GreaterEqual => truth(a >= b),
        // Distances beyond the width of a number shift everything out.
        Binary::ShiftLeft => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0),
        Binary::ShiftRight => {
            u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(if a < 0 { -1 } else { 0 })
        }
        Binary::Plus => a.wrapping_add(b),
        Binary::Minus => a.wrapping_sub(b),
        Binary::Times => a.wrapping_mul(b),
        Binary::Divide | Binary::Modulo if b == 0 => return Err(Error),
        Binary::Divide => a.wrapping_div(b),
        Binary::Modulo => a.wrapping_rem(b),
    })
}
