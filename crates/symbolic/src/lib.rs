//! Sets of states at once: reachability over decision diagrams.
//!
//! [`run`] is the way in: from a system to the set of its reachable states, and to answers about it. Below it, [`diagram`]
//! has sets of vectors and relations between them; `action`, `expand` and `rule` make relations of events, `reach` applies
//! them until nothing is new, `answers` and `trace` say what the set means; `ctl` and `linear` say what its runs are like.

pub mod diagram;

mod action;
mod answers;
mod co_enabled;
mod conditions;
mod ctl;
mod engine;
mod expand;
mod holders;
mod linear;
mod options;
mod order;
mod reach;
mod reduce;
mod rule;
mod run;
mod space;
mod steps;
mod temporal;
mod term;
mod tokens;
mod trace;

pub use options::{Options, Order};
pub use reach::Strategy;
pub use run::{SymbolicReport, irreducible, refused, run};
