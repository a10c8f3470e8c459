//! All that Scrimp decides of a model: opens it, plans, runs the engine that decides each property, and begins again with a
//! larger model where it turns out to be too small. The command line has flags and prints; what they mean is here.

pub mod chart;
mod engines;
mod explorable;
mod load;
pub mod net;
pub mod properties;
pub mod temporal;
pub mod walk;

pub use engines::run_engine;
pub use explorable::{Explorable, Plain};
pub use load::{Loaded, load};
