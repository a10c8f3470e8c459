//! Models written in Rust, from [`TypedModel`] to an [`Answer`], in one chain of calls.
//!
//! ```
//! use scrimp::{Checker, TypedModel};
//! use serde::{Deserialize, Serialize};
//!
//! /// Two processes and a lock that is looked at before it is taken.
//! struct Lock;
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
//! enum At {
//!     Idle,
//!     Seen,
//!     Inside,
//! }
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
//! struct State {
//!     taken: bool,
//!     at: [At; 2],
//! }
//!
//! impl TypedModel for Lock {
//!     type State = State;
//!     type Action = usize;
//!
//!     fn initial(&self) -> Vec<State> {
//!         vec![State { taken: false, at: [At::Idle, At::Idle] }]
//!     }
//!
//!     fn actions(&self, _: &State, out: &mut Vec<usize>) {
//!         out.extend([0, 1]);
//!     }
//!
//!     fn next(&self, state: &State, process: &usize) -> Option<State> {
//!         let mut next = state.clone();
//!         match state.at[*process] {
//!             At::Idle if !state.taken => next.at[*process] = At::Seen,
//!             At::Idle => return None,
//!             At::Seen => (next.taken, next.at[*process]) = (true, At::Inside),
//!             At::Inside => (next.taken, next.at[*process]) = (false, At::Idle),
//!         }
//!         Some(next)
//!     }
//! }
//!
//! let answer = Checker::new(Lock)
//!     .invariant("one at a time", |_, state| state.at != [At::Inside, At::Inside])
//!     .memory("64M")
//!     .check()?;
//! assert_eq!(answer.trace("one at a time").expect("both get in").len(), 4);
//! # Ok::<(), scrimp::CheckerError>(())
//! ```

mod answer;
mod checker;
#[cfg(feature = "languages")]
mod file;
mod formula;
mod learnt;
mod liveness;
#[cfg(feature = "languages")]
mod logs;
#[cfg(feature = "languages")]
mod shared;
mod walks;
mod watched;

pub use answer::{Answer, Search};
pub use checker::{Checker, CheckerError, Named};
#[cfg(feature = "languages")]
pub use file::{FileAnswer, FileChecker, ModelFile};
#[cfg(feature = "languages")]
pub use logs::HeldLogs;
pub use scrimp_typed::{Conformance, Observation, Path, Seen, Taken, TypedModel, Unseen, conform, conform_unseen};
pub use walks::Simulated;
