//! What linear algebra tells about a net before any search: flows, bounds, what can never be, and how to store less.
//!
//! All of it is exact: numbers that do not fit, or a deadline that passes, give no conclusion.

mod affine;
mod bounds;
mod causes;
mod deadlock;
mod elimination;
mod equation;
mod flows;
mod groups;
mod literal;
mod number;
mod progress;
mod pruning;
mod refuter;
mod simplex;
mod siphons;
mod tableau;

#[cfg(test)]
mod brute;

pub use affine::{Affine, affine_places};
pub use bounds::{Bounds, bounds, place_bounds};
pub use deadlock::deadlock_free;
pub use equation::{Inequality, upper_bound};
pub use flows::{Flow, Flows, Repetition, place_flows, place_semiflows, transition_flows, transition_semiflows};
pub use groups::{ExclusiveGroup, exclusive_groups};
pub use progress::{progress_measure, progress_of};
pub use pruning::pruning;
pub use refuter::{Refuter, never_holds, unreachable};
pub use siphons::{maximal_siphon_in, maximal_trap_in, minimal_siphons, never_marked};
