//! The engine: visits the states of a [`Model`](scrimp_system::Model) and answers what was asked about them.
//!
//! Four questions make a search, and each is answered by one part: which state next ([`Order`](order::Order)), how is a
//! state kept ([`Store`](store::Store)), which states may go ([`Forget`](forget::Forget)), which events suffice
//! ([`Reduce`](reduce::Reduce)); a [`Check`](check::Check) looks for what is sought. [`plan`] alone knows which parts
//! combine; [`run()`] carries a plan out.

mod breadth_first;
pub mod check;
pub mod checkpoint;
mod column;
#[cfg(all(test, feature = "shuttle"))]
mod concurrency;
pub mod ctl;
mod deep;
pub mod engine;
pub mod estimate;
pub mod external;
mod fallbacks;
pub mod forget;
mod gate;
mod general;
mod graph;
mod held;
pub mod liveness;
pub mod lts;
mod on_disk;
mod open;
pub mod order;
mod outcome;
mod panics;
mod parallel;
pub mod part;
pub mod plan;
mod queued;
pub mod reduce;
mod region;
mod replace;
mod run;
mod saver;
mod set_bfs;
pub mod store;
mod sync;
mod table_bfs;
mod task;
mod trace;
mod verdicts;
mod words;

pub use column::{Column, Pod};
pub use engine::Front;
pub use plan::{FairnessChoice, FairnessKind, Feature, ModelFacts, Options, Plan, Question, Refusal};
pub use replace::{discard_parts, replace};
pub use run::{run, run_guided};
pub use task::{FoundMeasure, Guide, Guides};
pub use words::{hash, hash_words};
