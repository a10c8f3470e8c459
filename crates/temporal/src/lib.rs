//! Temporal logic by itself: formulas, and automata on infinite words. What the atoms are about is no business of this
//! crate; who uses it evaluates them.

mod automaton;
mod formula;

pub use automaton::{Automaton, Cube, Edge, Guard, Letter, MOST_ATOMS, MOST_SETS, Marks};
pub use formula::Formula;
