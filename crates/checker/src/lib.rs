//! All that Scrimp decides of a model: opens it, plans, runs the engine that decides each property, and begins again with a
//! larger model where it turns out to be too small. The command line has flags and prints; what they mean is here.

mod asked;
pub mod chart;
mod check;
mod count;
mod coverage;
mod defaults;
mod engines;
mod error;
mod explorable;
mod facts;
mod fairness;
mod files;
mod foresight;
pub mod generate;
mod grow;
mod guides;
mod load;
pub mod net;
pub mod properties;
mod search;
pub mod simulation;
pub mod temporal;
mod turns;
pub mod walk;

pub use asked::Request;
pub use check::{Check, Setting};
pub use count::Count;
pub use defaults::Open;
pub use engines::run_engine;
pub use error::CheckError;
pub use explorable::{Explorable, Plain};
pub use facts::facts;
pub use foresight::{Foresight, fallback};
pub use grow::{Grows, with_room};
pub use load::{Loaded, load};
pub use search::{Found, Host};
