//! What is asked about a net: conditions on markings, formulas over them, bounds, and properties of the whole net.

use crate::net::{Net, PlaceId, TransitionId};

/// A question with the name that its answer goes under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedQuestion {
    pub name: String,
    pub question: Question,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// States, firings, the most tokens in a place and in a marking.
    StateSpace,
    /// Holds at the initial marking. A formula of linear time, with or without a quantifier for all paths before it, holds
    /// there if it does of every run.
    Formula(Formula),
    /// The most tokens that these places have together. A place that is listed twice counts twice.
    Bound(Vec<PlaceId>),
    /// No place ever has more than one token; a coloured place with all its colours (its group) is one place, as in the
    /// contest.
    OneSafe,
    /// Some place, with all its colours, has as many tokens in all markings.
    StableMarking,
    /// Every transition can fire in some marking, under one of its bindings.
    QuasiLiveness,
    /// From every marking every transition can be made to fire, under one of its bindings.
    Liveness,
    /// Every place has only finitely many numbers of tokens.
    Bounded,
}

/// A temporal formula over conditions: what the contest's formulas are made of. It is nested no deeper than
/// [`DEPTH`](scrimp_temporal::Formula::DEPTH), conditions included.
pub type Formula = scrimp_temporal::Formula<Condition>;

/// A condition on one marking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    True,
    False,
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    /// The sum is at most zero.
    AtMostZero(Sum),
    /// One of these transitions is enabled.
    Fireable(Vec<TransitionId>),
    /// No transition is enabled.
    Deadlock,
}

/// A weighted sum of tokens: sorted by place, no weight zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sum {
    pub terms: Vec<(PlaceId, i64)>,
    pub constant: i64,
}

impl Sum {
    pub fn value(&self, marking: &[u64]) -> i128 {
        let term = |&(place, weight): &(PlaceId, i64)| weight as i128 * marking[place as usize] as i128;
        self.constant as i128 + self.terms.iter().map(term).sum::<i128>()
    }
}

impl Condition {
    pub fn holds(&self, net: &Net, marking: &[u64]) -> bool {
        match self {
            Condition::True => true,
            Condition::False => false,
            Condition::Not(inner) => !inner.holds(net, marking),
            Condition::All(parts) => parts.iter().all(|part| part.holds(net, marking)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(net, marking)),
            Condition::AtMostZero(sum) => sum.value(marking) <= 0,
            Condition::Fireable(transitions) => transitions.iter().any(|&t| net.is_enabled(marking, t)),
            Condition::Deadlock => (0..net.transitions.len() as u32).all(|t| !net.is_enabled(marking, t)),
        }
    }
}
