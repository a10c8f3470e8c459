//! Temporal logic by itself: formulas, and automata on infinite words. What the atoms are about is no business of this
//! crate; who uses it evaluates them.

mod antecedents;
mod arena;
mod automaton;
mod binary;
mod component;
mod degeneralise;
mod diagram;
mod formula;
mod graph;
pub mod hoa;
mod imply;
mod junction;
mod limits;
mod marks;
mod obligation;
mod parts;
mod propositions;
mod semantics;
mod simulate;
mod strength;
mod stutter;
mod tableau;
mod translate;
mod unary;
mod words;

pub use antecedents::antecedents;
pub use automaton::{Automaton, Cube, Edge, Guard, Letter, MOST_ATOMS, MOST_SETS, Marks};
pub use formula::Formula;
pub use limits::{Limits, TooLarge};
pub use propositions::propositions;
pub use strength::{Kind, Strength};
pub use stutter::is_stutter_invariant;
pub use translate::{simplify, translate};

// The formulas of the tests name the crate as others do.
#[cfg(test)]
extern crate self as scrimp_temporal;

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod examples;
