//! Models written in Rust with states of their own types, made ready for the engines.
//!
//! A [`TypedModel`] has states and actions of any type. [`Encoded`] turns it into what searches want: states of a fixed number of
//! bytes. A run that a search has found becomes a [`Path`] of the model's own actions and states.

mod code;
mod conform;
mod encoded;
mod model;
pub mod net;
pub mod packed;
mod panics;
mod path;
mod recent;
mod taken;

pub use conform::{Conformance, Observation, Seen, Unseen, conform, conform_unseen};
pub use encoded::{Encoded, Holds, actor};
pub use model::TypedModel;
pub use panics::caught;
pub use path::{Path, PathOf};
pub use taken::Taken;
