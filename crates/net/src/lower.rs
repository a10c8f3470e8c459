//! From a net to a system: a place is a variable or follows from some, a transition is an event.

use crate::encoding::{Encoding, Kept};
use crate::net::{Net, Place, PlaceId, Transition, TransitionId};
use crate::question::{Condition, Sum};
use scrimp_system::{Assign, BinaryOp, Domain, Event, Expr, Moment, Role, Source, System, VarId, Variable, ViewOf};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most tokens that a variable can hold: sums of them must be numbers too.
pub const MOST_TOKENS: u64 = 1 << 40;

/// A net as a system, and how its places are found in it.
#[derive(Debug, Clone)]
pub struct Lowered {
    pub system: Arc<System>,
    net: Arc<Net>,
    at: Vec<At>,
}

/// What tells a place's tokens in a state.
#[derive(Debug, Clone, Copy)]
enum At {
    Known(u64),
    /// `sign` times this variable, plus a number; its own variable, or that of another place.
    Line {
        variable: VarId,
        sign: i64,
        constant: i64,
        own: bool,
    },
    /// This variable has this value.
    Value {
        variable: VarId,
        value: i64,
        none: Option<i64>,
    },
    /// A sum of others; no transition needs to look at it.
    Sum,
}

impl Lowered {
    /// `None` when a marking could have more tokens than there are numbers for.
    pub fn new(net: &Arc<Net>, encoding: &Encoding, source: Source) -> Option<Lowered> {
        let mut system = System::new(source);
        system.packed = true;
        system.guessed = encoding.is_guessed();
        let at = variables(net, encoding, &mut system)?;
        system.initial = vec![valuation(&at, system.variables.len(), &net.initial())];
        system.events = net.transitions.iter().map(|t| event(t, &at)).collect();
        let values = encoding.places.iter().zip(&at).map(|(kept, here)| tokens(kept, here, &at));
        let view = |(place, value): (&Place, Expr)| ViewOf { name: place.name.clone(), value };
        system.views = net.places.iter().zip(values).map(view).collect();
        Some(Lowered { system: Arc::new(system), net: net.clone(), at })
    }

    /// The number of tokens in a place.
    pub fn tokens(&self, place: PlaceId) -> &Expr {
        &self.system.views[place as usize].value
    }

    /// The values of the variables in a marking.
    pub fn valuation(&self, marking: &[u64]) -> Vec<i64> {
        valuation(&self.at, self.system.variables.len(), marking)
    }

    /// Where a transition is enabled. Made when it is asked for, because few are.
    fn guard(&self, transition: TransitionId) -> Expr {
        guard(&self.net.transitions[transition as usize], &self.at)
    }

    /// A condition on markings as one on states; `None` where a number in it is too large.
    pub fn condition(&self, condition: &Condition) -> Option<Expr> {
        Some(match condition {
            Condition::True => Expr::TRUE,
            Condition::False => Expr::FALSE,
            Condition::Not(inner) => Expr::not(self.condition(inner)?),
            Condition::All(parts) => Expr::joined(
                BinaryOp::And,
                parts.iter().map(|part| self.condition(part)).collect::<Option<_>>()?,
                Expr::TRUE,
            ),
            Condition::Any(parts) => Expr::joined(
                BinaryOp::Or,
                parts.iter().map(|part| self.condition(part)).collect::<Option<_>>()?,
                Expr::FALSE,
            ),
            Condition::AtMostZero(sum) => Expr::binary(BinaryOp::LessEqual, self.sum(sum)?, Expr::Const(0)),
            Condition::Fireable(transitions) => {
                let guards = transitions.iter().map(|&t| self.guard(t)).collect();
                Expr::joined(BinaryOp::Or, guards, Expr::FALSE)
            }
            Condition::Deadlock => {
                let guards = (0..self.net.transitions.len()).map(|t| self.guard(t as TransitionId)).collect();
                Expr::not(Expr::joined(BinaryOp::Or, guards, Expr::FALSE))
            }
        })
    }

