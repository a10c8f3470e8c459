//! What the explorer shows.

pub mod graph;
pub mod net;
mod sheet;
