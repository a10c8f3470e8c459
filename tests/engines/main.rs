//! Engines, stores, orders, reductions and analyses as a program calls them: models with known counts, and random ones
//! where all must agree.

#[path = "../common/mod.rs"]
mod common;

mod accord;
mod analyses;
mod atomic;
mod bounded;
mod comback;
mod combinations;
mod ctl;
mod dependencies;
mod disk;
mod forgetting;
mod graph;
mod models;
mod predecessors;
mod random_inquiries;
mod random_nets;
mod random_runs;
mod random_systems;
mod reduction;
mod stores;
mod stubborn;
mod symbolic;
mod symmetry;
mod taken_up;
mod temporal_random;
mod temporal_reference;
mod walk;
