//! The words that all engines share: limits, properties, verdicts, traces and reports.

pub mod budget;
mod cores;
mod evidence;
mod facts;
pub mod follow;
mod graph;
mod nearest;
pub mod never;
mod omission;
mod own;
mod property;
mod report;
mod trace;
mod verdict;

pub use budget::{Budget, Control, Figures, Limit};
pub use cores::cores;
pub use evidence::Evidence;
pub use facts::{CardFacts, ClusterFacts, DiskFacts, ForgetFacts, FormulaFacts, OrbitFacts, SetFacts};
pub use graph::GraphFacts;
pub use nearest::nearest;
pub use omission::Omission;
pub use own::NEVER;
pub use property::{AsExpression, Condition, Never, Predicate, Property, PropertyKind, moments_of, of_one_moment};
pub use report::Report;
pub use trace::{Step, Trace};
pub use verdict::{PropertyResult, Verdict};