    /// A weighted sum of tokens.
    pub fn sum(&self, sum: &Sum) -> Option<Expr> {
        let most = |&(place, weight): &(u32, i64)| {
            let tokens = match self.at[place as usize] {
                At::Known(tokens) => tokens,
                At::Value { .. } => 1,
                At::Line { variable, own: true, .. } => self.system.variables[variable.index()].domain.high as u64,
                _ => MOST_TOKENS,
            };
            weight.unsigned_abs() as i128 * tokens as i128
        };
        let largest: i128 = sum.terms.iter().map(most).sum::<i128>() + sum.constant.unsigned_abs() as i128;
        if largest > i64::MAX as i128 {
            return None;
        }
        let term = |&(place, weight): &(u32, i64)| scaled(self.tokens(place).clone(), weight);
        let mut terms: Vec<Expr> = sum.terms.iter().map(term).collect();
        terms.push(Expr::Const(sum.constant));
        Some(Expr::joined(BinaryOp::Add, terms, Expr::Const(0)))
    }
}

fn valuation(at: &[At], variables: usize, marking: &[u64]) -> Vec<i64> {
    let mut values = vec![0; variables];
    for (tokens, at) in marking.iter().zip(at) {
        match at {
            At::Line { variable, own: true, .. } => values[variable.index()] = *tokens as i64,
            At::Value { variable, value, .. } if *tokens != 0 => values[variable.index()] = *value,
            _ => {}
        }
    }
    values
}

/// The variables of the encoding, and where each place is in them.
fn variables(net: &Net, encoding: &Encoding, system: &mut System) -> Option<Vec<At>> {
    let mut variable = |name: String, high: u64| {
        let domain = Domain::range(0, high as i64);
        system.variables.push(Variable { name, owner: None, domain, length: None, role: Role::Data });
        VarId(system.variables.len() as u32 - 1)
    };
    let group = |group: &crate::encoding::OneOf| {
        let first = group.places.first().map_or("", |&place| &net.places[place as usize].name);
        variable(format!("{first}…"), group.places.len() as u64 - group.always as u64)
    };
    let groups: Vec<VarId> = encoding.groups.iter().map(group).collect();
    let mut at = Vec::with_capacity(net.places.len());
    for (place, kept) in net.places.iter().zip(&encoding.places) {
        at.push(match kept {
            Kept::Always(tokens) | Kept::Counted { bound: tokens, .. } if *tokens > MOST_TOKENS => return None,
            Kept::Always(tokens) => At::Known(*tokens),
            Kept::Counted { bound, .. } => {
                At::Line { variable: variable(place.name.clone(), *bound), sign: 1, constant: 0, own: true }
            }
            Kept::OneOf { group, value } => At::Value {
                variable: groups[*group as usize],
                value: *value as i64,
                none: (!encoding.groups[*group as usize].always).then_some(0),
            },
            Kept::Sum { .. } => At::Sum,
        });
    }
    // Places that are as another one, or its complement, can be looked at all the same.
    for place in 0..at.len() {
        if let Kept::Sum { terms, constant } = &encoding.places[place]
            && let [(other, sign @ (1 | -1))] = terms[..]
            && let At::Line { variable, .. } = at[other as usize]
        {
            at[place] = At::Line { variable, sign, constant: *constant, own: false };
        }
    }
    Some(at)
}

/// How many tokens a place has.
fn tokens(kept: &Kept, here: &At, at: &[At]) -> Expr {
    match (kept, here) {
        (_, At::Known(tokens)) => Expr::Const(*tokens as i64),
        (_, At::Value { variable, value, .. }) => Expr::equals(*variable, *value),
        (_, At::Line { variable, sign: 1, constant: 0, .. }) => Expr::Var(*variable),
        (_, At::Line { variable, sign, constant, .. }) => {
            Expr::binary(BinaryOp::Add, scaled(Expr::Var(*variable), *sign), Expr::Const(*constant))
        }
        (Kept::Sum { terms, constant }, At::Sum) => {
            let term = |&(place, weight): &(u32, i64)| match at[place as usize] {
                At::Line { variable, .. } => scaled(Expr::Var(variable), weight),
                _ => Expr::Const(0),
            };
            let terms = terms.iter().map(term).chain([Expr::Const(*constant)]).collect();
            Expr::joined(BinaryOp::Add, terms, Expr::Const(0))
        }
        (_, At::Sum) => Expr::Const(0),
    }
}

fn scaled(e: Expr, weight: i64) -> Expr {
    if weight == 1 { e } else { Expr::binary(BinaryOp::Multiply, Expr::Const(weight), e) }
}

