//! Models written in Rust, with states of their own types.

#[path = "../common/mod.rs"]
mod common;

mod checker;
mod examples;
mod limits;
mod packed;
mod reduction;
mod searches;
