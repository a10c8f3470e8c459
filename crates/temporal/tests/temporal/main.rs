//! Formulas and automata: what they accept, how large they are, how they are written.

#[path = "../common/mod.rs"]
mod common;

mod hoa;
mod kinds;
mod limits;
mod random;
mod sizes;
mod spin;
mod stutter;
