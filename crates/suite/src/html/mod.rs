//! Suites as pages for a browser: what came of one, and two results files side by side.

mod comparison;
pub(crate) mod curves;
mod results;

pub use comparison::{Files, comparison};
pub use results::results;
