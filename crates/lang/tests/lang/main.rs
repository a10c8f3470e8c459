//! Every language: what is read, what it means, and what is refused.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/nets.rs"]
mod small_nets;

mod bench_models;
mod corpus;
mod documented;
mod errors;
mod formulas;
mod habits;
mod net_models;
mod net_structure;
mod nets;
mod pnml;
mod pnml_errors;
mod pnml_robustness;
mod properties;
mod robustness;
mod semantics;
