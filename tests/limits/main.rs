//! What a run may use, and what ends it: memory and time, signals, files that fail; and how it is taken up again.

#[path = "../common/mod.rs"]
mod common;

mod budget;
mod checkpoint;
mod faults;
mod memory;
