//! Models that nobody here wrote, and verdicts of other tools. They lie in `../shared/bench`; SPIN is asked where it is installed.

#[path = "../common/mod.rs"]
mod common;

mod beem;
mod contest;
mod promela;
mod spin;
mod temporal;
