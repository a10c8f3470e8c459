//! Bounded model checking: runs of a given length as formulas for a SAT solver.
//!
//! [`run`] is the way in. Expressions become circuits of gates (`circuit`, `word`, `arithmetic`, `evaluate`), a state
//! becomes a frame with all that can happen in it (`frame`), and a run becomes frames with one event between two of them
//! (`unrolling`). The solver is asked for runs of 0, 1, 2, … steps to what decides a property; what it finds is replayed by
//! the model itself before it is believed. Between these questions `induction` tries to prove that there is nothing to find.

pub mod arithmetic;
pub mod circuit;
mod encoding;
pub mod evaluate;
pub mod formula;
mod found;
mod frame;
mod induction;
mod known_invariants;
pub mod limits;
mod replay;
mod run;
mod unrolling;
pub mod word;

pub use run::{BoundedReport, Options, run};
