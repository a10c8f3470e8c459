//! Conditions without negations, over the variables of the state equation.

use super::equation::Equation;
use super::number::{Sparse, common_divisor, floor};
use super::tableau::Stop;
use crate::net::{Net, TransitionId};
use crate::question::{Condition, Sum};

/// A condition as far as the equation can express it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// The variable is at most the bound, or at least.
    Bound(Literal),
    All(Vec<Node>),
    Any(Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Literal {
    pub variable: u32,
    pub at_most: bool,
    pub bound: i64,
}

impl Literal {
    pub fn negated(self) -> Option<Literal> {
        let bound = if self.at_most { self.bound.checked_add(1)? } else { self.bound.checked_sub(1)? };
        Some(Literal { variable: self.variable, at_most: !self.at_most, bound })
    }
}

impl Node {
    pub const TRUE: Node = Node::All(Vec::new());
    pub const FALSE: Node = Node::Any(Vec::new());

    /// The condition, or its opposite. Conditions are nested no deeper than [`DEPTH`](scrimp_temporal::Formula::DEPTH), and so is this.
    pub fn of(equation: &mut Equation, net: &Net, condition: &Condition, holds: bool) -> Result<Node, Stop> {
        Ok(match condition {
            Condition::True => Node::constant(holds),
            Condition::False => Node::constant(!holds),
            Condition::Not(inner) => Node::of(equation, net, inner, !holds)?,
            Condition::All(parts) | Condition::Any(parts) => {
                let nodes = parts.iter().map(|part| Node::of(equation, net, part, holds));
                let nodes = nodes.collect::<Result<Vec<Node>, Stop>>()?;
                if matches!(condition, Condition::All(_)) == holds { Node::All(nodes) } else { Node::Any(nodes) }
            }
            Condition::AtMostZero(sum) => Node::at_most_zero(equation, sum, holds)?,
            Condition::Fireable(transitions) => Node::fireable(equation, net, transitions.iter().copied(), holds),
            Condition::Deadlock => Node::fireable(equation, net, 0..net.transitions.len() as u32, !holds),
        })
    }

    fn constant(holds: bool) -> Node {
        if holds { Node::TRUE } else { Node::FALSE }
    }

    /// One of the transitions is enabled, or none.
    fn fireable(equation: &Equation, net: &Net, which: impl Iterator<Item = TransitionId>, one: bool) -> Node {
        let enabled = |t: TransitionId| {
            let transition = &net.transitions[t as usize];
            let tokens = |place: u32, weight: u64, enough: bool| {
                let more = i128::from(weight) - i128::from(equation.initial[place as usize]);
                // No place of the equation has a number near the limits of a word.
                let more = more.clamp(i64::MIN as i128 / 2, i64::MAX as i128 / 2) as i64;
                let bound = if enough { more } else { more - 1 };
                Node::Bound(Literal { variable: equation.place(place), at_most: !enough, bound })
            };
            let inputs = transition.inputs.iter().map(|arc| tokens(arc.place, arc.weight, one));
            let parts = inputs.chain(transition.inhibitors.iter().map(|arc| tokens(arc.place, arc.weight, !one)));
            if one { Node::All(parts.collect()) } else { Node::Any(parts.collect()) }
        };
        let mut nodes: Vec<Node> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for t in which {
            // Transitions that are enabled together need to be asked once.
            let transition = &net.transitions[t as usize];
            if seen.insert((&transition.inputs, &transition.inhibitors)) {
                nodes.push(enabled(t));
            }
        }
        if one { Node::Any(nodes) } else { Node::All(nodes) }
    }

    /// The sum is at most zero, or at least one.
    fn at_most_zero(equation: &mut Equation, sum: &Sum, holds: bool) -> Result<Node, Stop> {
        let Some(&(_, first)) = sum.terms.first() else { return Ok(Node::constant((sum.constant <= 0) == holds)) };
        // The same sum has one variable whatever it is multiplied with.
        let divisor = sum.terms.iter().fold(0, |d, e| common_divisor(d, e.1.unsigned_abs().into()));
        let divisor = i128::try_from(divisor).map_err(|_| Stop)? * i128::from(first.signum());
        let weights = sum.terms.iter().map(|&(p, w)| Some((p, i64::try_from(i128::from(w) / divisor).ok()?)));
        let weights = weights.collect::<Option<Sparse>>().ok_or(Stop)?;
        // divisor * weights * tokens <= -constant, or at least 1 - constant.
        let right = if holds { -i128::from(sum.constant) } else { 1 - i128::from(sum.constant) };
        let at_most = (divisor > 0) == holds;
        let bound = match (at_most, divisor > 0) {
            (true, true) => floor(right, divisor),
            (true, false) => floor(-right, -divisor),
            (false, true) => -floor(-right, divisor),
            (false, false) => -floor(right, -divisor),
        };
        let more = bound.checked_sub(equation.at_first(&weights).ok_or(Stop)?).ok_or(Stop)?;
        let bound = i64::try_from(more).ok().filter(|b| b.unsigned_abs() < 1 << 62).ok_or(Stop)?;
        let variable = equation.sum(&weights)?;
        Ok(Node::Bound(Literal { variable, at_most, bound }))
    }
}
