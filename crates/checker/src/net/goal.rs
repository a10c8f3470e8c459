//! What has to be found, or shown not to be there, for a question to be answered.

use super::runs::{Runs, Tree};
use scrimp_net::{Condition, Group, Net, PlaceId, Question, Sum};

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
    /// What a formula about runs comes to.
    Runs(Runs),
    /// What follows from other goals, which have these numbers.
    Joined(Tree<usize>),
    /// A formula that is neither of linear nor of branching time.
    Beyond,
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
            // These are taken apart by those who keep all goals.
            Question::Formula(_) => Goal::Beyond,
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
}
