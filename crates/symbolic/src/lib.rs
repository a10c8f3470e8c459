//! Sets of states at once: reachability over multi-valued decision diagrams.

pub mod diagram;
