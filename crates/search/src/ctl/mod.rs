//! Branching time: which states fulfil a CTL formula.
//!
//! A run is a path that cannot be made longer: infinite, or ending in a state without successors. There EX is false and AX
//! true, and the other operators are about the one state that is left. An atom whose evaluation is a fault does not hold.

mod check;
mod evidence;
mod game;
mod glance;
mod graph;
mod local;
mod normal;
mod report;
mod runs;
mod space;
#[cfg(test)]
mod tests;
mod truth;
mod watched;

pub(crate) use check::graph_plan;
pub use check::{CtlFacts, CtlOutcome, CtlTask, Inquiry, check, decide, examine};
pub use evidence::evidence;
pub use game::{Choice, Game, Side, Turn};
pub use glance::glance;
pub use normal::{Kind, Node, Operator, Subformula, Table};
pub use report::FirstFault;
pub use truth::Truth;
pub(crate) use watched::Watched;
