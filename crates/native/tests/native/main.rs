//! Machine code, the interpreter, and a reference that is neither.

#[path = "../common/mod.rs"]
mod common;
#[path = "../reference/mod.rs"]
mod reference;

mod events;
mod model;
mod random;
