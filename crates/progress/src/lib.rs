//! Progress measures for the sweep-line method: what one is, reading one, and finding a good one.
//!
//! A sweep-line search expands states in the order of their progress and forgets those that it has left behind. How much
//! memory that saves is up to the [`Measure`]: people write one as text, or [`Measure::auto`] finds one by looking at a
//! sample of the state space and sweeping over it.

mod auto;
mod candidates;
mod component;
mod estimate;
mod given;
mod measure;
mod order;
mod packed;
mod range;
mod rank;
mod sample;
mod search;
mod sweep;
mod text;

pub use auto::{Auto, AutoOptions, SHARES};
pub use measure::Measure;
pub use sample::{Sample, SampleLimits};
pub use sweep::{Patience, Sweep, Sweeper, classes, regress};
