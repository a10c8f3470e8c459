//! Formulas of linear and of branching time at random.

pub mod generate;
pub mod tree;

pub use tree::{Connective, Formula, Quantifier, Temporal};