/// The place has so many tokens, or more.
fn at_least(at: &At, weight: i64) -> Expr {
    match *at {
        At::Known(tokens) => Expr::Const((tokens as i64 >= weight) as i64),
        At::Line { variable, sign: 1, constant, .. } => compared(variable, BinaryOp::GreaterEqual, weight - constant),
        At::Line { variable, constant, .. } => compared(variable, BinaryOp::LessEqual, constant - weight),
        At::Value { variable, value, .. } if weight == 1 => Expr::equals(variable, value),
        At::Value { .. } => Expr::FALSE,
        At::Sum => Expr::TRUE,
    }
}

/// The place has fewer tokens.
fn fewer_than(at: &At, weight: i64) -> Expr {
    match *at {
        At::Known(tokens) => Expr::Const(((tokens as i64) < weight) as i64),
        At::Line { variable, sign: 1, constant, .. } => compared(variable, BinaryOp::Less, weight - constant),
        At::Line { variable, constant, .. } => compared(variable, BinaryOp::Greater, constant - weight),
        At::Value { variable, value, .. } if weight == 1 => Expr::not(Expr::equals(variable, value)),
        At::Value { .. } | At::Sum => Expr::TRUE,
    }
}

fn compared(variable: VarId, op: BinaryOp, number: i64) -> Expr {
    Expr::binary(op, Expr::Var(variable), Expr::Const(number))
}

fn guard(t: &Transition, at: &[At]) -> Expr {
    let small = |weight: u64| i64::try_from(weight).unwrap_or(i64::MAX).min(MOST_TOKENS as i64 * 2);
    let inputs = t.inputs.iter().map(|arc| at_least(&at[arc.place as usize], small(arc.weight)));
    let inhibitors = t.inhibitors.iter().map(|arc| fewer_than(&at[arc.place as usize], small(arc.weight)));
    Expr::joined(BinaryOp::And, inputs.chain(inhibitors).collect(), Expr::TRUE)
}

/// What a transition does to the number of a group.
#[derive(Default)]
struct Moved {
    from: Option<i64>,
    to: Option<i64>,
    /// What stands for no token, if that can be.
    none: Option<i64>,
}

fn event(t: &Transition, at: &[At]) -> Event {
    let mut guards = guard(t, at);
    let mut effects = Vec::new();
    let mut assign = |target: VarId, value: Expr| {
        effects.push(Assign { target, index: None, value, moment: Moment::Current });
    };
    let given = |place: u32| t.outputs.iter().find(|arc| arc.place == place).map_or(0, |arc| arc.weight);
    for (place, change) in t.effect() {
        if let At::Line { variable, own: true, .. } = at[place as usize]
            && t.resets.binary_search(&place).is_err()
        {
            // A change too large for any bound is a fault like any that is too large for this one.
            let change = change.clamp(-(MOST_TOKENS as i128) * 2, MOST_TOKENS as i128 * 2) as i64;
            assign(variable, Expr::binary(BinaryOp::Add, Expr::Var(variable), Expr::Const(change)));
        }
    }
    for &place in &t.resets {
        if let At::Line { variable, own: true, .. } = at[place as usize] {
            assign(variable, Expr::Const(given(place).min(MOST_TOKENS * 2) as i64));
        }
    }
    // The number of a group becomes that of the place that gets the token, or none.
    let mut moved: BTreeMap<VarId, Moved> = BTreeMap::new();
    for arc in &t.inputs {
        if let At::Value { variable, value, none } = at[arc.place as usize] {
            moved.entry(variable).or_insert(Moved { none, ..Moved::default() }).from = Some(value);
        }
    }
    for arc in &t.outputs {
        if let At::Value { variable, value, none } = at[arc.place as usize] {
            moved.entry(variable).or_insert(Moved { none, ..Moved::default() }).to = Some(value);
        }
    }
    for (variable, Moved { from, to, none }) in moved {
        if let (None, Some(none)) = (from, none) {
            guards = Expr::and(guards, Expr::equals(variable, none));
        }
        if let (true, Some(to)) = (from != to, to.or(none)) {
            assign(variable, Expr::Const(to));
        }
    }
    Event { label: t.name.clone(), guard: guards, effects, ..Event::default() }
}
