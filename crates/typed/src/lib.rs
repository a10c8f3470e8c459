//! Models written in Rust with states of their own types, made ready for the engines.
//!
//! A [`TypedModel`] has states and actions of any type. [`Encoded`] turns it into what searches want: states of a fixed number of
//! bytes. A run that a search has found becomes a [`Path`] of the model's own actions and states.

#![deny(missing_docs)]

mod code;
mod coding;
mod conform;
mod encoded;
mod expand;
mod local;
mod model;
pub mod net;
pub mod packed;
mod panics;
mod path;
mod per_thread;
mod recent;
mod taken;
mod watch;

pub use conform::{Conformance, Observation, Seen, Unseen, conform, conform_unseen};
pub use encoded::{Encoded, Guides, Holds, actor};
pub use model::TypedModel;
pub use panics::caught;
pub use path::{Path, PathOf, Unshown};
pub use taken::Taken;
pub use watch::{Call, Watch};
