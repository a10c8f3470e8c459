//! What has to be found, or shown not to be there, for a question to be answered.

use scrimp_net::{Condition, Formula, Group, Net, PlaceId, Question, Sum};

/// What a search can look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    /// A marking where the condition holds. If there is one, the answer is `found`, and if not, the other.
    Reach {
        condition: Condition,
        found: bool,
    },
    /// The most tokens that these places have together.
    Bound(Vec<PlaceId>),
    /// A place that never changes.
    Stable,
    /// Every transition fires somewhere.
    QuasiLive,
    /// Every transition can fire again from everywhere.
    Live,
    Bounded,
    /// The whole state space.
    Everything,
    /// A formula about runs, which is not decided here.
    Temporal,
}

/// What is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    Truth(bool),
    Tokens(u64),
    /// More than any number.
    Unbounded,
    /// All states were counted: the figures are in the report.
    Counted,
}

impl Goal {
    pub fn of(question: &Question, net: &Net) -> Goal {
        match question {
            Question::StateSpace => Goal::Everything,
            Question::Formula(formula) => Goal::of_formula(formula).unwrap_or(Goal::Temporal),
            Question::Bound(places) => Goal::Bound(places.clone()),
            Question::OneSafe => {
                // Of a coloured place, all colours together.
                let two = |group: &Group| {
                    let sum = Sum::tokens(group.members.clone());
                    Sum::constant(2).plus(-1, &sum).map_or(Condition::False, Condition::at_most_zero)
                };
                Goal::Reach { condition: Condition::any(net.place_groups.iter().map(two)), found: false }
            }
            Question::StableMarking => Goal::Stable,
            Question::QuasiLiveness => Goal::QuasiLive,
            Question::Liveness => Goal::Live,
            Question::Bounded => Goal::Bounded,
        }
    }

    /// Formulas that ask for a marking: `E F`, `A G`, and their negations. The markings of one net are all that such a
    /// formula is about, however often its operators are written.
    fn of_formula(formula: &Formula) -> Option<Goal> {
        match formula {
            Formula::Not(inner) => match Goal::of_formula(inner)? {
                Goal::Reach { condition, found } => Some(Goal::Reach { condition, found: !found }),
                _ => None,
            },
            Formula::ExistsPath(path) => match &**path {
                Formula::Finally(inner) => Some(Goal::Reach { condition: state(inner)?, found: true }),
                _ => None,
            },
            Formula::AllPaths(path) => match &**path {
                Formula::Globally(inner) => Some(Goal::Reach { condition: state(inner)?.negated(), found: false }),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The condition that a formula without operators on runs is.
fn state(formula: &Formula) -> Option<Condition> {
    match formula {
        Formula::Atom(condition) => Some(condition.clone()),
        Formula::True => Some(Condition::True),
        Formula::False => Some(Condition::False),
        Formula::Not(inner) => Some(state(inner)?.negated()),
        Formula::Implies(a, b) => Some(Condition::any([state(a)?.negated(), state(b)?])),
        Formula::And(parts) => Some(Condition::All(parts.iter().map(state).collect::<Option<_>>()?)),
        Formula::Or(parts) => Some(Condition::Any(parts.iter().map(state).collect::<Option<_>>()?)),
        _ => None,
    }
}
