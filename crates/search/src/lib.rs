//! The engine: visits the states of a [`Model`](scrimp_system::Model) and answers what was asked about them.
//!
//! Four questions make a search, and each is answered by one part: which state next ([`Order`](order::Order)), how is a
//! state kept ([`Store`](store::Store)), which states may go ([`Forget`](forget::Forget)), which events suffice
//! ([`Reduce`](reduce::Reduce)); a [`Check`](check::Check) looks for what is sought. [`plan`] alone knows which parts
//! combine; [`run()`] carries a plan out.

mod breadth_first;
pub mod budget;
pub mod check;
pub mod checkpoint;
pub mod choices;
mod column;
#[cfg(all(test, feature = "shuttle"))]
mod concurrency;
pub mod condensed;
pub mod ctl;
mod deep;
pub mod engine;
mod engines;
pub mod estimate;
pub mod external;
pub mod forget;
pub mod graph;
mod guided;
mod held;
pub mod liveness;
mod open;
pub mod order;
mod outcome;
mod panics;
mod parallel;
mod plain;
pub mod plan;
mod queued;
pub mod reduce;
mod region;
mod replace;
mod rules;
mod run;
mod saver;
mod sets;
mod settle;
mod staged;
pub mod store;
mod sync;
pub mod trace;
mod words;

pub use budget::{Budget, Control, Figures, Limit};
pub use check::{Property, PropertyKind};
pub use engine::Front;
pub use engines::{FormulaFacts, SetFacts};
pub use external::DiskFacts;
pub use forget::ForgetFacts;
pub use graph::GraphFacts;
pub use plan::{Options, Plan, Refusal};
pub use replace::replace;
pub use run::{Found, Guide, Guides, Report, run, run_guided};
pub use settle::{PropertyResult, Verdict};
pub use store::Omission;
pub use trace::{Step, Trace};
