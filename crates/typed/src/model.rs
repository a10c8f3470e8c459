//! What a model written in Rust says of itself.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::hash::Hash;

/// A model with states and actions of your own types.
///
/// All of it must be functions: the same state has the same actions in the same order, and the same action leads from it to the
/// same state. Equal states must be written alike by serde, which ordered collections (`Vec`, `BTreeMap`, `BTreeSet`) are.
pub trait TypedModel: Send + Sync + 'static {
    /// A state.
    type State: Clone + Eq + Hash + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// What can happen in a state.
    type Action: Clone + Debug + PartialEq + Send + Sync + 'static;

    /// The states to begin with.
    fn initial(&self) -> Vec<Self::State>;

    /// Appends all that could happen in a state.
    fn actions(&self, state: &Self::State, out: &mut Vec<Self::Action>);

    /// Where an action leads; `None` where it cannot happen after all.
    fn next(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// The process that acts, by a number from 0 on: a lane of charts, and what fairness is about.
    fn process(&self, action: &Self::Action) -> usize {
        let _ = action;
        0
    }

    /// Does this action concern its [process](TypedModel::process) alone? However often the others act before this process does: it
    /// has the actions that it has in this state, all of them and no others, and they do the same; nobody can tell in which order
    /// these and those of the others happened; and no condition that is asked for becomes true or false by this action. With `.reduce("por")` a state is left by
    /// the actions of one process only, where all that it has are local: far fewer states, the same answers. What is said here is
    /// tried out on the way as far as it can be, but not proved.
    fn local(&self, state: &Self::State, action: &Self::Action) -> bool {
        let _ = (state, action);
        false
    }

    /// Of all states that differ only in which of several equal parts is which, the one that stands for them. Used where
    /// symmetry is asked for.
    fn canonical(&self, state: &Self::State) -> Self::State {
        state.clone()
    }

    /// Do two actions lead to the same state in either order wherever both can happen, neither making the other possible or
    /// impossible? That alone says nothing about what others could do later, so nothing is left out by it: see
    /// [`local`](TypedModel::local). It is tried out with `.reduce("por")`.
    fn independent(&self, one: &Self::Action, other: &Self::Action) -> bool {
        let _ = (one, other);
        false
    }
}
